package stdio

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// readPipe and WritePipe do what Read and Write of a pipe do. A pipe that os.Pipe has made is non-blocking, so neither
// waits in the kernel, and Go's scheduler is not told of the system call: in an idle process that wakes another thread
// first, which takes longer than a short message does. The end of a pipe, and every error, is left to package os.
func readPipe(pipe *os.File, b []byte) (n int, err error) {
	if n = transfer(syscall.SYS_READ, syscall.RawConn.Read, pipe, b); n > 0 {
		return n, nil
	}
	return pipe.Read(b)
}

// WritePipe writes all of b to a pipe. n is how many bytes were written.
func WritePipe(pipe *os.File, b []byte) (n int, err error) {
	if n = transfer(syscall.SYS_WRITE, syscall.RawConn.Write, pipe, b); n == len(b) {
		return n, nil
	}
	more, err := pipe.Write(b[n:])
	return n + more, err
}

// widen makes room in a pipe for lastWords without a reader. Node does not wait where it prints what ended it: with the
// line of source of a bundle before it, the error itself would be lost whenever the pipe is full. A system that allows
// no more leaves the pipe as it is.
func widen(pipe *os.File) {
	if conn, err := pipe.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, lastWords) })
	}
}

// lastWords is how many bytes of stderr find room before toolx reads them: what Linux allows any user.
const lastWords = 1 << 20

// transfer makes one system call, with a pipe and memory, as soon as it does not have to wait. It returns how many
// bytes were transferred, none if it fails.
func transfer(
	call uintptr, whenReady func(conn syscall.RawConn, do func(fd uintptr) (done bool)) error, pipe *os.File, b []byte,
) (n int) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return 0
	}
	// An error of waiting leaves n at 0.
	_ = whenReady(conn, func(fd uintptr) bool {
		done, _, errno := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		if errno == 0 {
			n = int(done)
		}
		return errno != syscall.EAGAIN
	})
	return n
}

// unreadIn returns how many bytes wait in a pipe for its reader; -1 if the system does not tell.
func unreadIn(pipe *os.File) int {
	unread := -1
	if conn, err := pipe.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) {
			if n, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ); err == nil {
				unread = n
			}
		})
	}
	return unread
}
