package culprit

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"toolx/pkg/cmdline"
)

// Wrapper is shell code that starts the server: a script, or the argument of sh -c.
type Wrapper struct {
	place    string // for messages: "start.sh", "the -c argument"
	argument bool   // it is part of the command line
	commands []cmdline.ShellCommand
	last     int // the index of the one that starts the server, or -1 if unknown
}

// WrappersOf follows a command line through the shell scripts that it starts, outermost first. argv is the command that
// they start, or the shell if that is unknown.
func WrappersOf(command []string, in cmdline.Lookup) (list []Wrapper, argv []string) {
	argv = command
	for range maxWrappers {
		one, args, ok := openWrapper(argv, in)
		if !ok {
			break
		}
		list = append(list, one)
		if one.last < 0 {
			break
		}
		argv = expandArgs(one.commands[one.last].Words, args)
	}
	return list, argv
}

// openWrapper reads the script that a command line starts and its arguments; ok is false if there is none.
func openWrapper(argv []string, in cmdline.Lookup) (one Wrapper, args []string, ok bool) {
	if len(argv) > 0 && cmdline.BaseName(argv[0]) == "cmd" {
		one = Wrapper{place: "this server's args", argument: true, commands: cmdCommands(argv[1:])}
		one.last = one.end(nil)
		return one, nil, len(one.commands) > 0
	}
	argv = programWords(argv)
	if len(argv) == 0 {
		return Wrapper{}, nil, false
	}
	if cmdline.IsShell(cmdline.BaseName(argv[0])) {
		one, args = shellWrapper(argv[1:], in)
	} else if isShellScript(argv, in) {
		one, args = readWrapper(in.Find(argv[0]).Path), argv[1:]
	}
	one.last = one.end(args)
	return one, args, len(one.commands) > 0
}

// shellWrapper returns what a shell runs: an argument, or a file.
func shellWrapper(words []string, in cmdline.Lookup) (one Wrapper, args []string) {
	if at := cmdline.ScriptArgument(words); at >= 0 {
		place := fmt.Sprintf("the %s argument", words[at-1])
		one = Wrapper{place: place, argument: true, commands: cmdline.ShellCommands(words[at])}
		return one, words[min(at+2, len(words)):] // the first word after the script is $0
	}
	at := slices.IndexFunc(words, func(word string) bool { return !strings.HasPrefix(word, "-") })
	if at < 0 {
		return Wrapper{}, nil
	}
	return readWrapper(cmdline.RealPath(words[at], in.Folder)), words[at+1:]
}

// isShellScript reports whether a command's first line names a shell. Scripts whose name implies a runtime (mvnw,
// pyenv's python) do not count.
func isShellScript(argv []string, in cmdline.Lookup) bool {
	if printer := PrinterOf(argv).Name; printer != "" && printer != "shell" {
		return false
	}
	first, ok := cmdline.ReadShebang(in.Find(argv[0]).Path)
	return ok && cmdline.IsShell(cmp.Or(first.Program, cmdline.BaseName(first.Interpreter)))
}

// readWrapper reads the beginning of a script. The result has no commands if the file is not a script.
func readWrapper(path string) Wrapper {
	text := cmdline.FileBeginning(path, 64<<10)
	if bytes.IndexByte(text, 0) >= 0 {
		return Wrapper{}
	}
	return Wrapper{place: filepath.Base(path), commands: cmdline.ShellCommands(string(text))}
}

// cmdCommands splits the words after cmd /c. A backslash escapes nothing there.
func cmdCommands(args []string) []cmdline.ShellCommand {
	at := slices.IndexFunc(args, func(arg string) bool { return strings.EqualFold(arg, "/c") })
	if at < 0 {
		return nil
	}
	one := cmdline.ShellCommand{Line: 1, Err: cmdline.StreamErr}
	for _, word := range strings.Fields(strings.Join(args[at+1:], " ")) {
		if word == "2>&1" {
			one.Err = cmdline.StreamOut
			continue
		}
		one.Words = append(one.Words, word)
	}
	return []cmdline.ShellCommand{one}
}

// end returns the index of the command that starts the server: the last known one that is neither shell work nor a
// print. It returns -1 if there is none.
func (w Wrapper) end(args []string) int {
	for i, c := range slices.Backward(w.commands) {
		words := expandArgs(c.Words, args)
		if len(words) > 0 && words[0] != string(cmdline.UnknownText) && !isShellWork(words[0]) && !isPrint(words[0]) {
			return i
		}
	}
	return -1
}

// expandArgs returns a script command's program and arguments, with "$@" replaced by the script's arguments.
func expandArgs(words, args []string) []string {
	if at := slices.Index(words, cmdline.AllArgs); at >= 0 {
		words = slices.Concat(words[:at], args, words[at+1:])
	}
	return programWords(words)
}

// isPrint reports whether a shell command only prints.
func isPrint(word string) bool {
	return slices.Contains([]string{"echo", "printf", "cat", "print"}, word)
}

// printingCommand returns the command of the script that may print something unknown before the server starts, or
// nothing. Method says recognizes known texts.
func (w Wrapper) printingCommand() string {
	for i, c := range w.commands {
		if i != w.last && w.mayPrint(i) {
			return programOfWords(c.Words)
		}
	}
	return ""
}

// mayPrint reports whether a command may print unknown text.
func (w Wrapper) mayPrint(i int) bool {
	c := w.commands[i]
	name := programOfWords(c.Words)
	if name == "" || c.Out != cmdline.StreamOut || c.Words[0] == "exec" { // replaces the script
		return false
	}
	return isPrint(name) && !printsKnown(c) || programPrinter(name) != "" || slices.Contains(printingPrograms(), name)
}

// printingPrograms returns programs without a runtime that print their progress.
func printingPrograms() []string { return []string{"git", "curl", "make", "apt-get"} }

// isShellWork reports whether a command does housekeeping or filters the output of others.
func isShellWork(word string) bool {
	switch word {
	case "cd", "export", "set", "unset", "local", "readonly", "declare", "shift", "trap", "umask", "ulimit", "alias",
		"eval", "exit", "return", "break", "continue", "wait", "kill", "sleep", "true", "false", ":", "[", "[[", "test",
		"read", "command", "for", "case", "esac", "select", "function", "in", "source", ".", "exec", "type", "which",
		"hash", "pushd", "popd", "mkdir", "rm", "cp", "mv", "ln", "chmod", "chown", "touch", "date", "grep", "egrep",
		"sed", "awk", "tee", "head", "tail", "tr", "cut", "sort", "xargs", "logger", "jq":
		return true
	}
	return strings.Contains(word, "=")
}

// says returns the command that prints text; sure is false if the text matches only outside of expansions.
func (w Wrapper) says(text string) (found cmdline.ShellCommand, sure, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return cmdline.ShellCommand{}, false, false
	}
	for _, c := range w.commands {
		for _, line := range prints(c) {
			if exact, same := matchText(strings.TrimSpace(PlainText(line)), text); same && (exact || !ok) {
				found, sure, ok = c, exact, true
			}
		}
		if sure {
			break
		}
	}
	return found, sure, ok
}

// prints returns the lines that a command writes to the script's stdout. UnknownText marks unknown parts.
func prints(c cmdline.ShellCommand) []string {
	if c.Out != cmdline.StreamOut || len(c.Words) == 0 {
		return nil
	}
	escapes := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\033`, "\x1b", `\e`, "\x1b", `\x1b`, "\x1b")
	switch words := c.Words[1:]; c.Words[0] {
	case "echo", "print":
		for len(words) > 0 && len(words[0]) > 1 && strings.Trim(words[0], "-neE") == "" {
			words = words[1:]
		}
		return strings.Split(escapes.Replace(strings.Join(words, " ")), "\n")
	case "printf":
		if len(words) == 0 {
			return nil
		}
		filled := words[0]
		for _, verb := range []string{"%s", "%d", "%b", "%q"} {
			filled = strings.ReplaceAll(filled, verb, string(cmdline.UnknownText))
		}
		return strings.Split(escapes.Replace(filled), "\n")
	case "cat":
		return c.Body
	}
	return nil
}

// printsKnown reports whether a command always prints the same text.
func printsKnown(c cmdline.ShellCommand) bool {
	lines := prints(c)
	return lines != nil && !slices.ContainsFunc(lines, func(line string) bool {
		return strings.ContainsAny(line, string(cmdline.UnknownText)+cmdline.AllArgs+"\\%$`")
	})
}

// matchText reports whether pattern can expand to text; exact is set if it always does.
func matchText(pattern, text string) (exact, same bool) {
	const fewest = 6 // known bytes that a pattern with unknown parts needs
	unknown := string(cmdline.UnknownText)
	pieces := strings.Split(strings.ReplaceAll(pattern, cmdline.AllArgs, unknown), unknown)
	if len(pieces) == 1 {
		return pattern == text, pattern == text
	}
	known := 0
	for i, piece := range pieces {
		known += len(piece)
		at := strings.Index(text, piece)
		switch {
		case at < 0, i == 0 && at > 0:
			return false, false
		case i == len(pieces)-1:
			return false, known >= fewest && strings.HasSuffix(text, piece)
		}
		text = text[at+len(piece):]
	}
	return false, false
}

// merges returns the command that redirects stderr to stdout.
func (w Wrapper) merges() (found cmdline.ShellCommand, ok bool) {
	for i, c := range w.commands {
		whole := len(c.Words) == 0 || slices.Equal(c.Words, []string{"exec"})
		if c.Merges() && (i == w.last || whole) {
			return c, true
		}
	}
	return cmdline.ShellCommand{}, false
}

// culprit returns a likely culprit in the script. A script is fixed by the server's author, a command line by its user.
func (w Wrapper) culprit(rule, name, fix string) Recognition {
	found := Recognition{Culprit: Culprit{Name: name, Confidence: Likely}, Rule: rule}
	if w.argument {
		found.Outside = fix
	} else {
		found.InServer = fix
	}
	return found
}

// at returns the place of a command for messages.
func (w Wrapper) at(c cmdline.ShellCommand) string {
	if w.argument {
		return w.place
	}
	return fmt.Sprintf("%s:%d", w.place, c.Line)
}
