//go:build unix

package fake

import (
	"strconv"
	"syscall"
	"testing"
)

// endProcess kills a process that must still be there.
func endProcess(t *testing.T, pid string) {
	t.Helper()
	id, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(id, syscall.SIGKILL); err != nil {
		t.Errorf("process %d: %v", id, err)
	}
}

func TestTermSignal(t *testing.T) {
	t.Parallel()
	l := begin(t, "ignore-sigterm")
	l.send(lineInit)
	l.want(`"id":1`)
	if err := l.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	l.send(lineCall)
	l.want(`"id":3`)
	if code := l.close(); code != 0 {
		t.Errorf("exit code %d", code)
	}

	good := begin(t, "good")
	good.send(lineInit)
	good.want(`"id":1`)
	if err := good.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = good.cmd.Wait() // stdin is still open
}
