package jsontree

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestCompare marks what differs from an earlier document where it is.
func TestCompare(t *testing.T) {
	before := `{"label":"one","random":840,"gone":[1],"fixed":{"a":1,"b":2},"rows":[{"id":1},{"id":2},{"id":3}],"order":{"x":1,"y":2},"kind":1}`
	now := `{"label":"two","random":141,"fixed":{"a":1,"b":2},"rows":[{"id":1},{"id":3}],"new":true,"order":{"y":2,"x":1},"kind":[7]}`
	tree := New(json.RawMessage(now), theme())
	if got := tree.Compare([]byte(before)); got != "4 changed, 1 added, 2 removed" {
		t.Errorf("found %s", got)
	}
	want := `▾ {7 members}
    label: "one" → "two"               ~
    random: 840 → 141                  ~
  ▸ gone: [1 element]                  -
  ▾ fixed: {2 members}
      a: 1
      b: 2
  ▾ rows: [2 elements]
    ▸ 0: {1 member}
    ▸ 1: {1 member}                    -
    ▸ 1: {1 member}
    new: true                          +
  ▾ order: {2 members} in another ord… ~
      y: 2
      x: 1
  ▾ kind: 1 → [1 element]              ~
      0: 7`
	if got := frame(t, tree, 40, 20); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	press(tree, "n", "n", "n")
	if got := tree.current().pointer(); got != "/gone" {
		t.Errorf("the third difference is at %s", got)
	}
	press(tree, "N")
	if got := tree.current().pointer(); got != "/random" {
		t.Errorf("the one before is at %s", got)
	}
}

// TestCompareLong shows the place where long texts differ, and says what was not compared.
func TestCompareLong(t *testing.T) {
	long := strings.Repeat("the same words ", 20)
	tree := New(json.RawMessage(`["`+long+`new end"]`), theme())
	tree.Compare([]byte(`["` + long + `old end"]`))
	if got := frame(t, tree, 60, 4); !strings.Contains(got, `old end" → `) || !strings.Contains(got, `new end"`) {
		t.Errorf("got\n%s", got)
	}
	list := func(first, n int) string {
		return "[" + strings.Repeat("0,", n) + fmt.Sprintf("%d]", first)
	}
	tree = New(json.RawMessage(list(1, maxChildren+5)), theme())
	if got := tree.Compare([]byte(list(2, maxChildren+5))); got != "no differences, not all compared" {
		t.Errorf("found %s", got)
	}
	for _, text := range []string{"no JSON", `{"a":1}`} {
		tree = New(json.RawMessage(text), theme())
		tree.Compare([]byte("neither"))
		frame(t, tree, 20, 5)
	}
}

// TestCompareSame finds nothing where only spaces and escapes differ.
func TestCompareSame(t *testing.T) {
	tree := New(json.RawMessage(`{"a": "é", "b": [1, {"c": null}]}`), theme())
	if got := tree.Compare([]byte(`{"a":"\u00e9","b":[1,{"c":null}]}`)); got != "no differences" {
		t.Errorf("found %s", got)
	}
}

func FuzzCompare(f *testing.F) {
	f.Add(`{"a":[1,2,3],"b":{}}`, `{"b":{"x":1},"a":[1,3]}`, "jln-+N", 30)
	f.Fuzz(func(t *testing.T, before, now, keys string, width int) {
		tree := New(json.RawMessage(now), theme())
		tree.Compare([]byte(before))
		width = 1 + width&63
		for _, key := range keys {
			press(tree, string(key))
			frame(t, tree, width, 8)
		}
		frame(t, tree, width, 8)
	})
}
