package listing

import (
	"slices"
	"strings"
	"unicode"
)

// ChangingWord is the word in a tool's name that says that it changes something,
// empty where none does. A name that begins by reading reads: list_deleted_notes.
func ChangingWord(name string) string {
	words := NameWords(name)
	reads := []string{"get", "list", "read", "search", "find", "fetch", "show", "describe", "count", "check", "view", "query", "is", "has", "can", "preview", "validate"}
	changes := []string{
		"delete", "remove", "drop", "destroy", "erase", "purge", "truncate", "write", "create", "insert", "edit", "modify",
		"move", "rename", "overwrite", "uninstall", "update", "kill",
	}
	if len(words) == 0 || slices.Contains(reads, words[0]) {
		return ""
	}
	for _, word := range words {
		if slices.Contains(changes, word) {
			return word
		}
	}
	return ""
}

// NameWords cuts a name into its words, in lower case: deleteNote, delete_note,
// delete-note.
func NameWords(name string) []string {
	var words []string
	var word strings.Builder
	previous := rune(0)
	flush := func() {
		if word.Len() > 0 {
			words = append(words, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsUpper(r) && unicode.IsLower(previous) {
			flush()
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			word.WriteRune(r)
		}
		previous = r
	}
	flush()
	return words
}
