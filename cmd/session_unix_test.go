//go:build unix

package cmd_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// sessionWorld is a folder with a config, and a place for sessions, of which nothing is left when the test ends.
type sessionWorld struct {
	t       *testing.T
	folder  string
	runtime string // XDG_RUNTIME_DIR
	env     []string
	toolx   string
	fake    string

	mu   sync.Mutex
	pids map[int]bool // of holders and servers that were seen
}

// newSessionWorld writes a config with these servers, by name; each is the fake server with these arguments.
func newSessionWorld(t *testing.T, servers map[string]string) *sessionWorld {
	t.Helper()
	long(t) // each needs a session's processes
	runtimeDir := shortRuntimeDir(t)
	w := &sessionWorld{
		t: t, folder: emptyFolder(t), runtime: runtimeDir, toolx: buildToolx(t), fake: "fakeserver",
		pids: make(map[int]bool),
	}
	w.env = append(append(os.Environ(), homeVariables(filepath.Join(w.folder, ".home"))...),
		"XDG_RUNTIME_DIR="+runtimeDir)
	w.configure(servers)
	t.Cleanup(func() {
		w.sessions()
		if _, stderr, code := w.run("session", "stop", "--all"); code != 0 {
			t.Errorf("session stop --all: %s", stderr)
		}
		for pid := range w.pids {
			if !within(func() bool { return ends(pid) }) {
				t.Errorf("process %d is left", pid)
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
	return w
}

// within waits until done holds, for as long as a busy machine may take.
func within(done func() bool) bool {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if done() {
			return true
		}
	}
	return false
}

// configure writes the config. What stands after a # in a server's arguments are further keys of its entry.
func (w *sessionWorld) configure(servers map[string]string) {
	w.t.Helper()
	entries := make(map[string]any)
	for name, args := range servers {
		args, more, _ := strings.Cut(args, "#")
		entry := map[string]any{"command": w.fake, "args": strings.Fields(args)}
		for _, pair := range strings.Fields(more) {
			key, value, _ := strings.Cut(pair, "=")
			entry[key] = value
		}
		entries[name] = entry
	}
	text, err := json.Marshal(map[string]any{"servers": entries, "defaults": map[string]any{"slow": "none"}})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.folder, "toolx.yaml"), text, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *sessionWorld) command(args ...string) *exec.Cmd {
	cmd := exec.Command(w.toolx, args...)
	cmd.Dir, cmd.Env = w.folder, w.env
	return cmd
}

// run runs toolx.
func (w *sessionWorld) run(args ...string) (stdout, stderr string, code int) {
	w.t.Helper()
	return w.finish(w.command(args...))
}

func (w *sessionWorld) finish(cmd *exec.Cmd) (stdout, stderr string, code int) {
	w.t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// want runs toolx and wants an exit code and what it prints; it returns stderr.
func (w *sessionWorld) want(code int, stdout string, args ...string) (stderr string) {
	w.t.Helper()
	out, stderr, got := w.run(args...)
	if got != code || strings.TrimSpace(out) != stdout {
		w.t.Errorf("toolx %s: exit code %d, %q; want %d, %q\n%s", strings.Join(args, " "), got, out, code, stdout,
			stderr)
	}
	return stderr
}

// seen is a session as session list --json shows it.
type seen struct {
	Name, State, Ended, Server string
	PID                        int
	Holder                     int `json:"holder_pid"`
	Calls, Clients             int
	Memory                     int64   `json:"memory_bytes"`
	Log                        string  `json:"log"`
	Where                      string  `json:"where"`
	Age                        float64 `json:"age_ms"`
	Idle                       float64 `json:"idle_ms"`
}

// sessions lists the sessions.
func (w *sessionWorld) sessions() []seen {
	w.t.Helper()
	stdout, stderr, code := w.run("session", "list", "--json")
	var listed struct{ Sessions []seen }
	if err := json.Unmarshal([]byte(stdout), &listed); err != nil || code != 0 {
		w.t.Fatalf("session list: exit code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range listed.Sessions {
		w.pids[one.Holder] = true
		if one.PID != 0 {
			w.pids[one.PID] = true
		}
	}
	return listed.Sessions
}

// session returns the session of a name; it must be there.
func (w *sessionWorld) session(name string) seen {
	w.t.Helper()
	all := w.sessions()
	at := slices.IndexFunc(all, func(s seen) bool { return s.Name == name })
	if at < 0 {
		w.t.Fatalf("no session %s: %+v", name, all)
	}
	return all[at]
}

// start starts sessions.
func (w *sessionWorld) start(args ...string) {
	w.t.Helper()
	if stdout, stderr, code := w.run(append([]string{"session", "start"}, args...)...); code != 0 {
		w.t.Fatalf("session start %q: exit code %d\n%s%s", args, code, stdout, stderr)
	}
	w.sessions()
}

// background starts toolx and returns what waits for its end.
func (w *sessionWorld) background(args ...string) (cmd *exec.Cmd, end func() (stdout, stderr string, code int)) {
	w.t.Helper()
	cmd = w.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return cmd, func() (string, string, int) {
		_ = cmd.Wait() // the exit code says it
		return out.String(), errs.String(), cmd.ProcessState.ExitCode()
	}
}

// busy waits until a call of the session runs.
func (w *sessionWorld) busy(name string) {
	w.t.Helper()
	if !within(func() bool { return w.session(name).State == "busy" }) {
		w.t.Fatalf("no call of %s runs", name)
	}
}

// TestSessionRemembers proves that a server stays between commands, that several sessions of one server know nothing of
// each other, and that --no-session goes past them.
func TestSessionRemembers(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "stateful"})
	w.start("s")
	w.start("--as", "work", "s")
	w.want(0, "1", "call", "s__count")
	w.want(0, "2", "call", "s__count")
	w.want(0, "1", "call", "work__count")
	w.want(0, "1", "call", "s__count", "--no-session")
	w.want(0, "3", "call", "s__count")
	if one := w.session("work"); one.Server != "s" || one.Calls != 1 || one.State != "ready" {
		t.Errorf("work is %+v", one)
	}
	stdout, _, _ := w.run("call", "s__count", "--json")
	if !strings.Contains(stdout, `"session":{"reused":true,"age_ms":`) {
		t.Errorf("the envelope says nothing of the session: %s", stdout)
	}
	if stderr := w.want(0, "5", "call", "-v", "s__count"); !strings.Contains(stderr, "already: its session is used") {
		t.Errorf("-v says nothing of the session: %s", stderr)
	}
	w.start("--as", "adhoc", "--", w.fake, "stateful")
	w.want(0, "1", "call", "adhoc__count")
	elsewhere := w.command("call", "adhoc__count")
	elsewhere.Dir = emptyFolder(t)
	if stdout, stderr, code := w.finish(elsewhere); code != 0 || stdout != "2\n" || stderr != "" {
		t.Errorf("from another folder: exit code %d, %s%s", code, stdout, stderr)
	}
	if stderr := w.want(2, "", "call", "adhoc__echo"); strings.Contains(stderr, " -- ") {
		t.Errorf("the hint names a command that the session does not need: %s", stderr)
	}
	before := w.session("adhoc").PID
	if _, stderr, code := w.run("session", "restart", "adhoc"); code != 0 || w.session("adhoc").PID == before {
		t.Errorf("session restart: exit code %d, %s", code, stderr)
	}
	w.want(0, "1", "call", "adhoc__count")
	for _, args := range [][]string{
		{"session", "start"},
		{"session", "start", "nope"},
		{"session", "start", "--", w.fake},
		{"session", "start", "--as", "a__ b", "s"},
		{"session", "stop"},
		{"session", "stop", "nope"},
		{"session", "logs"},
		{"session", "start", "--idle", "0", "s"},
		{"session", "restart", "nope"},
		{"session", "frob"},
		{"session", "start", "--as", "s", "s"},
	} {
		if stderr := w.want(2, "", args...); !strings.Contains(stderr, "hint: ") {
			t.Errorf("%q: no hint: %s", args, stderr)
		}
	}
}

// changing is what differs from one run to the next.
var changing = regexp.MustCompile(`\d+(\.\d+)?( ?[mµ]?s\b)|"id":\d+|"progressToken":\d+|#\d+|_ms[":=]+[\d.]+|` +
	`process \d+|requestId":\d+|\d\d:\d\d:\d\d\.\d+|\d{9}`)

// more is what a session alone tells: that there is one, and the log of a server that has written to stderr.
var more = regexp.MustCompile(`,"session":\{[^}]*\}|,"log  [^"]*"`)

// TestSessionIsAsCold runs the same commands with a server that stays and with one that is started for each, and
// compares what they print and how they end.
func TestSessionIsAsCold(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"good": "good", "ask": "elicit", "rich": "features"})
	w.start("good", "ask", "rich")
	const lines = `{"id":1,"tool":"good__echo","arguments":{"message":"hi"}}
{"id":2,"tool":"good__fail","arguments":{}}
{"id":3,"uri":"test://text"}
`
	if err := os.WriteFile(filepath.Join(w.folder, "calls.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"call", "good__echo", "message=hi"},
		{"call", "good__echo", "message=hi", "--json"},
		{"call", "good__add", "a=1", "b=2", "-o", "raw"},
		{"call", "good__add", "a=one", "b=2"},
		{"call", "good__fail"},
		{"call", "good__fail", "--json"},
		{"call", "good__rpcerror"},
		{"call", "good__nope"},
		{"call", "good__log", "message=hi", "-v"},
		{"call", "good__slow", "--json"},
		{"call", "good__sleep", "ms=60000", "--timeout", "200ms"},
		{"call", "good__sleep", "ms=60000", "--timeout", "200ms", "--json"},
		{"call", "good__echo", "message=hi", "--dry-run"},
		{"call", "ask__echo", "message=hi"},
		{"call", "ask__echo", "message=hi", "--elicit", `{"name":"Ann"}`},
		{"call", "ask__echo", "message=hi", "--elicit", "decline"},
		{"list", "good__*"},
		{"show", "good__add"},
		{"ping", "--json", "good"},
		{"raw", "good", "tools/list"},
		{"raw", "good", "no/such"},
		{"resources", "list", "--json"},
		{"resources", "read", "rich__test://text"},
		{"resources", "read", "rich__test://none"},
		{"prompts", "list", "rich__*"},
		{"prompts", "get", "rich__greet", "name=Ann"},
		{"complete", "rich__greet", "name=A"},
		{"watch", "rich", "--count", "1", "--timeout", "2s"},
		{"call", "--batch", "calls.jsonl"},
		{"convert", "--format", "qwen", "--server", "good"},
	} {
		cold, coldErr, coldCode := w.run(append(slices.Clone(args), "--no-session")...)
		warm, warmErr, warmCode := w.run(args...)
		plain := func(text string) string {
			lines := strings.SplitAfter(changing.ReplaceAllString(more.ReplaceAllString(text, ""), "N"), "\n")
			return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
				for _, words := range []string{
					"its session is used", "started: ", "speaks MCP", " ended: ", "timing", "connection succeeded",
				} {
					if strings.Contains(line, words) && strings.HasPrefix(line, "info: ") {
						return true
					}
				}
				return strings.HasPrefix(line, "  log  ") // there is one once the server has written a line
			}), "")
		}
		if coldCode != warmCode || plain(cold) != plain(warm) || plain(coldErr) != plain(warmErr) {
			t.Errorf("%q:\ncold %d: %s%s\nwarm %d: %s%s", args, coldCode, plain(cold), plain(coldErr), warmCode,
				plain(warm), plain(warmErr))
		}
	}
}

// TestSessionTraces proves that --trace shows the messages of the session, and no others.
func TestSessionTraces(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "good"})
	w.start("s")
	stderr := w.want(0, "hi", "call", "s__echo", "message=hi", "--trace=full")
	for _, words := range []string{"→ tools/list", "→ tools/call", `"name":"echo"`, "← result", `"text":"hi"`} {
		if strings.Count(stderr, words) == 0 {
			t.Errorf("%q is not shown:\n%s", words, stderr)
		}
	}
	if strings.Contains(stderr, "→ initialize") || strings.Count(stderr, "→ tools/call") != 1 {
		t.Errorf("too much is shown:\n%s", stderr)
	}
}

// TestSessionStartsOnce starts one session twenty times at once: there is one daemon, and one server.
func TestSessionStartsOnce(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"by name":   {"session", "start", "s"},
		"keepAlive": {"call", "kept__echo", "message=hi"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSessionWorld(t, map[string]string{"s": "good", "kept": "good#keepAlive=1m"})
			var wait sync.WaitGroup
			for range 20 {
				wait.Go(func() {
					if stdout, stderr, code := w.finish(w.command(args...)); code != 0 {
						t.Errorf("exit code %d: %s%s", code, stdout, stderr)
					}
				})
			}
			wait.Wait()
			if all := w.sessions(); len(all) != 1 || all[0].State != "ready" {
				t.Errorf("there are %+v", all)
			}
		})
	}
}

// TestSessionKeepAlive proves that keepAlive keeps a server from the first call on, that a changed entry has another
// one, and that listing and completing start none.
func TestSessionKeepAlive(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "stateful#keepAlive=1m"})
	w.run("list")
	w.run("__complete", "call", "s__")
	w.run("doctor", "s")
	if all := w.sessions(); len(all) != 0 {
		t.Errorf("listing started %+v", all)
	}
	w.want(0, "1", "call", "s__count")
	w.want(0, "2", "call", "s__count")
	w.sessions()
	w.configure(map[string]string{"s": "--name other stateful#keepAlive=1m"})
	w.want(0, "1", "call", "s__count")
	if all := w.sessions(); len(all) != 2 {
		t.Errorf("there are %+v, want two", all)
	}
	w.configure(map[string]string{"s": "stateful#keepAlive=none"})
	w.want(0, "1", "call", "s__count")
	if all := w.sessions(); len(all) != 2 {
		t.Errorf("there are %+v, want two", all)
	}
}

// TestSessionHolderKilled kills the process that holds a server: between two calls, and during one.
func TestSessionHolderKilled(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "stateful"})
	w.start("s")
	w.want(0, "1", "call", "s__count")
	kill := func() seen {
		one := w.session("s")
		_ = syscall.Kill(one.Holder, syscall.SIGKILL)
		if !within(func() bool { return ends(one.PID) }) {
			t.Error("the server outlives its daemon")
		}
		return one
	}
	kill()
	if one := w.session("s"); one.State != "dead" {
		t.Errorf("after the end of its daemon the session is %+v", one)
	}
	if stderr := w.want(0, "1", "call", "s__count"); !strings.Contains(stderr, "has ended unexpectedly") {
		t.Errorf("nothing says that the state is lost: %s", stderr)
	}
	if stderr := w.want(0, "2", "call", "s__count"); stderr != "" {
		t.Errorf("the second call says: %s", stderr)
	}
	_, end := w.background("call", "s__sleep", "ms=60000")
	w.busy("s")
	kill()
	_, stderr, code := end()
	if code != 6 || !strings.Contains(stderr, "outcome unknown") {
		t.Errorf("a call whose daemon was killed: exit code %d, %s", code, stderr)
	}
}

// TestSessionClockJumps moves the times that a session left on disk a century back and forth, as a changed clock does
// when they are compared with it. The session is the same one; when its daemon dies, that is seen all the same.
func TestSessionClockJumps(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "stateful"})
	w.start("s")
	first := w.session("s")
	files, err := filepath.Glob(filepath.Join(w.runtime, "toolx", "sessions", "*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("files of the session: %v, %v", files, err)
	}
	started := regexp.MustCompile(`"started": ?"[^"]*"`)
	jump := func(to time.Time) {
		for _, file := range files {
			if strings.HasSuffix(file, ".json") {
				text, err := os.ReadFile(file)
				text = started.ReplaceAll(text, []byte(`"started":"`+to.Format(time.RFC3339)+`"`))
				if err = errors.Join(err, os.WriteFile(file, text, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chtimes(file, to, to); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, year := range []int{1971, 2099} {
		jump(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
		if stderr := w.want(0, strconv.Itoa(i+1), "call", "s__count"); stderr != "" {
			t.Errorf("in %d a call says: %s", year, stderr)
		}
		if one := w.session("s"); one.Holder != first.Holder || one.State != "ready" || one.Age < 0 || one.Idle < 0 {
			t.Errorf("in %d the session is %+v, was %+v", year, one, first)
		}
	}
	_ = syscall.Kill(first.Holder, syscall.SIGKILL)
	if !within(func() bool { return w.session("s").State == "dead" }) {
		t.Errorf("after the end of its daemon the session is %+v", w.session("s"))
	}
	w.want(0, "1", "call", "s__count")
}

// TestSessionServerKilled ends the server between two calls and during one: a call is repeated only if its tool says
// that it may be.
func TestSessionServerKilled(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "stateful"})
	w.start("s")
	w.want(0, "1", "call", "s__count")
	_ = syscall.Kill(w.session("s").PID, syscall.SIGKILL)
	if !within(func() bool { return w.session("s").State == "ended" }) {
		t.Fatalf("the session is %+v", w.session("s"))
	}
	stderr := w.want(0, "1", "call", "s__count")
	if !strings.Contains(stderr, "was restarted: what it kept in memory is lost") {
		t.Errorf("nothing says that the state is lost: %s", stderr)
	}
	w.sessions()
	stderr = w.want(6, "", "call", "s__crash", "code=3")
	for _, words := range []string{
		"exit status 3", "outcome unknown", "fake: crashing, as asked", "hint: the call may have had",
	} {
		if !strings.Contains(stderr, words) {
			t.Errorf("%q is not said: %s", words, stderr)
		}
	}
	stderr = w.want(0, "recovered", "call", "s__recover", "mark="+filepath.Join(t.TempDir(), "mark"))
	if !strings.Contains(stderr, "recover may be repeated, and is") {
		t.Errorf("nothing says that the call was repeated: %s", stderr)
	}
}

// TestSessionEntryChanged proves that a session that was started by name is used as it is, with a warning.
func TestSessionEntryChanged(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "stateful"})
	w.start("s")
	w.configure(map[string]string{"s": "--name other stateful"})
	stderr := w.want(0, "1", "call", "s__count")
	if !strings.Contains(stderr, "has changed since its session was started; toolx session restart s") {
		t.Errorf("no warning: %s", stderr)
	}
	before := w.session("s").PID
	w.run("session", "restart", "s")
	if stderr := w.want(0, "1", "call", "s__count"); stderr != "" || w.session("s").PID == before {
		t.Errorf("after a restart: %s", stderr)
	}
}

// TestSessionFilesChanged changes the file that a server was started from: the next command that uses the session says
// so, and --fresh restarts it.
func TestSessionFilesChanged(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		start []string // starts the session; empty means that the first call does
		keep  string   // further keys of the entry
		call  string   // the tool
	}{
		"by name":   {[]string{"s"}, "", "s__count"},
		"alias":     {[]string{"--as", "work", "s"}, "", "work__count"},
		"keepAlive": {nil, "#keepAlive=1m", "s__count"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSessionWorld(t, nil)
			w.fake = "sh"
			w.configure(map[string]string{"s": "serve.sh" + test.keep})
			w.write("serve.sh", "exec fakeserver stateful\n")
			if test.start != nil {
				w.start(test.start...)
			}
			w.want(0, "1", "call", test.call)
			if stderr := w.want(0, "2", "call", test.call); stderr != "" {
				t.Errorf("before the change a call says: %s", stderr)
			}
			w.sessions()
			w.write("serve.sh", "exec fakeserver --name other stateful\n")
			for i, args := range [][]string{{"call", test.call}, {"call", test.call, "-o", "text"}} {
				const says = "serve.sh has changed since the session of server"
				stderr := w.want(0, strconv.Itoa(i+3), args...)
				if !strings.Contains(stderr, says) || !strings.Contains(stderr, "--fresh restarts it") {
					t.Errorf("after the change %q says: %s", args, stderr)
				}
			}
			if stderr := w.want(0, "1", "call", test.call, "--fresh"); stderr != "" {
				t.Errorf("--fresh says: %s", stderr)
			}
			if stderr := w.want(0, "2", "call", test.call); stderr != "" {
				t.Errorf("after a restart a call says: %s", stderr)
			}
			w.want(0, "1", "call", test.call, "--fresh")
		})
	}
}

// TestSessionFolder spoils the place of sessions: calls go on without them, and starting one says why it cannot.
func TestSessionFolder(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(folder string) (instead string, err error)
		says  string
	}{
		"others can read it": {func(folder string) (string, error) {
			return "", errors.Join(os.MkdirAll(folder, 0o700), os.Chmod(folder, 0o755))
		}, "others can read it"},
		"others can write it": {func(folder string) (string, error) {
			return "", errors.Join(os.MkdirAll(folder, 0o700), os.Chmod(folder, 0o777))
		}, "everyone can write it"},
		"a file is there": {func(folder string) (string, error) {
			return "", errors.Join(os.MkdirAll(filepath.Dir(folder), 0o700), os.WriteFile(folder, nil, 0o600))
		}, "not a directory"},
		"the path is too long": {func(folder string) (string, error) {
			long := filepath.Join(filepath.Dir(filepath.Dir(folder)), strings.Repeat("x", 90))
			return long, os.Mkdir(long, 0o700)
		}, "too long for a socket"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSessionWorld(t, map[string]string{"s": "good", "kept": "good#keepAlive=1m"})
			instead, err := test.spoil(filepath.Join(w.runtime, "toolx", "sessions"))
			if err != nil {
				t.Fatal(err)
			}
			if instead != "" {
				w.env = append(w.env, "XDG_RUNTIME_DIR="+instead)
			}
			if stderr := w.want(4, "", "session", "start", "s"); !strings.Contains(stderr, test.says) {
				t.Errorf("session start says: %s", stderr)
			}
			w.want(0, "hi", "call", "s__echo", "message=hi")
			if stderr := w.want(0, "hi", "call", "kept__echo", "message=hi"); !strings.Contains(stderr, test.says) {
				t.Errorf("a call on a server with keepAlive says: %s", stderr)
			}
		})
	}
}

// TestSessionSocketInTheWay proves that a daemon removes no file that is not a socket.
func TestSessionSocketInTheWay(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "good"})
	w.start("s")
	folder := strings.TrimPrefix(w.env[len(w.env)-1], "XDG_RUNTIME_DIR=")
	found, _ := filepath.Glob(filepath.Join(folder, "toolx", "sessions", "*.sock"))
	if len(found) != 1 {
		t.Fatalf("the sockets are %q", found)
	}
	w.run("session", "stop", "s")
	if err := os.WriteFile(found[0], []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if stderr := w.want(4, "", "session", "start", "s"); !strings.Contains(stderr, "is in the way") {
		t.Errorf("session start says: %s", stderr)
	}
	if text, err := os.ReadFile(found[0]); err != nil || string(text) != "mine" {
		t.Errorf("the file is %q, %v", text, err)
	}
	if err := os.Remove(found[0]); err != nil {
		t.Fatal(err)
	}
}

// TestSessionDiskFull starts a session where no file can be written.
func TestSessionDiskFull(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "good"})
	cmd := exec.Command("sh", "-c", `ulimit -f 0; exec "$0" "$@"`, w.toolx, "session", "start", "s")
	cmd.Dir, cmd.Env = w.folder, w.env
	if stdout, stderr, code := w.finish(cmd); code != 4 || !strings.Contains(stderr, "file too large") {
		t.Errorf("exit code %d, %s%s", code, stdout, stderr)
	}
	if all := w.sessions(); len(all) != 0 {
		t.Errorf("there are %+v", all)
	}
}

// TestSessionStartCancelled ends a command while the server with keepAlive that it needs starts, which takes until a
// file is there. The next command gets a server, whether the daemon still ends the one that was given up, or not.
func TestSessionStartCancelled(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		signal  syscall.Signal
		command []string
		others  int // commands that go on waiting for the same start
		times   int // how often that happens in a row
	}{
		"killed":                     {signal: syscall.SIGKILL, command: []string{"call", "s__echo", "message=hi"}, times: 1},
		"interrupted":                {signal: syscall.SIGINT, command: []string{"call", "s__echo", "message=hi"}, times: 1},
		"killed three times":         {signal: syscall.SIGKILL, command: []string{"raw", "s", "ping"}, times: 3},
		"killed beside another":      {signal: syscall.SIGKILL, command: []string{"raw", "s", "ping"}, times: 1, others: 1},
		"interrupted beside another": {signal: syscall.SIGINT, command: []string{"raw", "s", "ping"}, times: 1, others: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := filepath.Join(t.TempDir(), "gate")
			w := newSessionWorld(t, map[string]string{"s": "--gate " + gate + " slow-start#keepAlive=1m"})
			var ends []func() (stdout, stderr string, code int)
			for range test.times {
				cmd, end := w.background(test.command...)
				starting := func() bool {
					all := w.sessions()
					return len(all) == 1 && all[0].State == "starting" && all[0].Clients > 0
				}
				if !within(starting) {
					t.Fatalf("nothing starts: %+v", w.sessions())
				}
				for len(ends) < test.others {
					_, other := w.background("call", "s__echo", "message=other")
					ends = append(ends, other)
				}
				if !within(func() bool { return w.session("s").Clients == 1+test.others }) {
					t.Fatalf("the others do not wait: %+v", w.sessions())
				}
				_ = cmd.Process.Signal(test.signal)
				end()
			}
			_, next := w.background("call", "s__echo", "message=hi")
			if err := os.WriteFile(gate, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for i, end := range append(ends, next) {
				if stdout, stderr, code := end(); code != 0 {
					t.Errorf("command %d: exit code %d, %s%s", i, code, stdout, stderr)
				}
			}
			w.want(0, "hi", "call", "s__echo", "message=hi")
			if all := w.sessions(); len(all) != 1 || all[0].State != "ready" {
				t.Errorf("the sessions are %+v", all)
			}
		})
	}
}

// TestSessionClientKilled kills a client in mid-call: its call is cancelled, and the server serves the others.
func TestSessionClientKilled(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "stateful"})
	w.start("s")
	w.want(0, "1", "call", "s__count")
	cmd, end := w.background("call", "s__sleep", "ms=60000")
	w.busy("s")
	_ = cmd.Process.Kill()
	end()
	if !within(func() bool { one := w.session("s"); return one.State == "ready" && one.Clients == 0 }) {
		t.Errorf("the session is %+v", w.session("s"))
	}
	w.want(0, "2", "call", "s__count")
}

// TestSessionInterrupted ends a call by Ctrl-C: the server stays, and hears that nobody waits.
func TestSessionInterrupted(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "stateful"})
	w.start("s")
	w.want(0, "1", "call", "s__count")
	cmd, end := w.background("call", "s__sleep", "ms=60000")
	w.busy("s")
	_ = cmd.Process.Signal(os.Interrupt)
	if _, stderr, code := end(); code != 130 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if !within(func() bool { return w.session("s").State == "ready" }) {
		t.Error("the call goes on")
	}
	w.want(0, "2", "call", "s__count")
}

// TestSessionStopped stops the server, and then its daemon, as a debugger would.
func TestSessionStopped(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "stateful"})
	w.start("s")
	one := w.session("s")
	_ = syscall.Kill(one.PID, syscall.SIGSTOP)
	stderr := w.want(4, "", "call", "s__count", "--start-timeout", "300ms")
	if !strings.Contains(stderr, "did not respond") {
		t.Errorf("a stopped server: %s", stderr)
	}
	_ = syscall.Kill(one.PID, syscall.SIGCONT)
	if !within(func() bool { _, _, code := w.run("call", "s__count"); return code == 0 }) {
		t.Error("the server does not recover")
	}
	_ = syscall.Kill(one.Holder, syscall.SIGSTOP)
	if one := w.session("s"); one.State != "not answering" {
		t.Errorf("the session is %+v", one)
	}
	for _, flags := range [][]string{{"--start-timeout", "100ms"}, nil} {
		stderr = w.want(4, "", append([]string{"call", "s__count"}, flags...)...)
		if !strings.Contains(stderr, `server "s" has a session whose process does not respond`) ||
			!strings.Contains(stderr, "toolx session restart s") || strings.Contains(stderr, "attempt 1") {
			t.Errorf("a stopped daemon: %s", stderr)
		}
	}
	if stdout, stderr, code := w.run("session", "stop", "s"); code != 0 || !strings.Contains(stderr, "was killed") {
		t.Errorf("session stop: exit code %d, %s%s", code, stdout, stderr)
	}
}

// TestSessionOfAnotherToolx proves that a session whose daemon speaks another protocol is reported with what to type,
// and that it is ended in order and replaced then.
func TestSessionOfAnotherToolx(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "stateful"})
	w.start("s")
	before := w.session("s")
	records, err := filepath.Glob(filepath.Join(w.runtime, "toolx", "sessions", "*.json"))
	if err != nil || len(records) != 1 {
		t.Fatalf("the records are %q, %v", records, err)
	}
	text, err := os.ReadFile(records[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(records[0], []byte(strings.Replace(string(text), `"speaks":5`, `"speaks":1`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"call", "s__count"}, {"session", "list", "--json"}, {"trace", "--attach", "s"},
	} {
		stdout, stderr, _ := w.run(args...)
		if !strings.Contains(stdout+stderr, "another version of toolx") {
			t.Errorf("toolx %q: %s%s", args, stdout, stderr)
		}
	}
	if stderr := w.want(2, "", "call", "s__count"); !strings.Contains(stderr, "toolx session restart s") {
		t.Errorf("it does not say what to type: %s", stderr)
	}
	if stdout, stderr, code := w.run("session", "restart", "s"); code != 0 || strings.Contains(stderr, "killed") {
		t.Errorf("session restart: exit code %d, %s%s", code, stdout, stderr)
	}
	if after := w.session("s"); after.Holder == before.Holder || !ends(before.Holder) || !ends(before.PID) {
		t.Errorf("the session was %+v, and is %+v", before, after)
	}
	w.want(0, "1", "call", "s__count")
}

// TestSessionOfAnotherProject proves that two projects may have servers of one name: each has its own session, in all
// of its folders, and a name means the session of the project in which it is typed.
func TestSessionOfAnotherProject(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "stateful"})
	below, other := filepath.Join(w.folder, "below"), filepath.Join(w.folder, "other")
	for _, folder := range []string{below, other} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.start("s")
	first := w.session("s").PID
	w.want(0, "1", "call", "s__count")
	project := w.folder
	w.folder = below
	w.want(0, "2", "call", "s__count")

	w.folder = other
	w.configure(map[string]string{"s": "stateful"})
	w.want(0, "1", "call", "s__count")
	w.start("s")
	w.want(0, "1", "call", "s__count")
	if stderr := w.want(0, "", "session", "stop", "s"); stderr != "s has ended\n" {
		t.Errorf("session stop says: %s", stderr)
	}
	if left := w.session("s"); left.PID != first || left.Where != filepath.Join(project, "toolx.yaml") {
		t.Errorf("what is left is %+v, not process %d", left, first)
	}
	w.folder = project
	w.want(0, "3", "call", "s__count")
}

// TestSessionBesideOthers proves that the end of the servers that a command starts for itself does not reach those that
// are to stay.
func TestSessionBesideOthers(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"own": "good", "kept": "good#keepAlive=1m"})
	const lines = `{"tool":"own__echo","arguments":{"message":"hi"}}
{"tool":"kept__echo","arguments":{"message":"hi"}}
`
	if err := os.WriteFile(filepath.Join(w.folder, "calls.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	if stdout, stderr, code := w.run("call", "--batch", "calls.jsonl"); code != 0 {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	if kept := w.session("kept"); kept.State != "ready" {
		t.Errorf("the server that is to stay is %s", kept.State)
	}
}

// TestSessionInheritsNothing proves that a server that stays keeps open nothing of the script that started it, such as
// the lock of flock(1), or a pipe.
func TestSessionInheritsNothing(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "good"})
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	cmd := w.command("session", "start", "s")
	cmd.ExtraFiles = []*os.File{writer}
	if _, stderr, code := w.finish(cmd); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	writer.Close()
	_ = reader.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := reader.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the pipe of the command that started the session is still open: %v", err)
	}
	w.sessions()
}

// TestSessionStoppedInACall ends a session while a call runs: the call fails as with a server that ends, and nobody has
// interrupted it.
func TestSessionStoppedInACall(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "stateful"})
	for name, stop := range map[string]func(){
		"session stop":    func() { w.run("session", "stop", "s") },
		"session restart": func() { w.run("session", "restart", "s") },
		"SIGTERM":         func() { _ = syscall.Kill(w.session("s").Holder, syscall.SIGTERM) },
	} {
		w.start("s")
		_, end := w.background("call", "s__sleep", "ms=60000")
		w.busy("s")
		stop()
		if _, stderr, code := end(); code != 6 || !strings.Contains(stderr, "its session was ended; outcome unknown") {
			t.Errorf("%s: exit code %d: %s", name, code, stderr)
		}
		w.run("session", "stop", "s")
	}
}

// TestSessionRestartedInTUI: the key that restarts a server starts that of a session anew, for all.
func TestSessionRestartedInTUI(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "good"})
	w.start("s")
	before := w.session("s")
	screen := openProgram(t, 100, 30, "sh", "-c",
		"export TOOLX_TRUST=all XDG_RUNTIME_DIR='"+w.runtime+"'; cd '"+w.folder+"'; exec toolx tui")
	screen.await("shared with other commands")
	screen.press("R")
	screen.await("restart server s for all?")
	screen.press("y")
	if !within(func() bool {
		all := w.sessions()
		return len(all) == 1 && all[0].State == "ready" && all[0].Holder != before.Holder && all[0].PID != before.PID
	}) {
		t.Errorf("the session is %+v, before %+v", w.sessions(), before)
	}
	screen.await("shared with other commands")
	screen.press("ctrl+c")
	<-screen.ended
	w.want(0, "hi", "call", "s__echo", "message=hi")
}

// TestSessionAsks proves that a server that stays may ask the user, whoever started it: a command that can answer uses
// the same server as one that cannot.
func TestSessionAsks(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "elicit#keepAlive=1m"})
	stdout, stderr, code := w.run("call", "s__add", "a=1", "b=2", "--trace=full")
	if code != 0 || !strings.Contains(stderr, `"capabilities":{"elicitation":{"form":{},"url":{}}}`) {
		t.Errorf("the server is offered something else, exit code %d: %s%s", code, stdout, stderr)
	}
	w.run("call", "s__add", "a=1", "b=2", "--elicit", "{}")
	if all := w.sessions(); len(all) != 1 {
		t.Errorf("a command that can answer has another server: %+v", all)
	}
}

// TestSessionIdle proves that a session ends when nobody has used it for its time, and that a running call is use.
func TestSessionIdle(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "good"})
	w.start("--idle", "400ms", "s")
	w.want(0, "slept 1500 ms", "call", "s__sleep", "ms=1500")
	if !within(func() bool { return len(w.sessions()) == 0 }) {
		t.Error("the session stays")
	}
}

// murmur makes a stateful server write to its stderr after a call.
func (w *sessionWorld) murmur(server string) {
	w.t.Helper()
	pipe := filepath.Join(w.t.TempDir(), "when")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.want(0, "later", "call", server+"__murmur", "when="+pipe)
	if err := os.WriteFile(pipe, []byte("now"), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// TestSessionBetweenCalls proves that what a server writes between two calls is told once, to the next one, and that
// tools that have changed are seen.
func TestSessionBetweenCalls(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "stateful", "change": "tools-change"})
	w.start("s", "change")
	w.murmur("s")
	const words = "a line between two calls"
	if !within(func() bool { _, stderr, _ := w.run("call", "s__count"); return strings.Contains(stderr, words) }) {
		t.Error("the line is not told")
	}
	if _, stderr, _ := w.run("call", "s__count"); stderr != "" {
		t.Errorf("told again: %s", stderr)
	}
	if stdout, _, code := w.run("session", "logs", "s", "-o", "json"); code != 0 ||
		!strings.Contains(stdout, `{"session":"s","line":"`) || !strings.Contains(stdout, "murmured") {
		t.Errorf("as JSON: exit code %d, %q", code, stdout)
	}
	if stdout, stderr, code := w.run("session", "logs", "s"); code != 0 || !strings.Contains(stdout, "murmured") {
		t.Errorf("session logs: exit code %d, %s%s", code, stdout, stderr)
	}
	w.want(2, "", "call", "change__later")
	w.want(0, "hi", "call", "change__echo", "message=hi")
	w.want(0, "here now", "call", "change__later")
}

// TestSessionLogsFollow follows the log of a server until the session ends.
func TestSessionLogsFollow(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, map[string]string{"s": "stateful"})
	w.start("s")
	w.murmur("s")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.toolx, "session", "logs", "-f", "s")
	cmd.Dir, cmd.Env = w.folder, w.env
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	for line := ""; !strings.Contains(line, "murmured"); { // from here on, it follows
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	w.want(6, "", "call", "s__crash", "code=3")
	w.run("session", "stop", "s")
	rest, err := io.ReadAll(lines)
	if err = errors.Join(err, cmd.Wait()); err != nil || !strings.Contains(string(rest), "fake: crashing, as asked\n") {
		t.Errorf("%v: %s", err, rest)
	}
}

// TestSessionOverHTTP proves that the session of a server over HTTP is held too.
func TestSessionOverHTTP(t *testing.T) {
	t.Parallel()
	far := newCountingServer(t) // it ends when the holders have, which keep a stream open
	w := newSessionWorld(t, nil)
	address := far.URL
	text := fmt.Sprintf(`{"servers": {"far": {"url": %q, "protocol": "legacy"}}, "defaults": {"slow": "none"}}`, address)
	if err := os.WriteFile(filepath.Join(w.folder, "toolx.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.start("far")
	w.want(0, "1", "call", "far__count")
	stderr := w.want(0, "2", "call", "far__count", "-v")
	if !strings.Contains(stderr, "its session is used") {
		t.Errorf("-v says: %s", stderr)
	}
	if one := w.session("far"); one.Calls != 2 || one.PID != 0 {
		t.Errorf("the session is %+v", one)
	}
	w.want(0, "1", "call", "far__count", "--no-session") // which has another session of MCP
	w.start("--as", "address", "--url", address, "--protocol", "legacy")
	w.want(0, "1", "call", "address__count")
	w.want(0, "2", "call", "address__count")
}

// newCountingServer serves the tool count over HTTP; each session of MCP has a count of its own.
func newCountingServer(t *testing.T) *httptest.Server {
	t.Helper()
	var mu sync.Mutex
	counts := make(map[string]int)
	mcpServer := server.NewMCPServer("counting", "1")
	count := func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		mu.Lock()
		defer mu.Unlock()
		id := server.ClientSessionFromContext(ctx).SessionID()
		counts[id]++
		return mcp.NewToolResultText(fmt.Sprint(counts[id])), nil
	}
	mcpServer.AddTool(mcp.NewTool("count"), count)
	far := httptest.NewServer(server.NewStreamableHTTPServer(mcpServer))
	t.Cleanup(far.Close)
	return far
}

// TestSessionLogins proves that the daemon gets new tokens, once for however many calls meet a 401, and that nothing of
// them is written beside its socket.
func TestSessionLogins(t *testing.T) {
	t.Parallel()
	w := newAuthWorld(t)
	folder := shortRuntimeDir(t)
	w.secrets = append(w.secrets, "XDG_RUNTIME_DIR="+folder)
	w.run(0, "session", "start", "machine")
	defer w.run(0, "session", "stop", "--all")
	w.run(0, "call", "machine__greet")
	w.mu.Lock()
	before := len(w.tokens)
	w.issued = nil
	w.mu.Unlock()
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() { w.run(0, "call", "machine__greet") })
	}
	wait.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if got := len(w.tokens) - before; got != 1 {
		t.Errorf("%d tokens were asked for, want 1", got)
	}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		w.wantSilence(string(text))
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestSessionLoginOnATerminal lets a person log in when a session starts.
func TestSessionLoginOnATerminal(t *testing.T) {
	t.Parallel()
	w := newAuthWorld(t)
	w.secrets = append(w.secrets, "XDG_RUNTIME_DIR="+shortRuntimeDir(t))
	w.run(3, "session", "start", "remote")
	told, environ := w.browser()
	term := onTerminal(t, environ, w.arguments([]string{"session", "start", "remote"})...)
	w.visit(told)
	term.end(0)
	defer w.run(0, "session", "stop", "--all")
	if out, _ := w.run(0, "call", "remote__greet", "-v"); out != "well served\n" {
		t.Errorf("a call prints %q", out)
	}
}

// TestSessionKeepsNoSecrets starts a session with a variable on the command line: the list masks it, and when its
// daemon is dead, nothing starts the server without it.
func TestSessionKeepsNoSecrets(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t, nil)
	const secret = "hunter2hunter2"
	w.start("--as", "s", "--env", "API_TOKEN="+secret, "--", w.fake, "--name", "--token="+secret, "stateful")
	if stdout, _, _ := w.run("session", "list", "--json"); strings.Contains(stdout, secret) {
		t.Errorf("the list shows the secret: %s", stdout)
	}
	w.want(0, secret, "call", "s__env", "name=API_TOKEN")
	if stderr := w.want(2, "", "session", "restart", "s"); !strings.Contains(stderr, "are not kept") {
		t.Errorf("session restart says: %s", stderr)
	}
	one := w.session("s")
	_ = syscall.Kill(one.Holder, syscall.SIGKILL)
	if !within(func() bool { return ends(one.Holder) && w.session("s").State == "dead" }) {
		t.Error("the daemon does not end")
	}
	if stderr := w.want(2, "", "call", "s__env", "name=API_TOKEN"); !strings.Contains(stderr, "is not kept") {
		t.Errorf("a call says: %s", stderr)
	}
}
