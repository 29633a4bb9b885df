package launch

import "testing"

// TestWindowsShim proves the commands of windows-cmd-shim.
func TestWindowsShim(t *testing.T) {
	for _, test := range []struct {
		goos, command string
		want          bool
	}{
		{"windows", "npx", true},
		{"windows", `C:\node\npx.cmd`, true},
		{"windows", "npm", true},
		{"windows", "npx.exe", false},
		{"windows", "cmd", false},
		{"windows", "node", false},
		{"windows", "uvx", false},
		{"linux", "npx", false},
		{"darwin", "npx", false},
	} {
		if got := isCmdScript(test.goos, test.command); got != test.want {
			t.Errorf("%s %s: %v", test.goos, test.command, got)
		}
	}
}
