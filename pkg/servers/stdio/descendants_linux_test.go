package stdio

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// await returns what cond gives when that is true, and fails where it never is.
func await[T any](t *testing.T, what string, cond func() (T, bool)) T {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if value, ok := cond(); ok {
			return value
		}
		if time.Now().After(deadline) {
			t.Fatal(what + " never came")
		}
	}
}

// pidIn waits for the process number in a file.
func pidIn(t *testing.T, file string) int {
	t.Helper()
	return await(t, "a process number", func() (int, bool) {
		text, _ := os.ReadFile(file)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		return pid, err == nil && strings.HasSuffix(string(text), "\n")
	})
}

// wantGone waits for the end of a process that was killed: the kernel takes a moment, in which
// nobody can see any more who has started it.
func wantGone(t *testing.T, pid int) {
	t.Helper()
	await(t, "the end of what was left behind", func() (struct{}, bool) {
		return struct{}{}, errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || pgrpOfZombie(pid) != 0
	})
}

// A headersCommand that does not end in time, or fails, ends with all that it has started; one
// that succeeds leaves what it started alone.
func TestHeadersCommandLeavesNothing(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		cancel bool
		lives  bool
	}{
		"in its group":         {`sh -c 'echo $$ > "$0"; exec sleep 1000' "$0" & wait`, true, false},
		"in another session":   {`setsid sh -c 'echo $$ > "$0"; exec sleep 1000' "$0" & wait`, true, false},
		"forked twice":         {`(setsid sh -c 'echo $$ > "$0"; exec sleep 1000' "$0" > /dev/null 2>&1 &); sleep 1000`, true, false},
		"environment cleared":  {`env -i setsid sh -c 'echo $$ > "$0"; exec sleep 1000' "$0" & sleep 1000`, true, false},
		"after a failure":      {`(setsid sh -c 'echo $$ > "$0"; exec sleep 1000' "$0" > /dev/null 2>&1 &); until [ -s "$0" ]; do :; done; exit 3`, false, false},
		"a keeper of password": {`(setsid sh -c 'echo $$ > "$0"; exec sleep 1000' "$0" > /dev/null 2>&1 &); until [ -s "$0" ]; do :; done; echo 'A: b'`, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				_, err := Output(ctx, 10*time.Second, []string{"sh", "-c", test.script, file}, "", nil)
				ended <- err
			}()
			pid := pidIn(t, file)
			if test.cancel {
				cancel()
			}
			if err := <-ended; (err == nil) != test.lives {
				t.Errorf("it ended with %v", err)
			}
			if test.lives {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Errorf("what it left was ended: %v", err)
				}
				return
			}
			wantGone(t, pid)
		})
	}
}

// While a server runs, the orphans of it that end are reaped, and what os/exec waits for is left to it.
func TestOrphansAreReaped(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	server := exec.Command("sh", "-c", `(setsid sh -c 'echo $$ > "$0"' "$0" &); exec sleep 1000`, file)
	group, err := startGroup(server)
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		own, grouped := exec.Command("true"), exec.Command("true")
		other, err := startGroup(grouped)
		if err := errors.Join(err, own.Run(), grouped.Wait()); err != nil {
			t.Error(err)
		}
		other.waited()
		other.leave()
	}
	pid := pidIn(t, file)
	await(t, "the end of the orphan", func() (struct{}, bool) {
		return struct{}{}, errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	})
	group.Kill()
	_ = server.Wait() // killed
	group.waited()
	if found, left := group.release(t.Context()); len(found)+len(left) > 0 {
		t.Errorf("found %v, left %v", found, left)
	}
}
