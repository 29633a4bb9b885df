//go:build unix

package cmd_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// sentinel is in every token, code and secret of an authWorld: nothing that toolx writes
// may hold it, but for its store of tokens.
const sentinel = "s3ntinel"

// byHand is a token that works, from elsewhere.
const byHand = sentinel + "-by-hand"

// authWorld is an MCP server that wants a login, its authorization server, and a user's home and config.
type authWorld struct {
	t      *testing.T
	server *httptest.Server
	home   string
	config string
	state  string // the folder for state; empty means that of home
	// secrets are variables of the environment, besides ROBOT.
	secrets []string

	// answers responds to a request in place of the world, unless it returns false.
	answers func(http.ResponseWriter, *http.Request) bool

	mu     sync.Mutex
	number int
	short  bool     // tokens have expired when they are issued
	deny   bool     // the person refuses
	dead   bool     // refresh tokens are no longer valid
	tokens []string // the grant types that were asked with
	refuse bool     // the token endpoint knows no client
	signed []string // the assertions of clients
	issued []string
	ended  []string
}

func newAuthWorld(t *testing.T) *authWorld {
	w := &authWorld{t: t, home: t.TempDir()}
	w.server = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.server.Close)
	w.config = filepath.Join(t.TempDir(), "toolx.yaml")
	text := fmt.Sprintf(`servers:
  remote: {url: "%[1]s/mcp"}
  machine: {url: "%[1]s/mcp?machine", auth: {grant: client_credentials, clientId: robot, clientSecret: "${ROBOT}"}}
  keyed: {url: "%[1]s/mcp?keyed", headers: {Authorization: "Bearer ${ROBOT}"}}
  broken: {url: "%[1]s/mcp?broken", headers: {X: "${NOT_SET_AT_ALL}"}}
  signer: {url: "%[1]s/mcp?signer", auth: {grant: client_credentials, clientId: robot, privateKey: "${ROBOT_KEY}"}}
  keyless: {url: "%[1]s/mcp?keyless", auth: {grant: client_credentials, clientId: robot, privateKeyFile: nowhere.pem}}
  program: {command: "true"}
`, w.server.URL)
	if err := os.WriteFile(w.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *authWorld) fresh(kind string) string {
	w.number++
	return fmt.Sprintf("%s-%s-%d", sentinel, kind, w.number)
}

func (w *authWorld) serve(out http.ResponseWriter, req *http.Request) {
	w.mu.Lock()
	if answers := w.answers; answers != nil {
		w.mu.Unlock()
		if answers(out, req) {
			return
		}
		w.mu.Lock()
	}
	defer w.mu.Unlock()
	_ = req.ParseForm()
	answer := func(status int, value map[string]any) {
		out.Header().Set("Content-Type", "application/json")
		out.WriteHeader(status)
		_ = json.NewEncoder(out).Encode(value)
	}
	switch at := w.server.URL; req.URL.Path {
	case "/mcp":
		token := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
		if token == byHand || slices.Contains(w.issued, token) {
			w.serveMCP(out, req, answer)
			return
		}
		out.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource", scope="read"`, at))
		out.WriteHeader(http.StatusUnauthorized)
	case "/.well-known/oauth-protected-resource":
		answer(http.StatusOK, map[string]any{"resource": at, "authorization_servers": []string{at}})
	case "/.well-known/oauth-authorization-server":
		answer(http.StatusOK, map[string]any{
			"issuer": at, "authorization_endpoint": at + "/authorize", "token_endpoint": at + "/token",
			"registration_endpoint": at + "/register", "revocation_endpoint": at + "/revoke",
			"code_challenge_methods_supported": []string{"S256"},
		})
	case "/register":
		answer(http.StatusCreated, map[string]any{
			"client_id": "dynamic", "client_secret": w.fresh("secret"),
			"token_endpoint_auth_method": "client_secret_basic",
		})
	case "/authorize":
		asked := req.URL.Query()
		back := url.Values{"state": {asked.Get("state")}, "code": {w.fresh("code")}}
		if w.deny {
			back = url.Values{"state": {asked.Get("state")}, "error": {"access_denied"}}
		}
		http.Redirect(out, req, asked.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	case "/token":
		w.tokens = append(w.tokens, req.Form.Get("grant_type"))
		switch expired := w.dead && req.Form.Get("grant_type") == "refresh_token"; {
		case w.refuse:
			answer(http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
			return
		case expired:
			answer(http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
			return
		}
		if assertion := req.Form.Get("client_assertion"); assertion != "" {
			w.signed = append(w.signed, assertion)
		}
		w.issued = append(w.issued, w.fresh("access"))
		lifetime := 3600
		if w.short {
			lifetime = 1
		}
		answer(http.StatusOK, map[string]any{
			"access_token":  w.issued[len(w.issued)-1],
			"token_type":    "Bearer",
			"refresh_token": w.fresh("refresh"),
			"expires_in":    lifetime,
		})
	case "/revoke":
		w.ended = append(w.ended, req.Form.Get("token"))
	default:
		http.NotFound(out, req)
	}
}

// serveMCP is a server with one tool, for whoever has a token.
func (w *authWorld) serveMCP(out http.ResponseWriter, req *http.Request, answer func(int, map[string]any)) {
	var asked struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if req.Method != http.MethodPost || json.NewDecoder(req.Body).Decode(&asked) != nil {
		out.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	results := map[string]any{
		"initialize": map[string]any{
			"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "world", "version": "1"},
		},
		"tools/list": map[string]any{"tools": []any{map[string]any{"name": "greet", "inputSchema": map[string]any{"type": "object"}}}},
		"tools/call": map[string]any{"content": []any{map[string]any{"type": "text", "text": "well served"}}},
	}
	result, known := results[asked.Method]
	switch {
	case asked.ID == nil:
		out.WriteHeader(http.StatusAccepted)
	case !known:
		answer(http.StatusOK, map[string]any{
			"jsonrpc": "2.0",
			"id":      asked.ID,
			"error":   map[string]any{"code": -32601, "message": "unknown"},
		})
	default:
		answer(http.StatusOK, map[string]any{"jsonrpc": "2.0", "id": asked.ID, "result": result})
	}
}

// environ has neither a keyring nor the user's own home.
func (w *authWorld) environ() []string {
	variables := homeVariables(w.home)
	if w.state != "" {
		variables = append(variables, "XDG_STATE_HOME="+w.state)
	}
	return append(append(variables, w.secrets...), "TOOLX_KEYRING=off", "BROWSER=", "ROBOT="+sentinel+"-robot")
}

// arguments are those of a toolx that tells all that it can.
func (w *authWorld) arguments(args []string) []string {
	return append([]string{
		"--config", w.config, "--log-level", "debug", "--trace", "--trace-file", filepath.Join(w.home, "trace"),
	}, args...)
}

// run runs toolx without a terminal.
func (w *authWorld) run(code int, args ...string) (stdout, stderr string) {
	w.t.Helper()
	command := exec.Command(buildToolx(w.t), w.arguments(args)...)
	command.Dir, command.Env = emptyFolder(w.t), append(os.Environ(), w.environ()...)
	var out, err bytes.Buffer
	command.Stdout, command.Stderr = &out, &err
	_ = command.Run() // the exit code says how it ended
	if got := command.ProcessState.ExitCode(); got != code {
		w.t.Errorf("%q ends with %d, want %d: %s%s", args, got, code, &out, &err)
	}
	w.wantSilence(out.String() + err.String())
	return out.String(), err.String()
}

func (w *authWorld) wantSilence(written string) {
	w.t.Helper()
	if strings.Contains(written, sentinel) {
		w.t.Errorf("a secret was written:\n%s", written)
	}
}

// wantSilentHome wants that no file but the store of tokens holds a secret, and that one for the user alone.
func (w *authWorld) wantSilentHome() {
	w.t.Helper()
	found := 0
	err := filepath.WalkDir(w.home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte(sentinel)) {
			return err
		}
		info, err := entry.Info()
		if found++; err != nil || filepath.Base(filepath.Dir(path)) != "auth" || info.Mode().Perm() != 0o600 {
			w.t.Errorf("secrets are in %s (%v, %v)", path, info.Mode(), err)
		}
		return nil
	})
	if err != nil || found == 0 {
		w.t.Errorf("%d stores of tokens, %v", found, err)
	}
}

// page waits for the address of the login page, which is the last thing on the terminal.
func (w *authWorld) page(term *terminal) string {
	w.t.Helper()
	pattern := `http://[^\s]+/authorize\?[^\s]+\r\n`
	term.await(pattern)
	return strings.TrimSpace(regexp.MustCompile(pattern).FindString(term.seen.String()))
}

// A person logs in by a browser that finds its way back.
func TestAuthLoginOnATerminal(t *testing.T) {
	t.Parallel()
	w := newAuthWorld(t)
	if out, _ := w.run(3, "auth", "status", "remote"); out != "remote\tnot logged in\t-\t-\t-\t-\n" {
		t.Errorf("before the login: %q", out)
	}
	term := onTerminal(t, w.environ(), w.arguments([]string{"auth", "login", "--no-browser", "remote"})...)
	resp, err := http.Get(w.page(term))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if !strings.Contains(string(text), "toolx has received the response") {
		t.Errorf("the browser shows %q", text)
	}
	term.await(regexp.QuoteMeta("logged in to server 'remote' by " + w.server.URL +
		", tokens in a file that only you can read"))
	w.wantSilence(term.end(0))
	w.wantSilentHome()

	out, _ := w.run(0, "auth", "status", "remote")
	if out != "remote\tlogged in\t"+w.server.URL+"\tread\trenewed\tfile\n" {
		t.Errorf("after the login: %q", out)
	}
	w.run(0, "auth", "logout", "remote")
	if len(w.ended) != 1 || !strings.Contains(w.ended[0], "refresh") {
		t.Errorf("the authorization server was told to end %q", w.ended)
	}
	w.run(3, "auth", "status", "remote")
	_, said := w.run(0, "auth", "logout", "remote")
	if !strings.Contains(said, "there was no login to server 'remote'") {
		t.Errorf("a second logout says %q", said)
	}
}

// browser puts a program in the place of the browser, and returns where it writes the address
// that it is started with, and the environment to find it.
func (w *authWorld) browser() (told string, environ []string) {
	w.t.Helper()
	folder, told := w.t.TempDir(), w.t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\ncd '%s' && printf '%%s\\n' \"$1\" > new && cat new >> address.all && "+
		"mv new address\n", told)
	for _, name := range []string{"xdg-open", "open"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(script), 0o700); err != nil {
			w.t.Fatal(err)
		}
	}
	return filepath.Join(told, "address"),
		append(w.environ(), "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// visit is the person, who goes where the browser was told to.
func (w *authWorld) visit(told string) {
	w.t.Helper()
	var address []byte
	if !within(func() (there bool) {
		var err error
		address, err = os.ReadFile(told)
		return err == nil
	}) {
		w.t.Fatal("no browser was started")
	}
	w.wantSilence(string(address)) // it stands in the list of processes
	resp, err := http.Get(strings.TrimSpace(string(address)))
	if err != nil {
		w.t.Fatal(err)
	}
	resp.Body.Close()
}

// The browser is started with the page's address.
func TestAuthLoginOpensTheBrowser(t *testing.T) {
	t.Parallel()
	w := newAuthWorld(t)
	told, environ := w.browser()
	term := onTerminal(t, environ, w.arguments([]string{"auth", "login", "remote"})...)
	term.await("continue in the browser")
	w.visit(told)
	term.await("logged in to server 'remote'")
	w.wantSilence(term.end(0))
}

// A browser that fails is told of, and the login ends.
func TestAuthLoginWithoutABrowser(t *testing.T) {
	t.Parallel()
	w := newAuthWorld(t)
	term := onTerminal(t, append(w.environ(), "BROWSER=false"), w.arguments([]string{"auth", "login", "remote"})...)
	said := term.end(3)
	for _, want := range []string{
		"the login cannot start: false failed: exit status 1", "toolx auth login --no-browser remote",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing: %s", want, said)
		}
	}
}

// A call that names its server logs in on the way, on a terminal. Without one it fails at
// once, and says what to do; a plain name sends nobody to a browser.
func TestCallThatNeedsALogin(t *testing.T) {
	t.Parallel()
	w := newAuthWorld(t)
	told, environ := w.browser()
	out, _ := w.run(3, "call", "remote__greet", "--json")
	if !strings.Contains(out, `"kind":"auth"`) {
		t.Errorf("the envelope is %s", out)
	}
	if _, said := w.run(3, "call", "remote__greet"); !strings.Contains(said,
		`server "remote" refuses access: it requires a login`) || !strings.Contains(said, "toolx auth login remote") {
		t.Errorf("no hint: %s", said)
	}
	plain := onTerminal(t, environ, w.arguments([]string{"call", "greet", "--retries", "0"})...)
	w.wantSilence(plain.end(0)) // the server with client credentials has it
	if _, err := os.Stat(told); err == nil {
		t.Error("a plain name opened the browser")
	}

	term := onTerminal(t, environ, w.arguments([]string{"call", "remote__greet"})...)
	term.await("continue in the browser")
	w.visit(told)
	if all := term.end(0); !strings.Contains(all, "well served") {
		t.Errorf("the call said %s", all)
	} else {
		w.wantSilence(all)
	}
	before := len(w.tokens)
	if out, _ = w.run(0, "call", "remote__greet"); out != "well served\n" || len(w.tokens) != before {
		t.Errorf("with the login the call said %q and asked for %d tokens more", out, len(w.tokens)-before)
	}
	if out, _ = w.run(0, "call", "machine__greet"); out != "well served\n" {
		t.Errorf("with client credentials the call said %q", out)
	}
	w.wantSilentHome()
}

// An Authorization header of the user's own wins over a login.
func TestCallWithOwnHeader(t *testing.T) {
	t.Parallel()
	w := newAuthWorld(t)
	out, _ := w.run(0, "call", "greet", "--url", w.server.URL+"/mcp", "-H", "Authorization: Bearer "+byHand)
	if out != "well served\n" {
		t.Errorf("the call said %q", out)
	}
	_, said := w.run(3, "call", "greet", "--url", w.server.URL+"/mcp", "-H", "Authorization: Bearer wrong-"+sentinel)
	if strings.Contains(said, "auth login") {
		t.Errorf("the hint is of no use: %s", said)
	}
	w.run(3, "call", "keyed__greet")
	if len(w.tokens) > 0 {
		t.Errorf("tokens were asked for: %q", w.tokens)
	}
}

// A client with a key signs who it is; neither the key nor what it signed is written
// anywhere. A key that is of no use is the config's fault.
func TestCallWithAPrivateKey(t *testing.T) {
	t.Parallel()
	w := newAuthWorld(t)
	text := newKey(t)
	w.secrets = []string{"ROBOT_KEY=" + text}
	out, said := w.run(0, "call", "signer__greet")
	if out != "well served\n" || len(w.signed) != 1 {
		t.Fatalf("%s%s: %d assertions", out, said, len(w.signed))
	}
	written, err := os.ReadFile(filepath.Join(w.home, "trace"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range append(strings.Split(text, "\n")[1:3], w.signed...) {
		if strings.Contains(out+said+string(written), secret) {
			t.Errorf("%q was written", secret)
		}
	}
	w.wantSilentHome()
	for _, verb := range [][]string{{"call", "keyless__greet"}, {"auth", "login", "keyless"}} {
		if _, said := w.run(2, verb...); !strings.Contains(said, "nowhere.pem cannot be read: no such file") {
			t.Errorf("%q says %s", verb, said)
		}
	}
	if out, _ := w.run(3, "auth", "status", "keyless"); !strings.Contains(out, "misconfigured: ") {
		t.Errorf("the status is %s", out)
	}
}

// newKey returns a new private key.
func newKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// Without a terminal nobody can log in: the error says at once what to do.
func TestAuthWithoutATerminal(t *testing.T) {
	t.Parallel()
	w := newAuthWorld(t)
	_, said := w.run(3, "auth", "login", "remote")
	for _, want := range []string{
		"server 'remote': it requires a login, and a login needs a terminal",
		"run toolx auth login remote --config " + w.config + " on a terminal",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing: %s", want, said)
		}
	}
	_, said = w.run(0, "auth", "login", "machine")
	if !strings.Contains(said, "logged in to server 'machine'") ||
		!slices.Equal(w.tokens, []string{"client_credentials"}) {
		t.Errorf("client credentials: %s (asked for %q)", said, w.tokens)
	}
	w.wantSilentHome()
	if _, said := w.run(2, "auth", "logout", "nobody"); strings.Contains(said, "auth login") {
		t.Errorf("a logout advises a login: %s", said)
	}
	for server, want := range map[string]string{
		"keyed":   "has its own Authorization header",
		"program": "is a local program and needs no login",
		"broken":  "variable is not set: NOT_SET_AT_ALL",
		"nobody":  `no server named "nobody"`,
	} {
		if _, said := w.run(2, "auth", "login", server); !strings.Contains(said, want) {
			t.Errorf("login to %s: %s", server, said)
		}
	}
	w.refuse = true
	const refusal = "issued no token, reason: invalid_client"
	if _, said := w.run(3, "auth", "login", "machine"); !strings.Contains(said, refusal) {
		t.Errorf("the reason is hidden: %s", said)
	}
	w.server.Close()
	if _, said := w.run(4, "auth", "login", "remote"); !strings.Contains(said, "it cannot be reached") {
		t.Errorf("a server that is gone: %s", said)
	}
}

// Where the folder for state is of no use, what needs no login works, and a login says at
// once what is wrong, and where.
func TestAuthWithoutAFolderForState(t *testing.T) {
	t.Parallel()
	w := newAuthWorld(t)
	file := filepath.Join(w.home, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.state = filepath.Join(file, "state")
	out, _ := w.run(0, "call", "greet", "--url", w.server.URL+"/mcp", "-H", "Authorization: Bearer "+byHand)
	if out != "well served\n" {
		t.Errorf("the call said %q", out)
	}
	if out, _ := w.run(0, "call", "machine__greet"); out != "well served\n" {
		t.Errorf("with client credentials, the call said %q", out)
	}
	if _, said := w.run(3, "call", "remote__greet"); !strings.Contains(said, "toolx auth login remote") {
		t.Errorf("a call that needs a login: %s", said)
	}
	_, said := w.run(3, "auth", "login", "remote")
	if !strings.Contains(said, "a login cannot be stored: ") || !strings.Contains(said, w.state) {
		t.Errorf("a login: %s", said)
	}
}

func TestAuthStatusAsJSON(t *testing.T) {
	t.Parallel()
	w := newAuthWorld(t)
	out, _ := w.run(0, "auth", "status", "--json")
	var got struct {
		Servers []struct{ Name, State string }
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var states []string
	for _, server := range got.Servers {
		states = append(states, server.Name+": "+server.State)
	}
	want := []string{
		"remote: not logged in", "machine: client credentials", "keyed: own header", "broken: misconfigured",
		"signer: misconfigured", "keyless: misconfigured",
	}
	if !slices.Equal(states, want) {
		t.Errorf("states %q, want %q", states, want)
	}
}
