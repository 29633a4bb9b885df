package cmdline

import (
	"regexp"
	"sync"
)

// PlaceholderIn returns a value that was never filled in: an unexpanded variable, or the stand-in of an example.
func PlaceholderIn(text string) string {
	for _, pattern := range placeholders() {
		if match := pattern.FindStringSubmatch(text); match != nil {
			return match[1]
		}
	}
	return ""
}

// Setting is a value of a server's entry, with its place.
type Setting struct {
	Steps []any  // for config.Server.Place
	Raw   string // as written
	Value string // expanded; raw if the entry could not be
}

// Key is the setting's first step: "args", "env", "headers" or "url".
func (s Setting) Key() string { return s.Steps[0].(string) }

// Name returns the variable or header that is set, or nothing.
func (s Setting) Name() string {
	if len(s.Steps) > 1 {
		name, _ := s.Steps[1].(string)
		return name
	}
	return ""
}

// placeholders match values that were never filled in, in their first group.
var placeholders = sync.OnceValue(func() []*regexp.Regexp {
	var list []*regexp.Regexp
	for _, pattern := range []string{
		`(\$\{[^}]+\})`,
		// $X at the beginning of a word: within a word, a dollar is more likely part of a password.
		`(?:^|[/:=, "'])(\$[A-Z_][A-Z0-9_]{2,})(?:[^a-zA-Z0-9_]|$)`,
		`(%[A-Z_]{4,}%)`, // Windows
		`(<[A-Za-z][A-Za-z_\- 0-9]{2,}>)`,
		// What examples write instead of a value: your-token, CHANGEME, xxxx.
		`(?:^|[ /:=,;"'&?])((?:[^ /:=,;"'&?]*[^A-Za-z /:=,;"'&?])?(?i:your[_-]|change_?me|replace[_-]me)[^ /:=,;"'&?]*)`,
		`(?s)(?:^|[ /:=,;"'&?])((?:[^ /:=,;"'&?]*[^A-Za-z /:=,;"'&?])?(?i:path/to/).*)`,
		`(?:^|[ /:=,;"'&?])([^ /:=,;"'&?]*(?i:xxxx)[xX_.-]*)$`,
		`(?i)^(xxx|\.\.\.|todo)$`,
	} {
		list = append(list, regexp.MustCompile(pattern))
	}
	return list
})
