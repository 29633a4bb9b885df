//go:build unix

package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentedCommands runs the commands of pages that are to be followed from top to bottom. A block of sh has to
// succeed as a whole. In a console's block, each command has to print what the page shows, but for numbers, and to end
// with the exit code that the page asks for.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"tutorial.md", "cookbook.md"} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("..", "docs", page))
			if err != nil {
				t.Fatal(err)
			}
			r := newReader(t)
			blocks := regexp.MustCompile("(?ms)^```(sh|console)\n(.*?)^```$")
			for _, block := range blocks.FindAllStringSubmatch(string(text), -1) {
				if block[1] == "sh" {
					if out, code := r.run(t, "set -e\n"+block[2]); code != 0 {
						t.Errorf("exit code %d of\n%s\n%s", code, block[2], out)
					}
					continue
				}
				r.follow(t, block[2])
			}
		})
	}
}

// reader is somebody who tries what a page says: a home, and a folder with what the examples need.
type reader struct {
	folder  string
	environ []string
}

func newReader(t *testing.T) *reader {
	t.Helper()
	r := &reader{folder: t.TempDir()}
	r.environ = append(os.Environ(), homeVariables(t.TempDir())...)
	if err := os.CopyFS(filepath.Join(r.folder, "examples"), os.DirFS(filepath.Join("..", "examples"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(r.folder, "testdata"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"testdata/zwave.yaml", "toolx.yaml"} {
		data, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// run runs a script and returns what it prints, on stdout and stderr.
func (r *reader) run(t *testing.T, script string) (printed string, code int) {
	t.Helper()
	shell := exec.Command("sh", "-c", script)
	shell.Dir, shell.Env = r.folder, r.environ
	out, err := shell.CombinedOutput()
	if shell.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), shell.ProcessState.ExitCode()
}

// follow types the commands of a console's block.
func (r *reader) follow(t *testing.T, block string) {
	t.Helper()
	typed := regexp.MustCompile(`(?m)^\$ `).Split(block, -1)[1:]
	for i := 0; i < len(typed); i++ {
		command, want, _ := strings.Cut(typed[i], "\n")
		wantCode := 0
		if i+1 < len(typed) && strings.HasPrefix(typed[i+1], "echo $?\n") {
			i++
			if _, err := fmt.Sscanf(typed[i], "echo $?\n%d", &wantCode); err != nil {
				t.Fatalf("after %s: no exit code", command)
			}
		}
		got, code := r.run(t, command)
		if code != wantCode {
			t.Errorf("%s: exit code %d, the page says %d", command, code, wantCode)
		}
		if numberless(got) != numberless(want) {
			t.Errorf("%s\nprints:\n%s\nthe page says:\n%s", command, got, want)
		}
	}
}

// numberless leaves out what differs from run to run: numbers, with the units of times and sizes.
func numberless(text string) string {
	text = regexp.MustCompile(`[0-9]+([.:][0-9]+)*( ?(µs|ms|s|B|KiB)\b)?`).ReplaceAllString(text, "0")
	return strings.TrimRight(text, "\n")
}
