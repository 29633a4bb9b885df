package cmdline

import (
	"slices"
	"strings"
)

// Unwrapped is the command behind a shell or env that only starts it: `cmd /c npx …`
// is npx. A script for a shell is taken apart only where it is plain words.
func Unwrapped(command string, args []string) (string, []string) {
	for range 3 {
		inner := innerWords(command, args)
		if len(inner) == 0 {
			break
		}
		command, args = inner[0], inner[1:]
	}
	return command, args
}

// innerWords are the words that a wrapper runs, nil where the command is none.
func innerWords(command string, args []string) []string {
	switch name := BaseName(command); {
	case name == "cmd" && len(args) > 1 && strings.EqualFold(args[0], "/c"):
		return args[1:]
	case name == "env":
		i := slices.IndexFunc(args, func(arg string) bool { return !strings.Contains(arg, "=") && !strings.HasPrefix(arg, "-") })
		if i >= 0 {
			return args[i:]
		}
	case IsShell(name):
		if script, ok := ShellScript(args); ok && !strings.ContainsAny(script, "|&;<>()$`\\\"'*?#~\n") {
			words := strings.Fields(script)
			if len(words) > 0 && words[0] == "exec" {
				words = words[1:]
			}
			return words
		}
	}
	return nil
}

// IsShell reports whether a program of that name runs what stands in an argument.
func IsShell(name string) bool {
	switch name {
	case "sh", "bash", "zsh", "dash", "fish", "ksh", "ash", "pwsh", "powershell", "cmd":
		return true
	}
	return false
}

// ShellScript is the script that a shell gets as an argument (-c, -lc, /c, -Command).
func ShellScript(args []string) (script string, ok bool) {
	if at := ScriptArgument(args); at >= 0 {
		return args[at], true
	}
	return "", false
}

// ScriptArgument is which argument of a shell is a script, -1 where none is.
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
	NPM  bool   // the package is of npm's registry, else of PyPI
	yes  bool   // -y is there
	no   bool   // it was told never to install
	Spec string // the package with its version, empty where none was found
	at   int    // which argument spec is
}

// ParseLauncher reads a command line as a launcher's; ok is false where it is none.
func ParseLauncher(command string, args []string) (l Launcher, ok bool) {
	name, words := launcherWords(BaseName(command), args)
	if name == "" {
		return Launcher{}, false
	}
	l = Launcher{Name: name, NPM: !slices.Contains([]string{"uvx", "uv tool run", "pipx run"}, name), at: -1}
	skipped := len(args) - len(words)
	for i := 0; i < len(words); i++ {
		word := words[i]
		flag, value, inline := strings.Cut(word, "=")
		switch {
		case word == "--":
		case !strings.HasPrefix(word, "-"):
			if l.Spec == "" {
				l.Spec, l.at = word, skipped+i
			}
			return l, true // what follows is the program's own
		case word == "-y" || word == "--yes":
			l.yes = true
		case word == "--no" || word == "--no-install":
			l.no = true
		case l.takesValue(flag):
			at := i
			if !inline && i+1 < len(words) {
				i++
				value, at = words[i], i
			}
			if l.namesPackage(flag) && l.Spec == "" {
				l.Spec, l.at = value, skipped+at
			}
		}
	}
	return l, true
}

// launcherWords are the arguments of a launcher, behind the words that make its name.
func launcherWords(program string, args []string) (name string, words []string) {
	begins := func(heads ...string) bool {
		return len(args) >= len(heads) && slices.Equal(args[:len(heads)], heads)
	}
	switch {
	case program == "npx" || program == "bunx" || program == "uvx":
		return program, args
	case program == "npm" && (begins("exec") || begins("x")):
		return "npm exec", args[1:]
	case program == "bun" && begins("x"):
		return "bunx", args[1:]
	case (program == "pnpm" || program == "yarn") && begins("dlx"):
		return program + " dlx", args[1:]
	case program == "uv" && begins("tool", "run"):
		return "uv tool run", args[2:]
	case program == "pipx" && begins("run"):
		return "pipx run", args[1:]
	}
	return "", nil
}

// takesValue reports whether a flag of the launcher has a value behind it.
func (l Launcher) takesValue(flag string) bool {
	if l.NPM {
		return slices.Contains([]string{
			"-p", "--package", "-c", "--call", "--registry", "--prefix", "--cache", "--userconfig", "--loglevel", "-w", "--workspace",
		}, flag)
	}
	return slices.Contains([]string{
		"--from", "--spec", "--with", "-p", "--python", "-i", "--index-url", "--extra-index-url", "--index", "--default-index",
		"-f", "--find-links", "--with-editable", "--with-requirements", "-c", "--constraints", "--overrides", "--directory",
		"--project", "--env-file", "--cache-dir", "--config-file", "--color", "--pip-args",
	}, flag)
}

// namesPackage reports whether a flag's value is the package to run.
func (l Launcher) namesPackage(flag string) bool {
	if l.NPM {
		return flag == "-p" || flag == "--package"
	}
	return flag == "--from" || flag == "--spec"
}

// Prompts reports whether the launcher asks before it installs.
func (l Launcher) Prompts() bool { return (l.Name == "npx" || l.Name == "npm exec") && !l.yes && !l.no }

// FromRegistry reports whether the package comes from a registry, and not from a
// folder, an archive or a repository.
func (l Launcher) FromRegistry() bool {
	switch {
	case l.Spec == "", strings.HasPrefix(l.Spec, "."), strings.HasPrefix(l.Spec, "/"), strings.HasPrefix(l.Spec, "~"):
		return false
	case strings.Contains(l.Spec, ":"), strings.Contains(l.Spec, `\`):
		return false
	}
	return strings.HasPrefix(l.Spec, "@") || !strings.Contains(l.Spec, "/")
}

// Split cuts the spec into the package's name and the version or tag asked for.
func (l Launcher) Split() (name, version string) {
	if !l.NPM {
		if name, version, found := strings.Cut(l.Spec, "=="); found {
			return withoutExtras(name), version
		}
		name, version, _ := strings.Cut(l.Spec, "@")
		return withoutExtras(name), version
	}
	if at := strings.LastIndexByte(l.Spec, '@'); at > 0 {
		return l.Spec[:at], l.Spec[at+1:]
	}
	return l.Spec, ""
}

// withoutExtras is the name in a Python requirement such as "mcp[cli]>=1".
func withoutExtras(requirement string) string {
	if end := strings.IndexAny(requirement, "[<>=~! "); end > 0 {
		return requirement[:end]
	}
	return requirement
}

// Pinned reports whether the spec means one version for ever.
func (l Launcher) Pinned() bool {
	_, version := l.Split()
	if !l.NPM {
		return version != "" && version[0] >= '0' && version[0] <= '9' && !strings.Contains(version, "*")
	}
	_, exact := ParseVersion(version)
	return exact
}

// DockerRun is what matters here of a `docker run`.
type DockerRun struct {
	Program                  string
	at                       int // which argument "run" is
	Interactive, Tty, Remove bool
	Detached                 bool
}

// ParseDocker reads a command line as docker's; ok is false where it runs no image.
func ParseDocker(command string, args []string) (run DockerRun, ok bool) {
	run.Program = BaseName(command)
	if !slices.Contains([]string{"docker", "podman", "nerdctl"}, run.Program) {
		return run, false
	}
	run.at = slices.Index(args, "run")
	if run.at < 0 || slices.Contains(args[:run.at], "compose") || slices.Contains(args[:run.at], "mcp") {
		return run, false
	}
	for i := run.at + 1; i < len(args) && strings.HasPrefix(args[i], "-") && args[i] != "-"; i++ {
		if args[i] == "--" {
			break
		}
		if run.takes(args[i]) {
			i++
		}
	}
	return run, true
}

// takes reads one flag and reports whether the next argument is its value.
func (run *DockerRun) takes(arg string) (value bool) {
	if long, isLong := strings.CutPrefix(arg, "--"); isLong {
		name, setting, inline := strings.Cut(long, "=")
		if !isDockerSwitch(name) {
			return !inline
		}
		run.set(name, setting != "false")
		return false
	}
	letters, setting, _ := strings.Cut(arg[1:], "=")
	for i, letter := range letters {
		name := dockerSwitch(letter)
		if name == "" {
			return i == len(arg)-2 // the rest is the value, or the next argument is
		}
		run.set(name, setting != "false")
	}
	return false
}

func (run *DockerRun) set(name string, on bool) {
	switch name {
	case "interactive":
		run.Interactive = on
	case "tty":
		run.Tty = on
	case "rm":
		run.Remove = on
	case "detach":
		run.Detached = on
	}
}

// isDockerSwitch reports whether a long flag of `docker run` has no value.
func isDockerSwitch(name string) bool {
	return slices.Contains([]string{
		"interactive", "tty", "rm", "detach", "init", "privileged", "read-only", "publish-all", "no-healthcheck",
		"oom-kill-disable", "sig-proxy", "quiet", "disable-content-trust", "help", "replace",
	}, name)
}

// dockerSwitch is the long name of a short flag without a value.
func dockerSwitch(letter rune) string {
	switch letter {
	case 'i':
		return "interactive"
	case 't':
		return "tty"
	case 'd':
		return "detach"
	case 'P':
		return "publish-all"
	case 'q':
		return "quiet"
	}
	return ""
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
