//go:build unix

package cmd_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/term"
)

// window is a toolx that runs in a terminal emulator, which a person would look at.
type window struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	pids   string // the file in which the fake server writes its process
	shown  *vt.SafeEmulator
	// drawn holds a token when something was written since it was looked at.
	drawn chan struct{}
	ended chan struct{}

	mu     sync.Mutex
	titles []string
}

// openWindow starts toolx in an emulator; PIDS in the arguments is the file for the processes of the fake server.
func openWindow(t *testing.T, columns, rows int, args ...string) *window {
	t.Helper()
	return openProgram(t, columns, rows, "toolx", args...)
}

// openProgram is openWindow for another program, which finds the released toolx on its path.
func openProgram(t *testing.T, columns, rows int, program string, args ...string) *window {
	t.Helper()
	long(t) // each waits for many frames
	w := &window{
		t: t, pids: filepath.Join(t.TempDir(), "pids"), shown: vt.NewSafeEmulator(columns, rows),
		drawn: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "PIDS", w.pids)
	}
	w.shown.SetCallbacks(vt.Callbacks{Title: func(title string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.titles = append(w.titles, title)
	}})
	w.cmd = exec.Command(program, args...)
	w.cmd.Dir = emptyFolder(t)
	w.cmd.Env = append(os.Environ(), homeVariables(t.TempDir())...)
	w.cmd.Env = append(w.cmd.Env, "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=", "NO_COLOR=",
		"GORACE=atexit_sleep_ms=0",
		"PATH="+built(t, releasedPath))
	master, err := pty.StartWithSize(w.cmd, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)})
	if err != nil {
		t.Fatal(err)
	}
	w.master = master
	answered := make(chan struct{})
	go w.show()
	go func() {
		defer close(answered)
		_, _ = io.Copy(master, w.shown) // what the emulator answers
	}()
	t.Cleanup(func() {
		_ = w.cmd.Process.Kill()
		_ = master.Close()
		<-w.ended
		if answers, ok := w.shown.InputPipe().(io.Closer); ok {
			_ = answers.Close()
			<-answered
		}
	})
	return w
}

// show gives the emulator what toolx writes, until it ends.
func (w *window) show() {
	defer close(w.ended)
	chunk := make([]byte, 64<<10)
	for {
		n, err := w.master.Read(chunk)
		_, _ = w.shown.Write(chunk[:n])
		select {
		case w.drawn <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// text is what stands on the screen.
func (w *window) text() string { return ansi.Strip(w.shown.Render()) }

// await waits until all texts are on the screen.
func (w *window) await(texts ...string) {
	w.t.Helper()
	w.until(strings.Join(texts, ", "), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

func (w *window) until(what string, holds func(screen string) bool) {
	w.t.Helper()
	deadline := time.After(time.Minute)
	for !holds(w.text()) {
		select {
		case <-w.drawn:
		case <-w.ended:
			w.t.Fatalf("toolx ended before %s:\n%s", what, w.text())
		case <-deadline:
			w.t.Fatalf("%s never came:\n%s", what, w.text())
		}
	}
}

// press writes what a terminal sends for keys.
func (w *window) press(keys ...string) {
	w.t.Helper()
	codes := map[string]string{
		"enter": "\r", "esc": "\x1b", "tab": "\t", "down": "\x1b[B", "up": "\x1b[A", "ctrl+r": "\x12", "ctrl+c": "\x03",
		"f1": "\x1bOP",
	}
	for _, key := range keys {
		code, special := codes[key]
		if !special {
			code = key
		}
		if _, err := w.master.WriteString(code); err != nil {
			w.t.Fatal(err)
		}
	}
}

// end waits for toolx's end; it wants an exit code, the terminal as it was, and no process of a server.
func (w *window) end(code int) {
	w.t.Helper()
	<-w.ended
	_ = w.cmd.Wait() // the exit code says how it ended
	if got := w.cmd.ProcessState.ExitCode(); got != code {
		w.t.Errorf("exit code %d, want %d:\n%s", got, code, w.text())
	}
	if w.shown.IsAltScreen() {
		w.t.Error("the terminal is left in the alternate screen")
	}
	w.gone()
}

// gone wants no process of the fake server to be left.
func (w *window) gone() {
	w.t.Helper()
	for _, pid := range w.servers() {
		if !within(func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }) {
			w.t.Fatalf("process %d of the server is left behind", pid)
		}
	}
}

// servers are the processes that the fake server has been.
func (w *window) servers() []int {
	w.t.Helper()
	text, err := os.ReadFile(w.pids)
	if err != nil {
		w.t.Fatal(err)
	}
	var pids []int
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			w.t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// A tool is found by the filter, filled in and called; the screen may change its
// size; q leaves the terminal as it was, and nothing behind.
func TestTUICallsATool(t *testing.T) {
	t.Parallel()
	w := openWindow(t, 120, 40, "tui", "--", "fakeserver", "--pids", "PIDS", "good")
	w.await("▾ server", "echo")
	w.press("/", "echo")
	w.await("❯ echo", "server · echo")
	w.press("enter")
	w.await("missing 'message'")
	w.press("hällo wörld")
	w.await("hällo wörld")
	w.press("ctrl+r")
	w.await("result  [#1")
	w.until("the answer", func(screen string) bool { return strings.Count(screen, "hällo wörld") == 2 })
	for _, size := range [][2]int{{60, 20}, {40, 12}, {200, 50}} {
		w.shown.Resize(size[0], size[1])
		if err := pty.Setsize(w.master, &pty.Winsize{Cols: uint16(size[0]), Rows: uint16(size[1])}); err != nil {
			t.Fatal(err)
		}
		w.await("hällo")
	}
	w.press("ctrl+c")
	w.end(0)
}

// What cannot be kept is told in the log of the screen, which has stderr's place.
func TestTUITellsWhatIsNotLogged(t *testing.T) {
	t.Parallel()
	w := openProgram(t, 120, 40, "env", "XDG_STATE_HOME=/dev/null", "toolx", "call", "echo", "message=hi", "--edit",
		"--", "fakeserver", "--pids", "PIDS", "good")
	w.await("server · echo", "ctrl+r calls")
	w.press("ctrl+r")
	w.await("result  [#1")
	w.press("4", "]", "]", "]")
	w.await("[log]", "◇ calls are not logged")
	w.press("ctrl+c")
	w.end(0)
}

// Without a server, the screen says how to get one. One is added, fails, its log is opened, and its entry is edited, as
// which it starts; what is neither a command nor an address is not kept.
func TestTUIFirstServer(t *testing.T) {
	t.Parallel()
	folder := emptyFolder(t)
	script := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	paged := filepath.Join(folder, "paged")
	w := openProgram(t, 120, 40, "env",
		"EDITOR="+script("edit", `sed s/exit1-stderr/good/ "$1" >"$1.new" && cat "$1.new" >"$1"`),
		"PAGER="+script("page", "cat >"+paged+".new && mv "+paged+".new "+paged), "toolx", "tui")
	w.await("command or address")
	w.press("echo $HOME", "enter")
	w.await("neither an address nor a command line")
	w.press("\x15", "fakeserver --pids "+w.pids+" exit1-stderr", "enter") // ctrl+u clears the line
	w.await("✗ fakeserver", "e edit its entry in $EDITOR", "doctor", "o open its log in $PAGER")
	w.press("o")
	if !within(func() bool { _, err := os.Stat(paged); return err == nil }) {
		t.Error("the log was not opened")
	}
	w.await("✗ fakeserver")
	w.press("e")
	w.await("▾ fakeserver", "echo")
	w.press("a")
	w.await("command or address")
	w.press("fakeserver --pids "+w.pids+" good", "enter")
	w.await("▾ fakeserver-2", "▾ fakeserver")
	w.press("ctrl+c")
	w.end(0)
}

// A call is cancelled, the server lives on; restarted, it is another process.
func TestTUICancelsAndRestarts(t *testing.T) {
	t.Parallel()
	w := openWindow(t, 120, 40, "call", "slow", "ms=600000", "steps=60000", "--edit", "--", "fakeserver", "--pids",
		"PIDS", "good")
	w.await("server · slow", "600000", "ctrl+r calls")
	w.press("ctrl+r")
	w.await("x cancels")
	w.press("x")
	w.await("interrupted", "▾ server")
	before := len(w.servers())
	w.press("R")
	w.until("another process",
		func(screen string) bool { return len(w.servers()) > before && strings.Contains(screen, "▾ server") })
	w.press("ctrl+c")
	w.end(0)
}

// What a server has beside tools is listed, found, filled in with its suggestions, read,
// got and subscribed to, in both eras of the protocol.
func TestTUIReadsAndGets(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		w := openWindow(t, 118, 40, "tui", "--protocol", revision, "--", "fakeserver", "--pids", "PIDS", "dual-era",
			"features")
		w.await(revision, "▸ resources", "▸ templates", "▸ prompts")
		w.press("/", "greet")
		w.await("❯ greet", "· greet")
		w.press("enter")
		w.await("ctrl+o takes Ada  Alan  Grace")
		w.press("\x0f") // ctrl+o
		w.await("[Ada]", "ctrl+r gets greet")
		w.press("ctrl+r")
		w.await("[messages]", "Greet Ada ()", "Gladly.")
		w.press("1", "/", "test://text")
		w.await("· A text", "test://text")
		w.press("enter", "enter")
		w.await("second line", "result  [#1")
		w.press("1", "u")
		w.await("◉", "subscribed, 1 update")
		w.press("u")
		w.await("      A text")
		w.press("ctrl+c")
		w.end(0)
	}
}

// A server that dies by itself is not shown as ready; restarted, it is.
func TestTUIShowsADeath(t *testing.T) {
	t.Parallel()
	w := openWindow(t, 120, 40, "tui", "--", "fakeserver", "--pids", "PIDS", "exit-after-list")
	w.await("✗ server  exit status 3")
	w.press("ctrl+c")
	w.end(0)

	w = openWindow(t, 120, 40, "tui", "--", "fakeserver", "--pids", "PIDS", "good")
	w.await("▾ server")
	if err := syscall.Kill(w.servers()[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.await("signal: killed")
	w.press("R")
	w.await("▾ server")
	w.press("ctrl+c")
	w.end(0)
}

// click writes what a terminal sends for a click on a text (SGR mouse reports count cells from 1).
func (w *window) click(text string) {
	w.t.Helper()
	for y, line := range strings.Split(w.text(), "\n") {
		if at := strings.Index(line, text); at >= 0 {
			w.press(fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%[1]d;%[2]dm", ansi.StringWidth(line[:at])+1, y+1))
			return
		}
	}
	w.t.Fatalf("%q is not on the screen:\n%s", text, w.text())
}

// What a terminal sends for the mouse goes where the pointer is.
func TestTUIMouse(t *testing.T) {
	t.Parallel()
	w := openWindow(t, 120, 40, "tui", "--", "fakeserver", "--pids", "PIDS", "good")
	w.await("▾ server", "    echo", "connected, protocol") // the panes keep their size from here
	w.click("wire")
	w.await("[wire]", "tools/list")
	w.click("    echo")
	w.await("missing 'message'")
	w.click("about json")
	w.await("[about]")
	w.click("? help")
	w.await("keys of tool", "all actions")
	w.press("ctrl+c")
	w.end(0)
}

// A server that lives on with a closed stdout is shown as ended. Calls fail at once,
// with the reason; the process is not touched until somebody restarts it.
func TestTUIShowsAClosedStdout(t *testing.T) {
	t.Parallel()
	w := openWindow(t, 140, 40, "call", "echo", "message=hi", "--edit", "--", "fakeserver", "--pids", "PIDS",
		"stdout-closed-call")
	w.await("server · echo", "ctrl+r calls")
	w.press("ctrl+r")
	w.await("✗ server  closed its stdout", "during tools/call")
	w.press("ctrl+r")
	w.await("#2", "R restarts the server")
	if lives := w.servers(); len(lives) != 1 {
		t.Errorf("the server has had %d processes", len(lives))
	}
	w.press("R")
	w.until("another process",
		func(screen string) bool { return len(w.servers()) == 2 && strings.Contains(screen, "▾ server") })
	w.press("ctrl+c")
	w.end(0)
}

// What a server says is shown and not obeyed: the title stays toolx's.
func TestTUIWithAHostileServer(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"term-name", "term-bidi", "banner-ansi", "text-flood", "stderr-flood"} {
		w := openProgram(t, 100, 30, buildToolx(t), "tui", "--", "fakeserver", "--pids", "PIDS", mode)
		w.await("▾ server")
		w.press("G")
		w.press("enter")
		w.press("ctrl+c")
		w.end(0)
		w.mu.Lock()
		for _, title := range w.titles {
			if title != "toolx" && title != "" {
				t.Errorf("%s: the window's title became %q", mode, title)
			}
		}
		w.mu.Unlock()
	}
}

// terminalMode is how a terminal treats input and output.
func terminalMode(t *testing.T, terminal *os.File) string {
	t.Helper()
	state, err := term.GetState(int(terminal.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(state)
}

// Signals end it in order; a kill leaves no server behind either.
func TestTUIIsEnded(t *testing.T) {
	t.Parallel()
	obeyHangUp()
	for signal, code := range map[syscall.Signal]int{
		syscall.SIGTERM: 130, syscall.SIGHUP: 130, syscall.SIGQUIT: 2, syscall.SIGABRT: 2, syscall.SIGSEGV: 2,
	} {
		w := openProgram(t, 100, 30, buildToolx(t), "tui", "--", "fakeserver", "--pids", "PIDS", "good")
		w.await("▾ server")
		raw := terminalMode(t, w.master)
		if err := w.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		w.end(code)
		if after := terminalMode(t, w.master); after == raw {
			t.Errorf("%v leaves the terminal without echo and line editing", signal)
		}
	}
	w := openProgram(t, 100, 30, buildToolx(t), "tui", "--", "fakeserver", "--pids", "PIDS", "good")
	w.await("▾ server")
	_ = w.cmd.Process.Kill()
	<-w.ended
	w.gone()
}

// Where nothing is configured, toolx alone shows the welcome page, whatever it could find, and asks nothing before.
func TestTUIWelcomes(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]string{
		"an empty home":            "true",
		"a server's package":       `echo '{"name":"notes","bin":"n.js","dependencies":{"fastmcp":"3"}}' > package.json`,
		"another client's servers": `mkdir -p ~/.cursor; echo '{"mcpServers":{"own":{"command":"x"}}}' > ~/.cursor/mcp.json`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := openProgram(t, 100, 30, "sh", "-c", "cd; mkdir -p work; cd work; "+prepare+"; exec toolx")
			w.await("command or address")
			w.press("esc")
			w.await("welcome", "No server is configured yet.", "add a server", "toolx init")
			w.press("q")
			<-w.ended
		})
	}
}

// A recording is shown, with what is added to it, and nothing of it is started; no config is read.
func TestTUIShowsARecording(t *testing.T) {
	t.Parallel()
	folder := emptyFolder(t)
	path, pids := filepath.Join(folder, "calls.jsonl"), filepath.Join(folder, "pids")
	add := func(lines ...string) {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = file.WriteString(strings.Join(lines, "\n") + "\n")
		}
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
	}
	const head = `{"time":"2026-11-20T12:00:00Z","server":"lamp",`
	add(head+`"process":{"command":["fakeserver","--pids","`+pids+`","good"]}}`,
		head+`"direction":"sent","frame":{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"dim"}}}`)
	w := openWindow(t, 120, 40, "tui", path, "--config", filepath.Join(folder, "none.yaml"))
	if err := os.WriteFile(w.pids, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.await("1 recording", "timeline of lamp", "▶ tools/call dim #1", "no response")
	add(head+`"direction":"received","latency_ms":1500,"frame":{"jsonrpc":"2.0","id":7,"result":{}}}`,
		head+`"stderr":"Error: LAMP_TOKEN is not set"}`, head+`"process":{"ended":"exit status 1","lived_ms":1500}}`)
	w.await("✓ 1.5 s", "process ended after 1.5 s: exit status 1", "✗ lamp  LAMP_TOKEN is not set")
	w.press("r")
	w.await("r does nothing in a recording")
	w.press("1", "d")
	w.await("unfold the doctor's findings", "env-missing")
	w.press("q")
	w.end(0)
	if _, err := os.Stat(pids); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the recorded server was started: %v", err)
	}
}
