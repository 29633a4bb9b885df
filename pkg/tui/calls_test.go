package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
)

// answering is a tool that answers with the given texts, one after the other.
func answering(t *testing.T, answers ...string) *exec.Tool {
	return newTool(t, `{"name":"ask","inputSchema":{"type":"object","properties":{"label":{"type":"string"}}}}`,
		func(ctx context.Context, r exec.Request) (json.RawMessage, error) {
			answer := answers[0]
			answers = answers[1:]
			return says(answer)(ctx, r)
		})
}

// called presses keys that make a call, and waits for the end of all calls.
func (d *driver) called(keys ...string) {
	d.t.Helper()
	n := len(d.m.calls.list) + 1
	d.press(keys...)
	d.until("the result", func() bool { return len(d.m.calls.list) == n && len(d.m.calls.running()) == 0 })
}

// values returns what the form on the screen holds.
func (d *driver) values() string {
	values, err := d.m.page.arguments()
	if err != nil {
		d.t.Error(err)
	}
	return string(values)
}

// TestCompare marks inside the result how it differs from the previous one, or from a marked one.
func TestCompare(t *testing.T) {
	d := drive(t, nil, answering(t, "one\ntwo", "one\n2\x1b[2J", "one\n2\x1b[2J", `{"id":1,"on":true}`, `{"id":1,"on":false}`,
		`{"id":2,"on":false,"new":1}`))
	d.called("down", "enter", "ctrl+r")
	d.press("D")
	d.shows("D has no earlier call")
	d.called("r")
	d.shows("D from #1: 1 line added, 1 removed", "  one", "- two", `+ 2\x1b[2J`)
	d.called("r")
	d.shows("D from #2: no differences")
	d.called("r")
	d.shows("D from #3: the other result has no json")
	d.called("r")
	d.shows("D from #4: 1 changed", "on: true → false", "~")
	d.press("left", "=")
	d.shows("[=#4", "D compares the others with #4")
	d.called("2", "text:x", "ctrl+r")
	d.shows("D from #4: 2 changed, 1 added, other arguments", "id: 1 → 2", "new: 1")
	d.press("left")
	d.shows("D from #4: 1 changed")
	d.press("left", "=", "right")
	d.shows("D from #4: 1 changed")
	d.press("D")
	if frame := d.frame(); strings.Contains(frame, "→") {
		t.Errorf("differences are still marked:\n%s", frame)
	}
}

// TestChips shows each call of a tool with its arguments, and keeps what is typed.
func TestChips(t *testing.T) {
	d := drive(t, nil, answering(t, "a", "b", "c", "d"))
	values := func(want string) {
		t.Helper()
		if got := d.values(); got != want {
			t.Errorf("the form holds %s, want %s", got, want)
		}
	}
	d.called("down", "enter", "text:1", "ctrl+r")
	d.called("2", "text:2", "ctrl+r")
	d.shows("#1 0 ms  [#2 0 ms]")
	d.press("2", "text:typed")
	d.shows("#1 0 ms  #2 0 ms  [new]")
	d.press("esc", "3", "left")
	values(`{"label":"2"}`)
	d.shows("#1 0 ms  [#2 0 ms]  new")
	d.press("<")
	values(`{"label":"1"}`)
	d.press("<")
	d.shows("previous call: there is none")
	// An edited earlier call becomes a new one; what was typed stays after the last.
	d.called("2", "text:three", "ctrl+r")
	d.shows("#1 0 ms  #2 0 ms  [#3 0 ms]  new")
	values(`{"label":"three"}`)
	d.press("left", "left")
	values(`{"label":"1"}`)
	d.press("right", "right", "right")
	values(`{"label":"typed"}`)
	d.shows("[new]")
	d.press("right")
	d.shows("next call: there is none")
	d.click("#2 0 ms")
	values(`{"label":"2"}`)
	d.click("new")
	values(`{"label":"typed"}`)
	d.called("ctrl+r")
	d.shows("[#4 0 ms]")
	if strings.Contains(d.frame(), "new") {
		t.Errorf("what was typed was sent:\n%s", d.frame())
	}
	// Only the latest fit into little room.
	d.send(tea.WindowSizeMsg{Width: 40, Height: 20})
	d.press("esc", "3", "left")
	d.shows("…  [#3 0 ms]  …")
}

// TestGoldenLiveResults draws calls of a tool, the last of which marks its differences.
func TestGoldenLiveResults(t *testing.T) {
	d := drive(t, []string{"odd"}, answering(t,
		`{"label":"one","time":"22:24:08","random":385,"fixed":{"a":1,"b":[true,null]}}`,
		`{"label":"one","time":"22:24:09","random":840,"fixed":{"a":1,"b":[true,null]}}`,
		`{"label":"two","time":"22:24:11","random":141,"fixed":{"a":1,"b":[true,null,"new"]}}`))
	d.called("G", "down", "enter", "text:one", "ctrl+r")
	d.called("r")
	d.called("2", "text:two", "ctrl+r")
	for _, size := range []tea.WindowSizeMsg{{Width: 80, Height: 24}, {Width: 120, Height: 40}} {
		d.send(size)
		d.golden(fmt.Sprintf("3-results-%d", size.Width))
		d.press("D")
		d.golden(fmt.Sprintf("3-results-diff-%d", size.Width))
		d.press("D")
	}
}

// TestChipsOfRepeatedCalls does not replace what is being typed by the call that another key, or a saved file, makes.
func TestChipsOfRepeatedCalls(t *testing.T) {
	d := drive(t, nil, answering(t, "a", "b", "c"))
	d.called("down", "enter", "text:1", "ctrl+r")
	d.press("2", "text:typed")
	last := d.m.calls.list[0]
	d.run(d.m.calls.start(last.item, last.arguments, last.filled))
	d.until("the result", func() bool { return len(d.m.calls.running()) == 0 })
	d.shows("#1 0 ms  #2 0 ms  [new]", "typed", "b")
	if got := d.values(); got != `{"label":"typed"}` {
		t.Errorf("the form holds %s", got)
	}
	d.press("esc", "3", "left", "left")
	d.run(d.m.calls.start(last.item, last.arguments, last.filled))
	d.until("the result", func() bool { return len(d.m.calls.running()) == 0 })
	d.shows("[#3 0 ms]  new")
}

// TestTimeLimit sets how long calls of a tool may take.
func TestTimeLimit(t *testing.T) {
	tool := newTool(t, `{"name":"wait","inputSchema":{"type":"object"}}`,
		func(ctx context.Context, _ exec.Request) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
	d := drive(t, nil, tool)
	d.press("j", "T", "text:soon", "enter")
	d.shows("'soon' is not a time", "time limit", "> soon")
	d.press("ctrl+u", "text:-5", "enter", "ctrl+u", "text:1ms", "enter")
	if got := d.m.calls.limits[itemKey{kindTool, "wait"}].limit; got != time.Millisecond {
		t.Fatalf("the limit is %v", got)
	}
	if line := commandLine(toolItem(tool), nil, "--timeout", "1ms"); line != "toolx call wait --timeout 1ms" {
		t.Errorf("the command is %s", line)
	}
	d.press("ctrl+r")
	d.until("the end of the time", func() bool { return len(d.m.calls.list) == 1 && !d.m.calls.list[0].running() })
	if err := d.m.calls.list[0].result.Err; err == nil || !strings.Contains(err.Error(), "timeout") {
		t.Errorf("the call ended with %v", err)
	}
	d.press("T", "ctrl+u", "enter")
	if len(d.m.calls.limits) != 0 {
		t.Errorf("the limits are %v", d.m.calls.limits)
	}
}

// TestRecentComesFirst: the palette lists what was called last first.
func TestRecentComesFirst(t *testing.T) {
	d := drive(t, []string{"s"}, serverTool(t, "s", "alpha"), serverTool(t, "s", "beta"), serverTool(t, "s", "gamma"))
	found := func(want ...string) {
		t.Helper()
		d.press("1", "/")
		var got []string
		for _, e := range d.m.palette.found {
			if !e.item.none() && e.again == nil {
				got = append(got, e.item.Plain)
			}
		}
		d.press("esc")
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("the palette lists %q, want %q", got, want)
		}
	}
	found("alpha", "beta", "gamma")
	d.press("/", "text:beta", "ctrl+r")
	d.until("the call in the history", func() bool { return len(d.m.timeline.Recent()) == 1 })
	found("beta", "alpha", "gamma")
}
