package form

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/tui/pane"
)

// TestKeys: keys that a person presses, and the arguments that they make.
func TestKeys(t *testing.T) {
	for _, test := range []struct {
		name, properties, keys, want string
	}{
		{"typing begins at once", `"a":{"type":"string"}`, "hello", `{"a":"hello"}`},
		{"nothing typed is nothing sent", `"a":{"type":"string","default":"x"},"n":{"type":"integer","default":3}`, "tab tab", `{}`},
		{"empty text is a value", `"a":{"type":"string"}`, "x backspace", `{"a":""}`},
		{"unset after a value", `"a":{"type":"string"}`, "x ctrl+u", `{}`},
		{"null where it is allowed", `"a":{"type":["string","null"]}`, "x ctrl+n", `{"a":null}`},
		{"no null where it is not", `"a":{"type":"string"}`, "x ctrl+n", `{"a":"x"}`},
		{"a value after null", `"a":{"type":["string","null"]}`, "ctrl+n y", `{"a":"y"}`},
		{"unset after null", `"a":{"type":["string","null"]}`, "ctrl+n ctrl+u", `{}`},
		{"several lines", `"a":{"type":"string"}`, "one ctrl+j two enter three", `{"a":"one\ntwo\nthree"}`},
		{"lines are walked first", `"a":{"type":"string"},"b":{"type":"string"}`, "one ctrl+j two up X down down Y", `{"a":"oneX\ntwo","b":"Y"}`},
		{"words", `"a":{"type":"string"}`, "one space two ctrl+left X ctrl+w alt+d Z home ( end )", `{"a":"(one Z)"}`},
		{"enter goes on", `"a":{"type":"string"},"b":{"type":"string"}`, "x enter y", `{"a":"x","b":"y"}`},
		{"a large integer", `"n":{"type":"integer"}`, "123456789012345678901234567890", `{"n":123456789012345678901234567890}`},
		{"a number as it is typed", `"n":{"type":"number"}`, "1.50e2", `{"n":1.50e2}`},
		{"a number that is none", `"n":{"type":"number"}`, "1.", `error: 'n': not a number`},
		{"a number taken away", `"n":{"type":"number"}`, "1 backspace", `{}`},
		{"switched on", `"b":{"type":"boolean"}`, "space", `{"b":true}`},
		{"switched off", `"b":{"type":"boolean"}`, "enter right", `{"b":false}`},
		{"switched back to unset", `"b":{"type":"boolean"}`, "right right right", `{}`},
		{"one of several", `"e":{"enum":["a","b",3]}`, "left", `{"e":3}`},
		{"one of many, searched", `"e":{"enum":["Berlin","Bern","Bonn","Paris","London","Rome"]}`, "enter ber n enter", `{"e":"Bern"}`},
		{"a constant", `"c":{"const":"only"}`, "enter", `{"c":"only"}`},
		{"a type behind an anchor", `"n":{"$ref":"#num"},"d":{"$anchor":"num","type":"integer"}`, "5", `{"n":5}`},
		{"a type behind an id", `"n":{"$ref":"num"},"d":{"$id":"num","type":"integer"}`, "5", `{"n":5}`},
		{"rows", `"l":{"type":"array","items":{"type":"integer"}}`, "ctrl+a 1 ctrl+a 2 ctrl+a 3", `{"l":[1,2,3]}`},
		{"a row by its line", `"l":{"type":"array","items":{"type":"string"}}`, "enter down enter x down enter y", `{"l":["x","y"]}`},
		{"rows moved and removed", `"l":{"type":"array","items":{"type":"integer"}}`, "ctrl+a 1 ctrl+a 2 ctrl+a 3 alt+up alt+up ctrl+d alt+down", `{"l":[2,1]}`},
		{"the last row removed", `"l":{"type":"array","items":{"type":"integer"}}`, "ctrl+a 1 ctrl+d", `{"l":[]}`},
		{"an array unset", `"l":{"type":"array","items":{"type":"integer"}}`, "ctrl+a 1 up ctrl+u", `{}`},
		{"a row has no null that its schema forbids", `"l":{"type":"array","items":{"type":"string"}}`, "ctrl+a ctrl+n ctrl+u", `{"l":[""]}`},
		{"rows of objects", `"l":{"type":"array","items":{"type":"object","required":["k"],"properties":{"k":{"const":"x"},"n":{"type":"integer"}}}}`, "ctrl+a 5 ctrl+a", `{"l":[{"k":"x","n":5},{"k":"x"}]}`},
		{"rows of rows", `"l":{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`, "ctrl+a ctrl+a 1 ctrl+a 2", `{"l":[[1,2]]}`},
		{"a row of rows removed and moved", `"l":{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`, "ctrl+a ctrl+a 1 up ctrl+d enter enter ctrl+a 2 up up ctrl+a ctrl+a 3 up alt+up", `{"l":[[3],[2]]}`},
		{"a row removed from within", `"l":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}}`, "ctrl+a x down y ctrl+a z ctrl+d up v", `{"l":[{"a":"x","b":"v"}]}`},
		{"a row without a value", `"l":{"type":"array","items":{"type":"integer"}}`, "ctrl+a", `error: 'l[0]': no value yet`},
		{"a nested object", `"o":{"type":"object","properties":{"x":{"type":"string"}}}`, "enter down v", `{"o":{"x":"v"}}`},
		{"what is inside goes, so does the object", `"o":{"type":"object","properties":{"x":{"type":"string"}}}`, "enter down v ctrl+u", `{}`},
		{"an empty object", `"o":{"type":"object","properties":{"x":{"type":"string"}}}`, "space", `{"o":{}}`},
		{"a null object", `"o":{"type":["object","null"],"properties":{"x":{"type":"string"}}}`, "ctrl+n", `{"o":null}`},
		{"a value within null", `"o":{"type":["object","null"],"properties":{"x":{"type":"string"}}}`, "ctrl+n enter down v", `{"o":{"x":"v"}}`},
		{"key and value", `"m":{"type":"object","additionalProperties":{"type":"integer"}}`, "ctrl+a k tab 1 ctrl+a l enter 2", `{"m":{"k":1,"l":2}}`},
		{"named fields stay ahead of keys", `"m":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"integer"}}`, "ctrl+a k tab 1 up x", `{"m":{"a":"x","k":1}}`},
		{"a key mended", `"m":{"type":"object","additionalProperties":{"type":"integer"}}`, "ctrl+a k tab 1 shift+tab end 2", `{"m":{"k2":1}}`},
		{"a key replaced", `"m":{"type":"object","additionalProperties":{"type":"integer"}}`, "ctrl+a k tab 1 shift+tab 2", `{"m":{"2":1}}`},
		{"a key twice", `"m":{"type":"object","additionalProperties":{"type":"integer"}}`, "ctrl+a k tab 1 ctrl+a k tab 2", `error: 'm.k': the key "k" occurs twice`},
		{"a variant", `"v":{"oneOf":[{"type":"string"},{"type":"object","properties":{"n":{"type":"integer"}}}]}`, "right down x", `{"v":"x"}`},
		{"another variant, and back", `"v":{"oneOf":[{"type":"string"},{"type":"object","properties":{"n":{"type":"integer"}}}]}`, "right down x up esc right down enter 5 up left", `{"v":"x"}`},
		{"a variant with its constant", `"v":{"oneOf":[{"type":"object","required":["k"],"properties":{"k":{"const":"a"}}},{"type":"object","required":["k"],"properties":{"k":{"const":"b"}}}]}`, "right right", `{"v":{"k":"b"}}`},
		{"a variant unset", `"v":{"oneOf":[{"type":"string"},{"type":"object","properties":{"n":{}}}]}`, "right right right", `{}`},
		{"JSON", `"j":{}`, `{"a":[1,null]}`, `{"j":{"a":[1,null]}}`},
		{"JSON that is none", `"j":{}`, `{"a"`, `error: 'j': not JSON: unexpected end of JSON input (byte 4)`},
		{"an example", `"a":{"type":"string","examples":["p","q"],"default":"d"}`, "ctrl+o ctrl+o", `{"a":"q"}`},
		{"examples, then the default, then again", `"a":{"type":"string","examples":["p"],"default":"d"}`, "ctrl+o ctrl+o ctrl+o", `{"a":"p"}`},
		{"esc makes letters commands", `"a":{"type":"string"},"b":{"type":"string"}`, "x esc j k q enter end y", `{"a":"xy"}`},
		{"a value entered again is replaced", `"a":{"type":"string"}`, "h i esc enter t h e r e", `{"a":"there"}`},
		{"also from another field", `"a":{"type":"string"},"b":{"type":"integer"}`, "h i tab 1 shift+tab y tab 2", `{"a":"y","b":2}`},
		{"a movement in it keeps it", `"a":{"type":"string"}`, "h i esc enter home o left s", `{"a":"sohi"}`},
		{"backspace clears it", `"a":{"type":"string"}`, "h i esc enter backspace y", `{"a":"y"}`},
		{"several lines stay", `"a":{"type":"string"}`, "h ctrl+j i esc enter y", `{"a":"h\niy"}`},
		{"an example is a beginning", `"a":{"type":"string","examples":["p"]}`, "ctrl+o q", `{"a":"pq"}`},
		{"vim keys come by text", `"a":{"type":"boolean"},"b":{"type":"string"},"c":{"type":"boolean"}`, "esc j j space", `{"c":true}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newForm(`{"type":"object","properties":{` + test.properties + `}}`)
			press(f, strings.Fields(test.keys)...)
			if got := arguments(f); got != test.want {
				t.Errorf("%s\n%s", got, frame(f, 60, 20))
			}
			exact(t, f, 50, 10)
		})
	}
}

// Names that the schema has come first, in its order; others follow as given.
func TestOrder(t *testing.T) {
	f := newForm(`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"}}}`)
	if err := f.SetArguments(json.RawMessage(`{"z":1,"a":2,"y":"2","b":"x"}`)); err != nil {
		t.Fatal(err)
	}
	if got := arguments(f); got != `{"b":"x","a":2,"z":1,"y":"2"}` {
		t.Error(got)
	}
	press(f, "tab", "end", "3", "tab", "tab", "end", "0")
	if got := arguments(f); got != `{"b":"x","a":23,"z":10,"y":"2"}` {
		t.Error(got)
	}
}

// What does not fit its field is kept, shown as JSON, and refused by the validator.
func TestMisfits(t *testing.T) {
	f := newForm(`{"type":"object","properties":{"s":{"type":"string"},"n":{"type":"integer"},"b":{"type":"boolean"},"o":{"type":"object","properties":{"x":{}}},"l":{"type":"array"},"e":{"enum":["a","b"]}}}`)
	given := `{"s":1,"n":"5","b":"yes","o":[],"l":{},"e":"c"}`
	if err := f.SetArguments(json.RawMessage(given)); err != nil || arguments(f) != given {
		t.Fatalf("%v: %s", err, arguments(f))
	}
	if got := len(f.Problems()); got != 6 {
		t.Errorf("%d problems: %q", got, f.Problems())
	}
	press(f, "backspace", "x")
	if !strings.HasPrefix(arguments(f), `{"s":"x",`) {
		t.Errorf("an emptied misfit is no text again: %s", arguments(f))
	}
}

// Control characters and lone surrogates are shown, and stay what they are.
func TestExactText(t *testing.T) {
	f := newForm(`{"type":"object","properties":{"s":{"type":"string"},"t":{"type":"string"}}}`)
	given := `{"s":"\u001b[2J\r\ttab","t":"\ud800"}`
	if err := f.SetArguments(json.RawMessage(given)); err != nil || arguments(f) != given {
		t.Fatalf("%v: %s", err, arguments(f))
	}
	if got := frame(f, 60, 10); !strings.Contains(got, `\x1b[2J\r\ttab`) {
		t.Errorf("it is not shown:\n%s", got)
	}
	press(f, "end", "!")
	if got := arguments(f); got != `{"s":"\u001b[2J\r\ttab!","t":"\ud800"}` {
		t.Error(got)
	}
}

func TestSetArgumentsRefuses(t *testing.T) {
	f := newForm(`{"type":"object","properties":{"s":{"type":"string"}}}`)
	press(f, "kept")
	for _, given := range []string{``, `[]`, `null`, `{"a":`, `{"a":1,"a":2}`, `{} {}`} {
		if err := f.SetArguments(json.RawMessage(given)); err == nil {
			t.Errorf("%q is taken", given)
		}
	}
	if got := arguments(f); got != `{"s":"kept"}` {
		t.Error(got)
	}
}

func TestChanged(t *testing.T) {
	f := newForm(`{"type":"object","properties":{"s":{"type":"string"}}}`)
	expect := func(want bool) {
		t.Helper()
		if f.Changed() != want {
			t.Errorf("changed is %t", !want)
		}
	}
	expect(false)
	press(f, "x")
	expect(true)
	press(f, "ctrl+u")
	expect(false)
	if err := f.SetArguments(json.RawMessage(`{"s":"y"}`)); err != nil {
		t.Fatal(err)
	}
	expect(false)
	press(f, "f2")
	expect(false)
	press(f, "1")
	expect(true)
	press(f, "backspace", "f2")
	expect(false)
}

// VAL-1, VAL-2, VAL-3: the validator's words stand at the fields, and hold the call
// back; unknown names and formats only warn, and a broken schema checks nothing.
func TestProblems(t *testing.T) {
	f := newForm(`{"type":"object","required":["name"],"minProperties":2,"properties":{"name":{"type":"string"},"o":{"type":"object","properties":{"level":{"type":"integer","maximum":9}}},"mail":{"type":"string","format":"email"}}}`)
	if got := f.Problems(); !slices.Contains(got, "missing 'name'") || len(got) != 2 {
		t.Errorf("problems: %q", got)
	}
	if err := f.SetArguments(json.RawMessage(`{"name":"x","o":{"level":10},"mail":"nobody","nmae":1}`)); err != nil {
		t.Fatal(err)
	}
	if got := f.Problems(); len(got) != 1 || got[0] != "'o.level' must be at most 9; got 10" {
		t.Errorf("problems: %q", got)
	}
	got := frame(f, 70, 24)
	for _, want := range []string{
		"level 10\n    ✗ 'o.level' must be at most 9; got 10\n", "! not an e-mail address",
		"! unknown parameter 'nmae'",
	} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	press(f, "esc", "j", "left")
	if got := frame(f, 70, 24); !strings.Contains(got, "1 set ✗ 1 problem inside") {
		t.Errorf("the closed group does not tell of its problem:\n%s", got)
	}
	broken := newForm(`{"type":"object","properties":{"a":{"type":"strnig"}}}`)
	if len(broken.Problems()) > 0 || !strings.Contains(frame(broken, 80, 20), "the schema is broken") {
		t.Errorf("problems %q\n%s", broken.Problems(), frame(broken, 80, 20))
	}
}

// F2 shows the form as JSON and goes back; broken JSON stays, and says where.
func TestJSONEditor(t *testing.T) {
	f := newForm(`{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"integer"}}}`)
	press(f, "x", "tab", "5", "f2")
	if got := f.json.String(); got != "{\n  \"a\": \"x\",\n  \"n\": 5\n}" {
		t.Errorf("the editor has %q", got)
	}
	press(f, "down", "down", "end", ",", "f2")
	if f.json == nil || len(f.Problems()) != 1 || !strings.HasPrefix(f.Problems()[0], "line 4, column 1: ") {
		t.Fatalf("broken JSON: %q\n%s", f.Problems(), frame(f, 50, 12))
	}
	if line, column := f.json.place(); line != 3 || column != 0 {
		t.Errorf("the cursor is in line %d, column %d", line+1, column+1)
	}
	if _, err := f.Arguments(); err == nil {
		t.Error("broken JSON would be sent")
	}
	press(f, "up", "end", "enter", `"more": 1.10`, "f2", "7")
	if got := arguments(f); f.json != nil || got != `{"a":"x","n":57,"more":1.10}` {
		t.Errorf("%s\n%s", got, frame(f, 50, 12))
	}
}

// The editor moves by lines and pages, also while nothing is typed.
func TestJSONEditorMoves(t *testing.T) {
	f := newForm(`{"type":"object","additionalProperties":{"type":"integer"}}`)
	if err := f.SetArguments(json.RawMessage(`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8}`)); err != nil {
		t.Fatal(err)
	}
	press(f, "f2")
	f.Render(40, 5)
	for _, step := range []struct {
		key  string
		line int
	}{
		{"pgdown", 3},
		{"pgup", 0},
		{"down", 1},
		{"esc", 1},
		{"j", 2},
		{"k", 1},
		{"down", 2},
		{"q", 2},
		{"enter", 2},
		{"up", 1},
		{"ctrl+end", 9},
	} {
		press(f, step.key)
		if line, _ := f.json.place(); line != step.line {
			t.Errorf("after %s it is line %d, want %d", step.key, line, step.line)
		}
	}
	press(f, "tab")
	if got := f.json.String(); !strings.HasSuffix(got, "}  ") {
		t.Errorf("tab gives %q", got)
	}
}

// Page keys go as far as the screen shows.
func TestPages(t *testing.T) {
	f := newForm(manyProperties(50))
	f.Render(60, 14)
	press(f, "pgdown", "pgdown", "pgup", "esc", "end", "home", "pgdown")
	if got, want := f.place(), f.screen.list.Page(); got != want || want != 9 {
		t.Errorf("it is row %d, a page is %d", got, want)
	}
}

// What is typed and is no JSON goes into the editor as it is, and comes back.
func TestJSONEditorKeepsDrafts(t *testing.T) {
	f := newForm(`{"type":"object","properties":{"n":{"type":"integer"},"l":{"type":"array","items":{"type":"integer"}}}}`)
	press(f, "1e", "tab", "ctrl+a", "f2")
	if got := f.json.String(); got != "{\n  \"n\": 1e,\n  \"l\": [\n    null\n  ]\n}" {
		t.Errorf("the editor has %q", got)
	}
	press(f, "f2", "up", "up", "end", "3")
	if got := f.root.children[0].text(); got != "1e3" {
		t.Errorf("the field has %q", got)
	}
}

// Letters choose the value of a switch or choice by how it begins, add a row where rows
// are added, and mean nothing to an object.
func TestLetters(t *testing.T) {
	for _, test := range []struct{ name, properties, keys, want string }{
		{"true", `"a":{"type":"boolean"}`, "true", `{"a":true}`},
		{"no", `"a":{"type":"boolean"}`, "no", `{"a":false}`},
		{"on", `"a":{"type":"boolean"}`, "on", `{"a":true}`},
		{"off", `"a":{"type":"boolean"}`, "off", `{"a":false}`},
		{"half of on or off", `"a":{"type":"boolean"}`, "o", `{}`},
		{"neither", `"a":{"type":"boolean"}`, "restart", `{}`},
		{"few values", `"a":{"enum":["red","rose","blue"]}`, "ro tab", `{"a":"rose"}`},
		{"within a value", `"a":{"enum":["dark red","light blue"]}`, "BLU", `{"a":"light blue"}`},
		{"with spaces", `"a":{"enum":["dark red","dark blue"]}`, "dark space b", `{"a":"dark blue"}`},
		{"no such value", `"a":{"enum":["red","blue"]}`, "red quit", `{"a":"red"}`},
		{"many values", `"a":{"enum":[1,2,3,4,5,6,70]}`, "7 enter", `{"a":70}`},
		{"alternatives", `"a":{"oneOf":[{"type":"string"},{"type":"integer"}]}`, "int down 5", `{"a":5}`},
		{"a row", `"a":{"type":"array","items":{"type":"string"}}`, "right down quit", `{"a":["quit"]}`},
		{"a row of what is closed", `"a":{"type":"array","items":{"type":"string"}}`, "quit", `{"a":["quit"]}`},
		{"a row of a map", `"a":{"type":"object","additionalProperties":{"type":"integer"}}`, "right down key tab 1", `{"a":{"key":1}}`},
		{"a row of choices", `"a":{"type":"array","items":{"enum":["x","why"]}}`, "right down wh", `{"a":["why"]}`},
		{"an object", `"a":{"type":"object","properties":{"b":{"type":"string"}}}`, "quit down x", `{"a":{"b":"x"}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newForm(`{"type":"object","properties":{` + test.properties + `}}`)
			for _, key := range strings.Fields(test.keys) {
				if test.name == "an object" && key == "down" {
					press(f, "right") // opens it
				}
				press(f, key)
				if !f.Editing() && key != "enter" && key != "tab" {
					t.Errorf("after %s letters are commands", key)
				}
			}
			if got := arguments(f); got != test.want {
				t.Errorf("it makes %s:\n%s", got, frame(f, 60, 12))
			}
		})
	}
	f := newForm(`{"type":"object","properties":{"a":{"enum":["red","blue"]}}}`)
	press(f, "blu", "x")
	if got := frame(f, 60, 6); !strings.Contains(got, "matches no value; still") {
		t.Errorf("it does not say that there is no such value:\n%s", got)
	}
}

// Letters are text exactly where text is typed.
func TestEditing(t *testing.T) {
	f := newForm(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"boolean"}}}`)
	expect := func(what string, want bool) {
		t.Helper()
		if f.Editing() != want {
			t.Errorf("%s: editing is %t", what, !want)
		}
	}
	expect("on text", true)
	press(f, "esc")
	expect("after esc", false)
	press(f, "enter")
	expect("after enter", true)
	press(f, "tab")
	expect("on a switch", true)
	press(f, "f2")
	expect("in JSON", true)
	press(f, "esc")
	expect("in JSON after esc", false)
	press(f, "f2", "up", "enter")
	f.Focus(false)
	expect("without focus", false)
}

func TestPaste(t *testing.T) {
	f := newForm(`{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"integer"}}}`)
	f.Update(tea.PasteMsg{Content: "one\r\ntwo\rthree"})
	press(f, "esc", "j")
	f.Update(tea.PasteMsg{Content: " 42\n"})
	if got := arguments(f); got != `{"a":"one\ntwo\nthree","n":42}` {
		t.Error(got)
	}
	g := newForm(`{"type":"object","properties":{"l":{"type":"array","items":{"type":"integer"}}}}`)
	for _, text := range []string{" [1, 2]\r", "no JSON"} {
		g.Update(tea.PasteMsg{Content: text})
		if got := arguments(g); got != `{"l":[1,2]}` {
			t.Error(got)
		}
	}
}

func TestMouse(t *testing.T) {
	f := newForm(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"boolean"},"o":{"type":"object","properties":{"x":{"type":"string"}}}}}`)
	click := func(x, y int) {
		f.Render(60, 12)
		f.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	}
	press(f, "hello")
	f.Render(60, 12)
	click(f.screen.valueLeft+1, 0)
	press(f, "X")
	click(f.screen.valueLeft, 1) // the switch
	click(4, 2)                  // opens the object
	click(4, 3)
	press(f, "in")
	click(4, 30)
	if got := arguments(f); got != `{"a":"hXello","b":true,"o":{"x":"in"}}` {
		t.Error(got)
	}
}

// The sides of a choice go both ways; the wheel leaves the cursor, and what is typed.
func TestMouseOnAChoice(t *testing.T) {
	f := newForm(`{"type":"object","properties":{"c":{"enum":["one","two","three"]},"a":{"type":"string"},"b":{"type":"string"},"d":{"type":"string"}}}`)
	click := func(x int) {
		f.Render(60, 3)
		f.Update(tea.MouseClickMsg{X: x, Button: tea.MouseLeft})
	}
	f.Render(60, 3)
	click(f.screen.valueLeft)
	click(f.screen.valueLeft + 2)
	if got := arguments(f); got != `{"c":"two"}` {
		t.Error(got)
	}
	click(f.screen.valueLeft) // "<"
	if got := arguments(f); got != `{"c":"one"}` {
		t.Error(got)
	}
	press(f, "down", "text")
	f.Update(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	if got := frame(f, 60, 3); strings.Contains(got, "text ") || !strings.Contains(got, "d ") {
		t.Errorf("it is not scrolled:\n%s", got)
	}
	press(f, "s")
	if got := frame(f, 60, 3); arguments(f) != `{"c":"one","a":"texts"}` || !strings.Contains(got, "texts") {
		t.Errorf("%s:\n%s", arguments(f), got)
	}
}

// Help never offers what the keys do not do.
func TestBindings(t *testing.T) {
	f := newForm(`{"type":"object","properties":{"l":{"type":"array","items":{"type":["string","null"]}}}}`)
	off := func(key string) string {
		binding := pane.Find(f.Bindings(), key)
		if binding == nil {
			return "no such key"
		}
		return binding.Off
	}
	for key, want := range map[string]string{
		"ctrl+n": "null is not allowed here",
		"ctrl+u": "it is already unset",
		"ctrl+d": "this is not a row",
		"ctrl+a": "",
		"ctrl+o": "the schema has no examples for it",
	} {
		if got := off(key); got != want {
			t.Errorf("%s: %q", key, got)
		}
	}
	press(f, "ctrl+a")
	for key, want := range map[string]string{
		"ctrl+n":   "",
		"ctrl+u":   "a row cannot be unset; ctrl+d removes it",
		"ctrl+d":   "",
		"alt+up":   "this is the first row",
		"alt+down": "this is the last row",
		"j":        "no such key",
	} {
		if got := off(key); got != want {
			t.Errorf("in a row, %s: %q", key, got)
		}
	}
}

// Whatever the server writes, the screen stays whole: every text of it is shown, not
// obeyed.
func TestHostileTexts(t *testing.T) {
	evil := `\u001b]0;owned\u0007\u001b[2J\u202e\u200b\n\r\t\u009b`
	f := newForm(`{"type":"object","required":["` + evil + `"],"properties":{
		"` + evil + `":{"type":"string","title":"` + evil + `","description":"` + evil + `","default":"` + evil + `","format":"` + evil + `","pattern":"` + evil + `"},
		"e":{"enum":["` + evil + `","b"]},"v":{"oneOf":[{"title":"` + evil + `","type":"string"},{"type":"object","properties":{"` + evil + `":{}}}]},
		"t":{"const":"` + evil + `"}}}`)
	for range 12 {
		for _, size := range [][2]int{{36, 6}, {80, 24}, {7, 3}, {1, 1}, {200, 50}} {
			exact(t, f, size[0], size[1])
		}
		press(f, "esc", "right", "j")
	}
	for _, problem := range f.Problems() {
		if strings.ContainsAny(problem, "\x1b\u202e\n") {
			t.Errorf("a problem is not safe: %q", problem)
		}
	}
}

// The field under the cursor is always in sight, and what is cut is marked.
func TestScroll(t *testing.T) {
	f := newForm(manyProperties(200))
	for i := range 200 {
		got := frame(f, 36, 6)
		if !strings.Contains(got, "› ") {
			t.Fatalf("the cursor is out of sight at %d:\n%s", i, got)
		}
		press(f, "down")
	}
	if err := f.SetArguments(json.RawMessage("{}")); err != nil {
		t.Fatal(err)
	}
	f.Update(tea.PasteMsg{Content: strings.Repeat("long text ", 100)})
	got := strings.Split(frame(f, 36, 6), "\n")[0]
	if strings.Count(got, "…") != 1 {
		t.Errorf("what is cut is not marked: %q", got)
	}
	press(f, "esc")
	if got := strings.Split(frame(f, 36, 6), "\n")[0]; !strings.HasSuffix(got, "…") {
		t.Errorf("what is cut is not marked: %q", got)
	}
}

// Nothing is told by colour alone: without it, the frame says the same.
func TestThemes(t *testing.T) {
	f := newForm(`{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"boolean"}}}`)
	press(f, "x", "tab", "space")
	plain := frame(f, 60, 12)
	f.theme.Change(pane.NewTheme(true, true, false))
	if got := frame(f, 60, 12); got != plain {
		t.Errorf("with colour:\n%s\nwithout:\n%s", got, plain)
	}
	f.theme.Change(pane.NewTheme(false, true, true))
	for _, char := range ansi.Strip(f.Render(60, 12)) {
		if char > '~' {
			t.Fatalf("%q is not ASCII", char)
		}
	}
	exact(t, f, 60, 12)
}

// A schema that is slow to check is checked when typing ends, not at every key.
func TestSlowSchema(t *testing.T) {
	f := newForm(`{"type":"object","properties":{"n":{"type":"integer"},"m":{"type":"integer"}}}`)
	at := noon()
	f.now = func() time.Time { at = at.Add(2 * maxLive); return at }
	f.Problems()
	press(f, "1.5")
	if got := f.Problems(); len(got) > 0 {
		t.Errorf("while typing: %q", got)
	}
	press(f, "tab")
	if got := f.Problems(); len(got) != 1 {
		t.Errorf("after typing: %q", got)
	}
	if got := arguments(f); got != `{"n":1.5}` {
		t.Error(got)
	}
}

// A tool without parameters has no rows to add; what it is given all the same is
// kept.
func TestNoParameters(t *testing.T) {
	for schema, says := range map[string]string{
		`{}`:                "needs no parameters",
		`{"type":"object"}`: "needs no parameters",
		`{"type":"object","properties":{},"additionalProperties":false}`: "takes no parameters",
		`{"type":"object","maxProperties":0}`:                            "takes no parameters",
	} {
		f := newForm(schema)
		if got := ansi.Strip(f.Render(60, 8)); !strings.Contains(got, says) {
			t.Errorf("%s is drawn as\n%s", schema, got)
		}
		f.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
		if arguments, err := f.Arguments(); string(arguments) != "{}" || err != nil {
			t.Errorf("%s sends %s, %v", schema, arguments, err)
		}
		if err := f.SetArguments([]byte(`{"more":1}`)); err != nil {
			t.Fatal(err)
		}
		if arguments, _ := f.Arguments(); string(arguments) != `{"more":1}` {
			t.Errorf("%s lost what it was given: %s", schema, arguments)
		}
	}
}

// A required field with a default does not hold the call back; one that is optional stays unset.
func TestRequiredDefaultsAreFilledIn(t *testing.T) {
	const schema = `{"type":"object","required":["n","o"],"properties":{"n":{"type":"integer","default":5},
		"s":{"type":"string","default":"x"},"o":{"type":"object","required":["k"],"properties":{
		"k":{"enum":["a","b"],"default":"b"}}}}}`
	f := newForm(schema)
	if got := arguments(f); got != `{"n":5,"o":{"k":"b"}}` || len(f.Problems()) > 0 || f.Changed() {
		t.Errorf("%s, %v, changed %t", got, f.Problems(), f.Changed())
	}
	if err := f.SetArguments(json.RawMessage(`{"n":7}`)); err != nil {
		t.Fatal(err)
	}
	if got := arguments(f); got != `{"n":7,"o":{"k":"b"}}` {
		t.Errorf("with arguments: %s", got)
	}
}

// To look into an optional alternative sets nothing; to choose one does.
func TestLookingIntoAlternatives(t *testing.T) {
	const schema = `{"type":"object","properties":{"v":{"oneOf":[
		{"type":"object","required":["k"],"properties":{"k":{"const":"a"},"n":{"type":"integer"}}},
		{"type":"object","required":["k"],"properties":{"k":{"const":"b"}}}]}}}`
	f := newForm(schema)
	press(f, "enter")
	if got := arguments(f); got != `{}` || !strings.Contains(frame(f, 60, 12), "not set") {
		t.Errorf("opened: %s\n%s", got, frame(f, 60, 12))
	}
	press(f, "down", "down", "5")
	if got := arguments(f); got != `{"v":{"k":"a","n":5}}` {
		t.Errorf("filled in: %s", got)
	}
	g := newForm(schema)
	g.Render(60, 12)
	g.Update(tea.MouseClickMsg{X: 4, Button: tea.MouseLeft})
	if got := arguments(g); got != `{}` {
		t.Errorf("clicked: %s", got)
	}
	press(g, "right")
	if got := arguments(g); got != `{"v":{"k":"b"}}` {
		t.Errorf("chosen: %s", got)
	}
}

// A switch is set by a click on its value, and by none beside it.
func TestClicksBesideASwitch(t *testing.T) {
	f := newForm(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"boolean"}}}`)
	click := func(x int) {
		f.Render(60, 12)
		f.Update(tea.MouseClickMsg{X: x, Y: 1, Button: tea.MouseLeft})
	}
	f.Render(60, 12)
	for _, x := range []int{40, 40, 3, 3} {
		click(x)
	}
	if got := arguments(f); got != `{}` {
		t.Errorf("beside it: %s", got)
	}
	click(f.screen.valueLeft + 1)
	if got := arguments(f); got != `{"b":true}` {
		t.Errorf("on it: %s", got)
	}
}

// The JSON editor selects all, clears and undoes.
func TestEditingJSON(t *testing.T) {
	f := newForm(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	press(f, "one", "f2", "ctrl+a")
	f.Update(tea.PasteMsg{Content: `{"a":"two"}`})
	if got := arguments(f); got != `{"a":"two"}` {
		t.Errorf("pasted over all: %s", got)
	}
	press(f, "alt+u")
	if got := f.Draft(); !strings.Contains(got, `"one"`) {
		t.Errorf("undone: %s", got)
	}
	press(f, "ctrl+a", "x")
	if got := f.json.String(); got != "x" {
		t.Errorf("typed over all: %q", got)
	}
	press(f, "yz", "ctrl+u")
	if got := f.json.String(); got != "" {
		t.Errorf("cleared: %q", got)
	}
	press(f, "alt+u", "alt+u")
	if got := f.Draft(); !strings.Contains(got, `"one"`) {
		t.Errorf("undone twice: %q", got)
	}
	press(f, "ctrl+a", "backspace")
	if got := f.json.String(); got != "" {
		t.Errorf("deleted: %q", got)
	}
	press(f, "alt+u", "f2")
	if got := arguments(f); got != `{"a":"one"}` {
		t.Errorf("back in the fields: %s", got)
	}
}

// In a nested form, enter opens a group, left leads out of it one group at a time, and letters that mean nothing keep
// nobody from leaving with esc.
func TestPathsInNestedForms(t *testing.T) {
	f := newForm(`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"object","properties":{
		"c":{"type":"string"},"l":{"type":"array","items":{"type":"string"}}}}}},"v":{"oneOf":[{"type":"object",
		"properties":{"x":{"type":"string"}}},{"type":"string"}]}}}`)
	at := func(want string) {
		t.Helper()
		if got := f.cursor.field.path(); got != want {
			t.Errorf("the cursor is at %q, want %q", got, want)
		}
	}
	if !f.Editing() || pane.Find(f.Bindings(), "esc") != nil || pane.Find(f.Bindings(), "letters") != nil {
		t.Error("letters are commands on an object, or esc does not leave the form")
	}
	press(f, "enter", "down", "enter", "down", "x")
	at("a.b.c")
	if got := frame(f, 8, 4); !strings.Contains(got, "…b.c") {
		t.Errorf("the path is cut at its end:\n%s", got)
	}
	press(f, "esc", "left")
	at("a.b")
	press(f, "left") // closes it
	at("a.b")
	press(f, "left")
	at("a")
	press(f, "left", "left")
	at("a")
	if off := pane.Find(f.Bindings(), "left").Off; off != "no group is around it" || arguments(f) != `{"a":{"b":{"c":"x"}}}` {
		t.Errorf("outside all groups left is off because %q; %s", off, arguments(f))
	}
	press(f, "down", "right", "down", "esc", "left")
	at("v")
}
