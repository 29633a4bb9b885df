package auth

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"toolx/pkg/config"
	"toolx/pkg/fault"
)

// enterprise is an identity provider, which knows one person and one client.
type enterprise struct {
	*httptest.Server
	issuer string // that its metadata says; empty means its address
	kind   string // of the tokens that it gives
	refuse bool
	asked  []url.Values
}

func newEnterprise(t *testing.T, w *world) *enterprise {
	e := &enterprise{kind: "urn:ietf:params:oauth:token-type:id-jag"}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /.well-known/openid-configuration", func(out http.ResponseWriter, _ *http.Request) {
		issuer := e.URL
		if e.issuer != "" {
			issuer = e.issuer
		}
		writeJSON(out, http.StatusOK, map[string]any{"issuer": issuer, "token_endpoint": e.URL + "/token"})
	})
	routes.HandleFunc("POST /token", func(out http.ResponseWriter, req *http.Request) {
		_ = req.ParseForm()
		e.asked = append(e.asked, req.PostForm)
		if e.refuse || req.PostForm.Get("subject_token") != sentinel+"-person" ||
			req.PostForm.Get("client_secret") != sentinel+"-desk" {
			refuse(out, http.StatusBadRequest, "invalid_grant")
			return
		}
		writeJSON(out, http.StatusOK, map[string]any{
			"access_token": w.vouched, "issued_token_type": e.kind,
			"token_type": "N_A",
		})
	})
	e.Server = httptest.NewServer(routes)
	t.Cleanup(e.Close)
	return e
}

// employee returns the options of a client whose identity an enterprise vouches for.
func (w *world) employee(provider string) Options {
	options := w.options()
	options.Visit, options.Store = nil, NewStore(w.t.TempDir(), false)
	w.secrets["toolx"], w.vouched = sentinel+"-client", sentinel+"-vouched"
	options.Auth = &config.Auth{
		Grant: config.GrantJWTBearer, ClientID: "toolx", ClientSecret: w.secrets["toolx"], IdentityToken: sentinel +
			"-person",
		Provider: &config.Provider{Issuer: provider, ClientID: "desk", ClientSecret: sentinel + "-desk"},
	}
	return options
}

// The provider makes a token for one authorization server and one resource, and no other; that is what access tokens
// are obtained and renewed with.
func TestEnterprise(t *testing.T) {
	w := newWorld(t)
	e := newEnterprise(t, w)
	w.challenged = "read"
	transport := Transport(http.DefaultTransport, w.employee(e.URL))
	w.wantServed(transport, "")
	asked := last(t, e.asked)
	for key, want := range map[string]string{
		"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "requested_token_type": e.kind,
		"subject_token_type": "urn:ietf:params:oauth:token-type:id_token", "audience": w.issuer(), "resource": w.url(),
		"client_id": "desk", "scope": "read",
	} {
		if got := asked.Get(key); got != want {
			t.Errorf("the provider was asked with %s %q, want %q", key, got, want)
		}
	}
	w.expire()
	w.wantServed(transport, "")
	if len(e.asked) != 2 || len(w.tokens) != 2 {
		t.Errorf("the provider was asked %d times, the authorization server %d", len(e.asked), len(w.tokens))
	}
}

func TestEnterpriseThatDoesNotVouch(t *testing.T) {
	for _, test := range []struct {
		name, want string
		set        func(e *enterprise)
	}{
		{"refused", "rejects the identity token, reason: invalid_grant (told so)", func(e *enterprise) { e.refuse = true }},
		{"another type", "issued a token of another type", func(e *enterprise) { e.kind = "urn:ietf:params:oauth:token-type:jwt" }},
		{"another provider", `its metadata belongs to another issuer, "https://evil.example"`, func(e *enterprise) { e.issuer = "https://evil.example" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			e := newEnterprise(t, w)
			test.set(e)
			w.wantError(Transport(http.DefaultTransport, w.employee(e.URL)), "", "the identity provider "+e.URL, "")
			w.wantError(Transport(http.DefaultTransport, w.employee(e.URL)), "", test.want, "")
			if len(w.tokens) > 0 {
				t.Errorf("the authorization server was asked: %v", w.tokens)
			}
		})
	}
}

func TestEnterpriseThatIsNotThere(t *testing.T) {
	w := newWorld(t)
	w.wantError(Transport(http.DefaultTransport, w.employee(w.resource.URL)), "", "has no metadata", "")
	_, err := w.call(Transport(http.DefaultTransport, w.employee("http://sso.example")), "")
	if fault.KindOf(err) != fault.KindUsage {
		t.Errorf("a provider without TLS: %v", err)
	}
	e := newEnterprise(t, w)
	e.Close()
	_, err = w.call(Transport(http.DefaultTransport, w.employee(e.URL)), "")
	if fault.KindOf(err) != fault.KindConnect {
		t.Errorf("a provider that is gone: %v", err)
	}
}
