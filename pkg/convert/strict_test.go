package convert_test

import (
	"strings"
	"testing"

	"toolx/pkg/convert"
)

// TestStrictIsCarried holds that a strict tool stays one where the target has a word for it and takes the schema, is
// reported as dropped elsewhere, and comes back.
func TestStrictIsCarried(t *testing.T) {
	closed := strings.TrimSuffix(city, "}") + `,"additionalProperties":false}`
	bounded := `{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"],"additionalProperties":false}`
	nested := `{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}},"required":["n"],"additionalProperties":false,"$defs":{"N":` +
		`{"type":"object","properties":{"n":{"anyOf":[{"$ref":"#/$defs/N"},{"type":"null"}]}},"required":["n"],"additionalProperties":false}}}`
	openai := func(schema string) string {
		return `[{"type":"function","function":{"name":"w","description":"W","parameters":` + schema +
			`,"strict":true}}]`
	}
	for _, test := range []struct {
		schema string
		to     convert.Format
		want   string // empty: strict is reported as dropped
	}{
		{closed, convert.Responses, `[{"type":"function","name":"w","description":"W","parameters":` + closed + `,"strict":true}]`},
		{closed, convert.Anthropic, `[{"name":"w","description":"W","input_schema":` + closed + `,"strict":true}]`},
		{closed, convert.Bedrock, `[{"toolSpec":{"name":"w","description":"W","inputSchema":{"json":` + closed + `},"strict":true}}]`},
		{closed, convert.Mistral, openai(closed)},
		{closed, convert.OpenAIStrict, openai(closed)},
		{bounded, convert.Responses, `[{"type":"function","name":"w","description":"W","parameters":` + bounded + `,"strict":true}]`},
		{nested, convert.Responses, `[{"type":"function","name":"w","description":"W","parameters":` + nested + `,"strict":true}]`},
		{bounded, convert.Anthropic, ""},
		{nested, convert.Anthropic, ""},
		{city, convert.Responses, `[{"type":"function","name":"w","description":"W","parameters":` + city + `,"strict":true}]`},
		{city, convert.Anthropic, ""},
		{closed, convert.Cohere, ""},
		{closed, convert.GeminiJSON, ""},
	} {
		got, converted := rewrite(t, openai(test.schema), "", test.to)
		told := false
		for _, loss := range converted.Losses() {
			told = told || loss.Detail == "strict" && loss.Severity == convert.Lossy
		}
		if told != (test.want == "") || test.want != "" && got != test.want {
			t.Errorf("%s: told: %t\ngot  %s\nwant %s", test.to, told, got, test.want)
		}
		if test.want == "" || test.to == convert.OpenAIStrict {
			continue
		}
		if named, _ := rewrite(t, openai(test.schema), convert.OpenAIStrict, test.to); named != got {
			t.Errorf("%s of openai-strict: %s", test.to, named)
		}
		if test.to == convert.Responses { // Anthropic's rules are others
			_, foreign := rewrite(t, strings.Replace(got, "parameters", "input_schema", 1), convert.Anthropic,
				convert.OpenAI)
			if strings.Contains(string(foreign.Document()), "strict") == (test.schema == city) {
				t.Errorf("anthropic to openai: %s", foreign.Document())
			}
		}
		if back, _ := rewrite(t, got, "", convert.OpenAI); back != openai(test.schema) {
			t.Errorf("back from %s: %s", test.to, back)
		}
	}
}

// TestAlwaysStrict holds that openai-strict says strict: true, also of what it read itself and what did not say so.
func TestAlwaysStrict(t *testing.T) {
	const want = `[{"type":"function","function":{"name":"w","strict":true,"parameters":{"type":"object","properties":{},"additionalProperties":false}}}]`
	for _, document := range []string{
		`{"type":"function","function":{"name":"w","strict":false}}`,
		`{"type":"function","function":{"name":"w","strict":true}}`,
	} {
		if got, _ := rewrite(t, document, convert.OpenAIStrict, convert.OpenAIStrict); got != want {
			t.Errorf("%s became %s, want %s", document, got, want)
		}
	}
	if got, _ := rewrite(t, `{"name":"w"}`, convert.OpenAIStrict, convert.OpenAIStrict); !strings.Contains(got, `"strict":true`) {
		t.Errorf("a function alone became %s", got)
	}
}
