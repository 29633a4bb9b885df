package tui

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"toolx/pkg/exec"
)

// TestCompare shows how a call differs from the one before of the same tool.
func TestCompare(t *testing.T) {
	answers := []string{
		"one\ntwo\nthree", "one\n2\x1b[2J\nthree", "one\n2\x1b[2J\nthree", `{"id":1,"on":true}`, `{"id":1,"on":false}`,
	}
	tool := newTool(t, `{"name":"ask","inputSchema":{"type":"object"}}`,
		func(ctx context.Context, r exec.Request) (json.RawMessage, error) {
			answer := answers[0]
			answers = answers[1:]
			return says(answer)(ctx, r)
		})
	d := drive(t, nil, tool, newTool(t, `{"name":"other","inputSchema":{"type":"object"}}`, says("x")))
	call := func(name string) {
		t.Helper()
		n := len(d.m.calls.list) + 1
		d.press("1", "/", "text:"+name, "enter")
		d.until("the result", func() bool { return len(d.m.calls.list) == n && len(d.m.calls.running()) == 0 })
	}
	call("ask")
	d.press("D")
	d.shows("there is no previous call")
	call("other")
	call("ask")
	d.press("D")
	d.shows("ask: this call (+) and the previous one (-)", " one", "-two", `+2\x1b[2J`, " three")
	d.press("esc")
	call("ask")
	d.press("D")
	d.shows("same result as the previous call")
	call("ask")
	call("ask")
	d.press("D")
	d.shows(`   "id": 1,`, `-  "on": true`, `+  "on": false`)
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

// TestRecentComesFirst lists what was called last first in the finder.
func TestRecentComesFirst(t *testing.T) {
	d := drive(t, []string{"s"}, serverTool(t, "s", "alpha"), serverTool(t, "s", "beta"), serverTool(t, "s", "gamma"))
	found := func(want ...string) {
		t.Helper()
		d.press("1", "/")
		var got []string
		for _, r := range d.m.tree.rows {
			if !r.item.none() {
				got = append(got, r.item.Plain)
			}
		}
		d.press("esc")
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("the finder lists %q, want %q", got, want)
		}
	}
	found("alpha", "beta", "gamma")
	d.press("/", "text:beta", "enter")
	d.until("the call in the history", func() bool { return len(d.m.watch.Recent()) == 1 })
	found("beta", "alpha", "gamma")
}
