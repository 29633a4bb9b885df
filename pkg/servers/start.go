package servers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	toolxexec "toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/state"
)

// startFailure turns an error of starting a process into a Failure, whose command and
// cwd are set. The system has one error for a missing program, a missing folder to
// start in and a missing interpreter: startFailure looks which of them it is.
func startFailure(f *Failure, err error) *Failure {
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

// folderError reports why a folder cannot be started in, nil where it can or where none is named.
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
	return &hintedError{
		text: fmt.Sprintf("its cwd %s cannot be used: %v", path, err), err: err,
		fix: "create the folder, or correct cwd (in a config, a relative path counts from the config file's folder)",
	}
}

// noInterpreter returns the error of a program that exists, while what runs it does not.
func noInterpreter(program string, err error) error {
	line := firstLine(program)
	if line == "" {
		return &hintedError{
			text: fmt.Sprintf("%s exists, but the loader that it was linked for does not", program), err: err,
			fix: "install the program for this system: it was built for another C library (musl, glibc)",
		}
	}
	return &hintedError{
		text: fmt.Sprintf("%s exists, but the program that its first line names does not: %s", program, line), err: err,
		fix: "install the interpreter, or correct the script's first line",
	}
}

// firstLine returns the #! line of a script, empty where the file has none.
func firstLine(path string) string {
	file, err := state.Open(path, os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer file.Close()
	const longest = 128
	// What could be read is enough: an error leaves the line empty or short.
	start, _ := io.ReadAll(io.LimitReader(file, longest))
	line, _, _ := bytes.Cut(start, []byte("\n"))
	if !bytes.HasPrefix(line, []byte("#!")) {
		return ""
	}
	return string(line)
}

// startHint says what to do about a server that could not be started.
func (f *Failure) startHint() string {
	if hint := fault.HintOf(f.Reason); hint != "" {
		return hint
	}
	switch {
	case f.Ending == EndingNotFound:
		return ProgramHint(f.Command, f.Cwd)
	case f.Ending != EndingNotStarted:
		return ""
	case errors.Is(f.Reason, syscall.EISDIR):
		return "name the program in that folder"
	case errors.Is(f.Reason, fs.ErrPermission):
		return "chmod +x " + toolxexec.ShellLine(f.program()) + throughInterpreter(f.Command)
	case IsBadFormat(f.Reason):
		return badFormatHint + throughInterpreter(f.Command)
	}
	return ""
}

// IsBadFormat reports whether a program was not started since the system cannot run files of its format.
func IsBadFormat(err error) bool { return errors.Is(err, errBadFormat) }

// withheldHint says how a server gets a variable that its last words name, and that was
// withheld from it; empty where there is none.
func (f *Failure) withheldHint() string {
	words := strings.Join(f.StderrTail, "\n")
	at := slices.IndexFunc(f.Withheld, func(name string) bool { return strings.Contains(words, name) })
	if at < 0 {
		return ""
	}
	return fmt.Sprintf(`toolx keeps its own keys to itself: env: {%s: "${%[1]s}"} in the server's entry passes it on`,
		f.Withheld[at])
}

// variableArgument matches NAME=value, which is no program.
var variableArgument = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][\w.-]*:?=`) })

// programName matches what a package or a program can be called.
var programName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][\w.+-]*$`) })

// npmPackage matches the name of a scoped package of npm.
var npmPackage = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^@[\w.-]+/[\w.-]+(@[\w.^~-]+)?$`) })

// ProgramHint says what to do about a command, with its arguments, whose program was
// not found by a server that starts in the folder cwd. What is no name of a program
// (a URL, an argument of a tool, a whole command line) is told as what it is.
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
		return "a variable is set by: -- env " + strings.Join(append(fields, command[1:]...), " ")
	case variableArgument().MatchString(program):
		return "arguments of a tool come before --, and a command after it; a variable is set by: -- env " +
			toolxexec.ShellLine(program) + " COMMAND…"
	case strings.HasPrefix(program, "-"):
		return "flags of toolx come before --; after it comes the server's program, then its arguments"
	case whole:
		args = append(args, command[1:]...)
		return fmt.Sprintf("the program is %s, the rest are its arguments: -- %s, or in a config %s", line,
			toolxexec.ShellLine(append([]string{line}, args...)...), EntryOf(line, args))
	case npmPackage().MatchString(program):
		return "to run a package of npm: " + toolxexec.ShellLine(append([]string{"npx", "-y"}, command...)...)
	case strings.ContainsRune(program, '/') || strings.ContainsRune(program, filepath.Separator):
		if filepath.IsAbs(program) || cwd == "" {
			return "correct the path, or build the program that it names"
		}
		return "correct the path, which counts from " + cwd + ", or build the program that it names"
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

// EntryOf returns the members of a config's entry that start a program, as JSON.
func EntryOf(program string, args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = string(rawjson.Quote(arg))
	}
	return fmt.Sprintf(`"command": %s, "args": [%s]`, rawjson.Quote(program), strings.Join(quoted, ", "))
}

// throughInterpreter offers the interpreter that a script's name stands for.
func throughInterpreter(command []string) string {
	if len(command) == 0 || cmdline.InterpreterOf(command[0]) == "" {
		return ""
	}
	return ", or run it through its interpreter: " +
		toolxexec.ShellLine(append([]string{cmdline.InterpreterOf(command[0])}, command...)...)
}

// OnPath reports whether a word starts a program: one on the path, or a file that can be run.
func OnPath(word string) bool {
	_, err := exec.LookPath(word)
	return err == nil || errors.Is(err, exec.ErrDot)
}

// findProgram returns the path of the program that a command names, looked up in
// the PATH that the server itself will have: a config may set another one.
func findProgram(r *config.Resolved) (string, error) {
	if strings.ContainsRune(r.Command, filepath.Separator) || strings.Contains(r.Command, "/") {
		return exec.LookPath(r.Command)
	}
	path, set := pathOf(r.Env)
	if !set {
		return exec.LookPath(r.Command)
	}
	for _, dir := range filepath.SplitList(path) {
		if dir == "" {
			continue // the working directory: never searched without being named
		}
		if found, err := exec.LookPath(filepath.Join(dir, r.Command)); err == nil {
			return found, nil
		}
	}
	return "", &exec.Error{Name: r.Command, Err: exec.ErrNotFound}
}

// pathOf reads PATH from an environment; the last setting wins, as in os/exec.
func pathOf(env []string) (path string, set bool) {
	for _, entry := range env {
		if key, value, _ := strings.Cut(entry, "="); strings.EqualFold(key, "PATH") {
			path, set = value, true
		}
	}
	return path, set
}
