package auth

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"toolx/pkg/config"
)

// Grant is what an authorization server granted toolx for a server.
type Grant struct {
	Issuer string `json:"issuer"`
	// Type is one of config's Grant constants.
	Type     string   `json:"grant"`
	Resource string   `json:"resource"`
	Scopes   []string `json:"scopes,omitempty"`
	ClientID string   `json:"client_id"`
	// Expiry is when the access token expires; zero if unknown.
	Expiry time.Time `json:"expiry,omitzero"`
	// Bound reports whether the access token is only valid with a key (RFC 9449).
	Bound bool `json:"bound,omitempty"`
	// Renewable reports whether the access token can be renewed without the user.
	Renewable bool `json:"renewable"`
	// Keyring reports whether the secrets are in the system keyring.
	Keyring bool `json:"keyring"`

	TokenEndpoint      string           `json:"token_endpoint"`
	RevocationEndpoint string           `json:"revocation_endpoint,omitempty"`
	AuthStyle          oauth2.AuthStyle `json:"auth_style"`
	// Signing lists the signature methods that the authorization server accepts from a client with a key; empty if
	// unknown.
	Signing []string `json:"signing,omitempty"`

	// unsaved reports whether storing it failed, so that only this process has it.
	unsaved bool
	// issued reports whether it is new and has not been renewed.
	issued bool
	// secrets are not part of the JSON: the Store decides where they go.
	secrets secrets
}

// secrets are the secret parts of a Grant.
type secrets struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token,omitempty"`
	// Client is the secret of a client that toolx registered.
	Client string `json:"client_secret,omitempty"`
	// Key is the key that the tokens are bound to; empty if there is none.
	Key string `json:"key,omitempty"`
}

// check refuses tokens with characters that neither tokens (RFC 6749 A.12, A.17) nor headers may have. The error does
// not quote them.
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

// leeway is how long before its expiry a token is renewed, because clocks differ.
const leeway = 10 * time.Second

func (g *Grant) expired() bool {
	return !g.Expiry.IsZero() && time.Now().Add(leeway).After(g.Expiry)
}

var errNoRefresh = errors.New("the token cannot be renewed")

// refresh requests a new token with the grant's refresh token.
func (t *tokens) refresh(ctx context.Context, old *Grant) (*Grant, error) {
	switch {
	case old.secrets.Refresh != "":
		// The scope is omitted, so it does not change.
		return t.request(ctx, old, url.Values{
			"grant_type": {"refresh_token"}, "refresh_token": {old.secrets.Refresh},
		})
	case old.Type != config.GrantAuthorizationCode:
		return t.requestAlone(ctx, old)
	}
	return nil, errNoRefresh
}

// withoutPerson gets a token with toolx's own credentials.
func (t *tokens) withoutPerson(ctx context.Context, found *site, scopes []string) (*Grant, error) {
	grant, err := t.requestAlone(ctx, t.blank(found, t.preregistered(found), scopes))
	if err != nil {
		return nil, t.noToken(ctx, found.server.Issuer, err, "check "+t.proof()+" and scopes in its entry")
	}
	return grant, nil
}

// proof names the credential with which a machine gets tokens.
func (t *tokens) proof() string {
	switch auth := t.options.Auth; {
	case auth.Grant == config.GrantJWTBearer:
		return "the identity token"
	case auth.Signs():
		return "clientId, the private key"
	}
	return "clientId, clientSecret"
}

// requestAlone requests a token with the client's secret or key (RFC 6749 4.4), or with the identity token of the
// machine (RFC 7523 2.1).
func (t *tokens) requestAlone(ctx context.Context, grant *Grant) (*Grant, error) {
	params := url.Values{"grant_type": {"client_credentials"}}
	if grant.Type == config.GrantJWTBearer {
		token, err := t.identityToken()
		if err != nil {
			return nil, err
		}
		if t.options.Auth.Provider != nil {
			if token, err = t.vouchedBy(ctx, grant, token); err != nil {
				return nil, err
			}
		}
		params = url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {token}}
	}
	if len(grant.Scopes) > 0 {
		params.Set("scope", strings.Join(grant.Scopes, " "))
	}
	return t.request(ctx, grant, params)
}

// blank returns a grant without a token. Its scopes are the requested ones, which a token without scopes has (RFC 6749
// 5.1).
func (t *tokens) blank(found *site, known *registered, scopes []string) *Grant {
	return &Grant{
		Issuer: found.server.Issuer, Type: t.grantType(), Resource: found.resource, Scopes: scopes,
		ClientID: known.id, AuthStyle: known.style,
		TokenEndpoint: found.server.TokenEndpoint, RevocationEndpoint: found.server.RevocationEndpoint,
		Signing: found.server.TokenEndpointAuthSigningAlgValuesSupported,
		secrets: secrets{Client: known.issued, Key: found.key},
	}
}

// tokens sends requests to authorization servers.
type tokens struct {
	*settings
	discovery *discovery
}

// request sends a request to the token endpoint of a grant and returns the grant with its tokens. The error is for
// reason.
func (t *tokens) request(ctx context.Context, grant *Grant, params url.Values) (*Grant, error) {
	got, err := t.requestOnce(ctx, grant, params, "")
	if nonce := wantedNonce(err); nonce != "" {
		return t.requestOnce(ctx, grant, params, nonce)
	}
	return got, err
}

// requestOnce is request, with a nonce in the proof of a key, if there is one.
//
// It uses clientcredentials of x/oauth2, which can send any grant type, unlike its other two clients, and so every
// request has the resource.
func (t *tokens) requestOnce(ctx context.Context, grant *Grant, params url.Values, nonce string) (*Grant, error) {
	params.Set("resource", grant.Resource)
	style := grant.AuthStyle
	if t.signs(grant) {
		style = oauth2.AuthStyleInParams
		if err := t.assert(grant, params); err != nil {
			return nil, err
		}
	}
	endpoint := &clientcredentials.Config{
		ClientID: grant.ClientID, ClientSecret: t.clientSecret(grant),
		TokenURL: grant.TokenEndpoint, AuthStyle: style, EndpointParams: params,
	}
	t.secret(params.Get("code"), params.Get("code_verifier"), params.Get("refresh_token"))
	t.maskClient(grant)
	through := t.endpointClient()
	if grant.secrets.Key != "" {
		t.secret(grant.secrets.Key)
		through.Transport = &prover{base: t.outward, key: grant.secrets.Key, nonce: nonce}
	}
	token, err := endpoint.Token(context.WithValue(ctx, oauth2.HTTPClient, through))
	if err != nil {
		return nil, err
	}
	t.secret(token.AccessToken, token.RefreshToken)
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

// clientSecret returns the secret of a grant's client: from the config, otherwise from its registration.
func (t *tokens) clientSecret(grant *Grant) string {
	if t.options.Auth.ClientID != "" && t.options.Auth.ClientID == grant.ClientID {
		return t.options.Auth.ClientSecret
	}
	return grant.secrets.Client
}

// maskClient masks a client's secret, also in the form that headers have.
func (t *tokens) maskClient(grant *Grant) {
	if secret := t.clientSecret(grant); secret != "" {
		pair := url.QueryEscape(grant.ClientID) + ":" + url.QueryEscape(secret)
		t.secret(secret, base64.StdEncoding.EncodeToString([]byte(pair)))
	}
}

// endpointClient sends secrets, so it follows no redirects.
func (t *tokens) endpointClient() *http.Client {
	return &http.Client{
		Transport:     t.outward,
		Timeout:       t.exchangeTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// revokeTime bounds how long an authorization server may take to end a login.
const revokeTime = 10 * time.Second

// revoke ends a login at the authorization server. Revoking the refresh token also ends its access tokens.
func (t *tokens) revoke(ctx context.Context, grant *Grant) error {
	if grant.RevocationEndpoint == "" {
		return nil
	}
	t.secret(grant.secrets.Access, grant.secrets.Refresh)
	t.maskClient(grant)
	ctx, cancel := context.WithTimeout(ctx, revokeTime)
	defer cancel()
	params := url.Values{"token": {grant.secrets.Access}, "token_type_hint": {"access_token"}}
	if grant.secrets.Refresh != "" {
		params = url.Values{"token": {grant.secrets.Refresh}, "token_type_hint": {"refresh_token"}}
	}
	inHeader := grant.AuthStyle == oauth2.AuthStyleInHeader && !t.signs(grant)
	if !inHeader {
		if err := t.identify(grant, params); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, grant.RevocationEndpoint,
		bytes.NewBufferString(params.Encode()))
	if err != nil {
		return errors.New("its address cannot be read")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if inHeader {
		req.SetBasicAuth(url.QueryEscape(grant.ClientID), url.QueryEscape(t.clientSecret(grant)))
	}
	resp, err := t.endpointClient().Do(req)
	if err != nil {
		return err
	}
	drain(resp)
	if resp.StatusCode != http.StatusOK {
		return errors.New("HTTP " + resp.Status)
	}
	return nil
}

// identify adds the client's id and credentials to a form.
func (t *tokens) identify(grant *Grant, form url.Values) error {
	form.Set("client_id", grant.ClientID)
	if t.signs(grant) {
		return t.assert(grant, form)
	}
	if secret := t.clientSecret(grant); secret != "" {
		form.Set("client_secret", secret)
	}
	return nil
}
