package tool

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/jsonschema"
	"toolx/pkg/words"
)

func askToolDescriptionMissing(d *listing.Definition) []check.Finding {
	value, ok := d.Members["description"]
	switch {
	case strings.TrimSpace(d.Text("description")) != "":
		return nil
	case ok:
		return d.One("/description", "description is %s", evidence.CutJSON(value))
	}
	return d.One("", "description is missing")
}

// shortDescription is the length in characters below which a description is too short to explain a tool.
const shortDescription = 10

func askToolDescriptionShort(d *listing.Definition) []check.Finding {
	text := strings.TrimSpace(d.Text("description"))
	if text == "" || utf8.RuneCountInString(text) >= shortDescription && foldWords(text) != foldWords(d.Name) {
		return nil
	}
	return d.One("/description", "%s", evidence.Cut(text))
}

// foldWords returns a text's letters and digits in lower case.
func foldWords(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// longDescription is the length in characters above which a description is too long.
const longDescription = 2000

func askToolDescriptionLong(e *evidence.Evidence) []check.Finding {
	return lengths(e, eachTool(func(d *listing.Definition) []check.Finding {
		length := utf8.RuneCountInString(d.Text("description"))
		if length <= longDescription {
			return nil
		}
		return d.One("/description", "%d characters; over %d is long", length, longDescription)
	})(e))
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
				bare = append(bare, spot{d, node.Pointer(), d.Label() + "." + evidence.Label(node.Name)})
			}
		}
	}
	return together(bare, "%d of %s have no description: ", len(bare), words.Count(total, "parameter"))
}

// described reports whether a parameter or its reference target has a description.
func described(node *jsonschema.Subschema) bool {
	for range 8 { // references may be circular
		if strings.TrimSpace(node.Get("description").Text()) != "" {
			return true
		}
		if node = node.Target; node == nil {
			return false
		}
	}
	return false
}

// hintsOf returns a tool's annotations without the title, which is not a hint. Unset hints are nil.
func hintsOf(d *listing.Definition) mcp.ToolAnnotation {
	var h mcp.ToolAnnotation
	_ = json.Unmarshal(d.Members["annotations"], &h) // annotations are only hints
	h.Title = ""
	return h
}

func askAnnotationsMissing(e *evidence.Evidence) []check.Finding {
	var bare []spot
	tools := listing.Read(e).Tools
	for _, d := range tools {
		if (hintsOf(d) == mcp.ToolAnnotation{}) {
			bare = append(bare, spot{d, "", d.Label()})
		}
	}
	return together(bare, "%d of %s have no hints: ", len(bare), words.Count(len(tools), "tool"))
}

func askAnnotationsContradict(d *listing.Definition) []check.Finding {
	h := hintsOf(d)
	verb := listing.ChangingVerb(d.Name)
	switch {
	case h.ReadOnlyHint == nil || !*h.ReadOnlyHint:
		return nil
	case verb != "":
		return d.One("/annotations/readOnlyHint", "readOnlyHint is true, but the name contains %q", verb)
	case h.DestructiveHint != nil && *h.DestructiveHint:
		// A library's default: clients ignore destructiveHint of read-only tools.
		f := d.Finding("/annotations", "readOnlyHint and destructiveHint are both true")
		f.Severity, f.Title = check.Info, "tool has an annotation that does not apply"
		return []check.Finding{f}
	}
	return nil
}
