package mask

import (
	"slices"
	"strings"
)

// assignments hides values that are assigned to the name of a secret in plain text, except spared ones: "k=v" of
// environments and URLs, "k: v" of headers and YAML, "k":"v" of JSON, "--k v" of command lines.
func assignments(text string, spared func(value string) bool) string {
	signs := "=:"
	if strings.Contains(text, "--") { // spaces are frequent, flags are rare
		signs = "=: "
	}
	sign := func(text string) int { return strings.IndexAny(text, signs) }
	return replaceAt(text, sign, func(done, at int) (from, to, next int) {
		if !names(text[done:at], text[at]) {
			return 0, 0, 1
		}
		from, to = valueBehind(text, at+1, text[at])
		if to <= from || text[from:to] == Mask || spared(text[from:to]) || isDescription(text, at, from, to) {
			return 0, 0, 1
		}
		return from - at, to - at, to - at
	})
}

// isDescription reports whether text[from:to], after the name of a secret and the sign at a place, is not its value but
// a description, as in help texts, usage lines and errors.
func isDescription(text string, at, from, to int) bool {
	value := text[from:to]
	if standsFor(value) {
		return true
	}
	switch quoted := from > at+1 && strings.IndexByte("\"'`", text[from-1]) >= 0; {
	case quoted || Value(value):
		return false
	case text[at] == ':':
		return describes(value)
	case text[at] == ' ':
		return continues(value) || strings.HasPrefix(text[at:], "  ") // the columns of a list of flags
	}
	return false
}

// shortFlags hides values after a ShortFlag that look like secrets.
func shortFlags(text string) string {
	return replaceAt(text, index("-"), func(_, at int) (from, to, next int) {
		if at > 0 && strings.IndexByte(" \t\n\"'`(", text[at-1]) < 0 {
			return 0, 0, 1
		}
		length := 1 + tokenLength(text[at+1:], "")
		end := at + length
		if end == len(text) || text[end] != ' ' && text[end] != '=' || !ShortFlag(text[at:end]) {
			return 0, 0, length
		}
		from, to = valueBehind(text, end+1, text[end])
		if !Value(text[from:to]) {
			return 0, 0, length
		}
		return from - at, to - at, to - at
	})
}

// placeholder reports whether a value only shows where a secret belongs, as in a hint: "…", "Bearer …", "<YOUR_TOKEN>",
// "Bearer ${TOKEN}", "${env:TOKEN}" (possibly without the bracket), the "-…" of "${TOKEN:-…}". It is also true for
// words that are never secret.
func placeholder(value string) bool {
	value = strings.TrimPrefix(value, "Bearer ")
	switch {
	case value == "…", value == "-…", isLiteral(value), isReason(value):
		return true
	case strings.HasPrefix(value, "<") && strings.HasSuffix(value, ">"):
		return true
	}
	variable, is := strings.CutPrefix(strings.TrimSuffix(value, "}"), "${")
	variable = strings.TrimPrefix(variable, "env:")
	return is && strings.IndexFunc(variable, func(r rune) bool { return r > 'z' || !isWord(byte(r)) }) < 0
}

// isReason reports whether a value is a program's message about a secret that failed: "Invalid token: fetch failed".
func isReason(value string) bool {
	return slices.Contains([]string{
		"fetch failed", "request failed", "network error", "not found", "not set", "not provided", "not configured",
		"is required", "is missing", "is invalid", "has expired",
	}, strings.ToLower(strings.TrimRight(value, ".!")))
}

// names reports whether before ends in the name of a secret to which sign assigns a value.
func names(before string, sign byte) bool {
	end := len(before)
	if sign != ' ' {
		end = len(strings.TrimRight(before, ` "'\`))
	}
	start := end
	for start > 0 && (isWord(before[start-1]) || strings.IndexByte("-.", before[start-1]) >= 0) {
		start--
	}
	if sign == ' ' && !strings.HasPrefix(before[start:end], "--") {
		return false // only a flag's value follows a space
	}
	if sign == ':' && (isFile(before[start:end]) || isQuotedThing(before, start, end) || isOperand(before[:end])) {
		// A message about it: "token.yaml:3:5: …", "server 'secrets-manager': …", "open p/passwd: …".
		return false
	}
	return Name(before[start:end])
}

// isFile reports whether a word is a file name, by its extension.
func isFile(word string) bool {
	at := strings.LastIndexByte(word, '.')
	return at >= 0 && slices.Contains([]string{
		"yaml", "yml", "json", "jsonc", "json5", "toml", "env", "js", "mjs", "cjs", "ts",
		"py", "rb", "go", "sh", "md", "txt", "log",
	}, word[at+1:])
}

// isOperand reports whether text ends in a path after the name of a system call, as in errors about files. A path of
// one word may be anything.
func isOperand(text string) bool {
	const longest = 300
	text = text[max(0, len(text)-longest):]
	at := strings.LastIndexAny(text, " \t\n")
	if at < 0 || !strings.ContainsAny(text[at:], "/\\") {
		return false
	}
	before := text[:at]
	return slices.Contains([]string{
		"open", "openat", "stat", "statat", "lstat", "lstatat", "fstat", "read", "write", "mkdir", "mkdirat", "remove",
		"unlink", "unlinkat", "rename", "readlink", "readlinkat", "chmod", "scandir",
	}, before[strings.LastIndexAny(before, " \t\n:,(")+1:])
}

// isQuotedThing reports whether the name in text[start:end] is the name of something that toolx mentions: it is in
// quotes after a word such as server. Without quotes it may be any text: "the server password: …".
func isQuotedThing(text string, start, end int) bool {
	if start == 0 || end == len(text) || text[start-1] != text[end] || strings.IndexByte("\"'`", text[end]) < 0 {
		return false
	}
	nouns := []string{"server ", "Server ", "tool ", "Tool ", "prompt ", "resource ", "variable ", "key "}
	return slices.ContainsFunc(nouns, func(noun string) bool { return strings.HasSuffix(text[:start-1], noun) })
}

// valueBehind returns the bounds of the value after a sign; from is the first byte after it.
func valueBehind(text string, from int, sign byte) (start, end int) {
	for from < len(text) && (text[from] == ' ' || text[from] == '\\' || sign == ':' && text[from] == '\t') {
		from++
	}
	if from < len(text) && strings.IndexByte("\"'`", text[from]) >= 0 {
		return quoted(text, from)
	}
	if from < len(text) && strings.IndexByte("{[=>", text[from]) >= 0 {
		return from, from // a structure, whose parts have names of their own; or "==", ":=", "=>"
	}
	if sign == ':' {
		// A header's value is its whole line: "Authorization: Basic abc", "Cookie: a=b; c=d".
		return from, from + lineEnd(text[from:])
	}
	end = from
	for end < len(text) && strings.IndexByte(" \t\r\n\"'`&,;)]}<>\\", text[end]) < 0 {
		end++
	}
	return from, end
}

// quoted returns the bounds of the text in the quotes that open at from, up to the text's end if they do not close.
// Escaped quotes, as in JSON within JSON, end at the next escaped quote.
func quoted(text string, from int) (start, end int) {
	quote := text[from]
	escaped := from > 0 && text[from-1] == '\\'
	for end = from + 1; end < len(text); end++ {
		switch {
		case text[end] == '\\' && escaped && end+1 < len(text) && text[end+1] == quote:
			return from + 1, end
		case text[end] == '\\' && end+1 < len(text):
			end++
		case text[end] == quote:
			return from + 1, end
		}
	}
	return from + 1, len(text)
}

// lineEnd returns where an unquoted value of "k: v" ends: at the end of the line, or at a quote or bracket that was
// opened before the name.
func lineEnd(rest string) int {
	if end := strings.IndexAny(rest, "\r\n\"'`)]}"); end >= 0 {
		return end
	}
	return len(rest)
}
