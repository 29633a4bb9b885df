package decode

import (
	"cmp"
	"fmt"
)

// providerDecoders know what the APIs of language models say of the tools that a
// client passes on to them. One tool that they refuse costs the whole request, and
// with it the tools of all servers. What names a fault comes before what only says
// that there is one.
func providerDecoders() []decoder {
	return append(append(toolNameDecoders(), toolSchemaDecoders()...), vagueProviderDecoders()...)
}

// refused is the diagnosis of tools that a model's API does not take.
func refused(what, stood, fix string, checks ...string) func([]string) Diagnosis {
	return always(Diagnosis{Title: "the model's API refuses " + what, Stood: stood, Fix: []string{"in the server: " + fix}, Checks: checks})
}

// toolNameDecoders know what is said of names, descriptions and the number of tools.
func toolNameDecoders() []decoder {
	shorter := always(Diagnosis{
		Title: "the model's API refuses a tool's name", Stood: "a tool with a name that is too long together with its server's, or has a dot, blank or slash in it",
		Fix: []string{
			"in the server: names of letters, digits, _ and -, at most 64 with the server's name",
			"from outside: give the server a shorter name in the config",
		},
		Checks: []string{"tool-name-chars", "tool-name-length"},
	})
	return []decoder{
		{pattern: `(?i)tools(?:\.\d+|\[\d+\])\S*description\S*:? (?:string (?:too long|should have at most)|.{0,30}too long)`, explain: refused(
			"a tool's description", "a tool with a description of more than 1,024 characters or whatever the model takes",
			"say in a few sentences what the tool is for", "tool-description-long",
		)},
		{pattern: `(?i)array too long.{0,60}maximum length (\d+)|too many (?:tools|functions)|at most \d+ (?:tools|function declarations)`, explain: tooManyTools},
		{pattern: `(?i)tool names? must be unique|duplicate (?:function declaration|tool name|function name)`, explain: refused(
			"two tools of one name", "two tools with one name, of one server or of several",
			"give each tool a name of its own", "tool-duplicate", "tool-name-collision",
		)},
		{pattern: `(?i)(?:properties|property keys?)\S*.{0,40}should match pattern`, explain: refused(
			"a parameter's name", "a tool with a parameter whose name has blanks, dollars or brackets, or more than 64 characters",
			"names of letters, digits, _, - and .", "param-name-chars",
		)},
		{pattern: `(?i)should match pattern '\^\[a-zA-Z0-9_-\]\{1,\d+\}\$'|tools?(?:\.\d+|\[\d+\])\S*name\S*:? string (?:should match|does not match|too long)` +
			`|[Ii]nvalid.{0,30}function name|function_declarations\[\d+\]\.name|[Tt]ool names? must be`, explain: shorter},
	}
}

// tooManyTools repeats the number that the message names.
func tooManyTools(m []string) Diagnosis {
	return Diagnosis{
		Title:  "the model's API refuses so many tools",
		Stood:  fmt.Sprintf("more than %s tools of all servers together", cmp.Or(m[1], "the model takes")),
		Fix:    []string{"in the client: turn off servers, or tools of them, that are not needed"},
		Checks: []string{"tools-all-servers", "tokens-all-servers"},
	}
}

// toolSchemaDecoders know what is said of schemas.
func toolSchemaDecoders() []decoder {
	return []decoder{
		{pattern: `(?i)(?:input_schema|schema).{0,60}(?:oneOf|allOf|anyOf).{0,60}top level|type 'object' and not have '(?:oneOf|anyOf|allOf)`, explain: refused(
			"a tool's schema", "a tool whose inputSchema has oneOf, anyOf or allOf at its root",
			"put the choice into a property, and leave type: object at the root", "input-schema-root-combinator",
		)},
		{pattern: `(?i)input_schema\.type|schema must (?:be a JSON Schema of|have) '?type|object schema missing properties`, explain: refused(
			"a tool's schema", "a tool whose inputSchema is not of type object, or names no properties",
			`"inputSchema": {"type": "object", "properties": {}} for tools without parameters`, "input-schema-type", "input-schema-missing",
		)},
		{pattern: `(?i)should be non-empty for OBJECT type`, explain: refused(
			"a tool's schema (Gemini)", "a tool with a parameter, or an inputSchema, of type object that describes no properties",
			"describe the object's properties; a free one can be a string of JSON; a tool without parameters needs no more than {\"type\": \"object\"}, which the client must leave out for Gemini",
			"schema-untyped", "input-schema-type",
		)},
		{pattern: `(?i)(?:properties|required|enum|items)\S*: only allowed for (\w+) type|array schema missing items|items: missing field|missing types in its parameter schema`, explain: refused(
			"a tool's schema", "a parameter whose type is missing, or is another than what is said of it: an array without items, properties of what is no object",
			`give each parameter its type, and each array its items: {"type": "array", "items": {"type": "string"}}`, "schema-untyped", "schema-type-union", "schema-invalid",
		)},
		{pattern: `(?i)extra required key|required\S*: property is not defined`, explain: refused(
			"a tool's schema", "a schema that requires a property which it does not describe, or a strict mode in which all properties must be required",
			"name in required only what properties has", "schema-required-unknown",
		)},
		{pattern: `(?i)\bUnknown name "([^"]+)" at '(?:request\.)?tools`, explain: func(m []string) Diagnosis {
			return refused("a tool's schema (Gemini)", fmt.Sprintf("a schema with the keyword %q, which the API does not know", m[1]),
				"leave the keyword out, or let the client send the schema as JSON Schema", "schema-unknown-keyword", "schema-type-union")(m)
		}},
		{pattern: `(?i)JSON schema is invalid|must match JSON Schema draft|Invalid schema for function '([^']*)'|\binvalid_function_parameters\b`, explain: invalidSchema},
	}
}

// invalidSchema names the tool where the message does.
func invalidSchema(m []string) Diagnosis {
	stood := "a tool whose inputSchema is no valid JSON Schema, or has what the API does not take"
	if m[1] != "" {
		stood = fmt.Sprintf("the tool %q, whose inputSchema is no valid JSON Schema, or has what the API does not take", m[1])
	}
	return refused("a tool's schema", stood, "mend what the message names behind this; a plain schema of type object with typed properties passes everywhere",
		"schema-invalid", "input-schema-type", "input-schema-root-combinator", "schema-dialect", "schema-untyped")(m)
}

// vagueProviderDecoders know the words that say only that something was refused.
func vagueProviderDecoders() []decoder {
	return []decoder{
		{pattern: `\btool_use_failed\b|Failed to call a function\. Please adjust your prompt|tool call validation failed`, explain: always(Diagnosis{
			Title: "the model's call did not fit the tool's schema", Stood: "a call that the model wrote, with a wrong name or wrong arguments; the API gave it up before any server saw it (Groq)",
			Fix: []string{
				"in the server: simple schemas, with types and descriptions for every parameter; fewer tools of similar names",
				"from outside: another model, or fewer tools at once",
			},
			Checks: []string{"schema-untyped", "param-description-missing", "tool-description-missing", "schema-combos", "schema-type-union"},
		})},
		{pattern: `(?i)\btools?(?:\.\d+|\[\d+\])|function_declarations\[\d+\]`, explain: refused(
			"a tool", "a tool with a definition that the API does not take; the number counts the tools of all servers from 0",
			"mend what the message names behind the number", "schema-invalid", "input-schema-type", "tool-name-chars",
		)},
		{pattern: `\binvalid_request_error\b|\bINVALID_ARGUMENT\b`, explain: refused(
			"the request", "most often a tool with a name or a schema that the API does not take; the message beside this word says which",
			"mend what the message names", "schema-invalid", "input-schema-type", "tool-name-chars", "tools-all-servers",
		)},
	}
}
