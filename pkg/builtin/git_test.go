package builtin_test

import (
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// git runs git in folder, without the user's config, and returns what it prints.
func git(t *testing.T, folder string, arguments ...string) string {
	t.Helper()
	command := osexec.CommandContext(t.Context(), "git", arguments...)
	command.Dir = folder
	command.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+folder, "XDG_CONFIG_HOME="+folder,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v: %s", arguments, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repository makes a repository of those files, none of which is added. It skips the test where git is missing.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	if _, err := osexec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	folder := tree(t, files)
	git(t, folder, "init", "-q", ".")
	return folder
}

// filesIn returns the files of a search for needle, which all files of these tests hold.
func filesIn(t *testing.T, folder, more string) []string {
	t.Helper()
	var files []string
	for _, match := range searchIn(t, folder, `{"query":"needle","max_results":1000`+more+`}`).Matches {
		files = append(files, match.File)
	}
	return files
}

// A search leaves out what git ignores: by ignore files in each folder and above, and by info/exclude; and never what
// is tracked.
func TestSearchInRepository(t *testing.T) {
	folder := repository(t, map[string]string{
		".gitignore":          "*.log\n/build/\n# needle\n",
		"a":                   "needle",
		"a.log":               "needle",
		"build/x":             "needle",
		"d/.gitignore":        "!kept.log\n/e/dropped\n",
		"d/kept.log":          "needle",
		"d/e/dropped":         "needle",
		"d/e/kept":            "needle",
		"d/e/excluded":        "needle",
		"d.txt":               "needle",
		"tracked.log":         "needle",
		"deleted":             "needle",
		"node_modules/m.js":   "needle",
		"inner/.gitignore":    "*.txt\n",
		"inner/a.txt":         "needle",
		"inner/b.log":         "needle",
		"inner/.git/needle":   "needle",
		"inner/.hidden/c.log": "needle",
	})
	git(t, filepath.Join(folder, "inner"), "init", "-q", ".")
	git(t, folder, "add", "-f", "tracked.log", "deleted")
	if err := os.Remove(filepath.Join(folder, "deleted")); err != nil {
		t.Fatal(err)
	}
	exclude := filepath.Join(folder, ".git", "info", "exclude")
	if err := os.WriteFile(exclude, []byte("excluded\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := "a d/e/kept d/kept.log d.txt inner/b.log node_modules/m.js tracked.log"
	if got := strings.Join(filesIn(t, folder, ""), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := filesIn(t, filepath.Join(folder, "d", "e"), ""); !slices.Equal(got, []string{"kept"}) {
		t.Errorf("below: got %q", got)
	}
	all := ".gitignore a a.log build/x d/e/dropped d/e/excluded d/e/kept d/kept.log d.txt inner/.hidden/c.log " +
		"inner/a.txt inner/b.log node_modules/m.js tracked.log"
	if got := strings.Join(filesIn(t, folder, `,"ignored":true,"hidden":true`), " "); got != all {
		t.Errorf("ignored and hidden: got  %s\nwant %s", got, all)
	}
}

// Outside of a repository a search leaves out installed modules, and asks git in the repositories that it comes across.
func TestSearchOutsideOfRepository(t *testing.T) {
	inner := repository(t, map[string]string{".gitignore": "b\n", "a": "needle", "b": "needle"})
	folder := filepath.Dir(inner)
	for _, name := range []string{"c", "node_modules/d", "e/node_modules/f", ".hidden/g"} {
		path := filepath.Join(folder, "x", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("needle"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GIT_DIR", filepath.Join(inner, ".git")) // as a hook of git has it
	if got := strings.Join(filesIn(t, folder, ""), " "); got != filepath.Base(inner)+"/a x/c" {
		t.Errorf("got %s", got)
	}
	want := filepath.Base(inner) + "/a " + filepath.Base(inner) + "/b x/c x/e/node_modules/f x/node_modules/d"
	if got := strings.Join(filesIn(t, folder, `,"ignored":true`), " "); got != want {
		t.Errorf("ignored: got %s", got)
	}
}

// A stranger's repository runs nothing: not what its config names for ls-files, and not a transport to fetch the tree
// that an index of folders needs and a partial clone lacks.
func TestSearchRunsNothingOfARepository(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the traps are shell scripts")
	}
	folder := repository(t, map[string]string{"in/a": "needle", "out/deep/b": "needle", "c": "needle"})
	git(t, folder, "add", ".")
	git(t, folder, "commit", "-q", "-m", "x")
	sparse := osexec.CommandContext(t.Context(), "git", "-C", folder, "sparse-checkout", "set", "--cone",
		"--sparse-index", "in")
	if out, err := sparse.CombinedOutput(); err != nil { // before git 2.32
		t.Skipf("this git has no index of folders: %s", out)
	}
	missing := git(t, folder, "rev-parse", "HEAD:out")
	if err := os.Remove(filepath.Join(folder, ".git", "objects", missing[:2], missing[2:])); err != nil {
		t.Fatal(err)
	}
	sprung := filepath.Join(t.TempDir(), "sprung")
	trap := filepath.Join(folder, ".git", "hooks", "post-index-change")
	if err := os.MkdirAll(filepath.Dir(trap), 0o750); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >> '%s'\n", sprung)
	if err := os.WriteFile(trap, []byte(script), 0o700); err != nil { //nolint:gosec // it must run to prove anything
		t.Fatal(err)
	}
	config := fmt.Sprintf(`[core]
	repositoryformatversion = 1
	fsmonitor = %[1]q
	hooksPath = %[2]q
	sshCommand = %[1]q
	pager = %[1]q
	editor = %[1]q
	untrackedCache = true
	sparseCheckout = true
	sparseCheckoutCone = true
[extensions]
	partialClone = origin
[index]
	sparse = true
[remote "origin"]
	promisor = true
	url = "ext::%[3]s"
	uploadpack = %[1]q
[protocol "ext"]
	allow = always
[alias]
	ls-files = "!%[3]s"
[filter "x"]
	clean = %[1]q
	process = %[1]q
`, trap, filepath.Dir(trap), trap)
	if err := os.WriteFile(filepath.Join(folder, ".git", "config"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, ".gitattributes"), []byte("* filter=x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"ext::" + trap, "ssh://host/x", filepath.Join(folder, "nowhere")} {
		changed := strings.Replace(config, `"ext::`+trap+`"`, `"`+url+`"`, 1)
		if err := os.WriteFile(filepath.Join(folder, ".git", "config"), []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := filesIn(t, folder, ""); !slices.Equal(got, []string{"c", "in/a"}) {
			t.Errorf("%s: got %q", url, got)
		}
		if said, err := os.ReadFile(sprung); err == nil {
			t.Fatalf("%s: a program of the repository was run: %s", url, said)
		}
		_ = osexec.CommandContext(t.Context(), "git", "-C", folder, "ls-files", "-co").Run() // springs the trap
		if err := os.Remove(sprung); err != nil {
			t.Errorf("%s: the trap does not work, so this test proves nothing: %v", url, err)
		}
	}
}

// A repository whose index has a file behind a link shows nothing of where the link leads.
func TestSearchStaysBelowTheFolder(t *testing.T) {
	outside := tree(t, map[string]string{"secret": "needle"})
	folder := repository(t, map[string]string{"a": "needle", "link/secret": "needle"})
	git(t, folder, "add", ".")
	if err := os.RemoveAll(filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(folder, "link")); err != nil {
		t.Skip("there are no symbolic links here: ", err)
	}
	if got := filesIn(t, folder, ""); !slices.Equal(got, []string{"a"}) {
		t.Errorf("got %q", got)
	}
}

// A search ends although git lists the folder itself as a repository inside of the one that its .git file names.
func TestSearchInARepositoryInsideItself(t *testing.T) {
	outer := repository(t, map[string]string{"work/in/a": "needle"})
	git(t, outer, "config", "core.worktree", filepath.Join(outer, "work"))
	folder := filepath.Join(outer, "work", "in")
	link := []byte("gitdir: " + filepath.Join(outer, ".git"))
	if err := os.WriteFile(filepath.Join(folder, ".git"), link, 0o600); err != nil {
		t.Fatal(err)
	}
	if listed := git(t, folder, "ls-files", "--others"); listed != "./" {
		t.Skipf("this git lists %q", listed)
	}
	if got := filesIn(t, folder, ""); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}
