//go:build unix

package cmd_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// called opens a window on a server in a mode, with flags of the verb, and calls echo.
func called(t *testing.T, flags []string, mode ...string) *window {
	t.Helper()
	args := append([]string{"call", "echo", "message=hi", "--edit"}, flags...)
	args = append(append(args, "--", "fakeserver", "--pids", "PIDS"), mode...)
	w := openWindow(t, 400, 40, args...) // wide enough for what the server writes
	w.await("server · echo", "ctrl+r calls")
	w.press("ctrl+r")
	return w
}

// A form that a server asks for is filled in on the screen, in both eras: a legacy server
// asks by a request, one of 2026-07-28 in the place of a result.
func TestTUIAsksAForm(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"elicit":         `asked elicitation/create: result {"action":"accept","content":{"name":"Ada","happy":true,"colour":"green"}}`,
		"input-required": `{"form":{"action":"accept","content":{"name":"Ada","happy":true,"colour":"green"}}}`,
	} {
		w := called(t, nil, mode)
		w.await("the server asks", "for the call of server__echo", "│ Who are you?", "missing 'name'")
		w.press("Ada")
		w.await("Ada")
		w.press("\x13") // ctrl+s
		w.await(want)
		w.press("ctrl+c")
		w.end(0)
	}
}

// A call is cancelled from its question, and the server lives on. That no time runs while
// somebody types is TestNoTimeRunsWhileAPersonIsAsked of pkg/servers, on a clock of its own.
func TestTUICancelsWhileAsked(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"elicit", "input-required"} {
		w := called(t, nil, mode)
		w.await("│ Who are you?")
		w.press("\x1b[Z", "x") // shift+tab leaves the form
		w.await("interrupted", "▾ server")
		w.press("ctrl+c")
		w.end(0)
	}
}

// A question goes away with the server that asked, and its end is told.
func TestTUIAskedByADeadServer(t *testing.T) {
	t.Parallel()
	w := called(t, nil, "elicit")
	w.await("│ Who are you?")
	if err := syscall.Kill(w.servers()[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.await("no longer waits for an answer", "signal: killed")
	w.press("ctrl+c")
	w.end(0)
}

// A page is opened after a yes.
func TestTUIAsksForAVisit(t *testing.T) {
	told := filepath.Join(t.TempDir(), "told")
	t.Setenv("BROWSER", browserInto(t, told))
	w := called(t, nil, "elicit-url")
	w.await("visit a page on login.example", "│ Sign in first", "https://login.example/start?x=1")
	if _, err := os.Stat(told); err == nil {
		t.Error("the page was opened unasked")
	}
	w.press("\x13")
	w.await(`{"action":"accept"}`)
	awaitFile(t, told, "https://login.example/start?x=1\n")
	w.press("ctrl+c")
	w.end(0)
}

// The user plays the model where that was asked for, and flags answer where they can;
// otherwise sampling is declined at once.
func TestTUIAnswersSampling(t *testing.T) {
	t.Parallel()
	w := called(t, []string{"--sampling", "ask"}, "sample")
	w.await("the server asks a model", "│ Be brief.", "[image image/png", "a model like small", "at most 10 tokens")
	w.press("red")
	w.await("red")
	w.press("\x13")
	w.await(`"model":"human","content":{"type":"text","text":"red"}`)
	w.press("ctrl+c")
	w.end(0)

	w = called(t, nil, "sample")
	w.await("asked sampling/createMessage: error", "-32601")
	w.press("ctrl+c")
	w.end(0)

	w = called(t, []string{"--root", "/", "--elicit", "decline"}, "input-required")
	w.await(`"where":{"roots":[{"uri":"file:///"`, `"form":{"action":"decline"}`)
	w.press("ctrl+c")
	w.end(0)

	w = called(t, []string{"--elicit", `{"name":"Ada"}`}, "elicit")
	w.await(`{"action":"accept","content":{"name":"Ada"`)
	w.press("ctrl+c")
	w.end(0)
}
