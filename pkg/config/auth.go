package config

import (
	"reflect"
	"strings"
)

// The grants with which toolx gets access tokens (RFC 6749, RFC 7523).
const (
	GrantAuthorizationCode = "authorization_code" // a person logs in, in a browser
	GrantClientCredentials = "client_credentials" // the client itself has a secret or a key
	GrantJWTBearer         = "jwt_bearer"         // toolx's machine has an identity token
)

// Auth configures how toolx gets access tokens for a server (OAuth 2.1). Everything is optional, because most servers
// publish what they require.
type Auth struct {
	// Grant is one of the Grant constants; empty means GrantAuthorizationCode.
	Grant string `config:"grant"`
	// ClientID and ClientSecret identify a client that is already registered.
	ClientID     string `config:"clientId,client_id"`
	ClientSecret string `config:"clientSecret,client_secret"`
	// PrivateKey is the client's key in PEM form, and PrivateKeyFile a file with it. Either replaces a secret: the
	// client authenticates with a signature (RFC 7523 2.2).
	PrivateKey     string `config:"privateKey"`
	PrivateKeyFile string `config:"privateKeyFile" as:"file"`
	// KeyID identifies that key at the authorization server; it may be empty.
	KeyID string `config:"keyId"`
	// AssertionAudience is the audience (aud) of the client assertion; empty means the authorization server's issuer.
	AssertionAudience string `config:"assertionAudience"`
	// IdentityToken is a signed token that identifies the machine, and IdentityTokenFile a file with it, which is read
	// again for each access token.
	IdentityToken     string `config:"identityToken"`
	IdentityTokenFile string `config:"identityTokenFile" as:"file"`
	// Provider is an enterprise's identity provider, which exchanges the identity token for one that the authorization
	// server accepts; nil if that accepts the identity token itself.
	Provider *Provider `config:"identityProvider"`
	// ClientMetadataURL is the URL of a Client ID Metadata Document, which is the client's id at authorization servers
	// that support such documents.
	ClientMetadataURL string `config:"clientMetadataUrl"`
	// Scopes are requested instead of those that the server names.
	Scopes []string `config:"scopes"`
	// Issuer is the only authorization server that is trusted; empty means the first that the server names.
	Issuer string `config:"issuer"`
	// RedirectPort is the port of the callback on 127.0.0.1, for authorization servers that require a fixed one; zero
	// means any free port.
	RedirectPort int `config:"redirectPort"`
}

// Provider is an enterprise's identity provider and toolx's registration there.
type Provider struct {
	Issuer       string `config:"issuer"`
	ClientID     string `config:"clientId"`
	ClientSecret string `config:"clientSecret"` // empty for a public client
}

// auth reads a server's auth and rejects settings that cannot get a token.
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

// validate returns what is missing or contradictory, and the fix; both are empty for a usable Auth.
func (a *Auth) validate() (problem, fix string) {
	switch {
	case a.PrivateKey != "" && a.PrivateKeyFile != "":
		return "both privateKey and privateKeyFile are set", "keep one of them"
	case a.Signs() && a.ClientSecret != "":
		return "both clientSecret and a private key are set", "keep the one that the client is registered with"
	case a.Grant == GrantClientCredentials && a.ClientID == "":
		return "the grant client_credentials needs a clientId", "add clientId: …"
	case a.Grant == GrantClientCredentials && a.ClientSecret == "" && !a.Signs():
		return "the grant client_credentials needs a clientSecret, or a privateKeyFile",
			"add clientSecret: ${CLIENT_SECRET}"
	case a.Grant == GrantJWTBearer && (a.IdentityToken == "") == (a.IdentityTokenFile == ""):
		return "the grant jwt_bearer needs either an identityTokenFile or an identityToken", "keep or add one of them"
	case a.Grant != GrantJWTBearer && (a.Provider != nil || a.IdentityToken+a.IdentityTokenFile != ""):
		return "identityToken and identityProvider need the grant jwt_bearer", "add grant: jwt_bearer"
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

// Signs reports whether the client authenticates with a key instead of a secret.
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

// texts expands the string fields of the struct that to points to. Their keys are below path.
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

// secrets returns the values of an Auth to mask. It returns each line of a key too, because JSON and logs write line
// ends differently.
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
