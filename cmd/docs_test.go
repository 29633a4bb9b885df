package cmd

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolx/cmd/cli"
	"toolx/pkg/ai"
	"toolx/pkg/convert"
	"toolx/pkg/words"
)

// repository is the folder of README.md, seen from a test of this package.
const repository = ".."

func TestEveryVerbHasAPageWithItsFlags(t *testing.T) {
	root := Command()
	inherited := document(t, "docs/flags.md")
	root.PersistentFlags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			wantFlag(t, "docs/flags.md", inherited, flag)
		}
	})
	for _, verb := range verbs(root) {
		t.Run(verb.Name(), func(t *testing.T) {
			path := "docs/" + verb.Name() + ".md"
			page := document(t, path)
			if synopsis := "toolx " + verb.Use; !strings.Contains(page, synopsis+"\n") {
				t.Errorf("%s has no synopsis %q", path, synopsis)
			}
			verb.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
				wantFlag(t, path, page+sharedFlags(page, inherited), flag)
			})
			for _, sub := range verb.Commands() {
				if sub.Hidden {
					continue
				}
				if synopsis := "toolx " + verb.Name() + " " + sub.Use; !strings.Contains(page, synopsis+"\n") {
					t.Errorf("%s has no synopsis %q", path, synopsis)
				}
				sub.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
					wantFlag(t, path, page+sharedFlags(page, inherited), flag)
				})
			}
			if !strings.Contains(page, "## Exit codes\n") {
				t.Errorf("%s says nothing of exit codes", path)
			}
		})
	}
}

// TestEveryNameHasARow asks that pages have a row for each client, format and provider.
func TestEveryNameHasARow(t *testing.T) {
	for path, names := range map[string][]string{
		"docs/clients.md": cli.ClientIDs(),
		"docs/convert.md": words.Texts(convert.Formats(), func(f convert.Format) string { return string(f) }),
		"docs/ask.md":     ai.Providers(),
	} {
		page := document(t, path)
		for _, name := range names {
			if !regexp.MustCompile("(?m)^\\|.*`" + name + "`").MatchString(page) {
				t.Errorf("%s has no row for %s", path, name)
			}
		}
	}
}

// TestEveryVerbHasHelpWithExamples holds the help of verbs to the same promise as
// their pages; a verb that only prints can do nothing but succeed.
func TestEveryVerbHasHelpWithExamples(t *testing.T) {
	onlyPrints := []string{"completion", "version"}
	for _, verb := range verbs(Command()) {
		if !strings.HasPrefix(verb.Example, "  toolx "+verb.Name()) {
			t.Errorf("toolx %s --help has no example, or another verb's: %q", verb.Name(), verb.Example)
		}
		if !slices.Contains(onlyPrints, verb.Name()) && !strings.Contains(verb.Long, "Exit codes: ") {
			t.Errorf("toolx %s --help says nothing of exit codes", verb.Name())
		}
	}
}

// TestDocumentedCommandsExist asks that each command of toolx in a document, and in the examples of help texts, has a
// verb and flags that there are; CHANGELOG.md may name removed ones. TestDocumentedCommands runs those of docs that can
// be run.
func TestDocumentedCommandsExist(t *testing.T) {
	inline := regexp.MustCompile("`toolx ([a-z]+(?: [^`\n]*)?)`")
	script := regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	prompt := regexp.MustCompile(`(?m)^\$ (.*)$`)
	commands := map[string][]string{}
	for _, path := range append(documents(t), "skills/toolx/SKILL.md") {
		text := document(t, path)
		for _, match := range inline.FindAllStringSubmatch(prose(text), -1) {
			commands[path] = append(commands[path], match[1])
		}
		scripts := slices.Concat(script.FindAllStringSubmatch(text, -1), prompt.FindAllStringSubmatch(text, -1))
		for _, match := range scripts {
			commands[path] = append(commands[path], typedCommands(match[1])...)
		}
	}
	for _, verb := range verbs(Command()) {
		commands["toolx "+verb.Name()+" --help"] = typedCommands(verb.Example)
	}
	found := 0
	for path, all := range commands {
		for _, command := range all {
			found++
			wantCommand(t, path, strings.Fields(command))
		}
	}
	if found < 300 {
		t.Errorf("only %d commands were found", found)
	}
}

// typedCommands returns the commands of toolx in a shell's script, without "toolx".
func typedCommands(script string) (commands []string) {
	script = regexp.MustCompile(`'[^']*'|"[^"$]*"|(?m) # .*$`).ReplaceAllString(script, "x")
	for _, match := range regexp.MustCompile(`(?m)(?:^|[$(| ] ?)toolx ([a-z][^|;)#>\n]*)`).FindAllStringSubmatch(script, -1) {
		commands = append(commands, match[1])
	}
	return commands
}

// wantCommand asks that there is a verb, and that it has the flags before the words of a server's command.
func wantCommand(t *testing.T, path string, words []string) {
	t.Helper()
	if end := slices.Index(words, "--"); end >= 0 {
		words = words[:end]
	}
	old := func(what string) bool { return path == "CHANGELOG.md" && cli.RemovedError(what) != nil }
	if old(words[0]) {
		return
	}
	root := Command()
	root.InitDefaultHelpCmd()
	verb, _, err := root.Find(words[:1])
	if err != nil || verb == root {
		t.Errorf("%s has toolx %s, which is no verb", path, words[0])
		return
	}
	if len(words) > 1 {
		if sub, _, err := verb.Find(words[1:2]); err == nil {
			verb = sub
		}
	}
	for _, word := range words[1:] {
		name, _, _ := strings.Cut(strings.TrimRight(word, ".,:]"), "=")
		name, long := strings.CutPrefix(name, "--")
		if old(strings.TrimPrefix(verb.CommandPath(), "toolx ") + " --" + name) {
			continue
		}
		if long && name != "help" && verb.Flags().Lookup(name) == nil && verb.InheritedFlags().Lookup(name) == nil {
			t.Errorf("%s has toolx %s, where %s has no such flag", path, strings.Join(words, " "), verb.CommandPath())
		}
	}
}

func TestDocumentedLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^()\s]+)\)`)
	for _, path := range documents(t) {
		for _, found := range link.FindAllStringSubmatch(prose(document(t, path)), -1) {
			target, err := url.Parse(found[1])
			if err != nil {
				t.Errorf("%s: %s is no link: %v", path, found[1], err)
				continue
			}
			if target.Scheme == "" {
				wantTarget(t, path, target)
			}
		}
	}
}

func TestEveryDirectDependencyIsExplained(t *testing.T) {
	const path = "docs/dependencies.md"
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")
	var explained []string
	for _, found := range row.FindAllStringSubmatch(document(t, path), -1) {
		if strings.Contains(strings.SplitN(found[1], "/", 2)[0], ".") {
			explained = append(explained, found[1])
		}
	}
	required := directRequirements(document(t, "go.mod"))
	slices.Sort(required)
	slices.Sort(explained)
	if !slices.Equal(required, explained) {
		t.Errorf("%s explains\n%s\ngo.mod requires\n%s", path, strings.Join(explained, "\n"),
			strings.Join(required, "\n"))
	}
}

func verbs(root *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(root.Commands()), func(verb *cobra.Command) bool {
		return verb.Hidden || verb.Name() == "help"
	})
}

// wantFlag asks for a row of a table that names the flag, and its short form.
func wantFlag(t *testing.T, path, page string, flag *pflag.Flag) {
	t.Helper()
	row := "\n| `--" + flag.Name
	if flag.Shorthand != "" {
		row = "\n| `-" + flag.Shorthand + "`, `--" + flag.Name
	}
	if !strings.Contains(page, row+"`") && !strings.Contains(page, row+" ") {
		t.Errorf("%s has no row for --%s", path, flag.Name)
	}
}

// sharedFlags returns the sections of docs/flags.md that a page's "Also" paragraphs link to.
func sharedFlags(page, flags string) string {
	var sections strings.Builder
	for _, also := range regexp.MustCompile(`(?ms)^Also flags for .*?\n\n`).FindAllString(page, -1) {
		for _, found := range regexp.MustCompile(`\(flags\.md#([a-z-]+)\)`).FindAllStringSubmatch(also, -1) {
			heading := strings.ReplaceAll(found[1], "-", "[ -]")
			sections.WriteString(regexp.MustCompile(`(?mis)^## ` + heading + `\n.*?(?:\n## |\z)`).FindString(flags))
		}
	}
	return sections.String()
}

// wantTarget asks that a relative link leads to a file, and its fragment to a heading there.
func wantTarget(t *testing.T, from string, target *url.URL) {
	t.Helper()
	to := from
	if target.Path != "" {
		to = filepath.Join(filepath.Dir(from), filepath.FromSlash(target.Path))
	}
	if _, err := os.Stat(filepath.Join(repository, to)); err != nil {
		t.Errorf("%s links to %s: %v", from, target, err)
		return
	}
	if target.Fragment != "" && !slices.Contains(anchors(document(t, to)), target.Fragment) {
		t.Errorf("%s links to %s: there is no such heading", from, target)
	}
}

// anchors are the fragments that a page's headings have on code hosts.
func anchors(page string) []string {
	dropped := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	var found []string
	for line := range strings.Lines(prose(page)) {
		if heading := strings.TrimLeft(line, "#"); heading != line && strings.HasPrefix(heading, " ") {
			plain := dropped.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			found = append(found, strings.ReplaceAll(plain, " ", "-"))
		}
	}
	return found
}

// prose is a page without its blocks of code.
func prose(page string) string {
	return regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(page, "")
}

// documents are the paths of all pages, from the repository's root.
func documents(t *testing.T) []string {
	t.Helper()
	paths := []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md"}
	err := fs.WalkDir(os.DirFS(repository), "docs", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// document is a file of the repository, as text with plain newlines.
func document(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, path))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// directRequirements are the modules that a go.mod requires, but for indirect ones.
func directRequirements(mod string) []string {
	var modules []string
	for line := range strings.Lines(mod) {
		fields := strings.Fields(line)
		if len(fields) == 2 && strings.HasPrefix(line, "\t") && strings.HasPrefix(fields[1], "v") {
			modules = append(modules, fields[0])
		}
	}
	return modules
}

// TestRequirementsNameTheirTests asks that each test in the table of requirements
// is there, and says by its row's id what it proves.
func TestRequirementsNameTheirTests(t *testing.T) {
	const path = "docs/requirements.md"
	row := regexp.MustCompile(`(?m)^\| ([A-Z]+-\d+) \|.*$`)
	proof := regexp.MustCompile(`\[(\S+)\]\(\.\./(\S+)\)`)
	rows := row.FindAllStringSubmatch(document(t, path), -1)
	if len(rows) == 0 {
		t.Fatalf("%s has no rows", path)
	}
	for _, found := range rows {
		id := regexp.MustCompile(`\b` + found[1] + `\b`)
		for _, named := range proof.FindAllStringSubmatch(found[0], -1) {
			test, file := named[1], named[2]
			text := document(t, file)
			if strings.HasSuffix(file, ".go") && !strings.Contains(text, "\nfunc "+test+"(") {
				t.Errorf("%s: %s has no %s", found[1], file, test)
			}
			if !id.MatchString(text) {
				t.Errorf("%s: nothing in %s names it", found[1], file)
			}
		}
	}
}

// TestDocumentedFilesExist asks that the files that pages for contributors name are there.
func TestDocumentedFilesExist(t *testing.T) {
	path := regexp.MustCompile("`((?:cmd|pkg|docs|testdata|schema|release|site|bench|examples)/[^` ]+)`")
	placeholder := regexp.MustCompile(`\b[A-Z]{2,}\b`)
	for _, page := range []string{"CONTRIBUTING.md", "docs/architecture.md"} {
		named := path.FindAllStringSubmatch(document(t, page), -1)
		if len(named) < 10 {
			t.Errorf("%s names only %d files", page, len(named))
		}
		for _, found := range named {
			pattern := placeholder.ReplaceAllString(found[1], "*")
			if files, err := filepath.Glob(filepath.Join(repository, pattern)); err != nil || len(files) == 0 {
				t.Errorf("%s names %s, which is not there", page, found[1])
			}
		}
	}
}
