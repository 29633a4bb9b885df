package auth

import (
	"bytes"
	"cmp"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"toolx/pkg/state"
)

// assertionType is the type of a client's credential that is a signed token (RFC 7523 2.2).
const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// assertionTime is how long an assertion is valid: it is sent immediately, but clocks differ.
const assertionTime = time.Minute

// signs reports whether the client of a grant authenticates with a key from the config.
func (t *tokens) signs(grant *Grant) bool {
	return t.options.Auth.Signs() && t.options.Auth.ClientID == grant.ClientID
}

// assert adds the client's signed credential to a form for an authorization server (private_key_jwt: OpenID Connect
// Core 9, RFC 7523 3). Each is for one use. The error is an *Error of kind usage: the key cannot be used.
func (t *tokens) assert(grant *Grant, form url.Values) error {
	key, err := t.privateKey()
	if err != nil {
		return err
	}
	method, err := signingMethod(key, grant.Signing)
	if err != nil {
		return t.misconfigured("the authorization server %s %v", grant.Issuer, err)
	}
	now := time.Now()
	// The audience is one text, not a list: with only the issuer in it, no other authorization server can use the
	// assertion.
	token := jwt.NewWithClaims(method, jwt.MapClaims{
		"iss": grant.ClientID, "sub": grant.ClientID,
		"aud": cmp.Or(t.options.Auth.AssertionAudience, grant.Issuer),
		"jti": rand.Text(), "iat": now.Unix(), "exp": now.Add(assertionTime).Unix(),
	})
	if id := t.options.Auth.KeyID; id != "" {
		token.Header["kid"] = id
	}
	signed, err := token.SignedString(key)
	if err != nil {
		return t.misconfigured("its private key cannot sign: %v", err)
	}
	t.secret(signed)
	form.Set("client_assertion_type", assertionType)
	form.Set("client_assertion", signed)
	return nil
}

// privateKey reads the key of the config. The error is an *Error of kind usage, which does not quote it.
func (t *tokens) privateKey() (crypto.Signer, error) {
	auth := t.options.Auth
	text, place := []byte(auth.PrivateKey), "auth.privateKey"
	if auth.PrivateKeyFile != "" {
		var err error
		if text, err = t.readSecret("private key", auth.PrivateKeyFile); err != nil {
			return nil, err
		}
		place = auth.PrivateKeyFile
	}
	key, err := parseKey(text)
	if err != nil {
		return nil, t.misconfigured("its private key %s cannot be used: %v", place, err)
	}
	return key, nil
}

// identityToken returns the token with which the machine vouches for toolx. The error is an *Error of kind usage, which
// does not quote it.
func (t *tokens) identityToken() (string, error) {
	auth := t.options.Auth
	if auth.IdentityTokenFile == "" {
		return auth.IdentityToken, nil
	}
	text, err := t.readSecret("identity token", auth.IdentityTokenFile)
	if err != nil {
		return "", err
	}
	token := string(bytes.TrimSpace(text))
	if token == "" {
		return "", t.misconfigured("its identity token %s cannot be used: the file is empty", auth.IdentityTokenFile)
	}
	t.secret(token)
	return token, nil
}

// maxSecret limits the size of a file with a key or a token, in bytes.
const maxSecret = 1 << 20

// readSecret reads a file that the config names; what describes its content.
func (t *tokens) readSecret(what, path string) ([]byte, error) {
	text, err := state.Read(path, maxSecret)
	var file *fs.PathError
	if errors.As(err, &file) {
		err = file.Err // the message has the path already
	}
	if err != nil {
		// A path such as …/token before a colon would be mistaken for the name of a secret.
		return nil, t.misconfigured("its %s %s cannot be read: %v", what, path, err)
	}
	return text, nil
}

// parseKey takes the first private key of a text in PEM form: PKCS #8, PKCS #1 or SEC 1. Variables of an environment
// often have \n instead of line ends.
func parseKey(text []byte) (crypto.Signer, error) {
	if !strings.Contains(string(text), "\n") {
		text = []byte(strings.ReplaceAll(string(text), `\n`, "\n"))
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		switch {
		case block.Type == "ENCRYPTED PRIVATE KEY", strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"):
			return nil, errors.New("it has a passphrase (openssl pkey -in FILE -out NEW removes it)")
		case block.Type == "OPENSSH PRIVATE KEY":
			return nil, errors.New("it is in OpenSSH format (ssh-keygen -p -m PKCS8 -f FILE converts it)")
		case strings.HasSuffix(block.Type, "PRIVATE KEY"):
			return parseBlock(block)
		}
	}
	return nil, errors.New("no private key in PEM form")
}

func parseBlock(block *pem.Block) (crypto.Signer, error) {
	var key any
	var err error
	switch block.Type {
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	default:
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	signer, signs := key.(crypto.Signer)
	switch {
	case err != nil:
		return nil, errors.New("it is damaged")
	case !signs:
		return nil, errors.New("keys of its type cannot sign")
	}
	return signer, nil
}

// signingMethod returns how to sign with a key: the first method of its type (RFC 7518 3.1, RFC 8037 3.1) that the
// authorization server accepts, or any if the server lists none. The error's text follows the server's name.
func signingMethod(key crypto.Signer, taken []string) (jwt.SigningMethod, error) {
	var ways []string
	switch key := key.(type) {
	case *rsa.PrivateKey:
		ways = []string{"RS256", "PS256", "RS384", "PS384", "RS512", "PS512"}
	case *ecdsa.PrivateKey:
		ways = map[int][]string{256: {"ES256"}, 384: {"ES384"}, 521: {"ES512"}}[key.Curve.Params().BitSize]
	case ed25519.PrivateKey:
		ways = []string{"EdDSA"}
	}
	for _, way := range ways {
		if len(taken) == 0 || slices.Contains(taken, way) {
			return jwt.GetSigningMethod(way), nil
		}
	}
	if len(taken) == 0 {
		return nil, errors.New("supports no signatures of the private key's type")
	}
	return nil, fmt.Errorf("accepts signatures with %s, and the private key makes %s",
		strings.Join(taken, ", "), cmp.Or(strings.Join(ways, ", "), "none that are known"))
}

// vouchedBy lets the identity provider of the config exchange an identity token for one that is only for the
// authorization server of grant (RFC 8693, MCP's extension for enterprise-managed authorization). So the enterprise
// decides who may use which server.
//
// The error is an *Error, or ctx's; either way the authorization server was not asked.
func (t *tokens) vouchedBy(ctx context.Context, grant *Grant, identity string) (string, error) {
	provider := t.options.Auth.Provider
	endpoint, err := t.discovery.providerEndpoint(ctx, provider.Issuer)
	if err != nil {
		return "", err
	}
	creds := &oauthex.ClientCredentials{ClientID: provider.ClientID}
	if provider.ClientSecret != "" {
		t.secret(provider.ClientSecret)
		creds.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: provider.ClientSecret}
	}
	got, err := oauthex.ExchangeToken(ctx, endpoint, &oauthex.TokenExchangeRequest{
		RequestedTokenType: oauthex.TokenTypeIDJAG,
		Audience:           grant.Issuer,
		Resource:           grant.Resource,
		Scope:              grant.Scopes,
		SubjectToken:       identity,
		SubjectTokenType:   oauthex.TokenTypeIDToken,
	}, creds, t.endpointClient())
	if err != nil {
		return "", t.fail(ctx, err, "check the identity token, and identityProvider in its entry",
			"the identity provider %s rejects the identity token, reason: %s", provider.Issuer, reason(err))
	}
	t.secret(got.AccessToken)
	if kind, _ := got.Extra("issued_token_type").(string); kind != oauthex.TokenTypeIDJAG {
		return "", t.fail(ctx, nil, "", "the identity provider %s issued a token of another type than requested",
			provider.Issuer)
	}
	return got.AccessToken, nil
}

// providerEndpoint finds the token endpoint of an identity provider. Unlike an authorization server for MCP, it need
// not support PKCE.
func (d *discovery) providerEndpoint(ctx context.Context, issuer string) (string, error) {
	var wrong error
	for _, place := range serverMetadataPlaces(issuer) {
		var read struct {
			Issuer        string `json:"issuer"`
			TokenEndpoint string `json:"token_endpoint"`
		}
		if err := d.trusted(place); err != nil {
			return "", d.misconfigured("its identityProvider: %v", err)
		}
		missing, err := d.getJSON(ctx, place, &read)
		switch {
		case err != nil:
			wrong = err
		case missing != "": // the next place may have it
		case !sameIssuer(read.Issuer, issuer):
			wrong = fmt.Errorf("its metadata belongs to another issuer, %q", read.Issuer)
		default:
			if wrong = d.trusted(read.TokenEndpoint); wrong == nil {
				return read.TokenEndpoint, nil
			}
		}
	}
	if wrong == nil {
		return "", d.fail(ctx, nil, "", "the identity provider %s has no metadata", issuer)
	}
	return "", d.fail(ctx, wrong, "", "the identity provider %s: %s", issuer, metadataReason(wrong))
}
