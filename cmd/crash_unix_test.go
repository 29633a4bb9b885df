//go:build unix

package cmd_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// Whatever panics in the terminal interface, the terminal is restored, no server is left
// behind, and a few words say where the trace is.
func TestTUICrashes(t *testing.T) {
	t.Parallel()
	for where, keys := range map[string][]string{
		"view":    nil,
		"update":  {"down", "Y"},
		"command": {"d"},
	} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			w := openProgram(t, 100, 30, "crashing", where, "tui", "--", "fakeserver", "--pids", "PIDS", "good")
			if where != "view" {
				w.await("▾ server")
			}
			w.press(keys...)
			w.end(1)
			// The terminal's late answers to questions of the interface are echoed before
			// the first line, which may then be wrapped within a word.
			unspaced := func(text string) string { return strings.Join(strings.Fields(text), "") }
			text := unspaced(w.text())
			for _, want := range []string{"error: the terminal interface crashed: a bug in " + where, `with \x1b[31mmore`, "hint: this is a bug in toolx", "crash.txt"} {
				if !strings.Contains(text, unspaced(want)) {
					t.Errorf("%q is not on the terminal:\n%s", want, w.text())
				}
			}
			if strings.Contains(w.text(), "goroutine ") {
				t.Errorf("the trace is on the terminal:\n%s", w.text())
			}
			w.asItWas()
			if trace := w.state("crash.txt"); !strings.Contains(trace, "a bug in "+where) ||
				!strings.Contains(trace, "MainThatCrashes") {
				t.Errorf("the trace is %q", trace)
			}
		})
	}
}

// asItWas wants the terminal's settings to be those of a new terminal: lines, and echo.
func (w *window) asItWas() {
	w.t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		w.t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	fresh, err := term.GetState(int(master.Fd()))
	if err != nil {
		w.t.Fatal(err)
	}
	now, err := term.GetState(int(w.master.Fd()))
	if err != nil || !reflect.DeepEqual(fresh, now) {
		w.t.Errorf("the terminal has %+v, %v; a new one %+v", now, err, fresh)
	}
}

// state is the content of a file that toolx keeps.
func (w *window) state(name string) string {
	w.t.Helper()
	for _, entry := range slices.Backward(w.cmd.Env) { // the last one counts
		if home, ok := strings.CutPrefix(entry, "XDG_STATE_HOME="); ok {
			text, err := os.ReadFile(filepath.Join(home, "toolx", name))
			if err != nil {
				w.t.Fatal(err)
			}
			return string(text)
		}
	}
	w.t.Fatal("there is no folder for state")
	return ""
}
