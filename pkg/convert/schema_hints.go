package convert

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"toolx/pkg/rawjson"
)

// longestHint is how long a keyword's value may be to be worth repeating in words.
const longestHint = 200

// longestSchema is the same for schemas that must be read as a whole.
const longestSchema = 500

// filter removes what the target does not know, and says it in words where that helps the model.
func (f *fitter) filter(o *object, at place) {
	p := at.profile
	if !p.refs {
		o.drop("$defs")
		o.drop("definitions")
	}
	if !p.restricted() {
		return
	}
	f.filterEnum(o, at)
	f.filterFormat(o, at)
	dropped := o.keepOnly(func(name string) bool { return p.keeps(name, at.root) })
	f.explainCondition(o, newObject(dropped...), at)
	for _, m := range dropped {
		if !slices.Contains([]string{"if", "then", "else"}, m.Name) {
			f.explain(o, m, at)
		}
	}
}

// filterEnum removes values that the target cannot hold.
func (f *fitter) filterEnum(o *object, at place) {
	values := o.list("enum")
	switch {
	case values == nil || !at.profile.keeps("enum", at.root):
		return
	case at.profile.openAPI:
		if isOne(o, "string") && isStringList(o.value("enum")) && !slices.Contains(o.stringsOf("enum"), "") {
			return // Gemini refuses an empty string too
		}
	case !at.profile.prompt || !slices.ContainsFunc(values, losesDigits):
		return
	}
	f.explain(o, rawjson.NewMember("enum", o.drop("enum")), at)
}

// losesDigits reports whether a number loses digits in a float64, which Ollama reads it into.
func losesDigits(value json.RawMessage) bool {
	const safe = 15
	return literal(value) == "number" && (len(value) > safe || bytes.ContainsAny(value, ".eE"))
}

func (f *fitter) filterFormat(o *object, at place) {
	p := at.profile
	if p.formats == nil || !o.has("format") || slices.Contains(p.formats, o.text("format")) {
		return
	}
	f.explain(o, rawjson.NewMember("format", o.drop("format")), at)
}

// explain reports a keyword that was taken out, and keeps what it says as a hint.
func (f *fitter) explain(o *object, m rawjson.Member, at place) {
	switch m.Name {
	case "$defs", "definitions":
		return // of no use alone
	case "description":
		if text := rawjson.Unquote(m.Value); text != "" {
			o.hints = append([]string{text}, o.hints...)
		}
		return
	}
	if saysNothing(m) {
		f.recordLoss(at, Info, "dropped", m.Name)
		return
	}
	if m.Name == "additionalProperties" {
		f.explainMap(o, m.Value, at)
		return
	}
	f.moved(o, at, m.Name, hintFor(m), !isAnnotation(m.Name))
}

// explainCondition reports if, then and else, which were taken out, and keeps what they say together as one hint: each
// alone would say something else.
func (f *fitter) explainCondition(o, taken *object, at place) {
	switch {
	case !taken.has("if", "then", "else"):
		return
	case !taken.has("if") || !taken.has("then", "else"):
		f.recordLoss(at, Info, "dropped", "if, then and else, of which one is missing")
		return
	}
	var words []string
	for _, keyword := range []string{"if", "then", "else"} {
		if taken.has(keyword) {
			words = append(words, keyword+" "+string(rawjson.Compact(taken.value(keyword))))
		}
	}
	f.moved(o, at, "if, then and else", short(strings.Join(words, " "), longestSchema), true)
}

// saysNothing reports whether a keyword does not help a model to fill in arguments. Forbidding other properties is such
// a keyword: a model only fills in those that it is shown.
func saysNothing(m rawjson.Member) bool {
	switch m.Name {
	case "default", "examples", "example":
		return literal(m.Value) == "null"
	case "additionalProperties", "unevaluatedProperties", "additionalItems", "unevaluatedItems", "items":
		return literal(m.Value) == "boolean" || string(rawjson.Compact(m.Value)) == "{}"
	case "uniqueItems", "deprecated":
		return !isTrue(m.Value)
	case "contentEncoding", "contentMediaType":
		return false
	}
	return isAnnotation(m.Name) || !isRestriction(m.Name)
}

// moved keeps a hint, and reports the keyword that it stands for: as said in another way where the model only reads the
// schema, or where the keyword restricts nothing.
func (f *fitter) moved(o *object, at place, keyword, hint string, restricts bool) {
	if hint == "" {
		f.recordLoss(at, Lossy, "dropped", keyword)
		return
	}
	if !slices.Contains(o.hints, hint) {
		o.hints = append(o.hints, hint)
	}
	if restricts && !at.profile.prompt {
		f.recordLoss(at, Lossy, "dropped", keyword)
		return
	}
	f.recordLoss(at, Info, "moved", keyword+" to the description")
}

// explainMap describes the values of a map: their schema, or only its type if the schema is long.
func (f *fitter) explainMap(o *object, values json.RawMessage, at place) {
	where := at.below("{}")
	where.profile = &qwenProfile // which refers to nothing, and refuses nothing
	whole := f.node(values, where)
	if fitted, ok := parseObject(whole); ok && !hasBeyond(fitted, "type") {
		f.moved(o, at, "additionalProperties", "values: "+f.nameOf(whole), true)
		return
	}
	if hint := short("values: "+string(rawjson.Compact(whole)), longestSchema); hint != "" {
		f.moved(o, at, "additionalProperties", hint, true)
		return
	}
	o.hints = append(o.hints, "values: "+f.nameOf(values))
	f.recordLoss(at, Lossy, "dropped", "additionalProperties but for the type")
}

// short returns a hint; empty if it is too long or has references, which the reader cannot follow.
func short(hint string, most int) string {
	if len(hint) > most || strings.Contains(hint, `"$ref"`) {
		return ""
	}
	return hint
}

// hintFor says a keyword in words; empty if it would be too long.
func hintFor(m rawjson.Member) string {
	var value string
	switch m.Name {
	case "enum":
		value = "one of: " + listed(m.Value)
	case "required":
		value = "required: " + listed(m.Value)
	case "examples":
		value = "examples: " + listed(m.Value)
	case "uniqueItems":
		value = "items are unique"
	case "deprecated":
		value = "deprecated"
	default:
		value = m.Name + ": " + worded(m.Value)
	}
	return short(value, longestHint)
}

// listed writes the elements of an array with commas.
func listed(text json.RawMessage) string {
	elements, _ := rawjson.Elements(text)
	var words []string
	for _, element := range elements {
		words = append(words, worded(element))
	}
	return strings.Join(words, ", ")
}

// worded writes a value for a sentence: a string without quotes, unless it begins or ends with space.
func worded(value json.RawMessage) string {
	if text := rawjson.Unquote(value); rawjson.IsString(value) && text != "" && text == strings.TrimSpace(text) {
		return text
	}
	return string(rawjson.Compact(value))
}

// describe adds the hints to the description; those of the root are for the tool's.
func (f *fitter) describe(o *object, at place) {
	if len(o.hints) == 0 {
		return
	}
	if at.root {
		f.hints = append(f.hints, o.hints...)
		return
	}
	hint := parenthesis(o.hints)
	if text := o.text("description"); text != "" {
		hint = text + " " + hint
	}
	o.set("description", rawjson.Quote(hint))
}

func parenthesis(hints []string) string {
	if len(hints) == 0 {
		return ""
	}
	return "(" + strings.Join(hints, "; ") + ")"
}
