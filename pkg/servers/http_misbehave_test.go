package servers

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/cause"
	"toolx/pkg/fault"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/serverstest"
	"toolx/pkg/servers/wire"
)

// remoteBehaviour is what toolx makes of a server over HTTP that misbehaves. The zero
// value is a session that opens, and whose call is answered with "hi".
type remoteBehaviour struct {
	script func(*site)
	// open is how opening fails, call the kind of failure of the call.
	open diagnose.Ending
	call fault.Kind
	text string // part of the failure's words
	seen string // the irregularities that are reported
	// brief is for servers that let the time run out.
	brief bool
	// posts is how often the call was sent; zero means once.
	posts int
}

// onCall scripts the answer to tools/call.
func onCall(call func(w http.ResponseWriter, r *http.Request, m siteMessage)) func(*site) {
	return func(s *site) { s.call = call }
}

// onOpen scripts the answer to everything that comes first.
func onOpen(head func(w http.ResponseWriter, r *http.Request)) func(*site) {
	return func(s *site) {
		s.head = func(w http.ResponseWriter, r *http.Request, _ siteMessage) bool {
			head(w, r)
			return true
		}
	}
}

// plain answers with a status and a body.
func plain(status int, kind, body string) func(w http.ResponseWriter, r *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// raw takes the connection over and writes bytes that are no good HTTP.
func raw(w http.ResponseWriter, text string) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_, _ = io.WriteString(connection, text)
		_ = connection.Close()
	}
}

const page = "<html><head><title>Bad gateway</title></head><body>nginx</body></html>"

// remoteMisbehaviours is the table of servers over HTTP that misbehave, as misbehaviours is for stdio.
func remoteMisbehaviours() map[string]remoteBehaviour {
	call := func(f func(w http.ResponseWriter, r *http.Request)) func(*site) {
		return onCall(func(w http.ResponseWriter, r *http.Request, _ siteMessage) { f(w, r) })
	}
	return map[string]remoteBehaviour{
		// Statuses at the start.
		"proxy page":      {script: onOpen(plain(502, "text/html", page)), open: diagnose.EndingUnavailable, text: `got text/html (502, "Bad gateway") where JSON was expected`},
		"login page":      {script: onOpen(plain(200, "text/html; charset=utf-8", "<title>Sign in</title>")), open: diagnose.EndingMalformed, text: `got text/html (200, "Sign in") where JSON was expected`},
		"text in 200":     {script: onOpen(plain(200, "text/plain", "ok")), open: diagnose.EndingMalformed, text: `got text/plain (200, "ok")`},
		"401":             {script: onOpen(plain(401, "text/plain", "")), open: diagnose.EndingUnauthorized, text: "no WWW-Authenticate"},
		"403":             {script: onOpen(plain(403, "application/json", `{"error":{"message":"not for you"}}`)), open: diagnose.EndingUnauthorized, text: "HTTP 403 Forbidden to POST"},
		"404 everywhere":  {script: onOpen(plain(404, "text/plain", "no such page")), open: diagnose.EndingRefused, text: "no such page; over HTTP+SSE: HTTP 404 Not Found to GET"},
		"405 everywhere":  {script: onOpen(plain(405, "text/plain", "")), open: diagnose.EndingRefused, text: "HTTP 405 Method Not Allowed to POST"},
		"503":             {script: onOpen(plain(503, "text/plain", "starting")), open: diagnose.EndingUnavailable, text: "HTTP 503 Service Unavailable to POST"},
		"503 as JSON-RPC": {script: onOpen(plain(503, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"not yet"}}`)), open: diagnose.EndingUnavailable, text: "not yet"},
		"no HTTP":         {script: onOpen(func(w http.ResponseWriter, _ *http.Request) { raw(w, "SSH-2.0-OpenSSH\r\n") }), open: diagnose.EndingUnavailable, text: `does not speak HTTP: its response begins with "SSH-2.0-OpenSSH"`},
		"no status":       {script: onOpen(func(w http.ResponseWriter, _ *http.Request) { raw(w, "HTTP/1.1 fine\r\n\r\n") }), open: diagnose.EndingUnavailable, text: `is not HTTP: malformed HTTP status code "fine"`},
		"no length": {script: onOpen(func(w http.ResponseWriter, _ *http.Request) {
			raw(w, "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n")
		}), open: diagnose.EndingUnavailable, text: `is not HTTP: bad Content-Length "many"`},
		"speaks TLS": {script: onOpen(func(w http.ResponseWriter, _ *http.Request) { raw(w, "\x15\x03\x01\x00\x02\x02\x16") }), open: diagnose.EndingUnavailable, text: "expects TLS, not plain HTTP"},
		"hangs up":   {script: onOpen(func(w http.ResponseWriter, _ *http.Request) { raw(w, "") }), open: diagnose.EndingUnavailable, text: "closed the connection without a response"},
		"hands over": {script: onOpen(switching), open: diagnose.EndingRefused, text: "HTTP 101 Switching Protocols to POST"},
		"silent":     {script: onOpen(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), open: diagnose.EndingUnanswered, text: "does not respond to initialize within", brief: true},
		"redirect in ring": {script: onOpen(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/again", http.StatusTemporaryRedirect)
		}), open: diagnose.EndingRefused, text: "(a loop)"},
		"redirect loses": {script: onOpen(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) }), open: diagnose.EndingRefused, text: "without the message"},
		"redirect away": {script: onOpen(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://other.example/mcp", http.StatusPermanentRedirect)
		}), open: diagnose.EndingRefused, text: "it redirects to http://other.example/mcp (another origin)"},
		"redirect within": {script: func(s *site) {
			s.head = func(w http.ResponseWriter, r *http.Request, m siteMessage) bool {
				if r.URL.Path != "/mcp/" && m.Verb == http.MethodPost {
					http.Redirect(w, r, "/mcp/", http.StatusTemporaryRedirect)
					return true
				}
				return false
			}
		}, posts: 2},
		"initialized refused": {script: func(s *site) {
			s.head = func(w http.ResponseWriter, _ *http.Request, m siteMessage) bool {
				if m.Method == "notifications/initialized" {
					http.Error(w, "what?", http.StatusInternalServerError)
					return true
				}
				return false
			}
		}, open: diagnose.EndingUnavailable, text: "HTTP 500"},

		// Bodies of a call.
		"hands over in the call": {script: call(switching), call: fault.KindProtocol, text: "HTTP 101 Switching Protocols to POST"},
		"early hints, and no end": {script: call(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", strings.Repeat("x", 10_000)) // the limit is 10 MB of headers
			for r.Context().Err() == nil {
				w.WriteHeader(http.StatusEarlyHints)
			}
		}), call: fault.KindConnect, text: "is not HTTP"},
		"headers, and no end": {script: call(func(w http.ResponseWriter, _ *http.Request) {
			forever(w, "HTTP/1.1 200 OK\r\n", "X-More: "+strings.Repeat("x", 1000)+"\r\n")
		}), call: fault.KindConnect, text: "is not HTTP"},
		"a header, and no end": {script: call(func(w http.ResponseWriter, _ *http.Request) {
			forever(w, "HTTP/1.1 200 OK\r\nX-More: ", strings.Repeat("x", 1000))
		}), call: fault.KindConnect, text: "is not HTTP"},
		"trailers, and no end": {script: call(func(w http.ResponseWriter, _ *http.Request) {
			forever(w,
				"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nTrailer: X-More\r\n\r\n2\r\n{}\r\n0\r\n",
				"X-More: "+strings.Repeat("x", 1000)+"\r\n")
		}), call: fault.KindProtocol, text: "has invalid chunks"},
		"chunks that say much": {script: call(func(w http.ResponseWriter, _ *http.Request) {
			forever(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
				"1;"+strings.Repeat("x", 1000)+"\r\n \r\n")
		}), call: fault.KindProtocol, text: "has invalid chunks"},
		"half a body": {script: call(func(w http.ResponseWriter, _ *http.Request) {
			raw(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{\"jsonrpc\":")
		}), call: fault.KindProtocol, text: "closed the connection in the middle of its response"},
		"half a body at the start": {script: onOpen(func(w http.ResponseWriter, _ *http.Request) {
			raw(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{\"jsonrpc\":")
		}), open: diagnose.EndingMalformed, text: "closed the connection in the middle of its response"},
		"chunked garbage": {script: call(func(w http.ResponseWriter, _ *http.Request) {
			raw(w,
				"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nnonsense")
		}), call: fault.KindProtocol, text: "has invalid chunks (Transfer-Encoding)"},
		"half JSON":    {script: call(plain(200, "application/json", `{"jsonrpc":"2.0","id":`)), call: fault.KindProtocol, text: "with JSON that is truncated after 22 bytes"},
		"not JSON":     {script: call(plain(200, "application/json", "[oh\n")), call: fault.KindProtocol, text: "with invalid JSON at byte 2 (invalid character 'o' looking for beginning of value): \"[oh\""},
		"not JSON-RPC": {script: call(plain(200, "application/json", `{"ok":true}`)), call: fault.KindProtocol, text: `with JSON that is not a JSON-RPC message: "{\"ok\":true}"`},
		"two messages": {
			script: onCall(func(w http.ResponseWriter, _ *http.Request, m siteMessage) {
				respondRaw(w, hi(m)+"\n"+hi(m))
			}),
			call: fault.KindProtocol, text: "with text after the message, which ends at byte 83 of 167",
		},
		"mark before it": {script: onCall(func(w http.ResponseWriter, _ *http.Request, m siteMessage) { respondRaw(w, "\ufeff"+hi(m)) }), seen: "bom"},
		"packed unasked": {script: call(packed("br", "\x0b\x02\x80hi\x03")), call: fault.KindProtocol, text: `a response with content encoding "br", which was not requested`},
		"no gzip":        {script: call(packed("gzip", `{"jsonrpc":"2.0","id":3,"result":{}}`)), call: fault.KindProtocol, text: "cannot be decompressed: it is not gzip, although its Content-Encoding says so"},
		"short no gzip":  {script: call(packed("gzip", "{}")), call: fault.KindProtocol, text: "it is not gzip"},
		"damaged gzip":   {script: call(packed("gzip", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01\x01")), call: fault.KindProtocol, text: "its gzip is damaged"},
		"half a gzip": {script: call(func(w http.ResponseWriter, _ *http.Request) {
			raw(w,
				"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 999\r\n\r\n\x1f\x8b\x08\x00\x00")
		}), call: fault.KindProtocol, text: "closed the connection in the middle of its response"},
		"empty body":    {script: call(plain(200, "application/json", "")), call: fault.KindProtocol, text: "HTTP 200 OK and no message"},
		"only accepted": {script: call(plain(202, "", "")), call: fault.KindProtocol, text: "HTTP 202 Accepted and no message"},
		"wrong type":    {script: call(plain(200, "text/html", page)), call: fault.KindProtocol, text: `got text/html (200, "Bad gateway")`},
		"proxy in call": {script: call(plain(504, "text/html", page)), call: fault.KindConnect, text: `got text/html (504, "Bad gateway")`},
		"wrong id":      {script: call(plain(200, "application/json", `{"jsonrpc":"2.0","id":987,"result":{}}`)), call: fault.KindProtocol, text: "never sent, id 987", seen: "id-unknown"},
		"no id":         {script: call(plain(200, "application/json", `{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"hi"}]}}`)), seen: "id-null"},
		"no version": {script: onCall(func(w http.ResponseWriter, _ *http.Request, m siteMessage) {
			respondRaw(w, fmt.Sprintf(`{"id":%s,"result":{"content":[{"type":"text","text":"hi"}]}}`, m.ID))
		}), seen: "no-version"},
		"id as text": {script: onCall(func(w http.ResponseWriter, _ *http.Request, m siteMessage) {
			respondRaw(w, strings.Replace(hi(m), string(m.ID), `"`+string(m.ID)+`"`, 1))
		}), seen: "id-type"},
		"batch":     {script: onCall(func(w http.ResponseWriter, _ *http.Request, m siteMessage) { respondRaw(w, "[7,"+hi(m)+"]") }), seen: "not-rpc"},
		"huge body": {script: call(plain(200, "application/json", `{"jsonrpc":"2.0","id":3,"result":"`+strings.Repeat("x", 2<<20)+`"}`)), call: fault.KindProtocol, text: "over the limit of 1.0 MiB"},
		"gzip bomb": {script: call(gzipBomb), call: fault.KindProtocol, text: "over the limit of 1.0 MiB"},
		"stalls":    {script: call(stallAfter("application/json", `{"jsonrpc":`)), call: fault.KindTimeout, brief: true},
		"error with 400": {script: onCall(func(w http.ResponseWriter, _ *http.Request, m siteMessage) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"bad city"}}`)
		}), call: fault.KindTool, text: "bad city", seen: ""},
		"error with an id of its own": {script: call(plain(400, "application/json", `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32602,"message":"bad city"}}`)), call: fault.KindTool, text: "bad city"},
		"error of another interface":  {script: call(plain(410, "application/json", `{"error":{"code":7,"message":"moved out"}}`)), call: fault.KindProtocol, text: "HTTP 410 Gone to POST"},
		"401 loop": {script: func(s *site) {
			s.call = func(w http.ResponseWriter, _ *http.Request, _ siteMessage) {
				w.Header().Set("WWW-Authenticate", `Bearer scope="call"`)
				w.WriteHeader(http.StatusUnauthorized)
			}
		}, call: fault.KindAuth, text: `the server asks for Bearer (scope="call")`},
		"slow down":       {script: slowDown("0", 2), posts: 3},
		"slow down, long": {script: slowDown("7200", 9), call: fault.KindConnect, text: "429 Too Many Requests: it asks to wait 2h0m0s"},
		"slow down, ever": {script: slowDown("", 9), call: fault.KindConnect, text: "429 Too Many Requests", posts: 3},

		// Streams.
		"stream ends": {script: call(streaming(": nothing\n\n")), call: fault.KindProtocol, text: "the server ended the stream before it"},
		"stream breaks": {script: call(func(w http.ResponseWriter, _ *http.Request) {
			raw(w, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 999\r\n\r\ndata: {")
		}), call: fault.KindProtocol, text: "the stream broke before it"},
		"stream wrong id": {script: call(streaming("data: {\"jsonrpc\":\"2.0\",\"id\":987,\"result\":{}}\n\n")), call: fault.KindProtocol, text: "never sent, id 987", seen: "id-unknown"},
		"stream garbage": {script: onCall(func(w http.ResponseWriter, _ *http.Request, m siteMessage) {
			eventStream(w, "data: hello\n\nevent: other\ndata: {}\n\n", "data: "+hi(m)+"\n\n")
		}), seen: "not-rpc"},
		"stream half JSON": {
			script: call(streaming("data: {\"jsonrpc\":\"2.0\",\n\n")),
			call:   fault.KindProtocol, text: "an event of the server has JSON that is truncated after 17 bytes",
			seen: "not-rpc",
		},
		"stream no end": {script: onCall(func(w http.ResponseWriter, _ *http.Request, m siteMessage) { eventStream(w, "data: "+hi(m)) })},
		"stream crlf": {script: onCall(func(w http.ResponseWriter, _ *http.Request, m siteMessage) {
			eventStream(w, "\ufeffdata:"+hi(m)+"\r\n\r\n")
		})},
		"stream cr": {script: onCall(func(w http.ResponseWriter, _ *http.Request, m siteMessage) {
			eventStream(w, "event: message\rdata: "+hi(m)+"\r\r")
		})},
		"stream with a mark in it": {script: onCall(func(w http.ResponseWriter, _ *http.Request, m siteMessage) {
			eventStream(w, "data: \ufeff"+hi(m)+"\n\n")
		}), seen: "bom"},
		"stream packed": {script: onCall(func(w http.ResponseWriter, _ *http.Request, m siteMessage) { packedStream(w, "data: "+hi(m)+"\n\n") })},
		"stream goes on": {script: onCall(func(w http.ResponseWriter, r *http.Request, m siteMessage) {
			eventStream(w, "data: "+hi(m)+"\n\n")
			<-r.Context().Done()
		})},
		"stream stalls":  {script: call(stallAfter("text/event-stream", ": wait\n\n")), call: fault.KindTimeout, brief: true},
		"stream endless": {script: call(endless), call: fault.KindTimeout, brief: true},
		"event endless":  {script: call(streaming("data: " + strings.Repeat("x", 2<<20) + "\n\n")), call: fault.KindProtocol, text: "over the limit of 1.0 MiB"},
	}
}

func respondRaw(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, text)
}

func streaming(events ...string) func(w http.ResponseWriter, r *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { eventStream(w, events...) }
}

// switching hands the connection over to another protocol, in which nothing comes.
func switching(w http.ResponseWriter, r *http.Request) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer connection.Close() //nolint:errcheck // the other side may be gone
	_, _ = io.WriteString(connection,
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Content-Type: application/json\r\n\r\n")
	_, _ = io.Copy(io.Discard, connection) // until the other side closes it
}

// forever takes the connection over and writes the beginning of an answer, and then the
// same again for as long as anyone reads.
func forever(w http.ResponseWriter, begin, again string) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer connection.Close() //nolint:errcheck // the other side may be gone
	for text := begin; err == nil; text = again {
		_, err = io.WriteString(connection, text)
	}
}

// stallAfter writes the beginning of an answer, and nothing more.
func stallAfter(kind, text string) func(w http.ResponseWriter, r *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, text)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

// endless sends events for as long as anyone reads.
func endless(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		eventStream(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n")
	}
}

// packed answers with a body that says it is packed.
func packed(encoding, body string) func(w http.ResponseWriter, r *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", encoding)
		plain(200, "application/json", body)(w, r)
	}
}

// packedStream sends events in gzip, and does not end that, as servers that flush.
func packedStream(w http.ResponseWriter, events string) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Content-Encoding", "gzip")
	packer := gzip.NewWriter(w)
	_, _ = io.WriteString(packer, events)
	_ = packer.Flush()
	w.(http.Flusher).Flush()
}

func gzipBomb(w http.ResponseWriter, _ *http.Request) {
	var packed bytes.Buffer
	packer := gzip.NewWriter(&packed)
	_, _ = packer.Write(bytes.Repeat([]byte(" "), 4<<20))
	_ = packer.Close()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(packed.Bytes())
}

// slowDown answers the first calls with 429.
func slowDown(after string, times int) func(*site) {
	return func(s *site) {
		s.call = func(w http.ResponseWriter, _ *http.Request, m siteMessage) {
			if len(s.seen("tools/call")) <= times {
				if after != "" {
					w.Header().Set("Retry-After", after)
				}
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			respond(w, m, `{"content":[{"type":"text","text":"hi"}]}`)
		}
	}
}

// TestRemoteMisbehaviour proves what toolx makes of servers over HTTP that misbehave:
// no call hangs or crashes, and every failure says what happened (EXEC-9).
func TestRemoteMisbehaviour(t *testing.T) {
	for name, want := range remoteMisbehaviours() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := newSite(t, want.script)
			s := newRemoteStage(t, plenty, site.URL+"/mcp")
			switch { // only what must run out has little time: a busy machine may need more for the rest
			case want.brief && want.open != "":
				s.dial.StartTimeout = 300 * time.Millisecond
			case want.brief:
				s.executor.Defaults.Timeout = time.Second
			}
			err := s.open()
			if want.open != "" {
				checkEnding(t, err, want.open, want.text)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkRemoteCall(t, s, want)
			if posts := len(site.seen("tools/call")); posts != max(want.posts, 1) {
				t.Errorf("the call was sent %d times", posts)
			}
		})
	}
}

func checkRemoteCall(t *testing.T, s *stage, want remoteBehaviour) {
	t.Helper()
	result := s.call("site__echo", "{}")
	switch {
	case want.call == "" && (!result.Success || string(result.Value) != `"hi"`):
		t.Errorf("%s %v", result.Value, result.Err)
	case want.call != "" && (fault.KindOf(result.Err) != want.call || !strings.Contains(result.Err.Error(), want.text)):
		t.Errorf("%v (%s), want %s (%s)", result.Err, fault.KindOf(result.Err), want.text, want.call)
	}
	var seen []string
	for _, odd := range serverstest.Of[wire.OddFrame](s.events) {
		seen = append(seen, string(odd.Class))
	}
	if got := strings.Join(seen, " "); got != want.seen {
		t.Errorf("seen %q, want %q", got, want.seen)
	}
}

func checkEnding(t *testing.T, err error, ending diagnose.Ending, text string) {
	t.Helper()
	var failure *diagnose.Failure
	ok := errors.As(err, &failure)
	if !ok || failure.Ending != ending || !strings.Contains(err.Error(), text) {
		t.Errorf("%v, want %s: %s", err, ending, text)
	}
	if ok && (failure.URL == "" || !strings.HasPrefix(failure.Details()[0], "url      http")) {
		t.Errorf("the failure does not name the address: %q", failure.Details())
	}
}

// TestUnreachable proves that a failure of the network names the service and says why (EXEC-9), and what to do.
func TestUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := listener.Addr().String()
	_ = listener.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	open := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(open.Close)
	for _, test := range []struct {
		name, url, text, hint string
		ending                diagnose.Ending
		curable               bool
	}{
		{"refused", "http://" + free, `server "site" is unavailable: connection refused by ` + free, "listens on " + free, diagnose.EndingUnavailable, true},
		{"unknown host", "http://nowhere.invalid/mcp", `the host nowhere.invalid`, "", diagnose.EndingUnavailable, false},
		{"unknown authority", secure.URL, "is signed by", "--cacert FILE", diagnose.EndingUnavailable, false},
		{"plain where TLS is spoken", "http://" + strings.TrimPrefix(secure.URL, "https://"), "HTTP 400", "must begin with https://", diagnose.EndingRefused, false},
		{"TLS where none is spoken", "https://" + strings.TrimPrefix(open.URL, "http://"), "does not use TLS", "must begin with http://", diagnose.EndingUnavailable, false},
		{"no port", "http://127.0.0.1:99999/mcp", "the url has port 99999; the maximum is 65535", "", diagnose.EndingMisconfigured, false},
		{"no address", "localhost:3000/mcp", "the url must begin with https:// or http://", "", diagnose.EndingMisconfigured, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := newRemoteStage(t, plenty, test.url).open()
			var failure *diagnose.Failure
			if !errors.As(err, &failure) || failure.Ending != test.ending || !strings.Contains(err.Error(), test.text) {
				t.Fatalf("%v, want %s: %s", err, test.ending, test.text)
			}
			connect := &ConnectError{Server: "site", Attempts: 1, Last: err}
			if !strings.Contains(connect.Hint(), test.hint) || (failure.Policy() == cause.Transient) != test.curable {
				t.Errorf("hint %q, curable %v", connect.Hint(), failure.Policy())
			}
		})
	}
}

// TestHintsOfHTTP proves that what is advised fits what happened.
func TestHintsOfHTTP(t *testing.T) {
	forbidden := onOpen(plain(403, "text/plain", "no"))
	for _, test := range []struct {
		name    string
		script  func(*site)
		headers map[string]string
		hint    string
	}{
		{"nothing was sent", forbidden, nil, "no credentials were sent"},
		{"it was not enough", forbidden, map[string]string{"X-Key": "k"}, "the credentials are not sufficient"},
		{"redirects in a ring", onOpen(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/again", http.StatusTemporaryRedirect)
		}), nil, "it is a redirect loop: check how the server, or a proxy before it, redirects /mcp"},
		{"a redirect to itself", onOpen(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/mcp", http.StatusFound)
		}), nil, "it is a redirect loop"},
		{"a redirect elsewhere", onOpen(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://other.example/mcp", http.StatusPermanentRedirect)
		}), nil, "use its address as url: http://other.example/mcp"},
		{"sessions that nobody knows", func(s *site) {
			s.head = func(w http.ResponseWriter, _ *http.Request, m siteMessage) bool {
				if m.Header.Get(mcp.HeaderSessionID) != "" {
					w.WriteHeader(http.StatusNotFound)
				}
				return m.Header.Get(mcp.HeaderSessionID) != ""
			}
		}, nil, "servers behind one address must share sessions"},
		{"TLS", onOpen(func(w http.ResponseWriter, _ *http.Request) { raw(w, "\x15\x03\x01\x00\x02\x02\x16") }), nil, "its url must begin with https://"},
		{"a proxy with a password", onOpen(plain(407, "text/plain", "")), nil, "to http://USER:PASSWORD@HOST:PORT"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newRemoteStage(t, plenty, newSite(t, test.script).URL+"/mcp")
			s.dial.Launch.Headers = test.headers
			err := s.open()
			connect := &ConnectError{Server: "site", Attempts: 1, Last: err}
			if err == nil || !strings.Contains(connect.Hint(), test.hint) {
				t.Errorf("%v: hint %q, want %q", err, connect.Hint(), test.hint)
			}
		})
	}
}
