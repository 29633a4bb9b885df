package exec

import (
	"encoding/json"
	osexec "os/exec"
	"runtime"
	"strings"
	"testing"

	"toolx/pkg/fault"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

func TestCommandLine(t *testing.T) {
	tests := []struct{ arguments, want string }{
		{`{}`, `toolx call srv__every`},
		{``, `toolx call srv__every`},
		{`{"s":"Switch One","i":5,"b":true}`, `toolx call srv__every --arg s='Switch One' --arg i=5 --arg b=true`},
		{`{"s":"it's"}`, `toolx call srv__every --arg s='it'\''s'`},
		{`{"s":"","any":"5"}`, `toolx call srv__every --arg s='' --arg any:='"5"'`},
		{`{"s":"@x"}`, `toolx call srv__every --arg s=@@x`},
		{`{"s":5}`, `toolx call srv__every --arg s:=5`},
		{`{"ns":"null"}`, `toolx call srv__every --arg ns:='"null"'`},
		{`{"tags":["a", "b"],"o":{"a":"~"}}`, `toolx call srv__every --arg tags=a --arg tags=b --arg o:='{"a":"~"}'`},
		{`{"tags":["a,b"]}`, `toolx call srv__every --arg tags=a,b`},
		{`{"tags":["[a"]}`, `toolx call srv__every --arg tags:='["[a"]'`},
		{`{"tags":[]}`, `toolx call srv__every --arg tags:='[]'`},
		{`{"tags":["1","2","3","4","5"]}`, `toolx call srv__every --arg tags:='["1","2","3","4","5"]'`},
		{`{"s":"a\nb\u001b[2J"}`, `toolx call srv__every --arg s:='"a\nb\u001b[2J"'`},
		{`{"a=b":1,"o.a":"x","s":"y"}`, `toolx call srv__every --args '{"a=b":1,"o.a":"x"}' --arg s=y`},
	}
	for _, test := range tests {
		if got := CommandLine(everyKindTool(), json.RawMessage(test.arguments)); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.arguments, got, test.want)
		}
	}
}

// Commands that read a resource or get a prompt are quoted as calls are.
func TestReadAndPromptLine(t *testing.T) {
	resource := &Tool{Name: "docs__file:///a b's.txt"}
	if got, want := ReadLine(resource), `toolx resources read 'docs__file:///a b'\''s.txt'`; got != want {
		t.Errorf(" got %s\nwant %s", got, want)
	}
	prompt := &Tool{
		Name: "docs__greet", Launch: []string{"node", "my server.js"},
		InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"n":{"type":"string"}}}`),
	}
	want := `toolx prompts get docs__greet --arg name='Ada L.' --arg n=5 -- node 'my server.js'`
	if got := PromptLine(prompt, json.RawMessage(`{"name":"Ada L.","n":"5"}`)); got != want {
		t.Errorf(" got %s\nwant %s", got, want)
	}
}

// shellWords is what a POSIX shell makes of a command line.
func shellWords(t testing.TB, line string) []string {
	t.Helper()
	command := osexec.Command("sh", "-c", `for word in `+line+`; do printf '%s\0' "$word"; done`)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// rerun reads a command line back as call does.
func rerun(t testing.TB, tool *Tool, words []string) json.RawMessage {
	t.Helper()
	var input Input
	for i := 3; i+1 < len(words); i += 2 {
		if words[i] == "--args" {
			input.Object = words[i+1]
		} else {
			input.Args = append(input.Args, words[i+1])
		}
	}
	got, err := ParseArgs(tool, input)
	if err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	return got
}

// A command line that toolx prints gives the same arguments when it is pasted into a shell.
func TestCommandLineRoundTrip(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a POSIX shell")
	}
	values := []string{
		`""`, `"5"`, `"null"`, `"true"`, `"@x"`, `"@@x"`, `"a b"`, `"it's"`, `"$HOME"`, `"a\\b"`, `"\"q\""`, `"-x"`, `"!x"`, `"*"`, `"~"`, `"#"`, `"\n"`, `"\u0000"`,
		`"\u202e"`, `"é😀"`, `" 5"`, `"[1]"`, `"{}"`, `5`, `-5`, `1.50`, `1e5`, `12345678901234567890`, `true`, `null`, `[]`, `["a",1]`, `[[1]]`, `{}`, `{"k":"v'"}`,
	}
	tool := everyKindTool()
	var schema struct{ Properties map[string]json.RawMessage }
	if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
		t.Fatal(err)
	}
	for _, value := range values {
		var list []rawjson.Member
		for name := range schema.Properties {
			list = append(list, rawjson.NewMember(name, json.RawMessage(value)))
		}
		for _, name := range []string{"un.known", "a=b", "a:", "", "o.a", "free.x", "-f", "sp ace", "device_name"} {
			list = append(list, rawjson.NewMember(name, json.RawMessage(value)))
		}
		arguments := rawjson.Object(list)
		if got := rerun(t, tool, shellWords(t, CommandLine(tool, arguments))); !same(t, got, arguments) {
			t.Errorf("%s\nbecame %s", arguments, got)
		}
	}
}

// Words that cannot be typed are spelled out, and bash reads them back.
func TestCommandLineOfUnprintableNames(t *testing.T) {
	words := []string{
		"server__esc\x1b[31m", "new\nline", "tab\tand 'quotes' and \\slashes", "bidi\u202e1", "\xff\xfe7", "é and \x07",
		"\ufffd",
	}
	for _, word := range words {
		tool := &Tool{Name: word, Launch: []string{word, "plain word"}}
		line := CommandLine(tool, nil)
		if !printable(line) {
			t.Errorf("%q cannot be pasted", line)
		}
		bash, err := osexec.LookPath("bash")
		if err != nil || runtime.GOOS == "windows" { // there it may be another system's
			continue
		}
		out, err := osexec.Command(bash, "-c", `printf '%s\0' `+line).Output()
		want := strings.Join([]string{"toolx", "call", word, "--", word, "plain word", ""}, "\x00")
		if err != nil || string(out) != want {
			t.Errorf("%s\nbecame %q, %v", line, out, err)
		}
	}
	if got, want := CommandLine(&Tool{Name: words[0]}, nil), `toolx call $'server__esc\033[31m'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func FuzzCommandLine(f *testing.F) {
	f.Add(`{"s":"5","any":"null","tags":["a"],"x.y":"@","a=b":1}`)
	f.Add(`{"o":{"a":"\u0000"},"o.a":2,"ns":"null","mixed":"2","device_name":"1"}`)
	f.Fuzz(func(t *testing.T, arguments string) {
		raw := json.RawMessage(arguments)
		if _, ok := anyMembers(raw); !ok {
			return
		}
		tool := everyKindTool()
		line := CommandLine(tool, raw)
		if strings.ContainsAny(line, "\x00\x1b\n") {
			t.Errorf("%q cannot be pasted", line)
		}
		if got := rerun(t, tool, unquoteShell(line)); !same(t, got, raw) {
			t.Errorf("%s became %s by %s", arguments, got, line)
		}
	})
}

// anyMembers is members for text that may be anything.
func anyMembers(raw json.RawMessage) ([]rawjson.Member, bool) {
	if rawjson.Check(raw) != nil {
		return nil, false
	}
	return rawjson.Members(raw)
}

// unquoteShell undoes single quotes, which is all that CommandLine uses: a fuzz
// target cannot start a shell a thousand times a second.
func unquoteShell(line string) []string {
	words := []string{""}
	quoted := false
	for i := 0; i < len(line); i++ {
		last := &words[len(words)-1]
		switch char := line[i]; {
		case char == '\'':
			quoted = !quoted
		case quoted:
			*last += line[i : i+1]
		case char == '\\':
			i++
			*last += line[i : i+1]
		case char == ' ':
			words = append(words, "")
		default:
			*last += line[i : i+1]
		}
	}
	return words
}

func TestLongHint(t *testing.T) {
	arguments := json.RawMessage(`{"deviceName":"` + strings.Repeat("x", maxHint) + `"}`)
	tool := &Tool{Name: "light", Type: TypeMCP, InputSchema: json.RawMessage(lightSchema)}
	refused := &InvalidArgumentsError{
		Tool: tool, Problems: []jsonschema.Problem{{Path: "action", Reason: jsonschema.ReasonMissing}},
		Arguments: arguments,
	}
	got, want := fault.HintOf(refused), "for example: toolx call light --arg deviceName=example --arg action=on"
	if got != want {
		t.Errorf("got %s", words.Shorten(got, 200))
	}
}

// VAL-1: a hint never repeats a call that is refused. What the user gave right stays
// in it where it can; where nothing is known to work, it is no command to call.
func TestHintIsNeverRefused(t *testing.T) {
	const show = "toolx show t shows its parameters"
	tests := []struct{ name, schema, arguments, want string }{
		{"a condition", `{"properties":{"k":{"type":"string"},"b":{"type":"integer"}},"if":{"required":["k"]},"then":{"required":["b"]}}`, `{"k":"mine"}`, "toolx call t --arg k=mine --arg b=1"},
		{"what goes together", `{"properties":{"a":{},"b":{"type":"integer"}},"dependentRequired":{"a":["b"]}}`, `{"a":7}`, "toolx call t --arg a=7 --arg b=1"},
		{"excluded together", `{"properties":{"a":{},"b":{}},"not":{"required":["a","b"]}}`, `{"a":1,"b":2}`, "toolx call t"},
		{"both of two", `{"properties":{"a":{"type":"integer"},"b":{}},"oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{"a":1,"b":2}`, "toolx call t --arg a=1"},
		{"look-ahead", `{"properties":{"a":{"type":"string","pattern":"^(?=.*\\d)\\w+$"}},"required":["a"]}`, `{"a":"!"}`, show},
		{"look-ahead beyond reach", `{"properties":{"a":{"type":"string","pattern":"^(?=(x|y)\\1\\1)\\w{7}(?<=q)$"}},"required":["a"]}`, `{"a":"!"}`, show},
		{"nothing at all", `{"properties":{"a":false},"required":["a"]}`, `{"a":1}`, show},
		{"an unknown name with dots", `{"properties":{"s":{"type":"string"},"n":{"type":"integer"}}}`, `{"s":"mine","s.foo":1,"n":"x"}`, "toolx call t --arg s=mine --arg n=1"},
		{"a name with dots", `{"properties":{"a.b":{"type":"integer"},"c":{"type":"integer"}}}`, `{"a.b":"x","c":5}`, "toolx call t --arg a.b=1 --arg c=5"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tool := &Tool{Name: "t", Type: TypeMCP, InputSchema: json.RawMessage(test.schema)}
			registry := NewRegistry(nil)
			registry.Register(tool)
			_, err := (&Executor{Registry: registry}).Prepare(t.Context(),
				Call{Tool: "t", Arguments: json.RawMessage(test.arguments)})
			hint := strings.TrimPrefix(fault.HintOf(err), "for example: ")
			if hint != test.want {
				t.Errorf("got %s, want %s", hint, test.want)
			}
			if hint == show {
				return
			}
			again := rerun(t, tool, unquoteShell(hint))
			if problems, unknown := validate(test.schema, again); len(problems)+len(unknown) > 0 {
				t.Errorf("%s has the problems %q %q", hint, problems, unknown)
			}
		})
	}
}

// VAL-1, EXEC-7: the hint of a refused call is a command that works.
func TestInvalidArgumentsHint(t *testing.T) {
	tool := &Tool{Name: "zwave__control", Type: TypeMCP, InputSchema: json.RawMessage(lightSchema)}
	for arguments, want := range map[string]string{
		`{}`:                                    "for example: toolx call zwave__control --arg deviceName=example --arg action=on",
		`{"deviceName":"Switch One","level":5}`: "for example: toolx call zwave__control --arg deviceName='Switch One' --arg level=5 --arg action=on",
		`{"device_name":"Switch One","action":"dim","level":"x"}`: "for example: toolx call zwave__control --arg deviceName='Switch One' --arg action=on --arg level=1",
	} {
		normalized, _, err := normalize(tool, json.RawMessage(arguments))
		if err != nil {
			t.Fatal(err)
		}
		problems, _ := validate(lightSchema, normalized)
		refused := &InvalidArgumentsError{Tool: tool, Problems: problems, Arguments: normalized}
		if got := fault.HintOf(refused); got != want {
			t.Errorf("%s:\n got %s\nwant %s", arguments, got, want)
		}
		command := strings.TrimPrefix(fault.HintOf(refused), "for example: ")
		again := rerun(t, tool, unquoteShell(command))
		if problems, unknown := validate(lightSchema, again); len(problems)+len(unknown) > 0 {
			t.Errorf("%s has the problems %q %q", command, problems, unknown)
		}
	}
}

// FuzzHint: a hint that offers a call is accepted by the schema.
func FuzzHint(f *testing.F) {
	f.Add(lightSchema, `{"deviceName":1}`)
	f.Add(`{"properties":{"a":{"minimum":3}},"if":{"required":["a"]},"then":{"required":["b"]},"propertyNames":{"pattern":"^(?=[a-z])"}}`, `{"a":1}`)
	f.Add(`{"oneOf":[{"required":["a"]},{"required":["b"]}],"minProperties":3,"patternProperties":{"^x":{}}}`, `{"a":1,"b":2}`)
	f.Add(`{"properties":{"a":{"type":"array","uniqueItems":true,"minItems":3,"items":{"type":"object","required":["b"]}}},"required":["a"]}`, `{"a":[{}]}`)
	f.Fuzz(func(t *testing.T, schema, arguments string) {
		compiled, err := jsonschema.Parse(json.RawMessage(schema)).Compile(t.Context())
		if err != nil {
			return
		}
		tool := &Tool{Name: "t", Type: TypeBuiltin, InputSchema: json.RawMessage(schema)}
		registry := NewRegistry(nil)
		registry.Register(tool)
		_, err = (&Executor{Registry: registry}).Prepare(t.Context(),
			Call{Tool: "t", Arguments: json.RawMessage(arguments)})
		if err == nil {
			return
		}
		command, ok := strings.CutPrefix(fault.HintOf(err), "for example: ")
		if !ok {
			return
		}
		problems, unknown := compiled.Validate(t.Context(), rerun(t, tool, unquoteShell(command)))
		if len(problems)+len(unknown) > 0 {
			t.Errorf("%s has the problems %q %q", command, problems, unknown)
		}
	})
}
