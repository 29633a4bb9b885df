package cmdline

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestProgramFiles(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"x.mjs", "srv/main.py", "srv/data.json", "srv/index", "bin/tool", "bin/node", "run.sh",
	} {
		path = filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("text"), 0o700); err != nil { //nolint:gosec // programs can be run
			t.Fatal(err)
		}
	}
	environ := []string{"PATH=" + filepath.Join(root, "bin")}
	for name, test := range map[string]struct {
		command string
		args    []string
		want    []string
	}{
		"a script above":         {"node", []string{"../x.mjs"}, []string{"x.mjs"}},
		"with flags and data":    {"python3", []string{"-u", "main.py", "--data", "data.json"}, []string{"srv/main.py"}},
		"node without ending":    {"node", []string{"index"}, []string{"srv/index"}},
		"a program by path":      {"../bin/tool", nil, []string{"bin/tool"}},
		"a program in PATH":      {"tool", []string{"serve"}, []string{"bin/tool"}},
		"an interpreter by path": {"../bin/node", []string{"../x.mjs"}, []string{"bin/node", "x.mjs"}},
		"in a shell":             {"sh", []string{"-c", "exec node ../x.mjs"}, []string{"x.mjs"}},
		"a script for a shell":   {"sh", []string{"../run.sh"}, []string{"run.sh"}},
		"a module":               {"python3", []string{"-m", "server"}, nil},
		"a missing file":         {"node", []string{"../none.mjs"}, nil},
		"a package":              {"npx", []string{"-y", "@scope/none"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ProgramFiles(test.command, test.args, filepath.Join(root, "srv"), environ)
			for i := range got {
				got[i], _ = filepath.Rel(root, got[i])
				got[i] = filepath.ToSlash(got[i])
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("the files are %q, want %q", got, test.want)
			}
		})
	}
}
