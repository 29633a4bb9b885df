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
	// The API rejects the schema of an object without properties, so a tool without parameters has no schema.
	plain.layout.bare = true
	return []*record{&plain, {
		format: GeminiJSON, label: "Gemini JSON", names: geminiNames(), most: geminiMost,
		layout: flat("parametersJsonSchema"), aliases: []string{"parameters_json_schema"},
		marks: looksLikeGeminiJSON, prepare: fromGeminiJSON, document: geminiDocument,
		schema: openProfile(),
		family: Gemini, ids: plain.ids, result: plain.result,
	}}
}

// geminiProfile is the Schema of Google's API, a subset of OpenAPI 3.0 with upper-case types.
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

// isPythonGeminiCall reports whether an object is a call in the Python library's spelling, and not OpenAI's deprecated
// function_call.
func isPythonGeminiCall(fields *node) bool {
	call := fields.Get("function_call")
	return call.IsObject() && !call.Has("arguments")
}

// geminiVariant returns the format of a declaration, by its kind of schema.
func geminiVariant(element *node) Format {
	if looksLikeGeminiJSON(element) && !element.Has("parameters") {
		return GeminiJSON
	}
	return Gemini
}

// geminiMost is the limit of function declarations in a request to Gemini.
const geminiMost = 512

// geminiNames returns the rule in the API's error message, which is stricter than the documentation: 64 characters, no
// colon.
func geminiNames() nameRule {
	return nameRule{longest: longestName, signs: "_.-", notFirst: "0123456789.-"}
}

// geminiDocument wraps the declarations as in a request. The API rejects an empty list, so there is none.
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

// hasGeminiTypes reports whether a schema or one of its subschemas has an upper-case type.
func hasGeminiTypes(schema *node) bool {
	if kind := schema.Get("type").Text(); kind == strings.ToUpper(kind) && strings.ToLower(kind) != kind {
		return true
	}
	capital := func(m member) bool { return hasGeminiTypes(m.Node) }
	return slices.ContainsFunc(schema.Get("properties").Members(), capital) ||
		slices.ContainsFunc(schema.Get("anyOf").Elements(), hasGeminiTypes) ||
		schema.Has("items") && hasGeminiTypes(schema.Get("items"))
}

// plainSchema converts one of Gemini's schemas to JSON Schema: lower-case types, nullable as a type, and counts as
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

// plainKeyword converts the value of one keyword to JSON Schema.
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

// plainType returns the type in lower case, with null if it is allowed.
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

// plainCount converts 64-bit numbers, which protobuf's JSON writes as strings.
func plainCount(count *node) *node {
	digits := count.Text()
	if digits == "" || strings.Trim(digits, "0123456789") != "" || (digits[0] == '0' && digits != "0") {
		return count
	}
	return valueOf(digits)
}
