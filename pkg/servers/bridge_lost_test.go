package servers

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// TestBridgeRenewalIsCut proves that a session whose renewal the network cuts is renewed by the next request.
func TestBridgeRenewalIsCut(t *testing.T) {
	var forgotten atomic.Bool
	var cuts atomic.Int32
	site := newSite(t, func(s *site) {
		s.annotations = `{"readOnlyHint":true}`
		s.head = func(w http.ResponseWriter, _ *http.Request, m siteMessage) bool {
			session := m.Header.Get("Mcp-Session-Id")
			switch {
			case m.Method == "initialize" && (session != "" || m.Header.Get("Mcp-Protocol-Version") != ""):
				http.Error(w, "initialize names a session", http.StatusBadRequest)
			case m.Method == "initialize" && forgotten.Load() && cuts.Add(-1) >= 0:
				panic(http.ErrAbortHandler)
			case m.Method == "initialize" || m.Verb == http.MethodGet:
				return false
			case session == "":
				http.Error(w, "Bad Request: No valid session ID provided", http.StatusBadRequest)
			case forgotten.Load() && session == "session-1":
				w.WriteHeader(http.StatusNotFound)
			default:
				return false
			}
			return true
		}
	})
	b := newBridged(t, site.URL+"/mcp", nil)
	b.olderClient("{}")
	b.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	b.wantParts(`"id":1,"result"`)
	cuts.Store(100)
	forgotten.Store(true)
	b.send(`{"jsonrpc":"2.0","id":2,` + call + `}}`)
	b.wantParts(`"id":2,"error"`)
	cuts.Store(0)
	b.send(`{"jsonrpc":"2.0","id":3,` + call + `}}`)
	b.wantParts(`"id":3,"result"`)
}

// TestBridgeHalfAResponse proves that a response of JSON that is cut off counts as lost: what may be repeated is.
func TestBridgeHalfAResponse(t *testing.T) {
	for _, repeatable := range []bool{true, false} {
		var lost atomic.Bool
		site := newSite(t, func(s *site) {
			s.annotations = fmt.Sprintf(`{"readOnlyHint":%t}`, repeatable)
			s.call = func(w http.ResponseWriter, _ *http.Request, m siteMessage) {
				if !lost.Swap(true) {
					w.Header().Set("Content-Length", "1000")
					respond(w, m, `{"content":[]}`)
					w.(http.Flusher).Flush()
					panic(http.ErrAbortHandler)
				}
				respond(w, m, `{"content":[]}`)
			}
		})
		b := newBridged(t, site.URL+"/mcp", nil)
		b.olderClient("{}")
		b.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		b.wantParts(`"says <it>"`)
		b.send(`{"jsonrpc":"2.0","id":2,` + call + `}}`)
		want := map[bool]int{true: 2, false: 1}[repeatable]
		if repeatable {
			b.wantParts(`"id":2,"result"`)
		} else {
			b.wantParts(`"id":2,"error"`, "outcome is unknown")
		}
		if sent := len(site.seen("tools/call")); sent != want {
			t.Errorf("repeatable %t: the call was sent %d times", repeatable, sent)
		}
	}
}

// TestBridgeAnswerIsLost proves that an answer of the client that the network loses is sent again: its server waits.
func TestBridgeAnswerIsLost(t *testing.T) {
	var lost atomic.Bool
	answered := make(chan string, 2)
	site := newSite(t, func(s *site) {
		s.head = func(w http.ResponseWriter, _ *http.Request, m siteMessage) bool {
			if !strings.Contains(m.Text, `"action":"decline"`) {
				return false
			}
			if !lost.Swap(true) {
				panic(http.ErrAbortHandler)
			}
			answered <- m.Text
			w.WriteHeader(http.StatusAccepted)
			return true
		}
		s.call = func(w http.ResponseWriter, r *http.Request, m siteMessage) {
			eventStream(w, `data: {"jsonrpc":"2.0","id":"ask","method":"elicitation/create","params":{}}`+"\n\n")
			select {
			case <-answered:
				eventStream(w, "data: "+hi(m)+"\n\n")
			case <-r.Context().Done():
			}
		}
	})
	b := newBridged(t, site.URL+"/mcp", nil)
	b.olderClient(`{"elicitation":{}}`)
	b.send(`{"jsonrpc":"2.0","id":1,` + call + `}}`)
	b.wantParts(`"id":0,"method":"elicitation/create"`)
	b.send(`{"jsonrpc":"2.0","id":0,"result":{"action":"decline"}}`)
	b.wantParts(`"id":1`, `"text":"hi"`)
}

// TestBridgeRequestDuringRenewal proves that a request which comes while a session is renewed is served by the new one.
func TestBridgeRequestDuringRenewal(t *testing.T) {
	var forgotten atomic.Bool
	renewing, came := make(chan struct{}), make(chan struct{})
	site := newSite(t, func(s *site) {
		s.annotations = `{"readOnlyHint":true}`
		s.head = func(w http.ResponseWriter, _ *http.Request, m siteMessage) bool {
			session := m.Header.Get("Mcp-Session-Id")
			switch {
			case m.Method == "initialize" && forgotten.Load():
				close(renewing)
				<-came
			case m.Method != "tools/call":
			case session == "":
				close(came)
				http.Error(w, "Bad Request: No valid session ID provided", http.StatusBadRequest)
				return true
			case session == "session-1":
				if strings.Contains(m.Text, `"second"`) {
					close(came)
				}
				w.WriteHeader(http.StatusNotFound)
				return true
			}
			return false
		}
	})
	b := newBridged(t, site.URL+"/mcp", nil)
	b.olderClient("{}")
	b.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	b.wantParts(`"id":1,"result"`)
	forgotten.Store(true)
	b.send(`{"jsonrpc":"2.0","id":2,` + call + `}}`)
	<-renewing
	b.send(`{"jsonrpc":"2.0","id":3,` + call + `,"second":1}}`)
	both := b.receive() + b.receive()
	for _, part := range []string{`"id":2,"result"`, `"id":3,"result"`} {
		if !strings.Contains(both, part) {
			t.Errorf("the client receives %s\nwhich lacks %s", both, part)
		}
	}
}
