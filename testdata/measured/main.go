//go:build unix

// Program measured runs a program, writes how much memory that took at its largest, in bytes, into a file, and ends
// with its exit code.
//
//	measured FILE PROGRAM ARG…
//
// It stands between a test and the program since on Linux the peak of a process begins with that of whoever started
// it, and a package grows while it is tested.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

func main() {
	file, command := os.Args[1], os.Args[2:]
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	_ = cmd.Run() // the exit code says how it ended
	usage, is := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !is {
		os.Exit(1)
	}
	peak := usage.Maxrss
	if runtime.GOOS != "darwin" {
		peak <<= 10 // KiB everywhere else
	}
	if err := os.WriteFile(file, fmt.Append(nil, peak), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(cmd.ProcessState.ExitCode())
}
