package timeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolx/pkg/servers/wire"
)

// A saved call has its frames, its stderr and its unexpected lines in the format of --record, without secrets, and
// replaces no file.
func TestSave(t *testing.T) {
	const asked = `{"jsonrpc":"2.0","id":48392,"method":"tools/call",` +
		`"params":{"name":"slow","arguments":{"token":"***"}}}`
	w := newTimeline(
		stderrLine(0, "a", "before it"), processStarted(6, "a"),
		sent(10, "a", strings.ReplaceAll(asked, "***", "hunter22")),
		stderrLine(20, "a", "the password is hunter22"), stderrLine(20, "b", "of another server"),
		wire.PollutedLine{
			Head: wire.Head{At: after(30).At, Server: "a"}, Class: wire.ClassText, Line: 4, Size: 5,
			Text: []byte("Hello"),
		},
		received(40, "a", `{"jsonrpc":"2.0","id":48392,"result":{}}`),
		stderrLine(60, "a", "read late"), stderrLine(200, "a", "after it"),
		finished(41, "a__slow", `{}`, 30, nil),
	)
	w.hide = func(text string) string { return strings.ReplaceAll(text, "hunter22", "***") }
	folder := t.TempDir()
	if _, err := w.Save(folder); err == nil || err.Error() != "no call is selected" {
		t.Errorf("without a call: %v", err)
	}
	w.Follow(&Subject{
		Server: "a", Tool: "a__slow", Call: "a__slow", From: after(5).At, To: after(41).At, Took: 30 * time.Millisecond,
	})
	for _, name := range []string{"slow-20261120-120000.jsonl", "slow-20261120-120000-1.jsonl"} {
		path, err := w.Save(folder)
		if err != nil || path != filepath.Join(folder, name) {
			t.Fatalf("saved %q: %v", path, err)
		}
		const want = `{"time":"2026-11-20T12:00:00.01Z","server":"a","direction":"sent","frame":` + asked + `}
{"time":"2026-11-20T12:00:00.02Z","server":"a","stderr":"the password is ***"}
{"time":"2026-11-20T12:00:00.03Z","server":"a","stray":"Hello","class":"text","line":4,"column":0,"size":5}
{"time":"2026-11-20T12:00:00.04Z","server":"a","direction":"received","latency_ms":30,"frame":{"jsonrpc":"2.0","id":48392,"result":{}}}
{"time":"2026-11-20T12:00:00.06Z","server":"a","stderr":"read late"}
`
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("saved is\n%s%v, want\n%s", got, err, want)
		}
	}
	w.Follow(&Subject{Tool: "math", Call: "math", From: after(5).At})
	if off := w.CannotSave(); off != "toolx's own tools send no messages" {
		t.Errorf("a call of toolx's own tools: %q", off)
	}
}
