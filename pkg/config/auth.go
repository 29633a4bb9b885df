package config

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
	Grant string
	// ClientID and ClientSecret are those of a client that is registered already.
	ClientID     string
	ClientSecret string
	// PrivateKey is the client's key in PEM form, and PrivateKeyFile a file with it. One of them takes the place of a
	// secret: the client signs who it is (RFC 7523 2.2).
	PrivateKey     string
	PrivateKeyFile string
	// KeyID says to the authorization server which of the client's keys that is; it may be empty.
	KeyID string
	// AssertionAudience is the audience (aud) of the client assertion; empty means the authorization server's issuer.
	AssertionAudience string
	// IdentityToken is the signed token by which a machine vouches for what runs on it, and IdentityTokenFile a file
	// with it, which is read anew for each access token.
	IdentityToken     string
	IdentityTokenFile string
	// Provider is an enterprise's identity provider, that exchanges the identity token for one that the authorization
	// server accepts; nil if that accepts the identity token itself.
	Provider *Provider
	// ClientMetadataURL is where a Client ID Metadata Document lies: its URL is the client's id, where the
	// authorization server knows such documents.
	ClientMetadataURL string
	// Scopes are asked for instead of those that the server names.
	Scopes []string
	// Issuer is the only authorization server that is trusted; empty means the first that the server names.
	Issuer string
	// RedirectPort is the port of the callback on 127.0.0.1, for authorization servers that want to know it beforehand;
	// zero means any free one.
	RedirectPort int
}

// Provider is the identity provider of an enterprise, and toolx as it knows it.
type Provider struct {
	Issuer       string
	ClientID     string
	ClientSecret string // empty for a public client
}

func providerFields() []field[Provider] {
	return []field[Provider]{
		{"issuer", nil, func(_ *decoder, v value, p *Provider) { p.Issuer = v.string() }},
		{"clientId", nil, func(_ *decoder, v value, p *Provider) { p.ClientID = v.string() }},
		{"clientSecret", nil, func(_ *decoder, v value, p *Provider) { p.ClientSecret = v.string() }},
	}
}

func authFields() []field[Auth] {
	return []field[Auth]{
		{"grant", nil, func(_ *decoder, v value, a *Auth) { a.Grant = v.string() }},
		{"clientId", []string{"client_id"}, func(_ *decoder, v value, a *Auth) { a.ClientID = v.string() }},
		{"clientSecret", []string{"client_secret"}, func(_ *decoder, v value, a *Auth) { a.ClientSecret = v.string() }},
		{"privateKey", nil, func(_ *decoder, v value, a *Auth) { a.PrivateKey = v.string() }},
		{"privateKeyFile", nil, func(_ *decoder, v value, a *Auth) { a.PrivateKeyFile = v.string() }},
		{"keyId", nil, func(_ *decoder, v value, a *Auth) { a.KeyID = v.string() }},
		{"assertionAudience", nil, func(_ *decoder, v value, a *Auth) { a.AssertionAudience = v.string() }},
		{"identityToken", nil, func(_ *decoder, v value, a *Auth) { a.IdentityToken = v.string() }},
		{"identityTokenFile", nil, func(_ *decoder, v value, a *Auth) { a.IdentityTokenFile = v.string() }},
		{"identityProvider", nil, func(d *decoder, v value, a *Auth) {
			a.Provider = &Provider{}
			decode(d, v, providerFields(), a.Provider)
		}},
		{"clientMetadataUrl", nil, func(_ *decoder, v value, a *Auth) { a.ClientMetadataURL = v.string() }},
		{"scopes", nil, func(_ *decoder, v value, a *Auth) { a.Scopes = v.texts() }},
		{"issuer", nil, func(_ *decoder, v value, a *Auth) { a.Issuer = v.string() }},
		{"redirectPort", nil, func(d *decoder, v value, a *Auth) { a.RedirectPort = d.whole(v) }},
	}
}

// auth reads a server's auth, and refuses what cannot get a token.
func (d *decoder) auth(v value, s *Server) {
	if v.kind != kindMap {
		return
	}
	s.Auth = &Auth{}
	decode(d, v, authFields(), s.Auth)
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
	auth.ClientID = e.expand(auth.ClientID, "auth.clientId")
	auth.ClientSecret = e.expand(auth.ClientSecret, "auth.clientSecret")
	auth.PrivateKey = e.expand(auth.PrivateKey, "auth.privateKey")
	auth.PrivateKeyFile = e.file("auth.privateKeyFile", auth.PrivateKeyFile)
	auth.KeyID = e.expand(auth.KeyID, "auth.keyId")
	auth.AssertionAudience = e.expand(auth.AssertionAudience, "auth.assertionAudience")
	auth.IdentityToken = e.expand(auth.IdentityToken, "auth.identityToken")
	auth.IdentityTokenFile = e.file("auth.identityTokenFile", auth.IdentityTokenFile)
	if auth.Provider != nil {
		auth.Provider = &Provider{
			Issuer:       e.expand(auth.Provider.Issuer, "auth.identityProvider.issuer"),
			ClientID:     e.expand(auth.Provider.ClientID, "auth.identityProvider.clientId"),
			ClientSecret: e.expand(auth.Provider.ClientSecret, "auth.identityProvider.clientSecret"),
		}
	}
	auth.ClientMetadataURL = e.expand(auth.ClientMetadataURL, "auth.clientMetadataUrl")
	auth.Issuer = e.expand(auth.Issuer, "auth.issuer")
	auth.Scopes = make([]string, len(e.server.Auth.Scopes))
	for i, scope := range e.server.Auth.Scopes {
		auth.Scopes[i] = e.expand(scope, joinIndex("auth.scopes", i))
	}
	return &auth
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
