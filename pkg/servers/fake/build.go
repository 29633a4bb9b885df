package fake

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
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
