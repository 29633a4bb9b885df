package culprit

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"toolx/pkg/doctor/cmdline"
)

// Printer is the kind of program that a server is, told from its command line: it
// decides what an unknown text was most likely printed with.
type Printer struct {
	Name     string
	print    string // what its programs print with
	inServer string // how they print to stderr instead
	either   bool   // it is one of two that print
}

// PrinterOf tells the runtime from a command line; wrappers (sh -c, env, cmd /c)
// are looked through.
func PrinterOf(command []string) Printer {
	return printerNamed(printerName(command, 0))
}

// printerBehind is the printer of a server that scripts lead to: where one of them
// may print as well, either has.
func printerBehind(wrappers []Wrapper, command []string) Printer {
	by := PrinterOf(command)
	for _, w := range wrappers {
		talker := w.talker()
		if talker == "" {
			continue
		}
		if by.Name == "shell" {
			by.print = talker + " in " + w.place
			return by
		}
		by.print = fmt.Sprintf("%s in %s, or %s", talker, w.place, by.in(programOf(command)))
		by.inServer = fmt.Sprintf("%s … >&2 in %s; %s", talker, w.place, by.inServer)
		by.either = true
		return by
	}
	return by
}

// in says what a program prints with, and where.
func (p Printer) in(program string) string {
	switch p.Name {
	case "docker":
		return p.print
	case "":
		return "a print in " + program
	}
	return p.print + " in " + program
}

// programOf names what a command line runs: a package, a module, the file that an
// interpreter gets, else the program itself.
func programOf(command []string) string {
	command = programWords(command)
	if len(command) == 0 {
		return "the server"
	}
	args := command[1:]
	name := programName(command[0])
	if l, ok := cmdline.ParseLauncher(command[0], args); ok && l.Spec != "" {
		return l.Spec
	}
	interpreter := slices.Contains([]string{"node", "bun", "deno", "tsx", "ts-node", "python", "pypy", "java", "php", "ruby", "dotnet", "go"}, name)
	for i, arg := range args {
		switch {
		case !interpreter || strings.HasPrefix(arg, "-") && arg != "-m" && arg != "-jar":
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

// maxWrappers bounds how many programs that start programs are looked through.
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
	if name := programPrinters(program); name != "" {
		return name
	}
	return scriptPrinter(path.Ext(program))
}

// programWords are a command line without what only starts its program: env A=1,
// exec, timeout 10, cmd /c.
func programWords(command []string) []string {
	for len(command) > 0 {
		switch programName(command[0]) {
		case "env", "exec", "nohup", "nice", "time", "timeout", "sudo", "doas", "stdbuf", "unbuffer", "cmd":
			command = command[1:]
		default:
			if !isAssignment(command[0]) {
				return command
			}
			command = command[1:]
		}
		for len(command) > 0 && !isProgramWord(command[0]) {
			command = command[1:]
		}
	}
	return nil
}

// isAssignment reports whether a word sets a variable for the command behind it.
func isAssignment(word string) bool {
	name, _, found := strings.Cut(word, "=")
	return found && cmdline.ShellName(name)
}

// programName is the base name in lower case, without a version at its end or the
// suffixes of Windows.
func programName(program string) string {
	base := strings.ToLower(path.Base(strings.ReplaceAll(program, `\`, "/")))
	for _, suffix := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		base = strings.TrimSuffix(base, suffix)
	}
	if stem := strings.TrimRight(base, "0123456789."); stem == "python" || stem == "php" || stem == "node" || stem == "ruby" || stem == "pypy" {
		return stem
	}
	return base
}

// isProgramWord reports whether a wrapper's argument may be the program that it
// starts, and is no option, assignment, duration or cmd.exe switch.
func isProgramWord(arg string) bool {
	if arg == "" || arg[0] == '-' || strings.EqualFold(arg, "/c") || strings.Contains(arg, "=") {
		return false
	}
	return arg[0] < '0' || arg[0] > '9'
}

// shellPrinter looks into what a shell runs: the script of -c.
func shellPrinter(args []string, depth int) string {
	script, ok := cmdline.ShellScript(args)
	if !ok {
		return "shell"
	}
	one := Wrapper{commands: cmdline.ShellCommands(script)}
	if last := one.end(nil); last >= 0 {
		if name := printerName(one.commands[last].Words, depth+1); name != "" {
			return name
		}
	}
	return "shell"
}

// programPrinters maps programs to runtimes.
func programPrinters(program string) string {
	switch program {
	case "node", "nodejs", "npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx", "deno", "tsx", "ts-node", "nodemon":
		return "node"
	case "python", "pythonw", "pypy", "py", "uv", "uvx", "pipx", "poetry", "pdm", "hatch", "rye", "conda", "fastmcp", "mcp":
		return "python"
	case "dotnet", "dnx":
		return "dotnet"
	case "java", "javaw", "jbang", "mvn", "mvnw", "gradle", "gradlew", "kotlin", "scala":
		return "java"
	case "php", "composer", "artisan", "wp", "sail":
		return "php"
	case "cargo", "rustup":
		return "rust"
	case "go":
		return "go"
	case "ruby", "bundle", "gem", "rake", "rails":
		return "ruby"
	case "docker", "podman", "nerdctl", "docker-compose", "container":
		return "docker"
	}
	return ""
}

// scriptPrinter tells the runtime of a script by its name's extension.
func scriptPrinter(extension string) string {
	switch extension {
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts":
		return "node"
	case ".py", ".pyz":
		return "python"
	case ".dll":
		return "dotnet"
	case ".jar":
		return "java"
	case ".php", ".phar":
		return "php"
	case ".rb":
		return "ruby"
	case ".sh", ".bash":
		return "shell"
	}
	return ""
}

// printerNamed has what is known of a runtime; an unknown one prints somehow.
func printerNamed(name string) Printer {
	of := func(call, inServer string) Printer { return Printer{Name: name, print: call, inServer: inServer} }
	switch name {
	case "node":
		return of("console.log", "console.error instead of console.log (for all modules: a first import that sets console.log = console.error)")
	case "python":
		return of("print()", "print(..., file=sys.stderr); logging.basicConfig(stream=sys.stderr)")
	case "dotnet":
		return of("Console.WriteLine", "Console.Error.WriteLine, or Console.SetOut(Console.Error) first; for logging LogToStandardErrorThreshold = LogLevel.Trace")
	case "java":
		return of("System.out.println", "System.err.println; in logback <target>System.err</target>")
	case "php":
		return of("echo", "fwrite(STDERR, …); in Laravel and Symfony $output->getErrorOutput(); ini_set('display_errors', 'stderr')")
	case "rust":
		return of("println!", "eprintln!; tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false)")
	case "go":
		return of("fmt.Println", "fmt.Fprintln(os.Stderr, …); log.SetOutput(os.Stderr)")
	case "ruby":
		return of("puts", "warn or $stderr.puts; Logger.new($stderr)")
	case "docker":
		return of("echo in the container's entrypoint", "echo … >&2 in the entrypoint, and the program's log to stderr")
	case "shell":
		return of("echo", "echo … >&2")
	}
	return Printer{Name: "", print: "a print in the server", inServer: "write everything that is not a message to stderr"}
}
