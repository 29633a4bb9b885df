package auth

import (
	"bytes"
	"cmp"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"toolx/pkg/fault"
)

// sentinel is in every token, code and secret of a world: nothing that toolx writes may hold it.
const sentinel = "s3ntinel"

// world is an MCP server and an authorization server that watch how they are used. Its fields are set before the first
// request.
type world struct {
	t         *testing.T
	authority *httptest.Server
	resource  *httptest.Server

	// The resource: what its refusal says, and what its metadata says.
	bare       bool     // a 401 without a word
	noMetadata bool     // there is no protected-resource metadata
	hidden     bool     // its address is not told
	speaksFor  string   // the metadata's resource, instead of the server's address
	logins     []string // the metadata's authorization servers, instead of the one
	scopes     []string // the metadata's scopes_supported
	challenged string   // the scope of the 401
	why        string   // the error_description of the 401
	basic      bool     // the 401 asks for HTTP's Basic
	open       bool     // the server lets everyone in
	closed     bool     // it lets nobody in, whatever the token
	tenant     string   // the X-Tenant without which nothing is there
	bound      bool     // tokens have to be bound to a key, and the 401 says so
	required   bool     // the same, and the metadata says so

	// The authorization server.
	issuerPath string              // what its issuer has behind the host
	place      string              // the only path that has its metadata
	metadata   map[string]any      // laid over its metadata
	iss        string              // the iss of its answers
	deny       bool                // the person says no
	narrow     []string            // the scopes that it grants, whatever is asked
	lifetime   int                 // seconds; zero means an hour
	noRefresh  bool                // there are no refresh tokens
	spoilt     string              // the end of every access token
	stateful   func(string) string // changes the state
	secrets    map[string]string   // registered clients and their secrets
	keys       map[string]crypto.PublicKey
	audience   string // whom assertions have to be for; empty means the issuer
	vouched    string // the identity token that is believed
	register   func(w http.ResponseWriter, wanted map[string]any)
	method     string // how registered clients show who they are
	dead       bool   // refresh tokens have ended
	broken     bool   // the token endpoint answers 500
	keepOld    bool   // refresh tokens are not rotated
	nonce      string // what proofs of keys have to have in them
	unbinding  bool   // it gives bearer tokens, whatever is proved

	assertions []*jwt.Token      // that were good
	bindings   map[string]string // tokens and the keys that they are bound to
	prover     string            // the key of the request to the token endpoint that is under way

	mu        sync.Mutex
	number    int
	codes     map[string]url.Values
	access    map[string][]string
	refresh   map[string]url.Values
	spent     map[string]bool
	visits    []url.Values // what browsers asked for
	tokens    []url.Values // what the token endpoint was asked
	paths     []string     // what the authorization server was asked
	revoked   []string
	served    []string // the Authorization headers of requests that were served
	written   []string // everything that toolx said
	confessed []string // every secret that toolx told
}

func newWorld(t *testing.T) *world {
	w := &world{
		t: t, secrets: map[string]string{}, keys: map[string]crypto.PublicKey{}, bindings: map[string]string{},
		codes: map[string]url.Values{}, access: map[string][]string{},
		refresh: map[string]url.Values{}, spent: map[string]bool{}, metadata: map[string]any{},
		place: "/.well-known/oauth-authorization-server",
	}
	w.authority = httptest.NewServer(http.HandlerFunc(w.serveAuthority))
	w.resource = httptest.NewServer(http.HandlerFunc(w.serveResource))
	t.Cleanup(w.authority.Close)
	t.Cleanup(w.resource.Close)
	t.Cleanup(w.checkSilence)
	return w
}

func (w *world) url() string    { return w.resource.URL + "/mcp" }
func (w *world) issuer() string { return w.authority.URL + w.issuerPath }

// fresh makes a value that nothing may quote.
func (w *world) fresh(kind string) string {
	w.number++
	return fmt.Sprintf("%s-%s-%d", sentinel, kind, w.number)
}

func (w *world) serveResource(out http.ResponseWriter, req *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.HasPrefix(req.URL.Path, "/.well-known/oauth-protected-resource") && !w.noMetadata {
		speaks, logins := w.url(), []string{w.issuer()}
		if w.speaksFor != "" {
			speaks = w.speaksFor
		}
		if w.logins != nil {
			logins = w.logins
		}
		writeJSON(out, http.StatusOK, map[string]any{
			"resource": speaks, "authorization_servers": logins,
			"scopes_supported": w.scopes, "dpop_bound_access_tokens_required": w.required,
		})
		return
	}
	if req.URL.Path == "/mcp" && w.tenant != "" && req.Header.Get("X-Tenant") != w.tenant {
		http.NotFound(out, req)
		return
	}
	if req.URL.Path != "/mcp" {
		w.serveOAuth(out, req) // revision 2025-03-26: the server is its own authorization server
		return
	}
	header := req.Header.Get("Authorization")
	scopes, known := w.access[strings.TrimPrefix(header, "Bearer ")]
	if token, says := strings.CutPrefix(header, "DPoP "); says {
		key, nonce := w.proven(req, w.url(), token)
		if scopes, known = w.access[token]; key != "" && nonce != w.nonce {
			out.Header().Set("DPoP-Nonce", w.nonce)
			out.Header().Set("WWW-Authenticate", `DPoP error="use_dpop_nonce"`)
			out.WriteHeader(http.StatusUnauthorized)
			return
		}
		known = known && w.bindings[token] == key
	} else if w.bindings[strings.TrimPrefix(header, "Bearer ")] != "" {
		known = false // it was stolen
	}
	needed := req.Header.Get("X-Needs")
	switch {
	case w.open:
	case w.basic:
		out.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		out.WriteHeader(http.StatusUnauthorized)
		return
	case w.closed, !known && header != "Bearer by-hand":
		w.challenge(out, http.StatusUnauthorized, "invalid_token", w.challenged)
		return
	case needed != "" && !slices.Contains(scopes, needed):
		w.challenge(out, http.StatusForbidden, "insufficient_scope", needed)
		return
	}
	w.served = append(w.served, header)
	body, _ := io.ReadAll(req.Body)
	_, _ = out.Write(append([]byte("served "), body...))
}

func (w *world) challenge(out http.ResponseWriter, status int, failure, scope string) {
	if !w.bare {
		text := fmt.Sprintf("Bearer error=%q", failure)
		if w.bound {
			text = fmt.Sprintf("DPoP error=%q, algs=\"ES256\"", failure)
		}
		if !w.noMetadata && !w.hidden {
			text += fmt.Sprintf(", resource_metadata=%q", w.resource.URL+"/.well-known/oauth-protected-resource/mcp")
		}
		if scope != "" {
			text += fmt.Sprintf(", scope=%q", scope)
		}
		if w.why != "" {
			text += fmt.Sprintf(", error_description=%q", w.why)
		}
		out.Header().Set("WWW-Authenticate", text)
	}
	out.WriteHeader(status)
}

func (w *world) serveAuthority(out http.ResponseWriter, req *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paths = append(w.paths, req.URL.Path)
	if req.URL.Path == w.place {
		writeJSON(out, http.StatusOK, w.describe())
		return
	}
	w.serveOAuth(out, req)
}

func (w *world) describe() map[string]any {
	described := map[string]any{
		"issuer":                           w.issuer(),
		"authorization_endpoint":           w.authority.URL + "/authorize",
		"token_endpoint":                   w.authority.URL + "/token",
		"registration_endpoint":            w.authority.URL + "/register",
		"revocation_endpoint":              w.authority.URL + "/revoke",
		"response_types_supported":         []string{"code"},
		"code_challenge_methods_supported": []string{"S256"},
	}
	for key, value := range w.metadata {
		described[key] = value
	}
	return described
}

func (w *world) serveOAuth(out http.ResponseWriter, req *http.Request) {
	switch req.URL.Path {
	case "/authorize":
		w.authorize(out, req)
	case "/token":
		w.token(out, req)
	case "/register":
		w.registerClient(out, req)
	case "/revoke":
		_ = req.ParseForm()
		if key := w.keys[req.Form.Get("client_id")]; key != nil &&
			!w.verified(req.Form, req.Form.Get("client_id"), key) {
			refuse(out, http.StatusUnauthorized, "invalid_client")
			return
		}
		w.revoked = append(w.revoked, req.Form.Get("token"))
	default:
		http.NotFound(out, req)
	}
}

// authorize is the person: who says yes at once, or no.
func (w *world) authorize(out http.ResponseWriter, req *http.Request) {
	asked := req.URL.Query()
	w.visits = append(w.visits, asked)
	back := url.Values{"state": {asked.Get("state")}}
	if w.stateful != nil {
		back.Set("state", w.stateful(asked.Get("state")))
	}
	if w.iss != "" {
		back.Set("iss", w.iss)
	}
	if w.deny {
		back.Set("error", "access_denied")
		back.Set("error_description", "the person said no")
	} else {
		code := w.fresh("code")
		w.codes[code] = asked
		back.Set("code", code)
	}
	http.Redirect(out, req, asked.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (w *world) registerClient(out http.ResponseWriter, req *http.Request) {
	var wanted map[string]any
	_ = json.NewDecoder(req.Body).Decode(&wanted)
	if w.register != nil {
		w.register(out, wanted)
		return
	}
	answer := map[string]any{
		"client_id": "dynamic", "redirect_uris": wanted["redirect_uris"],
		"token_endpoint_auth_method": "none",
	}
	w.secrets["dynamic"] = ""
	if w.method != "" {
		w.secrets["dynamic"] = w.fresh("secret")
		answer["client_secret"], answer["token_endpoint_auth_method"] = w.secrets["dynamic"], w.method
	}
	writeJSON(out, http.StatusCreated, answer)
}

// token is the token endpoint, which checks all that the specifications want checked.
func (w *world) token(out http.ResponseWriter, req *http.Request) {
	_ = req.ParseForm()
	form := req.PostForm
	id, secret, inHeader := req.BasicAuth()
	if !inHeader {
		id, secret = form.Get("client_id"), form.Get("client_secret")
	}
	form.Set("client", id)
	form.Set("in_header", fmt.Sprint(inHeader))
	w.tokens = append(w.tokens, form)
	w.prover = ""
	if req.Header.Get("DPoP") != "" && !w.unbinding {
		var nonce string
		if w.prover, nonce = w.proven(req, w.authority.URL+"/token", ""); w.prover != "" && nonce != w.nonce {
			out.Header().Set("DPoP-Nonce", w.nonce)
			refuse(out, http.StatusBadRequest, "use_dpop_nonce")
			return
		}
	}
	wanted, known := w.secrets[id]
	if key := w.keys[id]; key != nil && w.verified(form, id, key) {
		wanted, known = secret, secret == "" && !inHeader // one way to show who it is, not two
	}
	switch {
	case w.broken:
		http.Error(out, "the body quotes "+form.Encode(), http.StatusInternalServerError)
	case !known || secret != wanted:
		refuse(out, http.StatusUnauthorized, "invalid_client")
	case form.Get("grant_type") == "authorization_code":
		w.redeem(out, form)
	case form.Get("grant_type") == "refresh_token":
		w.renew(out, form)
	case form.Get("grant_type") == "client_credentials" && (secret != "" || w.keys[id] != nil):
		w.issue(out, form, false)
	case form.Get("grant_type") == "urn:ietf:params:oauth:grant-type:jwt-bearer":
		if token := form.Get("assertion"); token != w.vouched || !slices.Contains(w.confessed, token) {
			refuse(out, http.StatusBadRequest, "invalid_grant")
			return
		}
		w.issue(out, form, false)
	default:
		refuse(out, http.StatusBadRequest, "unsupported_grant_type")
	}
}

// proven checks a proof as RFC 9449 4.3 wants it, takes it once, and returns the key and the nonce in it; no key where
// it is not good.
func (w *world) proven(req *http.Request, address, token string) (key, nonce string) {
	proof, err := jwt.Parse(req.Header.Get("DPoP"), func(proof *jwt.Token) (any, error) {
		point := []byte{4}
		jwk, _ := proof.Header["jwk"].(map[string]any)
		for _, name := range []string{"x", "y"} {
			text, _ := jwk[name].(string)
			half, err := base64.RawURLEncoding.DecodeString(text)
			if err != nil || jwk["kty"] != "EC" || jwk["crv"] != "P-256" || jwk["d"] != nil ||
				proof.Header["typ"] != "dpop+jwt" {
				return nil, errors.New("not the key of a proof")
			}
			point = append(point, half...)
		}
		key = string(point)
		return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	}, jwt.WithValidMethods([]string{"ES256"}), jwt.WithIssuedAt())
	if err != nil {
		return "", ""
	}
	claims := proof.Claims.(jwt.MapClaims)
	unique, _ := claims["jti"].(string)
	nonce, _ = claims["nonce"].(string)
	var sum any
	if token != "" {
		hash := sha256.Sum256([]byte(token))
		sum = base64.RawURLEncoding.EncodeToString(hash[:])
	}
	if unique == "" || w.spent[unique] || claims["htm"] != req.Method || claims["htu"] != address ||
		claims["ath"] != sum {
		return "", ""
	}
	w.spent[unique] = true
	return key, nonce
}

// verified checks a client's assertion as RFC 7523 3 wants it, and takes it once.
func (w *world) verified(form url.Values, id string, key crypto.PublicKey) bool {
	text := form.Get("client_assertion")
	token, err := jwt.Parse(text, func(*jwt.Token) (any, error) { return key, nil },
		jwt.WithAudience(cmp.Or(w.audience, w.issuer())), jwt.WithIssuer(id), jwt.WithSubject(id),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt())
	if err != nil || form.Get("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" {
		return false
	}
	unique, _ := token.Claims.(jwt.MapClaims)["jti"].(string)
	if unique == "" || w.spent[unique] || !slices.Contains(w.confessed, text) {
		return false
	}
	w.spent[unique] = true
	w.assertions = append(w.assertions, token)
	return true
}

func (w *world) redeem(out http.ResponseWriter, form url.Values) {
	asked, known := w.codes[form.Get("code")]
	delete(w.codes, form.Get("code"))
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	if !known || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) ||
		asked.Get("code_challenge_method") != "S256" || asked.Get("redirect_uri") != form.Get("redirect_uri") ||
		asked.Get("resource") != form.Get("resource") || asked.Get("client_id") != form.Get("client") {
		refuse(out, http.StatusBadRequest, "invalid_grant")
		return
	}
	form.Set("scope", asked.Get("scope"))
	w.issue(out, form, true)
}

// renew takes a refresh token once; a second use ends the login, as OAuth 2.1 4.3.1 advises.
func (w *world) renew(out http.ResponseWriter, form url.Values) {
	old := form.Get("refresh_token")
	before, known := w.refresh[old]
	if w.dead || !known || w.spent[old] {
		w.refresh = map[string]url.Values{}
		refuse(out, http.StatusBadRequest, "invalid_grant")
		return
	}
	w.spent[old] = !w.keepOld
	form.Set("scope", before.Get("scope"))
	w.issue(out, form, !w.keepOld)
}

func (w *world) issue(out http.ResponseWriter, form url.Values, renewable bool) {
	scopes := strings.Fields(form.Get("scope"))
	if w.narrow != nil {
		scopes = w.narrow
	}
	lifetime := 3600
	if w.lifetime != 0 {
		lifetime = w.lifetime
	}
	token := w.fresh("access") + w.spoilt
	w.access[token] = scopes
	kind := "Bearer"
	if w.prover != "" {
		w.bindings[token], kind = w.prover, "DPoP"
	}
	answer := map[string]any{
		"access_token": token, "token_type": kind, "expires_in": lifetime,
		"scope": strings.Join(scopes, " "),
	}
	if renewable && !w.noRefresh {
		again := w.fresh("refresh")
		w.refresh[again] = url.Values{"scope": {strings.Join(scopes, " ")}}
		answer["refresh_token"] = again
	}
	writeJSON(out, http.StatusOK, answer)
}

// expire makes every access token worthless.
func (w *world) expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.access = map[string][]string{}
}

func refuse(out http.ResponseWriter, status int, code string) {
	writeJSON(out, status, map[string]any{"error": code, "error_description": "told so"})
}

func writeJSON(out http.ResponseWriter, status int, value any) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	_ = json.NewEncoder(out).Encode(value)
}

// options are those of a client of this world, with a person and without a store.
func (w *world) options() Options {
	return Options{
		Server: "remote", URL: w.url(), Version: "1.2.3", Visit: w.visit,
		Secret: func(values ...string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.confessed = append(w.confessed, values...)
		},
		Notice: func(_ slog.Level, text string) { w.hear(text) },
	}
}

// visit is a browser, which goes where it is sent.
func (w *world) visit(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	w.hear(string(page))
	return err
}

// hear keeps what toolx said.
func (w *world) hear(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.written = append(w.written, text)
}

// call sends a request that needs a scope, if any, and returns its answer.
func (w *world) call(transport http.RoundTripper, needs string) (string, error) {
	return w.callContext(w.t.Context(), transport, needs)
}

func (w *world) callContext(ctx context.Context, transport http.RoundTripper, needs string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url(), bytes.NewReader([]byte("body")))
	if err != nil {
		w.t.Error(err)
		return "", err
	}
	if needs != "" {
		req.Header.Set("X-Needs", needs)
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		w.hear(err.Error() + "\n" + fault.HintOf(err))
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return fmt.Sprintf("%d %s", resp.StatusCode, body), err
}

// wantServed calls and wants to be served.
func (w *world) wantServed(transport http.RoundTripper, needs string) {
	w.t.Helper()
	if got, err := w.call(transport, needs); err != nil || got != "200 served body" {
		w.t.Errorf("served %q, %v", got, err)
	}
}

// wantError calls and wants an error of kind auth that says so, with a hint.
func (w *world) wantError(transport http.RoundTripper, needs, want, hint string) {
	w.t.Helper()
	got, err := w.call(transport, needs)
	w.wantFailure(got, err, want, hint)
}

func (w *world) wantFailure(got any, err error, want, hint string) {
	w.t.Helper()
	var failure *Error
	if !errors.As(err, &failure) || failure.Kind() != fault.KindAuth {
		w.t.Fatalf("got %v, error %v, want one of kind auth", got, err)
	}
	want = strings.NewReplacer("RS", w.resource.URL, "AS", w.authority.URL).Replace(want)
	if !strings.Contains(failure.Error(), want) {
		w.t.Errorf("error %q, want %q", failure, want)
	}
	if !strings.Contains(failure.Hint(), hint) {
		w.t.Errorf("hint %q, want %q", failure.Hint(), hint)
	}
	w.hear(failure.Error() + "\n" + failure.Hint())
}

// checkSilence wants that nothing that was said holds a secret, and that toolx told of every one that it was given.
func (w *world) checkSilence() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range w.written {
		if strings.Contains(text, sentinel) {
			w.t.Errorf("a secret was written: %q", text)
		}
	}
	for token := range w.access {
		if !slices.Contains(w.confessed, token) && w.confessed != nil {
			w.t.Errorf("the token %s was not told to be masked", token)
		}
	}
}

// last returns the last of a list of forms.
func last(t *testing.T, forms []url.Values) url.Values {
	t.Helper()
	if len(forms) == 0 {
		t.Fatal("nothing was asked for")
	}
	return forms[len(forms)-1]
}
