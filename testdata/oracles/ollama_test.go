package oracles_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/model/parsers"
	"github.com/ollama/ollama/model/renderers"

	"toolx/pkg/convert"
	"toolx/pkg/exec"
)

// TestOllamaKeepsAll sends every tool through Ollama's own type, which is all that a
// model's prompt is made of: what comes out is what went in, in the same order
// (CONV-6).
func TestOllamaKeepsAll(t *testing.T) {
	for _, tool := range converted(t, tools(t), convert.Ollama) {
		kept := ollamaTool(t, tool.Tool)
		wantJSON(t, tool.Name, marshal(t, kept), tool.Tool)
		var names []string
		for name := range kept.Function.Parameters.Properties.All() {
			names = append(names, name)
		}
		if want := topProperties(t, tool.Tool, "function", "parameters"); !slices.Equal(names, want) {
			t.Errorf("%s: parameters in the order %q, want %q", tool.Name, names, want)
		}
	}
}

func ollamaTool(t *testing.T, data []byte) api.Tool {
	t.Helper()
	var tool api.Tool
	if err := json.Unmarshal(data, &tool); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return tool
}

// topProperties are the names of a schema's properties, in order; path leads to the
// schema.
func topProperties(t *testing.T, data []byte, path ...string) []string {
	t.Helper()
	for _, step := range append(path, "properties") {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(data, &fields); err != nil {
			t.Fatal(err)
		}
		data = fields[step]
	}
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	var names []string
	for token, err := decoder.Token(); err == nil && decoder.More(); token, err = decoder.Token() {
		if name, ok := token.(string); ok {
			names = append(names, name)
			var value json.RawMessage
			if err := decoder.Decode(&value); err != nil {
				t.Fatal(err)
			}
		}
	}
	return names
}

// TestModelsSeeTools lets Ollama write the prompts of its Qwen models: each tool is in
// them, with every parameter and every description (AI-3).
func TestModelsSeeTools(t *testing.T) {
	list := tools(t)
	for _, renderer := range []string{"qwen3-vl-instruct", "qwen3.5", "qwen3-coder"} {
		t.Run(renderer, func(t *testing.T) {
			for _, tool := range converted(t, list, convert.Ollama) {
				prompt := render(t, renderer, question(), []api.Tool{ollamaTool(t, tool.Tool)})
				original := list[slices.IndexFunc(list, func(other convert.Tool) bool {
					return other.Server == tool.Server && nameOf(t, other) == tool.Plain
				})]
				for _, word := range append(words(object(t, original.Definition)["inputSchema"]), tool.Name) {
					if !appears(t, prompt, word) {
						t.Errorf("%s: the model does not see %q in\n%s", tool.Name, word, prompt)
					}
				}
			}
		})
	}
}

func question() []api.Message { return []api.Message{{Role: "user", Content: "dim the hall"}} }

func render(t *testing.T, renderer string, messages []api.Message, tools []api.Tool) string {
	t.Helper()
	prompt, err := renderers.RenderWithRenderer(renderer, messages, tools, nil)
	if err != nil {
		t.Fatal(err)
	}
	return prompt
}

// words are the names and descriptions of all properties of a schema.
func words(schema any) []string {
	fields, _ := schema.(map[string]any)
	var found []string
	if text, ok := fields["description"].(string); ok {
		found = append(found, text)
	}
	properties, _ := fields["properties"].(map[string]any)
	for name, property := range properties {
		found = append(append(found, name), words(property)...)
	}
	for _, keyword := range []string{"items", "additionalProperties", "allOf", "anyOf", "oneOf", "prefixItems", "$defs", "definitions"} {
		found = append(found, wordsBelow(keyword, fields[keyword])...)
	}
	return found
}

// wordsBelow are those of the schema, or of the schemas, that a keyword holds.
func wordsBelow(keyword string, value any) []string {
	var found []string
	switch held := value.(type) {
	case []any:
		for _, schema := range held {
			found = append(found, words(schema)...)
		}
	case map[string]any:
		if !strings.HasPrefix(keyword, "$def") && keyword != "definitions" {
			return words(held)
		}
		for _, schema := range held {
			found = append(found, words(schema)...)
		}
	}
	return found
}

// appears says whether a text is in a prompt: as it is, or as part of a JSON string,
// whose escapes Ollama writes for web pages.
func appears(t *testing.T, prompt, text string) bool {
	t.Helper()
	escaped, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(prompt, text) || strings.Contains(prompt, strings.Trim(string(escaped), `"`)) ||
		strings.Contains(prompt, strings.Trim(string(marshal(t, text)), `"`))
}

// TestHermesToolsAreOllamas compares the <tools> text with what Ollama writes for the
// same tools, line by line.
func TestHermesToolsAreOllamas(t *testing.T) {
	list := converted(t, tools(t), convert.Ollama)
	sent := make([]api.Tool, len(list))
	for i, tool := range list {
		sent[i] = ollamaTool(t, tool.Tool)
	}
	prompt := render(t, "qwen3-vl-instruct", question(), sent)
	want := toolLines(t, prompt)
	if len(want) != len(list) {
		t.Fatalf("%d tools in Ollama's prompt, want %d", len(want), len(list))
	}
	for i, line := range want {
		wantJSON(t, list[i].Name, []byte(line), list[i].Tool)
	}
	hermes := string(convert.ConvertAll(tools(t), convert.Hermes).Document())
	before, block, _ := strings.Cut(hermes, "<tools>\n")
	_, after, _ := strings.Cut(block, "\n</tools>")
	if !strings.Contains(prompt, before+"<tools>\n") || !strings.Contains(prompt, "\n</tools>"+after+"<|im_end|>") {
		t.Errorf("Ollama's prompt\n%s\nhas not the words around the tools that toolx writes:\n%s", prompt, hermes)
	}
}

// toolLines are the lines of the <tools> block.
func toolLines(t *testing.T, prompt string) []string {
	t.Helper()
	_, block, opened := strings.Cut(prompt, "<tools>\n")
	block, _, closed := strings.Cut(block, "\n</tools>")
	if !opened || !closed {
		t.Fatalf("no <tools> block: %s", prompt)
	}
	return strings.Split(block, "\n")
}

// asked are calls of the corpus' tools, with values of every type.
func asked() map[string]string {
	return map[string]string{
		"now":   `{}`,
		"dim":   `{"lamp":"Hall <1> & \"two\"","level":30,"slow":false}`,
		"fetch": `{"url":"https://example.com/?a=1&b=<2>","max_length":100,"factor":0.25,"accept":["text/html","a/b"]}`,
		"move":  `{"from":{"x":1.5,"y":-2},"to":{"x":0,"y":0}}`,
		"grow":  `{"root":{"name":"a","children":[{"name":"b","children":[{"name":"c"}]}]}}`,
		"draw":  `{"shape":{"kind":"circle","radius":2}}`,
		"tag":   `{"labels":{"where":"hall","color":"blue"}}`,
		"note":  `{"text":"first\nsecond","parent":null,"weight":2.5}`,
		"pick":  `{"word":"drei","number":2,"flag":true}`,
		"odd":   `{"type":"x","items":["a","b"],"strict":true,"properties":{"required":false}}`,
		"signs": `{"a.b":3,"größe":1.75,"with space":"ü 📏"}`,
		"search": `{"filter":{"items":[{"field":"size","range":{"min":1,"max":2}}],"matrix":[[1,2],[3]]},
			"limit":5}`,
	}
}

// TestHermesCalls has Ollama write calls as Qwen models do, and read them: toolx reads
// the same.
func TestHermesCalls(t *testing.T) {
	for name, arguments := range asked() {
		t.Run(name, func(t *testing.T) {
			tool := single(t, name)
			text := "I will.\n" + written(t, "qwen3-vl-instruct", tool.Name, arguments)
			want := convert.ToolCall{Name: tool.Name, Arguments: json.RawMessage(arguments)}
			for _, parser := range []string{"qwen3", "qwen3-vl-instruct"} {
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
	for name, arguments := range asked() {
		t.Run(name, func(t *testing.T) {
			tool := single(t, name)
			text := "I will.\n" + written(t, "qwen3-coder", tool.Name, arguments)
			want := convert.ToolCall{Name: tool.Name, Arguments: json.RawMessage(arguments)}
			wantCalls(t, parsed(t, "qwen3-coder", text, tool), []convert.ToolCall{want})

			message, err := convert.ReadCalls([]byte(text), "")
			if err != nil || message.Format != convert.QwenCoder || len(message.Calls) != 1 {
				t.Fatalf("%+v, %v: %s", message, err, text)
			}
			call := message.Calls[0]
			if call.Name != tool.Name || !call.Untyped {
				t.Errorf("read as %+v", call)
			}
			wantJSON(t, name, typed(t, named(t, name), call), want.Arguments)
		})
	}
}

// single is one tool of the corpus, as Ollama gets it.
func single(t *testing.T, name string) convert.Converted {
	t.Helper()
	tool, err := convert.Convert(named(t, name), convert.Ollama)
	if err != nil {
		t.Fatal(err)
	}
	return *tool
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
	parser := parsers.ParserForName(name)
	if parser == nil {
		t.Fatalf("Ollama has no parser %s", name)
	}
	parser.Init([]api.Tool{ollamaTool(t, tool.Tool)}, nil, nil)
	_, _, calls, err := parser.Add(text, true)
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, text)
	}
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
	prepared, err := executor.Prepare(exec.Call{Tool: call.Name, Arguments: call.Arguments, Untyped: true})
	if err != nil {
		t.Fatal(err)
	}
	return prepared.Arguments
}

// TestHermesResultsAreOllamas compares the text of a turn's results with what Ollama's
// Qwen models read.
func TestHermesResultsAreOllamas(t *testing.T) {
	messages := question()
	var plain []convert.ToolResult
	for _, result := range results() {
		if !result.IsError {
			plain = append(plain, result)
			messages = append(messages, api.Message{Role: "tool", Content: result.Text})
		}
	}
	for format, renderer := range map[convert.Format]string{convert.Hermes: "qwen3-vl-instruct", convert.QwenCoder: "qwen3-coder"} {
		text, err := convert.WriteResults(format, plain)
		if err != nil {
			t.Fatal(err)
		}
		prompt := render(t, renderer, messages, nil)
		if want := "<|im_start|>user\n" + string(text) + "<|im_end|>"; !strings.Contains(prompt, want) {
			t.Errorf("%s: no\n%s\nin\n%s", renderer, want, prompt)
		}
	}
}
