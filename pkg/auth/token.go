package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"toolx/pkg/config"
	"toolx/pkg/fault"
)

// Grant is what an authorization server gave toolx for a server.
type Grant struct {
	Issuer string `json:"issuer"`
	// Type is one of config's Grant constants.
	Type     string   `json:"grant"`
	Resource string   `json:"resource"`
	Scopes   []string `json:"scopes,omitempty"`
	ClientID string   `json:"client_id"`
	// Expiry is when the access token ends; zero if nobody said.
	Expiry time.Time `json:"expiry,omitzero"`
	// Bound reports whether the access token is good only with a key (RFC 9449).
	Bound bool `json:"bound,omitempty"`
	// Renewable reports whether the access token can be renewed without a person.
	Renewable bool `json:"renewable"`
	// Keyring reports whether the secrets are in the system's keyring.
	Keyring bool `json:"keyring"`

	TokenEndpoint      string           `json:"token_endpoint"`
	RevocationEndpoint string           `json:"revocation_endpoint,omitempty"`
	AuthStyle          oauth2.AuthStyle `json:"auth_style"`
	// Signing names the signatures that the authorization server takes from a client with a key; empty if it does not
	// say.
	Signing []string `json:"signing,omitempty"`

	// unsaved reports whether the Store could not take it: it is in this process only.
	unsaved bool
	// issued reports whether it was got anew, and not renewed since.
	issued bool
	// secrets are left out of the JSON: the Store knows where they go.
	secrets secrets
}

// secrets are what nobody else may see of a Grant.
type secrets struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token,omitempty"`
	// Client is the secret of a client that was registered on the way.
	Client string `json:"client_secret,omitempty"`
	// Key is what the tokens are bound to; empty if they are not.
	Key string `json:"key,omitempty"`
}

// check refuses tokens with characters that no token has (RFC 6749 A.12, A.17) and no header can hold. The error quotes
// nothing of them.
func (s *secrets) check() error {
	for _, token := range [][2]string{{"access token", s.Access}, {"refresh token", s.Refresh}} {
		for i, char := range []byte(token[1]) {
			if char < ' ' || char > '~' {
				return fmt.Errorf("the %s has the character 0x%02x at byte %d", token[0], char, i+1)
			}
		}
	}
	return nil
}

// leeway is how long before its end a token is renewed, for clocks that differ.
const leeway = 10 * time.Second

func (g *Grant) expired() bool {
	return !g.Expiry.IsZero() && time.Now().Add(leeway).After(g.Expiry)
}

// usable reports whether a kept grant is what the config asks for now.
func (c *client) usable(grant *Grant) bool {
	auth := c.options.Auth
	return grant.Type == c.grantType() &&
		(auth.ClientID == "" || auth.ClientID == grant.ClientID) &&
		(auth.Issuer == "" || sameIssuer(auth.Issuer, grant.Issuer))
}

// load reads the kept grant; nil if there is none that can be used.
func (c *client) load(ctx context.Context) (*Grant, error) {
	if c.options.Store == nil {
		return nil, nil
	}
	grant, err := c.options.Store.load(ctx, c.options.URL, c.options.Auth.Issuer)
	if err != nil {
		return nil, c.fail(ctx, err, "toolx auth login "+c.options.Login+" replaces it, where it can be written",
			"its login cannot be read: %v", err)
	}
	if grant == nil || !c.usable(grant) {
		return nil, nil
	}
	c.secret(grant.secrets.Access, grant.secrets.Refresh, grant.secrets.Client, grant.secrets.Key)
	return grant, nil
}

// save keeps a grant for other processes. If that fails, it lives as long as this one does.
func (c *client) save(ctx context.Context, grant *Grant) {
	if c.options.Store == nil {
		return
	}
	if err := c.options.Store.save(ctx, c.options.URL, grant); err != nil {
		grant.unsaved = true
		c.notice(slog.LevelWarn, "the login cannot be kept: "+err.Error())
	}
}

// renew renews a grant without a person: by what another process has stored, the refresh token (RFC 6749 6) or the
// client's secret. It returns nil if the server must be asked again.
//
// One process does so at a time, because a second use of a refresh token often ends the login. After the wait for the
// lock, it reads what is stored now.
func (c *client) renew(ctx context.Context, old *Grant) (*Grant, error) {
	unlock, err := c.lock(ctx)
	if err != nil && old.Type != config.GrantAuthorizationCode && ctx.Err() == nil {
		return c.renewAlone(ctx, old)
	}
	if err != nil {
		return nil, err
	}
	defer unlock()
	now := old
	if c.options.Store != nil && !old.unsaved {
		if now, err = c.load(ctx); err != nil {
			return nil, err
		}
	}
	if now == nil {
		c.keep(nil) // logged out meanwhile
		return nil, nil
	}
	if now.secrets.Access != old.secrets.Access && !now.expired() {
		c.keep(now)
		return now, nil
	}
	return c.renewAlone(ctx, now)
}

// renewAlone renews a grant under the lock, or without it if the credential may be used many times.
func (c *client) renewAlone(ctx context.Context, now *Grant) (*Grant, error) {
	renewed, err := c.refresh(ctx, now)
	switch {
	case errors.Is(err, errNoRefresh), ended(err):
		c.end(ctx, now, reason(err))
		return nil, nil
	case fault.KindOf(err) == fault.KindUsage:
		return nil, err // there is nothing to ask with
	case err != nil:
		return nil, c.fail(ctx, err, "toolx auth login "+c.options.Login, "its token cannot be renewed: %s",
			reason(err))
	}
	c.keep(renewed)
	c.save(ctx, renewed)
	return renewed, nil
}

// end notes that a grant is no longer of use, so that nobody tries to renew it again.
func (c *client) end(ctx context.Context, grant *Grant, why string) {
	c.notice(slog.LevelInfo, "the login has ended: "+why)
	c.keep(nil)
	c.note(func(s *clientState) { s.ended = why })
	if grant.secrets.Refresh != "" {
		dead := *grant
		dead.secrets.Refresh, dead.Renewable = "", false
		c.save(ctx, &dead)
	}
}

var errNoRefresh = errors.New("the token cannot be renewed")

// refresh asks for a new token with what the grant has.
func (c *client) refresh(ctx context.Context, old *Grant) (*Grant, error) {
	switch {
	case old.secrets.Refresh != "":
		// The scope is left out: it stays what it was.
		return c.request(ctx, old, url.Values{
			"grant_type": {"refresh_token"}, "refresh_token": {old.secrets.Refresh},
		})
	case old.Type != config.GrantAuthorizationCode:
		return c.requestAlone(ctx, old)
	}
	return nil, errNoRefresh
}

// lock takes the store's lock; without a store there is nothing to share.
func (c *client) lock(ctx context.Context) (unlock func(), err error) {
	if c.options.Store == nil {
		return func() {}, nil
	}
	unlock, err = c.options.Store.lock(ctx, c.options.URL)
	if err != nil {
		return nil, c.fail(ctx, nil, c.options.Store.fix(),
			"its login cannot be renewed, since what is new could not be kept: %v", err)
	}
	return unlock, nil
}

// withoutPerson gets a token with what toolx itself can show.
func (c *client) withoutPerson(ctx context.Context, found *site, scopes []string) (*Grant, error) {
	grant, err := c.requestAlone(ctx, c.blank(found, c.preregistered(found), scopes))
	if err != nil {
		return nil, c.noToken(ctx, found.server.Issuer, err, "check "+c.proof()+" and scopes in its entry")
	}
	return grant, nil
}

// proof names what a machine gets tokens with.
func (c *client) proof() string {
	switch auth := c.options.Auth; {
	case auth.Grant == config.GrantJWTBearer:
		return "the identity token"
	case auth.Signs():
		return "clientId, the private key"
	}
	return "clientId, clientSecret"
}

// requestAlone asks for a token with the client's own secret or key (RFC 6749 4.4), or with the identity token of the
// machine (RFC 7523 2.1).
func (c *client) requestAlone(ctx context.Context, grant *Grant) (*Grant, error) {
	params := url.Values{"grant_type": {"client_credentials"}}
	if grant.Type == config.GrantJWTBearer {
		token, err := c.identityToken()
		if err != nil {
			return nil, err
		}
		if c.options.Auth.Provider != nil {
			if token, err = c.vouchedBy(ctx, grant, token); err != nil {
				return nil, err
			}
		}
		params = url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {token}}
	}
	if len(grant.Scopes) > 0 {
		params.Set("scope", strings.Join(grant.Scopes, " "))
	}
	return c.request(ctx, grant, params)
}

// blank returns a grant before there is a token. The scopes are those that are asked for: a token that says nothing of
// its scopes has them (RFC 6749 5.1).
func (c *client) blank(found *site, known *registered, scopes []string) *Grant {
	return &Grant{
		Issuer: found.server.Issuer, Type: c.grantType(), Resource: found.resource, Scopes: scopes,
		ClientID: known.id, AuthStyle: known.style,
		TokenEndpoint: found.server.TokenEndpoint, RevocationEndpoint: found.server.RevocationEndpoint,
		Signing: found.server.TokenEndpointAuthSigningAlgValuesSupported,
		secrets: secrets{Client: known.issued, Key: found.key},
	}
}

// request asks the token endpoint of a grant, and returns the grant with what came of it. The error is for reason.
func (c *client) request(ctx context.Context, grant *Grant, params url.Values) (*Grant, error) {
	got, err := c.requestOnce(ctx, grant, params, "")
	if nonce := wantedNonce(err); nonce != "" {
		return c.requestOnce(ctx, grant, params, nonce)
	}
	return got, err
}

// requestOnce is request, with a nonce in the proof of a key, if there is one.
//
// clientcredentials is x/oauth2's plain request to a token endpoint: it lets any grant type be given, which its other
// two do not, and so every request carries the resource.
func (c *client) requestOnce(ctx context.Context, grant *Grant, params url.Values, nonce string) (*Grant, error) {
	params.Set("resource", grant.Resource)
	style := grant.AuthStyle
	if c.signs(grant) {
		style = oauth2.AuthStyleInParams
		if err := c.assert(grant, params); err != nil {
			return nil, err
		}
	}
	endpoint := &clientcredentials.Config{
		ClientID: grant.ClientID, ClientSecret: c.clientSecret(grant),
		TokenURL: grant.TokenEndpoint, AuthStyle: style, EndpointParams: params,
	}
	c.secret(params.Get("code"), params.Get("code_verifier"), params.Get("refresh_token"))
	c.maskClient(grant)
	through := c.endpointClient()
	if grant.secrets.Key != "" {
		c.secret(grant.secrets.Key)
		through.Transport = &prover{base: c.outward, key: grant.secrets.Key, nonce: nonce}
	}
	token, err := endpoint.Token(context.WithValue(ctx, oauth2.HTTPClient, through))
	if err != nil {
		return nil, err
	}
	c.secret(token.AccessToken, token.RefreshToken)
	bound := grant.secrets.Key != "" && strings.EqualFold(token.TokenType, "DPoP")
	if !bound && !strings.EqualFold(token.Type(), "Bearer") {
		return nil, errors.New("the token is not of the type Bearer")
	}
	got := *grant
	got.Bound = bound
	got.Expiry, got.issued = token.Expiry, false
	got.secrets.Access = token.AccessToken
	if token.RefreshToken != "" {
		got.secrets.Refresh = token.RefreshToken // rotated
	}
	if err := got.secrets.check(); err != nil {
		return nil, err
	}
	if scope, told := token.Extra("scope").(string); told {
		got.Scopes = strings.Fields(scope)
	}
	got.Scopes = slices.Clone(got.Scopes)
	got.Renewable = got.secrets.Refresh != "" || got.Type != config.GrantAuthorizationCode
	return &got, nil
}

// clientSecret returns the secret of a grant's client: the config's, else the one that it was registered with.
func (c *client) clientSecret(grant *Grant) string {
	if c.options.Auth.ClientID != "" && c.options.Auth.ClientID == grant.ClientID {
		return c.options.Auth.ClientSecret
	}
	return grant.secrets.Client
}

// maskClient masks a client's secret, and the form in which a header sends it.
func (c *client) maskClient(grant *Grant) {
	if secret := c.clientSecret(grant); secret != "" {
		pair := url.QueryEscape(grant.ClientID) + ":" + url.QueryEscape(secret)
		c.secret(secret, base64.StdEncoding.EncodeToString([]byte(pair)))
	}
}

// endpointClient sends secrets: it follows no redirect.
func (c *client) endpointClient() *http.Client {
	return &http.Client{
		Transport:     c.outward,
		Timeout:       c.exchangeTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
