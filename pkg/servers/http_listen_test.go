package servers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/serverstest"
)

// listening opens a session and listens as watch does; the end is what Listen returns.
func listening(t *testing.T, site *site, uris ...string) (s *stage, ended <-chan error, stop context.CancelFunc) {
	t.Helper()
	s = newRemoteStage(t, plenty, site.URL)
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	end, ready := make(chan error, 1), make(chan struct{})
	go func() { end <- s.session.Listen(ctx, protocol.Interest{URIs: uris}, func() { close(ready) }) }()
	<-ready
	return s, end, stop
}

// onGet scripts the standing stream: get is told how often it was asked for.
func onGet(get func(w http.ResponseWriter, r *http.Request, asked int)) func(*site) {
	return func(s *site) {
		var asked atomic.Int32
		s.head = func(w http.ResponseWriter, r *http.Request, m siteMessage) bool {
			if m.Verb == http.MethodGet {
				get(w, r, int(asked.Add(1)))
			}
			return m.Verb == http.MethodGet
		}
	}
}

// hold keeps a stream open until its reader has gone.
func hold(w http.ResponseWriter, r *http.Request) {
	eventStream(w, ": here\n\n")
	<-r.Context().Done()
}

// TestStandingStreamIsOpenedAgain proves that what cuts the standing stream off does not
// end what toolx hears: it is opened again as often as it ends, and -v says so.
func TestStandingStreamIsOpenedAgain(t *testing.T) {
	const soon = "retry: 10\n\n"
	for name, get := range map[string]func(w http.ResponseWriter, asked int){
		"it ends at once": func(w http.ResponseWriter, _ int) { eventStream(w, soon) },
		"events without ids": func(w http.ResponseWriter, _ int) {
			eventStream(w, soon+"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n")
		},
		"a gateway in between":  func(w http.ResponseWriter, asked int) { badEverySecond(w, asked, soon, http.StatusBadGateway) },
		"two streams at a time": func(w http.ResponseWriter, asked int) { badEverySecond(w, asked, soon, http.StatusConflict) },
		"it hangs up": func(w http.ResponseWriter, asked int) {
			eventStream(w, soon)
			if asked%2 == 0 {
				panic(http.ErrAbortHandler)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			standing := make(chan struct{})
			site := newSite(t, onGet(func(w http.ResponseWriter, r *http.Request, asked int) {
				if asked <= 6 {
					get(w, asked)
					return
				}
				close(standing)
				hold(w, r)
			}))
			s, ended, stop := listening(t, site)
			<-standing
			stop()
			if err := <-ended; !errors.Is(err, context.Canceled) || s.session.Err() != nil {
				t.Errorf("%v, %v", err, s.session.Err())
			}
			told := serverstest.Of[exec.Notice](s.events)
			again := slices.ContainsFunc(told, func(n exec.Notice) bool {
				return strings.Contains(n.Text, `server "site" ended the standing stream; toolx opens it again in 10ms`)
			})
			if !again {
				t.Errorf("told: %v", told)
			}
		})
	}
}

// TestStandingStreamEndsWithTheSession proves that nothing is told of a stream that a server
// ends because toolx has ended the session.
func TestStandingStreamEndsWithTheSession(t *testing.T) {
	t.Parallel()
	listens, over := make(chan struct{}), make(chan struct{})
	site := newSite(t, func(s *site) {
		s.head = func(w http.ResponseWriter, r *http.Request, m siteMessage) bool {
			switch m.Verb {
			case http.MethodGet:
				eventStream(w, ": here\n\n")
				close(listens)
				<-over
			case http.MethodDelete:
				close(over)
				<-r.Context().Done() // the end of the stream is seen meanwhile
			default:
				return false
			}
			return true
		}
	})
	s := newRemoteStage(t, plenty, site.URL)
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	<-listens
	s.session.Close(context.Background())
	for _, notice := range serverstest.Of[exec.Notice](s.events) {
		if strings.Contains(notice.Text, "standing stream") {
			t.Error(notice.Text)
		}
	}
}

// badEverySecond opens the stream for a moment, or refuses it.
func badEverySecond(w http.ResponseWriter, asked int, text string, status int) {
	if asked%2 == 0 {
		w.WriteHeader(status)
		return
	}
	eventStream(w, text)
}

// TestStandingStreamOfAServerThatIsGone proves that a server which the network no longer
// leads to ends the session, with the reason.
func TestStandingStreamOfAServerThatIsGone(t *testing.T) {
	leave := make(chan struct{})
	site := newSite(t, onGet(func(w http.ResponseWriter, r *http.Request, _ int) {
		eventStream(w, "retry: 10\n\n")
		<-leave
	}))
	s, ended, _ := listening(t, site)
	_ = site.Listener.Close()
	site.Config.SetKeepAlivesEnabled(false) // a connection that was accepted all the same serves one request
	close(leave)
	site.CloseClientConnections()
	err := <-ended
	var failure *diagnose.Failure
	if !errors.As(err, &failure) || failure.Ending != diagnose.EndingGone ||
		fault.KindOf(err) != fault.KindProtocol {
		t.Fatalf("%v", err)
	}
	host := strings.TrimPrefix(site.URL, "http://")
	if want := fmt.Sprintf(`server "site" is no longer reachable: connection refused by %s`, host); err.Error() != want || !strings.Contains(fault.HintOf(err), host) {
		t.Errorf("%v (%s), want %s", err, fault.HintOf(err), want)
	}
	if s.session.Err() == nil {
		t.Error("the session stands")
	}
}

// TestStandingStreamOfANewSession proves that a server which has begun anew is followed
// there, with all that it had been asked to tell.
func TestStandingStreamOfANewSession(t *testing.T) {
	asked, done := make(chan struct{}), make(chan struct{})
	site := newSite(t, func(s *site) {
		s.head = func(w http.ResponseWriter, r *http.Request, m siteMessage) bool {
			old := m.Header.Get("Mcp-Session-Id") == "session-1"
			switch {
			case m.Verb == http.MethodGet && old && len(s.seen(http.MethodGet)) == 1:
				eventStream(w, "retry: 10\n\n")
				<-asked // the session ends when it has been asked for all
			case m.Verb == http.MethodGet && !old:
				hold(w, r)
			case m.Verb == http.MethodGet, m.Method == "ping" && old:
				http.Error(w, "Session not found", http.StatusNotFound)
			case m.Method == "ping", m.Method == "logging/setLevel", m.Method == "resources/subscribe",
				m.Method == "resources/unsubscribe":
				respond(w, m, "{}")
				switch {
				case m.Method != "resources/subscribe":
				case old:
					close(asked)
				default:
					close(done)
				}
			default:
				return false
			}
			return true
		}
	})
	s := newRemoteStage(t, plenty, site.URL)
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if err := s.session.SetLevel(ctx, "debug"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- s.session.Listen(ctx, protocol.Interest{URIs: []string{"a:b"}}, func() {}) }()
	<-done
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, method := range []string{"logging/setLevel", "resources/subscribe"} {
		var sessions []string
		for _, m := range site.seen(method) {
			sessions = append(sessions, m.Header.Get("Mcp-Session-Id"))
		}
		if !slices.Equal(sessions, []string{"session-1", "session-2"}) {
			t.Errorf("%s in sessions %q", method, sessions)
		}
	}
}

// TestNoStandingStream proves that who listens is told of a server that has no such
// stream, or gives it no more, and that the session stands all the same.
func TestNoStandingStream(t *testing.T) {
	for _, test := range []struct {
		name string
		get  func(w http.ResponseWriter, asked int)
		text string
	}{
		{"none", func(w http.ResponseWriter, _ int) { w.WriteHeader(http.StatusMethodNotAllowed) }, "does not offer the GET stream"},
		{"a page", func(w http.ResponseWriter, _ int) { _, _ = io.WriteString(w, page) }, "does not offer the GET stream"},
		{"it fails whenever it is asked", func(w http.ResponseWriter, _ int) { w.WriteHeader(http.StatusInternalServerError) }, "does not offer the GET stream"},
		{"no more", func(w http.ResponseWriter, asked int) {
			if asked == 1 {
				eventStream(w, "retry: 10\n\n")
				return
			}
			w.WriteHeader(http.StatusMethodNotAllowed)
		}, "no longer offers the standing stream"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			site := newSite(t, onGet(func(w http.ResponseWriter, _ *http.Request, asked int) { test.get(w, asked) }))
			told := make(chan struct{}, 8)
			s := newRemoteStage(t, plenty, site.URL)
			s.dial.Bus.Subscribe(func(event exec.Event) {
				if n, ok := event.(exec.Notice); ok && strings.Contains(n.Text, test.text) {
					told <- struct{}{}
				}
			})
			if err := s.open(); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(context.Background())
			ended := make(chan error)
			go func() { ended <- s.session.Listen(ctx, protocol.Interest{}, func() {}) }()
			<-told
			stop()
			if err := <-ended; !errors.Is(err, context.Canceled) || s.session.Err() != nil {
				t.Errorf("%v, %v", err, s.session.Err())
			}
			if result := s.call("site__echo", "{}"); !result.Success {
				t.Error(result.Err)
			}
		})
	}
}

// TestStreamOfSubscriptionsIsAskedForAgain proves the same of 2026-07-28, where the stream is the answer to a request:
// one that is cut off is asked for again, and a server that is gone ends it.
func TestStreamOfSubscriptionsIsAskedForAgain(t *testing.T) {
	for name, test := range map[string]struct {
		cuts int // of the stream, before it is answered
		text string
		asks int
	}{
		"cut off twice":  {2, "", 3},
		"cut off always": {99, "the server ended the stream before it", 4},
	} {
		t.Run(name, func(t *testing.T) {
			site := newSite(t, func(s *site) {
				s.modern = true
				s.head = func(w http.ResponseWriter, _ *http.Request, m siteMessage) bool {
					switch {
					case m.Method != "subscriptions/listen":
						return false
					case len(s.seen(m.Method)) <= test.cuts:
						eventStream(w, ": here\n\n")
					default:
						respond(w, m, "{}")
					}
					return true
				}
			})
			s := newRemoteStage(t, plenty, site.URL)
			if err := s.open(); err != nil {
				t.Fatal(err)
			}
			err := s.session.Listen(context.Background(), protocol.Interest{Tools: true}, func() {})
			if test.text == "" && err != nil ||
				test.text != "" && (err == nil || !strings.Contains(err.Error(), test.text)) {
				t.Errorf("%v, want %q", err, test.text)
			}
			if asks := len(site.seen("subscriptions/listen")); asks != test.asks {
				t.Errorf("asked %d times, want %d", asks, test.asks)
			}
		})
	}
	t.Run("gone", func(t *testing.T) {
		site := newSite(t, func(s *site) {
			s.modern = true
			s.head = func(w http.ResponseWriter, _ *http.Request, m siteMessage) bool {
				if m.Method == "subscriptions/listen" {
					_ = s.Listener.Close()
					w.Header().Set("Connection", "close")
					eventStream(w, ": here\n\n")
				}
				return m.Method == "subscriptions/listen"
			}
		})
		s := newRemoteStage(t, plenty, site.URL)
		if err := s.open(); err != nil {
			t.Fatal(err)
		}
		err := s.session.Listen(context.Background(), protocol.Interest{Tools: true}, func() {})
		var failure *diagnose.Failure
		if !errors.As(err, &failure) || failure.Ending != diagnose.EndingGone ||
			fault.KindOf(err) != fault.KindProtocol {
			t.Errorf("%v", err)
		}
	})
}
