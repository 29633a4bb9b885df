package exec

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
)

const everyKind = `{
	"type": "object",
	"properties": {
		"s": {"type": "string"},
		"i": {"type": "integer"},
		"n": {"type": "number"},
		"b": {"type": "boolean"},
		"z": {"type": "null"},
		"o": {"type": "object", "properties": {"a": {"type": "string"}, "deep": {"type": "object", "properties": {"x": {"type": "integer"}}}}},
		"free": {"type": "object"},
		"tags": {"type": "array", "items": {"type": "string"}},
		"nums": {"type": "array", "items": {"type": "integer"}},
		"rows": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
		"list": {"type": "array"},
		"ns": {"anyOf": [{"type": "string"}, {"type": "null"}]},
		"ni": {"type": ["integer", "null"]},
		"is": {"type": ["integer", "string"]},
		"sl": {"type": ["string", "array"], "items": {"type": "string"}},
		"any": {},
		"ref": {"$ref": "#/$defs/text"},
		"all": {"allOf": [{"$ref": "#/$defs/text"}, {"minLength": 1}]},
		"words": {"enum": ["1", "2"]},
		"mixed": {"enum": [1, "2", "auto"]},
		"fixed": {"const": 7},
		"deviceName": {"type": "string"},
		"x.y": {"type": "string"},
		"x": {"type": "object"}
	},
	"$defs": {"text": {"type": "string"}}
}`

func everyKindTool() *Tool {
	return &Tool{
		Name: "srv__every", Plain: "every", Server: "srv", Type: TypeMCP, InputSchema: json.RawMessage(everyKind),
		Rename: map[string]string{"label": "s"},
	}
}

// The arguments of call: the whole table, typed by the schema.
func TestParseArgsTyped(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{nil, `{}`},
		{[]string{"s=012"}, `{"s":"012"}`},
		{[]string{"s=true"}, `{"s":"true"}`},
		{[]string{"s=1e5"}, `{"s":"1e5"}`},
		{[]string{"s=null"}, `{"s":"null"}`},
		{[]string{"s="}, `{"s":""}`},
		{[]string{"s=a=b"}, `{"s":"a=b"}`},
		{[]string{`s={"a":1}`}, `{"s":"{\"a\":1}"}`},
		{[]string{"s=@@home"}, `{"s":"@home"}`},
		{[]string{"s=<&>"}, `{"s":"<&>"}`},
		{[]string{"s:=5"}, `{"s":5}`},
		{[]string{"i=5"}, `{"i":5}`},
		{[]string{"i=-0"}, `{"i":-0}`},
		{[]string{"i=1.0"}, `{"i":1.0}`},
		{[]string{"i=123456789012345678901234567890"}, `{"i":123456789012345678901234567890}`},
		{[]string{"n=1e5"}, `{"n":1e5}`},
		{[]string{"n=0.10"}, `{"n":0.10}`},
		{[]string{"b=true"}, `{"b":true}`},
		{[]string{"z=null"}, `{"z":null}`},
		{[]string{`o={"a": "1"}`}, `{"o":{"a": "1"}}`},
		{[]string{"o.a=5"}, `{"o":{"a":"5"}}`},
		{[]string{"o.deep.x=5", "o.a=1"}, `{"o":{"deep":{"x":5},"a":"1"}}`},
		{[]string{"free.any.thing=5"}, `{"free":{"any.thing":5}}`},
		{[]string{"x.y=5"}, `{"x.y":"5"}`},
		{[]string{"un.known=5"}, `{"un.known":5}`},
		{[]string{"tags=a"}, `{"tags":["a"]}`},
		{[]string{"tags=a", "s=x", "tags=b"}, `{"tags":["a","b"],"s":"x"}`},
		{[]string{`tags=["a","b"]`}, `{"tags":["a","b"]}`},
		{[]string{"tags=5"}, `{"tags":["5"]}`},
		{[]string{"nums=1", "nums=2"}, `{"nums":[1,2]}`},
		{[]string{"nums=7"}, `{"nums":[7]}`},
		{[]string{"rows=[1]", "rows=[2]"}, `{"rows":[[1],[2]]}`},
		{[]string{"list=1", "list=a"}, `{"list":[1,"a"]}`},
		{[]string{"tags:=1", "tags:=2"}, `{"tags":[1,2]}`},
		{[]string{"ns=null"}, `{"ns":null}`},
		{[]string{`ns="5"`}, `{"ns":"\"5\""}`},
		{[]string{"ns=5"}, `{"ns":"5"}`},
		{[]string{"ni=null"}, `{"ni":null}`},
		{[]string{"is=5"}, `{"is":5}`},
		{[]string{"is=05"}, `{"is":"05"}`},
		{[]string{"is= 5"}, `{"is":" 5"}`},
		{[]string{"is=true"}, `{"is":"true"}`},
		{[]string{`is="5"`}, `{"is":"5"}`},
		{[]string{"sl=a"}, `{"sl":"a"}`},
		{[]string{"sl=a", "sl=b"}, `{"sl":["a","b"]}`},
		{[]string{"any=5"}, `{"any":5}`},
		{[]string{"any=five"}, `{"any":"five"}`},
		{[]string{"any="}, `{"any":""}`},
		{[]string{`any={"a":1}`}, `{"any":{"a":1}}`},
		{[]string{"ref=5"}, `{"ref":"5"}`},
		{[]string{"all=5"}, `{"all":"5"}`},
		{[]string{"words=1"}, `{"words":"1"}`},
		{[]string{"mixed=1"}, `{"mixed":1}`},
		{[]string{"mixed=2"}, `{"mixed":"2"}`},
		{[]string{"mixed=auto"}, `{"mixed":"auto"}`},
		{[]string{"fixed=7"}, `{"fixed":7}`},
		{[]string{"device_name=007"}, `{"device_name":"007"}`},
		{[]string{"label=007"}, `{"label":"007"}`},
		{[]string{"unknown=5", "unheard=x"}, `{"unknown":5,"unheard":"x"}`},
		{[]string{"s=ü\U0001F600"}, "{\"s\":\"ü\U0001F600\"}"},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			got, err := ParseArgs(everyKindTool(), Input{Args: test.args})
			if err != nil || string(got) != test.want {
				t.Errorf("got %s, %v\nwant %s", got, err, test.want)
			}
		})
	}
}

// What does not fit its type is refused with the form that would.
func TestParseArgsRefused(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"i=5."}, `'i' must be an integer; got "5."`},
		{[]string{"i=1.5"}, `'i' must be an integer; got "1.5"`},
		{[]string{"i=+5"}, `'i' must be an integer`},
		{[]string{`any={"a":1,"a":2}`}, `'any' must be JSON; got {"a":1,"a":2} (duplicate keys`},
		{[]string{`sl=[{"a":1,"a":2}]`}, `'sl' must be JSON; got [{"a":1,"a":2}] (duplicate keys`},
		{[]string{"i=0x10"}, `'i' must be an integer`},
		{[]string{"i= 5"}, `'i' must be an integer; got " 5"`},
		{[]string{"i=012"}, `'i' must be an integer`},
		{[]string{"i=1_000"}, `'i' must be an integer`},
		{[]string{"i="}, `'i' must be an integer; got "" (leave it out to send nothing)`},
		{[]string{"i=null"}, `'i' must be an integer`},
		{[]string{"n=NaN"}, `'n' must be a number`},
		{[]string{"n=Infinity"}, `'n' must be a number`},
		{[]string{"n=1e400"}, `'n' must be a number; got "1e400" (1e400 is out of range)`},
		{[]string{"n=1e309"}, `out of range`},
		{[]string{"b=yes"}, `'b' must be true or false; got "yes"`},
		{[]string{"b=True"}, `'b' must be true or false`},
		{[]string{"b=1"}, `'b' must be true or false`},
		{[]string{"o={city:Paris}"}, `the shell removed the quotes`},
		{[]string{"o=x"}, `'o' must be an object; got "x"`},
		{[]string{"tags=[draft]"}, `'tags' must be an array of string`},
		{[]string{"nums=x"}, `'nums' must be an array of integer; got "x"`},
		{[]string{"nums=1", "nums=x"}, `'nums' must be an integer; got "x"`},
		{[]string{"words=3"}, ``},
		{[]string{"fixed=x"}, `'fixed' must be 7; got "x"`},
		{[]string{"s=a", "s=b"}, `'s' must be given once; got "a" and "b"`},
		{[]string{"s:=[1,"}, `'s' must be JSON; got "[1," (unexpected end of JSON input (byte 3))`},
		{[]string{"s:=1 2"}, `'s' must be JSON`},
		{[]string{`s:={"a":1,"a":2}`}, `duplicate keys: "a"`},
		{[]string{"s:="}, `empty where JSON is expected`},
		{[]string{"s:=NaN"}, `'s' must be JSON`},
		{[]string{"any:=" + strings.Repeat("[", 600) + strings.Repeat("]", 600)}, "nested deeper"},
		{[]string{"s=\xff"}, `'s' must be text in UTF-8`},
		{[]string{"o:=5", "o.a=1"}, `'o' is 5, not an object`},
		{[]string{"i=x", "b=x", "n=1"}, `'i' must be an integer; got "x"; 'b' must be true or false; got "x"`},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			got, err := ParseArgs(everyKindTool(), Input{Args: test.args})
			if test.want == "" { // right in form: validation has the say
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			var invalid *InvalidArgumentsError
			if !errors.As(err, &invalid) || got != nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %s, %v\nwant %s", got, err, test.want)
			}
		})
	}
}

// A malformed argument, with the form it should have.
func TestParseArgsForm(t *testing.T) {
	tests := []struct{ arg, message, hint string }{
		{"deviceName", `argument "deviceName" is not of the form name=value`, "write deviceName=value"},
		{"a:1", "not of the form", "write a=1, or a:=1"},
		{"city:New York", "not of the form", "write city='New York'"},
		{"on:true", "not of the form", "write on=true, or on:=true"},
		{"a:", "not of the form", "write a=value"},
		{"=x", "not of the form", "write name=value"},
		{":=x", "not of the form", "write name=value"},
		{"", "not of the form", "write name=value"},
		{`{"a":1}`, "not of the form", "--args"},
		{"\xff=x", "not valid UTF-8", ""},
		{"s=@", "has no file name", "s=@@"},
		{"s=@/does/not/exist", "cannot read /does/not/exist", "s=@@/does/not/exist"},
		{"s=@" + os.TempDir(), "it is a directory", "for the text itself"},
	}
	for _, test := range tests {
		t.Run(test.arg, func(t *testing.T) {
			_, err := ParseArgs(everyKindTool(), Input{Args: []string{test.arg}})
			if fault.KindOf(err) != fault.KindUsage || !strings.Contains(err.Error(), test.message) ||
				!strings.Contains(fault.HintOf(err), test.hint) {
				t.Errorf("got %v (%s, hint %q)", err, fault.KindOf(err), fault.HintOf(err))
			}
		})
	}
}

// --args is the whole object; single arguments are laid over it.
func TestParseArgsObject(t *testing.T) {
	file := write(t, "object.json", "\xef\xbb\xbf{\"s\": \"file\"}\n")
	tests := []struct {
		name  string
		input Input
		want  string
	}{
		{"as it is", Input{Object: ` {"n": 1.50, "s":"é"} `}, `{"n": 1.50, "s":"é"}`},
		{"file with a BOM", Input{Object: "@" + file}, `{"s": "file"}`},
		{"standard input", Input{Object: "-", Stdin: strings.NewReader(`{"s":"in"}`)}, `{"s":"in"}`},
		{"standard input as a file", Input{Object: "@-", Stdin: strings.NewReader(`{"s":"in"}`)}, `{"s":"in"}`},
		{"laid over, in place", Input{Object: `{"i":1,"n":2.0}`, Args: []string{"i=5", "b=true"}}, `{"i":5,"n":2.0,"b":true}`},
		{"nested, laid over", Input{Object: `{"o":{"a":"1","k":2}}`, Args: []string{"o.a=3"}}, `{"o":{"a":"3","k":2}}`},
		{"an array is replaced", Input{Object: `{"tags":["a"]}`, Args: []string{"tags=b"}}, `{"tags":["b"]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := ParseArgs(everyKindTool(), test.input)
			if err != nil || string(got) != test.want {
				t.Errorf("got %s, %v\nwant %s", got, err, test.want)
			}
		})
	}
}

func TestParseArgsBadObject(t *testing.T) {
	tests := []struct{ name, object, message, hint string }{
		{"not JSON", `{"a":`, "--args: not JSON", "--args @FILE"},
		{"quotes stripped by PowerShell", `{city:Paris}`, "--args: not JSON", "PowerShell"},
		{"array", `[1]`, "--args must be a JSON object; got [1]", "--args @FILE"},
		{"duplicate keys", `{"a":1,"a":2}`, `duplicate keys: "a"`, "--args"},
		{"NaN", `{"a":NaN}`, "not JSON", "--args"},
		{"two values", `{} {}`, "not JSON", "--args"},
		{"deep", strings.Repeat(`{"a":`, 600) + "1" + strings.Repeat("}", 600), "nested deeper", ""},
		{"UTF-16", "@" + write(t, "utf16.json", "\xff\xfe{\x00}\x00"), "not valid UTF-8", ""},
		{"empty file", "@" + write(t, "empty.json", ""), "empty where JSON is expected", ""},
		{"missing file", "@/does/not/exist", "cannot read /does/not/exist: ", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := ParseArgs(everyKindTool(), Input{Object: test.object})
			if fault.KindOf(err) != fault.KindUsage || !strings.Contains(err.Error(), test.message) ||
				!strings.Contains(fault.HintOf(err), test.hint) {
				t.Errorf("got %v (%s, hint %q)", err, fault.KindOf(err), fault.HintOf(err))
			}
		})
	}
}

// k=@FILE and k=@- are typed like a value on the command line.
func TestParseArgsFiles(t *testing.T) {
	note := write(t, "note.txt", "two\nlines\n")
	number := write(t, "number.txt", "42\r\n")
	list := write(t, "list.json", "\xef\xbb\xbf[\"a\",\n\"b\"]\n")
	tests := []struct {
		name  string
		args  []string
		stdin string
		want  string
	}{
		{"text byte for byte", []string{"s=@" + note}, "", `{"s":"two\nlines\n"}`},
		{"a number ends in a newline", []string{"i=@" + number}, "", `{"i":42}`},
		{"JSON", []string{"tags=@" + list}, "", "{\"tags\":[\"a\",\n\"b\"]}"},
		{"JSON by force", []string{"s:=@" + list}, "", "{\"s\":[\"a\",\n\"b\"]}"},
		{"a union from a file", []string{"any=@" + number}, "", `{"any":42}`},
		{"standard input", []string{"s=@-"}, "from a pipe", `{"s":"from a pipe"}`},
		{"elements from files", []string{"tags=@" + note, "tags=@@x"}, "", `{"tags":["two\nlines\n","@x"]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := ParseArgs(everyKindTool(), Input{Args: test.args, Stdin: strings.NewReader(test.stdin)})
			if err != nil || string(got) != test.want {
				t.Errorf("got %s, %v\nwant %s", got, err, test.want)
			}
		})
	}
}

func TestParseArgsBytes(t *testing.T) {
	_, err := ParseArgs(everyKindTool(), Input{Args: []string{"s=@" + write(t, "image.png", "\x89PNG")}})
	if fault.KindOf(err) != fault.KindInvalidArguments || !strings.Contains(err.Error(), "base64") {
		t.Errorf("got %v", err)
	}
}

func TestParseArgsReadsStdinOnce(t *testing.T) {
	for _, input := range []Input{
		{Args: []string{"s=@-", "any=@-"}},
		{Object: "-", Args: []string{"s=@-"}},
	} {
		input.Stdin = strings.NewReader("{}")
		if _, err := ParseArgs(everyKindTool(), input); fault.KindOf(err) != fault.KindUsage ||
			!strings.Contains(err.Error(), "twice") {
			t.Errorf("%+v: got %v", input, err)
		}
	}
	if _, err := ParseArgs(everyKindTool(), Input{Args: []string{"s=@-"}}); fault.KindOf(err) != fault.KindUsage {
		t.Errorf("without standard input: got %v", err)
	}
}

// A tool whose schema is missing or broken still takes arguments.
func TestParseArgsWithoutTypes(t *testing.T) {
	for schema, want := range map[string]string{
		``:   `{"a":5,"b":"x"}`,
		`[]`: `{"a":5,"b":"x"}`,
		`{"$schema":"https://example.com/unknown","properties":{"a":{"type":"string"}}}`: `{"a":"5","b":"x"}`,
	} {
		got, err := ParseArgs(&Tool{InputSchema: json.RawMessage(schema)}, Input{Args: []string{"a=5", "b=x"}})
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v", schema, got, err)
		}
	}
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// same compares two JSON texts by value, numbers by their digits.
func same(t testing.TB, a, b json.RawMessage) bool {
	t.Helper()
	left, errLeft := rawjson.Decode(a)
	right, errRight := rawjson.Decode(b)
	if errLeft != nil || errRight != nil {
		t.Fatal(errLeft, errRight)
	}
	return reflect.DeepEqual(left, right)
}

func FuzzParseArgs(f *testing.F) {
	for _, arg := range []string{
		"s=012", "i=1e3", "n=5.", "o.a=x", "tags=[", `any={"a":[1,2]}`, "ns=null", "a:=[1]", "b=@@x", "==", "o.deep.x=5", "mixed=2",
	} {
		f.Add(everyKind, arg, arg, "{}")
	}
	f.Add(`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"x":{"anyOf":[{"$ref":"#"}]}}}}}`, "x.x.x=5", "x=1", `{"x":{}}`)
	f.Fuzz(func(t *testing.T, schema, first, second, base string) {
		if strings.Contains(first+second, "=@") && !strings.Contains(first+second, "=@-") ||
			strings.HasPrefix(base, "@") {
			return // files of this machine are not part of the input
		}
		tool := &Tool{Name: "t", Type: TypeMCP, InputSchema: json.RawMessage(schema)}
		got, err := ParseArgs(tool,
			Input{Args: []string{first, second}, Object: base, Stdin: bytes.NewReader([]byte(base))})
		if err != nil {
			if kind := fault.KindOf(err); kind != fault.KindUsage && kind != fault.KindInvalidArguments {
				t.Errorf("kind %s of %v", kind, err)
			}
			_ = fault.HintOf(err)
			return
		}
		if err := rawjson.Check(got); err != nil {
			t.Fatalf("%q is no arguments object: %v", got, err)
		}
		if _, ok := rawjson.Members(got); !ok {
			t.Fatalf("%q is not an object", got)
		}
	})
}
