package doctor

import (
	"path"
	"strings"
)

// printer is the kind of program that a server is, told from its command line: it
// decides what an unknown text was most likely printed with.
type printer struct {
	name     string
	print    string // what its programs print with
	inServer string // how they print to stderr instead
}

// printerOf tells the runtime from a command line; wrappers (sh -c, env, cmd /c)
// are looked through.
func printerOf(command []string) printer {
	return printerNamed(printerName(command, 0))
}

// maxWrappers bounds how many programs that start programs are looked through.
const maxWrappers = 4

func printerName(command []string, depth int) string {
	if len(command) == 0 || depth > maxWrappers {
		return ""
	}
	program, rest := programName(command[0]), command[1:]
	switch program {
	case "env", "exec", "nice", "time", "timeout", "sudo", "doas", "cmd", "stdbuf", "unbuffer":
		for len(rest) > 0 && !isProgramWord(rest[0]) {
			rest = rest[1:]
		}
		return printerName(rest, depth+1)
	case "sh", "bash", "zsh", "dash", "fish", "ash", "ksh":
		return shellPrinter(rest, depth)
	}
	if name := programPrinters(program); name != "" {
		return name
	}
	return scriptPrinter(path.Ext(program))
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

// isProgramWord says whether a wrapper's argument may be the program that it
// starts, and is no option, assignment, duration or cmd.exe switch.
func isProgramWord(arg string) bool {
	if arg == "" || arg[0] == '-' || strings.EqualFold(arg, "/c") || strings.Contains(arg, "=") {
		return false
	}
	return arg[0] < '0' || arg[0] > '9'
}

// shellPrinter looks into what a shell runs: the script of -c, or a file.
func shellPrinter(args []string, depth int) string {
	for i, arg := range args {
		if strings.HasPrefix(arg, "-") && strings.HasSuffix(arg, "c") && i+1 < len(args) {
			// What stands last is what talks: "cd server && node index.js".
			steps := strings.FieldsFunc(args[i+1], func(r rune) bool { return strings.ContainsRune(";&|\n", r) })
			for j := len(steps) - 1; j >= 0; j-- {
				words := strings.Fields(steps[j])
				for len(words) > 0 && !isProgramWord(words[0]) {
					words = words[1:]
				}
				if name := printerName(words, depth+1); name != "" {
					return name
				}
			}
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
func printerNamed(name string) printer {
	switch name {
	case "node":
		return printer{name, "console.log", "console.error instead of console.log (for all modules: a first import that sets console.log = console.error)"}
	case "python":
		return printer{name, "print()", "print(..., file=sys.stderr); logging.basicConfig(stream=sys.stderr)"}
	case "dotnet":
		return printer{name, "Console.WriteLine", "Console.Error.WriteLine, or Console.SetOut(Console.Error) first; for logging LogToStandardErrorThreshold = LogLevel.Trace"}
	case "java":
		return printer{name, "System.out.println", "System.err.println; in logback <target>System.err</target>"}
	case "php":
		return printer{name, "echo", "fwrite(STDERR, …); in Laravel and Symfony $output->getErrorOutput(); ini_set('display_errors', 'stderr')"}
	case "rust":
		return printer{name, "println!", "eprintln!; tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false)"}
	case "go":
		return printer{name, "fmt.Println", "fmt.Fprintln(os.Stderr, …); log.SetOutput(os.Stderr)"}
	case "ruby":
		return printer{name, "puts", "warn or $stderr.puts; Logger.new($stderr)"}
	case "docker":
		return printer{name, "echo in the container's entrypoint", "echo … >&2 in the entrypoint, and the program's log to stderr"}
	case "shell":
		return printer{name, "echo", "echo … >&2"}
	}
	return printer{"", "a print in the server", "write everything that is not a message to stderr"}
}
