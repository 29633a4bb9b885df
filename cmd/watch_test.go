package cmd

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"toolx/pkg/console"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
)

// What came before a watch's end is printed, whichever of the two is seen first.
func TestWatchPrintsTheRest(t *testing.T) {
	for range 50 { // a select picks by chance
		var out bytes.Buffer
		w := newWatcher(newApp(&console.Console{Out: &out, Err: io.Discard}), watchOptions{})
		w.take(servers.FrameReceived{Server: "a", Bytes: []byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":3}}`)})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.run(ctx, nil, nil); exec.KindOf(err) != exec.KindInterrupted {
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
		options watchOptions
		want    []string
	}{
		{watchOptions{}, nil}, // all
		{watchOptions{names: []string{"a", "a"}}, []string{"a", "b"}},
		{watchOptions{updatesOnly: true}, []string{"b"}},
	} {
		if got := test.options.watched(uris); !slices.Equal(got, test.want) {
			t.Errorf("%+v: %q, want %q", test.options, got, test.want)
		}
	}
}
