//go:build unix

package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestListDoesNotWaitForADeadServer: of four servers one does not answer. On a terminal the others appear at once, and
// on Ctrl-C the list ends with them (MCP-5).
func TestListDoesNotWaitForADeadServer(t *testing.T) {
	t.Parallel()
	for name, dead := range map[string]string{
		"silent":   "[silent]",
		"offline":  "[--stderr, broker offline, exit0-early]",
		"deafened": "[stdin-unread]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := emptyFolder(t)
			config := "servers:\n  dead: {command: fakeserver, startTimeout: 1h, retry: {baseDelay: 1h}, args: " +
				dead + "}\n"
			for _, server := range []string{"one", "two", "three"} {
				config += "  " + server + ": {command: fakeserver, args: [good]}\n"
			}
			if err := os.WriteFile(filepath.Join(folder, "toolx.yaml"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			term := onTerminalIn(t, folder, nil, "list", "-q", "--no-color")
			for _, server := range []string{"one", "two", "three"} {
				term.await(server + ` \(\d+ tools?\)`)
			}
			if err := term.cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(term.end(130), "(message: string)"); got != 3 {
				t.Errorf("%d servers are listed, want 3:\n%s", got, &term.seen)
			}
		})
	}
}
