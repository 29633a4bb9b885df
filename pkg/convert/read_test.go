package convert_test

import (
	"errors"
	"strings"
	"testing"

	"toolx/pkg/convert"
	"toolx/pkg/fault"
)

const (
	mcpTool      = `{"name":"w","description":"W","inputSchema":` + city + `}`
	openaiTool   = `{"type":"function","function":{"name":"w","description":"W","parameters":` + city + `}}`
	declaration  = `{"name":"w","description":"W","parameters":{"type":"OBJECT","properties":{"city":{"type":"STRING"}},"required":["city"]}}`
	declarations = `{"functionDeclarations":[` + declaration + `]}`
)

// TestDetect recognises every format, in every wrapping (CONV-6).
func TestDetect(t *testing.T) {
	for name, test := range map[string]struct {
		document string
		want     convert.Format
	}{
		"mcp":                        {mcpTool, convert.MCP},
		"mcp, annotations alone":     {`{"name":"w","annotations":{"readOnlyHint":true}}`, convert.MCP},
		"array":                      {"[" + mcpTool + "]", convert.MCP},
		"tools/list":                 {`{"jsonrpc":"2.0","id":1,"result":{"tools":[` + mcpTool + `]}}`, convert.MCP},
		"result alone":               {`{"tools":[` + mcpTool + `],"nextCursor":"x"}`, convert.MCP},
		"toolx list --json":          {`{"servers":[{"name":"s","status":"ready","tools":[{"name":"s__w","server":"s","definition":` + mcpTool + `}]}]}`, convert.MCP},
		"its tools alone":            {`{"name":"s__w","server":"s","definition":` + mcpTool + `}`, convert.MCP},
		"config":                     {`{"servers":{"s":{"command":"x"}},"tools":[{"name":"w","description":"W","parameters":` + city + `,"implementation":{"type":"mock"}}]}`, convert.Custom},
		"config, other names":        {`{"name":"w","inputSchema":` + city + `,"implementation":{"type":"builtin"},"timeout":"3s"}`, convert.Custom},
		"openai":                     {openaiTool, convert.OpenAI},
		"openai request":             {`{"model":"m","messages":[],"tools":[` + openaiTool + `]}`, convert.OpenAI},
		"openai, old functions":      {`{"functions":[{"name":"w","description":"W","parameters":` + city + `}]}`, convert.Custom},
		"one a line":                 {openaiTool + "\n" + openaiTool + "\n", convert.OpenAI},
		"responses":                  {`{"type":"function","name":"w","parameters":` + city + `,"strict":false}`, convert.Responses},
		"anthropic":                  {`{"name":"w","input_schema":` + city + `}`, convert.Anthropic},
		"anthropic, typed":           {`{"type":"custom","name":"w","input_schema":` + city + `}`, convert.Anthropic},
		"gemini":                     {declarations, convert.Gemini},
		"gemini list":                {"[" + declarations + "]", convert.Gemini},
		"gemini, snake case":         {`{"tools":[{"function_declarations":[` + declaration + `]}]}`, convert.Gemini},
		"gemini declaration":         {declaration, convert.Gemini},
		"gemini, without parameters": {`{"functionDeclarations":[{"name":"w"}]}`, convert.Gemini},
		"gemini-json":                {`{"functionDeclarations":[{"name":"w","parametersJsonSchema":` + city + `}]}`, convert.GeminiJSON},
		"gemini-json declaration":    {`{"name":"w","parameters_json_schema":` + city + `}`, convert.GeminiJSON},
		"bedrock":                    {`{"toolConfig":{"tools":[{"toolSpec":{"name":"w","inputSchema":{"json":` + city + `}}}]}}`, convert.Bedrock},
		"bedrock specification":      {`{"name":"w","inputSchema":{"json":` + city + `}}`, convert.Bedrock},
		"langchain":                  {`{"name":"w","description":"W","schema":` + city + `}`, convert.LangChain},
		"langchain, kwargs alone":    {`{"lc_kwargs":{"name":"w","schema":` + city + `}}`, convert.LangChain},
		"byte order mark":            {"\ufeff" + mcpTool, convert.MCP},
		"the same twice over":        {`{"name":"w","parameters":` + city + `,"schema": ` + city + `}`, convert.Custom},
		"a property's name is no mark": {
			`{"name":"w","inputSchema":{"type":"object","properties":{"schema":{"type":"string"},"input_schema":{"type":"string"},"_def":{"type":"string"}}}}`,
			convert.MCP,
		},
	} {
		t.Run(name, func(t *testing.T) {
			source, err := convert.Read([]byte(test.document), "")
			if err != nil {
				t.Fatal(err)
			}
			if source.Format != test.want || len(source.Tools) == 0 {
				t.Fatalf("read as %q: %s", source.Format, source.Tools)
			}
			if !strings.Contains(string(source.Tools[0].Definition), `"name":"w"`) {
				t.Errorf("read %s", source.Tools[0].Definition)
			}
		})
	}
}

// TestServersOfListing holds that a listing's tools keep their servers, so that calls find back.
func TestServersOfListing(t *testing.T) {
	source, err := convert.Read([]byte(`{"servers":[
		{"name":"s","tools":[{"name":"s__w","server":"s","definition":`+mcpTool+`}]},
		{"name":"bare","tools":[`+mcpTool+`]},
		{"name":"","tools":[{"name":"w","server":"","definition":`+mcpTool+`}]},
		{"name":"broken","status":"failed","tools":null}]}`), "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range convert.ConvertAll(source.Tools, convert.OpenAI).Tools {
		names = append(names, tool.Name+" of "+tool.Server)
	}
	if got, want := strings.Join(names, ", "), "s__w of s, bare__w of bare, w of "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAmbiguous holds that a tool which reads differently in several formats is the user's to decide, and that --from
// decides.
func TestAmbiguous(t *testing.T) {
	for document, candidates := range map[string]string{
		`{"name":"w","schema":{"type":"object"},"inputSchema":` + city + `}`:                                          "mcp, langchain",
		`{"name":"w","input_schema":{"type":"object"},"parameters":` + city + `}`:                                     "openai, anthropic",
		`{"name":"w","parametersJsonSchema":` + city + `,"input_schema":{"type":"object","properties":{"a":{}}}}`:     "anthropic, gemini-json",
		`{"name":"w","parameters":{"type":"OBJECT"},"schema":{"type":"object","properties":{"a":{"type":"string"}}}}`: "langchain, gemini",
	} {
		_, err := convert.Read([]byte(document), "")
		var ambiguous *convert.AmbiguousError
		if !errors.As(err, &ambiguous) {
			t.Errorf("%s: %v", document, err)
			continue
		}
		if got := convert.Join(ambiguous.Candidates); got != candidates {
			t.Errorf("%s can be %s, want %s", document, got, candidates)
		}
		if fault.KindOf(err) != fault.KindUsage || !strings.Contains(fault.HintOf(err), "--from ") {
			t.Errorf("kind %s, hint %q", fault.KindOf(err), fault.HintOf(err))
		}
		for _, candidate := range ambiguous.Candidates {
			if _, err := convert.ParseFormat(string(candidate)); err != nil {
				t.Errorf("--from cannot decide: %v", err)
			}
			if source, err := convert.Read([]byte(document), candidate); err != nil || source.Format != candidate {
				t.Errorf("%s as %s: %v", document, candidate, err)
			}
		}
	}
}

// TestUnreadable holds what is said of documents without a readable tool.
func TestUnreadable(t *testing.T) {
	for document, want := range map[string]string{
		`{"lc":1,"type":"not_implemented","id":["langchain","tools","W"]}`: "export name, description, z.toJSONSchema",
		`{"name":"w","schema":{"_def":{"typeName":"ZodObject"}}}`:          "z.toJSONSchema",
		`{"name":"w","schema":{"~standard":{"vendor":"zod"},"def":{}}}`:    "z.toJSONSchema",
		`{"name":"w","inputSchema":{"def":{"type":"object"},"type":"x"}}`:  "z.toJSONSchema",
		`{"_def":{"typeName":"ZodObject"}}`:                                "z.toJSONSchema",
		`{"name":"w","args_schema":"<class 'W'>"}`:                         "model_json_schema()",
		`{"type":"web_search_20250305","name":"web_search"}`:               `type "web_search_20250305"`,
		`{"function":{"name":"w","parameters":[]}}`:                        "cannot read tool w: its schema is not an object",
		`[1]`:                           "tool #1: it is not an object",
		`{"hello":"world"}`:             "it has no name",
		`{"type":"function","name":""}`: "it has no name",
		`{"type":"function","function":{"parameters":{}}}`:                     "it has no function.name",
		`{"name":"w","inputSchema":[]}`:                                        "its schema is not an object",
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no tool"}}`: "no tool",
	} {
		_, err := convert.Read([]byte(document), "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", document, err, want)
			continue
		}
		if fault.KindOf(err) != fault.KindUsage {
			t.Errorf("%s: kind %s", document, fault.KindOf(err))
		}
	}
}

// TestUnreadableAmongOthers holds that what cannot be read takes no other tool down.
func TestUnreadableAmongOthers(t *testing.T) {
	source, err := convert.Read([]byte(`[{"googleSearch":{}},`+declarations+`,{"lc":1,"type":"not_implemented"},"x"]`),
		"")
	if err != nil {
		t.Fatal(err)
	}
	if len(source.Tools) != 1 || len(source.Skipped) != 3 {
		t.Fatalf("%d tools, skipped %v", len(source.Tools), source.Skipped)
	}
	for _, loss := range source.Skipped {
		if loss.Severity != convert.Fatal {
			t.Errorf("%v is %s", loss, loss.Severity)
		}
	}
	if got := source.Skipped[2].String(); got != "skipped #4: it is not an object" {
		t.Error(got)
	}
}

// TestNotJSON holds that a message says where.
func TestNotJSON(t *testing.T) {
	for document, want := range map[string]string{
		"{\"a\":1}\n{\"b\" 2}": "not JSON at line 2, column 6:",
		"[1,\n 2":              "not JSON at line 2, column 3: unexpected end of input",
		"hello":                "not JSON at line 1, column 1:",
		"[]\n\n  x":            "not JSON at line 3, column 3:",
	} {
		_, err := convert.Read([]byte(document), "")
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", document, err, want)
		}
		if fault.KindOf(err) != fault.KindUsage {
			t.Errorf("%q: kind %s", document, fault.KindOf(err))
		}
	}
}

// TestFrom holds that a named format is the one that is read.
func TestFrom(t *testing.T) {
	if _, err := convert.Read([]byte(mcpTool), convert.Hermes); err == nil {
		t.Error("hermes was read")
	}
	if _, err := convert.Read([]byte(mcpTool), "nonsense"); err == nil {
		t.Error("nonsense was read")
	}
	for _, format := range []convert.Format{
		convert.OpenAI, convert.Qwen, convert.QwenCoder, convert.Ollama, convert.Mistral, convert.Cohere,
	} {
		for _, document := range []string{openaiTool, `{"name":"w","description":"W","parameters":` + city + `}`} {
			source, err := convert.Read([]byte(document), format)
			if err != nil || string(source.Tools[0].Definition) != mcpTool {
				t.Errorf("%s as %s: %v", document, format, err)
			}
		}
	}
	for _, format := range []convert.Format{
		convert.LangChain, convert.OpenAI, convert.Responses, convert.Anthropic, convert.Gemini,
		convert.GeminiJSON, convert.Bedrock,
	} {
		if source, err := convert.Read([]byte(mcpTool), format); err == nil {
			t.Errorf("an MCP tool was read as %s, and its schema was lost: %s", format, source.Tools)
		}
	}
}

// TestCustomTools holds what is kept of a tool without a provider's wrapping: what MCP knows, and what OpenAI has
// beside a function's parameters.
func TestCustomTools(t *testing.T) {
	for document, want := range map[string]string{
		`{"name":"w","title":"T","schema":` + city + `,"annotations":{"readOnlyHint":true},"outputSchema":{},"implementation":{"type":"mock"},"timeout":"1s","_meta":{"a":1}}`: `{"name":"w","inputSchema":` + city + `,"title":"T","annotations":{"readOnlyHint":true},"outputSchema":{},"_meta":{"a":1}}`,
		`{"name":"w","parameters":` + city + `,"strict":true}`: `{"name":"w","inputSchema":` + city + `,"_meta":{"toolx/openai":{"type":"function","function":{"name":null,"parameters":null,"strict":true,"description":null}}}}`,
		`{"name":"w","description":"W"}`:                       `{"name":"w","description":"W","inputSchema":{"type":"object","properties":{}}}`,
	} {
		source, err := convert.Read([]byte(document), "")
		if err != nil || source.Format != convert.Custom {
			t.Errorf("%s: %+v, %v", document, source, err)
			continue
		}
		if got := string(source.Tools[0].Definition); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestGeminiSchemas holds what JSON Schema Gemini's own schemas become.
func TestGeminiSchemas(t *testing.T) {
	document := `{"functionDeclarations":[{"name":"w","parameters":{"type":"OBJECT","properties":{
		"type":{"type":"STRING","nullable":true,"enum":["A","B"]},
		"list":{"type":"ARRAY","items":{"type":"TYPE_UNSPECIFIED","nullable":true},"minItems":"1","maxItems":10},
		"either":{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}],"nullable":true},
		"nullable":{"type":"BOOLEAN","nullable":false}}}}]}`
	source, err := convert.Read([]byte(document), "")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"w","inputSchema":{"type":"object","properties":{` +
		`"type":{"type":["string","null"],"enum":["A","B",null]},` +
		`"list":{"type":"array","items":{},"minItems":1,"maxItems":10},` +
		`"either":{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]},` +
		`"nullable":{"type":"boolean"}}}}`
	if got := string(source.Tools[0].Definition); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
