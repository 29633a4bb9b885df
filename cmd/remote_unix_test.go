//go:build unix

package cmd_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// TestRealServersOverHTTP calls every tool of a published server over both of its
// transports of HTTP, and wants what the official client gets over stdio.
func TestRealServersOverHTTP(t *testing.T) {
	t.Parallel()
	folder := serversFolder(t)
	toolx := buildToolx(t)
	all := readCases(t, folder)
	everything := all[slices.IndexFunc(all, func(s realServer) bool { return s.Server == "everything" })]
	names, want := everything.reference(t, folder)
	for transport, path := range transports() {
		t.Run(transport, func(t *testing.T) {
			remote := everything
			remote.Calls = slices.Clone(everything.Calls)
			for i, call := range remote.Calls {
				if strings.HasPrefix(call.Tool, "toggle-") {
					remote.Calls[i].Compare = "shape" // the text holds the session's id, which stdio has not
				}
			}
			remote.url = startEverything(t, folder, transport) + path
			remote.checkList(t, folder, toolx, names)
			remote.checkCalls(t, folder, toolx, newPlace(t), want)
		})
	}
}

// transports are those of server-everything over HTTP, with their paths: the older one as well in the whole matrix.
func transports() map[string]string {
	if *matrix {
		return map[string]string{"streamableHttp": "/mcp", "sse": "/sse"}
	}
	return map[string]string{"streamableHttp": "/mcp"}
}

// startEverything starts the server over HTTP and returns its address.
func startEverything(t *testing.T, folder, transport string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	_ = listener.Close() // the server takes a number only, and not one that is open
	stderr := startNode(t, folder, []string{fmt.Sprintf("PORT=%d", port)},
		"node_modules/@modelcontextprotocol/server-everything/dist/index.js", transport)
	awaitText(t, stderr, regexp.MustCompile(`(?:listening|running) on port`))
	return fmt.Sprintf("http://127.0.0.1:%d", port)
}

// startNode starts a program of Node in a folder, with more variables of the environment,
// and returns its stderr. It is killed at the end of the test.
func startNode(t *testing.T, folder string, variables []string, args ...string) io.Reader {
	t.Helper()
	command := exec.Command("node", args...)
	command.Dir, command.Env = folder, append(os.Environ(), variables...)
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	return stderr
}

// awaitText reads until a text comes, and throws away what comes after.
func awaitText(t *testing.T, r io.Reader, want *regexp.Regexp) {
	t.Helper()
	var seen []byte
	chunk := make([]byte, 4096)
	for !want.Match(seen) {
		n, err := r.Read(chunk)
		seen = append(seen, chunk[:n]...)
		if err != nil {
			t.Fatalf("%v; it wrote: %s", err, seen)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
}

// TestMCPGoServerOverHTTP proves both eras with the server of another SDK, which speaks them at one address.
func TestMCPGoServerOverHTTP(t *testing.T) {
	sdk := server.NewMCPServer("sdk", "1", server.WithToolCapabilities(true))
	sdk.AddTool(mcp.NewTool("greet", mcp.WithString("name", mcp.Required())),
		func(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("hello " + request.GetString("name", "")), nil
		})
	site := httptest.NewServer(server.NewStreamableHTTPServer(sdk))
	t.Cleanup(site.Close)
	for protocol, agreed := range map[string]string{
		"auto":       "2026-07-28",
		"legacy":     "2025-11-25",
		"2025-06-18": "2025-06-18",
	} {
		w := newRemoteWorld(t)
		out, said := w.run(0, "call", "greet", "name=<you>", "--url", site.URL+"/mcp", "--protocol", protocol, "-v")
		if out != "hello <you>\n" || !strings.Contains(said, "protocol="+agreed) {
			t.Errorf("--protocol %s: %s%s", protocol, out, said)
		}
	}
}

// TestTypeScriptServerInBothEras proves tools, resources and prompts with a server of the TypeScript SDK that knows
// revision 2026-07-28: over HTTP beside the older era and without it, and on stdio.
func TestTypeScriptServerInBothEras(t *testing.T) {
	t.Parallel()
	folder := serversFolder(t)
	program := filepath.Join(folder, "sdk2.mjs")
	both := []string{"--url", startTypeScript(t, folder, "stateless")}
	modern := []string{"--url", startTypeScript(t, folder, "reject")}
	process := []string{"--", "node", program, "stdio"}
	for _, test := range []struct {
		name, protocol, said string
		server               []string
	}{
		{"HTTP", "auto", "speaks MCP 2026-07-28 (as was offered; server/discover was answered)", both},
		{"HTTP, the older era", "legacy", "speaks MCP 2025-11-25 (as was offered; the older era is pinned)", both},
		{"HTTP, an older revision", "2025-06-18", "speaks MCP 2025-06-18 (as was offered", both},
		{"HTTP of one era", "auto", "speaks MCP 2026-07-28", modern},
		{"stdio", "auto", "speaks MCP 2025-11-25 (as was offered)", process},
		{"stdio of the new era", "2026-07-28", "speaks MCP 2026-07-28 (as was offered)", process},
	} {
		if !*matrix && test.name != "HTTP" && test.name != "stdio" {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			w := newRemoteWorld(t)
			w.t = t
			run := func(code int, args ...string) (string, string) {
				return w.run(code, slices.Concat(args, []string{"--protocol", test.protocol, "-v"}, test.server)...)
			}
			out, said := run(0, "call", "greet", "name=<you>")
			if out != `{"greeting":"hello <you>"}`+"\n" || !strings.Contains(said, test.said) {
				t.Errorf("a call: %s%s, want %q", out, said, test.said)
			}
			if _, said := run(5, "call", "fail"); !strings.Contains(said, "as it should") {
				t.Errorf("a tool that fails: %s", said)
			}
			if out, _ := run(0, "resources", "read", "text://motto"); out != "festina lente\n" {
				t.Errorf("a resource: %s", out)
			}
			if out, _ := run(0, "prompts", "get", "toast", "to=all"); !strings.Contains(out, "To all!") {
				t.Errorf("a prompt: %s", out)
			}
		})
	}
	w := newRemoteWorld(t)
	if _, said := w.run(4, slices.Concat([]string{"list", "--protocol", "legacy"}, modern)...); !strings.Contains(said, `"supported":["2026-07-28"]`) || !strings.Contains(said, "without --protocol") {
		t.Errorf("a server without the older era: %s", said)
	}
}

// startTypeScript starts the server over HTTP and returns its address.
func startTypeScript(t *testing.T, folder, mode string) string {
	t.Helper()
	line, err := bufio.NewReader(startNode(t, folder, nil, "sdk2.mjs", mode)).ReadString('\n')
	port := regexp.MustCompile(`\d+`).FindString(line)
	if port == "" {
		t.Fatalf("%v: %q", err, line)
	}
	return "http://127.0.0.1:" + port + "/mcp"
}

// remoteWorld runs toolx as a process.
type remoteWorld struct {
	t       *testing.T
	folder  string
	environ []string
}

func newRemoteWorld(t *testing.T) *remoteWorld {
	return &remoteWorld{
		t, emptyFolder(t), append(homeVariables(t.TempDir()), "TOOLX_KEYRING=off", "NODE_EXTRA_CA_CERTS="),
	}
}

func (w *remoteWorld) run(code int, args ...string) (stdout, stderr string) {
	w.t.Helper()
	command := exec.Command(buildToolx(w.t), args...)
	command.Dir, command.Env = w.folder, append(os.Environ(), w.environ...)
	var out, said bytes.Buffer
	command.Stdout, command.Stderr = &out, &said
	_ = command.Run() // the exit code says how it ended
	if got := command.ProcessState.ExitCode(); got != code {
		w.t.Errorf("%q ends with %d, want %d: %s%s", args, got, code, &out, &said)
	}
	return out.String(), said.String()
}

func (w *remoteWorld) file(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// remoteSite is a stateless server with one tool, which answers only who has the key, and keeps what it was sent.
func remoteSite(key string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		w.Header().Set("Content-Type", "application/json")
		answer := map[string]string{
			"initialize": `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`,
			"tools/list": `{"tools":[{"name":"greet","inputSchema":{"type":"object"}}]}`,
			"tools/call": `{"content":[{"type":"text","text":"hello"}]}`,
		}[m.Method]
		switch {
		case r.Header.Get("X-Api-Key") != key:
			w.Header().Set("WWW-Authenticate", `ApiKey realm="greetings"`)
			w.WriteHeader(http.StatusUnauthorized)
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case answer == "":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`, m.ID)
		default:
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, answer)
		}
	})
}

// TestRemoteProcess proves what a user types for servers over HTTP, the exit codes,
// and that secrets of headers are written nowhere.
func TestRemoteProcess(t *testing.T) {
	t.Parallel()
	const key = "hush-0123456789"
	plain := httptest.NewServer(remoteSite(key))
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(remoteSite(key))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	deaf, tunnel, closed := badProxies(t)
	w := newRemoteWorld(t)
	authority := w.file("ca.pem",
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})))
	trace := filepath.Join(w.folder, "trace.jsonl")
	config := w.file("servers.yaml", fmt.Sprintf(`servers:
  plain: {url: %q, headers: {X-Api-Key: "${KEY}"}}
  secure: {url: %q, headersCommand: [sh, -c, "echo X-Api-Key: $KEY"], caCert: ca.pem}
`, plain.URL, secure.URL))
	header := "X-Api-Key: " + key
	for _, test := range []struct {
		name    string
		code    int
		args    []string
		environ string
		text    string // on stdout, or on stderr
	}{
		{"a header", 0, []string{"call", "greet", "--url", plain.URL, "-H", header}, "", "hello"},
		{"without", 3, []string{"call", "greet", "--url", plain.URL}, "", `the server asks for ApiKey (realm="greetings")`},
		{"as JSON", 3, []string{"call", "greet", "--json", "--url", plain.URL}, "", `"kind":"auth"`},
		{"list", 0, []string{"list", "--url", plain.URL, "-H", header}, "", "greet\tgreet()"},
		{"show", 0, []string{"show", "greet", "--url", plain.URL, "-H", header}, "", "--url " + plain.URL},
		{"convert", 0, []string{"convert", "--format", "mcp", "--url", plain.URL, "-H", header}, "", "greet"},
		{"the config's header", 0, []string{"call", "plain__greet", "--config", config}, "KEY=" + key, "hello"},
		{"a headersCommand", 0, []string{"call", "secure__greet", "--config", config}, "KEY=" + key, "hello"},
		{"an unknown authority", 4, []string{"list", "--url", secure.URL}, "", "which is not trusted"},
		{"--cacert", 0, []string{"list", "--url", secure.URL, "-H", header, "--cacert", authority}, "", "greet"},
		{"SSL_CERT_FILE", 0, []string{"list", "--url", secure.URL, "-H", header}, "SSL_CERT_FILE=" + authority, "greet"},
		{"--insecure", 0, []string{"list", "--url", secure.URL, "-H", header, "--insecure"}, "", "--insecure: certificates are not checked"},
		{"--insecure is loud", 0, []string{"list", "-q", "--url", secure.URL, "-H", header, "--insecure"}, "", "warning: --insecure: certificates are not checked"},
		{"a wrong file", 2, []string{"list", "--url", secure.URL, "--cacert", "nope.pem"}, "", "nope.pem"},
		{"a proxy", 0, []string{"list", "--url", "http://service.example/mcp", "-H", header}, "HTTP_PROXY=" + plain.URL, "greet"},
		{"a proxy that refuses", 4, []string{"list", "--url", "https://service.example/mcp"}, "HTTPS_PROXY=" + plain.URL, "the proxy " + plain.URL + " refuses the connection: HTTP 401"},
		{"a proxy that is gone", 4, []string{"list", "--url", "https://service.example/mcp", "--retries", "0"}, "HTTPS_PROXY=http://127.0.0.1:1", "connection refused by the proxy 127.0.0.1:1"},
		{"a plain proxy that is gone", 4, []string{"list", "--url", "http://service.example/mcp", "--retries", "0"}, "HTTP_PROXY=http://127.0.0.1:1", "NO_PROXY=service.example bypasses the proxy"},
		{"a proxy that is not known", 4, []string{"list", "--url", "http://service.example/mcp", "--retries", "0"}, "HTTP_PROXY=http://proxy.invalid:1", `the proxy proxy.invalid`},
		{"a proxy that hangs up", 4, []string{"list", "--url", "https://service.example/mcp", "--retries", "0"}, "HTTPS_PROXY=" + deaf, "the proxy " + deaf + " refuses the connection: it closed the connection"},
		{"a plain proxy that hangs up", 4, []string{"list", "--url", "http://service.example/mcp", "--retries", "0"}, "HTTP_PROXY=" + deaf, "unavailable: the proxy " + strings.TrimPrefix(deaf, "http://") + " closed the connection without a response"},
		{"a tunnel to one that hangs up", 4, []string{"list", "--url", "https://service.example/mcp", "--retries", "0"}, "HTTPS_PROXY=" + tunnel, "unavailable: service.example closed the connection without a response"},
		{"a proxy that is none", 2, []string{"list", "--url", "https://service.invalid/mcp"}, "HTTPS_PROXY=:::bad", `is misconfigured: HTTPS_PROXY is not the address of a proxy: ":::bad"`},
		{"a proxy of another kind", 2, []string{"list", "--url", "http://service.invalid/mcp"}, "HTTP_PROXY=ftp://u:" + key + "@proxy", `HTTP_PROXY is not the address of a proxy: "proxy"`},
		{"a proxy beyond all ports", 2, []string{"list", "--url", "https://service.invalid/mcp"}, "https_proxy=proxy:99999", `https_proxy is not the address of a proxy: "proxy:99999"`},
		{"a proxy that is none, and not for it", 0, []string{"list", "--url", secure.URL, "-H", header, "--cacert", authority}, "HTTPS_PROXY=:::bad", "greet"},
		{"a proxy that wants a password", 4, []string{"list", "--url", "http://service.example/mcp"}, "HTTP_PROXY=" + closed, "hint: set HTTPS_PROXY or HTTP_PROXY to http://USER:PASSWORD@HOST:PORT"},
		{"NODE_EXTRA_CA_CERTS of nothing", 0, []string{"list", "--url", secure.URL, "-H", header, "--cacert", authority}, "NODE_EXTRA_CA_CERTS=nofile", "warning: cannot read NODE_EXTRA_CA_CERTS: open nofile: no such file or directory; toolx continues without it"},
		{"no port", 2, []string{"list", "--url", "http://127.0.0.1:99999/mcp"}, "", "port 99999"},
		{"no proxy for it", 4, []string{"list", "--url", "http://service.invalid/mcp", "--retries", "0"}, "NO_PROXY=.invalid", "service.invalid"},
		{"a url and a command", 2, []string{"list", "--url", plain.URL, "--", "true"}, "", "--url and a command after -- do not go together"},
		{"no address", 2, []string{"list", "--url", "localhost:1"}, "", "is not the address of a server"},
		{"a header for nobody", 2, []string{"list", "-H", header}, "", "-H needs --url"},
		{"a header that is none", 2, []string{"list", "--url", plain.URL, "-H", key}, "", "-H needs NAME: VALUE"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &remoteWorld{t, w.folder, append(slices.Clone(w.environ), test.environ)}
			if !strings.HasPrefix(test.environ, "SSL_CERT_FILE=") {
				w.environ = append(w.environ, "SSL_CERT_FILE=")
			}
			out, said := w.run(test.code, append(test.args, "--log-level", "debug", "--trace-file", trace)...)
			if !strings.Contains(out+said, test.text) {
				t.Errorf("%s%s, want %s", out, said, test.text)
			}
			traced, err := os.ReadFile(trace)
			if err != nil && test.code != 2 {
				t.Error(err)
			}
			if written := out + said + string(traced); strings.Contains(written, key) {
				t.Errorf("a secret was written:\n%s", written)
			}
			if test.code == 0 && !bytes.Contains(traced, []byte(`"http":{"verb":"POST"`)) {
				t.Errorf("no exchange in the trace:\n%s", traced)
			}
		})
	}
}

// badProxies starts three proxies: one hangs up whatever it is asked, one makes tunnels
// that end at once, one wants a password.
func badProxies(t *testing.T) (deaf, tunnel, closed string) {
	t.Helper()
	start := func(answer http.HandlerFunc) string {
		proxy := httptest.NewServer(answer)
		t.Cleanup(proxy.Close)
		return proxy.URL
	}
	hangUp := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(connection, text)
			_ = connection.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, connection) // else the end may be a reset
			_ = connection.Close()
		}
	}
	return start(hangUp("")), start(hangUp("HTTP/1.1 200 OK\r\n\r\n")),
		start(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusProxyAuthRequired)
		})
}
