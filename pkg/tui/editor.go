package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// editedMsg is what came out of the editor.
type editedMsg struct {
	tool      string
	arguments []byte
	err       error
}

// editArguments opens the arguments as JSON in the user's editor; when it ends the
// form holds what was written.
func (m *model) editArguments() tea.Cmd {
	tool := m.page.tool.Name
	arguments, err := m.page.form.Arguments()
	if err != nil {
		arguments = json.RawMessage("{}")
	}
	file, err := writeDraft(arguments)
	if err != nil {
		m.tell(err.Error(), true)
		return m.tick()
	}
	editor := userCommand("vi", "VISUAL", "EDITOR")
	command := exec.CommandContext(m.ctx, editor[0], append(editor[1:], file)...)
	return tea.ExecProcess(command, func(err error) tea.Msg {
		defer os.Remove(file) //nolint:errcheck // it is in the system's folder for such files
		if err != nil {
			return toldMsg{fmt.Sprintf("%s: %v; set EDITOR to your editor", editor[0], err), true}
		}
		written, err := os.ReadFile(file)
		return editedMsg{tool, written, err}
	})
}

// writeDraft writes indented JSON to a file that only the user can read.
func writeDraft(arguments json.RawMessage) (string, error) {
	file, err := os.CreateTemp("", "toolx-*.json")
	if err != nil {
		return "", err
	}
	defer file.Close()
	var text bytes.Buffer
	if json.Indent(&text, arguments, "", "  ") != nil {
		text.Write(arguments)
	}
	text.WriteByte('\n')
	_, err = file.Write(text.Bytes())
	return file.Name(), err
}

// userCommand is the program that the first variable which is set names, with its
// flags.
func userCommand(otherwise string, variables ...string) []string {
	for _, name := range variables {
		if words := strings.Fields(os.Getenv(name)); len(words) > 0 {
			return words
		}
	}
	return []string{otherwise}
}

func (m *model) updateEdited(msg editedMsg) tea.Cmd {
	if m.page.tool == nil || m.page.tool.Name != msg.tool {
		return nil // another tool is shown by now
	}
	err := msg.err
	if err == nil {
		err = m.page.form.SetArguments(bytes.TrimSpace(msg.arguments))
	}
	if err != nil {
		m.tell(err.Error(), true)
		return m.tick()
	}
	return m.setFocus(areaPage)
}
