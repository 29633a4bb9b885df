package diagnose

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"toolx/pkg/cmdline"
	toolxexec "toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
)

// StartFailure turns an error of starting a process into a Failure, whose command and cwd are set. The system has one
// error for a missing program, a missing folder and a missing interpreter: StartFailure looks which of them it is.
func StartFailure(f *Failure, err error) *Failure {
	f.Ending, f.Reason = EndingNotStarted, err
	var started *fs.PathError
	switch {
	case folderError(f.Cwd) != nil:
		f.Reason = folderError(f.Cwd)
	case errors.Is(err, fs.ErrNotExist) && errors.As(err, &started) && started.Op == "fork/exec":
		f.Reason = noInterpreter(started.Path, err)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		f.Ending = EndingNotFound
	}
	return f
}

// folderError returns why a process cannot start in a folder; nil if it can, or if none is named.
func folderError(path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	var wrapped *fs.PathError
	switch {
	case errors.As(err, &wrapped):
		err = wrapped.Err
	case err == nil && !info.IsDir():
		err = syscall.ENOTDIR
	default:
		return nil
	}
	return &Hinted{
		Text: fmt.Sprintf("its cwd %s cannot be used: %v", path, err), Err: err,
		Fix: "create the folder, or correct cwd (in a config, paths are relative to the config file)",
	}
}

// noInterpreter returns the error of a program that exists without its interpreter or loader.
func noInterpreter(program string, err error) error {
	script, ok := cmdline.ReadShebang(program)
	if !ok {
		return &Hinted{
			Text: fmt.Sprintf("%s exists, but its dynamic loader does not", program), Err: err,
			Fix: "install the program for this system: it was built for another C library (musl, glibc)",
		}
	}
	return &Hinted{
		Text: fmt.Sprintf("%s exists, but its interpreter does not: %s", program, script.Line),
		Fix:  "install the interpreter, or correct the script's first line", Err: err,
	}
}

// startHint returns what to do about a program that exists and cannot be started; empty if nothing is known.
func (f *Failure) startHint() string {
	switch hint := fault.HintOf(f.Reason); {
	case hint != "":
		return hint
	case errors.Is(f.Reason, syscall.EISDIR):
		return "name the program in that folder"
	case errors.Is(f.Reason, fs.ErrPermission):
		return "chmod +x " + toolxexec.ShellLine(f.Program()) + throughInterpreter(f.Command)
	case IsBadFormat(f.Reason):
		return badFormatHint + throughInterpreter(f.Command)
	}
	return ""
}

// IsBadFormat reports whether a program was not started because the system cannot run its format.
func IsBadFormat(err error) bool { return errors.Is(err, errBadFormat) }

// WithheldHint returns how to pass on a variable that toolx withheld and that the output names; empty if there is none.
func WithheldHint(withheld, stderr []string) string {
	words := strings.Join(stderr, "\n")
	at := slices.IndexFunc(withheld, func(name string) bool { return strings.Contains(words, name) })
	if at < 0 {
		return ""
	}
	return fmt.Sprintf(`toolx does not pass on its own keys: add env: {%s: "${%[1]s}"} to the server's entry`,
		withheld[at])
}

// variableArgument matches NAME=value, which is not a program.
var variableArgument = expression(`^[A-Za-z_][\w.-]*:?=`)

// programName matches names of packages and programs.
var programName = expression(`^[A-Za-z0-9_][\w.+-]*$`)

// npmPackage matches names of scoped npm packages.
var npmPackage = expression(`^@[\w.-]+/[\w.-]+(@[\w.^~-]+)?$`)

// ProgramHint returns what to do about a command whose program was not found by a server that starts in the folder cwd.
// It recognizes what is not a program: a URL, a tool argument, a whole command line.
func ProgramHint(command []string, cwd string) string {
	if len(command) == 0 {
		return ""
	}
	program := command[0]
	fields := strings.Fields(program)
	address, err := url.Parse(program)
	line, args, whole := cmdline.SplitLine(program, cwd)
	switch {
	case err == nil && (address.Scheme == "http" || address.Scheme == "https"):
		return fmt.Sprintf("it is an address, not a program: --url %s, or in a config url: in place of command:",
			toolxexec.ShellLine(program))
	case variableArgument().MatchString(program) && len(fields) > 1:
		return "to set a variable: -- env " + strings.Join(append(fields, command[1:]...), " ")
	case variableArgument().MatchString(program):
		return "tool arguments go before -- and the command after it; to set a variable: -- env " +
			toolxexec.ShellLine(program) + " COMMAND…"
	case strings.HasPrefix(program, "-"):
		return "toolx's flags go before --; after it the server's program, then its arguments"
	case whole:
		args = append(args, command[1:]...)
		return fmt.Sprintf("the program is %s, the rest is its arguments: -- %s, or in a config %s", line,
			toolxexec.ShellLine(append([]string{line}, args...)...), EntryOf(line, args))
	case npmPackage().MatchString(program):
		return "to run an npm package: " + toolxexec.ShellLine(append([]string{"npx", "-y"}, command...)...)
	case strings.ContainsRune(program, '/') || strings.ContainsRune(program, filepath.Separator):
		if filepath.IsAbs(program) || cwd == "" {
			return "correct the path, or build the program"
		}
		return "correct the path, which is relative to " + cwd + ", or build the program that it names"
	case slices.Contains([]string{".json", ".yaml", ".yml", ".toml"}, strings.ToLower(filepath.Ext(program))):
		return "it is not a program; a config is given by --config " + toolxexec.ShellLine(program)
	case cmdline.InterpreterOf(program) != "":
		return "run the script through its interpreter: " +
			toolxexec.ShellLine(append([]string{cmdline.InterpreterOf(program)}, command...)...)
	case !programName().MatchString(program):
		return "it is not a program's name; a command is a program and then its arguments"
	}
	return fmt.Sprintf("install %s, or give its full path as the command", program)
}

// EntryOf returns the members of a config entry that start a program, as JSON.
func EntryOf(program string, args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = string(rawjson.Quote(arg))
	}
	return fmt.Sprintf(`"command": %s, "args": [%s]`, rawjson.Quote(program), strings.Join(quoted, ", "))
}

// throughInterpreter returns the command with the interpreter of a script, as a hint.
func throughInterpreter(command []string) string {
	if len(command) == 0 || cmdline.InterpreterOf(command[0]) == "" {
		return ""
	}
	return ", or run it through its interpreter: " +
		toolxexec.ShellLine(append([]string{cmdline.InterpreterOf(command[0])}, command...)...)
}
