package servers

import (
	"runtime"
	"slices"
	"strings"
)

// MissingVariables returns the names of environment variables that a server's last output says are missing, in their
// order there. Variables to which environ gives a value are left out.
func MissingVariables(text string, environ []string) []string {
	var names []string
	flat := flattened(text)
	lower := lowerASCII(flat)
	phrases := phrasePlaces(lower)
	reached := -1 // the end of the last name that was taken
	for at, name := range capitals(flat) {
		if !isVariableName(name) && !saidToBeVariable(lower, at, at+len(name)) {
			continue
		}
		near := slices.ContainsFunc(phrases, func(p span) bool { return p.distance(at, at+len(name)) <= phraseReach })
		listed := reached >= 0 && at-reached <= listReach
		if !near && !listed {
			continue
		}
		reached = at + len(name)
		if !hasValue(environ, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// How far a name may be from the words that call it missing, and from the name before it in a list.
const (
	phraseReach = 60
	listReach   = 20
)

// flattened returns text on one line, without the lines of stack traces: reports of missing variables are often lists,
// or JSON over several lines.
func flattened(text string) string {
	var words []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "at ") && !strings.HasPrefix(line, `File "`) {
			words = append(words, strings.Fields(line)...)
		}
	}
	return strings.Join(words, " ")
}

// span is a piece of a text, by offsets.
type span struct{ from, to int }

// distance returns how many bytes lie between two pieces.
func (s span) distance(from, to int) int {
	return max(0, from-s.to, s.from-to)
}

// phrasePlaces finds the phrases with which programs say that something is missing.
func phrasePlaces(lower string) []span {
	var places []span
	for _, phrase := range [...]string{
		"missing", "required", "requires", "not set", "is unset", "must be set", "must set", "must provide",
		"must be provided",
		"please set", "please provide", "please define", "set the", "not provided", "not defined", "is undefined",
		"not configured",
		"environment variable", "env var", "keyerror", "cannot be empty", "is empty", "not found in env",
		"no value for",
	} {
		for at := 0; ; {
			found := strings.Index(lower[at:], phrase)
			if found < 0 {
				break
			}
			places = append(places, span{at + found, at + found + len(phrase)})
			at += found + len(phrase)
		}
	}
	return places
}

// capitals yields the words of text that are in capitals, with their offsets.
func capitals(text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for at := 0; at < len(text); {
			if !nameByte(text[at]) {
				at++
				continue
			}
			end := at
			for end < len(text) && (nameByte(text[end]) || text[end] >= 'a' && text[end] <= 'z') {
				end++
			}
			if !yield(at, text[at:end]) {
				return
			}
			at = end
		}
	}
}

// saidToBeVariable reports whether the word in text[from:end] directly follows the words "environment variable", or
// precedes them: next to them, any word in capitals is a name.
func saidToBeVariable(lower string, from, end int) bool {
	if end-from < 2 || lower[from] < 'a' || lower[from] > 'z' ||
		strings.ContainsFunc(lower[from:end], func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
		}) {
		return false
	}
	before, behind := strings.TrimRight(lower[:from], " :'\"`"), strings.TrimLeft(lower[end:], " '\"`")
	for _, noun := range []string{"environment variable", "env variable", "env var"} {
		if strings.HasSuffix(before, noun) || strings.HasSuffix(before, noun+"s") || strings.HasPrefix(behind, noun) {
			return true
		}
	}
	return false
}

// isVariableName reports whether a word in capitals is a name such as API_KEY rather than an error code: it has an
// underscore, or an ending that says what the variable holds.
func isVariableName(name string) bool {
	if len(name) < 4 || name[0] < 'A' || name[0] > 'Z' ||
		strings.ContainsFunc(name, func(r rune) bool { return !nameByte(byte(r)) }) {
		return false
	}
	for _, code := range []string{
		"ERR_", "MODULE_NOT_FOUND", "INVALID_", "NOT_FOUND", "UNABLE_TO_", "MISSING_",
		"UND_ERR", "SELF_SIGNED",
	} {
		if strings.HasPrefix(name, code) {
			return false
		}
	}
	if strings.Contains(strings.Trim(name, "_"), "_") {
		return true
	}
	for _, ending := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD"} {
		if strings.HasSuffix(name, ending) && name != ending {
			return true
		}
	}
	return false
}

// nameByte reports whether b can be part of a variable's name.
func nameByte(b byte) bool { return b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' }

// lowerASCII returns text with its ASCII letters in lower case, so that every byte keeps its offset.
func lowerASCII(text string) string {
	lower := []byte(text)
	for i, b := range lower {
		if b >= 'A' && b <= 'Z' {
			lower[i] = b | 0x20
		}
	}
	return string(lower)
}

// hasValue reports whether an environment gives a variable a value; the last setting wins, as in os/exec.
func hasValue(environ []string, name string) bool {
	value := ""
	for _, pair := range environ {
		key, content, found := strings.Cut(pair, "=")
		if found && (key == name || runtime.GOOS == "windows" && strings.EqualFold(key, name)) {
			value = content
		}
	}
	return value != ""
}
