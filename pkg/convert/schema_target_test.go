package convert

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"toolx/pkg/jsonschema"
)

// TestFitUnchanged holds that a schema which needs no change comes out byte for byte, spaces, digits and the order of
// members included (CONV-5).
func TestFitUnchanged(t *testing.T) {
	schema := `{ "type": "object", "properties": {
	  "zeta": {"type": "string", "description": "<b> & é \u00e9", "minLength": 1},
	  "alpha": {"type": "number", "default": 1.50, "maximum": 12345678901234567890.10},
	  "list": {"type": "array", "items": {"type": "integer"}, "uniqueItems": true}
	}, "required": ["zeta"], "additionalProperties": false, "$schema": "http://json-schema.org/draft-07/schema#" }`
	for _, to := range []Format{
		MCP, LangChain, Qwen, Hermes, OpenAI, Responses, Mistral, Cohere, Anthropic, Bedrock, GeminiJSON,
	} {
		fitCase{to: to, schema: schema, want: "same"}.run(t)
	}
}

// TestFitAnything holds that MCP and LangChain take any JSON Schema as it is.
func TestFitAnything(t *testing.T) {
	schema := `{"oneOf":[{"$ref":"other.json"}],"items":[true]}`
	for _, to := range []Format{MCP, LangChain} {
		fitCase{to: to, schema: schema, want: "same"}.run(t)
	}
}

func TestFitWithoutSchema(t *testing.T) {
	for _, schema := range []string{"", "null", "true"} {
		for _, to := range []Format{MCP, Qwen, Ollama, OpenAI, Anthropic} {
			fitCase{to: to, schema: schema, want: `{"type":"object","properties":{}}`}.run(t)
		}
	}
	for _, schema := range []string{"false", `"text"`, "[1]"} {
		fitCase{to: Qwen, schema: schema, err: "not an object but " + schema}.run(t)
	}
	fitCase{to: Qwen, schema: `{"a"`, err: "not valid JSON"}.run(t)
	fitCase{to: Qwen, schema: `{"type":"string"}`, err: "allows only string, but arguments are always an object"}.run(t)
}

// TestFitPropertyNames holds that a property is a property, whatever its name. LangChain's google-genai deletes
// properties named strict, $schema and additionalProperties; gemini-cli reads a property named $ref as a ref.
func TestFitPropertyNames(t *testing.T) {
	names := []string{
		"items", "type", "strict", "$schema", "$ref", "additionalProperties", "enum", "required", "properties",
		"anyOf", "oneOf", "allOf", "not", "const", "default", "nullable", "$defs", "definitions", "description",
		"format",
	}
	properties := make([]string, len(names))
	for i, name := range names {
		properties[i] = `"` + name + `":{"type":"string"}`
	}
	schema := `{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`
	for _, to := range []Format{Qwen, Ollama, OpenAI, Bedrock, GeminiJSON} {
		fitCase{to: to, schema: schema, want: "same"}.run(t)
	}
	got, err := fit(json.RawMessage(schema), OpenAIStrict)
	if err != nil {
		t.Fatal(err)
	}
	o := jsonschema.NewNode(got.schema)
	for _, name := range names {
		if !o.Get("properties").Has(name) {
			t.Errorf("strict lost the property %s", name)
		}
	}
}

// TestFitDataPositions holds that values are never taken for schemas.
func TestFitDataPositions(t *testing.T) {
	schema := `{"type":"object","properties":{"a":{"type":"object","default":{"$ref":"#/nope","oneOf":[]},` +
		`"enum":[{"const":1}],"const":{"const":1},"examples":[{"$ref":"x"}]}}}`
	for _, to := range []Format{Qwen, OpenAI, Anthropic, Bedrock} {
		fitCase{to: to, schema: schema, want: "same"}.run(t)
	}
}

func TestFitQwen(t *testing.T) {
	runFitCases(t, []fitCase{
		{
			name: "properties are guaranteed", to: Qwen,
			schema: `{"type":"object"}`,
			want:   `{"type":"object","properties":{}}`,
		},
		{
			name: "const is an enum too", to: Qwen,
			schema: `{"type":"object","properties":{"k":{"const":"a"}}}`,
			want:   `{"type":"object","properties":{"k":{"const":"a","enum":["a"]}}}`,
		},
		{
			name: "root alternatives stay", to: Qwen,
			schema: `{"type":"object","properties":{},"oneOf":[{"required":["a"]},{"required":["b"]}]}`,
			want:   `{"type":"object","properties":{},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			losses: []string{"lossy: : changed oneOf to anyOf"},
		},
		{
			name: "allOf that cannot be merged stays", to: Qwen,
			schema: `{"type":"object","properties":{"a":{"allOf":[{"pattern":"a"},{"pattern":"b"}]}}}`,
			want:   "same",
			losses: []string{
				"info: a: kept a pattern without ^ and $ around it, which llama.cpp cannot make a grammar of,",
			},
		},
		{
			name: "what llama.cpp cannot make a grammar of", to: Qwen,
			schema: `{"type":"object","properties":{"to":{"type":"array","items":{"pattern":"^(?!\\.)[a-z]+$"}},"text":{"maxLength":10000}}}`,
			want:   "same",
			losses: []string{
				"info: to[]: kept a pattern with a look-ahead, which llama.cpp cannot make a grammar of,",
				"info: text: kept maxLength 10000, which llama.cpp cannot make a grammar of,",
			},
		},
		{
			name: "limits of a grammar that the target does not hold (what is left of them)", to: Ollama,
			schema: `{"type":"object","properties":{"when":{"type":"string","pattern":"^\\d+$"},"all":{"type":"array","items":{"type":"string","pattern":"^\\w$"}}}}`,
			want:   `{"type":"object","properties":{"when":{"type":"string","description":"(pattern: ^\\d+$)"},"all":{"type":"array","items":{"type":"string","pattern":"^\\w$"}}}}`,
			losses: []string{
				"info: when: moved pattern to the description",
				"info: all[]: kept a pattern with \\w, which llama.cpp cannot make a grammar of,",
			},
		},
		{
			name: "malformed words of a server (ollama#18051)", to: Qwen,
			schema: `{"type":"object","properties":null,"required":null}`,
			want:   `{"type":"object","properties":{}}`,
			losses: []string{"info: : dropped malformed properties", "info: : dropped malformed required"},
		},
	})
}

func TestFitOllama(t *testing.T) {
	runFitCases(t, []fitCase{
		{
			name: "what is lost becomes a hint", to: Ollama,
			schema: `{"type":"object","properties":{"n":{"type":"integer","description":"How many.","default":5,"minimum":1}},"required":["n"]}`,
			want:   `{"type":"object","required":["n"],"properties":{"n":{"type":"integer","description":"How many. (default: 5; minimum: 1)"}}}`,
			losses: []string{"info: n: moved default to the description", "info: n: moved minimum to the description"},
		},
		{
			name: "nested required is erased (ollama-python#429)", to: Ollama,
			schema: `{"type":"object","properties":{"o":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}`,
			want:   `{"type":"object","properties":{"o":{"type":"object","description":"(required: a)","properties":{"a":{"type":"string"}}}}}`,
			losses: []string{"info: o: moved required to the description"},
		},
		{
			name: "below items everything survives", to: Ollama,
			schema: `{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string","minLength":2}},"required":["a"],"additionalProperties":false}}}}`,
			want:   "same",
		},
		{
			name: "the root's description is the tool's", to: Ollama,
			schema: `{"type":"object","description":"Takes a name.","properties":{},"minProperties":1}`,
			want:   `{"type":"object","properties":{}}`,
			hint:   "(Takes a name.; minProperties: 1)",
			losses: []string{"info: : moved minProperties to the description"},
		},
		{
			name: "an empty text is quoted, and an empty description none", to: Ollama,
			schema: `{"type":"object","description":"","properties":{"a":{"type":"string","default":""},"b":{"type":"string","default":" b"}}}`,
			want:   `{"type":"object","properties":{"a":{"type":"string","description":"(default: \"\")"},"b":{"type":"string","description":"(default: \" b\")"}}}`,
			losses: []string{"info: a: moved default to the description", "info: b: moved default to the description"},
		},
		{
			name: "a boolean schema is refused by its types", to: Ollama,
			schema: `{"type":"object","properties":{"a":true,"b":false}}`,
			want:   `{"type":"object","properties":{"a":{}}}`,
			losses: []string{"info: b: dropped property that allows no value"},
		},
		{
			name: "numbers that a float64 cannot hold", to: Ollama,
			schema: `{"type":"object","properties":{"id":{"enum":[9007199254740993]}}}`,
			want:   `{"type":"object","properties":{"id":{"type":"integer","description":"(one of: 9007199254740993)"}}}`,
			losses: []string{"info: id: moved enum to the description"},
		},
		{
			name: "maps", to: Ollama,
			schema: `{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"integer"}}}}`,
			want:   `{"type":"object","properties":{"m":{"type":"object","description":"(values: integer)"}}}`,
			losses: []string{"info: m: moved additionalProperties to the description"},
		},
		{
			name: "refs are erased, so that they are replaced", to: Ollama,
			schema: `{"type":"object","properties":{"u":{"$ref":"#/$defs/U"}},"$defs":{"U":{"const":"x"}}}`,
			want:   `{"type":"object","properties":{"u":{"type":"string","enum":["x"]}}}`,
			losses: []string{"info: u: changed $ref to its definition", "info: u: changed const to enum"},
		},
	})
}

func TestFitOpenAI(t *testing.T) {
	cases := []fitCase{
		{
			name:   "arrays need items",
			schema: `{"type":"object","properties":{"a":{"type":"array"}}}`,
			want:   `{"type":"object","properties":{"a":{"type":"array","items":{}}}}`,
			losses: []string{"info: a: changed missing items to items of any type"},
		},
		{
			name:   "$defs and recursion stay (AgentScope#1591, langchain#9419)",
			schema: `{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}}}}}`,
			want:   "same",
		},
		{
			name:   "a root that is a ref",
			schema: `{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}`,
			want:   `{"$defs":{"A":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}},"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
			losses: []string{"info: : changed $ref to its definition"},
		},
		{
			name:   "the root's allOf",
			schema: `{"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b"]}]}`,
			want:   `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}`,
			losses: []string{"info: : changed allOf to one schema"},
		},
		{
			name:   "the root's not",
			schema: `{"type":"object","properties":{"a":{}},"not":{"required":["a"]}}`,
			want:   `{"type":"object","properties":{"a":{}}}`,
			losses: []string{"lossy: : dropped not"},
			hint:   `(not: {"required":["a"]})`,
		},
		{
			name:   "tuples of old drafts",
			schema: `{"type":"object","properties":{"t":{"type":"array","items":[{"type":"string"}],"additionalItems":false}}}`,
			want:   `{"type":"object","properties":{"t":{"type":"array","prefixItems":[{"type":"string"}],"items":false}}}`,
			losses: []string{"info: t: changed array of items to prefixItems"},
		},
	}
	for _, to := range []Format{OpenAI, Responses, Mistral} {
		for _, c := range cases {
			c.to = to
			t.Run(string(to)+" "+c.name, c.run)
		}
	}
}

// TestFitRootAlternatives holds that alternatives at the root stay alternatives. The LangChain adapter merges them so
// that the last const wins, and "circle" becomes impossible (langchainjs, pizza-bot#56).
func TestFitRootAlternatives(t *testing.T) {
	schema := `{"anyOf":[` +
		`{"type":"object","properties":{"kind":{"const":"circle"},"r":{"type":"number"}},"required":["kind","r"]},` +
		`{"type":"object","properties":{"kind":{"const":"sq"},"a":{"type":"number"}},"required":["kind","a"]}]}`
	for _, to := range []Format{OpenAI, Responses, Mistral, Cohere, Anthropic, Bedrock} {
		fitCase{
			to: to, schema: schema,
			want:   `{"type":"object","properties":{"kind":{"type":"string","enum":["circle","sq"]},"r":{"type":"number"},"a":{"type":"number"}},"required":["kind"]}`,
			hint:   "(needs kind and r, or kind and a)",
			losses: []string{"lossy: : changed anyOf at the root to optional properties"},
		}.run(t)
	}
	fitCase{
		to: Anthropic, schema: `{"anyOf":[{"type":"string"},{"type":"null"}]}`,
		err: "none of the alternatives in its input schema allows an object",
	}.run(t)
}

func TestFitOpenAIStrict(t *testing.T) {
	runFitCases(t, []fitCase{
		{
			name: "all are required, and what was optional may be null", to: OpenAIStrict,
			schema: `{"type":"object","properties":{"a":{"type":"string"},"b":{"enum":["x"]},"c":{"anyOf":[{"type":"string"},{"type":"integer"}]}},"required":["a"]}`,
			want: `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["string","null"],"enum":["x",null]},` +
				`"c":{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}},"required":["a","b","c"],"additionalProperties":false}`,
			losses: []string{"info: b: changed optional to null", "info: c: changed optional to null"},
		},
		{
			name: "what a ref leads to may be null already", to: OpenAIStrict,
			schema: `{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}},"required":[],"additionalProperties":false,"$defs":{"N":{"type":["string","null"]}}}`,
			want:   `{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}},"additionalProperties":false,"$defs":{"N":{"type":["string","null"]}},"required":["n"]}`,
		},
		{
			name: "branches whose values differ, behind refs and in unions, are apart", to: OpenAIStrict,
			schema: `{"type":"object","properties":{"n":{"oneOf":[{"$ref":"#/$defs/A"},{"anyOf":[{"const":"c"},{"const":"d"}]}]}},"required":["n"],"additionalProperties":false,"$defs":{"A":{"enum":["a","b"],"type":"string"}}}`,
			want:   `{"type":"object","properties":{"n":{"anyOf":[{"$ref":"#/$defs/A"},{"anyOf":[{"type":"string","const":"c"},{"type":"string","const":"d"}]}]}},"required":["n"],"additionalProperties":false,"$defs":{"A":{"enum":["a","b"],"type":"string"}}}`,
			losses: []string{"info: n: changed oneOf to anyOf"},
		},
		{
			name: "refs stand alone", to: OpenAIStrict,
			schema: `{"type":"object","properties":{"n":{"$ref":"#/$defs/N","description":"The first."}},"required":["n"],"additionalProperties":false,"$defs":{"N":{"type":"string"}}}`,
			want:   `{"type":"object","properties":{"n":{"description":"The first.","anyOf":[{"$ref":"#/$defs/N"}]}},"required":["n"],"additionalProperties":false,"$defs":{"N":{"type":"string"}}}`,
		},
		{
			name: "what restricts beside a ref is merged, a type is not needed", to: OpenAIStrict,
			schema: `{"type":"object","properties":{"n":{"$ref":"#/$defs/N","minimum":2},"m":{"$ref":"#/$defs/N","type":"integer"}},"required":["n","m"],"additionalProperties":false,"$defs":{"N":{"type":"integer","maximum":9}}}`,
			want:   `{"type":"object","properties":{"n":{"minimum":2,"type":"integer","maximum":9},"m":{"$ref":"#/$defs/N"}},"required":["n","m"],"additionalProperties":false,"$defs":{"N":{"type":"integer","maximum":9}}}`,
			losses: []string{"info: n: changed $ref to its definition", "lossy: m: dropped type beside $ref"},
		},
		{
			name: "what admits null stays as it is", to: OpenAIStrict,
			schema: `{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":["integer","null"]},{"type":"string"}]}},"required":[],"additionalProperties":false}`,
			want:   `{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":["integer","null"]},{"type":"string"}]}},"additionalProperties":false,"required":["a","b"]}`,
		},
		{
			name: "what it does not know is a hint", to: OpenAIStrict,
			schema: `{"type":"object","properties":{"a":{"type":"string","format":"uri","default":"x","minLength":1}},"required":["a"],"additionalProperties":false}`,
			want:   `{"type":"object","properties":{"a":{"type":"string","description":"(format: uri; default: x; minLength: 1)"}},"required":["a"],"additionalProperties":false}`,
			losses: []string{
				"lossy: a: dropped format", "info: a: moved default to the description",
				"lossy: a: dropped minLength",
			},
		},
		{
			name: "definitions that nothing needs cannot stand in the way", to: OpenAIStrict,
			schema: `{"$ref":"#/definitions/Root","$defs":{"A":{"type":"string"},"Any":{}},"definitions":{"B":{"$ref":"#/$defs/A"},"Root":{"properties":{"b":{"$ref":"#/definitions/B"}},"required":["b"]}}}`,
			want: `{"type":"object","$defs":{"A":{"type":"string"}},"definitions":{"B":{"$ref":"#/$defs/A"}},` +
				`"properties":{"b":{"$ref":"#/definitions/B"}},"required":["b"],"additionalProperties":false}`,
			losses: []string{"info: : changed $ref to its definition"},
		},
		{name: "map", to: OpenAIStrict, schema: `{"properties":{"m":{"additionalProperties":{"type":"string"}}}}`, err: "m: an object with arbitrary keys"},
		{name: "pattern map", to: OpenAIStrict, schema: `{"properties":{"m":{"patternProperties":{"x":{}}}}}`, err: "m: an object with arbitrary keys"},
		{name: "any", to: OpenAIStrict, schema: `{"properties":{"m":{"properties":{"x":{}}}}}`, err: "m.x: a value of any type"},
		{name: "open object", to: OpenAIStrict, schema: `{"properties":{"m":{"type":"object"}}}`, err: "m: an object without named properties"},
		{name: "list of any", to: OpenAIStrict, schema: `{"properties":{"l":{"type":"array"}}}`, err: "l: an array with items of any type"},
	})
}

// TestFitStrictLimits holds the limits of structured outputs.
func TestFitStrictLimits(t *testing.T) {
	var many []string
	for i := range 1001 {
		many = append(many, strconv.Itoa(i))
	}
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 11) + `{"type":"string"}` + strings.Repeat(`}}`, 11)
	runFitCases(t, []fitCase{
		{name: "depth", to: OpenAIStrict, schema: deep, err: "has 11 levels; strict allows at most 10"},
		{name: "enum", to: OpenAIStrict, schema: `{"properties":{"a":{"enum":[` + strings.Join(many, ",") + `]}}}`, err: "strict allows at most 1000"},
		{
			name: "size", to: OpenAIStrict,
			schema: `{"properties":{"a":{"enum":["` + strings.Repeat("x", 120_001) + `"]}}}`,
			err:    "strict allows at most 120000",
		},
	})
}

// TestFitMetaSchema holds what providers check against the meta-schema of JSON Schema: one word that breaks it takes
// the whole request down.
func TestFitMetaSchema(t *testing.T) {
	runFitCases(t, []fitCase{
		{
			name: "what stands twice", to: Anthropic,
			schema: `{"type":"object","properties":{"a":{"type":["string","null","string"],"enum":["x",null,"x"]}},"required":["a","a"]}`,
			want:   `{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x",null]}},"required":["a"]}`,
			losses: []string{
				"info: : dropped repeated entries of required",
				"info: a: dropped repeated entries of enum", "info: a: dropped repeated entries of type",
			},
		},
		{
			name: "what stands twice", to: Gemini,
			schema: `{"type":"object","properties":{"a":{"type":"string","enum":["x","x"]}},"required":["a","a"]}`,
			want:   `{"type":"OBJECT","properties":{"a":{"type":"STRING","enum":["x"]}},"required":["a"]}`,
			losses: []string{
				"info: : dropped repeated entries of required",
				"info: a: dropped repeated entries of enum",
			},
		},
		{
			name: "numbers that cannot be", to: OpenAI,
			schema: `{"type":"object","properties":{"a":{"type":"string","minLength":-1,"maxLength":1.5},"b":{"type":"integer","multipleOf":0},"c":{"type":"string","maxLength":2.0}}}`,
			want:   `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"},"c":{"type":"string","maxLength":2.0}}}`,
			losses: []string{
				"lossy: a: dropped malformed minLength", "lossy: a: dropped malformed maxLength",
				"lossy: b: dropped malformed multipleOf",
			},
		},
		{
			name: "words of the wrong kind", to: OpenAI,
			schema: `{"type":"object","properties":{"a":{"type":"array","items":{},"uniqueItems":"yes","deprecated":1,"$comment":2}},"$id":"x#y#","$anchor":"1","dependentRequired":{"a":"b"}}`,
			want:   `{"type":"object","properties":{"a":{"type":"array","items":{}}}}`,
			losses: []string{
				"info: : dropped malformed $id", "info: : dropped malformed $anchor",
				"lossy: : dropped malformed dependentRequired",
				"lossy: a: dropped malformed uniqueItems", "info: a: dropped malformed deprecated",
				"info: a: dropped malformed $comment",
			},
		},
	})
}

func TestFitAnthropic(t *testing.T) {
	runFitCases(t, []fitCase{
		{name: "key", to: Anthropic, schema: `{"properties":{"a b":{}}}`, err: `the property name "a b" does not match`},
		{name: "nested key (n8n#30590)", to: Anthropic, schema: `{"properties":{"o":{"properties":{"x/y":{}}}}}`, err: `o: the property name "x/y" does not match`},
		{
			name: "exclusive bounds of draft 4", to: Anthropic,
			schema: `{"type":"object","properties":{"n":{"type":"number","minimum":0,"exclusiveMinimum":true}}}`,
			want:   `{"type":"object","properties":{"n":{"type":"number","exclusiveMinimum":0}}}`,
			losses: []string{"info: n: changed minimum to exclusiveMinimum"},
		},
		{name: "no properties needed", to: Anthropic, schema: `{"type":"object"}`, want: "same"},
		{name: "type at the root", to: Anthropic, schema: `{}`, want: `{"type":"object"}`},
	})
}

func TestFitCohere(t *testing.T) {
	runFitCases(t, []fitCase{
		{name: "key", to: Cohere, schema: `{"type":"object","properties":{"1a":{}}}`, err: `the property name "1a" does not match`},
		{name: "nested key", to: Cohere, schema: `{"type":"object","properties":{"o":{"type":"object","properties":{"1-a":{}}}}}`, want: "same"},
	})
}

func TestFitGemini(t *testing.T) {
	runFitCases(t, []fitCase{
		{
			name: "bounds", to: Gemini,
			schema: `{"type":"object","properties":{"max_length":{"type":"integer","minimum":1,"exclusiveMaximum":10}}}`,
			want:   `{"type":"OBJECT","properties":{"max_length":{"type":"INTEGER","minimum":1,"description":"(exclusiveMaximum: 10)"}}}`,
			losses: []string{"lossy: max_length: dropped exclusiveMaximum"},
		},
		{
			name: "null keeps the type (mcp-adapters loses it)", to: Gemini,
			schema: `{"type":"object","properties":{"s":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}}}`,
			want:   `{"type":"OBJECT","properties":{"s":{"default":null,"nullable":true,"type":"STRING"}}}`,
			losses: []string{"info: s: changed null to nullable"},
		},
		{
			name: "types in a list", to: Gemini,
			schema: `{"type":"object","properties":{"s":{"type":["string","integer","null"],"minLength":2,"description":"D"}}}`,
			want:   `{"type":"OBJECT","properties":{"s":{"description":"D","nullable":true,"anyOf":[{"type":"STRING","minLength":2},{"type":"INTEGER"}]}}}`,
			losses: []string{"info: s: changed null to nullable", "info: s: changed list of types to anyOf"},
		},
		{
			name: "enum of numbers", to: Gemini,
			schema: `{"type":"object","properties":{"n":{"type":"integer","enum":[1,2]}}}`,
			want:   `{"type":"OBJECT","properties":{"n":{"type":"INTEGER","description":"(one of: 1, 2)"}}}`,
			losses: []string{"lossy: n: dropped enum"},
		},
		{
			name: "union of constants", to: Gemini,
			schema: `{"type":"object","properties":{"n":{"oneOf":[{"const":"a"},{"const":"b","title":"B"}]}}}`,
			want:   `{"type":"OBJECT","properties":{"n":{"type":"STRING","enum":["a","b"]}}}`,
			losses: []string{"info: n: changed oneOf to anyOf", "info: n: changed anyOf of constants to enum"},
		},
		{
			name: "oneOf and allOf do not stay (Vercel AI SDK)", to: Gemini,
			schema: `{"type":"object","properties":{"n":{"oneOf":[{"type":"string"},{"minLength":1}]},"a":{"allOf":[{"type":"string"},{"maxLength":3}]}}}`,
			want:   `{"type":"OBJECT","properties":{"n":{"anyOf":[{"type":"STRING"},{"type":"STRING","minLength":1}]},"a":{"type":"STRING","maxLength":3}}}`,
			losses: []string{"lossy: n: changed oneOf to anyOf", "info: a: changed allOf to one schema"},
		},
		{
			name: "recursion ends (Vercel AI SDK throws)", to: Gemini,
			schema: `{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","description":"A node.","properties":{"n":{"anyOf":[{"$ref":"#/$defs/N"},{"type":"null"}]}}}}}`,
			want: `{"type":"OBJECT","properties":{"n":{"type":"OBJECT","description":"A node.","properties":{"n":{"nullable":true,"type":"OBJECT","description":"A node.",` +
				`"properties":{"n":{"nullable":true,"type":"OBJECT","description":"A node."}}}}}}}`,
			losses: []string{
				"info: n: changed $ref to its definition", "info: n.n: changed null to nullable",
				"info: n.n: changed $ref to its definition",
				"info: n.n.n: changed null to nullable", "lossy: n.n.n: cut recursion",
			},
		},
		{
			name: "required that is no property", to: Gemini,
			schema: `{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"]}`,
			want:   `{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["a"]}`,
			losses: []string{"lossy: : dropped required b, which is not a property"},
		},
		{
			name: "empty strings and empty objects", to: Gemini,
			schema: `{"type":"object","properties":{"e":{"enum":["","a"]},"o":{"type":"object","properties":{}}}}`,
			want:   `{"type":"OBJECT","properties":{"e":{"type":"STRING","description":"(one of: \"\", a)"},"o":{"type":"OBJECT"}}}`,
			losses: []string{"lossy: e: dropped enum"},
		},
		{name: "key", to: Gemini, schema: `{"properties":{"a-b":{}}}`, err: `the property name "a-b" does not match`},
		{
			name: "conditional properties", to: Gemini,
			schema: `{"type":"object","properties":{"a":{"type":"string"}},"if":{"required":["a"]},"then":{"properties":{"b":{"type":"string"}}}}`,
			want:   `{"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"STRING"}}}`,
			hint:   `(if {"required":["a"]} then {"properties":{"b":{"type":"string"}}})`,
			losses: []string{
				"info: b: changed conditional property to an optional one",
				"lossy: : dropped if, then and else",
			},
		},
		{
			name: "alternatives that only require", to: Gemini,
			schema: `{"type":"object","properties":{"o":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}}}`,
			want:   `{"type":"OBJECT","properties":{"o":{"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"STRING"}},"description":"(needs a, or b)"}}}`,
			losses: []string{"lossy: o: dropped anyOf of required"},
		},
		{
			name: "alternatives are complete", to: Gemini,
			schema: `{"type":"object","properties":{"o":{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"properties":{"b":{"type":"string"}}},{"properties":{"c":{"type":"string"}}}]}}}`,
			want: `{"type":"OBJECT","properties":{"o":{"anyOf":[{"properties":{"b":{"type":"STRING"},"a":{"type":"STRING"}},"type":"OBJECT"},` +
				`{"properties":{"c":{"type":"STRING"},"a":{"type":"STRING"}},"type":"OBJECT"}]}}}`,
		},
	})
}

// TestFitRefs holds that refs are found by any local pointer, and that none is left dangling: Moonshot refuses the
// whole session for one (command-code#566).
func TestFitRefs(t *testing.T) {
	document := func(ref string) string {
		return `{"type":"object","properties":{"headers":{"type":"object","properties":{"a/b":{"type":"boolean"}}},"x":{"$ref":"` + ref + `"}},` +
			`"$defs":{"A b~":{"type":"integer"},"N":{"$anchor":"named","type":"number"},"R":{"$id":"http://x.test/r","type":"null"},"C":{"$ref":"#/$defs/N"}}}`
	}
	for ref, want := range map[string]string{
		"#/$defs/A%20b~0":                        `{"type":"integer"}`,
		"#/properties/headers":                   `{"type":"object","properties":{"a/b":{"type":"boolean"}}}`, // DEEIX#546
		"#/properties/headers/properties/a~1b":   `{"type":"boolean"}`,
		"#/properties/headers/properties/a%7E1b": `{"type":"boolean"}`,
		"#named":                                 `{"type":"number"}`,
		"http://x.test/r":                        `{"type":"null"}`,
		"http://x.test/r#":                       `{"type":"null"}`,
		"#/$defs/C":                              `{"type":"number"}`,
		"#/$defs/None":                           `{}`,
		"https://elsewhere.test/schema.json":     `{}`,
		"#/type":                                 `{}`,
	} {
		got, err := fit(json.RawMessage(document(ref)), Qwen)
		if err != nil {
			t.Fatal(err)
		}
		o := jsonschema.NewNode(got.schema)
		if fitted := string(o.Get("properties").Get("x").Bytes()); fitted != want {
			t.Errorf("%s: %s, want %s", ref, fitted, want)
		}
		if lossy := got.losses[0].Severity == Lossy; lossy != (want == "{}") {
			t.Errorf("%s: %+v", ref, got.losses)
		}
	}
	runFitCases(t, []fitCase{
		{
			name: "beside a ref", to: Qwen,
			schema: `{"type":"object","properties":{"x":{"$ref":"#/$defs/A","description":"mine","minimum":3}},"$defs":{"A":{"type":"integer","description":"its","minimum":1}}}`,
			want:   `{"type":"object","properties":{"x":{"description":"mine its","minimum":3,"type":"integer"}}}`,
			losses: []string{"info: x: changed $ref to its definition"},
		},
		{
			name: "dangling where refs stay", to: OpenAI,
			schema: `{"type":"object","properties":{"x":{"$ref":"#/$defs/A","description":"d"}}}`,
			want:   `{"type":"object","properties":{"x":{"description":"d"}}}`,
			losses: []string{"lossy: x: dropped $ref to #/$defs/A"},
		},
		{
			name: "the document itself", to: Qwen,
			schema: `{"type":"object","properties":{"x":{"$ref":"#"}}}`,
			want:   `{"type":"object","properties":{"x":{"type":"object","properties":{"x":{"type":"object","properties":{"x":{"type":"object"}}}}}}}`,
			losses: []string{
				"info: x: changed $ref to its definition", "info: x.x: changed $ref to its definition",
				"lossy: x.x.x: cut recursion",
			},
		},
	})
}

// TestFitAllOf holds how schemas that must both hold become one.
func TestFitAllOf(t *testing.T) {
	runFitCases(t, []fitCase{
		{
			name: "the stricter bound wins", to: Gemini,
			schema: `{"type":"object","properties":{"a":{"allOf":[{"type":"number","minimum":1,"maximum":9007199254740993},{"type":"integer","minimum":2,"maximum":9007199254740992}]}}}`,
			want:   `{"type":"OBJECT","properties":{"a":{"type":"INTEGER","minimum":2,"maximum":9007199254740992}}}`,
			losses: []string{"info: a: changed allOf to one schema"},
		},
		{
			name: "enums are cut, descriptions joined", to: Gemini,
			schema: `{"type":"object","properties":{"a":{"allOf":[{"enum":["x","y"],"description":"A."},{"enum":["y","z"],"description":"B."}]}}}`,
			want:   `{"type":"OBJECT","properties":{"a":{"type":"STRING","enum":["y"],"description":"A. B."}}}`,
			losses: []string{"info: a: changed allOf to one schema"},
		},
		{
			name: "contradictions are told", to: Gemini,
			schema: `{"type":"object","properties":{"a":{"allOf":[{"type":"string"},{"type":"integer"}]}}}`,
			want:   `{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`,
			losses: []string{
				"info: a: changed allOf to one schema",
				"lossy: a: dropped type that conflicts with another",
			},
		},
		{
			name: "a property of both must be both", to: Gemini,
			schema: `{"allOf":[{"properties":{"a":{"type":"string","minLength":1}}},{"properties":{"a":{"maxLength":5}}}]}`,
			want:   `{"type":"OBJECT","properties":{"a":{"type":"STRING","minLength":1,"maxLength":5}}}`,
			losses: []string{"info: : changed allOf to one schema", "info: a: changed allOf to one schema"},
		},
	})
}

// TestFitPaths holds the names of places in losses.
func TestFitPaths(t *testing.T) {
	schema := `{"type":"object","properties":{"a":{"type":"object","properties":{"l":{"type":"array","items":` +
		`{"anyOf":[{"type":"string","format":"uri"},{"type":"object","properties":{"n":{"type":"number","multipleOf":2}}}]}}}}}}`
	got, err := fit(json.RawMessage(schema), Gemini)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, loss := range got.losses {
		paths = append(paths, loss.Path)
	}
	if want := "a.l[]|1 a.l[]|2.n"; strings.Join(paths, " ") != want {
		t.Errorf("paths %q, want %q", paths, want)
	}
}
