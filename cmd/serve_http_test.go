package cmd_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// site is a toolx serve --http that runs.
type site struct {
	t     *testing.T
	cmd   *exec.Cmd
	url   string
	lines *bufio.Reader // stderr, after the line with the URL
}

// serveSite serves a config on a free port. What stands in env is laid over the environment.
func serveSite(t *testing.T, config string, env []string, args ...string) *site {
	t.Helper()
	// A server that hangs is killed, so that the test fails and does not hang too.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	if env == nil && !slices.Contains(args, "--token") {
		args = append(args, "--no-token")
	}
	s := &site{
		t: t, cmd: exec.CommandContext(ctx, "toolx", append([]string{"serve", config, "--http", "0"}, args...)...),
	}
	s.cmd.Env = append(append(os.Environ(), homeVariables(t.TempDir())...), env...)
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	s.lines = bufio.NewReader(stderr)
	line, err := s.lines.ReadString('\n')
	found := regexp.MustCompile(`^serving at (http://\S+:[1-9]\d*/mcp)`).FindStringSubmatch(line)
	if found == nil {
		t.Fatalf("%v: %q on stderr", err, line)
	}
	s.url = found[1]
	return s
}

// httpConfig is a config with what these tests call.
func httpConfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "http.yaml")
	err := os.WriteFile(path, []byte(`
tools:
  - {name: ok, implementation: {type: mock, mock_response: fine}}
  - {name: silent, timeout: none, implementation: {type: mock, faults: {stderr: waiting, silent: true}}}
  - {name: crash, implementation: {type: mock, faults: {stderr: fuse blown, crash: 7}}}
  - {name: calculate, implementation: {type: builtin, handler: math_eval}}
defaults: {maxMessage: 100KiB}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// reply is a response with its body read.
type reply struct {
	*http.Response
	body string
}

// send sends a request with headers given as "Name: value"; Host too.
func (s *site) send(method, body string, headers ...string) reply {
	s.t.Helper()
	r, err := s.open(s.t.Context(), method, body, headers...)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return reply{r, string(data)}
}

// open sends a request and leaves the body to be read.
func (s *site) open(ctx context.Context, method, body string, headers ...string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		switch name {
		case "Host":
			request.Host = value
		case "Content-Type":
			request.Header.Set(name, value)
		default:
			request.Header.Add(name, value)
		}
	}
	return http.DefaultClient.Do(request)
}

func (s *site) want(status int, text string, r reply) {
	s.t.Helper()
	if r.StatusCode != status || !strings.Contains(r.body, text) {
		s.t.Errorf("%s\n%s\nwant %d with %s", r.Status, r.body, status, text)
	}
}

// awaitLine reads stderr up to a line that holds text.
func (s *site) awaitLine(text string) {
	s.t.Helper()
	for {
		line, err := s.lines.ReadString('\n')
		if strings.Contains(line, text) {
			return
		}
		if err != nil {
			s.t.Fatalf("toolx ended without %q on stderr", text)
		}
	}
}

// modernCall is a call in the stateless revision, and the headers that it needs.
func modernCall(tool string) (body string, headers []string) {
	body = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{},%s}}`, tool, modernMeta)
	return body, []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: " + tool}
}

const (
	modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}}`
	helloLegacy = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	callOK      = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ok","arguments":{}}}`
	fine        = `"text":"fine"`
)

// TestServeHTTPLegacy goes through a session of a revision that has them: it ends
// when the client says so, and is not known then.
func TestServeHTTPLegacy(t *testing.T) {
	t.Parallel()
	s := serveSite(t, httpConfig(t), nil)
	hello := s.send("POST", helloLegacy)
	s.want(200, `"protocolVersion":"2025-11-25"`, hello)
	id := hello.Header.Get("Mcp-Session-Id")
	if len(id) < 20 {
		t.Fatalf("the session is called %q", id)
	}
	session, revision := "Mcp-Session-Id: "+id, "MCP-Protocol-Version: 2025-11-25"
	s.want(202, "", s.send("POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session, revision))
	s.want(200, fine, s.send("POST", callOK, session, revision))
	s.want(200, `{"jsonrpc":"2.0","id":12345678901234567890,"result":{}}`,
		s.send("POST", `{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}`, session, revision))

	ctx, cancel := context.WithCancel(t.Context())
	stream, err := s.open(ctx, "GET", "", session, revision)
	if err != nil || stream.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("GET: %v, %v", stream, err)
	}
	_ = stream.Body.Close()
	cancel()

	s.want(200, "", s.send("DELETE", "", session, revision))
	const gone = `"message":"unknown or expired session: send initialize"`
	s.want(404, gone, s.send("POST", callOK, session, revision))
	s.want(404, gone, s.send("GET", "", session, revision))
	s.want(404, gone, s.send("POST", callOK, "Mcp-Session-Id: never-was"))
	s.want(200, fine, s.send("POST", callOK)) // nothing is kept in sessions, so that none is needed
}

// A call that its client cancels ends; without a session nobody else's call does.
func TestServeHTTPCancel(t *testing.T) {
	t.Parallel()
	s := serveSite(t, httpConfig(t), nil)
	session := "Mcp-Session-Id: " + s.send("POST", helloLegacy).Header.Get("Mcp-Session-Id")
	answered := make(chan reply, 1)
	go func() {
		answered <- s.send("POST", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"silent"}}`, session)
	}()
	s.awaitLine("waiting")
	const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`
	s.want(202, "", s.send("POST", cancelled))
	s.want(200, fine, s.send("POST", callOK, session))
	select {
	case r := <-answered:
		t.Errorf("another client has ended the call:\n%s", r.body)
	default:
	}
	s.want(202, "", s.send("POST", cancelled, session))
	s.want(200, "Tool 'silent' interrupted", <-answered)
}

// TestServeHTTPModern asks in the stateless revision, which has rules of its own for headers and statuses.
func TestServeHTTPModern(t *testing.T) {
	t.Parallel()
	s := serveSite(t, httpConfig(t), nil)
	const revision = "MCP-Protocol-Version: 2026-07-28"
	discover := s.send("POST", `{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{`+modernMeta+`}}`, revision, "Mcp-Method: server/discover")
	s.want(200, `"supportedVersions":["2026-07-28","2025-11-25",`, discover)
	body, headers := modernCall("ok")
	s.want(200, fine, s.send("POST", body, headers...))
	s.want(200, fine, s.send("POST", body, append(headers, "Mcp-Session-Id: ignored")...))
	s.want(400, `"code":-32020`, s.send("POST", body, revision))
	s.want(404, `"code":-32601`, s.send("POST", `{"jsonrpc":"2.0","id":1,"method":"no/such","params":{`+modernMeta+`}}`, revision, "Mcp-Method: no/such"))
	for _, method := range []string{"GET", "DELETE"} {
		s.want(405, "", s.send(method, "", revision))
	}
}

// Who listens is told at once that there is nothing to listen to, each time.
func TestServeHTTPListen(t *testing.T) {
	t.Parallel()
	s := serveSite(t, httpConfig(t), nil)
	listen := `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`
	both := regexp.MustCompile(`(?s)"method":"notifications/subscriptions/acknowledged".*"id":7,"result":`)
	for range 100 {
		r := s.send("POST", listen, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen")
		if !both.MatchString(r.body) {
			t.Fatalf("%s\n%s", r.Status, r.body)
		}
	}
}

// A revision that never was is refused as on standard input, wherever it is named.
func TestServeHTTPUnknownRevision(t *testing.T) {
	t.Parallel()
	s := serveSite(t, httpConfig(t), nil)
	for _, revision := range []string{"1999-12-31", "2999-01-01", "tomorrow"} {
		want := fmt.Sprintf(`"id":2,"error":{"code":-32022,"message":"unsupported protocol version \"%s\"","data":{"supported":["2026-07-28",`, revision)
		header := "MCP-Protocol-Version: " + revision
		s.want(400, want, s.send("POST", callOK, header))
		s.want(400, want, s.send("POST", strings.Replace(callOK, `"name"`, `"_meta":{"io.modelcontextprotocol/protocolVersion":"`+revision+`"},"name"`, 1)))
		s.want(400, `"code":-32022`, s.send("GET", "", header))
	}
	body, headers := modernCall("ok")
	headers[0] = "MCP-Protocol-Version: 2999-01-01"
	s.want(400, `"code":-32020`, s.send("POST", body, headers...)) // the header and the message differ
}

// TestServeHTTPStrangers has requests of pages that the user did not mean, of names
// that were pointed here, and without the token.
func TestServeHTTPStrangers(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const token = "Authorization: Bearer s3cret"
	s := serveSite(t, httpConfig(t), []string{"TOOLX_SERVE_TOKEN=other"}, "--token", "@"+file,
		"--allow-host", "Tools.example:8080", "--allow-origin", "https://app.example/")
	_, port, _ := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/mcp"))
	for _, test := range []struct {
		status  int
		text    string
		headers []string
	}{
		{200, fine, []string{token}},
		{200, fine, []string{"Authorization: bearer s3cret"}},
		{401, "right token", nil},
		{401, "right token", []string{"Authorization: Bearer other"}},
		{401, "right token", []string{"Authorization: Basic s3cret"}},
		{401, "right token", []string{"Authorization: Bearer s3cretly"}},
		{200, fine, []string{token, "Host: localhost:" + port}},
		{200, fine, []string{token, "Host: LOCALHOST."}},
		{200, fine, []string{token, "Host: [::1]:1"}},
		{200, fine, []string{token, "Host: tools.example:" + port}},
		{403, `host \"evil.example\" is not served (toolx serve --allow-host evil.example)`, []string{token, "Host: evil.example:" + port}},
		{403, "is not served", []string{token, "Host: localhost.evil.example"}},
		{403, "is not served", []string{token, "Host: [::1"}},
		{200, fine, []string{token, "Origin: http://localhost:6274"}},
		{200, fine, []string{token, "Origin: https://127.0.0.1"}},
		{200, fine, []string{token, "Origin: http://[::1]:8080"}},
		{200, fine, []string{token, "Origin: https://app.example"}},
		{403, "(toolx serve --allow-origin https://evil.example)", []string{token, "Origin: https://evil.example"}},
		{403, "is not served", []string{token, "Origin: null"}},
		{403, "is not served", []string{token, "Origin: "}},
		{403, "is not served", []string{token, "Origin: http://localhost.evil.example"}},
		{403, "is not served", []string{token, "Origin: http://10.0.0.1"}},
		{403, "is not served", []string{token, "Origin: http://localhost:80/evil"}},
		{403, "is not served", []string{token, "Origin: file://localhost"}},
		{403, "is not served", []string{token, "Origin: http://localhost", "Origin: https://evil.example"}},
	} {
		t.Run(strings.Join(test.headers, ", "), func(t *testing.T) {
			r := s.send("POST", callOK, test.headers...)
			if r.StatusCode != test.status || !strings.Contains(r.body, test.text) {
				t.Errorf("%s\n%s\nwant %d with %s", r.Status, r.body, test.status, test.text)
			}
			if asks := r.Header.Get("WWW-Authenticate"); (asks != "") != (test.status == 401) {
				t.Errorf("WWW-Authenticate is %q", asks)
			}
		})
	}
	preflight := []string{
		"Origin: http://localhost:6274", "Access-Control-Request-Method: POST",
		"Access-Control-Request-Headers: mcp-method",
	}
	r := s.send("OPTIONS", "", preflight...)
	if s.want(204, "", r); r.Header.Get("Access-Control-Allow-Origin") != "http://localhost:6274" ||
		r.Header.Get("Access-Control-Allow-Headers") != "mcp-method" {
		t.Errorf("%v", r.Header)
	}
}

// The official TypeScript client gets over HTTP what it gets on standard streams.
func TestServeHTTPOfficialClient(t *testing.T) {
	t.Parallel()
	folder := serversFolder(t)
	config := filepath.Join(t.TempDir(), "tools.yaml")
	err := os.WriteFile(config, []byte(`
tools:
  - {name: echo, implementation: {type: mock, mock_response: {said: hi}}}
  - {name: fail, implementation: {type: mock, error: it broke}}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	const calls = `[{"tool":"echo","arguments":{"message":"hi"}},{"tool":"fail","arguments":{"message":"no"}}]`
	want := officialClient(t, folder, calls, "toolx", "serve", config)
	if strings.Count(want, "\n") != 3 || !strings.Contains(want, `"said":"hi"`) || !strings.Contains(want, "it broke") {
		t.Fatalf("on standard streams it prints %s", want)
	}
	if got := officialClient(t, folder, calls, serveSite(t, config, nil).url); got != want {
		t.Errorf("it prints %s\nwant %s", got, want)
	}
}

// toolx calls what toolx serves, in each era, and with a token where one is asked.
func TestServeHTTPCalledByToolx(t *testing.T) {
	t.Parallel()
	s := serveSite(t, httpConfig(t), []string{"TOOLX_SERVE_TOKEN=s3cret"})
	for _, test := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"-H", "Authorization: Bearer s3cret"}, 0, "fine\n"},
		{[]string{"-H", "Authorization: Bearer s3cret", "--protocol", "legacy"}, 0, "fine\n"},
		{[]string{"-H", "Authorization: Bearer s3cret", "--protocol", "2026-07-28"}, 0, "fine\n"},
		{nil, 3, ""},
	} {
		got := run(t, "", append([]string{"call", "ok", "--url", s.url}, test.args...)...)
		if got.code != test.code || string(got.stdout) != test.text {
			t.Errorf("%v: exit code %d, want %d: %q\n%s", test.args, got.code, test.code, got.stdout, got.stderr)
		}
	}
}

// TestServeHTTPSeveralClients has clients that use the same ids at once: each gets the answers to its own questions.
func TestServeHTTPSeveralClients(t *testing.T) {
	t.Parallel()
	const clients, calls = 20, 10
	s := serveSite(t, httpConfig(t), nil)
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			var headers []string
			if client%2 == 0 {
				headers = []string{"Mcp-Session-Id: " + s.send("POST", helloLegacy).Header.Get("Mcp-Session-Id")}
			}
			for call := range calls {
				body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"calculate","arguments":{"expression":"%d*1000+%d"}}}`, call, client, call)
				r := s.send("POST", body, headers...)
				var f frame
				if err := json.Unmarshal([]byte(r.body), &f); err != nil || string(f.ID) != fmt.Sprint(call) {
					t.Errorf("%v: %s", err, r.body)
				}
				if want := fmt.Sprintf(`{"result":%d}}`, client*1000+call); !strings.Contains(r.body, want) {
					t.Errorf("%s, want %s", r.body, want)
				}
			}
		})
	}
	all.Wait()
}

// TestServeHTTPNoMessages has what is no message, too long, or somewhere else.
func TestServeHTTPNoMessages(t *testing.T) {
	t.Parallel()
	s := serveSite(t, httpConfig(t), nil)
	for _, body := range []string{"", "{", "[]", "null", `"text"`} {
		r := s.send("POST", body)
		if !strings.HasPrefix(r.body, `{"jsonrpc":"2.0","error":{"code":-32`) {
			t.Errorf("%q: %s\n%s", body, r.Status, r.body)
		}
	}
	s.want(400, "must be 'application/json'", s.send("POST", callOK, "Content-Type: text/plain"))
	long := strings.Replace(callOK, `{}`, `{"text":"`+strings.Repeat("x", 100<<10)+`"}`, 1)
	s.want(413, `"error":{"code":-32600,"message":"a message is larger than the limit of 100.0 KiB"}`, s.send("POST", long))
	s.url += "/elsewhere"
	s.want(404, "toolx serves MCP at /mcp", s.send("POST", callOK))
}

// A mock's crash ends the process in mid-call, with the mock's exit code.
func TestServeHTTPCrash(t *testing.T) {
	t.Parallel()
	s := serveSite(t, httpConfig(t), nil)
	if r, err := s.open(t.Context(), "POST", strings.Replace(callOK, `"ok"`, `"crash"`, 1)); err == nil {
		_ = r.Body.Close()
		t.Errorf("it is answered: %s", r.Status)
	}
	s.awaitLine("fuse blown")
	if _, err := io.Copy(io.Discard, s.lines); err != nil {
		t.Fatal(err)
	}
	if _ = s.cmd.Wait(); s.cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("exit code %d, want 7", s.cmd.ProcessState.ExitCode())
	}
}

// TestFramesServedHTTP holds the answers over HTTP against the published schemas, as
// TestFramesServed does those on standard output.
func TestFramesServedHTTP(t *testing.T) {
	s := serveSite(t, servedConfig(t), nil)
	for name, r := range publishedRevisions(t) {
		t.Run(name, func(t *testing.T) {
			requests := servedRequests(name)
			for _, request := range requests {
				answer := s.send("POST", request, httpHeaders(name, request)...)
				if err := r.checkServed(bytes.TrimSpace([]byte(answer.body)), requests); err != nil {
					t.Errorf("%v\nto %s", err, request)
				}
			}
		})
	}
}

// httpHeaders are those that a client of a revision sends with a request.
func httpHeaders(revision, request string) []string {
	var message struct {
		Method string
		Params struct{ Name string }
	}
	_ = json.Unmarshal([]byte(request), &message) // one of them is none
	headers := []string{"MCP-Protocol-Version: " + revision, "Mcp-Method: " + message.Method}
	if message.Params.Name != "" {
		headers = append(headers, "Mcp-Name: "+message.Params.Name)
	}
	return headers
}

// Without a token of the user's own, toolx makes one, tells it with a line to paste, and
// serves nobody without it; another one each time.
func TestServeHTTPMakesToken(t *testing.T) {
	t.Parallel()
	var tokens []string
	for range 2 {
		s := serveSite(t, httpConfig(t), []string{}, "-v")
		line, err := s.lines.ReadString('\n')
		_, token, found := strings.Cut(strings.TrimSpace(line), "clients need this token, new with each start: ")
		if err != nil || !found || len(token) < 26 {
			t.Fatalf("%v: %q on stderr", err, line)
		}
		tokens = append(tokens, token)
		paste, err := s.lines.ReadString('\n')
		if want := "  toolx list --url " + s.url + " -H 'Authorization: Bearer " + token + "'\n"; err != nil ||
			paste != want {
			t.Errorf("%v: got %q, want %q", err, paste, want)
		}
		s.want(401, "right token", s.send("POST", callOK))
		s.want(401, "right token", s.send("POST", helloLegacy))
		s.want(200, fine, s.send("POST", callOK, "Authorization: Bearer "+token))
	}
	if tokens[0] == tokens[1] {
		t.Error("the token is the same each time")
	}
	open := serveSite(t, httpConfig(t), nil)
	open.awaitLine("every user and program on this machine can call these tools, since no token is asked for")
	open.want(200, fine, open.send("POST", callOK))
}

// A session that makes room for another has ended for its client, and for the SDK.
func TestServeHTTPSessionsMakeRoom(t *testing.T) {
	t.Parallel()
	s := serveSite(t, httpConfig(t), nil)
	first := "Mcp-Session-Id: " + s.send("POST", helloLegacy).Header.Get("Mcp-Session-Id")
	s.want(200, fine, s.send("POST", callOK, first))
	for range 1000 {
		s.want(200, "protocolVersion", s.send("POST", helloLegacy))
	}
	s.want(404, "unknown or expired session", s.send("POST", callOK, first))
}
