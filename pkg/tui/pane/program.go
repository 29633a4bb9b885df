package pane

import (
	"runtime"
	"strings"
)

// Program is the command line of a program that the user has named in a variable such as
// EDITOR, with further arguments; nil where the variable is empty. Its words are parted at
// spaces. Where it holds more than words, such as quotes, the shell takes it as it does for
// git, so that EDITOR='"/opt/my editor" --wait' works here too.
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
