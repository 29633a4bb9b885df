package config

// The grants by which toolx gets access tokens (RFC 6749).
const (
	GrantAuthorizationCode = "authorization_code" // a person logs in, in a browser
	GrantClientCredentials = "client_credentials" // the client itself has a secret
)

// Auth says how toolx gets access tokens for a server (OAuth 2.1). Everything in it
// is optional: most servers say what they want by themselves.
type Auth struct {
	// Grant is one of the Grant constants; empty means GrantAuthorizationCode.
	Grant string
	// ClientID and ClientSecret are those of a client that is registered already.
	ClientID     string
	ClientSecret string
	// ClientMetadataURL is where a Client ID Metadata Document lies: its URL is the
	// client's id, where the authorization server knows such documents.
	ClientMetadataURL string
	// Scopes are asked for instead of those that the server names.
	Scopes []string
	// Issuer is the only authorization server that is trusted; empty means the first
	// that the server names.
	Issuer string
	// RedirectPort is the port of the callback on 127.0.0.1, for authorization servers
	// that want to know it beforehand; zero means any free one.
	RedirectPort int
}

func authFields() []field[Auth] {
	return []field[Auth]{
		{"grant", nil, func(_ *decoder, v value, a *Auth) { a.Grant = v.string() }},
		{"clientId", []string{"client_id"}, func(_ *decoder, v value, a *Auth) { a.ClientID = v.string() }},
		{"clientSecret", []string{"client_secret"}, func(_ *decoder, v value, a *Auth) { a.ClientSecret = v.string() }},
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
	switch {
	case s.Auth.Grant == GrantClientCredentials && s.Auth.ClientID == "":
		d.problem(v, "add clientId: …", "the grant client_credentials needs a clientId")
	case s.Auth.Grant == GrantClientCredentials && s.Auth.ClientSecret == "":
		d.problem(v, "add clientSecret: ${CLIENT_SECRET}", "the grant client_credentials needs a clientSecret")
	case s.Auth.ClientSecret != "" && s.Auth.ClientID == "":
		d.problem(v, "add clientId: …", "a clientSecret needs a clientId")
	}
}

// auth is the server's Auth with every variable expanded, nil where it has none.
func (e *expander) auth() *Auth {
	if e.server.Auth == nil {
		return nil
	}
	auth := *e.server.Auth
	auth.ClientID = e.expand(auth.ClientID, "auth.clientId")
	auth.ClientSecret = e.expand(auth.ClientSecret, "auth.clientSecret")
	auth.ClientMetadataURL = e.expand(auth.ClientMetadataURL, "auth.clientMetadataUrl")
	auth.Issuer = e.expand(auth.Issuer, "auth.issuer")
	auth.Scopes = make([]string, len(e.server.Auth.Scopes))
	for i, scope := range e.server.Auth.Scopes {
		auth.Scopes[i] = e.expand(scope, joinIndex("auth.scopes", i))
	}
	return &auth
}

// secrets are the values of an Auth that are to be masked.
func (a *Auth) secrets() []string {
	if a == nil || a.ClientSecret == "" {
		return nil
	}
	return []string{a.ClientSecret}
}
