package jsonschema

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolx/pkg/rawjson"
)

// Quick judges values by a schema of common keywords without the compiler, which takes milliseconds and most of a short
// call's memory. It finds a value valid or is not sure; then the compiled schema decides and reports problems.
type Quick struct{ root any }

// TrustedQuick reads a schema that is known to be valid. A nil Quick is never sure.
func TrustedQuick(raw string) *Quick {
	root, err := rawjson.Decode([]byte(raw))
	if err != nil {
		return nil
	}
	return &Quick{root}
}

// newQuick reads a schema of any origin. It returns nil if the schema has an unsupported keyword or may be broken.
func newQuick(raw json.RawMessage) *Quick {
	root, err := readSchema(raw)
	if err != nil || checkCompileWork(root) != nil {
		return nil
	}
	keywords, ok := root.(map[string]any)
	if !ok {
		return nil
	}
	switch dialect := keywords["$schema"]; dialect {
	case nil, "https://json-schema.org/draft/2020-12/schema",
		"http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-07/schema":
	default:
		return nil
	}
	q := &Quick{root}
	for keyword, operand := range keywords {
		if keyword != "$schema" && !q.wellFormed(keyword, operand) {
			return nil
		}
	}
	return q
}

// Fits reports whether arguments certainly have no problem and no unknown name; false means that a compiled schema must
// judge them.
func (d *Document) Fits(arguments json.RawMessage) bool {
	d.quickOnce.Do(func() { d.quick = newQuick(d.raw) })
	if d.quick == nil {
		return false
	}
	value, err := rawjson.CheckAndDecode(arguments)
	if _, isObject := value.(map[string]any); err != nil || !isObject {
		return false
	}
	return d.quick.Fits(value)
}

// Fits reports whether a decoded value is certainly valid.
func (q *Quick) Fits(value any) bool {
	return q != nil && (&quickRun{Quick: q, left: maxQuickSteps}).judge(q.root, value) == valid
}

// maxQuickSteps limits the schemas that are applied to values, and the data that they read; the compiled schema has
// budgets for longer work.
const maxQuickSteps = 10_000

// wellFormed reports whether a keyword is supported, with an operand that the meta-schemas allow.
func (q *Quick) wellFormed(keyword string, operand any) bool {
	switch keyword {
	case "title", "description", "$comment", "format":
		_, ok := operand.(string)
		return ok
	case "readOnly", "writeOnly", "deprecated":
		_, ok := operand.(bool)
		return ok
	case "default", "const":
		return true
	case "examples":
		_, ok := operand.([]any)
		return ok
	case "type":
		if name, single := operand.(string); single {
			return isTypeName(name)
		}
		names, ok := distinctTexts(operand)
		for _, name := range names {
			ok = ok && isTypeName(name)
		}
		return ok && len(names) > 0
	case "enum":
		values, ok := distinctTexts(operand)
		return ok && len(values) > 0
	case "required":
		_, ok := distinctTexts(operand)
		return ok
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		_, ok := operand.(json.Number)
		return ok
	case "minLength", "maxLength", "minItems", "maxItems":
		number, _ := operand.(json.Number)
		_, err := strconv.ParseUint(number.String(), 10, 32)
		return err == nil
	case "items", "additionalProperties":
		return q.isSchema(operand)
	case "properties", "definitions", "$defs":
		schemas, ok := operand.(map[string]any)
		for _, schema := range schemas {
			ok = ok && q.isSchema(schema)
		}
		return ok
	case "anyOf", "oneOf", "allOf":
		schemas, ok := operand.([]any)
		return ok && len(schemas) > 0 && !slices.ContainsFunc(schemas, func(s any) bool { return !q.isSchema(s) })
	case "$ref":
		return q.definition(operand) != nil
	}
	return false
}

func (q *Quick) isSchema(schema any) bool {
	if _, is := schema.(bool); is {
		return true
	}
	keywords, ok := schema.(map[string]any)
	for keyword, operand := range keywords {
		ok = ok && q.wellFormed(keyword, operand)
	}
	return ok
}

// definition returns the target of a reference to a definition; nil for every other reference.
func (q *Quick) definition(reference any) any {
	text, _ := reference.(string)
	root, _ := q.root.(map[string]any)
	for _, keyword := range []string{"definitions", "$defs"} {
		if name, ok := strings.CutPrefix(text, "#/"+keyword+"/"); ok && !strings.ContainsAny(name, `/~%\`) {
			definitions, _ := root[keyword].(map[string]any)
			return definitions[name]
		}
	}
	return nil
}

// distinctTexts returns the elements of an array of strings, and whether it is such an array without repetitions.
func distinctTexts(operand any) (texts []string, ok bool) {
	elements, ok := operand.([]any)
	seen := make(map[string]bool, len(elements))
	for _, element := range elements {
		text, isText := element.(string)
		if !isText || seen[text] {
			return nil, false
		}
		seen[text] = true
		texts = append(texts, text)
	}
	return texts, ok
}

func isTypeName(name string) bool {
	return KindsNamed(name) != noKinds && name == strings.ToLower(name)
}

// verdict is the result of a Quick; a combination of keywords has their lowest verdict.
type verdict int

const (
	invalid verdict = iota
	unsure
	valid
)

func verdictOf(ok bool) verdict {
	if ok {
		return valid
	}
	return invalid
}

// quickRun is one judgement.
type quickRun struct {
	*Quick
	left int
}

func (r *quickRun) judge(schema, value any) verdict {
	if r.left -= 1 + stepsOf(value); r.left < 0 {
		return unsure
	}
	if always, is := schema.(bool); is {
		return verdictOf(always)
	}
	keywords, _ := schema.(map[string]any)
	found := r.members(keywords, value)
	for keyword, operand := range keywords {
		if list, ok := operand.([]any); ok {
			r.left -= stepsOf(list)
		}
		found = min(found, r.apply(keyword, operand, value))
	}
	if _, refers := keywords["$ref"]; refers && found == invalid {
		return unsure // draft 7 ignores the keywords beside $ref
	}
	return found
}

// stepsOf returns how many steps it takes to read all of a value's names, elements or bytes.
func stepsOf(value any) int {
	switch value := value.(type) {
	case map[string]any:
		return len(value) / itemsPerStep
	case []any:
		return len(value) / itemsPerStep
	case string:
		return len(value) / bytesPerStep
	}
	return 0
}

// members judges the members of an object by properties and additionalProperties. Names that the schema neither lists
// nor describes may be misspelt.
func (r *quickRun) members(keywords map[string]any, value any) verdict {
	object, _ := value.(map[string]any)
	properties, _ := keywords["properties"].(map[string]any)
	others := keywords["additionalProperties"]
	found := valid
	for name, member := range object {
		schema, listed := properties[name]
		switch _, described := others.(map[string]any); {
		case listed:
			found = min(found, r.judge(schema, member))
		case properties == nil && described:
			found = min(found, r.judge(others, member))
		case properties != nil || others != nil:
			found = min(found, unsure)
		}
	}
	return found
}

// apply judges a value by one keyword; members judges those of objects.
func (r *quickRun) apply(keyword string, operand, value any) verdict {
	switch keyword {
	case "title", "description", "$comment", "format", "readOnly", "writeOnly", "deprecated", "default", "examples",
		"definitions", "$defs", "$schema", "properties", "additionalProperties":
		return valid
	case "type":
		return ofType(operand, value)
	case "enum":
		options, _ := operand.([]any)
		return amongTexts(options, value)
	case "const":
		return amongTexts([]any{operand}, value)
	case "required":
		object, isObject := value.(map[string]any)
		names, _ := operand.([]any)
		return verdictOf(!isObject || !slices.ContainsFunc(names, func(name any) bool {
			text, _ := name.(string)
			_, has := object[text]
			return !has
		}))
	case "items":
		elements, _ := value.([]any)
		found := valid
		for _, element := range elements {
			found = min(found, r.judge(operand, element))
		}
		return found
	case "propertyNames":
		object, _ := value.(map[string]any)
		found := valid
		for name := range object {
			found = min(found, r.judge(operand, name))
		}
		return found
	case "pattern":
		text, isText := value.(string)
		return max(verdictOf(!isText), r.matches(operand, text))
	case "patternProperties":
		return r.patternProperties(operand, value)
	case "$ref":
		return r.judge(r.definition(operand), value)
	case "anyOf", "oneOf", "allOf":
		schemas, _ := operand.([]any)
		return r.combine(keyword, schemas, value)
	}
	return withinLimit(keyword, operand, value)
}

// matches applies a pattern. Only trusted schemas have one here: others could make it slow.
func (r *quickRun) matches(pattern any, text string) verdict {
	expression, _ := pattern.(string)
	matched, err := regexp.MatchString(expression, text)
	if err != nil {
		return unsure
	}
	return verdictOf(matched)
}

// patternProperties is sure only where no name matches.
func (r *quickRun) patternProperties(operand, value any) verdict {
	object, _ := value.(map[string]any)
	patterns, _ := operand.(map[string]any)
	for name := range object {
		for pattern := range patterns {
			if r.matches(pattern, name) != invalid {
				return unsure
			}
		}
	}
	return valid
}

func (r *quickRun) combine(keyword string, schemas []any, value any) verdict {
	if keyword != "allOf" && KindOf(value).Has(Object|Array) && slices.ContainsFunc(schemas, mayName) {
		return unsure // a name below may be unknown where another alternative lists names
	}
	var count [valid + 1]int
	for _, schema := range schemas {
		count[r.judge(schema, value)]++
	}
	switch {
	case keyword == "allOf" && count[invalid] > 0:
		return invalid
	case keyword == "anyOf" && count[valid] > 0:
		return valid
	case count[unsure] > 0:
		return unsure
	case keyword == "oneOf":
		return verdictOf(count[valid] == 1)
	}
	return verdictOf(count[valid] > 0)
}

// mayName reports whether a schema is more than a list of required names.
func mayName(schema any) bool {
	keywords, _ := schema.(map[string]any)
	_, requires := keywords["required"]
	return !requires || len(keywords) > 1
}

func ofType(operand, value any) verdict {
	names, several := operand.([]any)
	if !several {
		names = []any{operand}
	}
	return verdictOf(slices.ContainsFunc(names, func(name any) bool {
		text, _ := name.(string)
		return KindOf(value).Has(KindsNamed(text))
	}))
}

// amongTexts judges by the options of enum and const, if they are texts.
func amongTexts(options []any, value any) verdict {
	text, isText := value.(string)
	for _, option := range options {
		switch option, is := option.(string); {
		case !is:
			return unsure
		case isText && option == text:
			return valid
		}
	}
	return invalid
}

// withinLimit judges by a limit on a number, a length or a count; other keywords are unknown.
func withinLimit(keyword string, operand, value any) verdict {
	var applies bool
	size, exact := 0.0, true
	switch keyword {
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		if _, applies = value.(json.Number); applies {
			size, exact = exactNumber(value)
		}
	case "minLength", "maxLength":
		var text string
		text, applies = value.(string)
		size = float64(utf8.RuneCountInString(text))
	case "minItems", "maxItems":
		var elements []any
		elements, applies = value.([]any)
		size = float64(len(elements))
	default:
		return unsure
	}
	limit, ok := exactNumber(operand)
	switch {
	case !applies:
		return valid
	case !exact || !ok:
		return unsure
	case keyword == "exclusiveMinimum":
		return verdictOf(size > limit)
	case keyword == "exclusiveMaximum":
		return verdictOf(size < limit)
	case strings.HasPrefix(keyword, "min"):
		return verdictOf(size >= limit)
	}
	return verdictOf(size <= limit)
}

// exactNumber returns a number that a float64 compares exactly.
func exactNumber(value any) (number float64, exact bool) {
	const digits = 15
	text, _ := value.(json.Number)
	number, err := strconv.ParseFloat(text.String(), 64)
	return number, err == nil && len(text) <= digits && !strings.ContainsAny(text.String(), "eE")
}
