package jsontree

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/tui/pane"
)

func theme() *pane.Theme { return pane.NewTheme(false, true, false) }

// frame draws a tree, without styling and the spaces at the ends, and checks that it
// fills its rectangle.
func frame(t testing.TB, tree *Tree, width, height int) string {
	t.Helper()
	lines := strings.Split(ansi.Strip(tree.Render(width, height)), "\n")
	if len(lines) != height {
		t.Fatalf("%d lines, want %d", len(lines), height)
	}
	for i, line := range lines {
		if got := ansi.StringWidth(line); got != width {
			t.Fatalf("line %d is %d cells wide, want %d: %q", i, got, width, line)
		}
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

func press(tree *Tree, keys ...string) (messages []tea.Msg) {
	codes := map[string]rune{
		"enter": tea.KeyEnter,
		"down":  tea.KeyDown,
		"esc":   tea.KeyEscape,
		"left":  tea.KeyLeft,
		"right": tea.KeyRight,
	}
	for _, key := range keys {
		msg := tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
		if code, ok := codes[key]; ok {
			msg = tea.KeyPressMsg{Code: code}
		}
		if cmd := tree.Update(msg); cmd != nil && !tree.Editing() {
			messages = append(messages, cmd())
		}
	}
	return messages
}

const sample = `{"b":12345678901234567890,"a":{"x y":[true,null,"two\nlines"],"deep":{"z":{"needle":1}}},"e":{},"l":[]}`

// Members keep their order, numbers their digits; what is folded says its size.
func TestTree(t *testing.T) {
	tree := New(json.RawMessage(sample), theme())
	want := `▾ {4 members}
    b: 12345678901234567890
  ▾ a: {2 members}
    ▸ x y: [3 elements]
    ▸ deep: {1 member}
    e: {}
    l: []`
	if got := frame(t, tree, 40, 10); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	press(tree, "down", "down", "down", "enter", "down", "down", "down", "enter")
	for _, line := range []string{`      0: true`, `      1: null`, `      2: "two\nlines"`, "        two\n        lines"} {
		if got := frame(t, tree, 40, 20); !strings.Contains(got, line) {
			t.Errorf("%q is not in\n%s", line, got)
		}
	}
	press(tree, "-")
	if got := frame(t, tree, 40, 10); strings.Contains(got, "x y") || !strings.Contains(got, "▸ a:") {
		t.Errorf("everything closed:\n%s", got)
	}
}

// A search finds names and values in what is folded, goes around, and says when
// there is nothing.
func TestSearch(t *testing.T) {
	tree := New(json.RawMessage(sample), theme())
	frame(t, tree, 60, 12)
	press(tree, "/", "N", "E", "E", "D", "enter")
	if got := tree.current().pointer(); got != "/a/deep/z/needle" {
		t.Errorf("found %q", got)
	}
	press(tree, "n")
	if got := tree.current().pointer(); got != "/a/deep/z/needle" {
		t.Errorf("the next is %q", got)
	}
	press(tree, "/", "#", "enter")
	if got := frame(t, tree, 60, 12); !strings.Contains(got, "not found: #") {
		t.Errorf("no remark:\n%s", got)
	}
}

// What a server wrote in escapes is shown and found as what it says.
func TestEscapes(t *testing.T) {
	tree := New(json.RawMessage(`{"first":"","name":"\u5024 \u00e9","lines":"a\n\"b\"","evil":"\u202e\u001b","long":"`+strings.Repeat(`\u5024`, 9000)+`"}`), theme())
	got := frame(t, tree, 60, 12)
	for _, want := range []string{`name: "値 é"`, `lines: "a\n\"b\""`, `evil: "`, `long: "値値`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, "5024") || strings.Contains(got, "\u202e") {
		t.Errorf("got\n%s", got)
	}
	for wanted, place := range map[string]string{"値 É": "/name", `A\n\"B`: "/lines", `"b"`: "/lines"} {
		tree.goTo(tree.root)
		tree.Query = strings.ToLower(wanted)
		if tree.find(1, false); tree.Missed || tree.current().pointer() != place {
			t.Errorf("%q is found at %q, not at %q", wanted, tree.current().pointer(), place)
		}
	}
	tree.Query = "u5024"
	if tree.find(1, false); !tree.Missed {
		t.Error("an escape is found that is not shown")
	}
}

// A path is copied as jq takes it, and as a pointer; a value as its text.
func TestCopy(t *testing.T) {
	tree := New(json.RawMessage(`{"a b":[{"c/d":"x\ty"}]}`), theme())
	frame(t, tree, 60, 12)
	press(tree, "+", "down", "down", "down")
	got := fmt.Sprint(press(tree, "p", "P", "V"))
	if want := fmt.Sprint([]tea.Msg{CopyMsg{`."a b"[0]."c/d"`, "the path"}, CopyMsg{"/a b/0/c~1d", "the pointer"}, CopyMsg{"x\ty", "the value"}}); got != want {
		t.Errorf("copied %s, want %s", got, want)
	}
}

// What is no JSON is shown as text, and what would act on a terminal as what it is.
func TestHostile(t *testing.T) {
	for _, text := range []string{"\x1b[2J no \u202e json", `{"\u001b[2J":"\u001b]0;x\u0007\u202e"}`, `["` + strings.Repeat("\u200b", 100) + `"]`, ""} {
		tree := New(json.RawMessage(text), theme())
		drawn := tree.Render(30, 6)
		for _, bad := range []string{"\x1b[2J", "\x1b]", "\u202e", "\u200b", "\x07"} {
			if strings.Contains(drawn, bad) {
				t.Errorf("%q reached the screen from %q", bad, text)
			}
		}
	}
}

// Of what is too much, the first part is shown, and how much there is.
func TestHuge(t *testing.T) {
	tree := New(json.RawMessage("["+strings.Repeat("0,", maxChildren+6)+"1]"), theme())
	press(tree, "j")
	frame(t, tree, 40, 5)
	press(tree, "G")
	for _, want := range []string{"  99999: 0", "  … 7 more"} {
		if got := frame(t, tree, 40, 5); !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	tree = New(json.RawMessage(`"`+strings.Repeat("x", maxLines+1)+`"`), theme())
	frame(t, tree, 40, 5)
	press(tree, "enter", "G")
	frame(t, tree, 40, 5)
	press(tree, "G")
	if got := frame(t, tree, 60, 5); !strings.Contains(got, "[first 131072 of 131073 bytes]") {
		t.Errorf("got\n%s", got)
	}
}

// Text of any depth is cut, opened and searched.
func TestDeep(t *testing.T) {
	const depth = 9000
	tree := New(json.RawMessage(strings.Repeat("[", depth)+`"bottom"`+strings.Repeat("]", depth)), theme())
	frame(t, tree, 40, 10)
	press(tree, "+", "/", "b", "o", "t", "t", "o", "m", "enter")
	frame(t, tree, 40, 10)
	if got := tree.current(); got.kind() != '"' {
		t.Errorf("found %.40s", got.raw)
	}
}

func FuzzTree(f *testing.F) {
	f.Add(sample, "jjl+n", 20, 5)
	f.Add("[[[[", "h", 1, 1)
	f.Fuzz(func(t *testing.T, text, keys string, width, height int) {
		width, height = 1+width&127, 1+height&31
		tree := New(json.RawMessage(text), theme())
		for _, key := range keys {
			tree.Update(tea.KeyPressMsg{Code: key, Text: string(key)})
			frame(t, tree, width, height)
		}
		frame(t, tree, width, height)
	})
}

// BenchmarkOpen opens 10 MB and draws the first screen.
func BenchmarkOpen(b *testing.B) {
	text := json.RawMessage("[" + strings.Repeat(`{"name":"value","list":[1,2,3]},`, 300_000) + `{}]`)
	for b.Loop() {
		New(text, theme()).Render(100, 40)
	}
}
