package timeline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/pane"
)

// noon is the beginning of all that happens in tests.
func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// after is a time so many milliseconds after noon.
func after(ms int) exec.Time {
	return exec.Time{At: noon().Add(time.Duration(ms) * time.Millisecond)}
}

// later is what the clock of tests says.
func later() time.Time { return after(10_000).At }

// newTimeline makes a pane whose clock says ten seconds after noon, and that has taken
// events.
func newTimeline(events ...exec.Event) *Timeline {
	w := New(pane.NewTheme(false, true, false), Options{Now: later})
	take(w, events...)
	return w
}

func take(w *Timeline, events ...exec.Event) {
	for _, event := range events {
		w.Take(event)
	}
}

// goTo turns to the filter of a name.
func goTo(t testing.TB, w *Timeline, name string) {
	t.Helper()
	for range filterNames() {
		if filterNames()[w.only] == name {
			return
		}
		press(w, "]")
	}
	t.Fatalf("there is no filter %s", name)
}

// press presses keys by their names; "text:…" types. It gives the last message that
// came of it.
func press(w *Timeline, keys ...string) (last tea.Msg) {
	for _, key := range keys {
		if text, ok := strings.CutPrefix(key, "text:"); ok {
			for _, r := range text {
				w.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
			}
			continue
		}
		if cmd := w.Update(keyOf(key)); cmd != nil && !w.Editing() {
			last = cmd()
		}
	}
	return last
}

func keyOf(name string) tea.KeyPressMsg {
	special := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft,
		"right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "space": tea.KeySpace, "home": tea.KeyHome,
		"end": tea.KeyEnd, "backspace": tea.KeyBackspace,
	}
	if code, ok := special[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	r := []rune(name)[0]
	return tea.KeyPressMsg{Code: r, Text: name}
}

// frameOf is what the pane draws, without styles, every line without the spaces at
// its end. It fails where it has not exactly the size that was asked for, or holds
// what acts on a terminal.
func frameOf(t testing.TB, w *Timeline, width, height int) []string {
	t.Helper()
	frame := w.Render(width, height)
	if height <= 0 {
		if frame != "" {
			t.Fatalf("a frame of no height is %q", frame)
		}
		return nil
	}
	lines := strings.Split(frame, "\n")
	if len(lines) != height {
		t.Fatalf("%d lines instead of %d:\n%s", len(lines), height, frame)
	}
	for i, line := range lines {
		if got := ansi.StringWidth(line); got != width {
			t.Fatalf("line %d has %d cells instead of %d: %q", i, got, width, line)
		}
		lines[i] = strings.TrimRight(ansi.Strip(line), " ")
		if strings.ContainsAny(lines[i], "\x1b\x07\u009b\t\r\x00\u202e\u200b") {
			t.Fatalf("line %d holds control characters: %q", i, lines[i])
		}
	}
	return lines
}

// shows fails unless the frame, the title or the position holds all texts, and none of those that begin with "¬".
func shows(t testing.TB, w *Timeline, texts ...string) {
	t.Helper()
	frame := strings.Join(frameOf(t, w, 120, 12), "\n")
	frame += "\n" + w.Title(100) + "\nfollowing"
	if v := w.view; v.stopped {
		frame = strings.TrimSuffix(frame, "following") + fmt.Sprintf("row %d of %d", v.list.Cursor+1, len(v.hits))
	}
	for _, text := range texts {
		if unwanted, ok := strings.CutPrefix(text, "¬"); ok {
			if strings.Contains(frame, unwanted) {
				t.Errorf("%q is there:\n%s", unwanted, frame)
			}
		} else if !strings.Contains(frame, text) {
			t.Errorf("%q is not there:\n%s", text, frame)
		}
	}
}

func containsAll(t testing.TB, frame string, texts []string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(frame, text) {
			t.Errorf("%q is not there:\n%s", text, frame)
		}
	}
}

func sent(ms int, server, text string) exec.Event {
	return wire.NewFrameSent(after(ms).At, server, []byte(text))
}

func received(ms int, server, text string) exec.Event {
	return wire.NewFrameReceived(after(ms).At, server, 0, []byte(text))
}

func stderrLine(ms int, server, text string) exec.Event {
	return wire.StderrLine{Head: wire.Head{At: after(ms).At, Server: server}, Text: text}
}

func processStarted(ms int, server string) exec.Event {
	return wire.ProcessStarted{
		Head: wire.Head{At: after(ms).At, Server: server}, PID: 4711, Command: []string{"node", "server.js"},
	}
}

// stderrLines are n lines, numbered from 0.
func stderrLines(server string, n int) []exec.Event {
	events := make([]exec.Event, n)
	for i := range events {
		events[i] = stderrLine(i, server, fmt.Sprintf("line %d.", i))
	}
	return events
}
