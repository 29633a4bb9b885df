package convert_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"toolx/pkg/convert"
)

// rewrite reads a document and writes it in another format.
func rewrite(t *testing.T, document string, from, to convert.Format) (string, *convert.Conversion) {
	t.Helper()
	source, err := convert.Read([]byte(document), from)
	if err != nil {
		t.Fatalf("Read(%s): %v", document, err)
	}
	if len(source.Skipped) > 0 {
		t.Fatalf("skipped on reading: %v", source.Skipped)
	}
	converted := convert.ConvertAll(source.Tools, to)
	return string(converted.Document()), converted
}

// city is a schema that every format can hold.
const city = `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`

// TestLangChainToQwen holds CONV-1 and CONV-4 to the letter.
func TestLangChainToQwen(t *testing.T) {
	qwen := func(name, description string) string {
		return `[{"type":"function","function":{"name":"` + name + `","description":"` + description +
			`","parameters":` + city + `}}]`
	}
	for name, test := range map[string]struct{ in, want string }{
		"CONV-1 lc_name wins": {
			`{"name":"weather","description":"W","schema":` + city + `,"invoke":"fn","lc_name":"get_weather","lc_kwargs":{"name":"x"}}`,
			qwen("get_weather", "W"),
		},
		"CONV-1 name where there is no lc_name": {
			`{"name":"weather","description":"W","schema":` + city + `}`,
			qwen("weather", "W"),
		},
		"CONV-1 name where lc_name is empty or null": {
			`{"name":"weather","description":"W","schema":` + city + `,"lc_name":null}`,
			qwen("weather", "W"),
		},
		"missing parts from lc_kwargs": {
			`{"lc_serializable":false,"lc_kwargs":{"name":"weather","description":"W","schema":` + city + `},"lc_namespace":["langchain","tools"]}`,
			qwen("weather", "W"),
		},
		"JSON Schema of lc_kwargs where the schema is zod's": {
			`{"name":"weather","description":"W","schema":{"_def":{"typeName":"ZodObject"}},"lc_kwargs":{"schema":` + city + `}}`,
			qwen("weather", "W"),
		},
		"the schema of Python's tools": {
			`{"name":"weather","description":"W","args_schema":` + city + `,"return_direct":false}`,
			qwen("weather", "W"),
		},
		"the schema of Python's tools, serialized by its constructor": {
			`{"lc":1,"type":"constructor","id":["langchain_core","tools","W"],"kwargs":{"name":"weather","description":"W","args_schema":` + city + `}}`,
			qwen("weather", "W"),
		},
		"CONV-4 description is always there": {
			`{"name":"weather","schema":` + city + `}`,
			qwen("weather", ""),
		},
		"serialized by its constructor": {
			`{"lc":1,"type":"constructor","id":["langchain","tools","W"],"kwargs":{"name":"weather","description":"W","schema":` + city + `}}`,
			qwen("weather", "W"),
		},
		"CONV-4 parameters is an object schema": {
			`{"name":"now","description":"W","schema":{}}`,
			`[{"type":"function","function":{"name":"now","description":"W","parameters":{"type":"object","properties":{}}}}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := rewrite(t, test.in, "", convert.Qwen)
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			for _, gone := range []string{"lc_", "invoke", "schema\""} {
				if strings.Contains(got, gone) {
					t.Errorf("CONV-1: %s is still there: %s", gone, got)
				}
			}
		})
	}
}

// TestMixedArray proves CONV-2: MCP and custom tools in one array, the input unchanged, everything in its order.
func TestMixedArray(t *testing.T) {
	document := []byte(`[
	  {"name":"a","description":"A","inputSchema":` + city + `},
	  {"name":"b","description":"B","parameters":` + city + `,"implementation":{"type":"mock","mock_response":1}},
	  {"name":"x","description":"C","schema":` + city + `,"lc_name":"c"},
	  null
	]`)
	before := bytes.Clone(document)
	source, err := convert.Read(document, "")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := source.Label(), "MCP and custom and LangChain"; got != want {
		t.Errorf("label %q, want %q", got, want)
	}
	tools := make([]convert.Tool, len(source.Tools))
	for i, tool := range source.Tools {
		tools[i] = convert.Tool{Server: tool.Server, Definition: bytes.Clone(tool.Definition)}
	}
	for _, format := range convert.Formats() {
		converted := convert.ConvertAll(source.Tools, format)
		if len(converted.Tools) != 3 {
			t.Fatalf("%s: %d tools, skipped %v", format, len(converted.Tools), converted.Skipped)
		}
		for i, name := range []string{"a", "b", "c"} {
			if converted.Tools[i].Name != name {
				t.Errorf("%s: tool %d is %s, want %s", format, i, converted.Tools[i].Name, name)
			}
		}
		if document := converted.Document(); bytes.Contains(document, []byte("mock_response")) {
			t.Errorf("%s says how the tool is run: %s", format, document)
		}
	}
	if !bytes.Equal(document, before) {
		t.Error("CONV-2: the document was changed")
	}
	for i := range tools {
		if !bytes.Equal(tools[i].Definition, source.Tools[i].Definition) {
			t.Errorf("CONV-2: definition %d was changed", i)
		}
	}
}

// TestNothing proves CONV-2: nothing, or an empty array, gives an empty list and no error.
func TestNothing(t *testing.T) {
	for _, document := range []string{
		"", " \n", "\ufeff", "null", "[]", "[null]", `{"tools":[]}`, `{"tools":null}`, `{"result":{"tools":[]}}`,
		`{"servers":[]}`, `{"servers":[{"name":"a","status":"ready","tools":[]}]}`, `[{"functionDeclarations":[]}]`,
	} {
		source, err := convert.Read([]byte(document), "")
		if err != nil || len(source.Tools) != 0 || source.Format != "" {
			t.Errorf("Read(%q) = %+v, %v", document, source, err)
			continue
		}
		for _, format := range convert.Formats() {
			want := "[]"
			if format == convert.Hermes {
				want = ""
			}
			if got := string(convert.ConvertAll(nil, format).Document()); got != want {
				t.Errorf("%s of nothing is %q, want %q", format, got, want)
			}
		}
	}
}

// TestWritten holds what each format makes of one plain tool (CONV-6).
func TestWritten(t *testing.T) {
	const function = `{"type":"function","function":{"name":"w","description":"W","parameters":` + city + `}}`
	for format, want := range map[convert.Format]string{
		convert.MCP: `[{"name":"w","description":"W","inputSchema":` + city + `}]`,
		convert.LangChain: `[{"name":"w","description":"W","schema":` + city +
			`,"lc_name":"w","lc_kwargs":{"name":"w","description":"W","schema":` + city + `}}]`,
		convert.Qwen:   "[" + function + "]",
		convert.Ollama: `[{"type":"function","function":{"name":"w","description":"W","parameters":{"type":"object","required":["city"],"properties":{"city":{"type":"string"}}}}}]`,
		convert.OpenAI: "[" + function + "]",
		convert.Responses: `[{"type":"function","name":"w","description":"W","parameters":` + city +
			`,"strict":false}]`,
		convert.Anthropic: `[{"name":"w","description":"W","input_schema":` + city + `}]`,
		convert.Gemini:    `[{"functionDeclarations":[{"name":"w","description":"W","parameters":{"type":"OBJECT","properties":{"city":{"type":"STRING"}},"required":["city"]}}]}]`,
		convert.GeminiJSON: `[{"functionDeclarations":[{"name":"w","description":"W","parametersJsonSchema":` + city +
			`}]}]`,
		convert.Bedrock: `[{"toolSpec":{"name":"w","description":"W","inputSchema":{"json":` + city + `}}}]`,
		convert.Mistral: "[" + function + "]",
		convert.Cohere:  "[" + function + "]",
		convert.OpenAIStrict: `[{"type":"function","function":{"name":"w","description":"W","parameters":` +
			strings.TrimSuffix(city, "}") + `,"additionalProperties":false},"strict":true}}]`,
	} {
		got, converted := rewrite(t, `{"name":"w","description":"W","inputSchema":`+city+`}`, "", format)
		if !sameJSON(t, got, want) {
			t.Errorf("%s:\ngot  %s\nwant %s", format, got, want)
		}
		for _, loss := range converted.Losses() {
			if loss.Severity != convert.Info {
				t.Errorf("%s of a plain tool loses something: %v", format, loss)
			}
		}
	}
}

// TestNoEmptyDescription holds that Bedrock gets no description that it refuses, and Ollama none that it drops.
func TestNoEmptyDescription(t *testing.T) {
	for _, format := range []convert.Format{convert.Bedrock, convert.Ollama} {
		for _, description := range []string{``, `"description":"",`} {
			got, _ := rewrite(t, `{"name":"w",`+description+`"inputSchema":`+city+`}`, "", format)
			if strings.Contains(got, "description") {
				t.Errorf("%s: an empty description: %s", format, got)
			}
		}
	}
}

// TestNoParametersOfGemini holds that an object without properties is not sent.
func TestNoParametersOfGemini(t *testing.T) {
	got, _ := rewrite(t, `{"name":"w","description":"W","inputSchema":{"type":"object"}}`, "", convert.Gemini)
	if want := `[{"functionDeclarations":[{"name":"w","description":"W"}]}]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestBadToolTakesNoOtherDown holds that a tool which cannot be expressed is reported, in its place among the losses.
func TestBadToolTakesNoOtherDown(t *testing.T) {
	tools := []convert.Tool{
		{Server: "s", Definition: json.RawMessage(`{"name":"a","title":"A","inputSchema":` + city + `}`)},
		{Server: "s", Definition: json.RawMessage(`{"name":"b","inputSchema":"none"}`)},
		{Definition: json.RawMessage(`{`)},
		{Definition: json.RawMessage(`{"inputSchema":{}}`)},
		{Server: "s", Definition: json.RawMessage(`{"name":"c","title":"C","inputSchema":` + city + `}`)},
		{Server: "s", Definition: json.RawMessage(`{"name":"c","inputSchema":` + city + `}`)},
	}
	converted := convert.ConvertAll(tools, convert.Anthropic)
	if len(converted.Tools) != 2 || len(converted.Skipped) != 4 {
		t.Fatalf("%d tools, skipped %v", len(converted.Tools), converted.Skipped)
	}
	var lines []string
	for _, loss := range converted.Losses() {
		lines = append(lines, string(loss.Severity)+" "+loss.String())
	}
	want := []string{
		"info anthropic: dropped title at s__a",
		"error anthropic: skipped s__b: its schema is not an object",
		"error anthropic: skipped #3: its definition is not JSON",
		"error anthropic: skipped #4: it has no name",
		"info anthropic: dropped title at s__c",
		"error anthropic: skipped s__c: it is already in the list",
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// TestLimits holds that limits of a provider are told, and nothing is cut.
func TestLimits(t *testing.T) {
	var tools []convert.Tool
	for i := range 129 {
		name := "t" + strings.Repeat("x", i%60) + string(rune('a'+i/60))
		definition := `{"name":"` + name + `","description":"` + strings.Repeat("d", 1025) + `","inputSchema":` + city +
			`}`
		tools = append(tools, convert.Tool{Definition: json.RawMessage(definition)})
	}
	converted := convert.ConvertAll(tools, convert.OpenAI)
	if len(converted.Tools) != 129 || len(converted.Limits) != 1 {
		t.Fatalf("%d tools, limits %v", len(converted.Tools), converted.Limits)
	}
	losses := converted.Losses()
	if got, want := losses[len(losses)-1].String(),
		"openai: kept 129 tools; a request allows at most 128"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	want := "openai: kept a description of 1025 characters, over the documented 1024, at " + converted.Tools[0].Name
	if got := losses[0].String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if other := convert.ConvertAll(tools, convert.Anthropic); len(other.Losses()) != 0 {
		t.Errorf("Anthropic has no such limits: %v", other.Losses())
	}
}

// TestExtrasAreReported holds that what another format cannot say is told, and that the rest of an MCP definition is no
// loss to who calls the tool.
func TestExtrasAreReported(t *testing.T) {
	source := `{"type":"custom","name":"w","description":"W","input_schema":` + city +
		`,"cache_control":{"type":"ephemeral"},"strict":true,"defer_loading":false}`
	_, converted := rewrite(t, source, "", convert.OpenAI)
	var lines []string
	for _, loss := range converted.Losses() {
		lines = append(lines, string(loss.Severity)+" "+loss.String())
	}
	want := "lossy openai: dropped cache_control at w\nlossy openai: dropped strict at w\n" +
		"info openai: dropped defer_loading at w"
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	_, strict := rewrite(t, source, "", convert.OpenAIStrict)
	if strings.Contains(strict.Losses()[1].String(), "strict at") {
		t.Errorf("strict is said there too: %v", strict.Losses())
	}
}

// TestServersHaveNoSay holds that a server's definition cannot ask a provider for anything: what documents keep in
// _meta counts for documents.
func TestServersHaveNoSay(t *testing.T) {
	definition := json.RawMessage(`{"name":"w","inputSchema":` + city +
		`,"_meta":{"toolx/anthropic":{"name":null,"input_schema":null,"type":"bash_20250124"}}}`)
	fromServer := convert.ConvertAll([]convert.Tool{{Server: "s", Definition: definition}}, convert.Anthropic).Tools[0]
	if want := `{"name":"s__w","input_schema":` + city + `}`; string(fromServer.Tool) != want {
		t.Errorf("got %s, want %s", fromServer.Tool, want)
	}
	fromDocument := convert.ConvertAll([]convert.Tool{{Definition: definition}}, convert.Anthropic).Tools[0]
	if !strings.Contains(string(fromDocument.Tool), "bash_20250124") {
		t.Errorf("a document's own form is gone: %s", fromDocument.Tool)
	}
}

// TestHermesPrompt compares with what the chat template of Qwen3 prints.
func TestHermesPrompt(t *testing.T) {
	got, _ := rewrite(t, `[{"name":"w","description":"a <b> & \"c\"\u2028\u00e9","inputSchema":{"type":"object","properties":{"n":{"type":"integer","enum":[1,2]}}}},
		{"name":"v","inputSchema":{}}]`, "", convert.Hermes)
	want := "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n" +
		"You are provided with function signatures within <tools></tools> XML tags:\n<tools>\n" +
		`{"type": "function", "function": {"name": "w", "description": "a <b> & \"c\"` + "\u2028é" +
		`", "parameters": {"type": "object", "properties": {"n": {"type": "integer", "enum": [1, 2]}}}}}` + "\n" +
		`{"type": "function", "function": {"name": "v", "description": "", "parameters": {"type": "object", "properties": {}}}}` + "\n" +
		"</tools>\n\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n" +
		"<tool_call>\n" + `{"name": <function-name>, "arguments": <args-json-object>}` + "\n</tool_call>"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestEstimateTokens holds the estimate: 4.1 bytes of compact JSON for a token.
func TestEstimateTokens(t *testing.T) {
	for text, want := range map[string]int{"": 0, "[]": 1, "{ }": 1, `"` + strings.Repeat("x", 408) + `"`: 100} {
		if got := convert.EstimateTokens([]byte(text)); got != want {
			t.Errorf("EstimateTokens(%q) = %d, want %d", text, got, want)
		}
	}
}

// sameJSON compares whatever the order of members.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	return normal(t, a) == normal(t, b)
}

// normal is JSON with its members in alphabetical order.
func normal(t *testing.T, text string) string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
