package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/words"
)

func askToolDescriptionMissing(d *listing.Definition) []check.Finding {
	if strings.TrimSpace(d.Text("description")) != "" {
		return nil
	}
	if value, ok := d.Members["description"]; ok {
		return []check.Finding{d.Finding("/description", "description is "+evidence.ExcerptJSON(value))}
	}
	return []check.Finding{d.Finding("", "there is no member description")}
}

// shortDescription is the length in characters below which a description cannot say
// more than a name does.
const shortDescription = 10

func askToolDescriptionShort(d *listing.Definition) []check.Finding {
	text := strings.TrimSpace(d.Text("description"))
	if text == "" || utf8.RuneCountInString(text) >= shortDescription && foldWords(text) != foldWords(d.Name) {
		return nil
	}
	return []check.Finding{d.Finding("/description", evidence.Excerpt(text, evidence.MaxExcerpt))}
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

func askToolDescriptionLong(d *listing.Definition) []check.Finding {
	length := utf8.RuneCountInString(d.Text("description"))
	if length <= longDescription {
		return nil
	}
	return []check.Finding{d.Finding("/description", fmt.Sprintf("%d characters; over %d is long", length, longDescription))}
}

func askParamDescriptionMissing(e *evidence.Evidence) []check.Finding {
	var bare []spot
	total := 0
	for _, d := range listing.Read(e).Tools {
		if d.Input == nil {
			continue
		}
		for _, node := range d.Input.Root.Below {
			if node.Keyword != "properties" {
				continue
			}
			total++
			if !described(node) {
				bare = append(bare, spotAt(d, node.Pointer(), d.Label()+"."+evidence.Excerpt(node.Name, evidence.MaxLabel)))
			}
		}
	}
	return together(bare, func(list string) string {
		return fmt.Sprintf("%d of %s have none: %s", len(bare), words.Count(total, "parameter"), list)
	})
}

// described reports whether a parameter has words of its own, or where it refers to.
func described(node *listing.SchemaNode) bool {
	for range 8 { // references may lead in a circle
		if text, _ := node.Object["description"].(string); strings.TrimSpace(text) != "" {
			return true
		}
		if node = node.Target; node == nil {
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

func hintsOf(d *listing.Definition) hints {
	var h hints
	// Annotations are hints: what cannot be read says nothing.
	_ = json.Unmarshal(d.Members["annotations"], &h)
	return h
}

func askAnnotationsMissing(e *evidence.Evidence) []check.Finding {
	var bare []spot
	tools := listing.Read(e).Tools
	for _, d := range tools {
		if (hintsOf(d) == hints{}) {
			bare = append(bare, spotAt(d, "", d.Label()))
		}
	}
	return together(bare, func(list string) string {
		return fmt.Sprintf("%d of %s have no hints: %s", len(bare), words.Count(len(tools), "tool"), list)
	})
}

func askAnnotationsContradict(d *listing.Definition) []check.Finding {
	h := hintsOf(d)
	if h.ReadOnly == nil || !*h.ReadOnly {
		return nil
	}
	if h.Destructive != nil && *h.Destructive {
		return []check.Finding{d.Finding("/annotations", "readOnlyHint and destructiveHint are both true")}
	}
	if word := listing.ChangingWord(d.Name); word != "" {
		return []check.Finding{d.Finding("/annotations/readOnlyHint", fmt.Sprintf("readOnlyHint is true, and the name says %q", word))}
	}
	return nil
}
