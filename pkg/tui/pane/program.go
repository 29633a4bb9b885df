package pane

import (
	"fmt"
	"runtime"
	"strings"
	"time"
)

// Program returns the command line of a program that the user has named in a variable such as EDITOR, with further
// arguments; nil if the variable is empty. It splits the variable at spaces. If the variable holds more than words,
// such as quotes, the shell interprets it as for git, so that EDITOR='"/opt/my editor" --wait' works too.
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

// Duration formats a duration for display: "0.6 ms", "85 ms", "1.2 s", "3 min".
func Duration(d time.Duration) string {
	switch {
	case 0 < d && d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
