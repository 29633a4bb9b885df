package timeline

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/recording"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/pane"
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

// The rows of a recording that are shown are saved as they were recorded, with processes and what is missing.
func TestSaveRecorded(t *testing.T) {
	head := func(ms int, server string) wire.Head { return wire.Head{At: after(ms).At, Server: server} }
	w := New(pane.NewTheme(false, true, false), Options{Now: later, Recorded: true})
	folder := t.TempDir()
	if _, err := w.Save(folder); err == nil || err.Error() != "there are no rows" {
		t.Errorf("without rows: %v", err)
	}
	take(w,
		wire.ProcessStarted{Head: head(0, "a"), PID: 4711, Command: []string{"node", "a b.js"}},
		sent(10, "a", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`), stderrLine(20, "b", "of another server"),
		recording.Dropped{Head: head(30, "a"), Lines: 2},
		exec.Notice{Time: after(40), Level: slog.LevelWarn, Text: "line 7 is left out"},
		wire.ProcessExited{Head: head(50, "a"), How: "exit status 1", Lived: 50 * time.Millisecond},
	)
	w.Follow(&Subject{Server: "a"})
	path, err := w.Save(folder)
	if err != nil || path != filepath.Join(folder, "a-20261120-120000.jsonl") {
		t.Fatalf("saved %q: %v", path, err)
	}
	const want = `{"time":"2026-11-20T12:00:00Z","server":"a","process":{"command":["node","a b.js"],"pid":4711}}
{"time":"2026-11-20T12:00:00.01Z","server":"a","direction":"sent","frame":{"jsonrpc":"2.0","id":1,"method":"initialize"}}
{"time":"2026-11-20T12:00:00.03Z","server":"a","dropped":2}
{"time":"2026-11-20T12:00:00.05Z","server":"a","process":{"ended":"exit status 1","lived_ms":50}}
`
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("saved is\n%s%v, want\n%s", got, err, want)
	}
	shown := strings.Join(frameOf(t, w, 60, 6), "\n")
	for _, text := range []string{
		"started: node 'a b.js'", "initialize #1", "no response", "2 lines not recorded in time", "line 7 is left out",
		"process ended after 50 ms: exit status 1",
	} {
		if !strings.Contains(shown, text) {
			t.Errorf("%q is not shown:\n%s", text, shown)
		}
	}
}

// A response that comes later counts, with the time that was recorded.
func TestRecordedLatency(t *testing.T) {
	w := New(pane.NewTheme(false, true, false), Options{Now: later, Recorded: true})
	answer := wire.NewFrameReceived(after(10).At, "a", 0, []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	answer.Took = 1500 * time.Microsecond
	take(w, sent(10, "a", `{"jsonrpc":"2.0","id":1,"method":"ping"}`), answer)
	shown := strings.Join(frameOf(t, w, 60, 2), "\n")
	if strings.Contains(shown, "no response") || !strings.Contains(shown, "1.5 ms") {
		t.Error(shown)
	}
	for range 4 {
		press(w, "]")
	}
	if title := w.Title(80); strings.Contains(title, "calls") || !strings.Contains(title, "[all]") {
		t.Errorf("a recording has no calls: %q", title)
	}
}

// Two processes that wrote one recording can number their requests alike: each response belongs to its own writer, also
// in what is saved.
func TestSaveTwoWriters(t *testing.T) {
	w := New(pane.NewTheme(false, true, false), Options{Now: later, Recorded: true})
	for _, one := range []struct {
		writer, tool string
		ms           int
	}{{"x", "first", 10}, {"y", "second", 20}} {
		request := wire.NewFrameSent(after(one.ms).At, "a",
			[]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+one.tool+`"}}`))
		request.Writer = one.writer
		w.Take(request)
	}
	for i, writer := range []string{"x", "y"} {
		response := wire.NewFrameReceived(after(30+i).At, "a", 0, []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
		response.Writer = writer
		w.Take(response)
	}
	path, err := w.Save(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, r := range w.view.hits {
		if r.message.answer {
			got[r.writer] = r.message.of
		}
	}
	if !strings.Contains(got["x"], "first") || !strings.Contains(got["y"], "second") {
		t.Errorf("the responses belong to %q", got)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), `"writer":"x"`) != 2 || strings.Count(string(text), `"writer":"y"`) != 2 {
		t.Errorf("saved is\n%s%v", text, err)
	}
}
