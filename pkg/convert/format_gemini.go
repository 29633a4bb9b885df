package convert

import (
	"encoding/json"
	"slices"
	"strings"

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

// isPythonGeminiCall recognises Gemini's call as its Python library spells it, unless it is a function_call of OpenAI,
// which is deprecated.
func isPythonGeminiCall(fields members) bool {
	call, ok := fields.object("function_call")
	return ok && !call.has("arguments")
}

// geminiVariant returns which of two schemas a declaration has.
func geminiVariant(element members) Format {
	if looksLikeGeminiJSON(element) && !element.has("parameters") {
		return GeminiJSON
	}
	return Gemini
}

// geminiMost is how many function declarations Gemini takes in a request.
const geminiMost = 512

// geminiNames returns the rule that the API's error message gives, which is stricter than the documentation: 64
// characters, and no colon.
func geminiNames() nameRule {
	return nameRule{longest: longestName, signs: "_.-", notFirst: "0123456789.-"}
}

// geminiDocument wraps the declarations as a request has them. An empty list of declarations is refused, so there is
// none.
func geminiDocument(tools []json.RawMessage) []byte {
	if len(tools) == 0 {
		return []byte("[]")
	}
	return slices.Concat([]byte(`[{"functionDeclarations":`), rawjson.Array(tools), []byte(`}]`))
}

func looksLikeGeminiJSON(element members) bool {
	return element.has("parametersJsonSchema", "parameters_json_schema")
}

func looksLikeGemini(element members) bool {
	return element.has(nameMember) && hasGeminiTypes(element.get("parameters"))
}

// fromGemini makes JSON Schema of parameters.
func fromGemini(element members) (members, error) {
	element = element.rename("parameters_json_schema", "parametersJsonSchema")
	if element.has("parametersJsonSchema") && !element.has("parameters") {
		return element.rename("parametersJsonSchema", "parameters"), nil
	}
	if parameters := element.get("parameters"); isObjectText(parameters) {
		element = element.with("parameters", plainSchema(parameters))
	}
	return element, nil
}

func fromGeminiJSON(element members) (members, error) {
	element = element.rename("parameters_json_schema", "parametersJsonSchema")
	if parameters := element.get("parameters"); isObjectText(parameters) && !element.has("parametersJsonSchema") {
		element = element.with("parameters", plainSchema(parameters)).rename("parameters", "parametersJsonSchema")
	}
	return element, nil
}

// hasGeminiTypes reports whether a schema, or one in it, has a type in capitals.
func hasGeminiTypes(schema json.RawMessage) bool {
	list := membersOf(schema)
	if kind := list.text("type"); kind != "" && kind == strings.ToUpper(kind) && strings.ToLower(kind) != kind {
		return true
	}
	for property := range rawjson.Each(list.get("properties")) {
		if hasGeminiTypes(property.Value) {
			return true
		}
	}
	alternatives, _ := rawjson.Elements(list.get("anyOf"))
	return slices.ContainsFunc(alternatives, hasGeminiTypes) || list.has("items") && hasGeminiTypes(list.get("items"))
}

// plainSchema makes JSON Schema of one of Gemini's: types in small letters, nullable as one of them, counts as numbers.
func plainSchema(schema json.RawMessage) json.RawMessage {
	list := membersOf(schema)
	if list == nil {
		return schema
	}
	nullable := string(rawjson.Compact(list.get("nullable"))) == "true"
	changed := members{}
	for _, member := range list {
		if member.Name == "nullable" || member.Name == "type" && rawjson.Unquote(member.Value) == "TYPE_UNSPECIFIED" {
			continue
		}
		member.Value = plainKeyword(member, nullable)
		changed = append(changed, member)
	}
	return rawjson.Object(changed)
}

// plainKeyword returns the value of one keyword in JSON Schema.
func plainKeyword(member rawjson.Member, nullable bool) json.RawMessage {
	switch member.Name {
	case "type":
		return plainType(member.Value, nullable)
	case "enum":
		return withNull(member.Value, json.RawMessage("null"), nullable)
	case "anyOf":
		return withNull(eachElement(member.Value, plainSchema), json.RawMessage(`{"type":"null"}`), nullable)
	case "items":
		return plainSchema(member.Value)
	case "properties":
		return eachMember(member.Value, plainSchema)
	case "minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties":
		return plainCount(member.Value)
	}
	return member.Value
}

// plainType writes the type, beside null where that is allowed.
func plainType(kind json.RawMessage, nullable bool) json.RawMessage {
	if !rawjson.IsString(kind) {
		return kind
	}
	quoted := rawjson.Quote(strings.ToLower(rawjson.Unquote(kind)))
	if !nullable {
		return quoted
	}
	return rawjson.Array([]json.RawMessage{quoted, json.RawMessage(`"null"`)})
}

// withNull adds an element to an array where null is allowed.
func withNull(list, null json.RawMessage, nullable bool) json.RawMessage {
	elements, ok := rawjson.Elements(list)
	if !ok || !nullable {
		return list
	}
	for _, element := range elements {
		if rawjson.Same(element, null) {
			return list
		}
	}
	return rawjson.Array(append(slices.Clone(elements), null))
}

// plainCount reads the 64-bit numbers that protobuf's JSON writes as strings.
func plainCount(count json.RawMessage) json.RawMessage {
	if !rawjson.IsString(count) {
		return count
	}
	digits := rawjson.Unquote(count)
	if digits == "" || strings.Trim(digits, "0123456789") != "" || (digits[0] == '0' && digits != "0") {
		return count
	}
	return json.RawMessage(digits)
}

func eachElement(list json.RawMessage, change func(json.RawMessage) json.RawMessage) json.RawMessage {
	elements, ok := rawjson.Elements(list)
	if !ok {
		return list
	}
	changed := make([]json.RawMessage, len(elements))
	for i, element := range elements {
		changed[i] = change(element)
	}
	return rawjson.Array(changed)
}

func eachMember(text json.RawMessage, change func(json.RawMessage) json.RawMessage) json.RawMessage {
	list, ok := rawjson.Members(text)
	if !ok {
		return text
	}
	changed := slices.Clone(list)
	for i := range changed {
		changed[i].Value = change(changed[i].Value)
	}
	return rawjson.Object(changed)
}
