//go:build unix

package cmd_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// typing types what is asked for: pairs of a pattern to wait for, and a line. A pattern
// is looked for behind the one before it.
func (term *terminal) typing(turns ...string) {
	term.t.Helper()
	for i := 0; i+1 < len(turns); i += 2 {
		term.await(turns[i])
		seen := term.seen.String()
		end := regexp.MustCompile(turns[i]).FindStringIndex(seen)[1]
		term.seen.Reset()
		term.seen.WriteString(seen[end:])
		if _, err := term.master.WriteString(turns[i+1]); err != nil {
			term.t.Fatal(err)
		}
	}
}

// asked opens a window on a call whose server, in a mode of the fake, asks back.
func asked(t *testing.T, flags []string, mode string) *window {
	t.Helper()
	server := []string{"--", "fakeserver", "--pids", "PIDS", mode}
	args := slices.Concat([]string{"call", "echo", "message=hi", "-v"}, flags, server)
	return openWindow(t, 200, 40, args...)
}

// told wants the end of toolx, and what it shows then.
func (w *window) told(code int, want string) {
	w.t.Helper()
	w.end(code)
	if text := w.text(); !strings.Contains(text, want) {
		w.t.Errorf("there is no %s:\n%s", want, text)
	}
}

// TestFormOnTerminal fills in a form below the lines of the terminal: every field is checked.
func TestFormOnTerminal(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"elicit", "input-required"} {
		w := asked(t, nil, mode)
		w.await("the server asks", "│ Who are you?", "missing 'name'", "ctrl+s send", "ctrl+x decline", "esc cancel")
		w.press("A")
		w.await("'name' must have at least 2 characters")
		w.press("da\t36\tada")
		w.await("'mail'")
		w.press("\x13") // ctrl+s
		w.await("send: 'mail'")
		w.press("@example.com", "\x13")
		w.told(0, `{"action":"accept","content":{"name":"Ada","age":36,"mail":"ada@example.com","happy":true,"colour":"green"}}`)
	}
}

// TestFormsThatEndEarly says no in each way.
func TestFormsThatEndEarly(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"\x18": `{"action":"decline"}`, // ctrl+x
		"\x04": `{"action":"cancel"}`,  // ctrl+d
	} {
		w := asked(t, nil, "elicit")
		w.await("missing 'name'")
		w.press(typed)
		w.told(0, want)
	}
	w := asked(t, nil, "elicit")
	w.await("missing 'name'")
	w.press("Ada")
	w.await("esc stops typing")
	w.press("esc")
	w.until("the end of typing", func(screen string) bool { return !strings.Contains(screen, "esc stops typing") })
	w.press("esc")
	w.await("cancel?", "Your input will be lost.")
	w.press("y")
	w.told(0, `{"action":"cancel"}`)
	w = asked(t, nil, "elicit")
	w.await("missing 'name'")
	w.press("ctrl+c")
	w.end(130)
}

// TestFormRestoresTheTerminal ends toolx by signals while a form is open.
func TestFormRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	for signal, code := range map[syscall.Signal]int{syscall.SIGTERM: 130, syscall.SIGQUIT: 2} {
		w := openProgram(t, 200, 40, buildToolx(t),
			"call", "echo", "message=hi", "--", "fakeserver", "--pids", "PIDS", "elicit")
		w.await("missing 'name'")
		raw := terminalMode(t, w.master)
		if err := w.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		w.end(code)
		if after := terminalMode(t, w.master); after == raw {
			t.Errorf("%v leaves the terminal without echo and line editing", signal)
		}
	}
}

// TestPageOnTerminal shows the host of a page, asks, and opens it after a yes only.
func TestPageOnTerminal(t *testing.T) {
	const yes, no, neither = `{"action":"accept"}`, `{"action":"decline"}`, `{"action":"cancel"}`
	for _, test := range []struct {
		mode   string
		flags  []string
		turns  []string // what to wait for, and what to press
		want   string   // in what the server writes
		opened bool
	}{
		{"elicit-url", nil, []string{"ctrl+s open it", "\x13"}, yes, true},
		{"elicit-url", nil, []string{"ctrl+s open it", "\x18"}, no, false},
		{"elicit-url", nil, []string{"ctrl+s open it", "esc"}, neither, false},
		{"elicit-url", []string{"--no-browser"}, []string{"ctrl+s agree", "\x13"}, yes, false},
		{"elicit-url", []string{"--no-browser"}, []string{"ctrl+s agree", "\x18"}, no, false},
		{"elicit-first", nil, []string{"ctrl+s open it", "\x13", "ctrl+s I have visited it", "\x13"}, "hi", true},
	} {
		told := filepath.Join(t.TempDir(), "told")
		t.Setenv("BROWSER", browserInto(t, told))
		w := asked(t, test.flags, test.mode)
		w.await("visit a page on login.example", "│ Sign in first", "https://login.example/start?x=1")
		for turn := range slices.Chunk(test.turns, 2) {
			w.await(turn[0])
			w.press(turn[1])
		}
		w.told(0, test.want)
		if test.opened {
			awaitFile(t, told, "https://login.example/start?x=1\n")
		} else if _, err := os.Stat(told); err == nil {
			t.Errorf("%s %v %q: the page was opened", test.mode, test.flags, test.turns)
		}
	}
}

// browserInto makes a program that writes the address that it is given into a file.
func browserInto(t *testing.T, told string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "browser")
	script := "#!/bin/sh\necho \"$1\" > '" + told + ".new' && mv '" + told + ".new' '" + told + "'\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return program
}

// awaitFile waits for a file's content: nobody waits for a browser.
func awaitFile(t *testing.T, name, want string) {
	t.Helper()
	var text []byte
	if !within(func() bool { text, _ = os.ReadFile(name); return string(text) == want }) {
		t.Fatalf("%s holds %q, want %q", name, text, want)
	}
}

// TestPageWithoutBrowser is left to the user, who is asked all the same.
func TestPageWithoutBrowser(t *testing.T) {
	t.Setenv("BROWSER", "/nowhere/at/all")
	w := asked(t, nil, "elicit-url")
	w.await("ctrl+s open it")
	w.press("\x13")
	w.await("no browser could be started", "ctrl+s agree")
	w.press("\x13")
	w.told(0, `{"action":"accept"}`)
}

// TestUserPlaysTheModel answers a server's request to a model on the terminal.
func TestUserPlaysTheModel(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"good\nmorning\n\n": `"content":{"type":"text","text":"good\nmorning"},"stopReason":"endTurn"`,
		"/decline\n":        `"message":"the user declined the sampling request"`,
	} {
		term := onTerminal(t, []string{"NO_COLOR=1"},
			"call", "echo", "message=hi", "-v", "--sampling", "ask", "--elicit", "cancel", "--", "fakeserver",
			"server-requests")
		term.typing(`(?s)server "server" asks a model:\r\n  \| \[user\] hello.*\r\n> `, typed)
		if written := term.end(0); !strings.Contains(written, want) {
			t.Errorf("%q: the server was not told %s:\n%s", typed, want, written)
		}
	}
}
