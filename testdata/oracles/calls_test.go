package oracles_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"toolx/pkg/convert"
)

// What the models of TestCallsOfSDKs call, as each provider's API says it.
const (
	openAIAnswer = `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","logprobs":null,
		"message":{"role":"assistant","content":null,"refusal":null,"annotations":[],"tool_calls":[
			{"id":"call_1","type":"function","function":{"name":"dim","arguments":"{\"lamp\":\"hall\",\"level\":30}"}},
			{"id":"call_2","type":"function","function":{"name":"now","arguments":"{}"}}]}}]}`
	responsesAnswer = `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[
		{"type":"reasoning","id":"rs_1","summary":[]},
		{"type":"function_call","id":"fc_1","call_id":"call_1","name":"dim","arguments":"{\"lamp\":\"hall\",\"level\":30}","status":"completed"},
		{"type":"function_call","id":"fc_2","call_id":"call_2","name":"now","arguments":"{}","status":"completed"}]}`
	anthropicAnswer = `{"id":"msg_1","type":"message","role":"assistant","model":"m","stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1},"content":[
		{"type":"thinking","thinking":"Which lamp?","signature":"c2ln"},
		{"type":"text","text":"I will dim it."},
		{"type":"tool_use","id":"call_1","name":"dim","input":{"lamp":"hall","level":30}},
		{"type":"tool_use","id":"call_2","name":"now","input":{}}]}`
	geminiAnswer = `{"modelVersion":"m","candidates":[{"finishReason":"STOP","content":{"role":"model","parts":[
		{"text":"I will dim it."},
		{"functionCall":{"id":"call_1","name":"dim","args":{"lamp":"hall","level":30}},"thoughtSignature":"c2ln"},
		{"functionCall":{"id":"call_2","name":"now"}}]}}]}`
	ollamaAnswer = `{"model":"m","created_at":"2026-01-01T00:00:00Z","done":true,"done_reason":"stop","message":{"role":"assistant","content":"","thinking":"Which lamp?","tool_calls":[
		{"id":"call_1","function":{"index":0,"name":"dim","arguments":{"lamp":"hall","level":30}}},
		{"id":"call_2","function":{"index":1,"name":"now","arguments":{}}}]}}`
)

// TestCallsOfSDKs reads the same two calls from every answer: as it came, as programs
// hand it on that have it in the SDK's types, and as they put it into the conversation.
func TestCallsOfSDKs(t *testing.T) {
	var chat openai.ChatCompletion
	var response responses.Response
	var message anthropic.Message
	var generated genai.GenerateContentResponse
	var ollama api.ChatResponse
	for answer, into := range map[string]any{
		openAIAnswer: &chat, responsesAnswer: &response, anthropicAnswer: &message, geminiAnswer: &generated,
		ollamaAnswer: &ollama,
	} {
		if err := json.Unmarshal([]byte(answer), into); err != nil {
			t.Fatal(err)
		}
	}
	var items []responses.ResponseInputItemUnionParam
	for _, item := range response.Output {
		if call := item.AsFunctionCall(); item.Type == "function_call" {
			items = append(items,
				responses.ResponseInputItemParamOfFunctionCall(call.Arguments, call.CallID, call.Name))
		}
	}
	said := chat.Choices[0].Message
	for _, test := range []struct {
		name   string
		value  any
		format convert.Format
	}{
		{"openai: an answer", json.RawMessage(openAIAnswer), convert.OpenAI},
		{"openai: the SDK's answer", chat, convert.OpenAI},
		{"openai: its message", said, convert.OpenAI},
		{"openai: its message in a conversation", said.ToParam(), convert.OpenAI},
		{"openai: the calls of its message", said.ToolCalls, convert.OpenAI},
		{"openai: a conversation", []openai.ChatCompletionMessageParamUnion{openai.UserMessage("dim the hall"), said.ToParam()}, convert.OpenAI},
		{"responses: an answer", json.RawMessage(responsesAnswer), convert.Responses},
		{"responses: the SDK's answer", response, convert.Responses},
		{"responses: its output", response.Output, convert.Responses},
		{"responses: a conversation", items, convert.Responses},
		{"anthropic: an answer", json.RawMessage(anthropicAnswer), convert.Anthropic},
		{"anthropic: the SDK's answer", message, convert.Anthropic},
		{"anthropic: its message in a conversation", message.ToParam(), convert.Anthropic},
		{"anthropic: its content", message.ToParam().Content, convert.Anthropic},
		{"gemini: an answer", json.RawMessage(geminiAnswer), convert.Gemini},
		{"gemini: the SDK's answer", generated, convert.Gemini},
		{"gemini: its content", generated.Candidates[0].Content, convert.Gemini},
		{"gemini: a conversation", append(genai.Text("dim the hall"), generated.Candidates[0].Content), convert.Gemini},
		{"gemini: the calls alone, which look like LangChain's", generated.FunctionCalls(), convert.LangChain},
		{"ollama: an answer", json.RawMessage(ollamaAnswer), convert.Ollama},
		{"ollama: the SDK's answer", ollama, convert.Ollama},
		{"ollama: its message", ollama.Message, convert.Ollama},
		{"ollama: its calls", ollama.Message.ToolCalls, convert.Ollama},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantLampCalls(t, marshal(t, test.value), test.format)
		})
	}
}

func wantLampCalls(t *testing.T, data []byte, format convert.Format) {
	t.Helper()
	message, err := convert.ReadCalls(data, "")
	if err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	if message.Format != format {
		t.Errorf("read as %s, want %s", message.Format, format)
	}
	wantCalls(t, message.Calls, []convert.ToolCall{
		{ID: "call_1", Name: "dim", Arguments: json.RawMessage(`{"lamp":"hall","level":30}`)},
		{ID: "call_2", Name: "now", Arguments: json.RawMessage(`{}`)},
	})
}

// wantCalls compares calls; arguments by value.
func wantCalls(t *testing.T, got, want []convert.ToolCall) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d calls, want %d: %+v", len(got), len(want), got)
	}
	for i, call := range got {
		if call.ID != want[i].ID || call.Name != want[i].Name || call.Untyped != want[i].Untyped || call.Err != nil {
			t.Errorf("call %+v, want %+v", call, want[i])
		}
		wantJSON(t, "arguments of "+call.Name, call.Arguments, want[i].Arguments)
	}
}

// results are what a turn may end in: text, a structured value, an image, nothing, a
// failure.
func results() []convert.ToolResult {
	const pixel = `{"type":"image","mimeType":"image/gif","data":"R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw=="}`
	return []convert.ToolResult{
		{Call: convert.ToolCall{ID: "call_1", Name: "dim"}, Text: "dimmed to <30> & \"steady\"\nwarm"},
		{Call: convert.ToolCall{ID: "call_2", Name: "now"}, Text: `{"hour":7}`, Structured: json.RawMessage(`{"hour":7}`)},
		{Call: convert.ToolCall{ID: "call_3", Name: "draw"}, Text: "[image]", Content: []json.RawMessage{json.RawMessage(pixel)}},
		{Call: convert.ToolCall{ID: "call_4", Name: "ping"}},
		{Call: convert.ToolCall{ID: "call_5", Name: "move"}, Text: "the pen is stuck", IsError: true},
		{Call: convert.ToolCall{ID: "call_6", Name: "pick"}, Text: `[1,2]`, Structured: json.RawMessage(`[1,2]`)},
	}
}

// successes are the results that are no failures, which have a mark of toolx's own where
// the provider knows none.
func successes() []convert.ToolResult {
	return slices.DeleteFunc(results(), func(result convert.ToolResult) bool { return result.IsError })
}

// TestResultsInSDKs decodes the results of a turn into the types of a conversation's
// next messages: nothing is unknown, and nothing is missing (EXEC-16).
func TestResultsInSDKs(t *testing.T) {
	for format, recode := range map[convert.Format]func([]byte) ([]byte, error){
		convert.OpenAI:    recode[[]openai.ChatCompletionMessageParamUnion],
		convert.Responses: recode[responses.ResponseInputParam],
		convert.Anthropic: recode[anthropic.MessageParam],
		convert.Gemini:    recode[genai.Content],
		convert.Ollama:    recode[[]api.Message],
	} {
		t.Run(string(format), func(t *testing.T) {
			written, err := convert.WriteResults(format, results())
			if err != nil {
				t.Fatal(err)
			}
			got, err := recode(written)
			if err != nil {
				t.Fatalf("%v: %s", err, written)
			}
			wantJSON(t, "results", got, written)
			for _, result := range results() {
				if id := result.Call.ID; !strings.Contains(string(got), id) {
					t.Errorf("%s has no result: %s", id, got)
				}
			}
		})
	}
}
