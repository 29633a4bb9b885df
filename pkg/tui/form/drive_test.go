package form

import (
	"encoding/json"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/tui/pane"
)

// noon is what the clock of tests says: no check is slow, however busy the machine is.
func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// newForm makes the form of an input schema, with focus.
func newForm(schema string) *Form {
	f := New(&exec.Tool{Name: "tool", InputSchema: json.RawMessage(schema)}, pane.NewTheme(false, true, false), noon)
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
