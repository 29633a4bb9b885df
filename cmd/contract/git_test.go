package contract

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toolx/pkg/contract"
)

// repository makes a repository with a commit of those files, and changes to it. A text "->x" is a link.
func repository(t *testing.T, files map[string]string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Chdir(t.TempDir())
	for name, text := range files {
		err := os.MkdirAll(filepath.Dir(name), 0o700)
		if target, link := strings.CutPrefix(text, "->"); err == nil && link {
			err = os.Symlink(target, name)
		} else if err == nil {
			err = os.WriteFile(name, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, arguments := range [][]string{
		{"init", "-q", "."},
		{"add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x"},
	} {
		command := exec.CommandContext(t.Context(), "git", arguments...)
		command.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+t.TempDir())
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", arguments, err, out)
		}
	}
}

// TestRevision reads snapshots from git: folders, files, and what is damaged or no snapshot.
func TestRevision(t *testing.T) {
	repository(t, map[string]string{
		"snaps/a/server.json": `{"name":"a"}`, "snaps/a/tools/x.json": `{"name":"x","description":["one","two"]}`,
		"snaps/README.md": "x", "snaps/.gitattributes": "*.json export-ignore filter=evil",
		"all.json":                 `{"servers":{"a":{"tools":{"x":{"name":"x","description":"one\ntwo"}}}}}`,
		"damaged/a/server.json":    `{"name":"a"}`,
		"damaged/a/tools/x.json":   "{\n oops",
		"links/a/server.json":      `{"name":"a"}`,
		"links/a/tools/x.json":     "->/etc/passwd",
		"nothing/of/interest.text": "x",
	})
	// The repository may be hostile: a filter from its config must not run.
	evil, err := os.OpenFile(".git/config", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	const hostile = "\n[filter \"evil\"]\n\tsmudge = touch ran\n\tclean = touch ran\n[core]\n\tfsmonitor = touch ran\n"
	if _, err := evil.WriteString(hostile); err != nil {
		t.Fatal(err)
	}
	if err := evil.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("snaps/a/tools/x.json", []byte("changed since"), 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := readRevision(t.Context(), "HEAD:snaps")
	if err != nil {
		t.Fatal(err)
	}
	file, err := readRevision(t.Context(), "HEAD:all.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range contract.CompareSets(folder, file) {
		if len(d.Changes) > 0 || len(folder["a"].Lists[contract.Tool]) != 1 {
			t.Errorf("%+v", d)
		}
	}
	if one, err := readRevision(t.Context(), "HEAD:snaps/a"); err != nil || one["a"] == nil {
		t.Error(one, err)
	}
	if _, err := os.Stat("ran"); err == nil {
		t.Error("a program from the repository's config ran")
	}
	for spec, want := range map[string]string{
		"HEAD:damaged": "HEAD:damaged/a/tools/x.json:2: not JSON",
		"HEAD:links":   "HEAD:links/a/tools/x.json: it is a symbolic link",
		"HEAD:nothing": "HEAD:nothing: it has no snapshot",
		"HEAD:missing": "git: path 'missing' does not exist in 'HEAD'",
		"none:snaps":   "git: ",
	} {
		if _, err := readRevision(t.Context(), spec); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
}

// Without git, the error says so.
func TestNoGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := readRevision(t.Context(), "HEAD:x")
	if err == nil || !strings.Contains(err.Error(), "git is not in PATH") {
		t.Error(err)
	}
}

func TestIsRevision(t *testing.T) {
	for word, want := range map[string]bool{
		"HEAD:x": true, "v1.0:snaps/a": true, "--x:y": false, ":x": false, "node a:b": false, "x": false,
	} {
		if isRevision(word) != want {
			t.Error(word)
		}
	}
}
