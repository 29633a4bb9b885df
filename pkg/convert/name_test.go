package convert_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"toolx/pkg/convert"
)

// nameRules returns what each provider takes; formats that are not here take any name.
func nameRules() map[convert.Format]*regexp.Regexp {
	portable := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	gemini := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,63}$`)
	return map[convert.Format]*regexp.Regexp{
		convert.Qwen: portable, convert.Hermes: portable, convert.OpenAI: portable, convert.OpenAIStrict: portable,
		convert.Responses: portable, convert.Anthropic: portable, convert.Bedrock: portable, convert.Mistral: portable,
		convert.Gemini: gemini, convert.GeminiJSON: gemini,
		convert.Cohere: regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`),
	}
}

func TestFitName(t *testing.T) {
	long := strings.Repeat("t", 80)
	for _, test := range []struct {
		server, tool string
		to           convert.Format
		want         string
	}{
		{"s", "echo", convert.OpenAI, "s__echo"},
		{"", "echo", convert.OpenAI, "echo"},
		{"", "s__echo", convert.Anthropic, "s__echo"},
		{"s", "deep.tool", convert.Gemini, "s__deep.tool"},
		{"s", "deep.tool", convert.OpenAI, "s__deep_tool_13d02fed"},
		{"s", "deep.tool", convert.LangChain, "s__deep.tool"},
		{"s", "deep.tool", convert.MCP, "s__deep.tool"},
		{"a", "b__c", convert.Ollama, "a__b__c"},
		{"a__b", "c", convert.Ollama, "a__b__c_a92700ce"},
		{"my-srv", "echo", convert.Cohere, "my_srv__echo_72cc6645"},
		{"", "3d", convert.OpenAI, "3d"},
		{"", "3d", convert.Gemini, "_3d_a17a2de3"},
		{"", "3d", convert.Cohere, "_3d_a17a2de3"},
		{"s", long, convert.OpenAI, "s__" + long[:52] + "_02174516"},
		{"s", "größe", convert.OpenAI, "s__gr__e_82d47a0c"},
		{"a", "b__c", convert.OpenAI, "a__b__c"},
		{"a__b", "c", convert.OpenAI, "a__b__c_a92700ce"},
	} {
		if got := convert.FitName(test.server, test.tool, test.to); got != test.want {
			t.Errorf("FitName(%q, %q, %s) = %q, want %q", test.server, test.tool, test.to, got, test.want)
		}
	}
}

// TestFitNameHolds is the property: a fitted name keeps the format's rule, says the same every time, belongs to one
// tool only, and is found back.
func TestFitNameHolds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var tools []convert.ModelTool
	seen := map[convert.ModelTool]bool{}
	for range 2000 {
		tool := convert.ModelTool{Server: randomName(random), Plain: randomName(random)}
		if tool.Server != "" && tool.Plain != "" && !seen[tool] {
			seen[tool] = true
			tools = append(tools, tool)
		}
	}
	for format, rule := range nameRules() {
		names := map[string]convert.ModelTool{}
		for _, tool := range tools {
			name := convert.FitName(tool.Server, tool.Plain, format)
			if !rule.MatchString(name) {
				t.Fatalf("%s: %q of %+v breaks the rule", format, name, tool)
			}
			if name != convert.FitName(tool.Server, tool.Plain, format) {
				t.Fatalf("%s: another name the second time", format)
			}
			if other, taken := names[name]; taken {
				t.Fatalf("%s: %+v and %+v have the name %q", format, tool, other, name)
			}
			names[name] = tool
		}
	}
	for _, tool := range tools[:12] {
		for _, format := range convert.Formats() {
			name := convert.FitName(tool.Server, tool.Plain, format)
			if found := convert.FindName(name, tools); !contains(found, tool) {
				t.Fatalf("%s: %q of %+v gives %+v", format, name, tool, found)
			}
		}
	}
}

// randomName makes names of few signs, so that they join alike often.
func randomName(random *rand.Rand) string {
	signs := []string{"_", "_", "a", "b", "-", ".", "é", "7", strings.Repeat("long", 9)}
	name := ""
	for range random.IntN(6) {
		name += signs[random.IntN(len(signs))]
	}
	return name
}

func contains(tools []convert.ModelTool, tool convert.ModelTool) bool {
	for _, one := range tools {
		if one == tool {
			return true
		}
	}
	return false
}

func TestFindName(t *testing.T) {
	tools := []convert.ModelTool{
		{Server: "s", Plain: "echo"},
		{Server: "t", Plain: "echo"},
		{Server: "t", Plain: "deep.tool"},
		{Plain: "weather"},
		{Server: "u", Plain: "t__deep.tool"},
	}
	for name, want := range map[string]string{
		"s__echo": "[{s echo}]",
		"echo":    "[{s echo} {t echo}]",
		convert.FitName("t", "deep.tool", convert.OpenAI): "[{t deep.tool}]",
		"t__deep.tool": "[{t deep.tool}]", // the fitted name comes before u's own
		"deep.tool":    "[{t deep.tool}]",
		"weather":      "[{ weather}]",
		"nothing":      "[]",
		"":             "[]",
	} {
		if got := fmt.Sprint(convert.FindName(name, tools)); got != want {
			t.Errorf("FindName(%q) = %s, want %s", name, got, want)
		}
	}
}

// TestCollision holds that two tools never have one name, that a server's tool keeps its own, since the registry means
// it by that, and that both are found back.
func TestCollision(t *testing.T) {
	document := `{"servers":[{"name":"","tools":[{"name":"s__w","definition":{"name":"s__w","inputSchema":{}}}]},{"name":"s","tools":[` + mcpTool + `]}]}`
	source, err := convert.Read([]byte(document), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range convert.Formats() {
		converted := convert.ConvertAll(source.Tools, format)
		if len(converted.Tools) != 2 {
			t.Fatalf("%s: skipped %v", format, converted.Skipped)
		}
		first, second := converted.Tools[0], converted.Tools[1]
		if second.Name != "s__w" || !strings.HasPrefix(first.Name, "s__w_") {
			t.Errorf("%s: %s and %s", format, first.Name, second.Name)
		}
		found := convert.FindName(first.Name, []convert.ModelTool{{Plain: "s__w"}, {Server: "s", Plain: "w"}})
		if len(found) != 1 || found[0].Server != "" {
			t.Errorf("%s: %s gives %+v", format, first.Name, found)
		}
	}
}
