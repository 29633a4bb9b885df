package cmdline

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Unwrapped returns the command inside a shell or env that only starts it: `cmd /c npx …` is npx. It splits a shell
// script only if that is plain words.
func Unwrapped(command string, args []string) (string, []string) {
	for range 3 {
		var inner []string
		switch name := BaseName(command); {
		case name == "cmd" && len(args) > 1 && strings.EqualFold(args[0], "/c"):
			inner = args[1:]
		case name == "env":
			isProgram := func(arg string) bool { return !strings.Contains(arg, "=") && !strings.HasPrefix(arg, "-") }
			if i := slices.IndexFunc(args, isProgram); i >= 0 {
				inner = args[i:]
			}
		case IsShell(name):
			if script, ok := ShellScript(args); ok && !strings.ContainsAny(script, "|&;<>()$`\\\"'*?#~\n") {
				inner = strings.Fields(script)
				if len(inner) > 0 && inner[0] == "exec" {
					inner = inner[1:]
				}
			}
		}
		if len(inner) == 0 {
			break
		}
		command, args = inner[0], inner[1:]
	}
	return command, args
}

// SplitLine splits a command that is a whole command line, such as "npx -y @acme/shop", and not a program. whole is
// false for a program, including a path with spaces that exists in folder, and for what may be a path.
func SplitLine(command, folder string) (program string, args []string, whole bool) {
	commands := ShellCommands(command)
	if !strings.ContainsAny(command, " \t") || len(commands) == 0 || len(commands[0].Words) < 2 {
		return "", nil, false
	}
	words := strings.Fields(command) // what only a shell would understand stays as it is
	if len(commands) == 1 && !slices.ContainsFunc(commands[0].Words, func(word string) bool { return word == "" }) &&
		strings.ContainsAny(command, `'"`) && !strings.ContainsAny(command, "$`") {
		words = commands[0].Words
	}
	exists := func(name string) bool {
		if !filepath.IsAbs(name) {
			name = filepath.Join(folder, name)
		}
		info, err := os.Stat(name)
		return err == nil && !info.IsDir()
	}
	program, args = words[0], words[1:]
	isPath := strings.ContainsAny(program, `/\`)
	switch {
	case exists(command):
		return "", nil, false
	case isPath && exists(program):
	case !isPath && runsOthers(BaseName(program)):
	case !strings.Contains(program, "=") &&
		slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") }):
	case isPath, !(Lookup{Goos: runtime.GOOS, Path: os.Getenv("PATH")}).Find(program).Runnable:
		return "", nil, false
	}
	return program, args, true
}

// IsShell reports whether a program of that name runs a script in an argument.
func IsShell(name string) bool {
	switch name {
	case "sh", "bash", "zsh", "dash", "fish", "ksh", "ash", "pwsh", "powershell", "cmd":
		return true
	}
	return false
}

// ShellScript returns the script in the arguments of a shell (-c, -lc, /c, -Command).
func ShellScript(args []string) (script string, ok bool) {
	if at := ScriptArgument(args); at >= 0 {
		return args[at], true
	}
	return "", false
}

// ScriptArgument returns the index of the script among the arguments of a shell, or -1.
func ScriptArgument(args []string) int {
	for i, arg := range args[:max(0, len(args)-1)] {
		short := strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "c")
		if short || strings.EqualFold(arg, "/c") || strings.EqualFold(arg, "-command") {
			return i + 1
		}
	}
	return -1
}

// Launcher is a program that fetches a package and runs it: npx, uvx and the like.
type Launcher struct {
	Name string // as it is typed: "npm exec"
	NPM  bool   // the package is from npm's registry, otherwise from PyPI
	yes  bool   // -y is there
	no   bool   // it may not install anything
	Spec string // the package with its version, empty if none was found
	at   int    // which argument spec is
}

// ParseLauncher reads the command line of a launcher; ok is false if it is not one.
func ParseLauncher(command string, args []string) (l Launcher, ok bool) {
	program := append([]string{BaseName(command)}, args...)
	names := []string{
		"npx", "bunx", "uvx", "npm exec", "npm x", "bun x", "pnpm dlx", "yarn dlx", "uv tool run", "pipx run",
	}
	at := slices.IndexFunc(names, func(name string) bool {
		words := strings.Fields(name)
		return len(program) >= len(words) && slices.Equal(program[:len(words)], words)
	})
	if at < 0 {
		return Launcher{}, false
	}
	l = Launcher{Name: names[at], NPM: !slices.Contains([]string{"uvx", "uv tool run", "pipx run"}, names[at]), at: -1}
	switch l.Name {
	case "npm x":
		l.Name = "npm exec"
	case "bun x":
		l.Name = "bunx"
	}
	packages := []string{"--from", "--spec"} // flags whose value is the package
	others := []string{
		"--with", "-p", "--python", "-i", "--index-url", "--extra-index-url", "--index", "--default-index", "-f",
		"--find-links", "--with-editable", "--with-requirements", "-c", "--constraints", "--overrides", "--directory",
		"--project", "--env-file", "--cache-dir", "--config-file", "--color", "--pip-args",
	}
	if l.NPM {
		packages = []string{"-p", "--package"}
		others = []string{
			"-c", "--call", "--registry", "--prefix", "--cache", "--userconfig", "--loglevel", "-w", "--workspace",
		}
	}
	for i := strings.Count(names[at], " "); i < len(args); i++ {
		flag, value, inline := strings.Cut(args[i], "=")
		isPackage := slices.Contains(packages, flag)
		switch {
		case args[i] == "--":
		case !strings.HasPrefix(flag, "-"):
			if l.Spec == "" {
				l.Spec, l.at = args[i], i
			}
			return l, true // what follows is the program's own
		case args[i] == "-y" || args[i] == "--yes":
			l.yes = true
		case args[i] == "--no" || args[i] == "--no-install":
			l.no = true
		case isPackage || slices.Contains(others, flag):
			if !inline && i+1 < len(args) {
				i++
				value = args[i]
			}
			if isPackage && l.Spec == "" {
				l.Spec, l.at = value, i
			}
		}
	}
	return l, true
}

// Prompts reports whether the launcher asks before it installs.
func (l Launcher) Prompts() bool { return (l.Name == "npx" || l.Name == "npm exec") && !l.yes && !l.no }

// FromRegistry reports whether the package comes from a registry, not from a folder, an archive or a repository.
func (l Launcher) FromRegistry() bool {
	if l.Spec == "" || strings.ContainsAny(l.Spec[:1], "./~") || strings.ContainsAny(l.Spec, `:\`) {
		return false
	}
	return strings.HasPrefix(l.Spec, "@") || !strings.Contains(l.Spec, "/")
}

// Split cuts the spec into the package's name and the requested version or tag. A Python requirement may have more:
// "mcp[cli]>=1".
func (l Launcher) Split() (name, version string) {
	if l.NPM {
		if at := strings.LastIndexByte(l.Spec, '@'); at > 0 {
			return l.Spec[:at], l.Spec[at+1:]
		}
		return l.Spec, ""
	}
	name, version, found := strings.Cut(l.Spec, "==")
	if !found {
		name, version, _ = strings.Cut(l.Spec, "@")
	}
	if end := strings.IndexAny(name, "[<>=~! "); end > 0 {
		name = name[:end]
	}
	return name, version
}

// Pinned reports whether the spec always means the same version.
func (l Launcher) Pinned() bool {
	_, version := l.Split()
	if !l.NPM {
		return version != "" && version[0] >= '0' && version[0] <= '9' && !strings.Contains(version, "*")
	}
	_, exact := ParseVersion(version)
	return exact
}

// DockerRun is a `docker run` or a `docker exec` with the flags that matter here.
type DockerRun struct {
	// Program is the result of a lookup.
	Program, Verb            string
	at                       int // which argument the verb is
	Interactive, Tty, Remove bool
	Detached                 bool
	env                      []string // the variables that it passes on or sets
	envFile                  bool     // a file sets variables
}

// Passes reports whether the container may have a variable from the command line.
func (run *DockerRun) Passes(name string) bool { return run.envFile || slices.Contains(run.env, name) }

// ParseDocker reads a docker command line; ok is false if it runs nothing in a container.
func ParseDocker(command string, args []string) (run DockerRun, ok bool) {
	run.Program = BaseName(command)
	if !slices.Contains([]string{"docker", "podman", "nerdctl"}, run.Program) {
		return run, false
	}
	run.at = slices.IndexFunc(args, func(arg string) bool { return arg == "run" || arg == "exec" })
	if run.at < 0 || slices.Contains(args[:run.at], "compose") || slices.Contains(args[:run.at], "mcp") {
		return run, false
	}
	run.Verb = args[run.at]
	for i := run.at + 1; i < len(args) && strings.HasPrefix(args[i], "-") && args[i] != "-"; i++ {
		if args[i] == "--" {
			break
		}
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		if run.readFlag(args[i], next) {
			i++
		}
	}
	return run, true
}

// set keeps the value of a flag, if it matters here.
func (run *DockerRun) set(flag, value string) {
	switch flag {
	case "e", "env":
		name, _, _ := strings.Cut(value, "=")
		run.env = append(run.env, name)
	case "env-file":
		run.envFile = true
	}
}

// readFlag reads one flag and reports whether the next argument is its value.
func (run *DockerRun) readFlag(arg, next string) (value bool) {
	switches := map[string]*bool{
		"interactive": &run.Interactive, "tty": &run.Tty, "rm": &run.Remove, "detach": &run.Detached,
		"i": &run.Interactive, "t": &run.Tty, "d": &run.Detached,
	}
	for _, name := range []string{
		"init", "privileged", "read-only", "publish-all", "no-healthcheck", "oom-kill-disable", "sig-proxy", "quiet",
		"disable-content-trust", "help", "replace", "P", "q",
	} {
		switches[name] = new(bool)
	}
	if long, isLong := strings.CutPrefix(arg, "--"); isLong {
		name, setting, inline := strings.Cut(long, "=")
		on, isSwitch := switches[name]
		if isSwitch && len(name) > 1 {
			*on = setting != "false"
			return false
		}
		if !inline {
			setting = next
		}
		run.set(name, setting)
		return !inline
	}
	letters, setting, _ := strings.Cut(arg[1:], "=")
	for i, letter := range letters {
		on, isSwitch := switches[string(letter)]
		if !isSwitch { // the rest is its value, or the next argument is
			rest := arg[1+i+len(string(letter)):]
			run.set(string(letter), cmp.Or(rest, next))
			return rest == ""
		}
		*on = setting != "false"
	}
	return false
}

// ShellName reports whether a shell can set a variable of this name.
func ShellName(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
