//go:build windows

package systems

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"toolx/pkg/servers/fake"
)

// programs is the folder of toolx.exe and fakeserver.exe.
var programs string

func TestMain(m *testing.M) {
	var err error
	if programs, err = os.MkdirTemp("", "toolx tests"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(programs)
	if _, err = fake.Build(programs); err != nil {
		panic(err)
	}
	out, err := exec.Command("go", "build", "-o", filepath.Join(programs, "toolx.exe"), "toolx").CombinedOutput()
	if err != nil {
		panic(string(out))
	}
	m.Run()
}

func fakeserver() string { return filepath.Join(programs, "fakeserver.exe") }

// home is a user's folders, and the one that toolx is started in.
type home struct {
	t      *testing.T
	folder string
}

func newHome(t *testing.T) home {
	h := home{t, t.TempDir()}
	if err := os.Mkdir(h.path("work"), 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h home) path(name string) string { return filepath.Join(h.folder, name) }

// toolx returns a command that runs toolx at home.
func (h home) toolx(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(programs, "toolx.exe"), args...)
	cmd.Dir = h.path("work")
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+h.path("config"), "XDG_STATE_HOME="+h.path("state"),
		"XDG_CACHE_HOME="+h.path("cache"), "TOOLX_TRUST=all", "PATH="+h.path("bin")+";"+os.Getenv("PATH"))
	return cmd
}

// run runs toolx, and returns what it printed and its exit code.
func (h home) run(args ...string) (stdout, stderr string, code int) {
	h.t.Helper()
	var out, errs bytes.Buffer
	cmd := h.toolx(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func (h home) write(name, text string) string {
	h.t.Helper()
	path := h.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// everything is a server from npm, which runs in Node.
func everything(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../servers/node_modules/@modelcontextprotocol/server-everything/dist/index.js")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTyped runs command lines, each at a home of its own.
func TestTyped(t *testing.T) {
	const hi = "message=hi"
	for name, test := range map[string]struct {
		args []string
		want string // a regular expression
		code int
	}{
		"version":          {[]string{"version"}, `^toolx .* windows/`, 0},
		"builtin":          {[]string{"call", "math_eval", "expression=2^10", "--jq", ".result"}, `^1024\r?\n$`, 0},
		"builtins":         {[]string{"list"}, `math_eval`, 0},
		"unknown tool":     {[]string{"call", "nothing"}, `^$`, 2},
		"server in Go":     {[]string{"call", "echo", hi, "--", fakeserver(), "good"}, `^hi\n$`, 0},
		"its tools":        {[]string{"list", "--", fakeserver(), "good"}, `echo`, 0},
		"it is examined":   {[]string{"doctor", "--", fakeserver(), "good"}, `0 findings`, 0},
		"it crashes":       {[]string{"call", "echo", hi, "--", fakeserver(), "exit-mid-call"}, `^$`, 6},
		"server in Node":   {[]string{"call", "echo", hi, "--", "node", everything(t), "stdio"}, `hi`, 0},
		"Node is examined": {[]string{"doctor", "--", "node", everything(t), "stdio"}, `checks passed`, 0},
		"slashes":          {[]string{"call", "echo", hi, "--", filepath.ToSlash(fakeserver()), "good"}, `^hi\n$`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := newHome(t).run(test.args...)
			if code != test.code || !regexp.MustCompile(test.want).MatchString(stdout) {
				t.Errorf("%q ends with %d, want %d and %s\n%s%s", test.args, code, test.code, test.want, stdout, stderr)
			}
		})
	}
}

// TestNoSignalIsBlamed asks that no server is blamed for ignoring a signal that Windows does not have.
func TestNoSignalIsBlamed(t *testing.T) {
	stdout, stderr, _ := newHome(t).run("doctor", "--json", "--", fakeserver(), "ignore-eof", "ignore-sigterm")
	if !strings.Contains(stdout, `"ignores-stdin-close"`) || strings.Contains(stdout, `"check":"ignores-sigterm"`) {
		t.Errorf("%s%s", stdout, stderr)
	}
}

// TestShims starts servers by .cmd files, as npm installs them: by their paths, and by names that PATHEXT completes.
func TestShims(t *testing.T) {
	h := newHome(t)
	shim := h.write(`bin\my shim.cmd`, "@echo off\r\n\""+fakeserver()+"\" %*\r\n")
	h.write(`bin\served.cmd`, "@echo off\r\n\"%~dp0my shim.cmd\" %*\r\n")
	h.write(`work\toolx.yaml`, "servers:\n  drive: {command: '"+shim+"', args: [good]}\n"+
		"  named: {command: served, args: [good]}\n")
	if filepath.VolumeName(shim) == "" {
		t.Fatalf("%s has no drive letter", shim)
	}
	for _, args := range [][]string{
		{"echo", "message=a & b", "--", shim, "good"},
		{"echo", "message=a & b", "--", "served", "good"},
		{"drive__echo", "message=a & b"},
		{"named__echo", "message=a & b"},
	} {
		stdout, stderr, code := h.run(append([]string{"call"}, args...)...)
		if code != 0 || stdout != "a & b\n" {
			t.Errorf("%q ends with %d: %s%s", args, code, stdout, stderr)
		}
	}
}

// TestTreesEnd asks that what a server has started and left behind ends with toolx, also when toolx is killed.
func TestTreesEnd(t *testing.T) {
	child := regexp.MustCompile(`grandchild (\d+)`)
	t.Run("in order", func(t *testing.T) {
		args := []string{"call", "echo", "message=hi", "--trace=full", "--", fakeserver(), "grandchild"}
		stdout, stderr, code := newHome(t).run(args...)
		pid := child.FindStringSubmatch(stderr)
		if code != 0 || stdout != "hi\n" || pid == nil {
			t.Fatalf("it ends with %d: %s%s", code, stdout, stderr)
		}
		wantGone(t, pid[1])
	})
	t.Run("killed", func(t *testing.T) {
		cmd := newHome(t).toolx("proxy", "--", fakeserver(), "grandchild")
		cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
		said, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cmd.StdinPipe(); err != nil { // open until toolx has ended
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pid := awaited(t, said, child)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		wantGone(t, pid[1])
		_ = cmd.Wait()
	})
}

// wantGone waits for the end of a process.
func wantGone(t *testing.T, pid string) {
	t.Helper()
	id, err := strconv.ParseUint(pid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(id))
	if err != nil {
		return // there is none
	}
	defer windows.CloseHandle(process)
	event, err := windows.WaitForSingleObject(process, uint32(time.Minute.Milliseconds()))
	if event != windows.WAIT_OBJECT_0 {
		t.Errorf("process %s lives on: %d, %v", pid, event, err)
	}
}

// TestCtrlC interrupts a call as the console does.
func TestCtrlC(t *testing.T) {
	cmd := newHome(t).toolx("call", "sleep", "ms=600000", "--timeout", "10m", "--trace", "--", fakeserver(), "good")
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	awaited(t, stderr, regexp.MustCompile(`tools/call`))
	// Ctrl-C cannot be sent to one group; Go takes both for os.Interrupt.
	if err := windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(cmd.Process.Pid)); err != nil {
		_ = cmd.Process.Kill()
		t.Error(err)
	}
	_, _ = io.Copy(io.Discard, stderr)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("it ends with %d", code)
	}
}

// awaited reads until a regular expression matches, and returns its groups.
func awaited(t *testing.T, from io.Reader, pattern *regexp.Regexp) []string {
	t.Helper()
	for text := []byte(nil); ; {
		part := make([]byte, 4096)
		n, err := from.Read(part)
		text = append(text, part[:n]...)
		if found := pattern.FindStringSubmatch(string(text)); found != nil {
			return found
		}
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
}

// TestLogBelowAppData asks that calls are logged below the user's AppData.
func TestLogBelowAppData(t *testing.T) {
	local, err := windows.KnownFolderPath(windows.FOLDERID_LocalAppData, 0)
	if err != nil {
		t.Fatal(err)
	}
	marked := fmt.Sprintf("%d+1", os.Getpid())
	cmd := newHome(t).toolx("call", "math_eval", "expression="+marked)
	cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(local, `toolx\history.jsonl`))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), marked) {
		t.Errorf("%s is not in the log", marked)
	}
}

// TestSession starts a server that stays, calls it twice and ends it.
func TestSession(t *testing.T) {
	h := newHome(t)
	h.write(`work\toolx.yaml`, "servers:\n  kept: {command: '"+fakeserver()+"', args: [good]}\n")
	for _, args := range [][]string{
		{"session", "start", "kept"},
		{"call", "kept__echo", "message=hi"},
		{"call", "kept__echo", "message=hi"},
		{"session", "stop", "kept"},
	} {
		if stdout, stderr, code := h.run(args...); code != 0 {
			t.Errorf("%q ends with %d: %s%s", args, code, stdout, stderr)
		}
	}
}
