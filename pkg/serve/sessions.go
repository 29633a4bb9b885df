package serve

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// maxSessions limits the sessions of the legacy revisions. Each takes about 15 kB.
const maxSessions = 1000

// httpSessions has the open sessions of the legacy revisions by id. A new one beyond most ends the session that has
// been unused for the longest time. A session also ends after idle without use.
type httpSessions struct {
	most int
	idle time.Duration
	now  func() time.Time
	end  func(id string) // ends a session in the SDK; called without the lock

	mu   sync.Mutex
	open map[string]*httpSession
}

// httpSession is one session.
type httpSession struct {
	busy int // requests that are open
	used time.Time
}

func newHTTPSessions(idle time.Duration) *httpSessions {
	return &httpSessions{
		most: maxSessions, idle: idle, now: time.Now, end: func(string) {}, open: map[string]*httpSession{},
	}
}

// newSession is a reserved place for a session that a request may begin.
type newSession struct {
	id    string
	begun bool
}

type newSessionKey struct{}

// begin reserves a place for a session that the request of ctx may begin; ok is false if all sessions are in use. leave
// must be called after the response.
func (s *httpSessions) begin(ctx context.Context) (placed context.Context, leave func(), ok bool) {
	place := &newSession{id: strings.ToLower(rand.Text())}
	s.sweep()
	s.mu.Lock()
	oldest := s.oldest()
	if len(s.open) >= s.most && oldest == "" {
		s.mu.Unlock()
		return nil, nil, false
	}
	crowded := len(s.open) >= s.most
	if crowded {
		delete(s.open, oldest)
	}
	s.open[place.id] = &httpSession{busy: 1}
	s.mu.Unlock()
	if crowded {
		s.end(oldest)
	}
	used := s.leave(place.id)
	return context.WithValue(ctx, newSessionKey{}, place), func() {
		if used(); !place.begun {
			_, _ = s.Terminate(place.id)
		}
	}, true
}

// oldest returns the id of the session that has been unused for the longest time; empty if all are in use. The
// caller holds the lock.
func (s *httpSessions) oldest() (oldest string) {
	for id, session := range s.open {
		if session.busy == 0 && (oldest == "" || session.used.Before(s.open[oldest].used)) {
			oldest = id
		}
	}
	return oldest
}

// enter marks a session as used until leave is called; ok is false if there is none.
func (s *httpSessions) enter(id string) (leave func(), ok bool) {
	s.sweep()
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.open[id]
	if session == nil {
		return nil, false
	}
	session.busy++
	return s.leave(id), true
}

func (s *httpSessions) leave(id string) func() {
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if session := s.open[id]; session != nil {
			session.busy--
			session.used = s.now()
		}
	}
}

// sweep ends idle sessions.
func (s *httpSessions) sweep() {
	s.mu.Lock()
	var over []string
	for id, session := range s.open {
		if session.busy == 0 && s.now().Sub(session.used) >= s.idle {
			over = append(over, id)
			delete(s.open, id)
		}
	}
	s.mu.Unlock()
	for _, id := range over {
		s.end(id)
	}
}

// endIn returns a function that ends a session in the SDK, which requires a client's request.
func endIn(sdk http.Handler) func(id string) {
	return func(id string) {
		request, err := http.NewRequestWithContext(context.Background(), http.MethodDelete, endpointPath, http.NoBody)
		if err != nil {
			return // the method and the path are constants
		}
		request.Header.Set(mcp.HeaderSessionID, id)
		sdk.ServeHTTP(discardResponse{http.Header{}}, request)
	}
}

// discardResponse is an http.ResponseWriter that discards the response.
type discardResponse struct{ header http.Header }

func (r discardResponse) Header() http.Header         { return r.header }
func (r discardResponse) Write(p []byte) (int, error) { return len(p), nil }
func (r discardResponse) WriteHeader(int)             {}

// ResolveSessionIdManager implements server.SessionIdManagerResolver.
func (s *httpSessions) ResolveSessionIdManager(r *http.Request) server.SessionIdManager {
	if r == nil {
		return sessionsOf{s, nil}
	}
	place, _ := r.Context().Value(newSessionKey{}).(*newSession)
	return sessionsOf{s, place}
}

// sessionsOf is one request's view of the sessions.
type sessionsOf struct {
	*httpSessions
	place *newSession // for the session that it begins, or nil
}

// Generate implements server.SessionIdManager, as do the methods below. The id is random, so that no one can guess it
// (2025-11-25 basic/transports, "Session Management").
func (s sessionsOf) Generate() string {
	if s.place == nil {
		return ""
	}
	s.place.begun = true
	return s.place.id
}

// Validate rejects an unknown session, or one that has ended.
func (s *httpSessions) Validate(id string) (isTerminated bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return id != "" && s.open[id] == nil, nil
}

// Terminate ends a session.
func (s *httpSessions) Terminate(id string) (isNotAllowed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
	return false, nil
}
