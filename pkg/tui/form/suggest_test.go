package form

import "testing"

// The text under the cursor is told by its parameter's name, and can be replaced; what
// is no text of a parameter is left alone.
func TestTyped(t *testing.T) {
	f := newForm(`{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"integer"},"l":{"type":"array","items":{"type":"string"}},"o":{"type":"object","properties":{"in":{"type":"string"}}}}}`)
	f.Focus(true)
	typed := func(name, text string, ok bool) {
		t.Helper()
		if gotName, gotText, gotOK := f.Typed(); gotName != name || gotText != text || gotOK != ok {
			t.Errorf("%q, %q, %v; want %q, %q, %v", gotName, gotText, gotOK, name, text, ok)
		}
	}
	typed("a", "", true)
	f.Type("x\ny")
	typed("a", "x\ny", true)
	f.next()
	f.Type("5") // a number is no text
	typed("", "", false)
	f.next()
	f.addRow()
	typed("l", "", true)
	f.Type("row")
	if got, err := f.Arguments(); err != nil || string(got) != `{"a":"x\ny","l":["row"]}` {
		t.Errorf("%s, %v", got, err)
	}
	press(f, "f2")
	typed("", "", false)
}
