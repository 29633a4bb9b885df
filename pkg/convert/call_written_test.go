package convert

import "testing"

// TestWrittenCalls finds calls that are neither in a message's place for calls nor between marks, for a person to
// decide about, and none in what only looks like one.
func TestWrittenCalls(t *testing.T) {
	const definition = `{"type":"function","function":{"name":"f","description":"F","parameters":{"type":"object","properties":{}}}}`
	for _, test := range []struct{ name, text, want string }{
		{"bare", "{\n  \"name\": \"f\",\n  \"arguments\": {\"to\":[\"a@b.c\"]}\n}", `f {"to":["a@b.c"]}`},
		{"fenced", "```json\n{\"name\": \"f\", \"arguments\": {}}\n```", "f {}"},
		{"fenced on one line, behind prose", "I will call it:\n``` json {'name': 'f', 'parameters': {'a': 1}} ```", `f {"a":1}`},
		{"several, on lines and in an array", "{\"name\":\"f\",\"arguments\":{}}\nand\n[{\"name\":\"g\",\"arguments\":\"{\\\"a\\\":1}\"}]", "f {}\ng {\"a\":1}"},
		{"as an API has it", `{"tool_calls":[{"type":"function","function":{"name":"f","arguments":{"a":1}}}]}`, `f {"a":1}`},
		{"marks in a fence", "```\n<tool_call>\n{\"name\":\"f\",\"arguments\":{}}\n</tool_call>\n```", "f {}"},
		{"marks", `<function=f>{"a":1}</function>`, `f {"a":1}`},
		{"prose", "It is {late}.\n{not JSON", ""},
		{"other JSON", `{"name":"f","age":3}`, ""},
		{"a tool's definition", definition + "\n" + `{"name":"f","parameters":{"type":"object","properties":{}}}`, ""},
		{"in the middle of a line", `Say {"name":"f","arguments":{}} to call it.`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := said(WrittenCalls(test.text)); got != test.want && got != test.want+" untyped" {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
	if got := said(WrittenCalls(definition)); got != "" {
		t.Errorf("a definition is the call %s", got)
	}
}

// TestTextOfMessages keeps what the model said where its message has no calls.
func TestTextOfMessages(t *testing.T) {
	const call = `{\"name\":\"f\",\"arguments\":{}}`
	for _, data := range []string{
		`{"role":"assistant","content":"` + call + `"}`,
		`{"choices":[{"message":{"role":"assistant","content":"` + call + `"}}]}`,
		`{"role":"assistant","content":[{"type":"text","text":"` + call + `"}]}`,
		"Here:\n```\n{\"name\":\"f\",\"arguments\":{}}\n```",
	} {
		message, err := ReadCalls([]byte(data), "")
		if err != nil || len(message.Calls) > 0 {
			t.Errorf("%s: %v, calls %v", data, err, message)
			continue
		}
		if got := said(WrittenCalls(message.Text)); got != "f {}" {
			t.Errorf("%s: written calls %q in %q", data, got, message.Text)
		}
	}
}
