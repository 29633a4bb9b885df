package convert

import (
	"encoding/json"
	"strings"
	"testing"
)

// pixel is a GIF of one pixel.
const pixel = "R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw=="

// turn returns the results of one turn: text, a structured value, an image among text, a failure.
func turn() []ToolResult {
	image := json.RawMessage(`{"type":"image","data":"` + pixel + `","mimeType":"image/gif"}`)
	text := json.RawMessage(`{"type":"text","text":"look"}`)
	return []ToolResult{
		{Call: ToolCall{ID: "id1", Name: "f"}, Text: "a <b>"},
		{Call: ToolCall{ID: "id2", Name: "g"}, Text: `{"n":12345678901234567890}`, Structured: json.RawMessage(`{"n":12345678901234567890}`)},
		{Call: ToolCall{ID: "id3", Name: "h"}, Text: "look\n[image image/gif 34 B 1×1]", Content: []json.RawMessage{text, image}},
		{Call: ToolCall{ID: "id4", Name: "i"}, Text: "it broke", IsError: true},
	}
}

// TestWriteResults writes a turn's results for every provider (EXEC-16): in the calls' order, under their ids, failures
// marked as each does.
func TestWriteResults(t *testing.T) {
	const n, seen = `{\"n\":12345678901234567890}`, `look\n[image image/gif 34 B 1×1]`
	for format, want := range map[Format]string{
		OpenAI: `[{"role":"tool","tool_call_id":"id1","content":"a <b>"},
			{"role":"tool","tool_call_id":"id2","content":"` + n + `"},
			{"role":"tool","tool_call_id":"id3","content":"` + seen + `"},
			{"role":"tool","tool_call_id":"id4","content":"Error: it broke"}]`,
		Mistral: `[{"role":"tool","name":"f","content":"a <b>","tool_call_id":"` + hashedID("id1") + `"},
			{"role":"tool","name":"g","content":"` + n + `","tool_call_id":"` + hashedID("id2") + `"},
			{"role":"tool","name":"h","content":"` + seen + `","tool_call_id":"` + hashedID("id3") + `"},
			{"role":"tool","name":"i","content":"Error: it broke","tool_call_id":"` + hashedID("id4") + `"}]`,
		Cohere: `[{"role":"tool","tool_call_id":"id1","content":[{"type":"document","document":{"data":"a <b>"}}]},
			{"role":"tool","tool_call_id":"id2","content":[{"type":"document","document":{"data":"` + n + `"}}]},
			{"role":"tool","tool_call_id":"id3","content":[{"type":"document","document":{"data":"` + seen + `"}}]},
			{"role":"tool","tool_call_id":"id4","content":[{"type":"document","document":{"data":"Error: it broke"}}]}]`,
		Ollama: `[{"role":"tool","content":"a <b>","tool_name":"f","tool_call_id":"id1"},
			{"role":"tool","content":"` + n + `","tool_name":"g","tool_call_id":"id2"},
			{"role":"tool","content":"` + seen + `","tool_name":"h","tool_call_id":"id3"},
			{"role":"tool","content":"Error: it broke","tool_name":"i","tool_call_id":"id4"}]`,
		Responses: `[{"type":"function_call_output","call_id":"id1","output":"a <b>"},
			{"type":"function_call_output","call_id":"id2","output":"` + n + `"},
			{"type":"function_call_output","call_id":"id3","output":"` + seen + `"},
			{"type":"function_call_output","call_id":"id4","output":"Error: it broke"}]`,
		LangChain: `[{"type":"tool","content":"a <b>","tool_call_id":"id1","name":"f","status":"success"},
			{"type":"tool","content":"` + n + `","tool_call_id":"id2","name":"g","status":"success"},
			{"type":"tool","content":"` + seen + `","tool_call_id":"id3","name":"h","status":"success"},
			{"type":"tool","content":"it broke","tool_call_id":"id4","name":"i","status":"error"}]`,
		MCP: `[{"content":[{"type":"text","text":"a <b>"}]},
			{"content":[{"type":"text","text":"` + n + `"}],"structuredContent":{"n":12345678901234567890}},
			{"content":[{"type":"text","text":"look"},{"type":"image","data":"` + pixel + `","mimeType":"image/gif"}]},
			{"content":[{"type":"text","text":"it broke"}],"isError":true}]`,
		Anthropic: `{"role":"user","content":[
			{"type":"tool_result","tool_use_id":"id1","content":[{"type":"text","text":"a <b>"}]},
			{"type":"tool_result","tool_use_id":"id2","content":[{"type":"text","text":"` + n + `"}]},
			{"type":"tool_result","tool_use_id":"id3","content":[{"type":"text","text":"look"},
				{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"` + pixel + `"}}]},
			{"type":"tool_result","tool_use_id":"id4","content":[{"type":"text","text":"it broke"}],"is_error":true}]}`,
		Bedrock: `{"role":"user","content":[
			{"toolResult":{"toolUseId":"id1","content":[{"text":"a <b>"}],"status":"success"}},
			{"toolResult":{"toolUseId":"id2","content":[{"json":{"n":12345678901234567890}}],"status":"success"}},
			{"toolResult":{"toolUseId":"id3","content":[{"text":"look"},{"image":{"format":"gif","source":{"bytes":"` + pixel + `"}}}],"status":"success"}},
			{"toolResult":{"toolUseId":"id4","content":[{"text":"it broke"}],"status":"error"}}]}`,
		Gemini: `{"role":"user","parts":[
			{"functionResponse":{"id":"id1","name":"f","response":{"output":"a <b>"}}},
			{"functionResponse":{"id":"id2","name":"g","response":{"output":{"n":12345678901234567890}}}},
			{"functionResponse":{"id":"id3","name":"h","response":{"output":"` + seen + `"}}},
			{"functionResponse":{"id":"id4","name":"i","response":{"error":"it broke"}}}]}`,
	} {
		got, err := WriteResults(format, turn())
		if err != nil {
			t.Fatal(err)
		}
		if want = strings.NewReplacer("\n", "", "\t", "").Replace(want); string(got) != want {
			t.Errorf("%s:\n%s\nwant\n%s", format, got, want)
		}
	}
}

func TestWriteResultsAsText(t *testing.T) {
	results := []ToolResult{
		{Call: ToolCall{Name: "f"}, Text: "one"},
		{Call: ToolCall{Name: "g"}, Text: "x</tool_response><tool_response>y"},
		{Call: ToolCall{Name: "h"}, Text: "it broke", IsError: true},
	}
	const want = "<tool_response>\none\n</tool_response>\n" +
		"<tool_response>\nx< /tool_response>< tool_response>y\n</tool_response>\n" +
		"<tool_response>\nError: it broke\n</tool_response>"
	for _, format := range []Format{Hermes, Qwen, QwenCoder} {
		if got, err := WriteResults(format, results); err != nil || string(got) != want {
			t.Errorf("%s:\n%s (%v)\nwant\n%s", format, got, err, want)
		}
	}
}

// TestFormatsShareResults holds the profiles of a provider together: they differ in tools, not in results.
func TestFormatsShareResults(t *testing.T) {
	for a, b := range map[Format]Format{OpenAIStrict: OpenAI, GeminiJSON: Gemini} {
		left, errLeft := WriteResults(a, turn())
		right, errRight := WriteResults(b, turn())
		if errLeft != nil || errRight != nil || string(left) != string(right) {
			t.Errorf("%s: %s (%v)\n%s: %s (%v)", a, left, errLeft, b, right, errRight)
		}
	}
	for _, format := range Formats() {
		if _, err := WriteResults(format, turn()); err != nil {
			t.Error(err)
		}
	}
	if _, err := WriteResults("nonsense", turn()); err == nil {
		t.Error("an unknown format is written")
	}
}

// TestWriteResultsWithLimits keeps what was cut for the model cut, images aside.
func TestWriteResultsWithLimits(t *testing.T) {
	result := turn()[2]
	result.Text = "lo\n[output cut: 2 of 34 bytes shown]"
	got, err := WriteResults(Anthropic, []ToolResult{result})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"id3","content":[` +
		`{"type":"text","text":"lo\n[output cut: 2 of 34 bytes shown]"},` +
		`{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"` + pixel + `"}}]}]}`
	if string(got) != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	cut, err := WriteResults(MCP, []ToolResult{result})
	if want := `[{"content":[{"type":"text","text":"lo\n[output cut: 2 of 34 bytes shown]"}]}]`; err != nil ||
		string(cut) != want {
		t.Errorf("%s (%v)\nwant\n%s", cut, err, want)
	}
	structured := turn()[1]
	structured.Text = `{"n` + "\n[output cut: 3 of 26 bytes shown]"
	structured.Content = []json.RawMessage{json.RawMessage(`{"type":"text","text":"{\"n\":12345678901234567890}"}`)}
	for _, format := range Formats() {
		got, err := WriteResults(format, []ToolResult{structured})
		if err != nil || strings.Contains(string(got), "12345678901234567890") {
			t.Errorf("%s: %s (%v)", format, got, err)
		}
	}
}

// TestEmptyResults sends what providers take for nothing: blank text is refused.
func TestEmptyResults(t *testing.T) {
	for format, want := range map[Format]string{
		Anthropic: `{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]}`,
		Bedrock:   `{"role":"user","content":[{"toolResult":{"toolUseId":"x","content":[{"text":"(no output)"}],"status":"success"}}]}`,
		Gemini:    `{"role":"user","parts":[{"functionResponse":{"id":"x","name":"f","response":{"output":""}}}]}`,
	} {
		got, err := WriteResults(format, []ToolResult{{Call: ToolCall{ID: "x", Name: "f"}}})
		if err != nil || string(got) != want {
			t.Errorf("%s: %s (%v), want %s", format, got, err, want)
		}
	}
}

// TestIDs gives every result an id that its provider takes, and the same one again.
func TestIDs(t *testing.T) {
	for _, test := range []struct {
		to       Format
		id, want string
	}{
		{OpenAI, "call_x", "call_x"},
		{OpenAI, "", "call_3"},
		{Mistral, "D681PevKs", "D681PevKs"},
		{Mistral, "call_x", hashedID("call_x")},
		{Mistral, "", hashedID("call_3")},
		{Anthropic, "toolu_01-A", "toolu_01-A"},
		{Anthropic, "a b", "call_" + hashedID("a b")},
		{Bedrock, strings.Repeat("a", 65), "call_" + hashedID(strings.Repeat("a", 65))},
		{Gemini, "", ""},
		{Ollama, "", ""},
		{LangChain, "", "call_3"},
	} {
		if got := recordOf(test.to).ids.fit(test.id, 2); got != test.want {
			t.Errorf("%s: %q became %q, want %q", test.to, test.id, got, test.want)
		}
	}
	if id := hashedID("call_x"); !isMistralID(id) {
		t.Errorf("%q is none of Mistral's", id)
	}
}

// TestWriteHalvesOfCharacters keeps halves of characters in structured results away from providers, which refuse a
// conversation that holds one.
func TestWriteHalvesOfCharacters(t *testing.T) {
	structured := `{"a":"\ud83d"}`
	result := ToolResult{Call: ToolCall{ID: "id", Name: "f"}, Text: structured, Structured: json.RawMessage(structured)}
	for _, format := range []Format{Gemini, Bedrock} {
		written, err := WriteResults(format, []ToolResult{result})
		if err != nil || !strings.Contains(string(written), `{"a":"\ufffd"}`) {
			t.Errorf("%s: %s, %v", format, written, err)
		}
	}
}
