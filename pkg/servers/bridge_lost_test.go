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

// newerStream answers subscriptions/listen: it acknowledges, and leaves the stream open.
func newerStream(w http.ResponseWriter, m siteMessage, events ...string) {
	mark := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/subscriptionId":%s}`, m.ID)
	eventStream(w, `data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{`+mark+
		`,"notifications":{}}}`+"\n\n")
	for _, method := range events {
		eventStream(w, fmt.Sprintf(`data: {"jsonrpc":"2.0","method":%q,"params":{%s}}`, method, mark)+"\n\n")
	}
}

// TestBridgeListensAgain proves that a client gets notifications after the stream of a server of 2026-07-28 has ended,
// or was cut, whatever the client's era.
func TestBridgeListensAgain(t *testing.T) {
	for _, how := range []string{"ended", "cut", "cut often"} {
		for _, modern := range []bool{false, true} {
			if modern && how != "cut" { // else it gets the response, and asks again itself
				continue
			}
			t.Run(fmt.Sprintf("%s, a newer client %t", how, modern), func(t *testing.T) {
				var streams atomic.Int32
				site := newSite(t, func(s *site) {
					s.modern = true
					s.head = func(w http.ResponseWriter, r *http.Request, m siteMessage) bool {
						switch {
						case m.Method == "server/discover":
							respond(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"site","version":"1"}}}`)
							return true
						case m.Method != "subscriptions/listen":
							return false
						}
						n := streams.Add(1)
						switch {
						case n == 1 && how == "ended":
							newerStream(w, m)
							eventStream(w, fmt.Sprintf(`data: {"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete"}}`, m.ID)+"\n\n")
						case n == 1 || n < 8 && how == "cut often":
							newerStream(w, m)
							panic(http.ErrAbortHandler)
						default:
							newerStream(w, m, "notifications/tools/list_changed")
							<-r.Context().Done()
						}
						return true
					}
				})
				b := newBridged(t, site.URL+"/mcp", nil)
				if modern {
					b.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + newerMeta("{}") + `}}`)
					b.wantParts(`subscriptions/acknowledged`, `subscriptionId":1`)
					b.wantParts(`subscriptions/acknowledged`, `subscriptionId":1`)
					b.wantParts(`tools/list_changed`, `subscriptionId":1`)
					return
				}
				b.send(`{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-06-18",` +
					`"capabilities":{},"clientInfo":{"name":"older","version":"1"}}}`)
				b.wantParts(`"id":"first"`)
				b.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				b.wantParts(`tools/list_changed`)
			})
		}
	}
}

// TestBridgeSubscribesInTime proves that a client of the older era gets the response to resources/subscribe only when a
// server of 2026-07-28 sends the updates, and then gets them.
func TestBridgeSubscribesInTime(t *testing.T) {
	var listens atomic.Bool
	site := newSite(t, func(s *site) {
		s.modern = true
		s.head = func(w http.ResponseWriter, r *http.Request, m siteMessage) bool {
			if m.Method != "subscriptions/listen" {
				return false
			}
			listens.Store(true)
			newerStream(w, m, "notifications/resources/updated")
			<-r.Context().Done()
			return true
		}
	})
	b := newBridged(t, site.URL+"/mcp", nil)
	b.olderClient("{}")
	b.send(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"x://a"}}`)
	both := ""
	for !strings.Contains(both, `"id":1`) {
		both += b.receive()
	}
	if !listens.Load() {
		t.Errorf("the client receives %s before the server was asked", both)
	}
	if !strings.Contains(both, "resources/updated") {
		b.wantParts("resources/updated")
	}
	b.send(`{"jsonrpc":"2.0","id":2,"method":"resources/unsubscribe","params":{"uri":"x://a"}}`)
	b.wantParts(`"id":2,"result":{}`) // there is nothing to listen to any more
}

// TestBridgeStreams proves what the streams of a client of 2026-07-28 get from a server of the older era: what they ask
// for, several at once, until they are cancelled, also in the session that follows one that was forgotten.
func TestBridgeStreams(t *testing.T) {
	var session atomic.Int32
	push, pushAgain := make(chan string), make(chan string) // in the first session, and after it
	asked := make(chan string, 100)
	site := newSite(t, func(s *site) {
		s.head = func(w http.ResponseWriter, r *http.Request, m siteMessage) bool {
			id := m.Header.Get("Mcp-Session-Id")
			switch {
			case m.Method == "initialize":
				session.Add(1)
				return false
			case id != "" && id != fmt.Sprintf("session-%d", session.Load()):
				w.WriteHeader(http.StatusNotFound)
			case m.Verb == http.MethodGet:
				eventStream(w, ": open\n\n")
				texts := push
				if id != "session-1" {
					texts = pushAgain
				}
				for {
					select {
					case text := <-texts:
						eventStream(w, "data: "+text+"\n\n")
					case <-r.Context().Done():
						return true
					}
				}
			case strings.HasSuffix(m.Method, "subscribe"):
				asked <- id + " " + m.Method + " " + string(m.Params)
				respond(w, m, "{}")
			default:
				return false
			}
			return true
		}
	})
	b := newBridged(t, site.URL+"/mcp", nil)
	wantAsked := func(want string) {
		t.Helper()
		if got := <-asked; got != want {
			t.Errorf("the server is asked %s, want %s", got, want)
		}
	}
	listen := func(id int, filter string) {
		b.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"subscriptions/listen","params":{"notifications":%s,%s}}`, id, filter, newerMeta("{}")))
		b.wantParts("subscriptions/acknowledged", fmt.Sprintf(`subscriptionId":%d`, id))
	}
	listen(1, `{"toolsListChanged":true,"resourceSubscriptions":["x://a"]}`)
	wantAsked(`session-1 resources/subscribe {"uri":"x://a"}`)
	listen(2, `{"promptsListChanged":true,"resourceSubscriptions":["x://a","x://b"]}`)
	wantAsked(`session-1 resources/subscribe {"uri":"x://b"}`)
	push <- `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	b.wantParts("tools/list_changed", `subscriptionId":1`)
	push <- `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`
	b.wantParts("prompts/list_changed", `subscriptionId":2`)
	push <- `{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}` // nobody asked
	push <- `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x://a"}}`
	both := b.wantParts("resources/updated") + b.wantParts("resources/updated")
	if !strings.Contains(both, `subscriptionId":1`) || !strings.Contains(both, `subscriptionId":2`) {
		t.Errorf("the streams get %s", both)
	}
	b.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	wantAsked(`session-1 resources/unsubscribe {"uri":"x://b"}`)

	session.Add(1) // the server forgets the session
	site.mu.Lock()
	site.session++
	site.mu.Unlock()
	b.send(`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{` + newerMeta("{}") + `}}`)
	b.wantParts(`"id":3,"result"`, `"resultType":"complete"`)
	wantAsked(`session-3 resources/subscribe {"uri":"x://a"}`)
	pushAgain <- `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x://a"}}`
	b.wantParts("resources/updated", `subscriptionId":1`)
}

// TestBridgeInputOfLists proves that a list never asks a client of 2026-07-28 for input, which only the results of
// calls, prompts and resources may: a server that asks meanwhile gets an error.
func TestBridgeInputOfLists(t *testing.T) {
	answered := make(chan string, 1)
	site := newSite(t, func(s *site) {
		s.head = func(w http.ResponseWriter, _ *http.Request, m siteMessage) bool {
			switch {
			case m.Method == "" && m.ID != nil:
				w.WriteHeader(http.StatusAccepted)
				answered <- m.Text
			case m.Method == "tools/list":
				eventStream(w, `data: {"jsonrpc":"2.0","id":"ask","method":"roots/list"}`+"\n\n")
				eventStream(w, fmt.Sprintf(`data: {"jsonrpc":"2.0","id":%s,"result":{"tools":[],"answer":%q}}`, m.ID,
					<-answered)+"\n\n")
			default:
				return false
			}
			return true
		}
	})
	b := newBridged(t, site.URL+"/mcp", nil)
	b.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + newerMeta(`{"roots":{}}`) + `}}`)
	b.wantParts(`"id":1`, `"tools":[]`, `-32601`)
}

// TestBridgeLeavesOutTools proves that a list has no tools with invalid x-mcp-header annotations: toolx is the server's
// client over HTTP, which must reject them, and the client on stdio need not know the annotation.
func TestBridgeLeavesOutTools(t *testing.T) {
	site := newSite(t, func(s *site) {
		s.modern = true
		s.head = func(w http.ResponseWriter, _ *http.Request, m siteMessage) bool {
			if m.Method != "tools/list" {
				return false
			}
			tool := `{"name":%q,"inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":%q}}}}`
			respond(w, m, fmt.Sprintf(`{"resultType":"complete","tools":[`+tool+`,`+tool+`]}`, "good", "A", "bad", ""))
			return true
		}
	})
	b := newBridged(t, site.URL+"/mcp", nil)
	b.olderClient("{}")
	b.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if got := b.wantParts(`"id":1`, `"name":"good"`); strings.Contains(got, `"bad"`) {
		t.Errorf("the client receives %s", got)
	}
}
