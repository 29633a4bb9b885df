//go:build unix

package cmd

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/adrg/xdg"
	"go.uber.org/goleak"

	"toolx/cmd/exit"
)

// TestInterruptible proves that the first signal asks for an orderly end and the second for a quick one, and that
// Ctrl-C in a form counts as one.
func TestInterruptible(t *testing.T) {
	signal := func(func()) {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
			t.Error(err)
		}
	}
	inForm := func(interrupt func()) { interrupt() }
	for name, first := range map[string]func(interrupt func()){"signal": signal, "in a form": inForm} {
		t.Run(name, func(t *testing.T) {
			ctx, hurry, interrupt, stop := interruptible()
			defer stop()
			first(interrupt)
			<-ctx.Done()
			if hurry.Err() != nil {
				t.Error("the first one hurries")
			}
			signal(interrupt)
			<-hurry.Done()
		})
	}
}

// TestMainLeavesNothing runs verbs inside this process: when Main returns, no
// goroutine is left, whatever the server does.
func TestMainLeavesNothing(t *testing.T) {
	t.Cleanup(xdg.Reload) // after the variables have their values back
	t.Setenv("TOOLX_CONFIG", os.DevNull)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	xdg.Reload()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, test := range []struct {
		code int
		args []string
	}{
		{0, []string{"call", "echo", "message=hi", "--", "fakeserver", "good"}},
		{0, []string{"list", "--", "fakeserver", "pages"}},
		{4, []string{"call", "echo", "--retries", "0", "--", "fakeserver", "exit1-stderr"}},
		{6, []string{"call", "echo", "message=hi", "--", "fakeserver", "exit-mid-call"}},
		{124, []string{"call", "sleep", "ms=600000", "--timeout", "50ms", "--", "fakeserver", "good"}},
		{0, []string{"call", "echo", "message=hi", "--", "fakeserver", "grandchild"}},
		{2, []string{"call", "nope", "--", "fakeserver", "good"}},
	} {
		streams, _, stderr := buffered("")
		if code := Main(streams, test.args); code != test.code {
			t.Errorf("%v: exit code %d, want %d\n%s", test.args, code, test.code, stderr)
		}
	}
}

// TestInterruptedBeforeTheVerb proves that a signal which comes before a verb has begun ends it as a late one does.
func TestInterruptedBeforeTheVerb(t *testing.T) {
	t.Cleanup(xdg.Reload) // after the variables have their values back
	t.Setenv("TOOLX_CONFIG", os.DevNull)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	xdg.Reload()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, line := range []string{
		"call echo message=hi", // toolx's own tool, which is quicker than any signal
		"call echo message=hi -- fakeserver good",
		"list -- fakeserver good",
		"show echo -- fakeserver good",
		"resources read x:y -- fakeserver good",
		"prompts list -- fakeserver good",
		"complete prompt x= -- fakeserver good",
		"raw ping -- fakeserver good",
		"ping -- fakeserver good",
		"watch -- fakeserver good",
		"doctor -- fakeserver good",
		"convert --format qwen -- fakeserver good",
		"auth login http://127.0.0.1:1/mcp",
	} {
		streams, out, stderr := buffered("")
		code := newApp(streams).main(ended, context.Background(), strings.Fields(line))
		if code != exit.Interrupted {
			t.Errorf("%s: exit code %d, want %d\n%s%s", line, code, exit.Interrupted, out, stderr)
		}
	}
}
