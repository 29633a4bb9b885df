package doctor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolx/pkg/exec"
)

func askToolDescriptionMissing(d *definition) []Finding {
	if strings.TrimSpace(d.text("description")) != "" {
		return nil
	}
	if value, ok := d.members["description"]; ok {
		return []Finding{d.finding("/description", "description is "+excerptJSON(value))}
	}
	return []Finding{d.finding("", "there is no member description")}
}

// shortDescription is the length in characters below which a description cannot say
// more than a name does.
const shortDescription = 10

func askToolDescriptionShort(d *definition) []Finding {
	text := strings.TrimSpace(d.text("description"))
	if text == "" || utf8.RuneCountInString(text) >= shortDescription && foldWords(text) != foldWords(d.name) {
		return nil
	}
	return []Finding{d.finding("/description", excerpt(text, maxExcerpt))}
}

// foldWords leaves a text's letters and digits, in lower case.
func foldWords(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// longDescription is the length in characters beyond which a description is a
// manual.
const longDescription = 2000

func askToolDescriptionLong(d *definition) []Finding {
	length := utf8.RuneCountInString(d.text("description"))
	if length <= longDescription {
		return nil
	}
	return []Finding{d.finding("/description", fmt.Sprintf("%d characters; over %d is long", length, longDescription))}
}

func askParamDescriptionMissing(e *Evidence) []Finding {
	var bare []spot
	total := 0
	for _, d := range e.survey().tools {
		if d.input == nil {
			continue
		}
		for _, node := range d.input.root.below {
			if node.keyword != "properties" {
				continue
			}
			total++
			if !described(node) {
				bare = append(bare, d.spot(node.pointer(), d.label()+"."+excerpt(node.name, maxLabel)))
			}
		}
	}
	return together(bare, func(list string) string {
		return fmt.Sprintf("%d of %s have none: %s", len(bare), exec.Count(total, "parameter"), list)
	})
}

// described says whether a parameter has words of its own, or where it refers to.
func described(node *schemaNode) bool {
	for range 8 { // references may lead in a circle
		if text, _ := node.object["description"].(string); strings.TrimSpace(text) != "" {
			return true
		}
		if node = node.target; node == nil {
			return false
		}
	}
	return false
}

// hints are a tool's annotations; nil means that it does not say.
type hints struct {
	ReadOnly    *bool `json:"readOnlyHint"`
	Destructive *bool `json:"destructiveHint"`
	Idempotent  *bool `json:"idempotentHint"`
	OpenWorld   *bool `json:"openWorldHint"`
}

func (d *definition) hints() hints {
	var h hints
	// Annotations are hints: what cannot be read says nothing.
	_ = json.Unmarshal(d.members["annotations"], &h)
	return h
}

func askAnnotationsMissing(e *Evidence) []Finding {
	var bare []spot
	tools := e.survey().tools
	for _, d := range tools {
		if (d.hints() == hints{}) {
			bare = append(bare, d.spot("", d.label()))
		}
	}
	return together(bare, func(list string) string {
		return fmt.Sprintf("%d of %s have no hints: %s", len(bare), exec.Count(len(tools), "tool"), list)
	})
}

func askAnnotationsContradict(d *definition) []Finding {
	h := d.hints()
	if h.ReadOnly == nil || !*h.ReadOnly {
		return nil
	}
	if h.Destructive != nil && *h.Destructive {
		return []Finding{d.finding("/annotations", "readOnlyHint and destructiveHint are both true")}
	}
	if word := changingWord(d.name); word != "" {
		return []Finding{d.finding("/annotations/readOnlyHint", fmt.Sprintf("readOnlyHint is true, and the name says %q", word))}
	}
	return nil
}

// changingWord is the word in a tool's name that says that it changes something,
// empty where none does. A name that begins by reading reads: list_deleted_notes.
func changingWord(name string) string {
	words := nameWords(name)
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

// nameWords cuts a name into its words, in lower case: deleteNote, delete_note,
// delete-note.
func nameWords(name string) []string {
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
