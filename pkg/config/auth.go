package config

import (
	"reflect"
	"strings"
)

// The grants by which toolx gets access tokens (RFC 6749, RFC 7523).
const (
	GrantAuthorizationCode = "authorization_code" // a person logs in, in a browser
	GrantClientCredentials = "client_credentials" // the client itself has a secret or a key
	GrantJWTBearer         = "jwt_bearer"         // the machine that toolx runs on vouches for it
)

// Auth says how toolx gets access tokens for a server (OAuth 2.1). Everything in it is optional: most servers say what
// they want by themselves.
type Auth struct {
	// Grant is one of the Grant constants; empty means GrantAuthorizationCode.
	Grant string `config:"grant"`
	// ClientID and ClientSecret are those of a client that is registered already.
	ClientID     string `config:"clientId,client_id"`
	ClientSecret string `config:"clientSecret,client_secret"`
	// PrivateKey is the client's key in PEM form, and PrivateKeyFile a file with it. One of them takes the place of a
	// secret: the client signs who it is (RFC 7523 2.2).
	PrivateKey     string `config:"privateKey"`
	PrivateKeyFile string `config:"privateKeyFile" as:"file"`
	// KeyID says to the authorization server which of the client's keys that is; it may be empty.
	KeyID string `config:"keyId"`
	// AssertionAudience is the audience (aud) of the client assertion; empty means the authorization server's issuer.
	AssertionAudience string `config:"assertionAudience"`
	// IdentityToken is the signed token by which a machine vouches for what runs on it, and IdentityTokenFile a file
	// with it, which is read anew for each access token.
	IdentityToken     string `config:"identityToken"`
	IdentityTokenFile string `config:"identityTokenFile" as:"file"`
	// Provider is an enterprise's identity provider, that exchanges the identity token for one that the authorization
	// server accepts; nil if that accepts the identity token itself.
	Provider *Provider `config:"identityProvider"`
	// ClientMetadataURL is where a Client ID Metadata Document lies: its URL is the client's id, where the
	// authorization server knows such documents.
	ClientMetadataURL string `config:"clientMetadataUrl"`
	// Scopes are asked for instead of those that the server names.
	Scopes []string `config:"scopes"`
	// Issuer is the only authorization server that is trusted; empty means the first that the server names.
	Issuer string `config:"issuer"`
	// RedirectPort is the port of the callback on 127.0.0.1, for authorization servers that want to know it beforehand;
	// zero means any free one.
	RedirectPort int `config:"redirectPort"`
}

// Provider is the identity provider of an enterprise, and toolx as it knows it.
type Provider struct {
	Issuer       string `config:"issuer"`
	ClientID     string `config:"clientId"`
	ClientSecret string `config:"clientSecret"` // empty for a public client
}

// auth reads a server's auth, and refuses what cannot get a token.
func (d *decoder) auth(v value, s *Server) {
	if v.kind != kindMap {
		return
	}
	s.Auth = &Auth{}
	decode(d, v, fieldsOf[Auth](), s.Auth)
	if problem, fix := s.Auth.validate(); problem != "" {
		d.problem(v, fix, "%s", problem)
	}
}

// validate returns what is missing or contradictory, and the fix; both are empty if the Auth can get tokens.
func (a *Auth) validate() (problem, fix string) {
	switch {
	case a.PrivateKey != "" && a.PrivateKeyFile != "":
		return "there are both a privateKey and a privateKeyFile", "keep one of them"
	case a.Signs() && a.ClientSecret != "":
		return "there are both a clientSecret and a private key", "keep the one that the client is registered with"
	case a.Grant == GrantClientCredentials && a.ClientID == "":
		return "the grant client_credentials needs a clientId", "add clientId: …"
	case a.Grant == GrantClientCredentials && a.ClientSecret == "" && !a.Signs():
		return "the grant client_credentials needs a clientSecret, or a privateKeyFile",
			"add clientSecret: ${CLIENT_SECRET}"
	case a.Grant == GrantJWTBearer && (a.IdentityToken == "") == (a.IdentityTokenFile == ""):
		return "the grant jwt_bearer needs either an identityTokenFile or an identityToken", "keep or add one of them"
	case a.Grant != GrantJWTBearer && (a.Provider != nil || a.IdentityToken+a.IdentityTokenFile != ""):
		return "an identity token and its provider are for another grant", "add grant: jwt_bearer"
	case a.Provider != nil && (a.Provider.Issuer == "" || a.Provider.ClientID == ""):
		return "an identityProvider needs an issuer and a clientId",
			"add identityProvider: {issuer: https://…, clientId: …}"
	case a.ClientSecret != "" && a.ClientID == "":
		return "a clientSecret needs a clientId", "add clientId: …"
	case a.Signs() && a.ClientID == "":
		return "a private key needs a clientId", "add clientId: …"
	case !a.Signs() && (a.KeyID != "" || a.AssertionAudience != ""):
		return "keyId and assertionAudience need a private key", "add privateKeyFile: FILE"
	}
	return "", ""
}

// Signs reports whether the client shows who it is by a key, and not by a secret.
func (a *Auth) Signs() bool { return a.PrivateKey != "" || a.PrivateKeyFile != "" }

// auth returns the server's Auth with every variable expanded, nil if it has none.
func (e *expander) auth() *Auth {
	if e.server.Auth == nil {
		return nil
	}
	auth := *e.server.Auth
	e.texts("auth", &auth)
	if auth.Provider != nil {
		provider := *auth.Provider
		e.texts("auth.identityProvider", &provider)
		auth.Provider = &provider
	}
	auth.Scopes = make([]string, len(e.server.Auth.Scopes))
	for i, scope := range e.server.Auth.Scopes {
		auth.Scopes[i] = e.expand(scope, joinIndex("auth.scopes", i))
	}
	return &auth
}

// texts expands the texts of the struct that to points to, by their keys below path.
func (e *expander) texts(path string, to any) {
	fields := reflect.ValueOf(to).Elem()
	for i := range fields.NumField() {
		text, isText := fields.Field(i).Addr().Interface().(*string)
		if !isText {
			continue
		}
		tag := fields.Type().Field(i).Tag
		name, _, _ := strings.Cut(tag.Get("config"), ",")
		if key := joinKey(path, name); tag.Get("as") == "file" {
			*text = e.file(key, *text)
		} else {
			*text = e.expand(*text, key)
		}
	}
}

// secrets returns the values of an Auth that are to be masked: a key line by line too, because JSON and logs write its
// line ends in other ways.
func (a *Auth) secrets() []string {
	if a == nil {
		return nil
	}
	found := []string{a.ClientSecret, a.PrivateKey, a.IdentityToken}
	if a.Provider != nil {
		found = append(found, a.Provider.ClientSecret)
	}
	return append(found, secretLines(a.PrivateKey)...)
}
