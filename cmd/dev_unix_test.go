//go:build unix

package cmd_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// startDev runs toolx dev in a folder. until reads up to a line that has text, and wants none that has one of not.
func startDev(t *testing.T, folder string, args ...string) (
	dev *exec.Cmd, lines *bufio.Scanner, until func(text string, not ...string),
) {
	t.Helper()
	dev = exec.Command("toolx", append([]string{"dev"}, args...)...)
	dev.Dir, dev.Env = folder, append(os.Environ(), homeVariables(t.TempDir())...)
	stdout, err := dev.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := dev.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dev.Process.Kill() })
	lines = bufio.NewScanner(stdout)
	return dev, lines, func(text string, not ...string) {
		t.Helper()
		for lines.Scan() {
			for _, wrong := range not {
				if strings.Contains(lines.Text(), wrong) {
					t.Errorf("before %q there is %q", text, lines.Text())
				}
			}
			if strings.Contains(lines.Text(), text) {
				return
			}
		}
		t.Fatalf("toolx dev ended before %q", text)
	}
}

// TestDevElsewhere changes files of a server whose program lies beside the folder that it is started in: the program, a
// file below its folder, and one in the folder where it is started.
func TestDevElsewhere(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(emptyFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const program = "srv/serve.sh"
	write(program, "exec fakeserver good\n")
	write("srv/lib/words.sh", "")
	write("here/settings.json", "{}")
	here := filepath.Join(root, "here")
	dev, _, until := startDev(t, here, "--no-doctor", "--", "sh", "../"+program)
	until("watching " + strings.Join([]string{filepath.Join(root, program), here, filepath.Join(root, "srv")}, ", "))
	until("started in ")
	for _, path := range []string{program, "srv/lib/words.sh"} {
		write(path, "exec fakeserver good\n")
		until("changed: "+filepath.Join(root, path), "ended")
		until("started in ")
	}
	write("here/settings.json", "[]")
	until("changed: settings.json")
	until("started in ")
	_ = dev.Process.Signal(syscall.SIGINT)
}

// TestDevInJSON: each line is an object, and a call's result, of a failure too, is what call --json prints.
func TestDevInJSON(t *testing.T) {
	t.Parallel()
	dev, lines, _ := startDev(t, emptyFolder(t), "--json", "--no-doctor", "--watch", ".",
		"--call", `echo {"message":"hi"}`, "--call", `nope {}`, "--", "fakeserver", "good")
	for _, want := range []string{
		`"text":"watching .`, `"text":"started in `, `"success":true,"result":"hi"`,
		`"success":false,"error":"Tool 'nope' not found`,
	} {
		if !lines.Scan() || !json.Valid(lines.Bytes()) || !strings.Contains(lines.Text(), want) {
			t.Errorf("got %q, want an object with %s", lines.Text(), want)
		}
	}
	_ = dev.Process.Signal(syscall.SIGINT)
}

// TestDev saves a server's file again and again, and reads what toolx dev says of each state.
func TestDev(t *testing.T) {
	t.Parallel()
	folder := emptyFolder(t)
	serve := func(mode string) {
		t.Helper()
		script := filepath.Join(folder, "serve.sh")
		if err := os.WriteFile(script, []byte("exec fakeserver "+mode+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	serve("good")
	dev, lines, until := startDev(t, folder, "--call", `echo {"message":"it works"}`, "--", "sh", "serve.sh")
	until("watching ")
	until("started in ")
	until("echo answered in ", "+ ", "~ ")
	until("it works")
	until("✓ the doctor finds nothing wrong", "✗")

	serve("banner stateful")
	until("changed: serve.sh")
	until("+ count")
	until("✗ server prints to stdout before its first response  stdout-pollution")

	serve("exit1-stderr")
	until("did not start", "started")
	until("✗ ", "fixed")

	serve("good")
	until("started in ")
	until("- count")
	until("it works")
	until("✓ fixed: server prints to stdout before its first response  stdout-pollution")

	if err := dev.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // Wait closes the pipe
	}
	if _ = dev.Wait(); dev.ProcessState.ExitCode() != 130 {
		t.Errorf("exit code %d, want 130", dev.ProcessState.ExitCode())
	}
}
