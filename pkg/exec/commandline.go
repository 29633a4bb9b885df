package exec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// CommandLine returns the toolx command that calls tool with arguments, a JSON object, quoted to be pasted into a shell
// (see pasteQuote). ParseArgs reads the same object from it. Text and numbers become --arg k=v if the schema reads them
// back unchanged, other values --arg k:=JSON, and members that no argument can express go into --args. flags follow the
// arguments, and the command of a server that is in no config follows "--".
func CommandLine(tool *Tool, arguments json.RawMessage, flags ...string) string {
	return strings.Join(withLaunch(tool, append(callWords(tool, arguments), words.Texts(flags, pasteQuote)...)...), " ")
}

// ReadLine returns the toolx command that reads a resource, quoted as in CommandLine. resource has its Name and its
// server's launch.
func ReadLine(resource *Tool) string {
	return strings.Join(withLaunch(resource, "toolx", "resources", "read", pasteQuote(resource.Name)), " ")
}

// PromptLine returns the toolx command that gets a prompt with arguments, a JSON object of texts, and flags, quoted as
// in CommandLine.
func PromptLine(prompt *Tool, arguments json.RawMessage, flags ...string) string {
	parts := append([]string{"toolx", "prompts", "get", pasteQuote(prompt.Name)}, argumentWords(prompt, arguments)...)
	return strings.Join(withLaunch(prompt, append(parts, words.Texts(flags, pasteQuote)...)...), " ")
}

// withLaunch appends the flags that find a tool, and its server's command line or address, to a command.
func withLaunch(tool *Tool, parts ...string) []string {
	return append(parts, words.Texts(LaunchWords(tool.Flags, tool.Address, tool.Launch), pasteQuote)...)
}

// LaunchWords returns the words that another command needs to use a server from the command line: flags, then its
// address or command; each may be empty.
func LaunchWords(flags []string, address string, command []string) []string {
	words := slices.Clone(flags)
	if address != "" {
		words = append(words, "--url", address)
	}
	if len(command) > 0 {
		words = append(append(words, "--"), command...)
	}
	return words
}

// PasteLine joins words into a line to paste into a shell (see pasteQuote).
func PasteLine(parts ...string) string {
	return strings.Join(words.Texts(parts, pasteQuote), " ")
}

// ShellLine joins words into a line that any POSIX shell splits into the same words. It does not change control
// characters.
func ShellLine(parts ...string) string {
	return strings.Join(words.Texts(parts, shellQuote), " ")
}

// callWords returns the words of the call itself.
func callWords(tool *Tool, arguments json.RawMessage) []string {
	return append([]string{"toolx", "call", pasteQuote(tool.Name)}, argumentWords(tool, arguments)...)
}

// argumentWords returns the words for the arguments of a tool or a prompt.
func argumentWords(tool *Tool, arguments json.RawMessage) []string {
	list, ok := rawjson.Members(arguments)
	if !ok || rawjson.Check(arguments) != nil {
		if len(bytes.TrimSpace(arguments)) > 0 {
			return []string{"--args", pasteQuote(string(arguments))}
		}
		return nil
	}
	speller := newArgParser(tool, &source{})
	rest := []rawjson.Member{}
	var words, single []string
	for _, m := range list {
		spelt, ok := speller.spell(m)
		if !ok {
			rest = append(rest, m)
			continue
		}
		for _, word := range spelt {
			single = append(single, "--arg", word)
		}
	}
	if len(rest) > 0 {
		words = append(words, "--args", shellQuote(visible(rawjson.Object(rest))))
	}
	return append(words, single...)
}

// spell returns one member as the words after --arg: several for an array with a repeated key. ok is false if its name
// cannot be a key.
func (p *argParser) spell(m rawjson.Member) (words []string, ok bool) {
	if m.Name == "" || strings.ContainsRune(m.Name, '=') || strings.HasSuffix(m.Name, ":") || !printable(m.Name) {
		return nil, false
	}
	s := p.newSetting(m.Name)
	if len(s.path) != 1 {
		return nil, false
	}
	given := []json.RawMessage{m.Value}
	if elements, isArray := rawjson.Elements(m.Value); isArray && len(elements) <= maxRepeated {
		given = elements
	}
	for _, value := range given {
		text := argumentText(value)
		if !printable(text) || value[0] == '{' || value[0] == '[' {
			words = nil
			break
		}
		words = append(words, shellQuote(m.Name)+"="+shellQuote(escapeAt(text)))
		s.given = append(s.given, argument{key: s.key, text: []byte(text), literal: true})
	}
	if len(words) > 0 && p.readsBack(s, m.Value) {
		return words, true
	}
	return []string{shellQuote(m.Name) + ":=" + shellQuote(visible(rawjson.Compact(m.Value)))}, true
}

// maxRepeated is the maximum number of elements to write with a repeated key. Longer arrays are easier to read as JSON.
const maxRepeated = 4

// argumentText returns a value as in k=v: text without quotes.
func argumentText(value json.RawMessage) string {
	if value[0] == '"' {
		return rawjson.Unquote(value)
	}
	return string(rawjson.Compact(value))
}

// escapeAt doubles an @ at the beginning, since a single one names a file.
func escapeAt(text string) string {
	if strings.HasPrefix(text, "@") {
		return "@" + text
	}
	return text
}

// readsBack reports whether a setting, typed by the schema, results in value.
func (p *argParser) readsBack(s *setting, value json.RawMessage) bool {
	before := len(p.problems)
	got, ok := p.value(s)
	p.problems = p.problems[:before]
	return ok && equalJSON(got, value)
}

// equalJSON compares scalars and arrays of them: strings by their text, everything else as written.
func equalJSON(a, b json.RawMessage) bool {
	if a[0] == '"' && b[0] == '"' {
		return rawjson.Unquote(a) == rawjson.Unquote(b)
	}
	left, isArray := rawjson.Elements(a)
	right, both := rawjson.Elements(b)
	if isArray && both {
		return slices.EqualFunc(left, right, equalJSON)
	}
	return bytes.Equal(a, b)
}

// printable reports whether text has no characters that a terminal interprets or does not show.
func printable(text string) bool {
	return !strings.ContainsFunc(text,
		func(char rune) bool { return !unicode.IsPrint(char) || char == unicode.ReplacementChar })
}

// visible escapes unprintable characters in valid JSON, where they can only be inside strings.
func visible(text json.RawMessage) string {
	if printable(string(text)) {
		return string(text)
	}
	var out strings.Builder
	for _, char := range string(rawjson.Compact(text)) {
		switch {
		case unicode.IsPrint(char):
			out.WriteRune(char)
		case char > 0xFFFF:
			high, low := utf16.EncodeRune(char)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, char)
		}
	}
	return out.String()
}

// shellQuote quotes a word for a POSIX shell, if necessary.
func shellQuote(word string) string {
	plain := func(char rune) bool {
		return char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z' || char >= '0' && char <= '9' ||
			strings.ContainsRune("_-+.,:/@%", char)
	}
	if word != "" && !strings.ContainsFunc(word, func(char rune) bool { return !plain(char) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// pasteQuote quotes a word like shellQuote, but as $'…' if it has unprintable characters, which do not reach the shell
// when typed or pasted. bash, zsh, ksh and POSIX.1-2024 support that form; bytes are in octal, since shells disagree on
// where hexadecimal escapes end.
func pasteQuote(word string) string {
	if printable(word) {
		return shellQuote(word)
	}
	var out strings.Builder
	out.WriteString("$'")
	for rest := word; rest != ""; {
		char, size := utf8.DecodeRuneInString(rest)
		switch {
		case char == '\'' || char == '\\':
			out.WriteString(`\` + rest[:size])
		case unicode.IsPrint(char) && char != unicode.ReplacementChar:
			out.WriteString(rest[:size])
		default:
			for _, octet := range []byte(rest[:size]) {
				fmt.Fprintf(&out, `\%03o`, octet)
			}
		}
		rest = rest[size:]
	}
	out.WriteByte('\'')
	return out.String()
}
