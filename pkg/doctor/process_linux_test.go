package doctor

import (
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/doctor/checks/process"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/procs"
)

// TestStateOfAProcess looks at this very process.
func TestStateOfAProcess(t *testing.T) {
	if got := procs.StateOf(os.Getpid()); process.Sentence(got) == "" {
		t.Errorf("the state is %+v", got)
	}
}

// TestQueuedTime gives a processor more than it can do: somebody waits.
func TestQueuedTime(t *testing.T) {
	if counts, err := os.ReadFile("/proc/self/schedstat"); err != nil || string(counts) == "0 0 0\n" {
		t.Skip("this kernel does not count it")
	}
	busy := exec.Command("sh", "-c", "for i in $(seq $((4 * $(nproc)))); do yes >/dev/null & done; wait")
	busy.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = syscall.Kill(-busy.Process.Pid, syscall.SIGKILL)
		_ = busy.Wait()
	}()
	for procs.Queued(procs.Tree(busy.Process.Pid)) < 50*time.Millisecond {
		quiet(t.Context(), 10*time.Millisecond, nil)
	}
}

// TestAListenerIsStartedAlone has evidence of a process that listens, and of one that does not.
func TestAListenerIsStartedAlone(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = sleeper.Process.Kill(), sleeper.Wait() }()
	options := Options{Busy: func() bool { return false }}
	for pid, want := range map[int]bool{os.Getpid(): true, sleeper.Process.Pid: false} {
		tree := procs.Tree(pid)[:1] // without this process's children
		e := &evidence.Evidence{Server: &config.Server{}, Clean: &evidence.Run{Tree: tree}}
		if got := options.mustRunAlone(e); got != want {
			t.Errorf("process %d: %t, want %t", pid, got, want)
		}
	}
}

func TestAProcessIsTheSameByItsBirth(t *testing.T) {
	stat, ok := procs.ReadStat(os.Getpid())
	if !ok {
		t.Fatal("cannot read /proc")
	}
	self := processID{os.Getpid(), stat.Started}
	if !self.alive() {
		t.Error("this process is not alive")
	}
	if another := (processID{self.pid, self.started + 1}); another.alive() {
		t.Error("a process with another start is taken for this one")
	}
	if len(groupMembers(syscall.Getpgrp())) == 0 {
		t.Error("this process's group has no members")
	}
}
