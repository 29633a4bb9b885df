package servers

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// failureLines is how many lines of stderr a failure shows.
const failureLines = 10

// errorName matches a line that begins with an error's name, as runtimes print uncaught errors: "TypeError: …", "Error
// [ERR_X]: …", "java.lang.Exception: …", "panic: …".
var errorName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:Uncaught )?(?:[\w.$]*(?:Error|Exception)(?: \[\w+\])?|panic|fatal error)(?:: |$)|^thread '.*' panicked at`)
})

// telling returns at most n lines of a server's stderr, in their order: those that most likely say why the server
// ended. Node prints the error before its stack, Python after it, so a tail of fixed length does not hold both.
func telling(lines []string, n int) []string {
	if len(lines) <= n {
		return lines
	}
	// DeleteFunc works in place, and the caller shows the other lines as well.
	short := slices.DeleteFunc(slices.Clone(lines), func(text string) bool {
		return stackFrame(text) || strings.TrimSpace(text) == ""
	})
	if len(short) <= n {
		return short
	}
	last := short[len(short)-n:]
	if name := namesError(short); name >= 0 && namesError(last) < 0 {
		return append([]string{short[name]}, last[1:]...)
	}
	return last
}

// namesError returns the index of the last line that names an error, or of the line that ends a Python traceback,
// whatever its error is called; -1 where there is none.
func namesError(lines []string) int {
	plain := -1 // the nearest line that is not indented: it ends a traceback
	for i, text := range slices.Backward(lines) {
		switch {
		case errorName().MatchString(text):
			return i
		case strings.HasPrefix(text, "Traceback (most recent call last)"):
			return plain
		case text != "" && text == strings.TrimLeft(text, " \t"):
			plain = i
		}
	}
	return -1
}

// stackFrame reports whether a line is one frame of a stack: "    at main (/x.js:1:2)".
func stackFrame(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "at ") }
