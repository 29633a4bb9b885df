package auth

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
)

// A login from nothing: metadata, registration, PKCE, the resource, the scopes.
func TestLogin(t *testing.T) {
	w := newWorld(t)
	w.challenged = "read"
	transport := Transport(http.DefaultTransport, w.options())
	w.wantServed(transport, "")
	w.wantServed(transport, "")
	asked, token := last(t, w.visits), last(t, w.tokens)
	for key, want := range map[string]string{
		"response_type": "code", "client_id": "dynamic", "scope": "read", "resource": w.url(),
		"code_challenge_method": "S256",
	} {
		if got := asked.Get(key); got != want {
			t.Errorf("asked with %s %q, want %q", key, got, want)
		}
	}
	if back := asked.Get("redirect_uri"); !strings.HasPrefix(back, "http://127.0.0.1:") {
		t.Errorf("the browser comes back to %s", back)
	}
	if got := token.Get("resource"); got != w.url() {
		t.Errorf("the token is for %q", got)
	}
	if len(w.visits) != 1 || len(w.tokens) != 1 {
		t.Errorf("%d logins, %d tokens, want one of each", len(w.visits), len(w.tokens))
	}
}

// Requests that are refused at the same time lead to one login.
func TestOneLoginForManyRequests(t *testing.T) {
	w := newWorld(t)
	transport := Transport(http.DefaultTransport, w.options())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { w.wantServed(transport, "") })
	}
	all.Wait()
	if len(w.visits) != 1 {
		t.Errorf("%d logins", len(w.visits))
	}
}

func TestDiscovery(t *testing.T) {
	for _, test := range []struct {
		name string
		set  func(w *world)
	}{
		{"RFC 8414", func(w *world) {}},
		{"OpenID Connect", func(w *world) { w.place = "/.well-known/openid-configuration" }},
		{"RFC 8414 with a path", func(w *world) {
			w.issuerPath, w.place = "/tenant", "/.well-known/oauth-authorization-server/tenant"
		}},
		{"OpenID Connect with a path before", func(w *world) {
			w.issuerPath, w.place = "/tenant", "/.well-known/openid-configuration/tenant"
		}},
		{"OpenID Connect with a path behind", func(w *world) {
			w.issuerPath, w.place = "/tenant", "/tenant/.well-known/openid-configuration"
		}},
		{"an issuer with a slash in one place", func(w *world) { w.logins = []string{w.authority.URL + "/"} }},
		{"the metadata's address is not told", func(w *world) { w.hidden = true }},
		{"a bare 401", func(w *world) { w.bare = true }},
		{"metadata of the whole host", func(w *world) { w.speaksFor = w.resource.URL + "/" }},
		{"no metadata: revision 2025-03-26", func(w *world) { w.noMetadata = true }},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			test.set(w)
			w.wantServed(Transport(http.DefaultTransport, w.options()), "")
		})
	}
}

// What is wrong with a way in is said, and nothing is sent there.
func TestDiscoveryThatIsRefused(t *testing.T) {
	for _, test := range []struct {
		name, want, hint string
		set              func(w *world, o *Options)
	}{
		{"of another resource", `it describes another resource, "https://elsewhere.example/mcp"`, "", func(w *world, _ *Options) {
			w.speaksFor = "https://elsewhere.example/mcp"
		}},
		{"of a sibling", "it describes another resource", "", func(w *world, _ *Options) { w.speaksFor = w.url() + "-2" }},
		{"no authorization server", "names no authorization server", "", func(w *world, _ *Options) { w.logins = []string{} }},
		{"without TLS", "http://login.example is not https", "", func(w *world, _ *Options) { w.logins = []string{"http://login.example"} }},
		{
			"another issuer than the config's", "the config trusts only https://login.example", "auth.issuer",
			func(_ *world, o *Options) {
				o.Auth = &config.Auth{Issuer: "https://login.example"}
			},
		},
		{"another issuer than it says", `metadata issuer "https://evil.example" does not match`, "", func(w *world, _ *Options) {
			w.metadata["issuer"] = "https://evil.example"
		}},
		{"no PKCE", "does not implement PKCE", "", func(w *world, _ *Options) {
			w.metadata["code_challenge_methods_supported"] = []string{}
		}},
		{"PKCE without S256", "supports PKCE with plain, none only, not S256", "", func(w *world, _ *Options) {
			w.metadata["code_challenge_methods_supported"] = []string{"plain", "none"}
		}},
		{"a token endpoint without TLS", "does not use HTTPS", "", func(w *world, _ *Options) {
			w.metadata["token_endpoint"] = "http://evil.example/token"
		}},
		{
			"a revocation endpoint without TLS", "http://evil.example/revoke is not https", "",
			func(w *world, _ *Options) {
				w.metadata["revocation_endpoint"] = "http://evil.example/revoke"
			},
		},
		{"an authorization endpoint that is not an address", "authorization_endpoint", "", func(w *world, _ *Options) {
			w.metadata["authorization_endpoint"] = "https://evil.example/\x01"
		}},
		{"metadata missing", "has no metadata", "", func(w *world, _ *Options) { w.place = "/nowhere" }},
		{"a key and no login", "names no authorization server", "Authorization: Bearer", func(w *world, _ *Options) {
			w.noMetadata, w.bare = true, true
			w.register = func(out http.ResponseWriter, _ map[string]any) { out.WriteHeader(http.StatusNotFound) }
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			options := w.options()
			test.set(w, &options)
			w.wantError(Transport(http.DefaultTransport, options), "", test.want, test.hint)
			if len(w.visits) > 0 || len(w.tokens) > 0 {
				t.Errorf("it went on: %v, %v", w.visits, w.tokens)
			}
		})
	}
}

func TestAuthorityThatIsNotThere(t *testing.T) {
	w := newWorld(t)
	w.authority.Close()
	_, err := w.call(Transport(http.DefaultTransport, w.options()), "")
	if fault.KindOf(err) != fault.KindConnect || !strings.Contains(err.Error(), w.authority.URL+" cannot be reached") {
		t.Errorf("error %v of kind %s", err, fault.KindOf(err))
	}
}

func TestRegistration(t *testing.T) {
	document := "https://toolx.example/client.json"
	for _, test := range []struct {
		name             string
		auth             config.Auth
		set              func(w *world)
		client, inHeader string
	}{
		{"dynamic, public", config.Auth{}, func(*world) {}, "dynamic", "false"},
		{"dynamic, a secret in the header", config.Auth{}, func(w *world) { w.method = methodBasic }, "dynamic", "true"},
		{"dynamic, a secret in the body", config.Auth{}, func(w *world) { w.method = methodPost }, "dynamic", "false"},
		{"known, public", config.Auth{ClientID: "known"}, func(w *world) { w.secrets["known"] = "" }, "known", "false"},
		{
			"known, a secret in the header",
			config.Auth{ClientID: "known", ClientSecret: sentinel + "-own"},
			func(w *world) {
				w.secrets["known"] = sentinel + "-own"
			}, "known", "true",
		},
		{
			"known, a secret in the body",
			config.Auth{ClientID: "known", ClientSecret: sentinel + "-own"},
			func(w *world) {
				w.secrets["known"] = sentinel + "-own"
				w.metadata["token_endpoint_auth_methods_supported"] = []string{methodPost}
			}, "known", "false",
		},
		{"a document", config.Auth{ClientMetadataURL: document}, func(w *world) {
			w.secrets[document] = ""
			w.metadata["client_id_metadata_document_supported"] = true
		}, document, "false"},
		{"a document that the server does not know", config.Auth{ClientMetadataURL: document}, func(*world) {}, "dynamic", "false"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			test.set(w)
			options := w.options()
			options.Auth = &test.auth
			w.wantServed(Transport(http.DefaultTransport, options), "")
			if got := last(t, w.tokens); got.Get("client") != test.client || got.Get("in_header") != test.inHeader {
				t.Errorf("client %s, in the header %s", got.Get("client"), got.Get("in_header"))
			}
		})
	}
}

func TestWhatIsRegistered(t *testing.T) {
	w := newWorld(t)
	var wanted map[string]any
	w.register = func(out http.ResponseWriter, asked map[string]any) {
		wanted = asked
		w.secrets["dynamic"] = ""
		writeJSON(out, http.StatusCreated, map[string]any{"client_id": "dynamic"})
	}
	w.wantServed(Transport(http.DefaultTransport, w.options()), "")
	for key, want := range map[string]any{
		"client_name":                "toolx",
		"application_type":           "native",
		"token_endpoint_auth_method": "none",
		"software_version":           "1.2.3",
	} {
		if wanted[key] != want {
			t.Errorf("%s is %v, want %v", key, wanted[key], want)
		}
	}
}

func TestRegistrationThatIsRefused(t *testing.T) {
	for _, test := range []struct {
		name, want string
		set        func(w *world)
	}{
		{"in words", "does not register toolx: invalid_redirect_uri (told so)", func(w *world) {
			w.register = func(out http.ResponseWriter, _ map[string]any) {
				refuse(out, http.StatusBadRequest, "invalid_redirect_uri")
			}
		}},
		{"by a status", "does not register toolx: registration failed with status 403 Forbidden", func(w *world) {
			w.register = func(out http.ResponseWriter, _ map[string]any) {
				http.Error(out, "the body quotes "+sentinel, http.StatusForbidden)
			}
		}},
		{"with an answer that is none", "does not register toolx: ", func(w *world) {
			w.register = func(out http.ResponseWriter, _ map[string]any) {
				_, _ = out.Write([]byte(`{"client_secret":"` + sentinel + `"`))
			}
		}},
		{"altogether", "does not register clients automatically", func(w *world) { w.metadata["registration_endpoint"] = "" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			test.set(w)
			w.wantError(Transport(http.DefaultTransport, w.options()), "", test.want, "clientId")
			if len(w.visits) > 0 {
				t.Error("the browser was opened all the same")
			}
		})
	}
}

func TestScopes(t *testing.T) {
	for _, test := range []struct {
		name, want string
		set        func(w *world, o *Options)
	}{
		{"of the challenge", "a b", func(w *world, _ *Options) { w.challenged, w.scopes = "a b", []string{"c"} }},
		{"of the metadata", "c d", func(w *world, _ *Options) { w.scopes = []string{"c", "d"} }},
		{"none", "", func(*world, *Options) {}},
		{"of the config", "mine", func(w *world, o *Options) {
			w.challenged = "a"
			o.Auth = &config.Auth{Scopes: []string{"mine"}}
		}},
		{"of the command line", "mine too", func(_ *world, o *Options) {
			o.Auth, o.Scopes = &config.Auth{Scopes: []string{"mine"}}, []string{"too", "mine"}
		}},
		{"for a refresh token", "a offline_access", func(w *world, _ *Options) {
			w.challenged, w.metadata["scopes_supported"] = "a", []string{"openid", "offline_access"}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			options := w.options()
			test.set(w, &options)
			w.wantServed(Transport(http.DefaultTransport, options), "")
			if got := last(t, w.visits).Get("scope"); got != test.want {
				t.Errorf("asked for %q, want %q", got, test.want)
			}
		})
	}
}

// A scope that only toolx asked for, or whose refresh token came, is not missed.
func TestOfflineAccessThatIsNotNamed(t *testing.T) {
	for _, asked := range []string{"a", "a offline_access"} {
		w := newWorld(t)
		w.challenged, w.narrow = asked, []string{"a"}
		w.metadata["scopes_supported"] = []string{"offline_access"}
		w.wantServed(Transport(http.DefaultTransport, w.options()), "")
		if heard := strings.Join(w.written, "\n"); strings.Contains(heard, "did not grant") {
			t.Errorf("asked for %q: %s", asked, heard)
		}
	}
}

// The server's own reason is told.
func TestReasonOfARefusal(t *testing.T) {
	w := newWorld(t)
	w.why = "the account is locked"
	options := w.options()
	options.Visit = nil
	w.wantError(Transport(http.DefaultTransport, options), "", "it requires a login: the account is locked",
		"toolx auth login remote")
	w.closed = true
	w.wantError(Transport(http.DefaultTransport, w.options()), "",
		"it refuses the token that was just issued: the account is locked", "")
}

// If a login finds no way in, to log in is no advice.
func TestNoWayIn(t *testing.T) {
	w := newWorld(t)
	w.noMetadata, w.bare = true, true
	w.register = func(out http.ResponseWriter, _ map[string]any) { out.WriteHeader(http.StatusNotFound) }
	_, err := w.call(Transport(http.DefaultTransport, w.options()), "")
	if hint := fault.HintOf(err); strings.Contains(hint, "auth login") ||
		!strings.Contains(hint, "Authorization: Bearer") {
		t.Errorf("%v: hint %q", err, hint)
	}
}

// A server that wants more gets it, beside what was granted before.
func TestStepUp(t *testing.T) {
	w := newWorld(t)
	w.challenged = "read"
	transport := Transport(http.DefaultTransport, w.options())
	w.wantServed(transport, "")
	w.wantServed(transport, "write")
	w.wantServed(transport, "read")
	if got := last(t, w.visits).Get("scope"); got != "read write" || len(w.visits) != 2 {
		t.Errorf("asked for %q in %d logins", got, len(w.visits))
	}
}

func TestStepUpThatIsRefused(t *testing.T) {
	w := newWorld(t)
	w.challenged, w.narrow = "read", []string{"read"}
	transport := Transport(http.DefaultTransport, w.options())
	w.wantServed(transport, "")
	w.wantError(transport, "write", "does not grant the scope 'write'", "")
	if len(w.visits) > 1+maxRefusals {
		t.Errorf("asked %d times", len(w.visits))
	}
	if heard := strings.Join(w.written, "\n"); !strings.Contains(heard, "did not grant the scope 'write'") {
		t.Errorf("nobody was told: %s", heard)
	}
}

// Without a person the error says at once what to type.
func TestNobodyThere(t *testing.T) {
	w := newWorld(t)
	options := w.options()
	options.Visit, options.Login = nil, "'my server'"
	transport := Transport(http.DefaultTransport, options)
	w.wantError(transport, "", "server 'remote': it requires a login", "toolx auth login 'my server'\n")
	if len(w.paths) > 0 {
		t.Errorf("the authorization server was asked for %q", w.paths)
	}
	w.bare = true
	w.wantError(transport, "", "it requires authentication (HTTP 401) but offers no login",
		"-H 'Authorization: Bearer …'")
}

func TestNobodyThereToStepUp(t *testing.T) {
	w := newWorld(t)
	w.challenged = "read"
	options := w.options()
	options.Store = NewStore(t.TempDir(), false)
	w.wantServed(Transport(http.DefaultTransport, options), "")
	options.Visit = nil
	transport := Transport(http.DefaultTransport, options)
	w.wantServed(transport, "")
	w.wantError(transport, "write", "it asks for the scope 'write', which the login lacks",
		"toolx auth login remote --scope write")
}

func TestExplicitHeaderWins(t *testing.T) {
	w := newWorld(t)
	transport := Transport(http.DefaultTransport, w.options())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string]int{"Bearer by-hand": http.StatusOK, "Bearer wrong": http.StatusUnauthorized} {
		req.Header.Set("Authorization", header)
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %s", header, resp.Status)
		}
	}
	if len(w.visits) > 0 {
		t.Error("somebody was asked to log in")
	}
}

// Another way to log in is none of ours, and neither is another host.
func TestWhatIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.wantServed(Transport(http.DefaultTransport, w.options()), "")
	other := newWorld(t)
	other.hidden = true
	transport := Transport(http.DefaultTransport, w.options())
	if got, err := other.call(transport, ""); err != nil || !strings.HasPrefix(got, "401") {
		t.Errorf("another host: %q, %v", got, err)
	}
	w.basic = true
	if got, err := w.call(transport, ""); err != nil || !strings.HasPrefix(got, "401") {
		t.Errorf("Basic: %q, %v", got, err)
	}
	if len(other.visits) > 0 || len(w.visits) != 1 {
		t.Error("somebody was asked to log in")
	}
}

func TestAnswersThatAreRefused(t *testing.T) {
	for _, test := range []struct {
		name, want string
		set        func(w *world)
	}{
		{"the person says no", "refuses: access_denied (the person said no)", func(w *world) { w.deny = true }},
		{
			"of another issuer", "the response is from the authorization server https://evil.example, not from AS",
			func(w *world) {
				w.iss = "https://evil.example"
			},
		},
		{
			"a refusal of another issuer", "the response is from the authorization server https://evil.example",
			func(w *world) {
				w.iss, w.deny = "https://evil.example", true
			},
		},
		{"without the issuer that is promised", "which always names itself", func(w *world) {
			w.metadata["authorization_response_iss_parameter_supported"] = true
		}},
		{"the token endpoint breaks", "issued no token, reason: HTTP 500 Internal Server Error", func(w *world) { w.broken = true }},
		{"the client is not known", "issued no token, reason: invalid_client (told so)", func(w *world) {
			w.register = func(out http.ResponseWriter, _ map[string]any) {
				writeJSON(out, http.StatusCreated, map[string]any{"client_id": "forgotten"})
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			test.set(w)
			transport := Transport(http.DefaultTransport, w.options())
			w.wantError(transport, "", test.want, "")
			w.wantError(transport, "", test.want, "") // nobody is asked twice
			if len(w.visits) != 1 {
				t.Errorf("asked %d times", len(w.visits))
			}
		})
	}
}

// An issuer that is right is taken, whether it was promised or not.
func TestAnswerOfTheRightIssuer(t *testing.T) {
	for _, promised := range []bool{true, false} {
		w := newWorld(t)
		w.metadata["authorization_response_iss_parameter_supported"] = promised
		w.iss = w.issuer()
		w.wantServed(Transport(http.DefaultTransport, w.options()), "")
	}
}

// An answer with another state is turned away, and the true one is waited for.
func TestAnswerWithAnotherState(t *testing.T) {
	w := newWorld(t)
	w.stateful = func(string) string { return "forged" }
	options := w.options()
	var again string
	options.Visit = func(ctx context.Context, address string) error {
		if err := w.visit(ctx, address); err != nil {
			return err
		}
		again = address
		w.mu.Lock()
		w.stateful = nil
		w.mu.Unlock()
		return w.visit(ctx, again)
	}
	w.wantServed(Transport(http.DefaultTransport, options), "")
	if len(w.visits) != 2 {
		t.Errorf("%d visits", len(w.visits))
	}
}

// The callback never comes: the wait is bounded, by a time and by the context.
func TestCallbackThatNeverComes(t *testing.T) {
	w := newWorld(t)
	w.stateful = func(string) string { return "forged" }
	options := w.options()
	options.LoginTime = time.Millisecond
	visit := options.Visit
	options.Visit = func(ctx context.Context, address string) error {
		return visit(context.WithoutCancel(ctx),
			address)
	}
	w.wantError(Transport(http.DefaultTransport, options), "",
		"no login within 1ms; a response with a different state was ignored", "toolx auth login remote")

	// A browser that takes longer than all the time there is.
	options.Visit = func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }
	w.wantError(Transport(http.DefaultTransport, options), "", "no login within 1ms", "toolx auth login remote")

	options = w.options()
	ctx, cancel := context.WithCancel(t.Context())
	options.Visit = func(context.Context, string) error { cancel(); return nil }
	_, err := w.callContext(ctx, Transport(http.DefaultTransport, options), "")
	if fault.KindOf(err) != fault.KindInterrupted || !strings.Contains(err.Error(),
		"server 'remote': the login was interrupted") {
		t.Errorf("error %v of kind %s", err, fault.KindOf(err))
	}
}

// A browser elsewhere ends at an address that does not load: a person pastes it.
func TestPaste(t *testing.T) {
	paste := func(w *world, change func(string) string) Options {
		options := w.options()
		arrived := make(chan string, 1)
		options.Visit = func(ctx context.Context, address string) error {
			noRedirect := &http.Client{CheckRedirect: func(*http.Request,
				[]*http.Request,
			) error {
				return http.ErrUseLastResponse
			}}
			resp, err := noRedirect.Get(address)
			if err == nil {
				resp.Body.Close()
				arrived <- change(resp.Header.Get("Location"))
			}
			return err
		}
		text := sync.OnceValue(func() string { return <-arrived })
		options.Paste = func(context.Context, error) (string, error) { return text(), nil }
		return options
	}
	w := newWorld(t)
	w.wantServed(Transport(http.DefaultTransport, paste(w, func(s string) string { return " " + s + "\r\n" })), "")
	w.wantServed(Transport(http.DefaultTransport, paste(w,
		func(s string) string { return s[strings.Index(s, "?")+1:] })), "")
	for text, want := range map[string]string{
		"http://127.0.0.1:1/callback?code=" + sentinel + "&state=forged": "belongs to another login",
		"http://127.0.0.1:1/" + sentinel:                                 "is not the address that the browser ended at",
		"":                                                               "nothing was pasted",
	} {
		w.wantError(Transport(http.DefaultTransport, paste(w, func(string) string { return text })), "", want, "")
	}
	options := paste(w, func(s string) string { return s })
	options.Paste = func(context.Context, error) (string, error) { return "", errors.New("the terminal was closed") }
	w.wantError(Transport(http.DefaultTransport, options), "", "the terminal was closed", "--no-browser")
}

// What was pasted wrongly is asked for again, with what is wrong with it, and not for ever.
func TestPasteAgain(t *testing.T) {
	w := newWorld(t)
	options := w.options()
	good := ""
	options.Visit = func(_ context.Context, address string) error {
		asked, err := url.Parse(address)
		if err != nil {
			return err
		}
		good = "state=" + asked.Query().Get("state") + "&error=access_denied&error_description=at+last"
		return nil
	}
	given := []string{"", "https://elsewhere.example", "code=" + sentinel + "&state=forged"}
	var told []string
	options.Paste = func(_ context.Context, wrong error) (string, error) {
		if wrong != nil {
			told = append(told, wrong.Error())
		}
		if len(given) == len(told) {
			return good, nil
		}
		return given[len(told)], nil
	}
	w.wantError(Transport(http.DefaultTransport, options), "", "refuses: access_denied (at last)", "")
	wants := []string{"nothing was pasted", "is not the address that the browser ended at", "belongs to another login"}
	for i, want := range wants {
		if len(told) != len(wants) || !strings.Contains(told[i], want) {
			t.Errorf("told %q, want %q", told, wants)
		}
	}
	asked := 0
	options.Paste = func(context.Context, error) (string, error) { asked++; return "wrong", nil }
	w.wantError(Transport(http.DefaultTransport, options), "", "is not the address that the browser ended at",
		"--no-browser")
	if asked != maxPastes {
		t.Errorf("asked %d times", asked)
	}
}

func TestClientCredentials(t *testing.T) {
	w := newWorld(t)
	w.secrets["machine"] = sentinel + "-machine"
	w.challenged = "read"
	options := w.options()
	options.Visit, options.Store = nil, NewStore(t.TempDir(), false)
	options.Auth = &config.Auth{Grant: config.GrantClientCredentials, ClientID: "machine", ClientSecret: sentinel +
		"-machine"}
	transport := Transport(http.DefaultTransport, options)
	w.wantServed(transport, "")
	asked := last(t, w.tokens)
	for key, want := range map[string]string{"grant_type": "client_credentials", "scope": "read", "resource": w.url()} {
		if asked.Get(key) != want {
			t.Errorf("%s is %q, want %q", key, asked.Get(key), want)
		}
	}
	w.wantServed(transport, "write") // a step-up needs nobody
	if got := last(t, w.tokens).Get("scope"); got != "read write" {
		t.Errorf("asked for %q", got)
	}
	w.expire()
	w.wantServed(transport, "write")
	before := len(w.tokens)
	w.wantServed(Transport(http.DefaultTransport, options), "write") // another process
	if len(w.tokens) != before {
		t.Error("the kept token was not used")
	}
	options.Auth.ClientSecret, options.Store = sentinel+"-wrong", nil
	w.wantError(Transport(http.DefaultTransport, options), "",
		"issued no token, reason: invalid_client (told so)", "clientSecret")
}

// An expired token is renewed: before it is sent where its end is known, and after a refusal where it is not.
func TestRefresh(t *testing.T) {
	for _, rotates := range []bool{true, false} {
		w := newWorld(t)
		w.lifetime, w.keepOld = 1, !rotates // within the leeway
		transport := Transport(http.DefaultTransport, w.options())
		for range 3 {
			w.wantServed(transport, "")
		}
		w.lifetime = 3600
		w.wantServed(transport, "")
		w.expire()
		w.wantServed(transport, "")
		if len(w.visits) != 1 || len(w.tokens) != 5 {
			t.Errorf("rotates %v: %d logins, %d tokens", rotates, len(w.visits), len(w.tokens))
		}
		if got := last(t, w.tokens); got.Get("grant_type") != "refresh_token" || got.Get("resource") != w.url() {
			t.Errorf("renewed with %v", got)
		}
	}
}

func TestRefreshThatIsRefused(t *testing.T) {
	w := newWorld(t)
	options := w.options()
	options.Store = NewStore(t.TempDir(), false)
	w.wantServed(Transport(http.DefaultTransport, options), "")
	w.dead = true
	w.expire()
	alone := options
	alone.Visit = nil
	transport := Transport(http.DefaultTransport, alone)
	w.wantError(transport, "", "its login is no longer valid: invalid_grant (told so)", "toolx auth login remote")
	before := len(w.tokens)
	w.wantError(Transport(http.DefaultTransport, alone), "",
		"its login is no longer valid: the token cannot be renewed",
		"toolx auth login remote")
	if len(w.tokens) != before {
		t.Error("a dead refresh token was tried again")
	}
	w.wantServed(Transport(http.DefaultTransport, options), "") // a person logs in again
}

// Requests that find the same expired token renew it once, with a store and without.
func TestOneRefreshForManyRequests(t *testing.T) {
	for _, store := range []*Store{nil, NewStore(t.TempDir(), false)} {
		w := newWorld(t)
		options := w.options()
		options.Store = store
		w.lifetime = 1
		transport := Transport(http.DefaultTransport, options)
		w.wantServed(transport, "")
		w.mu.Lock()
		w.lifetime = 3600
		w.mu.Unlock()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { w.wantServed(transport, "") })
		}
		all.Wait()
		if len(w.visits) != 1 || len(w.tokens) != 2 {
			t.Errorf("with a store: %v: %d logins, %d tokens", store != nil, len(w.visits), len(w.tokens))
		}
	}
}

// An authorization server that is ill for a moment ends no login.
func TestRefreshThatBreaks(t *testing.T) {
	w := newWorld(t)
	options := w.options()
	options.Store = NewStore(t.TempDir(), false)
	w.wantServed(Transport(http.DefaultTransport, options), "")
	w.expire()
	w.broken = true
	w.wantError(Transport(http.DefaultTransport, options), "", "its token cannot be renewed: HTTP 500", "")
	w.broken = false
	w.wantServed(Transport(http.DefaultTransport, options), "")
	if len(w.visits) != 1 {
		t.Errorf("%d logins", len(w.visits))
	}
}

// What is kept is used by another process, if it is what the config asks for.
func TestKeptLogin(t *testing.T) {
	w := newWorld(t)
	w.secrets["other"] = ""
	options := w.options()
	options.Store = NewStore(t.TempDir(), false)
	w.wantServed(Transport(http.DefaultTransport, options), "")
	w.wantServed(Transport(http.DefaultTransport, options), "")
	if len(w.visits) != 1 {
		t.Errorf("%d logins", len(w.visits))
	}
	options.Auth = &config.Auth{ClientID: "other"}
	w.wantServed(Transport(http.DefaultTransport, options), "")
	if got := last(t, w.visits).Get("client_id"); got != "other" {
		t.Errorf("logged in as %q", got)
	}
	for _, elsewhere := range []func(*Options){
		func(o *Options) { o.URL += "?tenant=2" },
		func(o *Options) { o.Auth = &config.Auth{Issuer: "https://login.example"} },
	} {
		changed := options
		elsewhere(&changed)
		if kept, err := Kept(t.Context(), changed); kept != nil || err != nil {
			t.Errorf("the login is used for another server: %+v, %v", kept, err)
		}
	}
}

func TestLoginStatusLogout(t *testing.T) {
	w := newWorld(t)
	w.challenged = "read"
	dir := t.TempDir()
	options := w.options()
	options.Store = NewStore(dir, false)
	status, err := Login(t.Context(), http.DefaultTransport, options)
	if err != nil {
		t.Fatal(err)
	}
	if status.Issuer != w.issuer() || status.ClientID != "dynamic" || !slices.Equal(status.Scopes, []string{"read"}) ||
		!status.Usable() || status.Keyring {
		t.Errorf("status %+v", status)
	}
	refresh := ""
	for token := range w.refresh {
		refresh = token
	}
	kept, err := Kept(t.Context(), options)
	if err != nil || kept == nil || kept.Issuer != status.Issuer {
		t.Errorf("kept %+v, %v", kept, err)
	}
	if ended, err := Logout(t.Context(), http.DefaultTransport, options); ended != 1 || err != nil {
		t.Errorf("%d logins ended, %v", ended, err)
	}
	if !slices.Equal(w.revoked, []string{refresh}) {
		t.Errorf("revoked %q, want %q", w.revoked, refresh)
	}
	if kept, err := Kept(t.Context(), options); kept != nil || err != nil {
		t.Errorf("after the logout there is %+v, %v", kept, err)
	}
	if ended, err := Logout(t.Context(), http.DefaultTransport, options); ended != 0 || err != nil {
		t.Errorf("%d logins ended, %v", ended, err)
	}
	w.open, w.noMetadata = true, true
	if _, err := Login(t.Context(), http.DefaultTransport, options); !errors.Is(err, ErrOpen) {
		t.Errorf("login to an open server: %v", err)
	}
	lost := options
	lost.URL = w.resource.URL + "/elsewhere"
	if _, err := Login(t.Context(), http.DefaultTransport, lost); fault.KindOf(err) != fault.KindConnect ||
		!strings.Contains(err.Error(), "HTTP 404 Not Found") {
		t.Errorf("login to an address that is none: %v", err)
	}
	w.noMetadata = false // open at the door, and not behind it
	if _, err := Login(t.Context(), http.DefaultTransport, options); err != nil {
		t.Error(err)
	}
}

// The server is asked with the headers of its entry, which no authorization server gets.
func TestLoginWithHeaders(t *testing.T) {
	w := newWorld(t)
	w.tenant, w.noMetadata = "mine", true
	options := w.options()
	options.Store, options.Headers = NewStore(t.TempDir(), false), map[string]string{"X-Tenant": "mine"}
	options.Outward = roundTrip(func(req *http.Request) (*http.Response, error) {
		if req.Header.Get("X-Tenant") != "" {
			t.Errorf("%s was sent the server's headers", req.URL)
		}
		return http.DefaultTransport.RoundTrip(req)
	})
	if _, err := Login(t.Context(), http.DefaultTransport, options); err != nil {
		t.Error(err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// The file is the user's alone, and no other one is left behind.
func TestFileOfTokens(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir() + "/auth"
	options := w.options()
	options.Store = NewStore(dir, false)
	if _, err := Login(t.Context(), http.DefaultTransport, options); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			t.Errorf("%s: %v, %v", entry.Name(), info.Mode(), err)
		}
		if strings.HasPrefix(entry.Name(), "new-") {
			t.Errorf("%s was left behind", entry.Name())
		}
	}
	if err := os.WriteFile(options.Store.path(w.url()), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	alone := options
	alone.Visit = nil
	w.wantError(Transport(http.DefaultTransport, alone), "", "is damaged", "toolx auth login remote")
	if _, err := Login(t.Context(), http.DefaultTransport, options); err != nil {
		t.Errorf("a damaged file cannot be replaced: %v", err)
	}
}

// Where nothing can be kept, the login is good for this process.
func TestStoreThatCannotBeWritten(t *testing.T) {
	w := newWorld(t)
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := newClient(http.DefaultTransport, w.options())
	if err != nil {
		t.Fatal(err)
	}
	c.options.Store = NewStore(file+"/auth", false)
	c.save(t.Context(), &Grant{})
	if heard := strings.Join(w.written, "\n"); !strings.Contains(heard, "the login cannot be stored") {
		t.Errorf("nobody was told: %q", heard)
	}
}

// A folder for state that is of no use stops nobody who needs it not: servers that let everyone in, and clients that
// have a secret.
func TestFolderOfNoUse(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, w *world) *Store{
		"a file above it": func(t *testing.T, _ *world) *Store {
			file := t.TempDir() + "/file"
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return NewStore(file+"/auth", false)
		},
		"what cannot be read in it": func(t *testing.T, w *world) *Store {
			store := NewStore(t.TempDir(), false)
			if err := os.Mkdir(store.path(w.url()), 0o700); err != nil {
				t.Fatal(err)
			}
			return store
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			options := w.options()
			options.Visit, options.Store = nil, spoil(t, w)
			w.open = true
			w.wantServed(Transport(http.DefaultTransport, options), "")
			w.open = false
			w.wantError(Transport(http.DefaultTransport, options), "", "login", "toolx auth login remote")
			w.secrets["machine"], w.lifetime = sentinel+"-machine", 1 // expired at once
			options.Auth = &config.Auth{
				Grant: config.GrantClientCredentials, ClientID: "machine",
				ClientSecret: sentinel + "-machine",
			}
			transport := Transport(http.DefaultTransport, options)
			for range 3 {
				w.wantServed(transport, "")
			}
		})
	}
}

// A server that refuses every token is not asked for ever: a kept one is renewed once, and one new one is obtained.
func TestTokensThatAreRefusedForEver(t *testing.T) {
	w := newWorld(t)
	options := w.options()
	options.Store = NewStore(t.TempDir(), false)
	if _, err := Login(t.Context(), http.DefaultTransport, options); err != nil {
		t.Fatal(err)
	}
	w.closed = true
	const again = "it refuses the token that was just issued"
	w.wantError(Transport(http.DefaultTransport, options), "", again, "toolx auth logout remote")
	if len(w.visits) != 2 || len(w.tokens) != 3 {
		t.Errorf("%d logins, %d tokens, want a renewal and a login", len(w.visits), len(w.tokens))
	}
	w.secrets["machine"] = sentinel + "-machine"
	before := len(w.tokens)
	w.wantError(Transport(http.DefaultTransport, w.machine(&config.Auth{ClientSecret: sentinel + "-machine"})), "",
		again, "")
	if got := len(w.tokens) - before; got != 1 {
		t.Errorf("a machine got %d tokens", got)
	}
	options.Store, before = nil, len(w.visits)
	w.wantError(Transport(http.DefaultTransport, options), "", again, "toolx auth logout remote")
	if got := len(w.visits) - before; got != 1 {
		t.Errorf("a person was asked %d times", got)
	}
}

// Nobody is sent to a browser for a login that could not be kept.
func TestLoginThatCouldNotBeKept(t *testing.T) {
	w := newWorld(t)
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	options := w.options()
	options.Store = NewStore(file+"/auth", false)
	_, err := Login(t.Context(), http.DefaultTransport, options)
	w.wantFailure(nil, err, "a login cannot be stored: mkdir "+file, "XDG_STATE_HOME")
	if len(w.visits) > 0 {
		t.Error("the person logged in for nothing")
	}
	if kept, err := Kept(t.Context(), options); kept != nil || err != nil {
		t.Errorf("kept %+v, %v", kept, err)
	}
	if ended, err := Logout(t.Context(), http.DefaultTransport, options); ended != 0 || err != nil {
		t.Errorf("%d logins ended, %v", ended, err)
	}
}

// A refresh token that is good for one use is not used where its successor would be lost.
func TestRefreshThatCouldNotBeKept(t *testing.T) {
	w := newWorld(t)
	options := w.options()
	dir := t.TempDir()
	options.Store = NewStore(dir, false)
	if _, err := Login(t.Context(), http.DefaultTransport, options); err != nil {
		t.Fatal(err)
	}
	lock := strings.TrimSuffix(options.Store.path(w.url()), ".json") + ".lock"
	if err := os.Mkdir(lock, 0o700); err != nil {
		t.Fatal(err)
	}
	w.expire()
	w.wantError(Transport(http.DefaultTransport, options), "", "its login cannot be renewed", "XDG_STATE_HOME")
	if len(w.tokens) != 1 {
		t.Errorf("%d tokens were asked for", len(w.tokens))
	}
}

// A token that no header can hold is refused with its reason, which quotes nothing of it, and so is one in a file.
func TestTokensWithControlCharacters(t *testing.T) {
	for _, test := range []struct{ spoilt, want string }{
		{"\r\nX-Admin: 1", "the access token has the character 0x0d at byte "},
		{"\x00", "the access token has the character 0x00 at byte "},
		{"é", "the access token has the character 0xc3 at byte "},
	} {
		w := newWorld(t)
		w.spoilt = test.spoilt
		options := w.options()
		options.Store = NewStore(t.TempDir(), false)
		_, err := Login(t.Context(), http.DefaultTransport, options)
		w.wantFailure(nil, err, "the authorization server AS issued no token, reason: "+test.want,
			"toolx auth login remote")
		if kept, err := Kept(t.Context(), options); kept != nil || err != nil {
			t.Errorf("kept %+v, %v", kept, err)
		}
		w.spoilt = ""
		if _, err := Login(t.Context(), http.DefaultTransport, options); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(options.Store.path(w.url()))
		if err != nil {
			t.Fatal(err)
		}
		spoilt := bytes.Replace(text, []byte(`"access_token": "`), []byte(`"access_token": "\r`), 1)
		if err := os.WriteFile(options.Store.path(w.url()), spoilt, 0o600); err != nil {
			t.Fatal(err)
		}
		var damaged *DamagedError
		if _, err := Kept(t.Context(), options); !errors.As(err, &damaged) ||
			!strings.Contains(err.Error(), "the access token has the character 0x0d at byte 1") {
			t.Errorf("a spoilt token in a file: %v", err)
		}
	}
}

// A login whose token is of no use has failed, and is not kept.
func TestLoginForNothing(t *testing.T) {
	for name, test := range map[string]struct {
		set  func(*world)
		want string
	}{
		"a token that is refused": {func(w *world) { w.closed = true }, "it refuses the token that was just issued"},
		"a token that is over":    {func(w *world) { w.lifetime, w.noRefresh = -60, true }, "issued a token that has already expired"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.set(w)
			options := w.options()
			options.Store = NewStore(t.TempDir(), false)
			_, err := Login(t.Context(), http.DefaultTransport, options)
			w.wantFailure(nil, err, test.want, "")
			if kept, err := Kept(t.Context(), options); kept != nil || err != nil {
				t.Errorf("kept %+v, %v", kept, err)
			}
		})
	}
}

// What a process has left that was killed while it wrote tokens is gone after a logout, also where its login was the
// first one.
func TestLogoutOfALeftover(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	options := w.options()
	options.Store = NewStore(dir, false)
	left := dir + "/new-123"
	for _, login := range []bool{false, true} {
		if login {
			if _, err := Login(t.Context(), http.DefaultTransport, options); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(left, []byte(sentinel), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Logout(t.Context(), http.DefaultTransport, options); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it is still there: %v", err)
		}
	}
}

func TestNowhereToKeep(t *testing.T) {
	w := newWorld(t)
	_, err := Login(t.Context(), http.DefaultTransport, w.options())
	w.wantFailure(nil, err, "there is no folder to store a login in", "XDG_STATE_HOME")
	if kept, err := Kept(t.Context(), w.options()); kept != nil || err != nil {
		t.Errorf("kept %+v, %v", kept, err)
	}
	if ended, err := Logout(t.Context(), http.DefaultTransport, w.options()); ended != 0 || err != nil {
		t.Errorf("%d logins ended, %v", ended, err)
	}
}

func TestAddressThatIsNone(t *testing.T) {
	for _, address := range []string{"", "::", "host"} {
		transport := Transport(http.DefaultTransport, Options{Server: "remote", URL: address})
		resp, err := transport.RoundTrip(&http.Request{URL: &url.URL{}})
		if err == nil {
			resp.Body.Close()
		}
		if fault.KindOf(err) != fault.KindAuth {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// The clock of a call stands while a person logs in.
func TestLoginStopsTheClock(t *testing.T) {
	w := newWorld(t)
	options := w.options()
	const limit = 500 * time.Millisecond
	ctx, stop := exec.WithLimit(t.Context(), limit)
	defer stop()
	options.Visit = func(waiting context.Context, address string) error {
		another, stop := exec.WithLimit(t.Context(), limit) // a clock that began later and stands for nobody
		defer stop()
		select {
		case <-another.Done():
		case <-waiting.Done():
		}
		return w.visit(waiting, address)
	}
	if got, err := w.callContext(ctx, Transport(http.DefaultTransport, options), ""); err != nil ||
		got != "200 served body" {
		t.Errorf("served %q, %v", got, err)
	}
}

// Who says nothing is waited for, but not for ever.
func TestSilence(t *testing.T) {
	w := newWorld(t)
	released := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-released }))
	defer silent.Close()
	defer close(released)
	c, err := newClient(http.DefaultTransport, w.options())
	if err != nil {
		t.Fatal(err)
	}
	c.exchangeTimeout = 400 * time.Millisecond
	w.logins = []string{silent.URL}
	if _, err := w.call(c, ""); fault.KindOf(err) != fault.KindConnect ||
		!strings.Contains(err.Error(), silent.URL+" cannot be reached") {
		t.Errorf("a silent authorization server: %v (%s)", err, fault.KindOf(err))
	}
	c.options.URL = silent.URL
	if _, err := c.findChallenge(t.Context()); fault.KindOf(err) != fault.KindConnect ||
		!strings.Contains(err.Error(), "no response within 400ms") {
		t.Errorf("a silent server: %v (%s)", err, fault.KindOf(err))
	}
}

// A process that runs on takes the login that another one has stored, without being restarted.
func TestLoginFromAnotherProcess(t *testing.T) {
	w := newWorld(t)
	options := w.options()
	options.Store = NewStore(t.TempDir(), false)
	waiting := options
	waiting.Visit = nil
	transport := Transport(http.DefaultTransport, waiting)
	w.wantError(transport, "", "it requires a login", "toolx auth login remote")
	shown := func(string, bool) {}
	if err := LoginOnce(t.Context(), http.DefaultTransport, options, time.Now(), shown); err != nil {
		t.Fatal(err)
	}
	w.wantServed(transport, "")
}

// Five processes that need a login lead to one browser; when the user refuses, the others fail with the cause. A
// process that starts later asks again. One whose browser does not open, or that is killed, leaves the login to the
// next.
func TestLoginOnce(t *testing.T) {
	for _, outcome := range []string{"succeeds", "denied", "no browser", "killed"} {
		t.Run(outcome, func(t *testing.T) {
			w := newWorld(t)
			w.deny = outcome == "denied" || outcome == "no browser"
			dir, started := t.TempDir(), time.Now()
			waiting := make(chan struct{}, 5)
			once := func(ctx context.Context, visit func(context.Context, string) error) error {
				options := w.options()
				options.Store, options.Visit = NewStore(dir, false), visit
				return LoginOnce(ctx, http.DefaultTransport, options, started, func(address string, _ bool) {
					if address == "" {
						waiting <- struct{}{}
					}
				})
			}
			ctx, kill := context.WithCancel(t.Context())
			defer kill()
			begun, proceed := make(chan struct{}), make(chan struct{})
			var all sync.WaitGroup
			failures := make(chan error, 5)
			all.Go(func() {
				failures <- once(ctx, func(ctx context.Context, address string) error {
					close(begun)
					<-proceed
					if outcome == "killed" {
						kill()
						return nil
					}
					if err := w.visit(ctx, address); err != nil || outcome != "no browser" {
						return err
					}
					return errors.New("no browser")
				})
			})
			<-begun
			for range 4 {
				all.Go(func() { failures <- once(t.Context(), w.visit) })
			}
			for range 4 {
				<-waiting
			}
			close(proceed)
			all.Wait()
			failed := 0
			for range 5 {
				if err := <-failures; err != nil {
					failed++
					if outcome != "killed" && !strings.Contains(err.Error(), "refuses: access_denied") {
						t.Errorf("the error is %v", err)
					}
				}
			}
			want := map[string][2]int{"succeeds": {0, 1}, "denied": {5, 1}, "no browser": {5, 2}, "killed": {1, 1}}
			if got := [2]int{failed, len(w.visits)}; got != want[outcome] {
				t.Errorf("%d processes failed, and %d pages were opened", failed, len(w.visits))
			}
			w.deny, started = false, time.Now()
			if err := once(t.Context(), w.visit); err != nil {
				t.Errorf("a later process: %v", err)
			}
		})
	}
}
