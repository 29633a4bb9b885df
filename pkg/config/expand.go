package config

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolx/pkg/words"
)

// expander replaces variables in the values of one server. It goes on past what it cannot expand, so that all of it is
// reported at once.
type expander struct {
	server  *Server
	lookup  func(string) (string, bool)
	environ []string // of the programs that references run
	sources *Sources
	// missing and malformed are what could not be expanded.
	missing   []Missing
	malformed []Problem
	// untrusted is why a file of a reference may not be read, of the first such file.
	untrusted error
	// cause is why the first reference that cannot be read cannot.
	cause error
	// values are what the variables stood for.
	values []string
	// written is how many bytes the variables have become, over the whole entry.
	written int
}

// maxExpanded is how many bytes the variables of one entry may become. No system starts a program with more than a few
// megabytes of arguments and environment.
const maxExpanded = 4 << 20

// maxDefaults is how deep defaults may hold variables with defaults.
const maxDefaults = 10

// expand returns text with its variables replaced; key is where text stands, for the messages. The forms are ${NAME},
// ${NAME:-default} (for unset and empty), ${env:NAME} and those of references; a default may hold variables. "$${" is a
// literal "${", and every other "$" is itself: passwords hold dollars, and files of other clients know no way to escape
// them.
//
// What stands on the command line is literal: the shell has expanded it.
func (e *expander) expand(text, key string) string {
	if e.server.literal {
		return text
	}
	return e.within(text, key, 0)
}

func (e *expander) within(text, key string, depth int) string {
	var out strings.Builder
	for {
		i := strings.Index(text, "${")
		if i < 0 {
			out.WriteString(text)
			return out.String()
		}
		if i > 0 && text[i-1] == '$' {
			out.WriteString(text[:i-1])
			out.WriteString("${")
			text = text[i+2:]
			continue
		}
		out.WriteString(text[:i])
		length := closing(text[i:])
		if length < 0 || depth > maxDefaults {
			e.refuse(text[i:], key)
			return out.String()
		}
		out.WriteString(e.variable(text[i:i+length], key, depth))
		text = text[i+length:]
	}
}

// Literal returns what to write into a config so that expanding it gives text again.
func Literal(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// closing returns the length of the ${…} at the start of text, counting those inside of it, or -1 where it has no end.
func closing(text string) int {
	open := 0
	for i := range len(text) {
		switch {
		case strings.HasPrefix(text[i:], "${"):
			open++
		case text[i] == '}':
			if open--; open == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// variable returns what one whole ${…} stands for.
func (e *expander) variable(reference, key string, depth int) string {
	if form, argument := referenceOf(reference[2 : len(reference)-1]); form != nil {
		return e.refer(form, argument, key, depth)
	}
	inner := strings.TrimPrefix(reference[2:len(reference)-1], "env:")
	name, fallback, hasDefault := strings.Cut(inner, ":-")
	if !VariableName(name) {
		e.refuse(reference, key)
		return ""
	}
	content, set := e.lookup(name)
	switch {
	case !e.fits(len(content), key, "${"+name+"}"):
		return ""
	case hasDefault && content == "":
		return e.within(fallback, key, depth+1)
	case !set && len(e.missing) < mostRemarks:
		e.missing = append(e.missing, Missing{Variable: name, Key: key, Origin: e.server.origin(key)})
	case set && !ordinary(name):
		e.values = append(e.values, content)
	}
	return content
}

// fits counts the bytes that a reference becomes, and reports whether they are not too many.
func (e *expander) fits(size int, key, reference string) bool {
	before := e.written
	e.written += size
	if before <= maxExpanded && e.written > maxExpanded { // told once
		e.problem(key, fmt.Sprintf("the variables of the entry become more than %d MiB", maxExpanded>>20),
			"use "+reference+" less often, or set it to something shorter")
	}
	return e.written <= maxExpanded
}

// refuse reports a reference to something that is not a variable.
func (e *expander) refuse(reference, key string) {
	const longest = 41
	reference = words.Shorten(reference, longest)
	e.problem(key, fmt.Sprintf("'%s' is not a variable", withoutDefault(reference)), ReferenceFix(reference))
}

// problem notes what is wrong with a key of the entry.
func (e *expander) problem(key, text, fix string) {
	if len(e.malformed) >= mostRemarks {
		return // nobody reads more
	}
	e.malformed = append(e.malformed, Problem{
		Origin: e.server.origin(key), Text: problemText(joinKey("servers", e.server.Name)+"."+key, text), Fix: fix,
	})
}

// withoutDefault returns a reference without what it gives instead of an unset variable, which may be a secret:
// "${TOKEN:=…}".
func withoutDefault(reference string) string {
	at := strings.IndexByte(reference, ':')
	if at < 0 || at+1 == len(reference) || strings.IndexByte("-=?+", reference[at+1]) < 0 {
		return reference
	}
	return reference[:at+2] + "…}"
}

// ReferenceFix says what to write instead of a ${…} that is no variable. Other clients have forms of their own, such as
// VS Code's ${command:ID}.
func ReferenceFix(reference string) string {
	form, name, found := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(reference, "${"), "}"), ":")
	switch {
	case found && form == "input" && name != "":
		return "export TOOLX_INPUT_" + variableFor(name) + "=…, or call on a terminal, where toolx asks"
	case found && (form == "command" || form == "config") && name != "":
		return "VS Code fills it in, and toolx does not: write ${NAME} of a variable that holds the value"
	}
	return "write ${NAME}, ${NAME:-default}, ${keyring:NAME}, ${file:PATH}, ${cmd:PROGRAM}, " +
		"or $${ for the characters themselves"
}

// variableFor makes the name of an environment variable of any text: "api-key" becomes API_KEY.
func variableFor(text string) string {
	name := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && VariableName("_"+string(r)) {
			return unicode.ToUpper(r)
		}
		return '_'
	}, text)
	if !VariableName(name) {
		return "_" + name
	}
	return name
}

// VariableName reports whether a shell would take name for a variable's.
func VariableName(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
