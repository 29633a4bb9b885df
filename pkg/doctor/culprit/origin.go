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

// origin describes the programs that may have written to a server's stdout.
type origin struct {
	// languages are their runtimes; nil if one of them is unknown.
	languages []string
	// programs are their base names; nil if there may be others.
	programs []string
}

// originOf derives the possible writers from command lines.
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
			return origin{} // they start unknown programs
		case i > 0 && slices.Contains(tools(), name), language == "" && slices.Contains(printingPrograms(), name):
			// it prints its own texts and uses no library
		case language == "" || found.languages == nil:
			found.languages = nil
		default:
			found.languages = append(found.languages, language)
		}
		found.programs = append(found.programs, name)
	}
	return found
}

// tools returns programs that install and start others, and so do not imply a server's runtime.
func tools() []string {
	return strings.Fields("npm npx pnpm pnpx yarn bunx corepack turbo pip pip3 uv uvx pipx poetry pdm hatch rye " +
		"conda mvn mvnw gradle gradlew jbang cargo rustup composer bundle gem")
}

// programOfWords returns the base name of the program that a command line starts, or nothing.
func programOfWords(command []string) string {
	if command = programWords(command); len(command) > 0 {
		return programName(command[0])
	}
	return ""
}

// couldBe reports whether these programs can print the texts of a rule.
func (o origin) couldBe(r *rule) bool {
	if r.language != "" && (r.has("known") || o.languages != nil) && !slices.Contains(o.languages, r.language) {
		return false
	}
	tools := strings.Fields(r.Get("tools"))
	return len(tools) == 0 || o.programs == nil ||
		slices.ContainsFunc(tools, func(tool string) bool { return slices.Contains(o.programs, tool) })
}

// ContextOf finds the scripts that a command line runs and the server that they start.
func ContextOf(command []string, in cmdline.Lookup) Context {
	wrappers, argv := WrappersOf(command, in)
	return Context{Command: withRuntime(argv, in), Wrappers: wrappers}
}

// StartedAs is ContextOf for a process with a working directory and PATH.
func StartedAs(command []string, folder, path string) Context {
	return ContextOf(command, cmdline.Lookup{Goos: runtime.GOOS, Path: path, Folder: folder})
}

// withRuntime returns a command line that begins with its runtime, found in the program's file rather than its name.
// Launchers and interpreters are runtimes already.
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
