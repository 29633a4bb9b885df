package fake

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
)

// Build makes the fake server in a folder, and returns its path. Tests that start it often use this: under the race
// detector, a start of the test binary in its place takes four times as long. This package's own tests look for races.
func Build(folder string) (program string, err error) {
	program = filepath.Join(folder, "fakeserver")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	out, err := exec.Command("go", "build", "-o", program, "toolx/pkg/servers/fake/cmd/fakeserver").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
}

// folder is where Program makes the fake server.
var folder = sync.OnceValue(func() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("toolx-fake-%d", os.Getpid()))
})

// Program returns the path of a fake server that is made when it is first needed. TestMain calls Remove.
var Program = sync.OnceValues(func() (string, error) { return Build(folder()) })

// Remove removes what Program has made.
func Remove() { _ = os.RemoveAll(folder()) }
