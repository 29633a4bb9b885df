package convert

import (
	"encoding/json"
	"slices"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

func geminiFormats() []*record {
	plain := record{
		format: Gemini, label: "Gemini", names: geminiNames(), most: geminiMost, layout: flat("parameters"),
		marks: looksLikeGemini, prepare: fromGemini, document: geminiDocument, variant: geminiVariant,
		lists:  []string{"functionDeclarations", "function_declarations"},
		schema: geminiProfile,
		calls: []callShape{
			{holds("functionCall"), within("functionCall", shapedAs(Gemini, "id", "args"))},
			{isPythonGeminiCall, within("function_call", shapedAs(Gemini, "id", "args"))},
		},
		family: Gemini, ids: idRule{optional: true},
		result: resultForm{
			turn: "parts",
			result: `{"functionResponse":{"id":"$id","name":"$name",
				"response":{"output":"$output","error":"$error"}}}`,
		},
	}
	// The schema of an object without properties is refused, so a tool without parameters has none.
	plain.layout.bare = true
	return []*record{&plain, {
		format: GeminiJSON, label: "Gemini JSON", names: geminiNames(), most: geminiMost,
		layout: flat("parametersJsonSchema"), aliases: []string{"parameters_json_schema"},
		marks: looksLikeGeminiJSON, prepare: fromGeminiJSON, document: geminiDocument,
		schema: openProfile(),
		family: Gemini, ids: plain.ids, result: plain.result,
	}}
}

// geminiProfile is the Schema of Google's API, a subset of OpenAPI 3.0 with types in capitals.
var geminiProfile = profile{
	keywords: []string{
		"type", "format", "title", "description", "nullable", "enum", "items", "minItems", "maxItems", "properties",
		"required", "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf",
		"propertyOrdering", "default", "minimum", "maximum",
	},
	formats:          []string{"enum", "date-time", "float", "double", "int32", "int64"},
	openAPI:          true,
	itemsNeeded:      true,
	propertiesNeeded: true,
	noRootUnions:     true,
	key:              pattern(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`),
}

// isPythonGeminiCall recognises Gemini's call in its Python library's spelling, unless it is OpenAI's deprecated
// function_call.
func isPythonGeminiCall(fields *node) bool {
	call := fields.Get("function_call")
	return call.IsObject() && !call.Has("arguments")
}

// geminiVariant returns which of the two kinds of schema a declaration has.
func geminiVariant(element *node) Format {
	if looksLikeGeminiJSON(element) && !element.Has("parameters") {
		return GeminiJSON
	}
	return Gemini
}

// geminiMost bounds the function declarations in a request to Gemini.
const geminiMost = 512

// geminiNames returns the rule in the API's error message, which is stricter than the documentation: 64 characters, and
// no colon.
func geminiNames() nameRule {
	return nameRule{longest: longestName, signs: "_.-", notFirst: "0123456789.-"}
}

// geminiDocument wraps the declarations as in a request. An empty list is refused, so there is none.
func geminiDocument(tools []json.RawMessage) []byte {
	if len(tools) == 0 {
		return []byte("[]")
	}
	return slices.Concat([]byte(`[{"functionDeclarations":`), rawjson.Array(tools), []byte(`}]`))
}

func looksLikeGeminiJSON(element *node) bool {
	return element.Has("parametersJsonSchema", "parameters_json_schema")
}

func looksLikeGemini(element *node) bool {
	return element.Has(nameMember) && hasGeminiTypes(element.Value("parameters"))
}

// fromGemini converts parameters to JSON Schema.
func fromGemini(element *node) (*node, error) {
	element = withName(element, "parameters_json_schema", "parametersJsonSchema")
	if !element.Has("parameters") {
		return withName(element, "parametersJsonSchema", "parameters"), nil
	}
	if parameters := element.Get("parameters"); parameters.IsObject() {
		element = with(element, "parameters", plainSchema(parameters))
	}
	return element, nil
}

func fromGeminiJSON(element *node) (*node, error) {
	element = withName(element, "parameters_json_schema", "parametersJsonSchema")
	if parameters := element.Get("parameters"); parameters.IsObject() && !element.Has("parametersJsonSchema") {
		element = withName(with(element, "parameters", plainSchema(parameters)), "parameters", "parametersJsonSchema")
	}
	return element, nil
}

// hasGeminiTypes reports whether a schema, or one in it, has a type in capitals.
func hasGeminiTypes(schema *node) bool {
	if kind := schema.Get("type").Text(); kind == strings.ToUpper(kind) && strings.ToLower(kind) != kind {
		return true
	}
	capital := func(m member) bool { return hasGeminiTypes(m.Node) }
	return slices.ContainsFunc(schema.Get("properties").Members(), capital) ||
		slices.ContainsFunc(schema.Get("anyOf").Elements(), hasGeminiTypes) ||
		schema.Has("items") && hasGeminiTypes(schema.Get("items"))
}

// plainSchema converts one of Gemini's schemas to JSON Schema: types in lower case, nullable as a type, counts as
// numbers.
func plainSchema(schema *node) *node {
	if !schema.IsObject() {
		return schema
	}
	nullable := schema.Get("nullable").Is("true")
	plain := schema.Clone()
	plain.Keep(func(m member) bool {
		return m.Name != "nullable" && !(m.Name == "type" && m.Node.Text() == "TYPE_UNSPECIFIED")
	})
	return plain.Map(func(_ int, m member) *node { return plainKeyword(m, nullable) })
}

// plainKeyword returns the value of one keyword in JSON Schema.
func plainKeyword(m member, nullable bool) *node {
	inside := func(_ int, one member) *node { return plainSchema(one.Node) }
	switch m.Name {
	case "type":
		return plainType(m.Node, nullable)
	case "enum":
		return withNull(m.Node, valueOf("null"), nullable)
	case "anyOf":
		return withNull(m.Node.Map(inside), jsonschema.Build("type", "null"), nullable)
	case "items":
		return plainSchema(m.Node)
	case "properties":
		return m.Node.Map(inside)
	case "minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties":
		return plainCount(m.Node)
	}
	return m.Node
}

// plainType writes the type, and null if it is allowed.
func plainType(kind *node, nullable bool) *node {
	switch name := strings.ToLower(kind.Text()); {
	case !kind.IsString():
		return kind
	case nullable:
		return jsonschema.Strings([]string{name, "null"})
	default:
		return jsonschema.Quoted(name)
	}
}

// withNull adds an element to an array if null is allowed.
func withNull(list, null *node, nullable bool) *node {
	if !list.IsArray() || !nullable || containsJSON(list.Elements(), null) {
		return list
	}
	return jsonschema.List(append(list.Elements(), null)...)
}

// plainCount reads the 64-bit numbers that protobuf's JSON writes as strings.
func plainCount(count *node) *node {
	digits := count.Text()
	if digits == "" || strings.Trim(digits, "0123456789") != "" || (digits[0] == '0' && digits != "0") {
		return count
	}
	return valueOf(digits)
}
