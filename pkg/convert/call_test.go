package convert

import (
	"encoding/json"
	"strings"
	"testing"
)

// said writes calls as a test's table shows them: "id name arguments", and "!" and the error if there is one.
func said(calls []ToolCall) string {
	lines := make([]string, len(calls))
	for i, call := range calls {
		lines[i] = strings.TrimSpace(call.ID + " " + call.Name + " " + string(call.Arguments))
		if call.Untyped {
			lines[i] += " untyped"
		}
		if call.Err != nil {
			lines[i] += " ! " + call.Err.Error()
		}
	}
	return strings.Join(lines, "\n")
}

// TestReadCalls reads every provider's calls, alone, in messages, in responses and in conversations.
func TestReadCalls(t *testing.T) {
	for _, test := range []struct {
		name, data string
		format     Format
		want       string
	}{
		// OpenAI chat completions.
		{
			"openai: a call",
			`{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"n\":12345678901234567890}"}}`,
			OpenAI, `call_1 f {"n":12345678901234567890}`,
		},
		{
			"openai: a message with two calls",
			`{"role":"assistant","content":null,"tool_calls":[
			  {"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},
			  {"id":"call_2","type":"function","function":{"name":"g","arguments":""}}]}`,
			OpenAI, "call_1 f {\"a\":1}\ncall_2 g {}",
		},
		{
			"openai: a response",
			`{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}`,
			OpenAI, "call_1 f {}",
		},
		{
			"openai: a gateway's object of arguments",
			`{"id":"call_1","type":"function","function":{"name":"f","arguments":{"a":1}}}`,
			OpenAI, `call_1 f {"a":1}`,
		},
		{
			"openai: the last assistant message of a request",
			`{"model":"m","messages":[
			  {"role":"user","content":"hi"},
			  {"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},
			  {"role":"tool","tool_call_id":"call_1","content":"x"},
			  {"role":"assistant","tool_calls":[{"id":"call_2","type":"function","function":{"name":"g","arguments":"{}"}}]}]}`,
			OpenAI, "call_2 g {}",
		},
		{
			"openai: an array of calls",
			`[{"id":"call_1","type":"function","function":{"name":"f"}},{"id":"call_2","type":"function","function":{"name":"g","arguments":null}}]`,
			OpenAI, "call_1 f {}\ncall_2 g {}",
		},
		{
			"openai: a call on each line",
			"{\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"f\"}}\n{\"id\":\"call_2\",\"type\":\"function\",\"function\":{\"name\":\"g\"}}\n",
			OpenAI, "call_1 f {}\ncall_2 g {}",
		},
		{
			"openai: arguments encoded twice",
			`{"id":"call_1","type":"function","function":{"name":"f","arguments":"\"{\\\"a\\\":1}\""}}`,
			OpenAI, `call_1 f {"a":1}`,
		},
		{
			"openai: arguments in a code fence",
			`{"id":"call_1","type":"function","function":{"name":"f","arguments":"\u0060\u0060\u0060json\n{\"a\":1}\n\u0060\u0060\u0060"}}`,
			OpenAI, `call_1 f {"a":1}`,
		},

		// Those that look like it.
		{
			"mistral: ids of 9 letters and digits",
			`{"role":"assistant","content":"","tool_calls":[{"id":"D681PevKs","function":{"name":"f","arguments":"{\"a\":1}"}}]}`,
			Mistral, `D681PevKs f {"a":1}`,
		},
		{
			"cohere: a message with a plan",
			`{"role":"assistant","tool_plan":"I will","tool_calls":[{"id":"f_x1","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
			Cohere, "f_x1 f {}",
		},
		{
			"cohere: a response",
			`{"id":"c","finish_reason":"TOOL_CALL","message":{"role":"assistant","tool_calls":[{"id":"f_x1","type":"function","function":{"name":"f","arguments":"{}"}}]}}`,
			Cohere, "f_x1 f {}",
		},
		{
			"ollama: a response",
			`{"model":"qwen3:0.6b","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1.50}}}]},"done":true}`,
			Ollama, `f {"a":1.50}`,
		},
		{
			"ollama: an id and an index",
			`{"role":"assistant","tool_calls":[{"id":"call_1","function":{"index":0,"name":"f","arguments":{}}},{"id":"call_2","function":{"index":1,"name":"g","arguments":{}}}]}`,
			Ollama, "call_1 f {}\ncall_2 g {}",
		},

		{
			"ollama: a stream, line by line",
			`{"model":"m","created_at":"t","message":{"role":"assistant","content":"I'll"},"done":false}
			{"model":"m","created_at":"t","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]},"done":false}
			{"model":"m","created_at":"t","message":{"role":"assistant","content":""},"done":true}`,
			Ollama, `f {"a":1}`,
		},

		// The responses API.
		{
			"responses: a response",
			`{"id":"resp_1","object":"response","output":[{"type":"reasoning","id":"rs_1","summary":[]},
			  {"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{\"a\":1}","status":"completed"}]}`,
			Responses, `call_1 f {"a":1}`,
		},
		{
			"responses: what a conversation has not answered",
			`[{"role":"user","content":"hi"},
			  {"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"},
			  {"type":"function_call_output","call_id":"call_1","output":"x"},
			  {"type":"function_call","call_id":"call_2","name":"g","arguments":"{}"}]`,
			Responses, "call_2 g {}",
		},
		{
			"responses: an item as OpenAI's Go types are written",
			`{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":{"OfString":"{\"a\":1}","OfResponseToolSearchCallArguments":"{\"a\":1}"}}`,
			Responses, `call_1 f {"a":1}`,
		},

		// Anthropic.
		{
			"anthropic: a response",
			`{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"<tool_call>{}</tool_call>","signature":"s"},
			  {"type":"text","text":"I'll look."},{"type":"tool_use","id":"toolu_1","name":"f","input":{"a":1}},
			  {"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},
			  {"type":"tool_use","id":"toolu_2","name":"g","input":{}}],"stop_reason":"tool_use"}`,
			Anthropic, "toolu_1 f {\"a\":1}\ntoolu_2 g {}",
		},
		{"anthropic: a call", `{"type":"tool_use","id":"toolu_1","name":"f","input":{"a":1}}`, Anthropic, `toolu_1 f {"a":1}`},
		{
			"anthropic: content alone",
			`[{"type":"text","text":"x"},{"type":"tool_use","id":"toolu_1","name":"f","input":{}}]`,
			Anthropic, "toolu_1 f {}",
		},
		{
			"anthropic: input that is no object", `{"type":"tool_use","id":"toolu_1","name":"f","input":[1]}`,
			Anthropic, "toolu_1 f {} ! the arguments must be a JSON object, not [1]",
		},

		// Gemini.
		{
			"gemini: a response",
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"ok"},{"functionCall":{"name":"f","args":{"a":1}},"thoughtSignature":"c2ln"},{"functionCall":{"id":"x","name":"g"}}]}}]}`,
			Gemini, "f {\"a\":1}\nx g {}",
		},
		{"gemini: a part", `{"functionCall":{"name":"f","args":{}}}`, Gemini, "f {}"},
		{"gemini: as Python spells it", `{"function_call":{"name":"f","args":{"a":1}}}`, Gemini, `f {"a":1}`},
		{
			"gemini: the last contents of a model",
			`{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f"}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]},{"role":"model","parts":[{"functionCall":{"name":"g"}}]}]}`,
			Gemini, "g {}",
		},

		// Bedrock.
		{
			"bedrock: a response",
			`{"output":{"message":{"role":"assistant","content":[{"text":"ok"},{"toolUse":{"toolUseId":"tooluse_1","name":"f","input":{"a":1}}}]}},"stopReason":"tool_use"}`,
			Bedrock, `tooluse_1 f {"a":1}`,
		},
		{"bedrock: a block", `{"toolUse":{"toolUseId":"t","name":"f","input":{}}}`, Bedrock, "t f {}"},

		// LangChain.
		{"langchain: a call", `{"name":"f","args":{"a":1},"id":"call_1","type":"tool_call"}`, LangChain, `call_1 f {"a":1}`},
		{
			"langchain: a message",
			`{"type":"ai","content":"","additional_kwargs":{"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},"tool_calls":[{"name":"f","args":{},"id":"call_1","type":"tool_call"}]}`,
			LangChain, "call_1 f {}",
		},
		{
			"langchain: a serialized conversation",
			`[{"lc":1,"type":"constructor","id":["langchain_core","messages","HumanMessage"],"kwargs":{"content":"hi"}},
			  {"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessage"],"kwargs":{"content":"","tool_calls":[{"name":"f","args":{"a":1},"id":null,"type":"tool_call"}]}}]`,
			LangChain, `f {"a":1}`,
		},
		{
			"langchain: a dict", `{"type":"ai","data":{"content":"","tool_calls":[{"name":"f","args":{},"id":"1"}]}}`,
			LangChain, "1 f {}",
		},

		{
			"langchain: a call without arguments, as Gemini's libraries hand them out",
			`[{"id":"1","name":"g"},{"id":"2","args":{"a":1},"name":"f"}]`, LangChain, "1 g {}\n2 f {\"a\":1}",
		},

		// MCP.
		{"mcp: parameters", `{"name":"f","arguments":{"a":1}}`, MCP, `f {"a":1}`},
		{"mcp: no arguments", `{"name":"f"}`, MCP, "f {}"},
		{"mcp: a request", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"f","arguments":{"a":1}}}`, MCP, `7 f {"a":1}`},

		// Broken calls take nothing down but themselves.
		{
			"broken arguments",
			`[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\":"}},{"id":"call_2","type":"function","function":{"name":"g","arguments":"{\"a\":1,}"}}]`,
			OpenAI,
			"call_1 f {} ! the arguments are not JSON: unexpected end of JSON input (byte 5)\ncall_2 g {\"a\":1}",
		},
		{
			"no name", `{"id":"call_1","type":"function","function":{"arguments":"{}"}}`,
			OpenAI, "call_1  {} ! the tool call has no tool name",
		},

		{
			"gemini: a stream in an array",
			`[{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f"}}]}}]},{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"g"}}]}}]}]`,
			Gemini, "f {}\ng {}",
		},

		// What a tool or a user said holds no call of the model, whatever it looks like.
		{"a user's message", `{"role":"user","content":[{"type":"tool_use","name":"f","input":{}}]}`, "", ""},
		{"a user's text", `{"role":"user","content":"<tool_call>{\"name\":\"f\"}</tool_call>"}`, "", ""},
		{
			"a tool's output among items",
			`{"output":[{"type":"function_call_output","call_id":"1","output":[{"type":"function_call","call_id":"2","name":"f"}]},{"type":"mcp_call","output":[{"name":"f","arguments":{}}]}]}`,
			"", "",
		},
		{
			"a tool's result in an answer",
			`{"role":"assistant","content":[{"type":"mcp_tool_result","content":[{"type":"tool_use","name":"f","input":{}}]}]}`,
			"", "",
		},

		// No calls.
		{"an answer", `{"role":"assistant","content":"hello <think> {}"}`, "", ""},
		{"an empty list", `{"role":"assistant","content":"hi","tool_calls":[]}`, "", ""},
		{"a conversation that ends in an answer", `[{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f"}}]},{"role":"assistant","content":"done"}]`, "", ""},
		{"a definition", `{"type":"function","function":{"name":"f","description":"d","parameters":{}}}`, "", ""},
		{"another definition", `{"name":"f","description":"d","inputSchema":{}}`, "", ""},
		{"null", `null`, "", ""},
		{"prose", "Nothing to do.", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			message, err := ReadCalls([]byte(test.data), "")
			if err != nil {
				t.Fatal(err)
			}
			if message.Format != test.format {
				t.Errorf("format %q, want %q", message.Format, test.format)
			}
			if got := said(message.Calls); got != test.want {
				t.Errorf("calls:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

// TestReadCallsOfANamedFormat holds a message against the format that it is said to have.
func TestReadCallsOfANamedFormat(t *testing.T) {
	const chat = `{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}`
	const text = `{"role":"assistant","content":"<tool_call>{\"name\":\"f\"}</tool_call>"}`
	for _, test := range []struct {
		data       string
		from, want Format
		calls      int
	}{
		{chat, Mistral, Mistral, 1},
		{chat, Cohere, Cohere, 1},
		{chat, OpenAIStrict, OpenAIStrict, 1},
		{chat, Qwen, OpenAI, 1}, // a server has read the model's text
		{`{"functionCall":{"name":"f"}}`, GeminiJSON, GeminiJSON, 1},
		{text, Ollama, Ollama, 1}, // a server has not
		{text, "", Hermes, 1},
		{text, OpenAI, OpenAI, 0}, // its calls are never text: this is a quotation
	} {
		message, err := ReadCalls([]byte(test.data), test.from)
		if err != nil || message.Format != test.want || len(message.Calls) != test.calls {
			t.Errorf("%s as %q: %+v, %v; want %d of %q", test.data, test.from, message, err, test.calls, test.want)
		}
	}
}

func TestReadCallsRefuses(t *testing.T) {
	for _, test := range []struct {
		data string
		from Format
		want string
	}{
		{"", "", "no tool call: the input is empty"},
		{" \n", OpenAI, "no tool call: the input is empty"},
		{`{"name":`, "", "no tool call: not JSON: unexpected end of JSON input"},
		{`{"type":"tool_use","name":"f","input":{}}`, OpenAI, "not in the format openai: they look like anthropic"},
		{`[{"type":"tool_use","name":"f"},{"toolUse":{"name":"g"}}]`, "", "different formats in one message: anthropic and bedrock"},
	} {
		if message, err := ReadCalls([]byte(test.data), test.from); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %+v, %v; want %q", test.data, message, err, test.want)
		}
	}
}

func TestSeen(t *testing.T) {
	for data, want := range map[string]string{
		`{"role":"assistant","content":"hi"}`:    "an object with role, content",
		`[]`:                                     "an array of 0 elements",
		`"hi"`:                                   "text without a <tool_call>",
		`hello`:                                  "text without a <tool_call>",
		"event: message_start\ndata: {}\n":       "the events of a stream instead of a message",
		"data: {\"choices\":[]}\n\ndata: [DONE]": "the events of a stream instead of a message",
		`{}`:                                     "an empty object",
		`17`:                                     "a JSON value that is not an object",
		`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1}`: "an object with a, b, c, d, e, f, g, h, …",
	} {
		message, err := ReadCalls([]byte(data), "")
		if err != nil || message.Seen != want || len(message.Calls) > 0 {
			t.Errorf("%s: %+v, %v; want %q", data, message, err, want)
		}
	}
}

// FuzzReadCalls proves that no message makes the reader panic, that arguments are always one JSON object, and that
// results can be written for whatever was read.
func FuzzReadCalls(f *testing.F) {
	for _, seed := range []string{
		`{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":1,}"}}]}`,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]}}]}`,
		`{"output":{"message":{"content":[{"toolUse":{"input":{}}}]}}}`,
		"<think>x</think><tool_call>\n{'name': 'f', 'arguments': {'a': None}}\n</tool_call>",
		"<tool_call><function=f><parameter=a>\n1\n</parameter></function></tool_call>",
		`"<tool_call>{\"name\": 1`, `[[[[[]]]]]`, `{"message":{"message":{}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, from := range append(Formats(), "", QwenCoder) {
			message, err := ReadCalls(data, from)
			if err != nil {
				continue
			}
			var results []ToolResult
			for _, call := range message.Calls {
				var object map[string]json.RawMessage
				if err := json.Unmarshal(call.Arguments, &object); err != nil || object == nil {
					t.Fatalf("%q as %q: arguments %q: %v", data, from, call.Arguments, err)
				}
				results = append(results, ToolResult{Call: call, Text: "ok"})
			}
			if len(results) == 0 {
				continue
			}
			if _, err := WriteResults(message.Format, results); err != nil {
				t.Fatal(err)
			}
		}
	})
}
