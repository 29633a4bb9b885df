//go:build unix

package attack_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// sites are attacks by servers over HTTP.
func sites(t *testing.T) []attack {
	bomb := packed(512 << 20)
	var attacks []attack
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request, id json.RawMessage){
		"101 as the answer": func(w http.ResponseWriter, _ *http.Request, _ json.RawMessage) {
			hijack(w, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", nil)
		},
		"headers without an end": func(w http.ResponseWriter, _ *http.Request, _ json.RawMessage) {
			hijack(w, "HTTP/1.1 200 OK\r\n", []byte("X-A: "+strings.Repeat("a", 1000)+"\r\n"))
		},
		"100 Continue without an end": func(w http.ResponseWriter, _ *http.Request, _ json.RawMessage) {
			hijack(w, "", []byte("HTTP/1.1 103 Early Hints\r\nX-A: b\r\n\r\n"))
		},
		"a body that drips": func(w http.ResponseWriter, r *http.Request, _ json.RawMessage) {
			w.Header().Set("Content-Type", "application/json")
			drip(w, r, []byte(" "), 10*time.Millisecond)
		},
		"a body without an end": func(w http.ResponseWriter, r *http.Request, _ json.RawMessage) {
			w.Header().Set("Content-Type", "application/json")
			drip(w, r, bytes.Repeat([]byte("[1],"), 16<<10), 0)
		},
		"a line of events without an end": func(w http.ResponseWriter, r *http.Request, _ json.RawMessage) {
			w.Header().Set("Content-Type", "text/event-stream")
			drip(w, r, append([]byte("data: "), bytes.Repeat([]byte("a"), 64<<10)...), 0)
		},
		"events without an end": func(w http.ResponseWriter, r *http.Request, _ json.RawMessage) {
			w.Header().Set("Content-Type", "text/event-stream")
			drip(w, r, []byte("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n"), 0)
		},
		"a gzip bomb": func(w http.ResponseWriter, _ *http.Request, _ json.RawMessage) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb) // the other side has gone
		},
		"redirects without an end": func(w http.ResponseWriter, r *http.Request, _ json.RawMessage) {
			http.Redirect(w, r, r.URL.Path+"x", http.StatusTemporaryRedirect)
		},
		"pages of 3 MB without an end": func(w http.ResponseWriter, _ *http.Request, id json.RawMessage) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"t%d","description":%q,"inputSchema":{}}],"nextCursor":"%d"}}`,
				id, time.Now().UnixNano(), strings.Repeat("a", 3<<20), time.Now().UnixNano())
		},
		"an error of 10 MB": func(w http.ResponseWriter, _ *http.Request, id json.RawMessage) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%q}}`, id, strings.Repeat("no ", 3<<20))
		},
	} {
		site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var request struct {
				ID     json.RawMessage `json:"id"`
				Method string          `json:"method"`
			}
			body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
			_ = json.Unmarshal(body, &request) // a GET has none
			handshake(w, r, request.Method, request.ID, answer)
		}))
		t.Cleanup(site.CloseClientConnections)
		for verb, args := range map[string][]string{
			"list": {"list", "--start-timeout", "10s", "--retries", "0"},
			"call": {"call", "x", "--timeout", "5s", "--start-timeout", "10s", "--retries", "0"},
		} {
			attacks = append(attacks,
				attack{name: verb + " over HTTP: " + name, args: append(args, "--url", site.URL+"/mcp")})
		}
	}
	return attacks
}

// handshake answers as a good server of revision 2025-11-25 up to the list of its tools.
func handshake(
	w http.ResponseWriter, r *http.Request, method string, id json.RawMessage,
	answer func(w http.ResponseWriter, r *http.Request, id json.RawMessage),
) {
	switch {
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case method == "server/discover":
		w.WriteHeader(http.StatusBadRequest)
	case method == "initialize":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`, id)
	case strings.HasPrefix(method, "notifications/"):
		w.WriteHeader(http.StatusAccepted)
	default:
		answer(w, r, id)
	}
}

// drip writes a chunk again and again until the other side has gone, at most 2 GB.
func drip(w http.ResponseWriter, r *http.Request, chunk []byte, pause time.Duration) {
	for sent := 0; sent < 2<<30 && r.Context().Err() == nil; sent += len(chunk) {
		if _, err := w.Write(chunk); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush() // the next write fails as well
		if pause > 0 {
			time.Sleep(pause)
		}
	}
}

// hijack writes to the bare connection: the beginning once, and then a chunk for as long as
// the other side takes it, at most two minutes.
func hijack(w http.ResponseWriter, begin string, chunk []byte) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(2 * mostTime))
	if _, err := io.WriteString(conn, begin); err != nil {
		return
	}
	for sent := 0; chunk != nil && sent < 1<<30; sent += len(chunk) {
		if _, err := conn.Write(chunk); err != nil {
			return
		}
	}
	_, _ = io.Copy(io.Discard, conn) // until the other side closes it
}

// packed is so many bytes of spaces as gzip.
func packed(size int) []byte {
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	chunk := bytes.Repeat([]byte(" "), 1<<20)
	for range size >> 20 {
		_, _ = writer.Write(chunk) // into memory
	}
	_ = writer.Close()
	return out.Bytes()
}
