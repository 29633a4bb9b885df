package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// maxMetadata limits the size of a metadata document, in bytes.
const maxMetadata = 1 << 20

// maxRedirects limits the redirects to a metadata document.
const maxRedirects = 5

var errRedirect = errors.New("redirect to an address that is not trusted")

// site is where and how to get tokens for a server.
type site struct {
	// resource is the server's identifier, sent with every request for a token (RFC 8707).
	resource string
	// scopes are the scopes of the resource.
	scopes []string
	server *oauthex.AuthServerMeta
	// key is the key to bind the token to; empty if the resource does not require one.
	key string
	// guessed reports whether there is no metadata: the endpoints are the defaults of revision 2025-03-26.
	guessed bool
}

// discovery finds the authorization server of a resource, and how to use it.
type discovery struct{ *settings }

// discover finds the authorization server of the resource and reads its metadata.
func (d *discovery) discover(ctx context.Context, asked *challenge) (*site, error) {
	resource, err := d.resourceMetadata(ctx, asked)
	if err != nil {
		return nil, err
	}
	found := &site{resource: d.resource()}
	if asked.bound || resource != nil && resource.DPOPBoundAccessTokensRequired {
		if found.key, err = bindingKey(); err != nil {
			return nil, d.fail(ctx, nil, "", "there is no key to bind its token to: %v", err)
		}
	}
	issuer := d.options.Auth.Issuer
	if resource != nil {
		found.resource, found.scopes = resource.Resource, resource.ScopesSupported
		if issuer, err = d.chooseIssuer(ctx, resource.AuthorizationServers); err != nil {
			return nil, err
		}
	}
	if issuer == "" {
		issuer = origin(d.address) // revision 2025-03-26: the server is its own
	}
	found.server, err = d.serverMetadata(ctx, issuer)
	if err != nil || found.server != nil {
		return found, err
	}
	if resource != nil || d.options.Auth.Issuer != "" {
		return nil, d.fail(ctx, nil, "", "the authorization server %s has no metadata "+
			"(neither oauth-authorization-server nor openid-configuration)", issuer)
	}
	found.guessed = true
	found.server = &oauthex.AuthServerMeta{
		Issuer:                issuer,
		AuthorizationEndpoint: issuer + "/authorize",
		TokenEndpoint:         issuer + "/token",
		RegistrationEndpoint:  issuer + "/register",
	}
	return found, nil
}

// chooseIssuer returns the authorization server to use: the config's, which the resource must list, otherwise the first
// in the list.
func (d *discovery) chooseIssuer(ctx context.Context, offered []string) (string, error) {
	if len(offered) == 0 {
		return "", d.fail(ctx, nil, "", "its metadata names no authorization server")
	}
	wanted := d.options.Auth.Issuer
	if wanted == "" {
		return offered[0], nil
	}
	for _, issuer := range offered {
		if sameIssuer(issuer, wanted) {
			return issuer, nil
		}
	}
	return "", d.fail(ctx, nil, "if that is right, change auth.issuer in its entry",
		"it sends logins to %s, and the config trusts only %s", strings.Join(offered, ", "), wanted)
}

// sameIssuer compares issuers without a slash at the end, which many omit in one of two places.
func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

// resourceMetadata reads the protected resource's metadata: at the address of the challenge, otherwise at the
// well-known ones (RFC 9728 3.1). It is nil if there is none. A wrong document is an error: ignoring it could hand a
// login to an attacker who broke it.
func (d *discovery) resourceMetadata(
	ctx context.Context, asked *challenge,
) (*oauthex.ProtectedResourceMetadata, error) {
	places := d.resourceMetadataPlaces()
	if asked.metadata != "" {
		places = slices.Insert(places, 0, asked.metadata)
	}
	for _, place := range places {
		read, err := d.readResource(ctx, place)
		if err != nil {
			return nil, d.fail(ctx, err, "", "its metadata at %s: %s", place, metadataReason(err))
		}
		if read != nil {
			return read, nil
		}
	}
	return nil, nil
}

// resourceMetadataPlaces returns the well-known addresses of the server's metadata: for its path, then for its host.
func (d *discovery) resourceMetadataPlaces() []string {
	const wellKnown = "/.well-known/oauth-protected-resource"
	host := origin(d.address)
	if path := strings.TrimSuffix(d.address.EscapedPath(), "/"); path != "" {
		return []string{host + wellKnown + path, host + wellKnown}
	}
	return []string{host + wellKnown}
}

// readResource reads one document; it is nil if there is none.
func (d *discovery) readResource(ctx context.Context, place string) (*oauthex.ProtectedResourceMetadata, error) {
	if err := d.trusted(place); err != nil {
		return nil, err
	}
	var read oauthex.ProtectedResourceMetadata
	if missing, err := d.getJSON(ctx, place, &read); err != nil || missing != "" {
		return nil, err
	}
	if !d.covers(read.Resource) {
		return nil, fmt.Errorf("it describes another resource, %q", read.Resource)
	}
	for _, issuer := range read.AuthorizationServers {
		if err := d.trusted(issuer); err != nil {
			return nil, err
		}
	}
	return &read, nil
}

// covers reports whether a resource's identifier is that of the server, or of a path above it on the same host. RFC
// 9728 3.3 requires equality; in practice one document often covers a host, and no other host gets a token.
func (d *discovery) covers(resource string) bool {
	parsed, err := url.Parse(resource)
	if err != nil || origin(parsed) != origin(d.address) {
		return false
	}
	above := strings.TrimSuffix(parsed.Path, "/")
	rest, within := strings.CutPrefix(d.address.Path, above)
	return within && (rest == "" || rest[0] == '/')
}

// serverMetadata reads an authorization server's metadata, in either form (RFC 8414 3, OpenID Connect Discovery 4). It
// is nil if no place has it.
func (d *discovery) serverMetadata(ctx context.Context, issuer string) (*oauthex.AuthServerMeta, error) {
	// oauthex reports errors only as text, so the network's error is kept here.
	network := &lastError{base: d.outward}
	reader := d.metadataClient()
	reader.Transport = network
	var wrong error
	for _, place := range serverMetadataPlaces(issuer) {
		read, err := oauthex.GetAuthServerMeta(ctx, place, issuer, reader)
		if read != nil {
			return read, d.checkEndpoints(ctx, issuer, read)
		}
		if wrong == nil {
			wrong = err // some hosts respond to any path with a page; the next place may have it
		}
	}
	switch {
	case network.err != nil:
		return nil, d.fail(ctx, &url.Error{Op: "Get", URL: issuer, Err: network.err}, "",
			"the authorization server %s cannot be reached: %v", issuer, network.err)
	case wrong != nil:
		return nil, d.fail(ctx, wrong, "", "the authorization server %s: %v", issuer, wrong)
	}
	return nil, nil
}

// checkEndpoints refuses metadata that sends codes and secrets to unsafe addresses.
func (d *discovery) checkEndpoints(ctx context.Context, issuer string, read *oauthex.AuthServerMeta) error {
	for _, endpoint := range []string{
		read.AuthorizationEndpoint, read.TokenEndpoint, read.RegistrationEndpoint, read.RevocationEndpoint,
	} {
		if endpoint == "" {
			continue
		}
		if err := d.trusted(endpoint); err != nil {
			return d.fail(ctx, err, "", "the authorization server %s: %v", issuer, err)
		}
	}
	return nil
}

// lastError is a transport that keeps the last error of the one below.
type lastError struct {
	base http.RoundTripper
	err  error
}

func (l *lastError) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.base.RoundTrip(req)
	l.err = err
	return resp, err
}

// serverMetadataPlaces returns the addresses at which an issuer's metadata may be, in the order of MCP's chapter on
// authorization.
func serverMetadataPlaces(issuer string) []string {
	parsed, err := url.Parse(issuer)
	if err != nil {
		return nil
	}
	path := strings.TrimSuffix(parsed.EscapedPath(), "/")
	places := []string{
		origin(parsed) + "/.well-known/oauth-authorization-server" + path,
		origin(parsed) + "/.well-known/openid-configuration" + path,
	}
	if path != "" {
		places = append(places, origin(parsed)+path+"/.well-known/openid-configuration")
	}
	return places
}

// getJSON reads a document into to. If the server has none, missing describes its response.
func (d *discovery) getJSON(ctx context.Context, address string, to any) (missing string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", errors.New("it is not an address")
	}
	req.Header.Set("Accept", "application/json")
	resp, err := d.metadataClient().Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode >= 500:
		return "", fmt.Errorf("HTTP %s", resp.Status)
	case resp.StatusCode != http.StatusOK:
		return "HTTP " + resp.Status, nil
	case kind != "application/json": // a page for every path
		return fmt.Sprintf("HTTP %s, and %q instead of application/json", resp.Status, kind), nil
	}
	var late net.Error
	err = json.NewDecoder(io.LimitReader(resp.Body, maxMetadata)).Decode(to)
	switch {
	case errors.As(err, &late) && late.Timeout():
		return "", fmt.Errorf("it did not end within %s", d.exchangeTimeout)
	case err != nil:
		return "", errors.New("it is not JSON")
	}
	return "", nil
}

func metadataReason(err error) string {
	var network *url.Error
	if errors.As(err, &network) {
		return network.Err.Error()
	}
	return err.Error()
}

// metadataClient reads metadata. It only follows redirects to trusted addresses.
func (d *discovery) metadataClient() *http.Client {
	return &http.Client{
		Transport: d.outward,
		Timeout:   d.exchangeTimeout,
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects || d.trusted(req.URL.String()) != nil {
				return errRedirect
			}
			return nil
		},
	}
}

// trusted refuses addresses to which a server must not send toolx: without TLS, or on the user's machine or network,
// unless the server itself is there.
func (d *discovery) trusted(address string) error {
	parsed, err := url.Parse(address)
	switch {
	case err != nil || parsed.Host == "":
		return errors.New("it is not an address")
	case loopback(parsed) && loopback(d.address):
		return nil
	case parsed.Scheme != "https":
		return fmt.Errorf("%s is not https", address)
	case private(parsed) && parsed.Hostname() != d.address.Hostname():
		return fmt.Errorf("%s is not a public address", address)
	}
	return nil
}

// loopback reports whether an address is on this machine.
func loopback(address *url.URL) bool {
	if address.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(address.Hostname())
	return err == nil && ip.Unmap().IsLoopback()
}

// private reports whether an address is an IP address that only this machine or its network can reach.
func private(address *url.URL) bool {
	ip, err := netip.ParseAddr(address.Hostname())
	if err != nil {
		return address.Hostname() == "localhost"
	}
	ip = ip.Unmap()
	return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
}

// origin returns scheme, host and port; without the port if it is the scheme's default.
func origin(address *url.URL) string {
	scheme, host, port := strings.ToLower(address.Scheme), strings.ToLower(address.Hostname()), address.Port()
	if slices.Contains([]string{"https:443", "http:80"}, scheme+":"+port) {
		port = ""
	}
	switch {
	case port != "":
		host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return scheme + "://" + host
}

// challenge is what a server requires when it refuses a request.
type challenge struct {
	// metadata is the address of the protected resource's metadata; empty if the server does not name it (RFC 9728
	// 5.1).
	metadata string
	// scopes are those that the request needs.
	scopes []string
	// stepUp reports whether the token is valid but its scopes are insufficient (RFC 6750 3.1).
	stepUp bool
	// bound reports whether the server only accepts tokens that are bound to a key (RFC 9449 7.1).
	bound bool
	// bare reports whether the challenge does not say how to get access.
	bare bool
	// said is the server's reason; empty if it gave none (RFC 6750 3).
	said string
}

// because returns a problem, followed by the server's reason if it gave one.
func (a *challenge) because(problem string) string {
	if a.said == "" {
		return problem
	}
	return problem + ": " + a.said
}

// readChallenge reads the challenge in a response; nil if it is not a refusal, or one that no token would change.
func readChallenge(resp *http.Response) *challenge {
	if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return nil
	}
	offered, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		offered = nil // the header is unreadable
	}
	asked := &challenge{bare: len(offered) == 0}
	at := slices.IndexFunc(offered, func(c oauthex.Challenge) bool { return c.Scheme == "bearer" })
	if at < 0 {
		at = slices.IndexFunc(offered, func(c oauthex.Challenge) bool { return c.Scheme == "dpop" })
		asked.bound = at >= 0
	}
	if at >= 0 {
		asked.metadata = offered[at].Params["resource_metadata"]
		asked.scopes = strings.Fields(offered[at].Params["scope"])
		asked.said = offered[at].Params["error_description"]
		asked.stepUp = resp.StatusCode == http.StatusForbidden && offered[at].Params["error"] == "insufficient_scope"
	}
	switch {
	case resp.StatusCode == http.StatusForbidden && !asked.stepUp:
		return nil // forbidden whatever the token
	case at < 0 && !asked.bare:
		return nil // Basic, Negotiate: another way to log in
	}
	return asked
}

// union returns the scopes of all lists, each once, in their order.
func union(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		for _, scope := range list {
			if !slices.Contains(all, scope) {
				all = append(all, scope)
			}
		}
	}
	return all
}

// without returns the scopes of list that are not among the others.
func without(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(scope string) bool { return slices.Contains(others, scope) })
}

// quoted returns scopes as messages show them.
func quoted(scopes []string) string { return "'" + strings.Join(scopes, " ") + "'" }
