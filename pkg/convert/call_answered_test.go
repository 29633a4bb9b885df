package convert

import "testing"

// TestReadUnreadableCalls holds that a model gets a result for every call of its message, also for those that are no
// calls of functions.
func TestReadUnreadableCalls(t *testing.T) {
	good := `{"id":"call_9","type":"function","function":{"name":"f","arguments":"{}"}}`
	for _, test := range []struct {
		name, data string
		format     Format
		want       string
	}{
		{
			"without a function", `{"role":"assistant","tool_calls":[{"id":"call_1","type":"function"},` + good + `]}`,
			OpenAI, "call_1  {} ! the tool call has no function with a name and arguments\ncall_9 f {}",
		},
		{
			"alone", `{"id":"call_1","type":"function"}`,
			OpenAI, "call_1  {} ! the tool call has no function with a name and arguments",
		},
		{
			"with parameters in the place of arguments", `{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","parameters":{}}}]}`,
			OpenAI, "call_1 f {} ! the tool call has no function with a name and arguments",
		},
		{
			"of a custom tool", `{"role":"assistant","tool_calls":[{"id":"call_1","type":"custom","custom":{"name":"sql","input":"select 1"}}]}`,
			OpenAI, "call_1 sql {} ! plain text input is not supported: call a function with JSON arguments",
		},
		{
			"of a custom tool of the responses API", `[{"type":"custom_tool_call","id":"ctc_1","call_id":"call_1","name":"sql","input":"select 1"}]`,
			Responses, "call_1 sql {} ! plain text input is not supported: call a function with JSON arguments",
		},
		{
			"that LangChain could not read",
			`{"type":"ai","content":"","tool_calls":[{"name":"f","args":{},"id":"call_1","type":"tool_call"}],"invalid_tool_calls":[{"name":"g","args":"{\"a\":","id":"call_2","error":"bad","type":"invalid_tool_call"}]}`,
			LangChain, "call_1 f {}\ncall_2 g {} ! the arguments of the tool call could not be read: bad",
		},
		{
			"of LangChain without a name", `{"type":"ai","tool_calls":[{"id":"call_1","type":"tool_call"}]}`,
			LangChain, "call_1  {} ! the tool call has no function with a name and arguments",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			message, err := ReadCalls([]byte(test.data), "")
			if err != nil {
				t.Fatal(err)
			}
			if got := said(message.Calls); got != test.want || message.Format != test.format {
				t.Errorf("got %s of %s\nwant %s", got, message.Format, test.want)
			}
		})
	}
}

func TestWriteCustomResult(t *testing.T) {
	message, err := ReadCalls([]byte(`{"type":"custom_tool_call","call_id":"call_1","name":"sql","input":"x"}`), "")
	if err != nil {
		t.Fatal(err)
	}
	got, err := WriteResults(message.Format, []ToolResult{{Call: message.Calls[0], Text: "no", IsError: true}})
	if want := `[{"type":"custom_tool_call_output","call_id":"call_1","output":"Error: no"}]`; err != nil ||
		string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestReadAnsweredCalls holds that calls whose results stand behind them in a conversation are not made again.
func TestReadAnsweredCalls(t *testing.T) {
	chat := func(calls string) string {
		return `[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[` + calls + `]}`
	}
	one, two := `{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}`,
		`{"id":"call_2","type":"function","function":{"name":"f","arguments":"{}"}}`
	for name, test := range map[string]struct{ data, want string }{
		"all":  {chat(one) + `,{"role":"tool","tool_call_id":"call_1","content":"1"}]`, ""},
		"one":  {chat(one+","+two) + `,{"role":"tool","tool_call_id":"call_1","content":"1"}]`, "call_2 f {}"},
		"none": {chat(one) + `,{"role":"user","content":"well?"}]`, "call_1 f {}"},
		"before the message": {
			`[{"role":"assistant","tool_calls":[` + one + `]},{"role":"tool","tool_call_id":"call_1","content":"1"},{"role":"assistant","tool_calls":[` + two + `]}]`,
			"call_2 f {}",
		},
		"a request's body": {`{"model":"m","messages":` + chat(one) + `,{"role":"tool","tool_call_id":"call_1","content":"1"}]}`, ""},
		"without ids": {
			chat(`{"function":{"name":"f","arguments":{}}},{"function":{"name":"g","arguments":{}}},{"function":{"name":"f","arguments":{"a":1}}}`) +
				`,{"role":"tool","tool_name":"g","content":"1"},{"role":"tool","tool_name":"f","content":"1"}]`,
			`f {"a":1}`,
		},
		"anthropic": {
			`[{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}},{"type":"tool_use","id":"t2","name":"f","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"1"}]}]`,
			"t2 f {}",
		},
		"gemini": {
			`[{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":1}}}]}]`, "",
		},
		"bedrock": {
			`[{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[]}}]}]`, "",
		},
		"responses": {
			`[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"1"},` +
				`{"type":"custom_tool_call","call_id":"c2","name":"f","input":""},{"type":"custom_tool_call_output","call_id":"c2","output":"1"}]`, "",
		},
		"langchain": {
			`[{"type":"ai","tool_calls":[{"name":"f","args":{},"id":"c1","type":"tool_call"}]},{"type":"tool","data":{"tool_call_id":"c1","content":"1"}}]`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			message, err := ReadCalls([]byte(test.data), "")
			if err != nil {
				t.Fatal(err)
			}
			if got := said(message.Calls); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
