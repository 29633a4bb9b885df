//go:build unix

package cmd_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestListsStaySmall follows lists without end up to a limit of 16 MiB: they are printed as far as they came, and what
// is parsed of a tool's schema is not kept.
func TestListsStaySmall(t *testing.T) {
	t.Parallel()
	folder := emptyFolder(t)
	config := `servers:
  huge: {command: fakeserver, args: [resources-huge], maxMessage: 16MiB}
  wide: {command: fakeserver, args: [pages-wide], maxMessage: 16MiB}
`
	if err := os.WriteFile(filepath.Join(folder, "toolx.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, test := range map[string]struct {
		want string
		most int64 // MiB
	}{
		"resources list huge":        {"test://0/2999", 192},
		"resources list huge --json": {"test://0/2999", 192},
		"list wide":                  {"p99?: any", 128},
	} {
		peak := filepath.Join(t.TempDir(), "peak")
		cmd := exec.Command(measured(t), append([]string{peak, buildToolx(t)}, strings.Fields(args)...)...)
		var stderr strings.Builder
		cmd.Stderr, cmd.Dir, cmd.Env = &stderr, folder, append(os.Environ(), homeVariables(t.TempDir())...)
		listed, err := cmd.Output()
		if err != nil || !bytes.Contains(listed, []byte(test.want)) ||
			!strings.Contains(stderr.String(), "over the limit of 16.0 MiB") {
			t.Errorf("%s: %v, %d bytes; %s", args, err, len(listed), stderr.String())
		}
		if size := peakOf(t, peak); size > test.most<<20 {
			t.Errorf("%s: %d MiB at its largest", args, size>>20)
		}
	}
}

// TestTerminalStaysSmall floods a person at the terminal with questions: toolx stays below
// 256 MiB, and what was not asked when the call ended is not asked any more.
func TestTerminalStaysSmall(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"elicit-flood", "elicit-huge"} {
		peak := filepath.Join(t.TempDir(), "peak")
		term := programOnTerminal(t, emptyFolder(t), nil, measured(t), peak, buildToolx(t),
			"call", "echo", "message=hi", "--", "fakeserver", mode)
		written := term.end(0)
		if !strings.Contains(written, "hi\r\n") {
			t.Errorf("%s: no answer:\n%q", mode, written)
		}
		if asked := strings.Count(written, `server "server" asks:`); asked > 50 { // of the 100 that waited
			t.Errorf("%s: asked %d times after the call", mode, asked)
		}
		if size := peakOf(t, peak); size > 256<<20 {
			t.Errorf("%s: %d MiB at its largest", mode, size>>20)
		}
	}
}
