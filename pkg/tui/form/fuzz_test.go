package form

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// seeds are schemas with arguments that go through every kind of field.
func seeds() [][2]string {
	return [][2]string{
		{`{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"integer"},"b":{"type":"boolean"}}}`, `{"a":"x","n":12345678901234567890,"b":true,"unknown":[1,{"z":null}]}`},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"a":"\u0000\ud800\t<\u202e>","n":1.0e2}`},
		{`{"properties":{"e":{"enum":["x",1,null]},"c":{"const":{"k":[1]}}}}`, `{"c":{"k":[1]},"e":null}`},
		{`{"properties":{"l":{"type":"array","items":{"type":"array","items":{"type":"number"}}}}}`, `{"l":[[1,2],[],null,"x"]}`},
		{`{"type":"object","additionalProperties":{"type":"object","additionalProperties":{"type":"string"}}}`, `{"k":{"":"v","a.b":"w"},"x":5}`},
		{`{"type":"object","properties":{"v":{"oneOf":[{"type":"object","properties":{"kind":{"const":"a"}},"required":["kind"]},{"type":"object","properties":{"kind":{"const":"b"},"n":{"type":["integer","null"]}}},{"type":"string"},{"type":"null"}]}}}`, `{"v":{"kind":"b","n":null,"more":0}}`},
		{`{"oneOf":[{"properties":{"a":{}}},{"properties":{"b":{}},"required":["b"]}]}`, `{"b":{"c":1}}`},
		{`{"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{"next":{"$ref":"#/$defs/t"},"list":{"type":"array","items":{"$ref":"#/$defs/t"}}},"required":["next"]}}}`, `{"next":{"next":{"next":{"next":{"next":{"list":[{}]}}}}}}`},
		{`{"$ref":"#"}`, `{"a":1}`},
		{`{"allOf":[{"$ref":"#"},{"properties":{"x":{"$ref":"#/nowhere"}}}],"if":{},"then":{"properties":{"y":{"type":"string"}}}}`, `{"x":1,"y":2}`},
		{`{"properties":{"t":{"type":"array","prefixItems":[{"type":"string"}]},"p":{"patternProperties":{"^a":{}}},"not":{"not":{}}}}`, `{"t":["a",1],"p":{"ab":1},"not":0}`},
		{`{"properties":{"x":{"type":["string","number","array"]},"d":{"type":"string","format":"date","default":"2020-01-01","examples":["a"]}}}`, `{"x":[1],"d":"nope"}`},
		{`true`, `{}`},
		{`[`, `{"a":1}`},
		{`{"type":"string"}`, `{"a":1}`},
		{`{"properties":{"":{"type":"string"},"\u001b[2J":{"title":"\u001b]0;x\u0007","description":"\u202e"}}}`, `{"":"","\u001b[2J":"\u001b[31m"}`},
		{`{"required":["only"],"properties":7}`, `{"only":{}}`},
		{`{"oneOf":[{"required":["a"]},{"required":["b"]}],"if":{"properties":{"c":{"const":1}}},"then":{"$ref":"#"}}`, `{"a":"x","c":[1]}`},
		{`{"patternProperties":{"^k":{"type":"string"}},"additionalProperties":false}`, `{"k":"1","x":2}`},
	}
}

// fuzzKeys are the keys that bytes stand for.
func fuzzKeys() []string {
	return []string{"enter", "tab", "shift+tab", "up", "down", "left", "right", "space", "esc", "f2", "ctrl+n", "ctrl+u", "ctrl+a", "ctrl+d", "ctrl+o", "ctrl+j", "alt+up", "alt+down", "backspace", "delete", "home", "end", "pgup", "pgdown", "ctrl+w", "x", "1", `"`, "{", "}", "é", "\u202e"}
}

// FuzzForm: no schema, no arguments and no keys crash the form; every frame has its
// exact size; and form to JSON to form is the identity.
func FuzzForm(f *testing.F) {
	f.Add("{\"properties\":{\"\x97\":{\"$ref\":\"#/nowhere\"}}}", `{}`, []byte("1{[\"all"), 40, 12)
	for i, seed := range seeds() {
		f.Add(seed[0], seed[1], []byte{0, 1, 25, 26, 4, 7, 12, 0, 5, 9, 29, 9, 10, 14, byte(i)}, 40, 12)
	}
	f.Fuzz(func(t *testing.T, schema, given string, keys []byte, width, height int) {
		width, height = width&127, height&63
		form := newForm(schema)
		exact(t, form, width, height)
		checkIdentity(t, form, given)
		for _, key := range keys[:min(len(keys), 60)] {
			press(form, fuzzKeys()[int(key)%len(fuzzKeys())])
			form.Update(tea.MouseClickMsg{X: int(key), Y: int(key) % 16, Button: tea.MouseLeft})
			exact(t, form, width, height)
			checkReopened(t, form)
		}
		form.Update(tea.PasteMsg{Content: given})
		exact(t, form, width, height)
	})
}

// exact fails where a frame has not exactly the size that was asked for, or carries
// a control sequence that is not a style.
func exact(t *testing.T, form *Form, width, height int) {
	t.Helper()
	frame := form.Render(width, height)
	if height == 0 {
		return
	}
	lines := strings.Split(frame, "\n")
	if len(lines) != height {
		t.Fatalf("%d lines instead of %d", len(lines), height)
	}
	for _, line := range lines {
		if got := ansi.StringWidth(line); got != width {
			t.Fatalf("a line of %d cells instead of %d: %q", got, width, line)
		}
	}
	if plain := ansi.Strip(frame); strings.ContainsAny(plain, "\x1b\x07\t\r\x00\u202e") {
		t.Fatalf("the frame holds control characters: %q", plain)
	}
}

// checkIdentity: what is put into the form comes out of it, but for the order of
// members and spaces; and once more, it is the same bytes.
func checkIdentity(t *testing.T, form *Form, given string) {
	t.Helper()
	if form.SetArguments(json.RawMessage(given)) != nil {
		return
	}
	if form.Changed() {
		t.Fatal("it changed by being filled in")
	}
	made := arguments(form)
	if !reflect.DeepEqual(decoded(t, made), decoded(t, given)) {
		t.Fatalf("%s became %s", given, made)
	}
	if err := form.SetArguments(json.RawMessage(made)); err != nil || arguments(form) != made {
		t.Fatalf("%s became %s (%v)", made, arguments(form), err)
	}
	press(form, "f2")
	press(form, "space")
	press(form, "f2")
	if got := arguments(form); form.json != nil || got != made {
		t.Fatalf("by way of the editor, %s became %s", made, got)
	}
}

// checkReopened: another form takes what this one makes, and makes the same.
func checkReopened(t *testing.T, form *Form) {
	t.Helper()
	made, err := form.Arguments()
	if err != nil {
		if len(form.Problems()) == 0 {
			t.Fatalf("there are no arguments (%v), and no problem", err)
		}
		return
	}
	other := New(form.tool, form.theme, noon)
	if err := other.SetArguments(made); err != nil {
		t.Fatalf("%s: %v", made, err)
	}
	if got := arguments(other); !reflect.DeepEqual(decoded(t, got), decoded(t, string(made))) {
		t.Fatalf("%s became %s", made, got)
	}
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}
