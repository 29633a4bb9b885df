package builtin

import (
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ignoreCase is a work tree: the ignore files in it, its other files, and which of those git does not ignore.
type ignoreCase struct {
	name    string
	ignores map[string]string
	files   string
	kept    string
}

func ignoreCases() []ignoreCase {
	one := func(rules string) map[string]string { return map[string]string{".gitignore": rules} }
	return []ignoreCase{
		{"names at any depth", one("*.o\nbuild\n"), "a.o a.c d/a.o d/build/x build/y", "a.c"},
		{"folders only", one("out/\n"), "out/a d/out", "d/out"},
		{"anchored", one("/a\nd/b\n"), "a d/a d/b e/d/b b", "b d/a e/d/b"},
		{"stars stop at slashes", one("a/*.c\n"), "a/x.c a/b/x.c", "a/b/x.c"},
		{"two stars first", one("**/x\n"), "x a/x a/b/x y", "y"},
		{"two stars last", one("a/**\n"), "a/x a/b/x b/a", "b/a"},
		{"two stars between", one("a/**/z\n"), "a/z a/b/z a/b/c/z z", "z"},
		{"two stars inside a name", one("a**z\nb/**c\n"), "az abz a/z b/c b/xc b/d/c", "a/z b/d/c"},
		{"three stars", one("***/x\na/***\n"), "x b/x a/y", ""},
		{"only two stars", one("**\n!keep\n"), "a keep d/a", "keep"},
		{"negation", one("*.log\n!keep.log\n"), "a.log keep.log d/keep.log", "d/keep.log keep.log"},
		{"negation cannot reach into an ignored folder", one("d/\n!d/keep\n"), "d/keep e", "e"},
		{"everything but", one("/*\n!/src/\n/src/*\n!/src/keep\n"), "a b/c src/keep src/drop", "src/keep"},
		{"folders but one", one("/*/\n!/keep/\n"), "keep/a keep/sub/b drop/c d", "d keep/a keep/sub/b"},
		{"nested wins", map[string]string{".gitignore": "*.x\n", "d/.gitignore": "!*.x\n/y\n"}, "a.x d/a.x d/y d/e/y y", "d/a.x d/e/y y"},
		{"info exclude comes last", map[string]string{".git/info/exclude": "*.x\nz\n", ".gitignore": "!a.x\n"}, "a.x b.x z", "a.x"},
		{"classes", one("[ab]1\n[!ab]2\n[^ab]3\n[0-9]4\n[[:upper:]]5\n[]x]6\n[a-]7\n"), "a1 c1 a2 c2 a3 c3 04 x4 U5 u5 ]6 x6 y6 -7 a7 b7", "a2 a3 b7 c1 u5 x4 y6"},
		{"classes never match a slash", one("a[/]b\na[!x]c\nd[+-9]e\n"), "a/b a/c d/e d5e", "a/b a/c d/e"},
		{"named classes without the slash", one("x[[:punct:]]y\nx[[:print:]]z\n/p[[:graph:]]q\n"), "x,y x/y xaz x/z p/q", "p/q x/y x/z"},
		{"almost named classes", one("a[[:]1\na[[:x]2\na[[:digit:]-z]3\n"), "a[1 a:1 a:2 ax2 a53 a-3 az3 ab3 c2", "ab3 c2"},
		{"malformed lines match nothing", one("[a\nb\\\n[[:nope:]]\n"), "a b", "a b"},
		{"a range upside down", one("[z-a]\n"), "a b z", "a b"},
		{"escapes", one("\\#a\n\\!b\n\\*c\nd\\?\n"), "#a !b *c xc d? dx", "dx xc"},
		{"comments and blank lines", one("#a\n\n   \n/\n"), "a b", "a b"},
		{"spaces at the end", one("a  \nb\\ \n"), "a", ""},
		{"CRLF and BOM", one("\ufeffa\r\nb\r\n"), "a b c", "c"},
		{"question mark", one("?.c\n"), "a.c ab.c", "ab.c"},
		{"special to regular expressions", one("a+b\n(c)\nd.e\n$f\n"), "a+b aab (c) c d.e dxe $f", "aab c dxe"},
	}
}

// The rules for ignoring are those of git: the table was made with git, and where git is installed, the test asks it
// again.
func TestIgnoreRules(t *testing.T) {
	git, gitErr := osexec.LookPath("git")
	for _, test := range ignoreCases() {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			if err := os.MkdirAll(filepath.Join(root, ".git"), 0o750); err != nil {
				t.Fatal(err)
			}
			if gitErr == nil {
				run(t, root, git, "-c", "init.defaultBranch=main", "init", "-q", ".")
			}
			for name, rules := range test.ignores {
				writeFile(t, filepath.Join(root, name), rules)
			}
			for name := range strings.FieldsSeq(test.files) {
				writeFile(t, filepath.Join(root, name), "x")
			}
			want := strings.Fields(test.kept)
			if gitErr == nil {
				listed := run(t, root, git, "-c", "core.excludesFile=", "-c", "core.quotePath=false", "ls-files", "-z",
					"--others", "--exclude-standard")
				fromGit := withoutIgnoreFiles(strings.Split(strings.TrimSuffix(listed, "\x00"), "\x00"))
				if !slices.Equal(fromGit, want) {
					t.Errorf("git keeps %q, the table %q", fromGit, want)
				}
			}
			if got := kept(t, root); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// kept walks root as a search does.
func kept(t *testing.T, root string) []string {
	t.Helper()
	s, err := newSearcher(searchArguments{Query: "x", Hidden: true, MaxResults: maxSearchResults})
	if err != nil {
		t.Fatal(err)
	}
	s.root = root
	if err := s.folder(t.Context(), root, ".", outerScope(anyFile{}, root)); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, match := range s.answer.Matches {
		names = append(names, match.File)
	}
	return withoutIgnoreFiles(names)
}

func withoutIgnoreFiles(names []string) []string {
	left := []string{}
	for _, name := range names {
		if name != "" && !strings.HasSuffix(name, ".gitignore") {
			left = append(left, name)
		}
	}
	slices.Sort(left)
	return left
}

// A search below a repository's root knows the rules further up, and those of a worktree are in the repository that it
// belongs to.
func TestIgnoreRulesFromAbove(t *testing.T) {
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "main", ".git", "info", "exclude"), "*.x\n")
	writeFile(t, filepath.Join(root, "main", ".git", "worktrees", "w", "commondir"), "../..\n")
	writeFile(t, filepath.Join(root, "w", ".git"), "gitdir: ../main/.git/worktrees/w\n")
	for _, tree := range []string{"main", "w"} {
		writeFile(t, filepath.Join(root, tree, ".gitignore"), "/d/e/top\nanywhere\n")
		writeFile(t, filepath.Join(root, tree, "d", ".gitignore"), "/e/middle\n")
		for _, name := range []string{"a.x", "top", "anywhere", "middle", "kept"} {
			writeFile(t, filepath.Join(root, tree, "d", "e", name), "x")
		}
		if got := kept(t, filepath.Join(root, tree, "d", "e")); !slices.Equal(got, []string{"kept"}) {
			t.Errorf("%s: got %q", tree, got)
		}
	}
}

// Any glob compiles or is refused, and never panics or hangs.
func FuzzGlob(f *testing.F) {
	for _, seed := range []string{
		"*.go", "a/**/b", "[!a-z]", "[[:alpha:]]", "[]-a]", "\\", "{a,b}", "[z-a]", "[\\]]", "é?", "a[", "[a-\\",
		"**", "***/", "[[:alpha::]]]]", "[[:]", "[[:a]",
	} {
		f.Add(seed, "a/b/c.go")
	}
	f.Fuzz(func(t *testing.T, glob, path string) {
		pattern, err := globRegexp(glob)
		if err != nil {
			if strings.Contains(err.Error(), "error parsing regexp") {
				t.Errorf("%q became a malformed expression: %v", glob, err)
			}
			return
		}
		pattern.MatchString(path)
		if !strings.ContainsAny(glob, "*?[\\") && !pattern.MatchString(glob) {
			t.Errorf("%q does not match itself", glob)
		}
		if _, err := expandBraces(glob); err != nil {
			return
		}
	})
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), fs.FileMode(0o600)); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, folder, program string, arguments ...string) string {
	t.Helper()
	command := osexec.CommandContext(t.Context(), program, arguments...)
	command.Dir = folder
	command.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+folder, "XDG_CONFIG_HOME="+folder)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s %q: %v", program, arguments, err)
	}
	return string(out)
}
