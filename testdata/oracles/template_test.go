package oracles_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"toolx/pkg/convert"
)

// conversation is what a chat template renders.
type conversation struct {
	Messages []any             `json:"messages"`
	Tools    []json.RawMessage `json:"tools,omitempty"`
}

// prompts renders conversations with Qwen's own template.
func prompts(t *testing.T, conversations ...conversation) []string {
	t.Helper()
	if _, err := os.Stat("node_modules"); err != nil {
		t.Fatalf("Qwen's template is not installed (%v): make test-oracles installs it, or run npm ci in "+
			"testdata/oracles", err)
	}
	node := exec.Command("node", "template.mjs")
	node.Stdin = bytes.NewReader(marshal(t, conversations))
	var complaints bytes.Buffer
	node.Stderr = &complaints
	out, err := node.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	var rendered []string
	if err := json.Unmarshal(out, &rendered); err != nil {
		t.Fatal(err)
	}
	return rendered
}

func ask() any { return map[string]any{"role": "user", "content": "dim the hall"} }

// TestHermesIsQwensTemplate compares the <tools> text with the beginning of the prompt
// that Qwen's template makes of the same tools, byte for byte: of each alone, and of
// all (CONV-4).
func TestHermesIsQwensTemplate(t *testing.T) {
	all := allTools(t)
	groups := [][]convert.Tool{all}
	for _, tool := range all {
		groups = append(groups, []convert.Tool{tool})
	}
	conversations := make([]conversation, len(groups))
	for i, group := range groups {
		conversations[i].Messages = []any{ask()}
		for _, tool := range convert.ConvertAll(group, convert.Qwen).Tools {
			conversations[i].Tools = append(conversations[i].Tools, tool.Tool)
		}
	}
	for i, prompt := range prompts(t, conversations...) {
		hermes := string(convert.ConvertAll(groups[i], convert.Hermes).Document())
		if !strings.HasPrefix(prompt, "<|im_start|>system\n"+hermes+"<|im_end|>\n") {
			t.Errorf("the prompt\n%s\ndoes not begin with\n%s", prompt, hermes)
		}
	}
}

// TestTemplateWritesCalls reads the calls that Qwen's template writes of a
// conversation's earlier ones, and compares results with those that it writes
// (EXEC-16).
func TestTemplateWritesCalls(t *testing.T) {
	calls := asked()
	conversations := make([]conversation, len(calls))
	for i, call := range calls {
		conversations[i].Messages = turn(call)
	}
	for i, prompt := range prompts(t, conversations...) {
		_, answer, _ := strings.Cut(prompt, "<|im_start|>assistant\n")
		answer, rest, _ := strings.Cut(answer, "<|im_end|>\n")
		message, err := convert.ReadCalls([]byte(answer), "")
		if err != nil {
			t.Fatalf("%v: %s", err, answer)
		}
		want := convert.ToolCall{Name: calls[i].tool, Arguments: json.RawMessage(calls[i].arguments)}
		wantCalls(t, message.Calls, []convert.ToolCall{want, want})

		text, err := convert.WriteResults(convert.Hermes, successes())
		if err != nil {
			t.Fatal(err)
		}
		if want := "<|im_start|>user\n" + string(text) + "<|im_end|>\n"; rest != want {
			t.Errorf("results:\n%s\nwant\n%s", want, rest)
		}
	}
}

// turn is a question, a call that is made twice, and results.
func turn(asked askedCall) []any {
	call := map[string]any{
		"type":     "function",
		"function": map[string]any{"name": asked.tool, "arguments": json.RawMessage(asked.arguments)},
	}
	messages := []any{ask(), map[string]any{"role": "assistant", "content": "I will.", "tool_calls": []any{call, call}}}
	for _, result := range successes() {
		messages = append(messages, map[string]any{"role": "tool", "content": result.Text})
	}
	return messages
}
