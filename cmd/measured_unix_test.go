//go:build unix

package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// measured runs a program, writes into a file how much memory it took at its largest, in bytes, and returns its exit
// code. It stands between a test and the program: on Linux the peak of a process begins with that of whoever started
// it, and this package grows while it is tested.
func measured(file string, command []string) int {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	_ = cmd.Run() // the exit code says how it ended
	usage, is := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !is {
		return -1
	}
	peak := usage.Maxrss
	if runtime.GOOS != "darwin" {
		peak <<= 10 // KiB everywhere else
	}
	if err := os.WriteFile(file, fmt.Append(nil, peak), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return cmd.ProcessState.ExitCode()
}

// peakOf reads what measured wrote.
func peakOf(t *testing.T, file string) int64 {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return 0
	}
	peak, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || peak == 0 {
		t.Errorf("%q is no size", text)
	}
	return peak
}
