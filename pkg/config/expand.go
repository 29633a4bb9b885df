package config

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolx/pkg/words"
)

// expander replaces variables in the values of one server. It continues after a failure, so that all are reported at
// once.
type expander struct {
	server  *Server
	lookup  func(string) (string, bool)
	environ []string // of the programs that references run
	sources *Sources
	// missing and malformed are the failures.
	missing   []Missing
	malformed []Problem
	// untrusted is why the first file that needs consent may not be read.
	untrusted error
	// cause is why the first unreadable reference failed.
	cause error
	// values are the values of the variables.
	values []string
	// written is the total size in bytes of the expanded variables of the entry.
	written int
}

// maxExpanded is the largest total size in bytes of the expanded variables of one entry. No system starts a program
// with more than a few megabytes of arguments and environment.
const maxExpanded = 4 << 20

// maxDefaults is how deeply defaults may nest.
const maxDefaults = 10

// expand returns text with its variables replaced; key is the path of the text, for messages. The forms are ${NAME},
// ${NAME:-default} (for unset and empty), ${env:NAME} and those of references; a default may contain variables. "$${"
// is a literal "${". Any other "$" is literal: passwords contain dollars, and other clients' files cannot escape them.
//
// Text from the command line is literal: the shell has expanded it.
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
		length := referenceLength(text[i:])
		if length < 0 || depth > maxDefaults {
			e.refuse(text[i:], key)
			return out.String()
		}
		out.WriteString(e.variable(text[i:i+length], key, depth))
		text = text[i+length:]
	}
}

// Literal returns a value for a config that expands to text.
func Literal(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// referenceLength returns the length of the ${…} at the start of text, counting those inside of it, or -1 where it has
// no end.
func referenceLength(text string) int {
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

// variable returns the value of one whole ${…}.
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

// fits counts the bytes of an expanded reference and reports whether the total is within the limit.
func (e *expander) fits(size int, key, reference string) bool {
	before := e.written
	e.written += size
	if before <= maxExpanded && e.written > maxExpanded { // report it once
		e.problem(key, fmt.Sprintf("the entry's expanded variables exceed %d MiB", maxExpanded>>20),
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

// problem records a problem with a key of the entry.
func (e *expander) problem(key, text, fix string) {
	if len(e.malformed) >= mostRemarks {
		return // enough
	}
	e.malformed = append(e.malformed, Problem{
		Origin: e.server.origin(key), Text: problemText(joinKey("servers", e.server.Name)+"."+key, text), Fix: fix,
	})
}

// withoutDefault returns a reference without its default, which may be a secret: "${TOKEN:=…}".
func withoutDefault(reference string) string {
	at := strings.IndexByte(reference, ':')
	if at < 0 || at+1 == len(reference) || strings.IndexByte("-=?+", reference[at+1]) < 0 {
		return reference
	}
	return reference[:at+2] + "…}"
}

// ReferenceFix returns what to write instead of a ${…} that is not a variable. Other clients support other forms, such
// as VS Code's ${command:ID}.
func ReferenceFix(reference string) string {
	form, name, found := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(reference, "${"), "}"), ":")
	switch {
	case found && form == "input" && name != "":
		return "export TOOLX_INPUT_" + variableFor(name) + "=…, or call on a terminal, where toolx asks"
	case found && (form == "command" || form == "config") && name != "":
		return "only VS Code supports it: write ${NAME} for a variable with the value"
	}
	return "write ${NAME}, ${NAME:-default}, ${keyring:NAME}, ${file:PATH}, ${cmd:PROGRAM}, " +
		"or $${ for a literal ${"
}

// variableFor converts any text to the name of an environment variable: "api-key" becomes API_KEY.
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

// VariableName reports whether a shell would accept name for a variable.
func VariableName(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
