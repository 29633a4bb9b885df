package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"toolx/pkg/exec"
)

// Headers are read before the token is asked for, so they are bounded for everybody.
func TestHeadersAreBounded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	log := slog.New(slog.DiscardHandler)
	endpoint, err := New(ctx, "test", &exec.Executor{}, nil).Listen(HTTPOptions{Address: "0"}, 1<<20, log)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- endpoint.Serve(ctx) }()
	for size, want := range map[int]int{
		maxHeader / 2: http.StatusUnauthorized, 2 * maxHeader: http.StatusRequestHeaderFieldsTooLarge,
	} {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint.URL(), strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Long", strings.Repeat("x", size))
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%d bytes: %s, want %d", size, answer.Status, want)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// unlimited is a listener with a connection for every caller.
type unlimited struct {
	net.Listener
	accepted atomic.Int32
	failure  error
}

func (u *unlimited) Accept() (net.Conn, error) {
	if u.failure != nil {
		return nil, u.failure
	}
	u.accepted.Add(1)
	conn, other := net.Pipe()
	return conn, other.Close()
}

// A connection above the bound is accepted when another one is closed, and a failed Accept keeps no slot.
func TestLimitListener(t *testing.T) {
	inner := &unlimited{}
	listener := limitListener(inner, 2)
	var open []net.Conn
	for range 2 {
		conn, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, conn)
	}
	third := make(chan error)
	go func() {
		_, err := listener.Accept()
		third <- err
	}()
	if count := inner.accepted.Load(); count != 2 {
		t.Errorf("%d connections are open, want 2", count)
	}
	for range 2 { // the second time frees nothing
		_ = open[0].Close()
	}
	if err := <-third; err != nil || len(listener.slots) != 2 {
		t.Errorf("third connection: %v, %d of 2 slots are taken", err, len(listener.slots))
	}
	_ = open[1].Close()
	inner.failure = net.ErrClosed
	if _, err := listener.Accept(); !errors.Is(err, net.ErrClosed) || len(listener.slots) != 1 {
		t.Errorf("closed listener: %v, %d slots are taken, want 1", err, len(listener.slots))
	}
}
