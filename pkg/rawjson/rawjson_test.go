package rawjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestMembersAreCutByteForByte(t *testing.T) {
	const text = ` {"a" : 1,"b\"":"x,}" , "c":[{"d":2}],"e":{}, "f":-1.50e3 , "g":null} `
	want := []Member{
		{"a", json.RawMessage(`"a"`), json.RawMessage(`1`)},
		{`b"`, json.RawMessage(`"b\""`), json.RawMessage(`"x,}"`)},
		{"c", json.RawMessage(`"c"`), json.RawMessage(`[{"d":2}]`)},
		{"e", json.RawMessage(`"e"`), json.RawMessage(`{}`)},
		{"f", json.RawMessage(`"f"`), json.RawMessage(`-1.50e3`)},
		{"g", json.RawMessage(`"g"`), json.RawMessage(`null`)},
	}
	list, ok := Members([]byte(text))
	if !ok || len(list) != len(want) {
		t.Fatalf("%d members, %v", len(list), ok)
	}
	for i, m := range list {
		if m.Name != want[i].Name || !bytes.Equal(m.Key, want[i].Key) || !bytes.Equal(m.Value, want[i].Value) {
			t.Errorf("member %d is %q: %s, want %q: %s", i, m.Name, m.Value, want[i].Name, want[i].Value)
		}
	}
}

func TestElements(t *testing.T) {
	list, ok := Elements([]byte(` [ 1 , "a,]" ,[],{"b":[2]} ,true] `))
	if !ok || len(list) != 5 {
		t.Fatalf("%q, %v", list, ok)
	}
	for i, want := range []string{`1`, `"a,]"`, `[]`, `{"b":[2]}`, `true`} {
		if string(list[i]) != want {
			t.Errorf("element %d is %s, want %s", i, list[i], want)
		}
	}
}

func TestOtherKinds(t *testing.T) {
	for _, text := range []string{``, ` `, `1`, `"{"`, `null`, `[{}]`} {
		if list, ok := Members([]byte(text)); ok {
			t.Errorf("Members(%q) = %v", text, list)
		}
	}
	for _, text := range []string{``, `{}`, `"["`} {
		if list, ok := Elements([]byte(text)); ok {
			t.Errorf("Elements(%q) = %v", text, list)
		}
	}
}

func TestWriteText(t *testing.T) {
	for quoted, want := range map[string]string{
		`""`: "", `"plain"`: "plain", `"a\n\t\"\\\/"`: "a\n\t\"\\/", `"\u00e9\ud83d\ude00"`: "é😀", `"\ud800x"`: "\ufffdx",
		// The ends of pieces lie within characters.
		`"` + strings.Repeat("a", 64<<10-1) + `\ud83d\ude00é"`: strings.Repeat("a", 64<<10-1) + "😀é",
		`"` + strings.Repeat("é", 40_000) + `\n"`:              strings.Repeat("é", 40_000) + "\n",
		`"a` + strings.Repeat("é", 40_000) + `"`:               "a" + strings.Repeat("é", 40_000),
	} {
		var out bytes.Buffer
		if err := WriteText(&out, []byte(quoted)); err != nil || out.String() != want {
			t.Errorf("WriteText(%s) = %q, %v; want %q", quoted, out.String(), err, want)
		}
		if got := Unquote(json.RawMessage(quoted)); got != want {
			t.Errorf("Unquote(%s) = %q, want %q", quoted, got, want)
		}
	}
}

// FuzzCut proves that cutting valid JSON and putting it together again changes
// nothing but space, and that other text does no harm.
func FuzzCut(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"c"}],"d":{}}`, `[1,[2],"x"]`, `{"a`, `{"a":`, `[`, `{]`, `{"a":}`, `[,]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		list, isObject := Members(text)
		_, isArray := Elements(text)
		if !json.Valid(text) {
			return
		}
		if isObject != (bytes.TrimSpace(text)[0] == '{') || isArray != (bytes.TrimSpace(text)[0] == '[') {
			t.Fatalf("%q: object %v, array %v", text, isObject, isArray)
		}
		if !isObject {
			return
		}
		var want, got bytes.Buffer
		if err := json.Compact(&want, text); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&got, Object(list)); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Fatalf("%s became %s (%v)", want.Bytes(), got.Bytes(), err)
		}
	})
}

// A JSON pointer leads to one place in a value.
func TestPointer(t *testing.T) {
	const text = `{"a":[1,{"b/c":2,"d~":3}],"":4,"twice":5,"twice":6}`
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]float64{"/a/0": 1, "/a/1/b~1c": 2, "/a/1/d~0": 3, "/": 4, "/twice": 6} {
		if got, ok := At(value, pointer); !ok || got != want {
			t.Errorf("At(%q) = %v, %v; want %v", pointer, got, ok, want)
		}
	}
	for _, pointer := range []string{"/b", "/a/2", "/a/-1", "/a/x", "/a/00", "/a/0/0"} {
		if got, ok := At(value, pointer); ok {
			t.Errorf("At(%q) = %v", pointer, got)
		}
	}
	if got, ok := At(value, ""); !ok || got == nil {
		t.Errorf("the whole value: %v, %v", got, ok)
	}
	if got := Pointer("a", "1", "b/c", "d~"); got != "/a/1/b~1c/d~0" {
		t.Errorf("Pointer: %s", got)
	}
}

// The beginning of a text ends at a character, not in the midst of an escape.
func TestUnquoteHead(t *testing.T) {
	for _, test := range []struct {
		quoted string
		limit  int
		want   string
	}{
		{`"abc"`, 100, "abc"},
		{`"abcdef"`, 4, "abc"},
		{`"a\nbc"`, 3, "a\n"},
		{`"a\u00e9bc"`, 4, "aé"},
		{`"aé\"b"`, 3, "a"},
		{`"aébc"`, 4, "aé"},
		{`"a\ud83d\ude00b"`, 5, "a"},
		{`"\\\\\\"`, 2, `\`},
	} {
		if got := UnquoteHead(json.RawMessage(test.quoted), test.limit); got != test.want {
			t.Errorf("UnquoteHead(%s, %d) = %q, want %q", test.quoted, test.limit, got, test.want)
		}
	}
}

func TestGet(t *testing.T) {
	for _, test := range []struct{ object, want, text string }{
		{`{"a":"1","b":2}`, `"1"`, "1"},
		{`{"a":"1","a":"2"}`, `"2"`, "2"},
		{`{"a":"1","a":null}`, `null`, ""},
		{`{"b":{"a":"1"}}`, "", ""},
		{`["a"]`, "", ""},
	} {
		if got := string(Get([]byte(test.object), "a")); got != test.want {
			t.Errorf("%s: %s, want %s", test.object, got, test.want)
		}
		if got := GetText([]byte(test.object), "a"); got != test.text {
			t.Errorf("%s: text %q, want %q", test.object, got, test.text)
		}
	}
}

func TestBuild(t *testing.T) {
	got := Build("text", "a<b\"", "number", 12, "yes", true, "json", json.RawMessage(`{"x":1.0}`), "none", json.RawMessage(nil))
	if want := `{"text":"a<b\"","number":12,"yes":true,"json":{"x":1.0}}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWith(t *testing.T) {
	for _, test := range []struct{ object, name, value, want string }{
		{`{"a": 1, "b":2}`, "a", "3", `{"a":3,"b":2}`},
		{`{"\u0061":1,"b":2,"a":4}`, "a", "3", `{"\u0061":3,"b":2}`},
		{`{"a":1}`, "b", "[]", `{"a":1,"b":[]}`},
		{`{"a":1,"b":2,"a":3}`, "a", "", `{"b":2}`},
		{``, "a", "1", `{"a":1}`},
		{`{}`, "a", "", `{}`},
	} {
		var value json.RawMessage
		if test.value != "" {
			value = json.RawMessage(test.value)
		}
		if got := With(json.RawMessage(test.object), test.name, value); string(got) != test.want {
			t.Errorf("%s with %s %s: %s, want %s", test.object, test.name, test.value, got, test.want)
		}
	}
}
