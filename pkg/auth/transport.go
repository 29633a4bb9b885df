package auth

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"toolx/pkg/config"
	"toolx/pkg/exec"
)

// Transport adds access tokens to requests to the server, and gets new ones when the server requires them. It does not
// change requests with an Authorization header or to another origin.
//
// The error of a request that cannot be authorized is an *Error (fault.KindAuth, or fault.KindConnect if the
// authorization server was not reached).
func Transport(base http.RoundTripper, options Options) http.RoundTripper {
	c, err := newClient(base, options)
	if err != nil {
		return failing{err}
	}
	return c
}

// failing is the transport of a server with a malformed address.
type failing struct{ err error }

func (f failing) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		req.Body.Close()
	}
	return nil, f.err
}

// client adds tokens to requests to one server.
type client struct {
	*settings
	discovery *discovery
	tokens    *tokens
	base      http.RoundTripper

	// busy has one value while tokens are obtained or renewed, so that requests that are refused at the same time
	// share the result.
	busy chan struct{}

	mu    sync.Mutex
	state clientState
}

// clientState is the changing state of a client.
type clientState struct {
	loaded bool // the grant was read from the Store
	grant  *Grant
	// refused is why a login failed, so that the user is not asked twice.
	refused error
	// ended is why the stored login is no longer valid; empty if there was none.
	ended string
	// unread is why the stored login is unreadable.
	unread error
	// nonce is the one that the server requires in the next proof of a key; empty for none.
	nonce string
}

// now returns the current state.
func (c *client) now() clientState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// note changes the state.
func (c *client) note(change func(*clientState)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.state)
}

func newClient(base http.RoundTripper, options Options) (*client, error) {
	address, err := url.Parse(options.URL)
	if err != nil || address.Host == "" {
		return nil, &Error{Server: options.Server, Problem: "its url is not an address"}
	}
	if options.Auth == nil {
		options.Auth = &config.Auth{}
	}
	if options.Login == "" {
		options.Login = options.Server
	}
	switch {
	case options.LoginTime == 0:
		options.LoginTime = defaultLoginTime
	case options.LoginTime < 0:
		options.LoginTime = math.MaxInt64
	}
	if options.Outward == nil {
		options.Outward = base
	}
	s := &settings{options: options, address: address, outward: options.Outward, exchangeTimeout: exchangeTime}
	d := &discovery{s}
	c := &client{
		settings: s, discovery: d, tokens: &tokens{s, d}, base: base, busy: make(chan struct{}, 1),
	}
	c.secret(options.Auth.ClientSecret, options.Auth.PrivateKey, options.Auth.IdentityToken)
	return c, nil
}

// maxRefusals limits how often a request is repeated: after renewing a token, and after getting a new one. A third
// attempt only helps if the server requires more scopes than before.
const maxRefusals = 2

// RoundTrip implements http.RoundTripper.
func (c *client) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("Authorization") != "" || origin(req.URL) != origin(c.address) {
		return c.base.RoundTrip(req)
	}
	ctx := req.Context()
	copies, err := repeatable(req)
	if err != nil {
		return nil, err
	}
	grant, err := c.stored(ctx)
	if err != nil {
		return nil, err
	}
	for refusals := 0; ; refusals++ {
		resp, err := c.send(copies, grant)
		if err != nil {
			return nil, err
		}
		asked := readChallenge(resp)
		if asked == nil {
			return resp, nil
		}
		drain(resp)
		if refusals == maxRefusals || refusals > 0 && grant.issued && !asked.stepUp {
			return nil, c.stillRefused(asked, grant)
		}
		if grant, err = c.obtain(ctx, grant, asked, refusals > 0); err != nil {
			return nil, err
		}
	}
}

// repeatable returns a function that makes copies of req, each with its own body.
func repeatable(req *http.Request) (func() *http.Request, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return func() *http.Request { return req.Clone(req.Context()) }, nil
	}
	body, err := io.ReadAll(req.Body)
	req.Body.Close() // everything readable is in the buffer
	if err != nil {
		return nil, fmt.Errorf("read the request's body: %w", err)
	}
	return func() *http.Request {
		again := req.Clone(req.Context())
		again.Body = io.NopCloser(bytes.NewReader(body))
		again.ContentLength = int64(len(body))
		return again
	}, nil
}

// send sends a request with a token, or without one if grant is nil.
func (c *client) send(copies func() *http.Request, grant *Grant) (*http.Response, error) {
	if grant != nil && grant.Bound {
		return c.sendBound(copies, grant)
	}
	req := copies()
	if grant != nil {
		req.Header.Set("Authorization", "Bearer "+grant.secrets.Access)
	}
	return c.base.RoundTrip(req)
}

// drain reads a refusal's body, so that its connection can be used again.
func drain(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	resp.Body.Close()
}

// stillRefused returns the error if a new token does not help.
func (c *client) stillRefused(asked *challenge, grant *Grant) error {
	if missing := without(asked.scopes, grant.Scopes); asked.stepUp && len(missing) > 0 {
		why := "the authorization server does not grant the scope " + quoted(missing) + ", which the server asks for"
		return c.loginRefused(why)
	}
	if asked.stepUp {
		return c.loginRefused(asked.because("it asks for a scope that the token already has"))
	}
	return c.loginRefused(asked.because("it refuses the token that was just issued"))
}

// stored returns the stored grant, renewed if it has expired; nil if there is none or if the store is unreadable. The
// request is then sent without a token, and the server responds with its requirements.
func (c *client) stored(ctx context.Context) (*Grant, error) {
	known := c.now()
	grant := known.grant
	if !known.loaded {
		var err error
		if grant, err = c.load(ctx); ctx.Err() != nil {
			return nil, err
		}
		c.keep(grant)
		c.note(func(s *clientState) { s.unread = err })
	}
	if grant == nil || !grant.expired() {
		return grant, nil
	}
	release, err := c.exclusive(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if grant = c.now().grant; grant == nil || !grant.expired() {
		return grant, nil // another request was faster
	}
	return c.renew(ctx, grant)
}

// obtain gets a grant for a challenge. used is the refused one, or nil; fresh reports that it was obtained for this
// request, so that renewing it cannot help.
func (c *client) obtain(ctx context.Context, used *Grant, asked *challenge, fresh bool) (*Grant, error) {
	release, err := c.exclusive(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	now := c.now()
	if now.grant != nil && differs(now.grant, used) {
		return now.grant, nil // another request was faster
	}
	if used != nil && !asked.stepUp && !fresh {
		renewed, err := c.renew(ctx, used)
		if renewed != nil || err != nil {
			return renewed, err
		}
	}
	if stored, err := c.load(ctx); err == nil && stored != nil && !stored.expired() && differs(stored, used) {
		c.keep(stored) // the user has logged in meanwhile
		return stored, nil
	}
	if now.refused != nil {
		return nil, now.refused
	}
	return c.authorize(ctx, used, asked)
}

// differs reports whether a grant has another token than the one that was used, nil for none.
func differs(grant, used *Grant) bool {
	return used == nil || grant.secrets.Access != used.secrets.Access
}

// exclusive waits until no other request in this process gets or renews a token.
func (c *client) exclusive(ctx context.Context) (release func(), err error) {
	select {
	case c.busy <- struct{}{}:
		return func() { <-c.busy }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// authorize gets a new grant with a new authorization and stores it.
func (c *client) authorize(ctx context.Context, used *Grant, asked *challenge) (*Grant, error) {
	grant, err := c.newGrant(ctx, used, asked)
	if err != nil {
		return nil, err
	}
	c.keep(grant)
	c.save(ctx, grant)
	return grant, nil
}

// newGrant gets a grant with a new authorization.
func (c *client) newGrant(ctx context.Context, used *Grant, asked *challenge) (*Grant, error) {
	machine := c.grantType() != config.GrantAuthorizationCode
	if !machine && c.options.Visit == nil {
		return nil, c.noUser(used, asked)
	}
	found, err := c.discovery.discover(ctx, asked)
	if err != nil {
		return nil, err
	}
	scopes := c.scopes(found, used, asked)
	var grant *Grant
	if machine {
		grant, err = c.tokens.withoutPerson(ctx, found, scopes)
	} else {
		grant, err = c.loginOnce(ctx, found, scopes)
	}
	if err != nil {
		return nil, err
	}
	if missing := c.notGranted(scopes, grant, asked); len(missing) > 0 {
		c.notice(slog.LevelWarn, fmt.Sprintf("the authorization server %s did not grant the scope %s", grant.Issuer,
			quoted(missing)))
	}
	grant.issued = true
	return grant, nil
}

// loginOnce lets the user log in, without the time limits of the call, and remembers a refusal.
func (c *client) loginOnce(ctx context.Context, found *site, scopes []string) (*Grant, error) {
	resume := exec.Pause(ctx)
	defer resume()
	grant, err := (&login{c.settings, c.tokens}).run(ctx, found, scopes)
	if err != nil && ctx.Err() == nil {
		c.note(func(s *clientState) { s.refused = err })
	}
	return grant, err
}

// noUser returns the error if a login is required and no user can be asked.
func (c *client) noUser(used *Grant, asked *challenge) error {
	switch known := c.now(); {
	case known.unread != nil:
		return known.unread
	case known.ended != "":
		return c.needLogin("its login is no longer valid: "+known.ended, nil)
	case asked.stepUp:
		return c.needLogin(asked.because("it asks for the scope "+quoted(asked.scopes)+", which the login lacks"),
			without(asked.scopes, c.options.Auth.Scopes))
	case used != nil:
		return c.needLogin(asked.because("its login is no longer valid"), nil)
	case asked.bare:
		return c.needLogin("it requires authentication (HTTP 401) but offers no login", nil)
	}
	return c.needLogin(asked.because("it requires a login"), nil)
}

// scopes returns the scopes to request: the config's, otherwise the challenge's, otherwise the metadata's; on a step-up
// also those that were granted before.
func (c *client) scopes(found *site, used *Grant, asked *challenge) []string {
	chosen := union(c.options.Auth.Scopes, c.options.Scopes)
	switch {
	case asked.stepUp && used != nil:
		chosen = union(used.Scopes, chosen, asked.scopes)
	case asked.stepUp:
		chosen = union(chosen, asked.scopes)
	case len(chosen) > 0:
	case len(asked.scopes) > 0:
		chosen = asked.scopes
	default:
		chosen = found.scopes
	}
	if c.grantType() == config.GrantAuthorizationCode && slices.Contains(found.server.ScopesSupported, offlineAccess) {
		chosen = union(chosen, []string{offlineAccess})
	}
	return chosen
}

// offlineAccess is the scope that asks OpenID providers for a refresh token.
const offlineAccess = "offline_access"

// notGranted returns the scopes that were requested and not granted. Many providers omit offline_access from their
// list: it is not missing if there is a refresh token, or if only toolx requested it.
func (c *client) notGranted(scopes []string, grant *Grant, asked *challenge) []string {
	missing := without(scopes, grant.Scopes)
	wanted := union(c.options.Auth.Scopes, c.options.Scopes, asked.scopes)
	if grant.Renewable || !slices.Contains(wanted, offlineAccess) {
		missing = without(missing, []string{offlineAccess})
	}
	return missing
}

// keep makes a grant the one for requests; nil removes it.
func (c *client) keep(grant *Grant) {
	if grant != nil {
		c.secret(grant.secrets.Access, grant.secrets.Refresh, grant.secrets.Client, grant.secrets.Key)
	}
	c.note(func(s *clientState) { s.grant, s.loaded = grant, true })
}
