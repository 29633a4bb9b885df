package oracles_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/model/renderers"
	"github.com/ollama/ollama/template"

	"toolx/pkg/convert"
	"toolx/pkg/rawjson"
)

// TestOllamaKeepsAll sends every tool through Ollama's own type, which is all that a
// model's prompt is made of: what comes out is what went in, in the same order
// (CONV-6).
func TestOllamaKeepsAll(t *testing.T) {
	for _, tool := range converted(t, allTools(t), convert.Ollama) {
		kept := ollamaTool(t, tool.Tool)
		wantJSON(t, tool.Name, marshal(t, kept), tool.Tool)
		var names []string
		for name := range kept.Function.Parameters.Properties.All() {
			names = append(names, name)
		}
		if want := topProperties(t, tool.Tool); !slices.Equal(names, want) {
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

// topProperties are the names of a tool's parameters, in order.
func topProperties(t *testing.T, tool json.RawMessage) []string {
	t.Helper()
	var sent struct {
		Function struct {
			Parameters struct {
				Properties json.RawMessage `json:"properties"`
			} `json:"parameters"`
		} `json:"function"`
	}
	if err := json.Unmarshal(tool, &sent); err != nil {
		t.Fatal(err)
	}
	var names []string
	for property := range rawjson.Each(sent.Function.Parameters.Properties) {
		names = append(names, property.Name)
	}
	return names
}

// TestModelsSeeTools lets Ollama write the prompts of its Qwen models: each tool is in
// them, with every parameter, every description, every value and limit (AI-3).
func TestModelsSeeTools(t *testing.T) {
	list := allTools(t)
	for _, renderer := range []string{goTemplate, "qwen3-vl-instruct", "qwen3.5", "qwen3-coder"} {
		t.Run(renderer, func(t *testing.T) {
			for _, tool := range converted(t, list, convert.Ollama) {
				prompt := render(t, renderer, question(), []api.Tool{ollamaTool(t, tool.Tool)})
				original := list[slices.IndexFunc(list, func(other convert.Tool) bool {
					return other.Server == tool.Server && nameOf(t, other) == tool.Plain
				})]
				for _, word := range append(words(t, object(t, original.Definition)["inputSchema"]), tool.Name) {
					if !appears(t, prompt, word) {
						t.Errorf("%s: the model does not see %s in\n%s", tool.Name, word, prompt)
					}
				}
			}
		})
	}
}

func question() []api.Message { return []api.Message{{Role: "user", Content: "dim the hall"}} }

// goTemplate is the renderer, and the parser, of models that have a template in place
// of them, such as qwen3:0.6b. templateText has what those say of tools.
const (
	goTemplate   = "go-template"
	templateText = "{{ range .Tools }}" + `{"type": "function", "function": {{ .Function }}}` + "\n{{ end }}" +
		"{{ range .Messages }}<|im_start|>{{ .Role }}\n{{ .Content }}{{ if .ToolCalls }}<tool_call>\n" +
		`{{ range .ToolCalls }}{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}` +
		"\n</tool_call>{{ end }}{{ end }}<|im_end|>\n{{ end }}"
)

// render writes a prompt as Ollama does, by the name of a renderer.
func render(t *testing.T, renderer string, messages []api.Message, tools []api.Tool) string {
	t.Helper()
	if renderer == goTemplate {
		return renderTemplate(t, messages, tools)
	}
	prompt, err := renderers.RenderWithRenderer(renderer, messages, tools, nil)
	if err != nil {
		t.Fatal(err)
	}
	return prompt
}

func renderTemplate(t *testing.T, messages []api.Message, tools []api.Tool) string {
	t.Helper()
	var prompt strings.Builder
	if err := parseTemplate(t).Execute(&prompt, template.Values{Messages: messages, Tools: tools}); err != nil {
		t.Fatal(err)
	}
	return prompt.String()
}

func parseTemplate(t *testing.T) *template.Template {
	t.Helper()
	parsed, err := template.Parse(templateText)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// words are what a schema says of all parameters: descriptions, values and limits, and
// names in their quotes.
func words(t *testing.T, schema any) []string {
	t.Helper()
	var found []string
	eachSchema(schema, func(fields map[string]any) {
		for _, keyword := range []string{
			"description", "enum", "const", "default", "pattern", "format", "minimum", "maximum", "exclusiveMinimum",
			"exclusiveMaximum",
			"multipleOf", "minLength", "maxLength", "minItems", "maxItems",
		} {
			found = append(found, wordsOf(t, fields[keyword])...)
		}
		properties, _ := fields["properties"].(map[string]any)
		for name := range properties {
			found = append(found, string(marshal(t, name)))
		}
	})
	return found
}

// eachSchema visits a schema and those in it that say what a parameter takes.
func eachSchema(schema any, visit func(map[string]any)) {
	fields, ok := schema.(map[string]any)
	if !ok {
		return
	}
	visit(fields)
	for _, keyword := range []string{"properties", "$defs", "definitions"} {
		named, _ := fields[keyword].(map[string]any)
		for _, held := range named {
			eachSchema(held, visit)
		}
	}
	for _, keyword := range []string{"items", "additionalProperties", "allOf", "anyOf", "oneOf", "prefixItems"} {
		eachSchema(fields[keyword], visit)
		list, _ := fields[keyword].([]any)
		for _, held := range list {
			eachSchema(held, visit)
		}
	}
}

// wordsOf is a value, or each of a list, as a prompt may say it. A width of numbers is
// no more than their type.
func wordsOf(t *testing.T, value any) []string {
	t.Helper()
	switch said := value.(type) {
	case nil:
		return nil
	case []any:
		var found []string
		for _, element := range said {
			found = append(found, wordsOf(t, element)...)
		}
		return found
	case string:
		if said == "int64" || said == "double" {
			return nil
		}
		return []string{said}
	}
	return []string{string(marshal(t, value))}
}

// appears reports whether a text is in a prompt: as it is, or as part of a JSON string,
// whose escapes Ollama writes for web pages; a quoted name also as the name of an XML
// parameter.
func appears(t *testing.T, prompt, text string) bool {
	t.Helper()
	forms := []string{text, inner(t, text)}
	if name, quoted := strings.CutPrefix(text, `"`); quoted {
		forms = append(forms, "<name>"+strings.TrimSuffix(name, `"`)+"</name>")
	}
	return slices.ContainsFunc(forms, func(form string) bool { return strings.Contains(prompt, form) })
}

// inner is what stands between the quotes of a text that encoding/json wrote.
func inner(t *testing.T, text string) string {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(quoted[1 : len(quoted)-1])
}

// TestHermesToolsAreOllamas compares the <tools> text with what Ollama writes for the
// same tools, line by line.
func TestHermesToolsAreOllamas(t *testing.T) {
	list := converted(t, allTools(t), convert.Ollama)
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
	hermes := string(convert.ConvertAll(allTools(t), convert.Hermes).Document())
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
