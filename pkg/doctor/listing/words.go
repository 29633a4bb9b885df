package listing

import (
	"slices"
	"strings"
	"unicode"
)

// ChangingWord returns the word in a tool's name that says that it changes something, or nothing. A name that
// begins by reading reads: list_deleted_notes.
func ChangingWord(name string) string {
	words := NameWords(name)
	reads := []string{
		"get", "list", "read", "search", "find", "fetch", "show", "describe", "count", "check", "view", "query",
		"is", "has", "can", "preview", "validate",
	}
	changes := []string{
		"delete", "remove", "drop", "destroy", "erase", "purge", "truncate", "write", "create", "insert", "edit",
		"modify", "move", "rename", "overwrite", "uninstall", "update", "kill",
	}
	if len(words) == 0 || slices.Contains(reads, words[0]) {
		return ""
	}
	if at := slices.IndexFunc(words, func(word string) bool { return slices.Contains(changes, word) }); at >= 0 {
		return words[at]
	}
	return ""
}

// NameWords splits a name into its words, in lower case: deleteNote, delete_note, delete-note.
func NameWords(name string) []string {
	var separated strings.Builder
	previous := rune(0)
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(previous) {
			separated.WriteByte(' ')
		}
		separated.WriteRune(r)
		previous = r
	}
	return strings.FieldsFunc(strings.ToLower(separated.String()), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}
