package culprit

import (
	"cmp"
	"debug/buildinfo"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"toolx/pkg/cmdline"
)

// origin is what is known of the programs that may have written to a server's stdout.
type origin struct {
	// languages are those of all of them, by the names of runtimes; nil if one of them may be of any.
	languages []string
	// programs are their names, without folders; nil if there may be others.
	programs []string
}

// originOf returns what the command lines around a text tell.
func originOf(hint Context) origin {
	commands := append([][]string{hint.Command}, hint.Beside...)
	for _, w := range hint.Wrappers {
		for i, c := range w.commands {
			if i != w.last && w.mayPrint(i) && !isPrint(programOfWords(c.Words)) {
				commands = append(commands, c.Words)
			}
		}
	}
	found := origin{languages: []string{}, programs: []string{}}
	for i, command := range commands {
		name := programOfWords(command)
		switch language := printerName(command, 0); {
		case language == "docker", language == "shell", name == "", name == "make":
			return origin{} // they start programs that are not known
		case i > 0 && slices.Contains(tools(), name), language == "" && slices.Contains(loudPrograms(), name):
			// it prints its own texts, and those of no library
		case language == "" || found.languages == nil:
			found.languages = nil
		default:
			found.languages = append(found.languages, language)
		}
		found.programs = append(found.programs, name)
	}
	return found
}

// tools install and start programs; beside a server they do not say what that is written in.
func tools() []string {
	return strings.Fields("npm npx pnpm pnpx yarn bunx corepack turbo pip pip3 uv uvx pipx poetry pdm hatch rye " +
		"conda mvn mvnw gradle gradlew jbang cargo rustup composer bundle gem")
}

// programOfWords returns the name of the program that a command line starts, or nothing.
func programOfWords(command []string) string {
	if command = programWords(command); len(command) > 0 {
		return programName(command[0])
	}
	return ""
}

// mayBe reports whether what runs can have written the texts of a rule.
func (o origin) mayBe(r *rule) bool {
	if r.language != "" && (r.has("known") || o.languages != nil) && !slices.Contains(o.languages, r.language) {
		return false
	}
	tools := strings.Fields(r.Get("tools"))
	return len(tools) == 0 || o.programs == nil ||
		slices.ContainsFunc(tools, func(tool string) bool { return slices.Contains(o.programs, tool) })
}

// ContextOf reads what a command line starts: the scripts on the way to the server, and what the server is written in.
func ContextOf(command []string, in cmdline.Lookup) Context {
	wrappers, argv := WrappersOf(command, in)
	return Context{Command: withRuntime(argv, in), Wrappers: wrappers}
}

// StartedAs is ContextOf for a process that toolx has started in a folder, with its own PATH.
func StartedAs(command []string, folder, path string) Context {
	return ContextOf(command, cmdline.Lookup{Goos: runtime.GOOS, Path: path, Folder: folder})
}

// withRuntime returns a command line that begins with its runtime: what the program's file tells comes before what its
// name may mean. The names of launchers and interpreters mean themselves.
func withRuntime(argv []string, in cmdline.Lookup) []string {
	if len(argv) == 0 {
		return argv
	}
	found := in.Find(argv[0])
	argv = append([]string{filepath.ToSlash(argv[0])}, argv[1:]...)
	named := PrinterOf(argv).Name
	if found.Path == "" || named == "docker" {
		return argv
	}
	if first, script := cmdline.ReadShebang(found.Path); script {
		interpreter := cmp.Or(first.Program, first.Interpreter)
		language := printerName([]string{interpreter}, 0)
		if language == named || language == "shell" || language == "" && named != "" {
			return argv
		}
		return append([]string{interpreter}, argv...)
	}
	if named != "" {
		return argv
	}
	if cmdline.IsNodeShim(found.Path) {
		return append([]string{"node"}, argv...)
	}
	if _, err := buildinfo.ReadFile(found.Path); err == nil {
		return append([]string{"go"}, argv...)
	}
	return argv
}
