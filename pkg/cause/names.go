package cause

import "strings"

// wordsOf returns a text without what it only names, for expressions that select by words. Words with a slash between
// them stay: "missing/invalid".
func wordsOf(text string) string {
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
