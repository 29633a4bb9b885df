package form

import (
	"encoding/json"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/tui/pane"
)

// newForm makes the form of an input schema, with focus.
func newForm(schema string) *Form {
	f := New(&exec.Tool{Name: "tool", InputSchema: json.RawMessage(schema)}, pane.NewTheme(false, true, false))
	f.Focus(true)
	return f
}

// press sends keys by their names; what is no name is typed letter by letter.
func press(f *Form, keys ...string) {
	for _, key := range keys {
		if msg, ok := keyNamed(key); ok {
			f.Update(msg)
			continue
		}
		for _, char := range key {
			f.Update(tea.KeyPressMsg{Code: char, Text: string(char)})
		}
	}
}

func keyNamed(name string) (tea.KeyPressMsg, bool) {
	var key tea.KeyPressMsg
	for {
		before, rest, found := strings.Cut(name, "+")
		if !found || rest == "" {
			break
		}
		switch before {
		case "ctrl":
			key.Mod |= tea.ModCtrl
		case "alt":
			key.Mod |= tea.ModAlt
		case "shift":
			key.Mod |= tea.ModShift
		}
		name = rest
	}
	named := map[string]rune{
		"enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown,
		"left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd, "f2": tea.KeyF2,
		"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp,
	}
	if name == "space" {
		key.Code, key.Text = tea.KeySpace, " "
		return key, true
	}
	if code, ok := named[name]; ok {
		key.Code = code
		return key, true
	}
	if key.Mod != 0 {
		key.Code = rune(name[0])
		return key, true
	}
	return key, false
}

// arguments are what the form would send, or why it cannot.
func arguments(f *Form) string {
	raw, err := f.Arguments()
	if err != nil {
		return "error: " + err.Error()
	}
	return string(raw)
}

// frame is what is on the screen, without styles and spaces at line ends.
func frame(f *Form, width, height int) string {
	lines := strings.Split(ansi.Strip(f.Render(width, height)), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func TestLook(t *testing.T) {
	f := newForm(`{"type":"object","required":["name","o"],"properties":{"name":{"type":"string","description":"the name of it all"},
	"level":{"type":"integer","minimum":0,"maximum":100,"default":5},"on":{"type":"boolean"},"mode":{"enum":["on","off","auto"]},
	"tags":{"type":"array","items":{"type":"string"}},"o":{"type":"object","required":["x"],"properties":{"x":{"type":"string"},"y":{"type":["string","null"],"format":"date"}}},
	"v":{"oneOf":[{"type":"string"},{"type":"object","properties":{"kind":{"const":"a"},"z":{"type":"number"}}}]},
	"m":{"type":"object","additionalProperties":{"type":"integer"}},"any":{},
	"tree":{"$ref":"#/$defs/t"}},"$defs":{"t":{"type":"object","properties":{"next":{"$ref":"#/$defs/t"}}}}}`)
	t.Log("\n" + frame(f, 70, 24))
	press(f, "hello", "tab", "101", "tab", "space", "tab", "right", "right", "tab", "ctrl+a", "one", "ctrl+a", "two", "alt+up")
	t.Log("\n" + frame(f, 70, 28))
	t.Log(arguments(f), f.Problems())
	press(f, "f2")
	t.Log("\n" + frame(f, 40, 12))
	press(f, "f2", "end", "esc", "end", "up", "up", "enter")
	t.Log("\n" + frame(f, 36, 6))
}
