package config

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/xeipuuv/gojsonschema"

	"toolx/pkg/mask"
	"toolx/pkg/words"
	"toolx/schema"
)

// compiledSchema is the published schema, compiled when the first file needs it. It is trusted: gojsonschema must never
// see a schema from elsewhere.
var compiledSchema = sync.OnceValues(compileSchema)

func compileSchema() (*gojsonschema.Schema, error) {
	return gojsonschema.NewSchema(gojsonschema.NewStringLoader(schema.Config()))
}

// validate holds a file's value against the published schema and says, in toolx's words and at their places, where it
// does not fit.
func validate(root *node, file string) []placed {
	compiled, err := compiledSchema()
	if err == nil {
		var result *gojsonschema.Result
		if result, err = compiled.Validate(gojsonschema.NewRawLoader(root.plain())); err == nil {
			return shapeProblems(root, result.Errors())
		}
	}
	return []placed{{Problem{Origin: Origin{File: file}, Text: "cannot be checked: " + err.Error()}, ""}}
}

func shapeProblems(root *node, results []gojsonschema.ResultError) []placed {
	var problems []placed
	for _, result := range results {
		v := locate(root, result.Context())
		text, fix := shapeWords(v, result)
		if text == "" {
			continue
		}
		if v.path != "" {
			text = problemText(v.path, text)
		}
		problems = append(problems, placed{Problem{Origin: v.at, Text: text, Fix: fix}, v.path})
	}
	return problems
}

// locate finds the value that a result is about.
func locate(root *node, context *gojsonschema.JsonContext) value {
	// No other delimiter is sure not to occur in a key.
	const delimiter = "\x00"
	at := value{node: root, at: root.origin}
	for _, step := range strings.Split(context.String(delimiter), delimiter)[1:] {
		if at.kind == kindList {
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(at.items) {
				return at
			}
			item := at.items[i]
			at = value{item, item.origin, joinIndex(at.path, i)}
			continue
		}
		m, found := at.get(step)
		if !found {
			return at
		}
		at = value{m.value, m.place(), joinKey(at.path, step)}
	}
	return at
}

// shapeWords says what result means and what to do about it; nothing for what is not an error here, or what the decoder
// says better.
func shapeWords(v value, result gojsonschema.ResultError) (text, fix string) {
	details := result.Details()
	switch result.Type() {
	case "additional_property_not_allowed": // a warning of the decoder
	case "number_one_of": // command or url: the decoder's
	case "invalid_type":
		return wrongType(v, fmt.Sprint(details["expected"]))
	case "required":
		property := fmt.Sprint(details["property"])
		return fmt.Sprintf("'%s' is missing", property), missingFix(property)
	case "enum":
		return fmt.Sprintf("unknown value %s, expected one of %s", v.shown(), allowed(details["allowed"])), ""
	case "string_gte":
		if v.kind != kindText {
			break // an empty key, which has its own result
		}
		return "is empty", "give it a value, or remove the key"
	case "number_gte":
		return fmt.Sprintf("%s is too small, the least is %s", v.shown(), limitOf(details["min"])), ""
	case "number_lte":
		return fmt.Sprintf("%s is too large, the most is %s", v.shown(), limitOf(details["max"])), ""
	case "pattern":
		return fmt.Sprintf("%s has not the expected form", v.shown()), "docs/config.md shows the forms"
	case "invalid_property_name":
		return "holds an empty name", "give every entry a name"
	default:
		return result.Description(), ""
	}
	return "", ""
}

// missingFix shows how to write a key that must not be missing.
func missingFix(property string) string {
	switch property {
	case "implementation":
		return "add for example implementation: {type: mock, mock_response: hello}"
	case "type":
		return "add for example type: mock"
	}
	return fmt.Sprintf("add %s: …", property)
}

// wrongType names what stands there and what should.
func wrongType(v value, expected string) (text, fix string) {
	var wanted []string
	for _, name := range strings.FieldsFunc(expected, func(r rune) bool { return strings.ContainsRune("[],/ ", r) }) {
		if name != "null" {
			wanted = append(wanted, typeWords(name))
		}
	}
	text = fmt.Sprintf("expected %s, found %s", strings.Join(wanted, " or "), v.described())
	switch {
	case expected == gojsonschema.TYPE_BOOLEAN, strings.Contains(expected, gojsonschema.TYPE_BOOLEAN) &&
		v.kind == kindText:
		fix = "write true or false, without quotes"
	case strings.Contains(expected, gojsonschema.TYPE_STRING) && (v.kind == kindNumber || v.kind == kindBool):
		fix = "quote it"
		if !mask.Name(v.path) {
			fix += fmt.Sprintf(": %q", v.written)
		}
	case v.written == "~":
		fix = `quote it: "~" (alone, it is YAML's word for nothing)`
	case v.kind == kindNull:
		fix = "give it a value, or remove the key"
	}
	return text, fix
}

func typeWords(name string) string {
	return cmp.Or(map[string]string{
		gojsonschema.TYPE_STRING:  "text",
		gojsonschema.TYPE_ARRAY:   "a list",
		gojsonschema.TYPE_OBJECT:  "a mapping",
		gojsonschema.TYPE_BOOLEAN: "true or false",
		gojsonschema.TYPE_INTEGER: "a whole number",
	}[name], "a "+name)
}

// shown returns a scalar as a message quotes it; what stands under the name of a secret is not.
func (v value) shown() string {
	if mask.Name(v.path) {
		return mask.Mask
	}
	const longest = 61
	text := words.Shorten(v.written, longest)
	if v.kind == kindNumber || v.kind == kindBool {
		return text
	}
	return "'" + text + "'"
}

// described returns the kind of v, with the value of a scalar.
func (v value) described() string {
	switch v.kind {
	case kindBool, kindNumber, kindText:
		return v.kind.String() + " " + v.shown()
	}
	return v.kind.String()
}

// allowed lists the options of an enum, which gojsonschema gives quoted.
func allowed(options any) string {
	return strings.ReplaceAll(fmt.Sprint(options), `"`, "")
}

// limitOf shows a limit, which gojsonschema gives as an exact fraction.
func limitOf(limit any) string {
	if exact, ok := limit.(interface{ RatString() string }); ok {
		return exact.RatString()
	}
	return fmt.Sprint(limit)
}
