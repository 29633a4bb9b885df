package convert

import "testing"

// TestReadTextCalls reads the calls of models that write them as text.
func TestReadTextCalls(t *testing.T) {
	for _, test := range []struct {
		name, data string
		format     Format
		want       string
	}{
		{
			"one", "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>",
			Hermes, `f {"a": 1}`,
		},
		{
			"several, with prose between",
			"I'll look.\n<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call> and <tool_call>{\"name\":\"g\",\"arguments\":{}}</tool_call>\nDone.",
			Hermes, "f {}\ng {}",
		},
		{
			"thinking quotes one",
			"<think>\nI could say <tool_call>{\"name\":\"no\",\"arguments\":{}}</tool_call>\n</think>\n\n<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>",
			Hermes, "f {}",
		},
		{
			"thinking that began in the prompt",
			"so <tool_call>{\"name\":\"no\",\"arguments\":{}}</tool_call>, or <tool_call>?\n</think>\n<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>",
			Hermes, "f {}",
		},
		{
			"a fence quotes one",
			"You would say:\n\n```xml\n<tool_call>{\"name\":\"no\",\"arguments\":{}}</tool_call>\n```\n<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>",
			Hermes, "f {}",
		},
		{"nothing but a fence", "```\n<tool_call>{\"name\":\"no\",\"arguments\":{}}</tool_call>\n```", "", ""},
		{"a fence without an end", "~~~\n<function=no>\n</function>", "", ""},
		{"a longer fence", "````\n```\n<tool_call>{\"name\":\"no\"}</tool_call>\n```\n````\n<tool_call>{\"name\":\"f\"}</tool_call>", Hermes, "f {}"},
		{"backticks quote one", "Say `<tool_call>{\"name\":\"no\"}</tool_call>`, or ``a ` <function=no></function>``.", "", ""},
		{"a backtick that quotes nothing", "It`s on.\n\n<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"`x`\"}}</tool_call>", Hermes, "f {\"a\":\"`x`\"}"},
		{"code before a call", "Use `ls`.\n```inline```\n<tool_call>{\"name\":\"f\"}</tool_call>", Hermes, "f {}"},
		{"a fence in arguments", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"```\\n```\"}}</tool_call> ``` <tool_call>{\"name\":\"g\"}</tool_call>", Hermes, "f {\"a\":\"```\\n```\"}\ng {}"},
		{"thinking that opened a fence", "say\n```\n<tool_call>{\"name\":\"no\"}</tool_call>\n</think>\n<tool_call>{\"name\":\"f\"}</tool_call>", Hermes, "f {}"},
		{"thinking without an end", "<think>\n<tool_call>{\"name\":\"no\",\"arguments\":{}}</tool_call>", "", ""},
		{
			"marks inside of arguments",
			`<tool_call>{"name":"f","arguments":{"a":"</tool_call></think><tool_call>{"}}</tool_call>`,
			Hermes, `f {"a":"</tool_call></think><tool_call>{"}`,
		},
		{"the last block is open", `<tool_call>{"name":"f","arguments":{"a":1}}`, Hermes, `f {"a":1}`},
		{
			"the last block is cut",
			"<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call><tool_call>\n{\"name\": \"g\", \"arguments\": {\"a\": \"b",
			Hermes, "f {}\ng {} ! the tool call is not valid JSON: unexpected EOF; it ends before its </tool_call>",
		},
		{
			"a broken one among others",
			"<tool_call>{\"name\":\"f\",\"arguments\":{a 1}}</tool_call><tool_call>{\"name\":\"g\",\"arguments\":{}}</tool_call>",
			Hermes,
			"f {} ! the tool call is not valid JSON: invalid character 'a' looking for beginning of object key string\ng {}",
		},
		{
			"a broken one without an end, and another",
			"<tool_call>{\"name\":\"f\",\n<tool_call>{\"name\":\"g\",\"arguments\":{}}</tool_call>",
			Hermes,
			"f {} ! the tool call is not valid JSON: invalid character '<' looking for beginning of object key string\ng {}",
		},
		{"a stray comma", `<tool_call>{"name":"f","arguments":{"a":[1,2,],},}</tool_call>`, Hermes, `f {"a":[1,2]}`},
		{
			"Python's quotes", `<tool_call>{'name': 'f', 'arguments': {'a': True, 'b': None, 'c': 'it\'s "x"', 'd': "it's"}}</tool_call>`,
			Hermes, `f {"a":true,"b":null,"c":"it's \"x\"","d":"it's"}`,
		},
		{"a line break in a string", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"x\ny\"}}</tool_call>", Hermes, `f {"a":"x\ny"}`},
		{"arguments as a string", `<tool_call>{"name":"f","arguments":"{\"a\":1}"}</tool_call>`, Hermes, `f {"a":1}`},
		{"another word for arguments", `<tool_call>{"name":"f","parameters":{"a":1}}</tool_call>`, Hermes, `f {"a":1}`},
		{"several in one block", "<tool_call>\n{\"name\":\"f\"}\n{\"name\":\"g\"}\n</tool_call>", Hermes, "f {}\ng {}"},
		{"a list in a block", `<tool_call>[{"name":"f"},{"name":"g"}]</tool_call>`, Hermes, "f {}\ng {}"},
		{"prose about the mark", "Write <tool_call> and then JSON.", "", ""},
		{
			"a message", `{"role":"assistant","content":"<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1}}</tool_call>"}`,
			Hermes, `f {"a":1}`,
		},
		{"a JSON string", `"<tool_call>{\"name\":\"f\"}</tool_call>"`, Hermes, "f {}"},

		// Qwen3-Coder.
		{
			"coder",
			"Now.\n<tool_call>\n<function=f>\n<parameter=path>\na.txt\n</parameter>\n<parameter=n>\n3\n</parameter>\n</function>\n</tool_call>",
			QwenCoder, `f {"path":"a.txt","n":"3"} untyped`,
		},
		{
			"coder: lines and angle brackets",
			"<tool_call>\n<function=f>\n<parameter=code>\nif a < b && c > d {\n\n  print(\"</parameter>\") // <parameter=x>\n}\n\n</parameter>\n</function>\n</tool_call>",
			QwenCoder, `f {"code":"if a < b && c > d {\n\n  print(\"</parameter>\") // <parameter=x>\n}\n"} untyped`,
		},
		{"coder: no parameters", "<tool_call><function=f></function></tool_call>", QwenCoder, "f {} untyped"},
		{
			"coder: several, the outer mark forgotten",
			"<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=g>\n</function>",
			QwenCoder, "f {\"a\":\"1\"} untyped\ng {} untyped",
		},
		{
			"coder: a parameter's end forgotten",
			"<tool_call><function=f>\n<parameter=a>\n1\n<parameter=b>\n2\n</function></tool_call>",
			QwenCoder, `f {"a":"1","b":"2"} untyped`,
		},
		{
			"coder: cut", "<tool_call><function=f>\n<parameter=a>\nxyz",
			QwenCoder, "f {} untyped ! the tool call ends before its </function>",
		},
		{
			"coder: a parameter twice",
			"<tool_call><function=f><parameter=a>1</parameter><parameter=a>2</parameter></function></tool_call>",
			QwenCoder, `f {} untyped ! the parameter "a" is given twice`,
		},

		// A name outside of the JSON of its arguments.
		{"JSON in a function", `<function=f>{"to":["a@b.c"],"text":"hi"}</function>`, QwenCoder, `f {"to":["a@b.c"],"text":"hi"}`},
		{
			"JSON in a function: marks and quotes in a string, another call",
			"<function=f>\n{\"a\":\"\\\"</function>\"}\n</function>\n<function=g>{}</function>", QwenCoder,
			"f {\"a\":\"\\\"</function>\"}\ng {}",
		},
		{"JSON in a function in a block", "<tool_call>\n<function=f>\n{'a': 1,}\n</function>\n</tool_call>", QwenCoder, `f {"a":1}`},
		{"JSON in a function: no end", `<function=f>{"a":1}`, QwenCoder, `f {"a":1}`},
		{
			"JSON in a function: broken", `<function=f>{"a":"1}</function> So.`, Hermes,
			"f {} ! the tool call is not valid JSON: unexpected EOF",
		},
		{"JSON in a function: prose", `Write <function=f>{json} to call it.`, "", ""},
		{
			"a tagged name", "Let me look.\n<tool_call>\n<function>f</function>\n{\"to\":[\"a@b.c\"]}\n</tool_call>",
			Hermes, `f {"to":["a@b.c"]}`,
		},
		{
			"a tagged name: marks in a string, another call",
			`<tool_call><function> f </function>{"a":"</tool_call>"}</tool_call><tool_call><function>g</function></tool_call>`,
			Hermes, "f {\"a\":\"</tool_call>\"}\ng {}",
		},
		{
			"a tagged name: broken", "<tool_call><function>f</function>{a 1}</tool_call>", Hermes,
			"f {} ! the tool call is not valid JSON: invalid character 'a' looking for beginning of object key string",
		},
		{"a tagged name: prose", "<tool_call><function>f or g.", "", ""},
		{"coder: prose about the mark", "Use <function=f> to begin.", "", ""},
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

// TestRepairJSON repairs what has one meaning, and nothing else.
func TestRepairJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{a: 1, b_2 : {c: "d"}}`:                   `{"a":1,"b_2":{"c":"d"}}`,
		`{'a': 1.50, "b": [True, False, None,],}`:  `{"a":1.50,"b":[true,false,null]}`,
		`{'a': '\u00e9\ud83d\ude00\n\'"'}`:         `{"a":"é😀\n'\""}`,
		`{"big": 123456789012345678901234567890,}`: `{"big":123456789012345678901234567890}`,
		"{'a': 'tab\there'}":                       `{"a":"tab\there"}`,
	} {
		value, end, ok := repairJSON(text)
		if !ok || end != len(text) || string(value) != want {
			t.Errorf("%s became %s (%v), want %s", text, value, ok, want)
		}
	}
	for _, text := range []string{
		``, `{`, `{'a'`, `{'a':`, `{'a': 'b}`, `{a-b: 1}`, `{1: 2}`, `{a 1}`, `{: 1}`, `{'a': 01}`, `{'a': nan}`, `{,}`, `[1 2]`, `{'a': 1,,}`,
		`{'a': '\x41'}`, `{1: 2}`, `{'a': "it's}`, `{'a': '\ud'}`,
	} {
		if value, _, ok := repairJSON(text); ok {
			t.Errorf("%s became %s", text, value)
		}
	}
}
