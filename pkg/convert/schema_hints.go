package convert

import (
	"bytes"
	"slices"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/words"
)

// longestHint limits a keyword's value in a hint.
const longestHint = 200

// longestSchema is the limit for schemas, which cannot be shortened.
const longestSchema = 500

// keywordFilter removes keywords that a target does not support, and keeps their meaning as hints.
type keywordFilter struct {
	*report
	*schemaReader
	fit func(schema *node, at place) *node
}

// filter removes keywords that the target does not support, and describes them if that helps the model.
func (k *keywordFilter) filter(o *object, at place) {
	p := at.profile
	if !p.refs {
		o.Drop("$defs")
		o.Drop("definitions")
	}
	if !p.restricted() {
		return
	}
	k.filterEnum(o, at)
	k.filterFormat(o, at)
	dropped := o.Keep(func(m member) bool { return p.keeps(m.Name, at.root) })
	condition := jsonschema.Build()
	for _, m := range dropped {
		if slices.Contains([]string{"if", "then", "else"}, m.Name) {
			condition.Set(m.Name, m.Node)
		}
	}
	k.explainCondition(o, condition, at)
	for _, m := range dropped {
		if !condition.Has(m.Name) {
			k.explain(o, m, at)
		}
	}
}

// filterEnum removes values that the target does not support.
func (k *keywordFilter) filterEnum(o *object, at place) {
	values := o.Get("enum").Elements()
	switch {
	case values == nil || !at.profile.keeps("enum", at.root):
		return
	case at.profile.openAPI:
		if isOne(o.node, "string") && isStringList(o.Get("enum")) && !slices.Contains(o.Get("enum").Texts(), "") {
			return // Gemini also rejects empty strings
		}
	case !at.profile.prompt || !slices.ContainsFunc(values, losesDigits):
		return
	}
	k.explain(o, member{Name: "enum", Node: o.Drop("enum")}, at)
}

// losesDigits reports whether a number loses digits in a float64, which Ollama uses.
func losesDigits(value *node) bool {
	const safe = 15
	return literal(value) == "number" && (len(value.Bytes()) > safe || bytes.ContainsAny(value.Bytes(), ".eE"))
}

func (k *keywordFilter) filterFormat(o *object, at place) {
	p := at.profile
	if p.formats == nil || !o.Has("format") || slices.Contains(p.formats, o.Get("format").Text()) {
		return
	}
	k.explain(o, member{Name: "format", Node: o.Drop("format")}, at)
}

// explain reports a removed keyword and keeps its meaning as a hint.
func (k *keywordFilter) explain(o *object, m member, at place) {
	switch m.Name {
	case "$defs", "definitions":
		return // useless without refs
	case "description":
		if text := m.Node.Text(); text != "" {
			o.hints = append([]string{text}, o.hints...)
		}
		return
	}
	if isUnhelpful(m) {
		k.recordLoss(at, Info, "dropped", m.Name)
		return
	}
	if m.Name == "additionalProperties" {
		k.explainMap(o, m.Node, at)
		return
	}
	k.moved(o, at, m.Name, hintFor(m), !isAnnotation(m.Name))
}

// explainCondition reports removed if, then and else and keeps their meaning as one hint, because they depend on each
// other.
func (k *keywordFilter) explainCondition(o *object, taken *node, at place) {
	switch {
	case !taken.Has("if", "then", "else"):
		return
	case !taken.Has("if") || !taken.Has("then", "else"):
		k.recordLoss(at, Info, "dropped", "if, then and else, of which one is missing")
		return
	}
	var said []string
	for _, keyword := range []string{"if", "then", "else"} {
		if taken.Has(keyword) {
			said = append(said, keyword+" "+compact(taken.Get(keyword)))
		}
	}
	k.moved(o, at, "if, then and else", short(strings.Join(said, " "), longestSchema), true)
}

// isUnhelpful reports whether a keyword does not help a model to fill in arguments. Forbidding other properties does
// not help, because models only fill in those that they see.
func isUnhelpful(m member) bool {
	switch m.Name {
	case "default", "examples", "example":
		return m.Node.Is("null")
	case "additionalProperties", "unevaluatedProperties", "additionalItems", "unevaluatedItems", "items":
		return isBoolean(m.Node) || compact(m.Node) == "{}"
	case "uniqueItems", "deprecated":
		return !m.Node.Is("true")
	case "contentEncoding", "contentMediaType":
		return false
	}
	return isAnnotation(m.Name) || !isRestriction(m.Name)
}

// explainMap describes the values of a map by their schema, or by their type if the schema is long.
func (k *keywordFilter) explainMap(o *object, values *node, at place) {
	where := at.below("{}")
	where.profile = &qwenProfile // without refs, and never an error
	whole := k.fit(values, where)
	if whole.IsObject() && !hasBeyond(whole, "type") {
		k.moved(o, at, "additionalProperties", "values: "+k.nameOf(whole), true)
		return
	}
	if hint := short("values: "+compact(whole), longestSchema); hint != "" {
		k.moved(o, at, "additionalProperties", hint, true)
		return
	}
	o.hints = append(o.hints, "values: "+k.nameOf(values))
	k.recordLoss(at, Lossy, "dropped", "additionalProperties except for the type")
}

// short returns a hint, or nothing if it is too long or has references, which a model cannot follow.
func short(hint string, most int) string {
	if len(hint) > most || strings.Contains(hint, `"$ref"`) {
		return ""
	}
	return hint
}

// hintFor describes a keyword, or returns nothing if that would be too long.
func hintFor(m member) string {
	var value string
	switch m.Name {
	case "enum":
		value = "one of: " + listed(m.Node)
	case "required":
		value = "required: " + listed(m.Node)
	case "examples":
		value = "examples: " + listed(m.Node)
	case "uniqueItems":
		value = "items are unique"
	case "deprecated":
		value = "deprecated"
	default:
		value = m.Name + ": " + worded(m.Node)
	}
	return short(value, longestHint)
}

// listed joins the elements of an array with commas.
func listed(list *node) string {
	return strings.Join(words.Texts(list.Elements(), worded), ", ")
}

// worded returns a value for a sentence: strings without quotes, unless they begin or end with space.
func worded(value *node) string {
	if text := value.Text(); text != "" && text == strings.TrimSpace(text) {
		return text
	}
	return compact(value)
}

// describe adds hints to the description. Hints of the root are for the tool's description.
func (k *keywordFilter) describe(o *object, at place) {
	if len(o.hints) == 0 {
		return
	}
	if at.root {
		k.hints = append(k.hints, o.hints...)
		return
	}
	hint := parenthesis(o.hints)
	if text := o.Get("description").Text(); text != "" {
		hint = text + " " + hint
	}
	o.Set("description", jsonschema.Quoted(hint))
}

func parenthesis(hints []string) string {
	if len(hints) == 0 {
		return ""
	}
	return "(" + strings.Join(hints, "; ") + ")"
}
