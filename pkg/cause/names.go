package cause

import "strings"

// withoutNames returns a text without names such as paths and addresses, for expressions about its words. Words joined
// by a slash are kept: "missing/invalid".
func withoutNames(text string) string {
	if !strings.ContainsAny(text, "/\\'\"`.‘“") {
		return text
	}
	return nameOnly().ReplaceAllStringFunc(text, func(name string) string {
		if eitherWord().MatchString(name) {
			return name
		}
		return "…"
	})
}
