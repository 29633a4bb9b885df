//go:build !unix

package fake

import (
	"os"
	"strconv"
	"testing"
)

// endProcess kills a process that must still be there.
func endProcess(t *testing.T, pid string) {
	t.Helper()
	id, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	process, err := os.FindProcess(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Error(err)
	}
}
