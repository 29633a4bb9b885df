package oracles_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/model/parsers"
	"github.com/ollama/ollama/tools"

	"toolx/pkg/convert"
	"toolx/pkg/exec"
)

// asked are calls of the corpus' tools, with values of every type.
func asked() []askedCall {
	return []askedCall{
		{"now", `{}`},
		{"dim", `{"lamp":"Hall <1> & \"two\"","level":30,"slow":false}`},
		{"dim", `{"lamp":"007","level":0,"slow":true}`},
		{"dim", `{"lamp":"true","level":1}`},
		{"fetch", `{"url":"https://example.com/?a=1&b=<2>","max_length":100,"factor":0.25,"accept":["text/html","a/b"]}`},
		{"move", `{"from":{"x":1.5,"y":-2},"to":{"x":0,"y":0}}`},
		{"grow", `{"root":{"name":"a","children":[{"name":"b","children":[{"name":"c"}]}]}}`},
		{"draw", `{"shape":{"kind":"circle","radius":2}}`},
		{"tag", `{"labels":{"where":"hall","color":"blue"}}`},
		{"note", `{"text":"first\nsecond","parent":null,"weight":2.5}`},
		{"note", `{"text":"\n  if a < b && c > d {\n\treturn\n  }\n","parent":"x"}`},
		{"note", `{"text":"{\"a\": [1, 2]}","parent":"[]"}`},
		{"note", `{"text":"say <b>bold</b> and &amp; or 1 < 2"}`},
		{"pick", `{"word":"drei","number":2,"flag":true}`},
		{"odd", `{"type":"x","items":["a","b"],"strict":true,"properties":{"required":false}}`},
		{"signs", `{"a.b":3,"größe":1.75,"with space":"ü 📏"}`},
		{"search", `{"filter":{"items":[{"field":"size","range":{"min":1,"max":2}}],"matrix":[[1,2],[3]]},"limit":5}`},
	}
}

type askedCall struct{ tool, arguments string }

// TestHermesCalls has Ollama write calls as Qwen models do, and read them: toolx reads
// the same.
func TestHermesCalls(t *testing.T) {
	for _, asked := range asked() {
		t.Run(asked.tool, func(t *testing.T) {
			tool := single(t, asked.tool)
			text := "I will.\n" + written(t, "qwen3-vl-instruct", tool.Name, asked.arguments)
			want := convert.ToolCall{Name: tool.Name, Arguments: json.RawMessage(asked.arguments)}
			for _, parser := range []string{goTemplate, "qwen3", "qwen3-vl-instruct"} {
				wantCalls(t, parsed(t, parser, text, tool), []convert.ToolCall{want})
			}
			thought := "Not <nothing>.\n</think>\n\n" + text
			for _, parser := range []string{"qwen3-thinking", "qwen3-vl-thinking", "qwen3.5"} {
				wantCalls(t, parsed(t, parser, thought, tool), []convert.ToolCall{want})
			}
			for _, text := range []string{text, thought, text + "\n" + text} {
				message, err := convert.ReadCalls([]byte(text), "")
				if err != nil || message.Format != convert.Hermes {
					t.Fatalf("%+v, %v: %s", message, err, text)
				}
				wantCalls(t, message.Calls, slices.Repeat([]convert.ToolCall{want}, strings.Count(text, "<tool_call>")))
			}
		})
	}
}

// TestQwenCoderCalls does the same with Qwen3-Coder's XML. Its values are text, which
// the executor types by the tool's own schema: that gives what Ollama gives.
func TestQwenCoderCalls(t *testing.T) {
	for _, asked := range asked() {
		t.Run(asked.tool, func(t *testing.T) {
			tool := single(t, asked.tool)
			text := "I will.\n" + written(t, "qwen3-coder", tool.Name, asked.arguments)
			want := convert.ToolCall{Name: tool.Name, Arguments: json.RawMessage(asked.arguments)}
			wantCalls(t, parsed(t, "qwen3-coder", text, tool), []convert.ToolCall{want})

			message, err := convert.ReadCalls([]byte(text), "")
			if err != nil || message.Format != convert.QwenCoder || len(message.Calls) != 1 {
				t.Fatalf("%+v, %v: %s", message, err, text)
			}
			call := message.Calls[0]
			if call.Name != tool.Name || !call.Untyped {
				t.Errorf("read as %+v", call)
			}
			wantJSON(t, asked.tool, typed(t, named(t, asked.tool), call), want.Arguments)
		})
	}
}

// single is one tool of the corpus, as Ollama gets it.
func single(t *testing.T, name string) convert.Converted {
	t.Helper()
	all := convert.ConvertAll([]convert.Tool{named(t, name)}, convert.Ollama)
	if len(all.Tools) != 1 {
		t.Fatal(all.Skipped)
	}
	return all.Tools[0]
}

// written is a call in the text of a model, by Ollama's hand.
func written(t *testing.T, renderer, name, arguments string) string {
	t.Helper()
	call := api.ToolCall{Function: api.ToolCallFunction{Name: name}}
	if err := json.Unmarshal([]byte(arguments), &call.Function.Arguments); err != nil {
		t.Fatal(err)
	}
	said := api.Message{Role: "assistant", ToolCalls: []api.ToolCall{call}}
	prompt := render(t, renderer, append(question(), said, question()[0]), nil)
	begin, end := strings.Index(prompt, "<tool_call>"), strings.LastIndex(prompt, "</tool_call>")
	if begin < 0 || end < begin {
		t.Fatalf("no call: %s", prompt)
	}
	return prompt[begin : end+len("</tool_call>")]
}

// parsed are the calls that a parser of Ollama reads from a model's text.
func parsed(t *testing.T, name, text string, tool convert.Converted) []convert.ToolCall {
	t.Helper()
	if name == goTemplate {
		calls, _ := tools.NewParser(parseTemplate(t).Template, []api.Tool{ollamaTool(t, tool.Tool)}).Add(text)
		return fromOllama(t, calls)
	}
	parser := parsers.ParserForName(name)
	if parser == nil {
		t.Fatalf("Ollama has no parser %s", name)
	}
	parser.Init([]api.Tool{ollamaTool(t, tool.Tool)}, nil, nil)
	_, _, calls, err := parser.Add(text, true)
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, text)
	}
	return fromOllama(t, calls)
}

func fromOllama(t *testing.T, calls []api.ToolCall) []convert.ToolCall {
	t.Helper()
	found := make([]convert.ToolCall, len(calls))
	for i, call := range calls {
		found[i] = convert.ToolCall{Name: call.Function.Name, Arguments: marshal(t, call.Function.Arguments)}
	}
	return found
}

// typed are a call's arguments as the executor sends them to the tool.
func typed(t *testing.T, tool convert.Tool, call convert.ToolCall) []byte {
	t.Helper()
	schema, err := json.Marshal(object(t, tool.Definition)["inputSchema"])
	if err != nil {
		t.Fatal(err)
	}
	bus := &exec.Bus{}
	registry := exec.NewRegistry(bus)
	registry.Register(&exec.Tool{Name: call.Name, Plain: call.Name, Type: exec.TypeMCP, InputSchema: schema})
	executor := exec.Executor{Registry: registry, Bus: bus}
	prepared, err := executor.Prepare(t.Context(), exec.Call{Tool: call.Name, Arguments: call.Arguments, Untyped: true})
	if err != nil {
		t.Fatal(err)
	}
	return prepared.Arguments
}

// TestHermesResultsAreOllamas compares the text of a turn's results with what Ollama's
// Qwen models read.
func TestHermesResultsAreOllamas(t *testing.T) {
	messages := question()
	for _, result := range successes() {
		messages = append(messages, api.Message{Role: "tool", Content: result.Text})
	}
	for format, renderer := range map[convert.Format]string{
		convert.Hermes:    "qwen3-vl-instruct",
		convert.QwenCoder: "qwen3-coder",
	} {
		text, err := convert.WriteResults(format, successes())
		if err != nil {
			t.Fatal(err)
		}
		prompt := render(t, renderer, messages, nil)
		if want := "<|im_start|>user\n" + string(text) + "<|im_end|>"; !strings.Contains(prompt, want) {
			t.Errorf("%s: no\n%s\nin\n%s", renderer, want, prompt)
		}
	}
}
