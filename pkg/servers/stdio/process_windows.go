package stdio

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a Job Object that ends its processes when its last handle is closed, also when toolx is killed.
type group struct {
	job windows.Handle
	pid uint32
}

// startGroup starts a program in a group of its own, which keeps Ctrl-C from it and lets terminate address it.
func startGroup(cmd *exec.Cmd) (group, error) {
	// Suspended, until it is in a job: what it started before that would be outside.
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED,
	}
	if err := cmd.Start(); err != nil {
		return group{}, err
	}
	g := newGroup(cmd.Process)
	if err := g.resume(); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_, _ = g.release(context.Background())
		return group{}, fmt.Errorf("the process was started, but cannot be resumed: %w", err)
	}
	return g, nil
}

// resume lets the threads of a suspended process run. A new process has one; os/exec does not tell which.
func (g group) resume() error {
	threads, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(threads)
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	resumed := false
	for err = windows.Thread32First(threads, &entry); err == nil; err = windows.Thread32Next(threads, &entry) {
		if entry.OwnerProcessID != g.pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return err
		}
		_, err = windows.ResumeThread(thread)
		_ = windows.CloseHandle(thread)
		if err != nil {
			return err
		}
		resumed = true
	}
	if !resumed {
		return err // of the search
	}
	return nil
}

// waited has nothing to note.
func (g group) waited() {}

// newGroup puts the process into a job. Without a job only the process itself can be ended.
func newGroup(leader *os.Process) group {
	g := group{pid: uint32(leader.Pid)}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return g
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		var process windows.Handle
		process, err = windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, g.pid)
		if err == nil {
			err = windows.AssignProcessToJobObject(job, process)
			_ = windows.CloseHandle(process)
		}
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return g
	}
	g.job = job
	return g
}

// Terminate sends Ctrl-Break, the one signal that a process group can be sent.
func (g group) Terminate() {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, g.pid)
}

// Signal sends Ctrl-Break, whatever the signal was.
func (g group) Signal(os.Signal) { g.Terminate() }

// Kill ends every process of the job.
func (g group) Kill() {
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
		return
	}
	if process, err := os.FindProcess(int(g.pid)); err == nil {
		_ = process.Kill()
	}
}

// release closes the job, which ends the processes that are left in it; it reports none of them.
func (g group) release(context.Context) (found, left []string) {
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
	}
	return nil, nil
}

// leave lets what is left of the group live, until toolx ends.
func (g group) leave() {}

// signalName is empty: Windows has no signals.
func signalName(*os.ProcessState) string { return "" }

// ExitCode returns the exit code of a process.
func ExitCode(state *os.ProcessState) int { return state.ExitCode() }

// PipeState is never known: a write that blocks cannot be interrupted either.
func PipeState(io.Reader) pipeFacts { return pipeFacts{} }
