package watch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"toolx/cmd/factory"
	"toolx/cmd/streams"
	"toolx/pkg/console"
	"toolx/pkg/fault"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// What came before a watch's end is printed, whichever of the two is seen first.
func TestWatchPrintsTheRest(t *testing.T) {
	for range 50 { // a select picks by chance
		var out bytes.Buffer
		w := newWatcher(factory.New(&console.Console{Out: &out, Err: io.Discard}).Tools, Options{})
		w.take(wire.NewFrameReceived(time.Time{}, "a", 0, []byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":3}}`)))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.run(ctx, nil, nil); fault.KindOf(err) != fault.KindInterrupted {
			t.Fatal(err)
		}
		if !strings.HasSuffix(out.String(), "\ta\tprogress 3\n") {
			t.Fatalf("printed %q", out.String())
		}
	}
}

// Servers are opened once each; those of resources too, where servers are named.
func TestWatched(t *testing.T) {
	uris := map[string][]string{"b": {"x:y"}}
	for _, test := range []struct {
		options Options
		want    []string
	}{
		{Options{}, nil}, // all
		{Options{names: []string{"a", "a"}}, []string{"a", "b"}},
		{Options{UpdatesOnly: true}, []string{"b"}},
	} {
		if got := test.options.watched(uris); !slices.Equal(got, test.want) {
			t.Errorf("%+v: %q, want %q", test.options, got, test.want)
		}
	}
}

// TestWatchQueueIsBounded proves that notifications do not pile up while stdout is not
// read: those that have no room are dropped, and the rest of stderr says how many.
func TestWatchQueueIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out large input")
	}
	for name, test := range map[string]struct {
		size, count, kept int
	}{
		"large": {1 << 20, 20, 7}, // each is a little over 1 MiB
		"small": {1, maxQueuedLines + 5, maxQueuedLines},
		"huge":  {maxQueued, 2, 1},
	} {
		var out, log bytes.Buffer
		app := factory.New(&console.Console{Out: &out, Err: &log})
		app.Out.Log = streams.NewLogger(app.Out.Live.Log(), app.Out.Screen(), app.Out.Settings, app.Out.Mask)
		w := newWatcher(app.Tools, Options{})
		take := func(size int) {
			frame := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` +
				strings.Repeat("x", size) + `"}}`
			w.take(wire.NewFrameReceived(time.Time{}, "a", 0, []byte(frame)))
		}
		for range test.count {
			take(test.size)
		}
		if _, err := w.print(); err != nil {
			t.Fatal(err)
		}
		app.Out.Flush()
		want := fmt.Sprintf("warning: stdout was not read in time: %s dropped\n",
			words.Count(test.count-test.kept, "notification"))
		if printed := strings.Count(out.String(), "\n"); printed != test.kept || log.String() != want {
			t.Errorf("%s: %d lines and %q, want %d and %q", name, printed, log.String(), test.kept, want)
		}
		take(1)
		if _, err := w.print(); err != nil || strings.Count(out.String(), "\n") != test.kept+1 {
			t.Errorf("%s: nothing is printed any more (%v)", name, err)
		}
	}
}
