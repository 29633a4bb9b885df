package doctor

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/checks/process"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers"
)

// TestOrphans shows that what outlives a server is found, in its group and out of
// it, and is gone afterwards.
func TestOrphans(t *testing.T) {
	for _, mode := range []string{"grandchild", "grandchild-setsid"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			pids := filepath.Join(t.TempDir(), "pids")
			report := Judge(examineFake(t, shortOptions(), mode, "--pids", pids), Selection{})
			found := findingsOf(t, report, "orphan-grandchild")
			if len(found) == 0 {
				t.Fatal("no orphan was found")
			}
			if notes := strings.Join(found[0].Notes, "; "); !strings.Contains(notes, "stderr and stdout open") {
				t.Errorf("the notes are %q, want the pipes that it holds", notes)
			}
			text, err := os.ReadFile(pids)
			if err != nil {
				t.Fatal(err)
			}
			for field := range strings.FieldsSeq(string(text)) {
				pid, err := strconv.Atoi(field)
				if err != nil {
					t.Fatal(err)
				}
				if stat, ok := readStat(pid); ok && stat.state != "Z" {
					t.Errorf("process %d is still there", pid)
				}
			}
		})
	}
}

func TestListeningSocketsAreFound(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "0.0.0.0:0", "[::1]:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err) // a machine without IPv6
			continue
		}
		want := strings.ReplaceAll(listener.Addr().String(), "[::]", "0.0.0.0")
		found := strings.Join(sockets(processTree(os.Getpid()), listening), "\n")
		if !strings.Contains(strings.ReplaceAll(found, "[::]", "0.0.0.0"), want+" (pid ") {
			t.Errorf("%s is not in %q", want, found)
		}
		_ = listener.Close()
	}
}

// TestConnectionsWithoutAnAnswerAreFound connects to a socket whose queue is full, which answers no more.
func TestConnectionsWithoutAnAnswerAreFound(t *testing.T) {
	const stream = syscall.SOCK_STREAM | syscall.SOCK_NONBLOCK | syscall.SOCK_CLOEXEC
	open := func() int {
		socket, err := syscall.Socket(syscall.AF_INET, stream, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Close(socket) })
		return socket
	}
	server := open()
	if err := syscall.Bind(server, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(server, 0); err != nil {
		t.Fatal(err)
	}
	address, err := syscall.Getsockname(server)
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if err := syscall.Connect(open(), address); err != nil && err != syscall.EINPROGRESS {
			t.Fatal(err)
		}
	}
	want := fmt.Sprintf("127.0.0.1:%d (pid %d)", address.(*syscall.SockaddrInet4).Port, os.Getpid())
	state := stateOf(os.Getpid())
	if !slices.Contains(state.Connecting, want) || !slices.Contains(state.Listening, want) {
		t.Errorf("%s is not in both of %q and %q", want, state.Connecting, state.Listening)
	}
}

// TestOpenLogIsFound has a process with a log open, as a silent server may have.
func TestOpenLogIsFound(t *testing.T) {
	log, err := os.Create(filepath.Join(t.TempDir(), "server.log"))
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command("sleep", "60")
	server.ExtraFiles = []*os.File{log}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = server.Process.Kill(), server.Wait() }()
	state := stateOf(server.Process.Pid)
	_ = log.Close()
	if state.Log != log.Name() {
		t.Errorf("found %q, want %q", state.Log, log.Name())
	}
	e := evidenceOf(&evidence.Run{
		Stuck: state, Failure: &servers.Failure{Ending: servers.EndingSilent, Waiting: "initialize"},
	})
	found := ask("handshake-timeout")(e)
	if len(found) != 1 || !slices.Contains(found[0].Notes, "it logs to "+log.Name()) {
		t.Errorf("%+v, want a note of the log", found)
	}
}

// TestHelperIsFound has a process that waits for a program with a stdin of its own, and one whose program reads its
// stdin.
func TestHelperIsFound(t *testing.T) {
	for script, want := range map[string]string{
		"sleep 60 </dev/null 2>/dev/null & echo; wait": "sleep 60", "sleep 60 <&3 & echo; wait": "",
	} {
		server := exec.Command("sh", "-c", "exec 3<&0; "+script)
		server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if _, err := server.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		out, err := server.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = out.Read(make([]byte, 1)) // its program is started
		pid := server.Process.Pid
		// The shell's copy is the program only once it has called exec; meanwhile it may have no command line.
		for tree := processTree(pid); tree[len(tree)-1].Command[0] == "sh" && t.Context().Err() == nil; {
			runtime.Gosched()
			tree = processTree(pid)
		}
		if got := stateOf(pid).Runs; got != want {
			t.Errorf("%q runs %q, want %q", script, got, want)
		}
		if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
		_ = server.Wait()
	}
}

// TestEndedChildIsNoHelper has a process with a child that has ended and for which it has not waited.
func TestEndedChildIsNoHelper(t *testing.T) {
	child := exec.Command("true")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(out); err != nil { // it is about to end
		t.Fatal(err)
	}
	for command := []byte("true"); len(command) > 0 && t.Context().Err() == nil; runtime.Gosched() {
		command, err = os.ReadFile(procPath(child.Process.Pid, "cmdline"))
		if err != nil {
			t.Fatal(err)
		}
	}
	if tree := processTree(child.Process.Pid); len(tree) > 0 {
		t.Errorf("%+v, want no process", tree)
	}
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
}

func TestSocketLines(t *testing.T) {
	for _, one := range []struct{ line, listens, connects, inode string }{
		{"  0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4026 1", "127.0.0.1:8080", "", "4026"},
		{"  1: 00000000:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 77 1", "0.0.0.0:3000", "", "77"},
		{"  2: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 9 1", "[::1]:80", "", "9"},
		{"  3: 0100007F:1F90 0100007F:A000 01 00000000:00000000 00:00000000 00000000  1000        0 4026 1", "", "", ""},
		{"  4: 0200000A:A000 0500000A:1538 02 00000000:00000001 01:00000032 00000000  1000        0 4027 1", "", "10.0.0.5:5432", "4027"},
		{"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode", "", "", ""},
		{"", "", "", ""},
	} {
		for state, want := range map[socketState]string{listening: one.listens, connecting: one.connects} {
			address, inode, ok := socketOf(one.line, state)
			switch {
			case ok != (want != ""):
				t.Errorf("%q: in state %s is %t", one.line, state, ok)
			case ok && (address.String() != want || inode != one.inode):
				t.Errorf("%q: %s with inode %s, want %s with %s", one.line, address, inode, want, one.inode)
			}
		}
	}
}

// TestSamples measures this very process.
func TestProcessesAreMeasured(t *testing.T) {
	var stop atomic.Bool
	defer stop.Store(true)
	go func() {
		for !stop.Load() {
		}
	}()
	s := sampleProcess(t.Context(), os.Getpid(), 300*time.Millisecond)
	if s == nil || s.RSS < 1<<20 || s.CPU == 0 || s.Processes < 1 {
		t.Errorf("the sample is %+v", s)
	}
	if got := stateOf(os.Getpid()); process.Sentence(got) == "" {
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
	for queuedTime(busy.Process.Pid) < 50*time.Millisecond {
		quiet(t.Context(), 10*time.Millisecond)
	}
}

// TestAnEndedProcessIsNotDeaf shows that a process which has ended, and has no stdin
// for that, is not taken for one that closed it.
func TestAnEndedProcessIsNotDeaf(t *testing.T) {
	ended := exec.Command("true")
	stdout, err := ended.StdoutPipe()
	if err == nil {
		err = ended.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(stdout) // to the end of the process, which is collected below
	for {
		if stat, ok := readStat(ended.Process.Pid); !ok || stat.state == "Z" {
			break
		}
	}
	if state := stateOf(ended.Process.Pid); state == nil || state.Deaf {
		t.Errorf("its state is %+v", state)
	}
	if err := ended.Wait(); err != nil {
		t.Error(err)
	}
}

// TestStdinClosedBeforeAnyWrite finds a server that closed its stdin at once: what
// was written before lies in the pipe, and no write fails.
func TestStdinClosedBeforeAnyWrite(t *testing.T) {
	provokeAll(t,
		[]provocation{{id: "stdin-closed", severity: check.Error, modes: []string{"stdin-closed"}, options: impatient}})
}

func TestAProcessIsTheSameByItsBirth(t *testing.T) {
	stat, ok := readStat(os.Getpid())
	if !ok {
		t.Fatal("cannot read /proc")
	}
	self := birth{os.Getpid(), stat.started}
	if !self.alive() {
		t.Error("this process is not alive")
	}
	if another := (birth{self.pid, self.started + 1}); another.alive() {
		t.Error("a process with another start is taken for this one")
	}
	if len(groupMembers(syscall.Getpgrp())) == 0 {
		t.Error("this process's group has no members")
	}
}
