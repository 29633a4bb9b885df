package exec

import (
	"encoding/json"
	"errors"
	osexec "os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
)

// An example is valid by its own schema: that is checked for each.
func TestExample(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"what is required, in its order", lightSchema, `{"deviceName":"example","action":"on"}`},
		{"nothing is required", `{"properties":{"a":{"type":"string"}}}`, `{}`},
		{"no schema", ``, `{}`},
		{"the author's own examples", `{"required":["a","b"],"properties":{"a":{"type":"string","examples":["Paris"]},"b":{"type":"integer","default":7}}}`, `{"a":"Paris","b":7}`},
		{"an example that is wrong", `{"required":["a"],"properties":{"a":{"type":"integer","examples":["x"]}}}`, `{"a":1}`},
		{"const and null", `{"required":["a","z"],"properties":{"a":{"const":"x"},"z":{"type":"null"}}}`, `{"a":"x","z":null}`},
		{"formats", `{"required":["a","b"],"properties":{"a":{"type":"string","format":"date"},"b":{"type":"string","format":"uri"}}}`, `{"a":"2026-01-31","b":"https://example.com"}`},
		{"lengths", `{"required":["a","b"],"properties":{"a":{"type":"string","minLength":10},"b":{"type":"string","maxLength":3}}}`, `{"a":"exampleexa","b":"exa"}`},
		{"a pattern", `{"required":["a"],"properties":{"a":{"type":"string","pattern":"^[A-Z]{2}-\\d+$","minLength":6}}}`, `{"a":"AA-111"}`},
		{"bounds", `{"required":["a","b","c","d","e"],"properties":{"a":{"type":"integer","minimum":5,"multipleOf":4},"b":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1},"c":{"type":"integer","maximum":-3},"d":{"type":"integer","exclusiveMinimum":9},"e":{"type":"integer"}}}`, `{"a":8,"b":0.5,"c":-3,"d":10,"e":1}`},
		{"arrays", `{"required":["a","b"],"properties":{"a":{"type":"array","items":{"type":"string"},"minItems":2,"uniqueItems":true},"b":{"type":"array","prefixItems":[{"type":"integer"}]}}}`, `{"a":["example","example2"],"b":[1]}`},
		{"nested and by reference", `{"required":["o"],"properties":{"o":{"$ref":"#/$defs/o"}},"$defs":{"o":{"type":"object","required":["m"],"properties":{"m":{"type":"boolean"}}}}}`, `{"o":{"m":true}}`},
		{"an alternative", `{"oneOf":[{"required":["a"],"properties":{"a":{"type":"string"}}},{"required":["b"]}]}`, `{"a":"example"}`},
		{"nullable", `{"required":["a"],"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{"a":"example"}`},
		{"recursive", `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","required":["next"],"properties":{"next":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}}}}}`, `{"next":null}`},
		{"a condition", `{"required":["kind"],"properties":{"kind":{"enum":["a","b"]},"x":{"type":"integer"}},"if":{"properties":{"kind":{"const":"a"}}},"then":{"required":["x"],"properties":{"x":{"minimum":10}}},"else":{"required":["y"]}}`, `{"kind":"a","x":10}`},
		{"a condition not met", `{"required":["kind"],"properties":{"kind":{"const":"b"},"y":{"type":"boolean"}},"if":{"properties":{"kind":{"const":"a"}}},"then":false,"else":{"required":["y"]}}`, `{"kind":"b","y":true}`},
		{"what goes together", `{"required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"integer"}},"dependentRequired":{"a":["b"],"b":["c"]}}`, `{"a":"example","b":1,"c":"example"}`},
		{"what goes together, in draft 7", `{"$schema":"http://json-schema.org/draft-07/schema#","required":["a"],"properties":{"a":{"type":"string"},"b":{"const":2}},"dependencies":{"a":{"required":["b"]}}}`, `{"a":"example","b":2}`},
		{"names by a pattern", `{"minProperties":2,"propertyNames":{"pattern":"^[a-z]{3,}$"},"additionalProperties":{"type":"integer"}}`, `{"aaaa":1,"example":1}`},
		{"names from a list", `{"minProperties":2,"propertyNames":{"enum":["x","y"]}}`, `{"x":"example","y":"example"}`},
		{"names of patternProperties", `{"minProperties":1,"patternProperties":{"^x-":{"type":"integer"}},"additionalProperties":false}`, `{"x-":1}`},
		{"different values of a list", `{"required":["a"],"properties":{"a":{"items":{"enum":["x","y","z"]},"type":"array","minItems":3,"uniqueItems":true}}}`, `{"a":["x","y","z"]}`},
		{"different values of all kinds", `{"required":["a","b","c","d"],"properties":{
			"a":{"items":{"type":"boolean"},"type":"array","minItems":2,"uniqueItems":true},
			"b":{"items":{"type":"integer","multipleOf":5},"type":"array","minItems":2,"uniqueItems":true},
			"c":{"items":{"type":"string","maxLength":2},"type":"array","minItems":2,"uniqueItems":true},
			"d":{"items":{"type":"object","required":["n"],"properties":{"n":{"type":"string","pattern":"^[a-z]+$"}}},"type":"array","minItems":2,"uniqueItems":true}}}`, `{"a":[true,false],"b":[5,10],"c":["ex","e2"],"d":[{"n":"example"},{"n":"aa"}]}`},
		{"look-ahead", `{"required":["a","b"],"properties":{"a":{"type":"string","pattern":"^(?!example)\\w+$"},"b":{"type":"string","pattern":"^(?=.*[A-Z])(?=.*\\d).{8,}$"}}}`, `{"a":"a","b":"A1aaaaaaaa"}`},
		{"another value than an excluded one", `{"required":["n"],"properties":{"n":{"type":"integer","not":{"const":1}}}}`, `{"n":2}`},
		{"one alternative only", `{"required":["v"],"properties":{"v":{"oneOf":[{"type":"integer"},{"minimum":1}]}}}`, `{"v":"example2"}`},
		{"a count of members", `{"type":"object","minProperties":1,"additionalProperties":{"type":"integer"}}`, `{"name1":1}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Example(json.RawMessage(test.schema))
			if err != nil || !same(t, got, json.RawMessage(test.want)) {
				t.Fatalf("got %s, %v\nwant %s", got, err, test.want)
			}
			if problems, unknown := texts(t, test.schema, string(got)); len(problems)+len(unknown) > 0 {
				t.Errorf("%s has the problems %q %q", got, problems, unknown)
			}
		})
	}
}

func TestExampleThatCannotBe(t *testing.T) {
	for _, schema := range []string{`false`, `{"required":["a"],"properties":{"a":false}}`} {
		if got, err := Example(json.RawMessage(schema)); !errors.Is(err, errNoExample) || got == nil {
			t.Errorf("%s: got %s, %v", schema, got, err)
		}
	}
}

// A schema can ask for any number of elements of any length: an example is bounded in
// what is made for it, whatever time there is, and says when it does not fit.
func TestExampleIsBounded(t *testing.T) {
	const many = "1000000000"
	for name, of := range map[string]string{
		"long text":          `{"type":"string","minLength":` + many + `}`,
		"many long texts":    `{"type":"array","minItems":` + many + `,"items":{"type":"string","minLength":` + many + `}}`,
		"many distinct":      `{"type":"array","minItems":` + many + `,"uniqueItems":true,"items":{"type":"string","minLength":300}}`,
		"many lists":         `{"type":"array","minItems":` + many + `,"items":{"type":"array","minItems":` + many + `,"items":{"type":"array","minItems":` + many + `}}}`,
		"many members":       `{"type":"object","minProperties":` + many + `,"additionalProperties":{"type":"string","minLength":500}}`,
		"names by a pattern": `{"type":"object","minProperties":` + many + `,"propertyNames":{"pattern":"^[a-z]{50,}$"}}`,
		"a pattern":          `{"type":"array","minItems":` + many + `,"items":{"type":"string","minLength":` + many + `,"pattern":"^(ab{1000}){1000}$"}}`,
		"a pattern to grow":  `{"type":"array","minItems":` + many + `,"items":{"type":"string","minLength":` + many + `,"pattern":"^(?=.*z)[a-z]*$"}}`,
		"a long pattern":     `{"type":"array","minItems":` + many + `,"items":{"type":"string","pattern":"^(` + strings.Repeat("a", 9000) + `)*(?=b)$"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			schema := json.RawMessage(`{"required":["a"],"properties":{"a":` + of + `}}`)
			maker := newExampleMaker(newDocument(schema), 0, time.Now().Add(time.Hour))
			raw, err := rawjson.Marshal(maker.make(maker.document.root, 0))
			const most = 4 * maxExampleSize // text, and what stands around it
			if err != nil || len(raw) > most {
				t.Errorf("%d bytes are made, at most %d are wanted: %v", len(raw), most, err)
			}
			if _, err := Example(schema); !errors.Is(err, errNoExample) {
				t.Errorf("it is said to fit: %v", err)
			}
		})
	}
}

// A pattern's text grows to the length that is asked for.
func TestExampleOfLongPattern(t *testing.T) {
	for _, pattern := range []string{`^[a-z]+$`, `^x-(ab)*$`, `^(?=.*1)\w*$`} {
		schema := json.RawMessage(`{"required":["a"],"properties":{"a":{"type":"string","minLength":1500,"pattern":"` + pattern + `"}}}`)
		if got, err := Example(schema); err != nil {
			t.Errorf("%s: got %.50s, %v", pattern, got, err)
		}
	}
}

// A broken schema still says enough for an example (VAL-3).
func TestExampleOfBrokenSchema(t *testing.T) {
	got, err := Example(json.RawMessage(`{"required":["a"],"properties":{"a":{"type":"string"},"b":{"$ref":"https://example.com/x"}}}`))
	if err != nil || string(got) != `{"a":"example"}` {
		t.Errorf("got %s, %v", got, err)
	}
}

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

// A command line that toolx prints gives the same arguments when it is pasted
// into a shell.
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
		"server__esc\x1b[31m", "new\nline", "tab\tand 'quotes' and \\slashes", "bidi\u202e1", "\xff\xfe7", "é and \x07", "\ufffd",
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
		if want := strings.Join([]string{"toolx", "call", word, "--", word, "plain word", ""}, "\x00"); err != nil || string(out) != want {
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
	if checkJSON(raw) != nil {
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
	refused := &InvalidArgumentsError{Tool: tool, Problems: []Problem{{Path: "action", Reason: ReasonMissing}}, Arguments: arguments}
	if got, want := fault.HintOf(refused), "for example: toolx call light --arg deviceName=example --arg action=on"; got != want {
		t.Errorf("got %s", shorten(got, 200))
	}
}

// VAL-1: a hint never repeats a call that is refused. What the user gave right stays
// in it where it can; where nothing is known to work, it is no command to call.
func TestHintIsNeverRefused(t *testing.T) {
	const show = "toolx show t tells what it takes"
	tests := []struct{ name, schema, arguments, want string }{
		{"a condition", `{"properties":{"k":{"type":"string"},"b":{"type":"integer"}},"if":{"required":["k"]},"then":{"required":["b"]}}`, `{"k":"mine"}`, "toolx call t --arg k=mine --arg b=1"},
		{"what goes together", `{"properties":{"a":{},"b":{"type":"integer"}},"dependentRequired":{"a":["b"]}}`, `{"a":7}`, "toolx call t --arg a=7 --arg b=1"},
		{"excluded together", `{"properties":{"a":{},"b":{}},"not":{"required":["a","b"]}}`, `{"a":1,"b":2}`, "toolx call t"},
		{"both of two", `{"properties":{"a":{"type":"integer"},"b":{}},"oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{"a":1,"b":2}`, "toolx call t --arg a=1"},
		{"look-ahead", `{"properties":{"a":{"type":"string","pattern":"^(?=.*\\d)\\w+$"}},"required":["a"]}`, `{"a":"!"}`, "toolx call t --arg a=1a"},
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
			_, err := (&Executor{Registry: registry}).Prepare(Call{Tool: "t", Arguments: json.RawMessage(test.arguments)})
			hint := strings.TrimPrefix(fault.HintOf(err), "for example: ")
			if hint != test.want {
				t.Errorf("got %s, want %s", hint, test.want)
			}
			if hint == show {
				return
			}
			again := rerun(t, tool, unquoteShell(hint))
			if problems, unknown := texts(t, test.schema, string(again)); len(problems)+len(unknown) > 0 {
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
		normalized, _, err := Normalize(tool, json.RawMessage(arguments))
		if err != nil {
			t.Fatal(err)
		}
		problems, _ := mustCompile(t, lightSchema).Validate(normalized)
		refused := &InvalidArgumentsError{Tool: tool, Problems: problems, Arguments: normalized}
		if got := fault.HintOf(refused); got != want {
			t.Errorf("%s:\n got %s\nwant %s", arguments, got, want)
		}
		command := strings.TrimPrefix(fault.HintOf(refused), "for example: ")
		again := rerun(t, tool, unquoteShell(command))
		if problems, unknown := texts(t, lightSchema, string(again)); len(problems)+len(unknown) > 0 {
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
		compiled, err := CompileSchema(json.RawMessage(schema))
		if err != nil {
			return
		}
		tool := &Tool{Name: "t", Type: TypeBuiltin, InputSchema: json.RawMessage(schema)}
		registry := NewRegistry(nil)
		registry.Register(tool)
		_, err = (&Executor{Registry: registry}).Prepare(Call{Tool: "t", Arguments: json.RawMessage(arguments)})
		if err == nil {
			return
		}
		command, ok := strings.CutPrefix(fault.HintOf(err), "for example: ")
		if !ok {
			return
		}
		if problems, unknown := compiled.Validate(rerun(t, tool, unquoteShell(command))); len(problems)+len(unknown) > 0 {
			t.Errorf("%s has the problems %q %q", command, problems, unknown)
		}
	})
}
