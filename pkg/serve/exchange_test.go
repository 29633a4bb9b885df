package serve

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toolx/pkg/words"
)

// Ids come back as they were written, whatever the SDK made of them.
func TestRestoreID(t *testing.T) {
	long := strings.Repeat("x", 2*maxErrorText)
	for message, test := range map[string]struct{ id, want string }{
		`{"jsonrpc":"2.0","id":1.2345678901234567e+19,"result":{"a":1e400}}` + "\n": {`12345678901234567890`, `{"jsonrpc":"2.0","id":12345678901234567890,"result":{"a":1e400}}` + "\n"},
		`{"jsonrpc":"2.0","id":"a\u003e","result":{}}`:                              {`"a>"`, `{"jsonrpc":"2.0","id":"a>","result":{}}`},
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"` + long + `"}}`: {`1`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"` + words.Clip(long, maxErrorText) + `"}}` + "\n"},
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`:        {``, `{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}` + "\n"},
		`no message`: {`1`, `no message`},
	} {
		if got := string(restoreID([]byte(message), []byte(test.id), nil)); got != test.want {
			t.Errorf("%s\nwant %s", got, test.want)
		}
	}
}

// A call over the limit is refused, one that has ended makes room, and what fails inside is answered.
func TestExchangeRoom(t *testing.T) {
	begun, end := make(chan bool), make(chan bool)
	x := &exchange{
		sdk: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			begun <- true
			if <-end {
				panic("inside")
			}
		}),
		sessions: newHTTPSessions(sessionTime),
		limit:    1000,
		bodies:   newBodies(1000),
		room:     make(chan struct{}, 1),
		warn:     func(string) {},
	}
	ask := func(method string) *httptest.ResponseRecorder {
		recorder := httptest.NewRecorder()
		body := strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"` + method + `"}`)
		x.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, "/mcp", body))
		return recorder
	}
	answered := make(chan *httptest.ResponseRecorder)
	for range 2 {
		go func() { answered <- ask("tools/call") }()
		<-begun
		if r := ask("tools/call"); r.Code != http.StatusServiceUnavailable || !strings.Contains(r.Body.String(), `"id":7,"error":{"code":-32603,"message":"1000 calls are open`) {
			t.Errorf("%d %s", r.Code, r.Body)
		}
		go func() { answered <- ask("tools/list") }()
		<-begun
		end <- false
		<-answered
		end <- true
		<-answered
	}
	go func() { answered <- ask("tools/call") }()
	<-begun
	end <- true
	if r := <-answered; r.Code != http.StatusInternalServerError || !strings.Contains(r.Body.String(), `"id":7,"error":{"code":-32603,"message":"internal error of toolx"`) {
		t.Errorf("%d %s", r.Code, r.Body)
	}
}

// What is no exchange of MCP is refused by its own name.
func TestExchangeRefusals(t *testing.T) {
	x := &exchange{
		sdk: http.NotFoundHandler(), sessions: newHTTPSessions(sessionTime), limit: 1 << 20,
		bodies: newBodies(1 << 20),
		room:   make(chan struct{}, 1), warn: func(string) {},
	}
	for _, test := range []struct {
		method, body string
		code         int
		want         string
	}{
		{http.MethodPut, `{}`, http.StatusMethodNotAllowed, "MCP has no PUT\n"},
		{http.MethodPost, " \n[]", http.StatusBadRequest, "batches are not supported"},
		{http.MethodPost, `{"id":7,"method":"` + strings.Repeat("x", 2*maxPart) + `"}`, http.StatusBadRequest, `"id":7,"error":{"code":-32600,`},
	} {
		answer := httptest.NewRecorder()
		x.ServeHTTP(answer, httptest.NewRequest(test.method, "/mcp", strings.NewReader(test.body)))
		if answer.Code != test.code || !strings.Contains(answer.Body.String(), test.want) {
			t.Errorf("%s %s: %d %s", test.method, test.body, answer.Code, answer.Body)
		}
		allow := answer.Header().Get("Allow")
		if (allow == "GET, POST, DELETE") != (test.code == http.StatusMethodNotAllowed) {
			t.Errorf("%s: Allow: %q", test.method, allow)
		}
	}
}

// What the SDK has read of a message is not kept.
func TestOnceReader(t *testing.T) {
	r := &onceReader{bytes.NewReader([]byte("message"))}
	if read, err := io.ReadAll(r); string(read) != "message" || err != nil || r.Size() != 0 {
		t.Errorf("%s, %v; %d bytes are kept", read, err, r.Size())
	}
}
