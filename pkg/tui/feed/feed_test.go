package feed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/wire"
)

// Among a flood of other notifications, that a list has changed is not lost.
func TestListChangeIsNotLost(t *testing.T) {
	f := New()
	f.Take(wire.Notification{Head: wire.Head{Server: "loud"}, Method: "notifications/prompts/list_changed"})
	for range 10 * maxPending {
		f.Take(wire.Notification{Head: wire.Head{Server: "loud"}, Method: "notifications/resources/updated"})
	}
	if first, ok := f.drain().Events[0].(wire.Notification); !ok ||
		first.Method != "notifications/prompts/list_changed" {
		t.Errorf("the first event is %+v", first)
	}
}

// A flood of events neither blocks who emits nor grows without bound; its newest are
// kept, in their order, and it takes nothing from other streams.
func TestFeedIsBounded(t *testing.T) {
	f := New()
	f.Take(wire.FrameReceived{Head: wire.Head{Server: "quiet"}, Line: 1})
	for i := range 100_000 {
		f.Take(wire.StderrLine{Head: wire.Head{Server: "loud"}, Text: fmt.Sprint(i)})
	}
	f.Take(servers.ConnectFailed{Head: wire.Head{Server: "loud"}, Err: errors.New("x")})
	msg := f.drain()
	if len(msg.Events) != maxPending+2 || msg.Dropped != 100_000-maxPending {
		t.Fatalf("%d events, %d dropped", len(msg.Events), msg.Dropped)
	}
	if _, ok := msg.Events[0].(wire.FrameReceived); !ok {
		t.Errorf("the first event is %T", msg.Events[0])
	}
	if line, _ := msg.Events[maxPending].(wire.StderrLine); line.Text != "99999" {
		t.Errorf("the last line is %+v", msg.Events[maxPending])
	}
	if _, ok := msg.Events[maxPending+1].(servers.ConnectFailed); !ok {
		t.Errorf("the last event is %T", msg.Events[maxPending+1])
	}
	if again := f.drain(); len(again.Events) != 0 || again.Dropped != 0 {
		t.Errorf("a second time there is %+v", again)
	}
}

// Large events are bounded by their bytes too: of a flood of messages of 1 MiB the newest
// are kept, and one that is larger than the bound alone.
func TestFeedIsBoundedInBytes(t *testing.T) {
	f := New()
	for i := range 100 {
		f.Take(wire.LogMessage{Head: wire.Head{Server: "loud"}, Level: fmt.Sprint(i), Data: make([]byte, 1<<20)})
	}
	msg := f.drain()
	if len(msg.Events) != 7 || msg.Dropped != 93 {
		t.Errorf("%d events, %d dropped", len(msg.Events), msg.Dropped)
	}
	if last, _ := msg.Events[len(msg.Events)-1].(wire.LogMessage); last.Level != "99" {
		t.Errorf("the last event is %q", last.Level)
	}
	f.Take(wire.FrameReceived{Head: wire.Head{Server: "loud"}, Bytes: make([]byte, 2*maxPendingBytes)})
	if msg := f.drain(); len(msg.Events) != 1 || msg.Dropped != 0 {
		t.Errorf("%d events, %d dropped", len(msg.Events), msg.Dropped)
	}
}

// BenchmarkFlood is what an emitter pays for an event when nobody keeps up: 50,000
// lines a second leave 20 µs for each; bound: 1 µs.
func BenchmarkFlood(b *testing.B) {
	f := New()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			f.Wait(ctx)()
		}
	}()
	event := wire.StderrLine{Head: wire.Head{Server: "big"}, Text: "a line"}
	for b.Loop() {
		f.Take(event)
	}
}

// Events that are received wait for their turn, in bounded batches, and none is lost.
func TestReceiveIsBounded(t *testing.T) {
	const size, events = 1 << 20, 20
	from := make(chan exec.Event)
	go func() {
		defer close(from)
		for range events {
			from <- wire.StderrLine{Text: strings.Repeat("x", size)}
		}
	}()
	got := 0
	for msg := Receive(t.Context(), from)(); msg != nil; msg = Receive(t.Context(), from)() {
		batch := msg.(Msg).Events
		if got += len(batch); len(batch) == 0 || len(batch) > maxPendingBytes/size {
			t.Errorf("a batch of %d events", len(batch))
		}
	}
	if got != events {
		t.Errorf("%d events of %d", got, events)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if msg := Receive(ctx, make(chan exec.Event))(); msg != nil {
		t.Errorf("after the end: %v", msg)
	}
}
