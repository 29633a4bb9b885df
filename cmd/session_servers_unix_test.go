//go:build unix

package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// everyCommand are the commands that can use a session of SERVER.
var everyCommand = [][]string{
	{"list", "SERVER__*"},
	{"show", "SERVER__echo"},
	{"call", "SERVER__echo", "message=hi"},
	{"call", "--batch", "calls-SERVER.jsonl"},
	{"convert", "--format", "qwen", "--server", "SERVER"},
	{"ping", "SERVER"},
	{"resources", "list", "SERVER__*"},
	{"resources", "read", "SERVER__test://text"},
	{"prompts", "list", "SERVER__*"},
	{"prompts", "get", "SERVER__greet", "name=Ann"},
	{"complete", "SERVER__greet", "name=A"},
	{"raw", "SERVER", "tools/list"},
	{"watch", "SERVER", "--timeout", "1s"},
	{"ask", "hi", "--server", "SERVER"},
	{"session", "start", "SERVER"},
}

// TestEveryCommandWithBadServers runs every command that can use a session on servers that are silent, slow, ask a
// question, pollute their stdout or crash: without a session, with one that the command itself starts (keepAlive), and
// with one that was started by name before. Each ends in the same way, and none crashes (EXEC-5).
//
// A silent server is looked at for a question 5 s after its start, and for other signs of life after 10 s: servers that
// never answer are waited for longer than that, and so are some of those that are slow.
func TestEveryCommandWithBadServers(t *testing.T) {
	t.Parallel()
	long(t)
	once := []string{"--retries", "0"}
	within6s := append(slices.Clone(once), "--start-timeout", "6s")
	for name, test := range map[string]struct {
		args  string   // of the fake server
		flags []string // of every command
		code  int      // of every command
		calls int      // the exit code of call, where that is another one
		says  string   // on stderr, where code is not 0
		some  string   // the commands to run, where a server costs seconds each time; empty means all
	}{
		"silent":                  {args: "silent", flags: within6s, code: 4, says: "silent"},
		"silent after initialize": {args: "silent-after-init", flags: within6s, code: 4, says: "tools/list"},
		"asks at once":            {args: "tty-prompt", flags: once, code: 4, says: "asks a question"},
		"draws on the screen":     {args: "full-screen", flags: within6s, code: 4, says: "full-screen"},
		"says that it is HTTP":    {args: "http-mode", flags: once, code: 4, says: "HTTP"},
		"slow, 0.1 s":             {args: "--wait 100ms slow-start features"},
		"slow, 4 s":               {args: "--wait 4s slow-start features"},
		"slow, 12 s":              {args: "--wait 12s slow-start features", some: "call SERVER__echo, session start"},
		"pollutes":                {args: "banner log-between features"},
		"pollutes within frames":  {args: "log-inside features"},
		"crashes at its start":    {args: "exit1-stderr", flags: once, code: 4, says: "MQTT_URL"},
		"crashes by a signal":     {args: "sigsegv-early", flags: once, code: 4, says: "segmentation fault"},
		"crashes in a call":       {args: "exit-mid-call features", calls: 6, says: "go on", some: "call SERVER__echo"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSessionWorld(t, map[string]string{
				"none": test.args, "kept": test.args + "#keepAlive=1m", "named": test.args,
			})
			servers := []string{"none", "kept", "named"}
			w.write("answer.txt", `{"message":{"role":"assistant","content":"hi"},"done":true,"done_reason":"stop"}`)
			for _, server := range servers {
				w.write("calls-"+server+".jsonl", `{"tool":"`+server+`__echo","arguments":{"message":"hi"}}`+"\n")
			}
			w.run(append([]string{"session", "start", "named"}, test.flags...)...)
			var wait sync.WaitGroup
			places := make(chan struct{}, 24) // a slow machine does not start everything at once
			for _, command := range everyCommand {
				if test.some != "" && !strings.Contains(test.some, command[0]+" "+command[1]) {
					continue
				}
				want := test.code
				switch {
				case command[0] == "call" && test.calls != 0:
					want = test.calls
				case command[0] == "watch" && want == 0:
					want = 124 // nothing happens
				}
				for _, server := range servers {
					wait.Go(func() {
						args := append(slices.Clone(command), test.flags...)
						for i := range args {
							args[i] = strings.ReplaceAll(args[i], "SERVER", server)
						}
						if server == "none" && command[0] != "session" {
							args = append(args, "--no-session")
						}
						places <- struct{}{}
						stdout, stderr, code := w.besideModel(args)
						<-places
						if code != want || want != 0 && !strings.Contains(stdout+stderr, test.says) {
							t.Errorf("toolx %s: exit code %d, want %d, and %q\n%s%s", strings.Join(args, " "), code,
								want, test.says, stdout, stderr)
						}
					})
				}
			}
			wait.Wait()
		})
	}
}

// write writes a file into the world's folder.
func (w *sessionWorld) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.folder, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// besideModel runs toolx, with a model for the command that asks one.
func (w *sessionWorld) besideModel(args []string) (stdout, stderr string, code int) {
	w.t.Helper()
	cmd := w.command(args...)
	if args[0] == "ask" {
		beside := exec.Command("fakeprovider", append([]string{"answer.txt", "--", w.toolx}, args...)...)
		beside.Dir, beside.Env = cmd.Dir, cmd.Env
		cmd = beside
	}
	return w.finish(cmd)
}
