package listing

import (
	"slices"
	"strings"
	"unicode"
)

// ChangingWord returns a word in a tool's name that suggests a change, or nothing. Names that begin with a reading
// verb, such as list_deleted_notes, do not count. It errs on the side of caution.
func ChangingWord(name string) string {
	words := NameWords(name)
	if len(words) == 0 || isReading(words[0]) {
		return ""
	}
	if at := slices.IndexFunc(words, isChanging); at >= 0 {
		return words[at]
	}
	return ""
}

// ChangingVerb returns the verb of a tool's name if the tool clearly changes something, as deleteNote and note_write
// do, or nothing. Only the first word counts, or the last if it is not also a noun. Names with a reading verb
// (domains_getIncomingMove) and create (create_link) do not count.
func ChangingVerb(name string) string {
	words := NameWords(name)
	if len(words) == 0 || slices.ContainsFunc(words, isReading) {
		return ""
	}
	nouns := []string{"move", "drop", "update", "edit", "purge", "kill", "create", "insert"} // git_move, last_update
	switch last := words[len(words)-1]; {
	case isChanging(words[0]) && words[0] != "create":
		return words[0]
	case isChanging(last) && !slices.Contains(nouns, last):
		return last
	}
	return ""
}

func isReading(word string) bool {
	return slices.Contains([]string{
		"get", "list", "read", "search", "find", "fetch", "show", "describe", "count", "check", "view", "query",
		"is", "has", "can", "preview", "validate",
	}, word)
}

func isChanging(word string) bool {
	return slices.Contains([]string{
		"delete", "remove", "drop", "destroy", "erase", "purge", "truncate", "write", "create", "insert", "edit",
		"modify", "move", "rename", "overwrite", "uninstall", "update", "kill",
	}, word)
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
