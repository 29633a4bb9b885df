package cause

import "strings"

// nameOnly matches what a sentence only names: an address, a path, a file and a name in quotes. A word in it says
// nothing about what is wrong.
var nameOnly = expression(`(?i)\b[a-z][a-z0-9+.-]*://[^\s'"\x60<>]+|` +
	`['"\x60‘“](?:~?[\\/]|\.{1,2}[\\/]|[a-z]:[\\/])[^'"\x60’”\n]*['"\x60’”]|` +
	`['"\x60‘“][^\s'"\x60‘’“”]+['"\x60’”]|` +
	`(?:~|\.{1,2}|\b[a-z]:)?[\\/][\w.@+-]+(?:[\\/][^\s'"\x60,;:)\]]*)*|` +
	`\b[\w.@-]+(?:[\\/][\w.@-]+)*[\\/][\w.@-]+|` +
	`\b[\w-]+\.(?:json[5lc]?|ya?ml|toml|ini|env|conf|cfg|xml|csv|log|lock|txt|md|db|sqlite3?|sock|pem|key|crt|` +
	`pyc?|[cm]?[jt]sx?|sh|rb|go|rs|jar|so|dll|exe)\b`)

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

// eitherWord matches two words of which a sentence leaves open which one holds, and the key of an error in an object.
var eitherWord = expression(`^(?i:(?:missing|invalid|unknown|empty|expired|wrong|unset|undefined|required|input|i|and)/[a-z]+|` +
	`['"](?:error|reason)['"])$`)
