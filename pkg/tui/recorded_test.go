package tui

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/doctor"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/wire"
)

// replayed is a driver that shows a recording of events.
func replayed(t *testing.T, events ...exec.Event) *driver {
	t.Helper()
	recorded := make(chan exec.Event, len(events))
	for _, event := range events {
		recorded <- event
	}
	close(recorded)
	registry := exec.NewRegistry(nil)
	d := &driver{t: t, messages: make(chan tea.Msg, 1024), m: newModel(t.Context(), Options{
		Recorded: recorded, Pool: servers.NewPool(nil, servers.Options{Registry: registry}),
		Executor: &exec.Executor{Registry: registry}, Now: noon,
		Examine: func(context.Context, string) (*doctor.Report, error) { return &doctor.Report{}, nil },
	})}
	d.send(tea.WindowSizeMsg{Width: 100, Height: 30})
	for msg := d.m.wait()(); msg != nil; msg = d.m.wait()() {
		_, _ = d.m.Update(msg)
	}
	return d
}

// twoServers is a recording of a server that ended, with the cause, and of one that works.
func twoServers() []exec.Event {
	head := func(ms int, server string) wire.Head {
		return wire.Head{At: noon().Add(time.Duration(ms) * time.Millisecond), Server: server}
	}
	sent := func(ms int, server, frame string) exec.Event {
		return wire.NewFrameSent(head(ms, "").At, server, []byte(frame))
	}
	return []exec.Event{
		wire.ProcessStarted{Head: head(0, "files"), PID: os.Getpid(), Command: []string{"node", "files.js"}},
		wire.PollutedLine{
			Head: head(10, "files"), Class: wire.ClassText, Line: 1, Text: []byte("Listening on \x1b[2J3000"), Size: 20,
		},
		sent(20, "files", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`),
		wire.NewFrameReceived(head(60, "").At, "files", 2, []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)),
		wire.ProcessStarted{Head: head(100, "mail"), PID: 1, Command: []string{"node", "mail.js"}},
		sent(110, "mail", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`),
		wire.StderrLine{Head: head(150, "mail"), Text: "API_KEY is not set"},
		wire.ProcessExited{Head: head(160, "mail"), How: "exit status 1", Lived: 60 * time.Millisecond},
		exec.Notice{Time: exec.Time{At: noon()}, Level: slog.LevelError, Server: "mail", Text: "API_KEY is not set"},
		sent(200, "files", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_file"}}`),
		exec.Notice{Time: exec.Time{At: noon()}, Level: slog.LevelWarn, Text: "line 11 is left out: not JSON at byte 2"},
	}
}

// TestGoldenRecording draws a recording: all servers, and the page of the one that works.
func TestGoldenRecording(t *testing.T) {
	for _, size := range []tea.WindowSizeMsg{{Width: 80, Height: 24}, {Width: 120, Height: 40}} {
		d := replayed(t, twoServers()...)
		d.send(size)
		d.press("A")
		d.golden(fmt.Sprintf("recording-%d", size.Width))
	}
}

// Nothing runs and nothing can be called; what needs no server works: the doctor, search, filters and the palette.
func TestRecordingCallsNothing(t *testing.T) {
	d := replayed(t, twoServers()...)
	for _, key := range []string{"r", "x", "ctrl+r", "R", "X", "w", "a", "e", "T", "u", "D"} {
		d.press(key)
		if want := key + " does nothing in a recording"; !strings.HasPrefix(d.m.note.text, want) {
			t.Errorf("%s: %q", key, d.m.note.text)
		}
	}
	d.press("3")
	d.shows("a recording has no results")
	d.press("1", "!")
	d.shows("✗ API_KEY is not set", "node mail.js", "d run the doctor")
	d.press("4", "d") // whatever pane has the focus
	d.until("the report", func() bool { return d.m.page.server.diagnosis.report != nil })
	d.press("1", "j", "enter", "&", "text:read", "enter")
	d.shows("timeline of files &read", "▶ tools/call read_file #2")
	d.press("/", "text:zzz", "enter")
	d.shows("zzz")
	d.press("esc", "ctrl+k", "text:mail", "enter")
	d.showsRow("2 server mail")
	for _, s := range d.m.servers.list {
		if s.runs() {
			t.Errorf("%s runs", s.name)
		}
	}
}

// A recording can have any number of servers, with names of any length; the events of some are lost, which is shown.
func TestRecordingIsBounded(t *testing.T) {
	var events []exec.Event
	for i := range 2 * maxRecorded {
		events = append(events, wire.StderrLine{Head: wire.Head{At: noon(), Server: fmt.Sprint("s", i)}, Text: "x"})
	}
	events = append(events, wire.StderrLine{
		Head: wire.Head{At: noon(), Server: strings.Repeat("\x1b[2J", maxName)}, Text: "x",
	})
	d := replayed(t, events...)
	if n := len(d.m.servers.list); n != maxRecorded {
		t.Errorf("%d servers", n)
	}
	d.shows("101 lost")
}
