package config

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/xeipuuv/gojsonschema"

	"toolx/pkg/jsonschema"
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

// quickSchema accepts most files without compiling the published schema, which takes longer than everything else about
// a file.
var quickSchema = sync.OnceValue(func() *jsonschema.Quick { return jsonschema.TrustedQuick(schema.Shapes()) })

// validate checks a file's value against the published schema and returns the problems in toolx's words with their
// positions.
func validate(root *node, file string) []placed {
	plain := root.plain()
	if quickSchema().Fits(plain) {
		return nil
	}
	compiled, err := compiledSchema()
	if err == nil {
		var result *gojsonschema.Result
		if result, err = compiled.Validate(gojsonschema.NewRawLoader(plain)); err == nil {
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

// locate finds the value of a result.
func locate(root *node, context *gojsonschema.JsonContext) value {
	// A key cannot contain this delimiter.
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

// shapeWords explains a result and how to fix it; empty if it is not an error here, or the decoder reports it better.
func shapeWords(v value, result gojsonschema.ResultError) (text, fix string) {
	details := result.Details()
	switch result.Type() {
	case "additional_property_not_allowed": // the decoder warns
	case "number_one_of": // command or url: the decoder reports it
	case "invalid_type":
		return wrongType(v, fmt.Sprint(details["expected"]))
	case "required":
		property := fmt.Sprint(details["property"])
		return fmt.Sprintf("'%s' is missing", property), missingFix(property)
	case "enum":
		return fmt.Sprintf("unknown value %s, expected one of %s", v.shown(), allowed(details["allowed"])), ""
	case "string_gte":
		if v.kind != kindText {
			break // an empty key has its own result
		}
		return "is empty", "give it a value, or remove the key"
	case "number_gte":
		return fmt.Sprintf("%s is too small, the minimum is %s", v.shown(), limitOf(details["min"])), ""
	case "number_lte":
		return fmt.Sprintf("%s is too large, the maximum is %s", v.shown(), limitOf(details["max"])), ""
	case "pattern":
		return fmt.Sprintf("%s does not have the expected form", v.shown()), "docs/config.md shows the forms"
	case "invalid_property_name":
		return "contains an empty name", "give every entry a name"
	default:
		return result.Description(), ""
	}
	return "", ""
}

// missingFix shows how to write a required key.
func missingFix(property string) string {
	switch property {
	case "implementation":
		return "add for example implementation: {type: mock, mock_response: hello}"
	case "type":
		return "add for example type: mock"
	}
	return fmt.Sprintf("add %s: …", property)
}

// wrongType names the actual and the expected type.
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

// shown quotes a scalar for a message, unless its key is that of a secret.
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

// described returns the kind of v, followed by the value of a scalar.
func (v value) described() string {
	switch v.kind {
	case kindBool, kindNumber:
		return "the " + strings.TrimPrefix(v.kind.String(), "a ") + " " + v.shown()
	case kindText:
		return "text " + v.shown()
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
