package pane

import (
	"runtime"
	"strings"
)

// Program returns the command line of a program that the user has named in a variable such as EDITOR,
// with further arguments; nil if the variable is empty. It splits the variable at spaces. If the
// variable holds more than words, such as quotes, the shell interprets it as for git, so that
// EDITOR='"/opt/my editor" --wait' works too.
func Program(variable string, arguments ...string) []string {
	words := strings.Fields(variable)
	switch {
	case len(words) == 0:
		return nil
	case runtime.GOOS != "windows" && strings.ContainsAny(variable, "|&;<>()$`\\\"'*?[#~=%"):
		return append([]string{"sh", "-c", variable + ` "$@"`, words[0]}, arguments...)
	}
	return append(words, arguments...)
}
