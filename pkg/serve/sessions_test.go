package serve

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// begun begins a session, as the SDK does, and returns its id and what ends the request.
func begun(t *testing.T, s *httpSessions) (id string, leave func()) {
	t.Helper()
	ctx, leave, ok := s.begin(t.Context())
	if !ok {
		t.Fatal("there is no room for a session")
	}
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", nil)
	return s.ResolveSessionIdManager(request).Generate(), leave
}

// Sessions are no more than the limit, the one goes that was not used for the longest time,
// and each ends when it was not used for too long. One in use stays.
func TestSessionsAreBounded(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	var ended []string
	s := newHTTPSessions(time.Minute)
	s.most, s.now = 3, func() time.Time { return now }
	s.end = func(id string) { ended = append(ended, id) }
	var ids []string
	for range 3 {
		id, leave := begun(t, s)
		leave()
		ids = append(ids, id)
		now = now.Add(time.Second)
	}
	leave, ok := s.enter(ids[0])
	if !ok {
		t.Fatal("a session is lost")
	}
	fourth, leaveFourth := begun(t, s)
	if !slices.Equal(ended, ids[1:2]) || len(s.open) != 3 {
		t.Errorf("%q have ended, of %q; %d are open", ended, ids, len(s.open))
	}
	leaveThird, _ := s.enter(ids[2])
	if _, _, ok := s.begin(t.Context()); ok {
		t.Error("there is room although all are in use")
	}
	now = now.Add(time.Hour)
	leaveThird()
	leaveFourth()
	now = now.Add(59 * time.Second)
	if _, gone := s.enter(ids[1]); gone {
		t.Error("a session that has ended is used")
	}
	now = now.Add(time.Second)
	s.sweep()
	want := []string{ids[1], ids[2], fourth}
	if len(ended) != 3 || !slices.Contains(ended, fourth) || !slices.Contains(ended, ids[2]) {
		t.Errorf("%q have ended, want %q", ended, want)
	}
	leave()
	_, unused, _ := s.begin(t.Context()) // of a request that begins none after all
	if unused(); len(s.open) != 1 {
		t.Errorf("%d are open, want that in use alone", len(s.open))
	}
}

// A message waits for a slot before it is read, by its size, and is refused in the end; a
// small one is never held up by large ones. A large one holds its slot until it is answered.
func TestBodiesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 4 << 20
		b := newBodies(limit)
		take := func(size int) (done func(), err error) {
			content := strings.NewReader(strings.Repeat("x", size))
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", content)
			body, done, err := b.read(httptest.NewRecorder(), request, limit)
			if err == nil && len(body) != size {
				t.Errorf("%d bytes are read, want %d", len(body), size)
			}
			return done, err
		}
		done, err := take(limit)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := take(limit - 1); !errors.Is(err, errNoSlot) || time.Since(began) != slotTime {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		for range 1000 {
			if _, err := take(64 << 10); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := take(limit + 1); err == nil {
			t.Error("a message over the limit is read")
		}
		time.AfterFunc(time.Second, done)
		if _, err := take(limit); err != nil {
			t.Error(err)
		}
		unknown := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", nil)
		unknown.ContentLength = -1
		if lane := b.laneOf(unknown.ContentLength); lane.size != limit {
			t.Errorf("a message of unknown size is for the lane of %d", lane.size)
		}
	})
}

// In all, the slots are what docs/serve.md says.
func TestBodiesBudget(t *testing.T) {
	var sum int64
	for _, lane := range newBodies(64 << 20) {
		sum += lane.size * int64(cap(lane.slots))
	}
	if got := fmt.Sprint(sum >> 20); got != "96" {
		t.Errorf("%s MiB", got)
	}
}

// A session that has ended here has ended in the SDK.
func TestEndIn(t *testing.T) {
	var got string
	endIn(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Method + " " + r.URL.Path + " " + r.Header.Get("Mcp-Session-Id")
		w.WriteHeader(http.StatusOK)
	}))("abc")
	if got != "DELETE /mcp abc" {
		t.Errorf("got %s", got)
	}
}
