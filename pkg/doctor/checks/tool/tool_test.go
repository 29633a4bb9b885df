package tool_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/doctor/evidence"
)

// schema wraps an inputSchema into a definition that has nothing else to say against.
func schema(text string) string {
	return `{"name":"probe","description":"Tells what it was given.","annotations":{"readOnlyHint":true},"inputSchema":` + text + `}`
}

// lintCase is a definition, and what a check says about it: the severity, the pointer
// and a part of the evidence. An empty severity means nothing.
type lintCase struct {
	id, definition         string
	severity               check.Severity
	pointer, evidence      string
	title                  string // a part of it, where it is not the check's own
	revision, serverSuffix string
}

func (c lintCase) run(t *testing.T) {
	t.Helper()
	shown := evidence.Excerpt(c.definition, 300)
	e := doctortest.Listing(c.revision, c.definition)
	e.Server.Name += c.serverSuffix
	found := doctortest.Findings(t, judge(&evidence.Fleet{Servers: []*evidence.Evidence{e}}), c.id)
	if c.severity == "" {
		if len(found) > 0 {
			t.Errorf("%s: %s: unexpected: %+v %+v", c.id, shown, found[0], found[0].Where)
		}
		return
	}
	if len(found) == 0 {
		t.Fatalf("%s: %s: nothing found", c.id, shown)
	}
	f := found[0]
	if f.Severity != c.severity || !strings.Contains(f.Evidence, c.evidence) || !strings.Contains(f.Title, c.title) {
		t.Errorf("%s: %s: %s %q, evidence %q; want %s %q", c.id, shown, f.Severity, f.Title, f.Evidence, c.severity,
			c.evidence)
	}
	if f.Where == nil || f.Where.Pointer != c.pointer {
		t.Errorf("%s: %s: where %+v, want %q", c.id, shown, f.Where, c.pointer)
	}
}

func lintCases() []lintCase {
	long := strings.Repeat("x", 65)
	named := func(name string) string {
		return fmt.Sprintf(`{"name":%q,"description":"Does a thing or two.","annotations":{"readOnlyHint":false},"inputSchema":{"type":"object"}}`, name)
	}
	described := func(text string) string {
		return fmt.Sprintf(`{"name":"get_user","description":%q,"inputSchema":{"type":"object"}}`, text)
	}
	hinted := func(name, hints string) string {
		return fmt.Sprintf(`{"name":%q,"description":"Does a thing or two.","annotations":%s,"inputSchema":{"type":"object"}}`, name, hints)
	}
	return []lintCase{
		{id: "tool-name-missing", definition: `{"name":7,"inputSchema":{"type":"object"}}`, severity: check.Error, pointer: "/tools/0/name", evidence: "name is 7"},
		{id: "tool-name-missing", definition: `{"inputSchema":{"type":"object"}}`, severity: check.Error, pointer: "/tools/0", evidence: "inputSchema"},
		{id: "tool-name-chars", definition: named("a b/c"), severity: check.Warning, pointer: "/name", evidence: "U+0020, '/' (U+002F)"},
		{id: "tool-name-chars", definition: named("a.b"), severity: check.Warning, pointer: "/name", evidence: "has a dot"},
		{id: "tool-name-chars", definition: named("1st"), severity: check.Info, pointer: "/name", evidence: "Gemini"},
		{id: "tool-name-chars", definition: named("good_Name-1")},
		{id: "tool-name-length", definition: named(long), severity: check.Warning, pointer: "/name", evidence: "65 characters"},
		{id: "tool-name-length", definition: named(long + long), severity: check.Warning, pointer: "/name", evidence: "MCP's limit is 128"},
		{id: "tool-name-length", definition: named(long[:50]), serverSuffix: "-of-mine", severity: check.Warning, pointer: "/name", evidence: "50 characters, 63 with the server's name"},
		{id: "tool-name-length", definition: named(long[:50])},
		{id: "tool-duplicate", definition: named("a") + "," + named("a"), severity: check.Error, evidence: `tools 0 and 1 of the list are both "a"`},
		{id: "tool-duplicate", definition: named("a") + "," + named("A"), severity: check.Warning, evidence: "only in case"},
		{id: "tool-duplicate", definition: named("a") + "," + named("b")},
		{id: "tool-description-missing", definition: `{"name":"a","inputSchema":{"type":"object"}}`, severity: check.Warning, evidence: "is missing"},
		{id: "tool-description-missing", definition: `{"name":"a","description":"  "}`, severity: check.Warning, pointer: "/description"},
		{id: "tool-description-short", definition: described("Get user"), severity: check.Info, pointer: "/description", evidence: "Get user"},
		{id: "tool-description-short", definition: described("Get User."), severity: check.Info, pointer: "/description"},
		{id: "tool-description-short", definition: described("Finds a user by e-mail.")},
		{id: "tool-description-long", definition: described(strings.Repeat("word ", 401)), severity: check.Info, pointer: "/description", evidence: "2005 characters"},
		{id: "tool-description-long", definition: described(strings.Repeat("word ", 400))},
		{id: "param-description-missing", definition: schema(`{"type":"object","properties":{"a":{"type":"string"},"b":{"$ref":"#/$defs/b"}},"$defs":{"b":{"type":"string","description":"the b"}}}`), severity: check.Info, pointer: "/inputSchema/properties/a", evidence: "1 of 2 parameters have no description: probe.a"},
		{id: "annotations-missing", definition: described("x"), severity: check.Info, evidence: "1 of 1 tool have no hints: get_user"},
		{id: "annotations-missing", definition: hinted("a", `{"destructiveHint":false}`)},
		{id: "annotations-contradict", definition: hinted("delete_note", `{"readOnlyHint":true}`), severity: check.Warning, pointer: "/annotations/readOnlyHint", evidence: `"delete"`},
		{id: "annotations-contradict", definition: hinted("noteWrite", `{"readOnlyHint":true}`), severity: check.Warning, pointer: "/annotations/readOnlyHint", evidence: `"write"`},
		{id: "annotations-contradict", definition: hinted("a", `{"readOnlyHint":true,"destructiveHint":true}`), severity: check.Info, pointer: "/annotations", evidence: "both true"},
		{id: "annotations-contradict", definition: hinted("delete_note", `{"readOnlyHint":true,"destructiveHint":true}`), severity: check.Warning, pointer: "/annotations/readOnlyHint", evidence: `"delete"`},
		{id: "annotations-contradict", definition: hinted("get_note", `{"readOnlyHint":true,"destructiveHint":true,"idempotentHint":true,"openWorldHint":true}`), severity: check.Info, pointer: "/annotations", evidence: "both true"},
		{id: "annotations-contradict", definition: hinted("domains_getIncomingDomainMoveV1", `{"readOnlyHint":true}`)},
		{id: "annotations-contradict", definition: hinted("domains_incoming_move", `{"readOnlyHint":true}`)},
		{id: "annotations-contradict", definition: hinted("repo_update_status", `{"readOnlyHint":true}`)},
		{id: "annotations-contradict", definition: hinted("list_delete_requests", `{"readOnlyHint":true}`)},
		{id: "annotations-contradict", definition: hinted("delete_note", `{"readOnlyHint":false}`)},
		{id: "tokens-tool", definition: described(strings.Repeat("word ", 2000)), severity: check.Info, evidence: "about 2,4"},
		{id: "tokens-tool", definition: described(strings.Repeat("word ", 17000)), severity: check.Warning, evidence: "about 20,7"},
		{id: "tool-description-long", definition: described(strings.Repeat("word ", 17000)), severity: check.Warning, pointer: "/description", evidence: "85000 characters"},
		{id: "tokens-total", definition: described(strings.Repeat("word ", 17000)), severity: check.Warning, pointer: "/tools", title: "too many tokens"},
		{id: "tokens-total", definition: named("a"), severity: check.Info, pointer: "/tools", evidence: "for 1 tool; most: a "},
		{id: "tokens-total", definition: strings.Join(slices.Repeat([]string{named("a")}, 41), ","), severity: check.Info, pointer: "/tools", title: "more than 40"},
		{id: "tokens-total", definition: described(strings.Repeat("word ", 9000)), severity: check.Info, pointer: "/tools", title: "too many tokens"},
	}
}

func schemaCases() []lintCase {
	return []lintCase{
		{id: "input-schema-missing", definition: `{"name":"a"}`, severity: check.Error, pointer: "/inputSchema", evidence: "is missing"},
		{id: "input-schema-missing", definition: schema(`null`), severity: check.Error, pointer: "/inputSchema", evidence: "is null"},
		{id: "input-schema-missing", definition: schema(`true`), severity: check.Error, pointer: "/inputSchema", evidence: "a boolean"},
		{id: "input-schema-missing", definition: schema(`[]`), severity: check.Error, pointer: "/inputSchema", evidence: "an array"},
		{id: "input-schema-missing", definition: schema(`{}`)},
		{id: "input-schema-type", definition: schema(`{}`), severity: check.Error, pointer: "/inputSchema", evidence: "type is missing"},
		{id: "input-schema-type", definition: schema(`{"type":["object","null"]}`), severity: check.Error, pointer: "/inputSchema/type", evidence: `["object","null"]`},
		{id: "input-schema-type", definition: schema(`{"type":"object"}`)},
		{id: "input-schema-root-combinator", definition: schema(`{"type":"object","anyOf":[{"required":["a"]}],"not":{}}`), severity: check.Warning, pointer: "/inputSchema/anyOf", evidence: "anyOf, not at the root"},
		{id: "input-schema-root-combinator", definition: schema(`{"type":"object","properties":{"anyOf":{"anyOf":[{"type":"string"}]}}}`)},
		{id: "output-schema-type", definition: `{"name":"a","outputSchema":{"type":"array"}}`, severity: check.Error, pointer: "/outputSchema/type", evidence: `"array"`},
		{id: "output-schema-type", definition: `{"name":"a","outputSchema":null}`, severity: check.Error, pointer: "/outputSchema", evidence: "null"},
		{id: "output-schema-type", definition: `{"name":"a","outputSchema":{"type":"array"}}`, revision: "2026-07-28"},
		{id: "schema-invalid", definition: schema(`{"type":"object","properties":{"a":{"type":"int"}}}`), severity: check.Error, pointer: "/inputSchema/properties/a/type", evidence: "'#/properties/a/type' must be"},
		{id: "schema-invalid", definition: schema(`{"type":"object","properties":{"a":{"type":"string","required":true}}}`), severity: check.Error, pointer: "/inputSchema/properties/a/required"},
		{id: "schema-invalid", definition: `{"name":"a","outputSchema":{"type":5}}`, severity: check.Error, pointer: "/outputSchema/type"},
		{id: "schema-invalid", definition: schema(`{"type":"object","properties":{"type":{"type":"string"},"required":{"type":"boolean"},"$ref":{"type":"string"}}}`)},
		{id: "schema-invalid", definition: schema(`{"type":"object","properties":{"a":{"$ref":"#/nowhere"},"b":{"$ref":"https://example.com/b"}}}`)},
		{id: "schema-invalid", definition: schema(`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"a":{"minimum":0,"exclusiveMinimum":true}}}`)},
		{id: "schema-invalid", definition: schema(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"enum":[]},"enum":{"enum":["x","x"]}}}`)},
		{id: "schema-invalid", definition: schema(`{"$schema":"http://json-schema.org/draft-06/schema#","type":"object","definitions":{"default":{"enum":[]}}}`)},
		{id: "schema-invalid", definition: schema(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"enum":"x"}}}`), severity: check.Error, pointer: "/inputSchema/properties/a/enum"},
		{id: "schema-invalid", definition: schema(`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"a":{"enum":[]}}}`), severity: check.Error, pointer: "/inputSchema/properties/a/enum", evidence: "at least 1 item"},
		{id: "schema-dialect", definition: schema(`{"$schema":"https://example.com/d","type":"object"}`), severity: check.Warning, pointer: "/inputSchema/$schema", evidence: "https://example.com/d"},
		{id: "schema-dialect", definition: schema(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`), severity: check.Info, pointer: "/inputSchema/$schema", evidence: "draft-07: 1 schema"},
		{id: "schema-dialect", definition: schema(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`) + "," + schema(`{"type":"object"}`), severity: check.Info, pointer: "/inputSchema/$schema", title: "several dialects", evidence: "no $schema, so 2020-12: 1 schema"},
		{id: "schema-dialect", definition: schema(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}`)},
		{id: "schema-ref-external", definition: schema(`{"type":"object","properties":{"a":{"$ref":"https://example.com/a.json#/b"}}}`), severity: check.Error, pointer: "/inputSchema/properties/a/$ref", evidence: "https://example.com/a.json#/b"},
		{id: "schema-ref-external", definition: schema(`{"type":"object","properties":{"a":{"$ref":"other.json"}}}`), severity: check.Error, pointer: "/inputSchema/properties/a/$ref"},
		{id: "schema-ref-external", definition: schema(`{"$id":"https://example.com/s/root.json","type":"object","properties":{"a":{"$ref":"item.json"},"b":{"$ref":"root.json#/properties/a"}},"$defs":{"i":{"$id":"item.json","type":"string"}}}`)},
		{id: "schema-ref-external", definition: schema(`{"type":"object","properties":{"a":{"$ref":"http://json-schema.org/draft-07/schema#"}}}`)},
		{id: "schema-ref-external", definition: schema(`{"type":"object","properties":{"$ref":{"type":"string","default":{"$ref":"https://x"}}}}`)},
		{id: "schema-ref-dangling", definition: schema(`{"type":"object","properties":{"a":{"$ref":"#/$defs/no"}}}`), severity: check.Error, pointer: "/inputSchema/properties/a/$ref", evidence: "#/$defs/no leads nowhere"},
		{id: "schema-ref-dangling", definition: schema(`{"type":"object","properties":{"a":{"$ref":"#anchor"}}}`), severity: check.Error, pointer: "/inputSchema/properties/a/$ref"},
		{id: "schema-ref-dangling", definition: schema(`{"type":"object","properties":{"a/b":{"$ref":"#/properties/c~0%20d"},"c~ d":{"$ref":"#/properties/a~1b/x-odd"},"e":{"$ref":"#here"},"f":{"$anchor":"here"}}}`), severity: check.Error, pointer: "/inputSchema/properties/c~0 d/$ref"},
		{id: "schema-ref-dangling", definition: schema(`{"type":"object","properties":{"a":{"$ref":"#/x-shared/t"},"b":{"$ref":"#/properties/a"},"c":{"$ref":"#t"}},"x-shared":{"t":{"$anchor":"t","type":"string"}}}`)},
		{id: "schema-ref-loop", definition: schema(`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"$ref":"#/$defs/a"}}}`), severity: check.Warning, pointer: "/inputSchema/$defs/a", evidence: "/inputSchema/$defs/b → "},
		{id: "schema-ref-loop", definition: schema(`{"type":"object","properties":{"left":{"$ref":"#"}}}`)},
		{id: "schema-deep", definition: schema(nested(33)), severity: check.Warning, pointer: "/inputSchema", evidence: "33 levels"},
		{id: "schema-deep", definition: schema(nested(2000)), severity: check.Warning, pointer: "/inputSchema", evidence: "more than 1000 levels"},
		{id: "schema-deep", definition: schema(nested(6000)), severity: check.Warning, pointer: "/inputSchema", evidence: "10,000 nested brackets"},
		{id: "schema-deep", definition: schema(nested(32))},
		{id: "schema-large", definition: schema(`{"type":"object","description":"` + strings.Repeat("x", 65<<10) + `"}`), severity: check.Warning, pointer: "/inputSchema", evidence: "65.0 KiB"},
		{id: "schema-combos", definition: schema(doubling(20)), severity: check.Warning, pointer: "/inputSchema", evidence: "e+06 subschemas"},
		{id: "schema-combos", definition: schema(doubling(5))},
		{id: "schema-required-unknown", definition: schema(`{"type":"object","properties":{"fileName":{"type":"string"}},"required":["filename"]}`), severity: check.Warning, pointer: "/inputSchema/required/0", evidence: `"filename" is required`},
		{id: "schema-required-unknown", definition: schema(`{"type":"object","properties":{"a":{"type":"object","required":["x"]}}}`), severity: check.Warning, pointer: "/inputSchema/properties/a/required/0"},
		{id: "schema-required-unknown", definition: schema(`{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"],"properties":{"b":{}}}],"required":["b"]}`)},
		{id: "schema-required-unknown", definition: schema(`{"type":"object","required":["a"],"additionalProperties":{"type":"string"}}`)},
		{id: "schema-required-unknown", definition: schema(`{"type":"object","required":["a"],"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"properties":{"a":{}}}}}`)},
		{id: "schema-unknown-keyword", definition: schema(`{"type":"object","properties":{"optional":{"type":"string","optional":true}}}`), severity: check.Info, pointer: "/inputSchema/properties/optional/optional", evidence: "optional"},
		{id: "schema-unknown-keyword", definition: schema(`{"type":"object","properties":{"a":{"type":"string","required":false}}}`), severity: check.Info, pointer: "/inputSchema/properties/a/required"},
		{id: "schema-unknown-keyword", definition: schema(`{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}},"required":["a"]}`)},
		{id: "schema-untyped", definition: schema(`{"type":"object","properties":{"a":{"description":"x"}}}`), severity: check.Info, pointer: "/inputSchema/properties/a", evidence: "1 place: probe.a"},
		{id: "schema-untyped", definition: schema(`{"type":"object","properties":{"a":{"enum":[1]},"b":{"anyOf":[{"type":"string"}]}}}`)},
		{id: "schema-bool", definition: schema(`{"type":"object","properties":{"a":{"type":"object","properties":{"b":true}}}}`), severity: check.Info, pointer: "/inputSchema/properties/a/properties/b", evidence: "probe.a.b"},
		{id: "schema-bool", definition: schema(`{"type":"object","additionalProperties":false}`)},
		{id: "schema-type-union", definition: schema(`{"type":"object","properties":{"a":{"type":"array","items":{"type":["string","null"]}}}}`), severity: check.Info, pointer: "/inputSchema/properties/a/items", evidence: "probe.a[]"},
		{id: "param-name-chars", definition: schema(`{"type":"object","properties":{"a b":{"type":"string"}}}`), severity: check.Warning, pointer: "/inputSchema/properties/a b", evidence: `"a b" has U+0020`},
		{id: "param-name-chars", definition: schema(`{"type":"object","properties":{"":{"type":"string"}}}`), severity: check.Warning, pointer: "/inputSchema/properties/", evidence: "is empty"},
		{id: "param-name-chars", definition: schema(`{"type":"object","allOf":[{"properties":{"$a":{"type":"string"}}}]}`), severity: check.Warning, pointer: "/inputSchema/allOf/0/properties/$a", evidence: "U+0024"},
		{id: "param-name-chars", definition: schema(`{"type":"object","properties":{"a":{"type":"object","properties":{"$b":{}}},"c":{"items":{"properties":{"d e":{}}}}}}`)},
		{id: "param-name-chars", definition: schema(`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"properties":{"$b":{}}}}}`)},
		{id: "param-name-chars", definition: schema(`{"type":"object","properties":{"a.b-c_D9":{"type":"string","enum":["$x"]}}}`)},
		{id: "x-mcp-header", definition: schema(`{"type":"object","properties":{"a":{"type":"array","x-mcp-header":"A"}}}`), severity: check.Error, pointer: "/inputSchema/properties/a/x-mcp-header", evidence: `type "array"`},
		{id: "x-mcp-header", definition: schema(`{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A b"}}}`), severity: check.Error, pointer: "/inputSchema/properties/a/x-mcp-header", evidence: "U+0020"},
		{id: "x-mcp-header", definition: schema(`{"type":"object","properties":{"a":{"type":"string","x-mcp-header":""}}}`), severity: check.Error, pointer: "/inputSchema/properties/a/x-mcp-header", evidence: "empty"},
		{id: "x-mcp-header", definition: schema(`{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"R"},"b":{"type":"string","x-mcp-header":"r"}}}`), severity: check.Error, pointer: "/inputSchema/properties/b/x-mcp-header", evidence: "twice"},
		{id: "x-mcp-header", definition: schema(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"R"}}}}`), severity: check.Error, pointer: "/inputSchema/properties/a/items/x-mcp-header", evidence: "nested in properties only"},
		{id: "x-mcp-header", definition: schema(`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"integer","x-mcp-header":"R"}}}}}`)},
		{id: "schema-pattern", definition: schema(`{"type":"object","properties":{"a":{"type":"string","pattern":"^(?=.*x).+$"}}}`), severity: check.Warning, pointer: "/inputSchema/properties/a/pattern", evidence: "Go and Rust cannot parse it"},
		{id: "schema-pattern", definition: schema(`{"type":"object","properties":{"a":{"type":"string","pattern":"([a-z"}}}`), severity: check.Warning, pointer: "/inputSchema/properties/a/pattern", evidence: "JavaScript cannot parse it"},
		{id: "schema-pattern", definition: schema(`{"type":"object","properties":{"a":{"type":"string","pattern":"(?i)abc"}}}`), severity: check.Warning, pointer: "/inputSchema/properties/a/pattern", evidence: "JavaScript does not support (?i)"},
		{id: "schema-pattern", definition: schema(`{"type":"object","properties":{"a":{"type":"string","pattern":"^id-(\\w+\\s?)*$"}}}`), severity: check.Warning, pointer: "/inputSchema/properties/a/pattern", evidence: "takes more than"},
		{id: "schema-grammar", definition: schema(`{"type":"object","properties":{"to":{"type":"array","items":{"type":"string","pattern":"^(?!\\.)[a-z]+$"}},"when":{"type":"string","pattern":"^\\d{4}$"}}}`), severity: check.Warning, pointer: "/inputSchema/properties/to/items/pattern", evidence: "probe.to[] has a pattern with a look-ahead, probe.when has a pattern with \\d"},
		{id: "schema-grammar", definition: schema(`{"type":"object","properties":{"text":{"type":"string","maxLength":10000}}}`), severity: check.Info, pointer: "/inputSchema/properties/text/maxLength", evidence: "probe.text has maxLength 10000"},
		{id: "schema-grammar", definition: schema(`{"type":"object","properties":{"n":{"type":"array","maxItems":1999,"items":{"anyOf":[{"type":"string"},{"type":"null"}]}},"id":{"type":"string","pattern":"^[0-9]{4}$","maxLength":64},"pattern":{"type":"string"}}}`)},
		{id: "schema-grammar", definition: `{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"a":{"type":"string","maxLength":10000}}}}`},
		{id: "schema-pattern", definition: schema(`{"type":"object","patternProperties":{"(":{"type":"string"}}}`), severity: check.Warning, pointer: "/inputSchema/patternProperties/(", evidence: "JavaScript"},
		{id: "schema-pattern", definition: schema(`{"type":"object","properties":{"a":{"type":"string","pattern":"^[a-z]+(-[a-z]+)*\\.(js|ts)$"}}}`)},
	}
}

// nested is a schema of so many levels of subschemas.
func nested(levels int) string {
	return strings.Repeat(`{"type":"object","properties":{"a":`, levels) + `{"type":"string"}` + strings.Repeat(`}}`,
		levels)
}

// doubling is a schema whose every level holds the next one twice.
func doubling(levels int) string {
	var defs strings.Builder
	for i := range levels {
		fmt.Fprintf(&defs, `"l%d":{"allOf":[{"$ref":"#/$defs/l%d"},{"$ref":"#/$defs/l%d"}]},`, i, i+1, i+1)
	}
	return `{"type":"object","properties":{"a":{"$ref":"#/$defs/l0"}},"$defs":{` + defs.String() + fmt.Sprintf(`"l%d":{"type":"string"}}}`, levels)
}

func TestLint(t *testing.T) {
	t.Parallel()
	for i, c := range append(lintCases(), schemaCases()...) {
		if c.revision == "" {
			c.revision = "2025-11-25"
		}
		t.Run(fmt.Sprintf("%s/%d", c.id, i), c.run)
	}
}

// TestManyAlikeAreCounted proves that a thousand tools with one mistake make a report
// that can be read.
func TestManyAlikeAreCounted(t *testing.T) {
	definitions := make([]string, 1000)
	for i := range definitions {
		definitions[i] = fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"array"}}`, i)
	}
	report := judge(&evidence.Fleet{Servers: []*evidence.Evidence{doctortest.Listing("2025-11-25", definitions...)}})
	found := doctortest.Findings(t, report, "input-schema-type")
	if len(found) != evidence.MaxAlike+1 ||
		!strings.HasPrefix(found[evidence.MaxAlike].Evidence, "and 990 more: t10 /inputSchema/type, ") {
		t.Errorf("%d findings, the last %+v", len(found), found[len(found)-1])
	}
}

// TestManyInOneSchemaAreCounted proves the same for one schema.
func TestManyInOneSchemaAreCounted(t *testing.T) {
	properties := make([]string, 50)
	for i := range properties {
		properties[i] = fmt.Sprintf(`"p%02d":{"$ref":"#/nowhere"}`, i)
	}
	definition := schema(`{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`)
	found := doctortest.Findings(t, judge(&evidence.Fleet{
		Servers: []*evidence.Evidence{doctortest.Listing("2025-11-25", definition)},
	}), "schema-ref-dangling")
	if len(found) != evidence.MaxAlike+1 ||
		!strings.HasPrefix(found[evidence.MaxAlike].Evidence, "and 40 more: probe /inputSchema/properties/p10/$ref, ") {
		t.Errorf("%d findings, the last %+v", len(found), found[len(found)-1])
	}
}

// FuzzLint proves that no definition, however hostile, makes a check panic or go on
// for ever: the fuzzer's own limit is the clock.
func FuzzLint(f *testing.F) {
	for _, c := range append(lintCases(), schemaCases()...) {
		f.Add([]byte(c.definition))
	}
	for _, c := range resultCases() {
		f.Add([]byte(c.result))
	}
	definitions, _ := doctortest.Examine(f, doctortest.Options(),
		"schema-draft4", "schema-combos", "schema-ref-mutual", "schema-slow-regex", "schema-proto", "schema-root-oneof",
		"term-tags", "term-name",
		"prompt-inject", "structured-mismatch").Servers[0].Tools()
	for _, definition := range definitions {
		f.Add([]byte(definition))
	}
	for _, text := range []string{
		`null`, `[]`, `{"name":"\ud800"}`, `{"inputSchema":{"$id":"%zz","$ref":"%zz#/"}}`,
		`{"inputSchema":{"$ref":"#/properties","properties":{"$ref":"#"}}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, definition []byte) {
		if !json.Valid(definition) {
			return
		}
		e := doctortest.Listing("2025-11-25", string(definition), string(definition))
		e.Clean.Exchanges = append(e.Clean.Exchanges, doctortest.Call("probe", string(definition)))
		e.Calls = []*evidence.CallRun{{Tool: "probe"}}
		other := doctortest.Listing("2025-11-25", schema(`{"type":"object"}`))
		other.Server.Name = "other"
		fleet := &evidence.Fleet{
			Servers: []*evidence.Evidence{e, other},
			Pinned:  evidence.Pins{"files": {"probe": definition}},
		}
		for _, result := range judge(fleet).Checks {
			if result.Outcome == check.Broke {
				t.Fatalf("%s: %s", result.ID, result.Because)
			}
		}
	})
}

// TestFakeSchemas provokes the checks of tools by a real process, all modes in one
// server.
func TestFakeSchemas(t *testing.T) {
	t.Parallel()
	report := judge(doctortest.Examine(t, doctortest.Options(),
		"tool-no-name", "tool-bad-names", "tools-dup", "schema-missing", "schema-null", "schema-string",
		"schema-type-array",
		"schema-bad-kw", "schema-dialect", "schema-draft7", "schema-ref-dangling", "schema-ref-http", "schema-ref-file",
		"schema-ref-mutual",
		"schema-deep", "schema-combos", "schema-regex", "schema-slow-regex", "schema-bad-regex", "schema-proto",
		"schema-root-oneof", "schema-required-unknown", "tools-100k"))
	for id, tools := range map[string][]string{
		"tool-name-missing":            {""},
		"tool-name-chars":              {"with blank", "with/slash", "with.dot", "🔧", "$(touch x)"},
		"tool-name-length":             {strings.Repeat("long", 50)},
		"tool-duplicate":               {"twice", "upper"},
		"input-schema-missing":         {"schema-missing", "schema-null", "schema-string"},
		"input-schema-type":            {"schema-type-array"},
		"input-schema-root-combinator": {"schema-root-oneof", "schema-ref-mutual"},
		"schema-invalid":               {"schema-bad-kw"},
		"schema-dialect":               {"schema-dialect", "schema-draft7"},
		"schema-ref-dangling":          {"schema-ref-dangling"},
		"schema-ref-external":          {"schema-ref-http", "schema-ref-file"},
		"schema-ref-loop":              {"schema-ref-mutual"},
		"schema-deep":                  {"schema-deep"},
		"schema-pattern":               {"schema-regex", "schema-slow-regex", "schema-bad-regex"},
		"schema-grammar":               {"schema-regex"},
		"schema-required-unknown":      {"schema-required-unknown"},
		"param-name-chars":             {"schema-proto"},
		"tool-description-long":        {"wordy-0"},
		"tokens-tool":                  {"wordy-0"},
		"tokens-total":                 {""},
	} {
		found := doctortest.Findings(t, report, id)
		for _, tool := range tools {
			if !slices.ContainsFunc(found, func(f check.Finding) bool { return f.Where.Tool == tool }) {
				t.Errorf("%s says nothing of %q: %+v", id, tool, found)
			}
		}
	}
}

// TestFakeLists provokes what concerns a whole list.
func TestFakeLists(t *testing.T) {
	for _, c := range []struct{ mode, id, evidence string }{
		{"tools-empty", "tools-empty", "0 tools"},
		{"tools-null", "tools-shape", "tools is null"},
		{"tools-object", "tools-shape", "tools is an object"},
		{"tools-mixed", "tools-shape", "the entry is null"},
		{"schema-combos", "schema-combos", "e+09 subschemas"},
		{"schema-no-type", "input-schema-type", "type is missing"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			report := judge(doctortest.Examine(t, doctortest.Options(), c.mode))
			if found := doctortest.Findings(t, report, c.id); len(found) == 0 ||
				!strings.Contains(found[0].Evidence, c.evidence) {
				t.Errorf("%+v", found)
			}
		})
	}
}

// TestGoodServerHasNothingWrong proves that the checks of tools and security leave a
// correct server alone, and say only what is worth knowing: of its errors, only that
// the call which was asked for failed.
func TestGoodServerHasNothingWrong(t *testing.T) {
	t.Parallel()
	options := doctortest.Options()
	for tool, arguments := range map[string]string{
		"add": `{"a":1,"b":2}`, "mixed": `{}`, "fail": `{}`,
		"echo": `{"message":"hello"}`,
	} {
		options.Calls = append(options.Calls, evidence.Call{Tool: tool, Arguments: json.RawMessage(arguments)})
	}
	report := judge(doctortest.Examine(t, options, "good"))
	if ids := doctortest.IDs(report, check.Warning); ids != "call-failed" {
		t.Errorf("%s: %+v", ids, report.Findings)
	}
	for _, result := range report.Checks {
		if result.Outcome == check.Broke || result.Outcome == check.Skipped && result.ID != "definition-drift" {
			t.Errorf("%s: %s: %s", result.ID, result.Outcome, result.Because)
		}
	}
}

// judge asks the checks of tools and security alone.
func judge(fleet *evidence.Fleet) *doctor.Report {
	return doctortest.Judge(fleet, check.GroupTools, check.GroupSecurity)
}
