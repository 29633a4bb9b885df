package culprit

import (
	"cmp"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"toolx/pkg/cmdline"
	"toolx/pkg/rules"
)

// Printer is a server's runtime, derived from its command line. It determines what an unknown text was most likely
// printed with.
type Printer struct {
	Name     string
	print    string // the usual call that prints, such as console.log
	inServer string // how to print to stderr instead
	either   bool   // a script may have printed instead
}

//go:embed runtimes.txt
var runtimesText string

var runtimes = sync.OnceValue(func() []*rules.Rule { return rules.Read(runtimesText) })

// PrinterOf returns the runtime of a command line. It skips wrappers (sh -c, env, cmd /c).
func PrinterOf(command []string) Printer {
	if name := printerName(command, 0); name != "" {
		for _, one := range runtimes() {
			if one.ID == name {
				return Printer{Name: name, print: one.Get("print"), inServer: one.Get("in-server")}
			}
		}
	}
	return Printer{print: "a print in the server", inServer: "write everything that is not a message to stderr"}
}

// printerBehind returns the printer of a server that scripts start. If a script may print too, the result names both.
func printerBehind(wrappers []Wrapper, command []string) Printer {
	by := PrinterOf(command)
	for _, w := range wrappers {
		prints := w.printingCommand()
		if prints == "" {
			continue
		}
		if by.Name == "shell" {
			by.print = prints + " in " + w.place
			return by
		}
		call := by.print
		switch by.Name {
		case "docker":
		case "":
			call = "a print in " + programOf(command)
		default:
			call += " in " + programOf(command)
		}
		by.print = fmt.Sprintf("%s in %s, or %s", prints, w.place, call)
		by.inServer = fmt.Sprintf("%s … >&2 in %s; %s", prints, w.place, by.inServer)
		by.either = true
		return by
	}
	return by
}

// programOf returns the package, module, script or program that a command line runs.
func programOf(command []string) string {
	command = programWords(command)
	if len(command) == 0 {
		return "the server"
	}
	args := command[1:]
	if l, ok := cmdline.ParseLauncher(command[0], args); ok && l.Spec != "" {
		return l.Spec
	}
	interpreters := []string{
		"node", "bun", "deno", "tsx", "ts-node", "python", "pypy", "java", "php", "ruby", "dotnet", "go", "rust",
	}
	if !slices.Contains(interpreters, programName(command[0])) {
		return path.Base(command[0])
	}
	for i, arg := range args {
		switch {
		case strings.HasPrefix(arg, "-") && arg != "-m" && arg != "-jar":
		case (arg == "-m" || arg == "-jar") && i+1 < len(args):
			return path.Base(args[i+1])
		case arg == ".":
			return "the server"
		case arg != "run":
			return path.Base(arg)
		}
	}
	return path.Base(command[0])
}

// maxWrappers bounds how many nested wrappers are followed.
const maxWrappers = 4

func printerName(command []string, depth int) string {
	command = programWords(command)
	if len(command) == 0 || depth > maxWrappers {
		return ""
	}
	program, rest := programName(command[0]), command[1:]
	if program != "cmd" && cmdline.IsShell(program) {
		return shellPrinter(rest, depth)
	}
	if program == "mcp" && len(rest) > 0 && slices.Contains([]string{"run", "dev", "install"}, rest[0]) {
		return "python" // the Python SDK's command; other servers have this name too
	}
	return cmp.Or(programPrinter(program), scriptPrinter(path.Ext(program)))
}

// programPrinter returns the runtime of a program by its name, or nothing.
func programPrinter(program string) string { return runtimeWith("programs", program) }

// scriptPrinter returns the runtime of a script by its extension, or nothing.
func scriptPrinter(extension string) string { return runtimeWith("extensions", extension) }

// runtimeWith returns the runtime that lists a word under a key, or nothing.
func runtimeWith(key, word string) string {
	for _, one := range runtimes() {
		if slices.Contains(strings.Fields(one.Get(key)), word) {
			return one.ID
		}
	}
	return ""
}

// programWords returns a command line without wrappers such as env A=1, exec, timeout 10 and cmd /c.
func programWords(command []string) []string {
	starters := []string{
		"env", "exec", "nohup", "nice", "time", "timeout", "sudo", "doas", "stdbuf", "unbuffer", "cmd",
		"asdf", "mise",
	}
	for len(command) > 0 {
		name, _, assigns := strings.Cut(command[0], "=")
		if !slices.Contains(starters, programName(command[0])) && !(assigns && cmdline.ShellName(name)) {
			return command
		}
		command = command[1:]
		for len(command) > 0 && !isProgramWord(command[0]) {
			command = command[1:]
		}
	}
	return nil
}

// programName returns the base name in lower case, without a trailing version or a Windows suffix.
func programName(program string) string {
	base := strings.ToLower(path.Base(strings.ReplaceAll(program, `\`, "/")))
	for _, suffix := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		base = strings.TrimSuffix(base, suffix)
	}
	switch stem := strings.TrimRight(base, "0123456789."); stem {
	case "python", "php", "node", "ruby", "pypy":
		return stem
	}
	return base
}

// isProgramWord reports whether a wrapper's argument can be the program that it starts, as opposed to an option,
// assignment, duration or switch of cmd.exe.
func isProgramWord(arg string) bool {
	if arg == "" || arg[0] == '-' || strings.EqualFold(arg, "/c") || strings.Contains(arg, "=") {
		return false
	}
	return arg[0] < '0' || arg[0] > '9'
}

// shellPrinter returns the runtime of the program that sh -c runs.
func shellPrinter(args []string, depth int) string {
	script, _ := cmdline.ShellScript(args)
	one := Wrapper{commands: cmdline.ShellCommands(script)}
	if last := one.end(nil); last >= 0 {
		return cmp.Or(printerName(one.commands[last].Words, depth+1), "shell")
	}
	return "shell"
}
