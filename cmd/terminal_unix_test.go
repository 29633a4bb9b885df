//go:build unix

package cmd_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// terminal is a toolx that runs on a terminal of 80 columns, and all that it has written there.
type terminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	seen   strings.Builder
}

// onTerminal starts toolx in an empty folder; env is laid over an environment without NO_COLOR.
func onTerminal(t *testing.T, env []string, args ...string) *terminal {
	t.Helper()
	return onTerminalIn(t, emptyFolder(t), env, args...)
}

func onTerminalIn(t *testing.T, folder string, env []string, args ...string) *terminal {
	t.Helper()
	return programOnTerminal(t, folder, env, buildToolx(t), args...)
}

// programOnTerminal is onTerminalIn for another program.
func programOnTerminal(t *testing.T, folder string, env []string, program string, args ...string) *terminal {
	t.Helper()
	term := &terminal{t: t, cmd: exec.Command(program, args...)}
	term.cmd.Dir = folder
	term.cmd.Env = append(os.Environ(), homeVariables(t.TempDir())...)
	term.cmd.Env = append(term.cmd.Env, "TERM=xterm-256color", "NO_COLOR=", "CLICOLOR_FORCE=", "FORCE_COLOR=")
	term.cmd.Env = append(term.cmd.Env, env...)
	master, err := pty.StartWithSize(term.cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	term.master = master
	t.Cleanup(func() {
		_ = term.cmd.Process.Kill()
		_ = master.Close()
	})
	return term
}

// read takes what comes next; false means that toolx has ended.
func (term *terminal) read() bool {
	term.t.Helper()
	chunk := make([]byte, 4096)
	n, err := term.master.Read(chunk)
	term.seen.Write(chunk[:n])
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, syscall.EIO): // EIO: Linux's end of a terminal
		return false
	case err != nil:
		term.t.Fatal(err)
	}
	return true
}

// await reads until what was written matches.
func (term *terminal) await(pattern string) {
	term.t.Helper()
	for wanted := regexp.MustCompile(pattern); !wanted.MatchString(term.seen.String()); {
		if !term.read() {
			term.t.Fatalf("toolx ended without %q:\n%q", pattern, &term.seen)
		}
	}
}

// end reads to the end, wants an exit code, and returns all that was written.
func (term *terminal) end(code int) string {
	term.t.Helper()
	for term.read() {
		continue
	}
	_ = term.cmd.Wait() // the exit code says how it ended
	if got := term.cmd.ProcessState.ExitCode(); got != code {
		term.t.Errorf("exit code %d, want %d:\n%q", got, code, &term.seen)
	}
	return term.seen.String()
}

// screen is what a person sees in the end of text that moves only by line ends,
// carriage returns, and clearing to the line's end.
func screen(written string) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(written, "\r\n", "\n"), "\n") {
		_, last, cleared := cutLast(line, "\r\x1b[K")
		if !cleared {
			last = line
		}
		lines = append(lines, last)
	}
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}

func cutLast(text, mark string) (before, after string, found bool) {
	at := strings.LastIndex(text, mark)
	if at < 0 {
		return "", "", false
	}
	return text[:at], text[at+len(mark):], true
}

// TestProgressLine watches the live line of a call appear and vanish: the server starts when the line has been seen.
func TestProgressLine(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	term := onTerminal(t, nil, "call", "echo", "message=done", "--", "fakeserver", "--gate", gate, "slow-start")
	term.await("waiting for server server")
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	written := term.end(0)
	if got := screen(written); len(got) != 1 || got[0] != "done" {
		t.Errorf("the screen ends as %q, want the result alone\n%q", got, written)
	}
}

// TestProgressReports watches what the server reports, and presses Ctrl-C: the line gives way to the error.
func TestProgressReports(t *testing.T) {
	t.Parallel()
	term := onTerminal(t, []string{"NO_COLOR=1"}, "call", "slow", "ms=600000", "steps=60000", "--", "fakeserver",
		"good")
	term.await(`slow  [█░]{20}  \d+/60000  [0-9.]+m?s  step \d+ of 60000`)
	if _, err := term.master.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	written := term.end(130)
	got := screen(written)
	if len(got) == 0 || got[len(got)-1] != "error: Tool 'server__slow' interrupted" {
		t.Errorf("the screen ends as %q", got)
	}
	for _, line := range strings.FieldsFunc(written, func(r rune) bool { return r == '\r' || r == '\n' }) {
		if columns := len([]rune(strings.TrimPrefix(line, "\x1b[K"))); columns >= 80 {
			t.Errorf("a line of %d columns wraps: %q", columns, line)
		}
	}
}

// TestHostileTextOnTerminal proves that no control character of a server reaches a
// terminal: in results, structured or not, in errors, lists and log lines.
func TestHostileTextOnTerminal(t *testing.T) {
	t.Parallel()
	hostile := []string{
		"term-title", "term-clear", "term-link", "term-clipboard", "term-c1", "term-bidi", "term-zero-width",
		"term-tags", "term-newlines",
		"term-name", "term-stderr",
	}
	verbs := []struct {
		code int
		args []string
	}{
		{0, []string{"call", "echo", "message=hi"}},
		{0, []string{"call", "echo", "message=hi", "--json"}},
		{0, []string{"call", "echo", "message=hi", "-o", "raw"}},
		{5, []string{"call", "fail", "-v"}},
		{0, []string{"list"}},
		{0, []string{"list", "--json"}},
		{0, []string{"show", "echo"}},
	}
	for _, mode := range hostile {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			for _, verb := range verbs {
				// A dumb terminal gets no colour and no live line: any escape is the server's.
				term := onTerminal(t, []string{"TERM=dumb"},
					slices.Concat(verb.args, []string{"--", "fakeserver", mode})...)
				written := term.end(verb.code)
				if found := unsafe(strings.ReplaceAll(written, "\r\n", "\n")); found != "" {
					t.Errorf("toolx %s: %s reaches the terminal\n%q", strings.Join(verb.args, " "), found, written)
				}
			}
		})
	}
}

// unsafe names the first character that moves, hides or turns what a person sees.
func unsafe(text string) string {
	for _, r := range text {
		switch {
		case r == '\n', r == '\t', r >= ' ' && r < 0x7f:
		case r < ' ', r >= 0x7f && r < 0xa0, // controls
			r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, // zero width, bidi
			r >= 0x2060 && r <= 0x206f, r == 0xfeff, r >= 0xe0000 && r <= 0xe007f: // more of them, tags
			return fmt.Sprintf("U+%04X", r)
		}
	}
	return ""
}

// TestColour proves that there is colour on a terminal, and none where NO_COLOR or --no-color is set.
func TestColour(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		env, flags []string
		want       bool
	}{
		{nil, nil, true},
		{[]string{"NO_COLOR=1"}, nil, false},
		{nil, []string{"--no-color"}, false},
		{[]string{"TERM=dumb"}, nil, false},
	} {
		// -q keeps the live line away, whose sequences are no colour.
		for _, args := range [][]string{{"list", "-q"}, {"show", "math_eval", "-q"}} {
			term := onTerminal(t, test.env, append(args, test.flags...)...)
			if got := strings.Contains(term.end(0), "\x1b["); got != test.want {
				t.Errorf("%v toolx %v %v: colour is %t, want %t", test.env, args, test.flags, got, test.want)
			}
		}
	}
}

// TestOutputIsCutOnTerminal proves that a terminal gets 256 KiB of a large result
// unless all is asked for (EXEC-14). In a pipe all of it comes: see call-output.
func TestOutputIsCutOnTerminal(t *testing.T) {
	t.Parallel()
	count := func(written string) int { return len(regexp.MustCompile(`[0-9a-zA-Z_-]{1000,}`).FindString(written)) }
	term := onTerminal(t, []string{"TERM=dumb"}, "call", "big", "bytes=300000", "--", "fakeserver", "good")
	written := term.end(0)
	if got := count(written); got != 256<<10 ||
		!strings.Contains(written, "output cut: 256.0 KiB of 293.0 KiB shown; --max-output 0 shows all") {
		t.Errorf("%d bytes: %q", got, written[max(0, len(written)-200):])
	}
	term = onTerminal(t, []string{"TERM=dumb"}, "call", "big", "bytes=300000", "--max-output", "0", "--", "fakeserver",
		"good")
	if written := term.end(0); count(written) != 300_000 || strings.Contains(written, "output cut") {
		t.Errorf("with --max-output 0: %d bytes", count(written))
	}
}
