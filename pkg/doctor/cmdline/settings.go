package cmdline

import (
	"strings"
)

func nameByte(b byte) bool { return b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' }

// PlaceholderIn finds what nobody has filled in: a variable that was not expanded,
// or an example's stand-in. It is empty where there is none.
func PlaceholderIn(text string) string {
	for _, find := range []func(string) string{bracedVariable, bareVariable, percentVariable, standIn} {
		if found := find(text); found != "" {
			return found
		}
	}
	return ""
}

// bracedVariable finds "${X}".
func bracedVariable(text string) string {
	_, rest, found := strings.Cut(text, "${")
	if !found {
		return ""
	}
	name, _, closed := strings.Cut(rest, "}")
	if !closed || name == "" {
		return ""
	}
	return "${" + name + "}"
}

// bareVariable finds "$X" at the beginning of a word: within one, a dollar is more
// likely part of a password.
func bareVariable(text string) string {
	for at := range len(text) {
		if text[at] != '$' || at > 0 && !strings.ContainsRune(`/:=, "'`, rune(text[at-1])) {
			continue
		}
		end := at + 1
		for end < len(text) && nameByte(text[end]) {
			end++
		}
		plain := end == len(text) || !(text[end] >= 'a' && text[end] <= 'z')
		if end-at > 3 && plain && (text[at+1] < '0' || text[at+1] > '9') {
			return text[at:end]
		}
	}
	return ""
}

// percentVariable finds Windows' "%X%".
func percentVariable(text string) string {
	_, rest, found := strings.Cut(text, "%")
	if !found {
		return ""
	}
	name, _, closed := strings.Cut(rest, "%")
	if !closed || len(name) < 4 || strings.ContainsFunc(name, func(r rune) bool { return r != '_' && (r < 'A' || r > 'Z') }) {
		return ""
	}
	return "%" + name + "%"
}

// standIn finds what examples write in the place of a value: <YOUR_KEY>, your-token,
// xxxx, CHANGEME.
func standIn(text string) string {
	if from := strings.IndexByte(text, '<'); from >= 0 {
		if length := strings.IndexByte(text[from:], '>'); length > 1 && isWords(text[from+1:from+length]) {
			return text[from : from+length+1]
		}
	}
	lower := lowerASCII(text)
	for _, word := range []string{"your_", "your-", "changeme", "change_me", "replace_me", "replace-me", "path/to/"} {
		if at := strings.Index(lower, word); at >= 0 && (at == 0 || !isLetter(lower[at-1])) {
			return wordAt(text, at)
		}
	}
	if at := strings.Index(lower, "xxxx"); at >= 0 && strings.Trim(lower[at:], "x-_.") == "" {
		return wordAt(text, at)
	}
	if lower == "xxx" || lower == "..." || lower == "todo" {
		return text
	}
	return ""
}

// lowerASCII is text with its capitals A to Z in lower case, every byte in its place:
// strings.ToLower makes some characters longer, and offsets would no longer fit.
func lowerASCII(text string) string {
	lower := []byte(text)
	for i, b := range lower {
		if b >= 'A' && b <= 'Z' {
			lower[i] = b | 0x20
		}
	}
	return string(lower)
}

// isWords reports whether text is a name in words, as in <your api key>.
func isWords(text string) bool {
	return len(text) > 2 && isLetter(text[0]|0x20) && !strings.ContainsFunc(text, func(r rune) bool {
		return r > 127 || !isLetter(byte(r)|0x20) && !strings.ContainsRune("_- 0123456789", r)
	})
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' }

// wordAt is the word of text that offset at is in.
func wordAt(text string, at int) string {
	const ends = " /:=,;\"'&?"
	from := strings.LastIndexAny(text[:at], ends) + 1
	if length := strings.IndexAny(text[at:], ends); length >= 0 && !strings.HasPrefix(text[at:], "path/") {
		return text[from : at+length]
	}
	return text[from:]
}

// Setting is a value of a server's entry, with where it stands.
type Setting struct {
	Steps []any  // for config.Server.Place
	Raw   string // as written
	Value string // expanded; raw where the entry could not be
}

// Key is the setting's first step: "args", "env", "headers" or "url".
func (s Setting) Key() string { return s.Steps[0].(string) }

// Name is the variable or header that is set, empty for the others.
func (s Setting) Name() string {
	if len(s.Steps) > 1 {
		name, _ := s.Steps[1].(string)
		return name
	}
	return ""
}
