package timeline

import (
	"strings"
	"testing"

	"toolx/pkg/exec"
	"toolx/pkg/mask"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/pane"
)

// BenchmarkTake is the cost of one event where the rings are full. A server that
// prints 50,000 lines a second leaves 20 µs for each; it should take a tenth of it.
func BenchmarkTake(b *testing.B) {
	for name, event := range map[string]exec.Event{
		"stderr": stderrLine(0, "a", strings.Repeat("a line of stderr ", 6)),
		"frame":  received(0, "a", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":50}}`),
		"log":    received(0, "a", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"a log message"}}`),
	} {
		b.Run(name, func(b *testing.B) {
			w := newTimeline()
			for range maxRows {
				w.Take(event)
			}
			b.ReportAllocs()
			for b.Loop() {
				w.Take(event)
			}
		})
	}
}

// full is a pane with every ring full.
func full() *Timeline {
	w := New(pane.NewTheme(true, true, false), Options{Hide: mask.New("hunter22").Text})
	for i := range maxRows {
		take(w,
			stderrLine(i, "a", strings.Repeat("a line of stderr ", 10)),
			sent(i, "a", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get_weather","arguments":{"city":"Bern"}}}`),
			wire.LogMessage{Head: wire.Head{At: after(i).At, Server: "a"}, Level: "info", Data: []byte(`{"a":"log message"}`)},
			wire.PollutedLine{
				Head: wire.Head{At: after(i).At, Server: "a"}, Class: wire.ClassText,
				Text: []byte("Server running on stdio, line after line"),
			},
			finished(i, "get_weather", `{"city":"Bern"}`, i%100*(i%3), nil),
		)
	}
	return w
}

// BenchmarkRender is the cost of a frame of 160×50 at 10,000 rows, at 30 frames a
// second: it should be some milliseconds at most, and not depend on the number of
// rows. "flood" has 500 new lines before every frame, with a filter.
func BenchmarkRender(b *testing.B) {
	w := full()
	w.Follow(&Subject{Server: "a", Tool: "get_weather"})
	for range filterNames() {
		b.Run(filterNames()[w.only], func(b *testing.B) {
			for b.Loop() {
				w.Title(162)
				w.Render(160, 50)
			}
		})
		press(w, "]")
	}
	goTo(b, w, "stderr")
	press(w, "&", "text:line", "enter")
	lines := stderrLines("a", 500)
	b.Run("flood", func(b *testing.B) {
		for b.Loop() {
			take(w, lines...)
			w.Render(160, 50)
		}
	})
}

// BenchmarkFilter is the cost of a key in the filter at 10,000 rows, which is felt
// above 50 ms.
func BenchmarkFilter(b *testing.B) {
	w := full()
	w.Render(160, 50)
	for b.Loop() {
		press(w, "&", "text:of", "esc")
		w.Render(160, 50)
	}
}
