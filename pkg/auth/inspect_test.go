package auth

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestInspect has all that is wrong with the metadata of a server listed, and nothing of a server that is well.
func TestInspect(t *testing.T) {
	for _, test := range []struct {
		what string
		bend func(w *world)
		want []string // document, field
	}{
		{"all is well", func(*world) {}, nil},
		{"the metadata is that of OpenID Connect", func(w *world) { w.place = "/.well-known/openid-configuration" }, nil},
		{"a path of the issuer", func(w *world) { w.issuerPath, w.place = "/a", "/a/.well-known/openid-configuration" }, nil},
		{"the address of the metadata is not told", func(w *world) { w.hidden = true }, nil},
		{"it asks for a password", func(w *world) { w.basic = true }, nil},
		{"another resource", func(w *world) { w.speaksFor = "https://elsewhere.example/mcp" }, []string{"RS resource"}},
		{"no authorization server", func(w *world) { w.logins = []string{} }, []string{"RS authorization_servers"}},
		{"a login without TLS", func(w *world) { w.logins = []string{"http://login.example"} }, []string{"RS authorization_servers"}},
		{"no metadata of the authorization server", func(w *world) { w.place = "/nowhere" }, []string{"AS "}},
		{"no document, and nothing promises one", func(w *world) { w.noMetadata = true }, []string{"RS unsaid"}},
		{"much at once", func(w *world) {
			w.speaksFor = "https://elsewhere.example/mcp"
			w.metadata = map[string]any{
				"issuer": "https://other.example", "code_challenge_methods_supported": []string{"plain"},
				"response_types_supported": nil, "token_endpoint": 3, "authorization_endpoint": "http://plain.example",
			}
		}, []string{
			"RS resource", "AS issuer", "AS code_challenge_methods_supported", "AS response_types_supported",
			"AS token_endpoint", "AS authorization_endpoint",
		}},
		{"clients are registered by hand", func(w *world) { w.metadata["registration_endpoint"] = nil }, []string{"AS registration_endpoint"}},
		{"no word of PKCE", func(w *world) { w.metadata["code_challenge_methods_supported"] = nil }, []string{"AS code_challenge_methods_supported"}},
	} {
		t.Run(test.what, func(t *testing.T) {
			w := newWorld(t)
			test.bend(w)
			var got []string
			for _, fault := range Inspect(t.Context(), http.DefaultTransport, w.options(), w.refusal()) {
				document := "AS"
				if strings.HasPrefix(fault.URL, w.resource.URL) {
					document = "RS"
				}
				if fault.ByHand != (fault.Field == "registration_endpoint") {
					t.Errorf("%+v: by hand", fault)
				}
				if fault.Unsaid {
					fault.Field = "unsaid"
				}
				got = append(got, document+" "+fault.Field)
				if fault.Problem == "" {
					t.Errorf("%+v does not say what is wrong", fault)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("found %q, want %q", got, test.want)
			}
		})
	}
}

// A promise that is not kept is a fault, also where the document is elsewhere; and a server of 2025-03-26, which is its
// own authorization server, is told what is new.
func TestInspectPromises(t *testing.T) {
	w := newWorld(t)
	header := http.Header{"Www-Authenticate": {`Bearer resource_metadata="` + w.resource.URL + `/nothing"`}}
	if got := Inspect(t.Context(), http.DefaultTransport, w.options(), header); len(got) != 1 ||
		!strings.Contains(got[0].Problem, "HTTP 404") {
		t.Errorf("found %+v", got)
	}
	old := newWorld(t)
	options := old.options()
	options.URL = old.authority.URL + "/mcp"
	got := Inspect(t.Context(), http.DefaultTransport, options, http.Header{"Www-Authenticate": {"Bearer"}})
	if len(got) != 1 || got[0].Unsaid || !strings.HasSuffix(got[0].URL, "/.well-known/oauth-protected-resource/mcp") {
		t.Errorf("found %+v", got)
	}
}

// What was not read to the end is not judged.
func TestInspectGivenUp(t *testing.T) {
	w := newWorld(t)
	w.place = "/nowhere"
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Inspect(ctx, http.DefaultTransport, w.options(), w.refusal()); got != nil {
		t.Errorf("found %+v", got)
	}
}

// refusal returns the header with which the server refuses a request without a token.
func (w *world) refusal() http.Header {
	w.t.Helper()
	resp, err := http.Get(w.url())
	if err != nil {
		w.t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		w.t.Fatalf("HTTP %s", resp.Status)
	}
	return resp.Header
}

// A document that never ends is a fault, and ends the waiting for it.
func TestInspectEndless(t *testing.T) {
	w := newWorld(t)
	endless := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, req *http.Request) {
		out.Header().Set("Content-Type", "application/json")
		_, _ = out.Write([]byte(" "))
		_ = http.NewResponseController(out).Flush()
		<-req.Context().Done()
	}))
	t.Cleanup(endless.Close)
	c, err := newClient(http.DefaultTransport, w.options())
	if err != nil {
		t.Fatal(err)
	}
	c.exchangeTimeout = time.Second
	i := &inspection{discovery: c.discovery}
	i.all(t.Context(), &challenge{metadata: endless.URL})
	if len(i.faults) != 1 || !strings.Contains(i.faults[0].Problem, "did not end within 1s") {
		t.Errorf("found %+v", i.faults)
	}
}
