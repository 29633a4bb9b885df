package result

import (
	"fmt"
	"strings"
	"testing"

	"toolx/pkg/exec"
	"toolx/pkg/tui/pane"
)

// TestCompare marks the differences in JSON and in text, says when there are none, and keeps the place.
func TestCompare(t *testing.T) {
	v := New(pane.NewTheme(false, true, false))
	compare := func(before, now string) {
		t.Helper()
		was, tool := call(t, before, "", 0)
		is, _ := call(t, now, "", 0)
		v.Show(is, tool)
		v.Compare(was)
	}
	compare(ofText(`{"id":1,"on":true}`), ofText(`{"id":1,"on":false}`))
	holds(t, frame(t, v, 60, 16), "id: 1", "on: true → false", "~")
	if got := v.Compared(); got != "1 changed" {
		t.Errorf("found %q", got)
	}
	compare(`{"content":[],"structuredContent":[{"id":1,"on":true}]}`, `{"content":[],"structuredContent":[{"id":1,"on":false}]}`)
	holds(t, frame(t, v, 60, 16), "[table]", "on: true → false") // a table does not show differences
	compare(ofText("one\ntwo\nthree\n4\n5\n6\n7\n8\nnine"), ofText("one\n2\x1b[2J\nthree\n4\n5\n6\n7\n8\nnine\nten"))
	holds(t, frame(t, v, 60, 16), "  one", "- two", `+ 2\x1b[2J`, "  6", "  nine", "+ ten")
	if got := v.Compared(); got != "2 lines added, 1 removed" {
		t.Errorf("found %q", got)
	}
	compare(ofText("same"), ofText("same"))
	if got := v.Compared(); got != "no differences" {
		t.Errorf("found %q", got)
	}
	v = New(pane.NewTheme(false, true, false))
	compare(ofText("no JSON"), ofText(`{"a":1}`))
	if got := v.Compared(); got != "the other result has no json" {
		t.Errorf("found %q", got)
	}
	var lines strings.Builder
	for i := range 100_000 {
		fmt.Fprintln(&lines, "line", i)
	}
	huge := lines.String()
	compare(ofText(huge), ofText("first\n"+huge))
	if got := v.Compared(); !strings.HasSuffix(got, "only the first "+exec.Bytes(maxCompared)+" compared") {
		t.Errorf("found %q", got)
	}
	v.Compare(nil)
	if got := v.Compared(); got != "" {
		t.Errorf("found %q", got)
	}
}

// TestCompareKeepsPlace shows the next result where the last one was open.
func TestCompareKeepsPlace(t *testing.T) {
	v := show(t, ofText(`{"a":{"b":{"c":{"d":1}}},"z":[1,2]}`), "")
	holds(t, frame(t, v, 60, 16), "▸ b:")
	press(v, "j", "+")
	holds(t, frame(t, v, 60, 16), "d: 1")
	result, tool := call(t, ofText(`{"a":{"b":{"c":{"d":2}}},"z":[1,2]}`), "", 0)
	v.Show(result, tool)
	holds(t, frame(t, v, 60, 16), "d: 2")
}
