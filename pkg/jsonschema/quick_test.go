package jsonschema

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"toolx/pkg/rawjson"
)

// TestQuickIsSure has arguments of ordinary tools, which need no compiled schema, and what a Quick must leave to it.
func TestQuickIsSure(t *testing.T) {
	const draft7 = `"$schema":"http://json-schema.org/draft-07/schema#"`
	for _, test := range []struct {
		schema, arguments string
		want              bool
	}{
		{`{"type":"object"}`, `{}`, true},
		{`{"type":"object"}`, `{"anything":{"goes":1}}`, true},
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `{"a":"x"}`, true},
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `{}`, false},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"a":1}`, false},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"b":"unknown"}`, false},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"a":"1","a":"2"}`, false},
		{`{` + draft7 + `,"type":"object","properties":{"n":{"type":"integer","minimum":0,"maximum":99}}}`, `{"n":99}`, true},
		{`{` + draft7 + `,"type":"object","properties":{"n":{"type":"integer","minimum":0,"maximum":99}}}`, `{"n":100}`, false},
		{`{"properties":{"n":{"exclusiveMinimum":0.5}}}`, `{"n":0.5}`, false},
		{`{"properties":{"n":{"exclusiveMaximum":0.5}}}`, `{"n":0.25}`, true},
		{`{"properties":{"n":{"maximum":1e400}}}`, `{"n":1}`, false},
		{`{"properties":{"s":{"minLength":2,"maxLength":2}}}`, `{"s":"äö"}`, true},
		{`{"properties":{"s":{"enum":["on","off"]}}}`, `{"s":"on"}`, true},
		{`{"properties":{"s":{"const":["on"]}}}`, `{"s":"on"}`, false},
		{`{"properties":{"l":{"items":{"type":"number"},"minItems":1}}}`, `{"l":[1,2.5]}`, true},
		{`{"properties":{"o":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}}}`, `{"o":null}`, true},
		{`{"properties":{"o":{"oneOf":[{"type":"string"},{"minLength":1}]}}}`, `{"o":"both"}`, false},
		{`{"$defs":{"m":{"enum":["a"]}},"properties":{"m":{"$ref":"#/$defs/m"}}}`, `{"m":"a"}`, true},
		{`{"properties":{"m":{"$ref":"#/$defs/missing"}}}`, `{}`, false},
		{`{"$defs":{"m":{"$ref":"#/$defs/m"}},"properties":{"m":{"$ref":"#/$defs/m"}}}`, `{"m":1}`, false},
		{`{"$defs":{"a\\b":{}},"properties":{"m":{"$ref":"#/$defs/a\\b"}}}`, `{"m":1}`, false}, // not a URI
		{`{"properties":{"a":{"type":5}}}`, `{}`, false},
		{`{"properties":{"a":{"pattern":"^x"}}}`, `{"a":"x"}`, false},
		{`{"$schema":"http://json-schema.org/draft-04/schema#"}`, `{}`, false},
		{`{"additionalProperties":{"type":"string"}}`, `{"a":"x"}`, true},
		{`{"additionalProperties":false}`, `{"a":"x"}`, false},
		{`true`, `{}`, false},
		{``, `{}`, false},
		{`{}`, `[]`, false},
		{`{}`, `{`, false},
	} {
		if got := Parse(json.RawMessage(test.schema)).Fits(json.RawMessage(test.arguments)); got != test.want {
			t.Errorf("%s, %s: %v, want %v", test.schema, test.arguments, got, test.want)
		}
	}
}

// A step that looks at much counts as several; else schemas of servers could keep a call busy for seconds.
func TestQuickCountsWideSteps(t *testing.T) {
	t.Parallel()
	const parts = 9000
	allOf := `"allOf":[{"$ref":"#/$defs/d"}` + strings.Repeat(`,{"$ref":"#/$defs/d"}`, parts) + `]`
	var options, members strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&options, `,"v%d"`, i)
		fmt.Fprintf(&members, `,"n%d":1`, i)
	}
	for _, test := range []struct{ definition, argument string }{
		{`{"enum":["last"` + options.String() + `]}`, `"v49999"`},
		{`{"minLength":1}`, `"` + strings.Repeat("x", 1<<20) + `"`},
		{`{"additionalProperties":true}`, `{"a":1` + members.String() + `}`},
	} {
		definition, err := rawjson.Decode([]byte(`{"$defs":{"d":` + test.definition + `},` + allOf + `}`))
		argument, err2 := rawjson.Decode([]byte(test.argument))
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		run := &quickRun{Quick: &Quick{definition}, left: maxQuickSteps}
		if got := run.judge(definition, argument); got == valid || run.left >= 0 {
			t.Errorf("%.30s: %d, %d steps are left", test.definition, got, run.left)
		}
	}
}

// TestQuickAgreesWithTheCompiledSchema makes schemas and arguments from small parts: what fits has nothing to report.
func TestQuickAgreesWithTheCompiledSchema(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same in each run
	fit := 0
	const rounds = 6000
	for range rounds {
		schema, arguments := randomSchema(random, 3), randomValue(random, 3)
		if random.IntN(3) == 0 {
			schema = `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"d":` + randomSchema(random, 1) +
				`},"allOf":[` + schema + `]}`
		}
		if checkQuick(t, schema, arguments) {
			fit++
		}
	}
	if fit < rounds/50 {
		t.Errorf("only %d of %d fit", fit, rounds)
	}
}

// checkQuick reports whether arguments fit, and fails if a compiled schema has something to say then.
func checkQuick(t *testing.T, schema, arguments string) bool {
	t.Helper()
	document := Parse(json.RawMessage(schema))
	if !document.Fits(json.RawMessage(arguments)) {
		return false
	}
	compiled, err := document.Compile(t.Context())
	if err != nil {
		t.Errorf("%s: %s fits, but the schema is broken: %v", schema, arguments, err)
		return true
	}
	verdict, err := compiled.Judge(t.Context(), json.RawMessage(arguments))
	remarks := append(verdict.Remarks, compiled.Remarks()...)
	if err != nil || len(verdict.Problems)+len(verdict.Unknown)+len(remarks) > 0 {
		t.Errorf("%s: %s fits, but: %+v, %v", schema, arguments, verdict, err)
	}
	return true
}

func randomSchema(random *rand.Rand, depth int) string {
	below := func() string {
		if depth == 0 {
			return `{}`
		}
		return randomSchema(random, depth-1)
	}
	keywords := []string{}
	for range random.IntN(4) {
		keywords = append(keywords, []func() string{
			func() string {
				return `"type":"` + []string{"string", "integer", "number", "object", "array", "null", "int"}[random.IntN(7)] + `"`
			},
			func() string { return `"type":["object","string","number"]` },
			func() string { return `"properties":{"a":` + below() + `,"b":` + below() + `}` },
			func() string { return `"properties":{"c":true,"b":` + below() + `}` },
			func() string { return `"required":["a"]` },
			func() string { return `"required":["a","a"]` },
			func() string { return `"additionalProperties":` + []string{"false", "true", below()}[random.IntN(3)] },
			func() string { return `"items":` + below() },
			func() string { return `"enum":["x","yy",` + []string{`"z"`, `1`, `"x"`}[random.IntN(3)] + `]` },
			func() string { return `"const":` + []string{`"x"`, `["x"]`, `1`}[random.IntN(3)] },
			func() string { return `"minimum":` + []string{"1", "0.5", `"1"`}[random.IntN(3)] },
			func() string { return `"exclusiveMaximum":2` },
			func() string { return `"maxLength":1` },
			func() string { return `"minItems":1` },
			func() string { return `"anyOf":[` + below() + `,` + below() + `]` },
			func() string { return `"oneOf":[` + below() + `,` + below() + `]` },
			func() string { return `"allOf":[` + below() + `]` },
			func() string { return `"$ref":"#/definitions/d"` },
			func() string { return `"default":{"a":1},"description":"text"` },
			func() string { return `"format":"uri"` },
		}[random.IntN(20)]())
	}
	members := make(map[string]json.RawMessage)
	for _, keyword := range keywords {
		for member := range rawjson.Each([]byte("{" + keyword + "}")) {
			members[member.Name] = member.Value
		}
	}
	text, err := json.Marshal(members)
	if err != nil {
		return fmt.Sprintf("%v", err)
	}
	return string(text)
}

func randomValue(random *rand.Rand, depth int) string {
	made := "{"
	for _, name := range []string{"a", "b", "c"} {
		if random.IntN(2) == 0 {
			continue
		}
		value := []string{`"x"`, `"yy"`, `1`, `1.0`, `0.5`, `2`, `null`, `true`, `[]`, `["x",1]`}[random.IntN(10)]
		if depth > 0 && random.IntN(2) == 0 {
			value = randomValue(random, depth-1)
		}
		if len(made) > 1 {
			made += ","
		}
		made += `"` + name + `":` + value
	}
	return made + "}"
}
