package timeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/history"
	"toolx/pkg/tui/pane"
)

// finished is a call that took so many milliseconds.
func finished(ms int, tool, arguments string, took int, err error) exec.Event {
	return exec.CallFinished{Time: after(ms), ID: "1", Arguments: json.RawMessage(arguments), Result: &exec.Result{
		ToolName: tool, Server: "a", Success: err == nil, Err: err, Duration: time.Duration(took) * time.Millisecond,
	}}
}

// logFiles writes an execution log with a rotated one, broken lines in both.
func logFiles(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "history.jsonl")
	write := func(path string, lines ...string) {
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.TrimSuffix(path, ".jsonl")+"-20261119T120000.000000000.jsonl",
		`{"time":"2026-11-19T11:00:00Z","id":"1","pid":1,"tool":"oldest","arguments":{"n":1},"success":true,"execution_time_ms":12.5}`,
		`{"time":"2026-11-19T11`)
	write(path,
		`not JSON`,
		`{"time":"2026-11-19T12:00:00Z","id":"1","pid":2,"tool":"masked","arguments":{"token":"***","keep":[1,"a***",{"x":"***","y":2}]},"success":true,"execution_time_ms":3}`,
		`{"time":"2026-11-19T13:00:00Z","id":"2","pid":2,"tool":"long","arguments":"{\"a\":\"xxx…","arguments_bytes":70000,"success":false,"error":"boom","kind":"tool","execution_time_ms":3}`)
	return path
}

// loaded is a pane on the history tab that has read a log, after a call was made.
func loaded(t *testing.T, path string) *Timeline {
	t.Helper()
	w := New(newTimeline().theme, Options{History: path, Now: later})
	take(w, finished(0, "newest", `{"n":2}`, 7, nil))
	w.Update(w.Init()())
	goTo(t, w, "calls")
	return w
}

// Cancel calls of earlier runs stand before those of this one, also from rotated files;
// lines that are no entries do no harm.
func TestHistoryFiles(t *testing.T) {
	w := loaded(t, logFiles(t))
	frame := strings.Join(frameOf(t, w, 120, 8), "\n")
	at := 0
	for _, tool := range []string{"oldest", "masked", "long", "newest"} {
		next := strings.Index(frame, tool)
		if next <= at {
			t.Fatalf("%s is not in its place:\n%s", tool, frame)
		}
		at = next
	}
	for _, want := range []string{"2026-11-19", "12 ms", "long boom"} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is not there:\n%s", want, frame)
		}
	}
}

// What this process has written to the log came as an event already.
func TestHistoryHasNoCallTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	log, err := history.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := New(newTimeline().theme, Options{History: path, Now: later})
	event := finished(20_000, "once", `{}`, 7, nil)
	log.Record(event)
	take(w, event)
	w.Update(w.Init()())
	if n := w.rows.calls().count; n != 1 {
		t.Errorf("%d calls, want 1", n)
	}
}

func TestHistoryThatCannotBeRead(t *testing.T) {
	w := loaded(t, filepath.Join(t.TempDir(), "nothing here"))
	shows(t, w, "newest", "¬cannot be read")
	w = loaded(t, t.TempDir()) // a folder
	shows(t, w, "newest", "earlier calls cannot be read")
	if w := New(w.theme, Options{}); w.Init() != nil {
		t.Error("no log is read")
	}
}

// A call is made again as it was; one that the log has masked or cut is filled in,
// without what stands in the place of secrets.
func TestAgainAndEdit(t *testing.T) {
	w := loaded(t, logFiles(t))
	frameOf(t, w, 100, 8)
	same := func(got any, want string) {
		t.Helper()
		text, err := json.Marshal(got)
		if err != nil || string(text) != want {
			t.Errorf("asked for %T %s, want %s", got, text, want)
		}
	}
	rerun, ok := press(w, "r").(RerunMsg)
	if !ok {
		t.Fatal("r does not run the call again")
	}
	same(rerun, `{"Tool":"newest","Method":"","Arguments":{"n":2}}`)
	edit, _ := press(w, "enter").(EditMsg)
	same(edit, `{"Tool":"newest","Method":"","Arguments":{"n":2},"Note":""}`)
	command, _ := press(w, "y").(CommandMsg)
	same(command, `{"Tool":"newest","Method":"","Arguments":{"n":2}}`)
	edit, _ = press(w, "up", "enter").(EditMsg)
	if y := pane.Find(w.Bindings(), "y"); y == nil || y.Off != "some arguments of this call were not kept" {
		t.Errorf("y of a call that was cut is %+v", y)
	}
	same(edit, `{"Tool":"long","Method":"","Arguments":null,"Note":"some arguments of this call were not kept: the form is unchanged"}`)
	edit, _ = press(w, "up", "r").(EditMsg)
	same(edit, `{"Tool":"masked","Method":"","Arguments":{"keep":[1,{"y":2}]},"Note":"the log hides secrets of this call: fill them in"}`)
	rerun, _ = press(w, "up", "r").(RerunMsg)
	same(rerun, `{"Tool":"oldest","Method":"","Arguments":{"n":1}}`)
	press(w, "space")
	shows(t, w, "oldest", "12 ms", "n: 1")
}

// Calls without arguments, with broken ones and with very long ones.
func TestArgumentsOfLiveCalls(t *testing.T) {
	for name, test := range map[string]struct {
		arguments string
		cut       bool
	}{
		"none": {"", false}, "object": {`{"a":"***"}`, false}, "broken": {`{"a":`, true}, "array": {`[]`, true},
		"long": {`{"a":"` + strings.Repeat("x", maxText) + `"}`, true},
	} {
		r := recordOfCall(finished(0, "t", test.arguments, 1, nil).(exec.CallFinished))
		if r.cut != test.cut || r.hidden || len(r.Arguments) > maxText {
			t.Errorf("%s: cut %v, hidden %v, %d bytes", name, r.cut, r.hidden, len(r.Arguments))
		}
	}
}

// Once there are ten calls of a tool, the last line compares the followed one with them.
func TestTiming(t *testing.T) {
	w := newTimeline()
	for i, took := range []int{10, 12, 11, 9, 40, 11, 10, 12} {
		take(w, finished(i, "get_weather", `{"i":1}`, took, nil))
	}
	take(w,
		finished(9, "get_weather", `{}`, 0, &exec.InvalidArgumentsError{}), // was never sent
		finished(9, "other", `{}`, 5, errors.New("it failed")),
		finished(9, "get_weather", `{}`, 2000, nil),
	)
	follow := func(tool string, took int) {
		w.Follow(&Subject{
			Server: "a", Tool: tool, Call: tool, From: after(0).At, To: after(20).At,
			Took: time.Duration(took) * time.Millisecond,
		})
	}
	follow("get_weather", 2000)
	shows(t, w, "¬median")
	take(w, finished(10, "get_weather", `{}`, 11, nil))
	shows(t, w, "├■─────", "─◆┤ median 11 ms, p95 2.0 s")
	follow("get_weather", 11)
	shows(t, w, "├◆─────", "─┤ median 11 ms")
	follow("unknown", 11)
	shows(t, w, "¬median")
	w.Follow(&Subject{Server: "a"})
	shows(t, w, "¬median")
}

// Programs after -- have one name: the calls of others are neither shown nor measured, since they cannot run here.
func TestHistoryOfAnotherProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	line := func(program string, ms int) string {
		return fmt.Sprintf(`{"time":"2026-11-19T12:00:00Z","id":"1","pid":1,"tool":"server__echo","server":"server",`+
			`"program":%q,"arguments":{},"success":true,"execution_time_ms":%d}`, program, ms)
	}
	text := line("node one.js", 900) + "\n" + line("node two.js", 7) + "\n" + line("", 800) + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w := New(newTimeline().theme, Options{History: path, Program: "node two.js", AdHoc: "server", Now: later})
	w.Update(w.Init()())
	goTo(t, w, "calls")
	shows(t, w, "server__echo {}")
	if n := w.rows.calls().count; n != 1 {
		t.Errorf("%d calls, want 1", n)
	}
	if off := pane.Find(w.Bindings(), "enter").Off; off != "" {
		t.Errorf("it cannot be made again: %s", off)
	}
	if times := w.rows.timesOf("server", "server__echo"); len(times) != 1 || times[0] != 7*time.Millisecond {
		t.Errorf("measured are %v", times)
	}
}

// Calls that cannot run here are hidden: those of servers of other configs, of tools that another config has, and of a
// program after -- where there is a config.
func TestHistoryOfOtherConfigs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	line := func(server, tool, program string) string {
		return fmt.Sprintf(`{"time":"2026-11-19T12:00:00Z","id":"1","pid":1,"tool":%q,"server":%q,"program":%q,`+
			`"arguments":{},"success":true,"execution_time_ms":1}`+"\n", tool, server, program)
	}
	text := line("files", "files__read", "") + line("zwave", "zwave__dim", "") + line("", "echo", "") +
		line("", "lamp", "") + line("files", "files__read", "npx other") + line("files", "files__write", "")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	here := func(server, tool string) bool { return server == "files" || server == "" && tool == "echo" }
	for _, test := range []struct {
		name    string
		options Options
		want    []string
	}{
		{"a config", Options{Here: here}, []string{"files__read", "echo", "files__write"}},
		{"a program with that name", Options{Here: here, Program: "npx other", AdHoc: "files"}, []string{"echo", "files__read"}},
		{"nobody knows", Options{}, []string{"files__read", "zwave__dim", "echo", "lamp", "files__write"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.options.History, test.options.Now = path, later
			w := New(newTimeline().theme, test.options)
			w.Update(w.Init()())
			var got []string
			for i := range w.rows.calls().count {
				got = append(got, w.rows.calls().at(i).call.Tool)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("shown are %q, want %q", got, test.want)
			}
		})
	}
}

func TestPercentile(t *testing.T) {
	ten := []time.Duration{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for p, want := range map[int]time.Duration{0: 1, 50: 5, 95: 10, 90: 9, 100: 10} {
		if got := percentile(ten, p); got != want {
			t.Errorf("the percentile %d is %d, want %d", p, got, want)
		}
	}
	if got := percentile(ten[:1], 50); got != 1 {
		t.Errorf("the median of one value is %d", got)
	}
}
