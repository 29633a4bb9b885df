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

// TestListsStaySmall follows a list of resources without end, up to its limit of 64 MiB.
func TestListsStaySmall(t *testing.T) {
	t.Parallel()
	long(t)
	for _, flags := range [][]string{{}, {"--json"}} {
		peak := filepath.Join(t.TempDir(), "peak")
		// A busy machine takes more than the usual 30 s.
		args := append([]string{peak, buildToolx(t), "resources", "list", "--timeout", "none"}, flags...)
		cmd := exec.Command(measured(t), append(args, "--", "fakeserver", "resources-huge")...)
		var stderr strings.Builder
		listed := &finder{text: "test://0/2999"}
		cmd.Stdout, cmd.Stderr, cmd.Dir = listed, &stderr, emptyFolder(t)
		if err := cmd.Run(); err != nil || !listed.found ||
			!strings.Contains(stderr.String(), "over the limit of 64.0 MiB") {
			t.Errorf("%q: %v, %d bytes; %s", flags, err, listed.size, stderr.String())
		}
		if size := peakOf(t, peak); size > 256<<20 {
			t.Errorf("%q: %d MiB at its largest", flags, size>>20)
		}
	}
}

// finder is a writer that searches what is written for a text, and keeps nothing else of it.
type finder struct {
	text  string
	found bool
	size  int // of all that was written, in bytes
	kept  []byte
}

func (f *finder) Write(p []byte) (int, error) {
	f.size += len(p)
	f.kept = append(f.kept, p...)
	f.found = f.found || bytes.Contains(f.kept, []byte(f.text))
	f.kept = append(f.kept[:0], f.kept[max(0, len(f.kept)-len(f.text)):]...)
	return len(p), nil
}

// TestListOfWideToolsStaysSmall lists tools whose schemas together are 16 MiB: what is parsed of one is not kept.
func TestListOfWideToolsStaysSmall(t *testing.T) {
	t.Parallel()
	long(t)
	peak := filepath.Join(t.TempDir(), "peak")
	cmd := exec.Command(measured(t), peak, buildToolx(t), "list", "wide")
	var stderr strings.Builder
	cmd.Stderr, cmd.Dir = &stderr, emptyFolder(t)
	cmd.Env = append(os.Environ(), homeVariables(t.TempDir())...)
	config := "servers: {wide: {command: fakeserver, args: [pages-wide], maxMessage: 16MiB}}\n"
	if err := os.WriteFile(filepath.Join(cmd.Dir, "toolx.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	listed, err := cmd.Output()
	if err != nil || !strings.Contains(string(listed), "p99?: any") ||
		!strings.Contains(stderr.String(), "over the limit of 16.0 MiB") {
		t.Errorf("%v, %d bytes; %s", err, len(listed), stderr.String())
	}
	if size := peakOf(t, peak); size > 128<<20 {
		t.Errorf("%d MiB at its largest", size>>20)
	}
}

// TestTerminalStaysSmall floods a person at the terminal with questions: toolx stays below
// 256 MiB, and what was not asked when the call ended is not asked any more.
func TestTerminalStaysSmall(t *testing.T) {
	t.Parallel()
	long(t)
	for _, mode := range []string{"elicit-flood", "elicit-huge"} {
		peak := filepath.Join(t.TempDir(), "peak")
		term := programOnTerminal(t, emptyFolder(t), nil, measured(t), peak, buildToolx(t),
			"call", "echo", "message=hi", "--", "fakeserver", mode)
		written := term.end(0)
		if !strings.Contains(written, "hi\r\n") {
			t.Errorf("%s: no answer:\n%q", mode, written)
		}
		if asked := strings.Count(written, "Who are you?"); asked > 50 { // of the 100 that waited
			t.Errorf("%s: asked %d times after the call", mode, asked)
		}
		if size := peakOf(t, peak); size > 256<<20 {
			t.Errorf("%s: %d MiB at its largest", mode, size>>20)
		}
	}
}
