package procs

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestListeningSocketsAreFound(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "0.0.0.0:0", "[::1]:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err) // a machine without IPv6
			continue
		}
		want := strings.ReplaceAll(listener.Addr().String(), "[::]", "0.0.0.0")
		found := strings.Join(Listening(Tree(os.Getpid())), "\n")
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
	state := StateOf(os.Getpid())
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
	state := StateOf(server.Process.Pid)
	_ = log.Close()
	if state.Log != log.Name() {
		t.Errorf("found %q, want %q", state.Log, log.Name())
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
		for tree := Tree(pid); tree[len(tree)-1].Command[0] == "sh" && t.Context().Err() == nil; {
			runtime.Gosched()
			tree = Tree(pid)
		}
		if got := StateOf(pid).Runs; got != want {
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
	for Command(child.Process.Pid) != nil && t.Context().Err() == nil {
		runtime.Gosched()
	}
	if tree := Tree(child.Process.Pid); len(tree) > 0 {
		t.Errorf("%+v, want no process", tree)
	}
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
}

// TestLocksAreFound has this process lock a file, for itself and for readers.
func TestLocksAreFound(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	self := []Process{{PID: os.Getpid()}}
	for kind, want := range map[int]bool{syscall.LOCK_EX: true, syscall.LOCK_SH: false, syscall.LOCK_UN: false} {
		if err := syscall.Flock(int(file.Fd()), kind); err != nil {
			t.Fatal(err)
		}
		if got := Locking(self); got != want {
			t.Errorf("after flock(%d): %t, want %t", kind, got, want)
		}
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
			found, inode, ok := socketOf(one.line, state)
			switch {
			case ok != (want != ""):
				t.Errorf("%q: in state %s is %t", one.line, state, ok)
			case ok && (found.other.String() != want || inode != one.inode):
				t.Errorf("%q: %s with inode %s, want %s with %s", one.line, found.other, inode, want, one.inode)
			}
		}
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
		if stat, ok := ReadStat(ended.Process.Pid); !ok || stat.State == "Z" {
			break
		}
	}
	if state := StateOf(ended.Process.Pid); state == nil || state.Deaf {
		t.Errorf("its state is %+v", state)
	}
	if err := ended.Wait(); err != nil {
		t.Error(err)
	}
}
