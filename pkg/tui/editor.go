package tui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/config"
	"toolx/pkg/tui/pane"
)

// editedMsg carries the text that the editor saved.
type editedMsg struct {
	item      itemKey
	draft     string // what it began with
	arguments []byte
	err       error
}

// editArguments opens the arguments as JSON in the user's editor. When the editor ends, the form takes
// over the saved text.
func (m *model) editArguments() tea.Cmd {
	edited := m.page.item.key()
	draft := m.page.form.Draft()
	file, err := writeDraft(draft)
	if err != nil {
		m.tell(err.Error(), true)
		return m.tick()
	}
	editor := cmp.Or(strings.TrimSpace(os.Getenv("VISUAL")), strings.TrimSpace(os.Getenv("EDITOR")), "vi")
	words := pane.Program(editor, file)
	command := exec.CommandContext(m.ctx, words[0], words[1:]...)
	command.Env = config.Environ()
	return tea.ExecProcess(command, func(err error) tea.Msg {
		defer os.Remove(file) //nolint:errcheck // it is in the system's folder for such files
		if err != nil {
			return toldMsg{fmt.Sprintf("%s: %v; set EDITOR to your editor", editor, err), true}
		}
		written, err := os.ReadFile(file)
		return editedMsg{edited, draft, written, err}
	})
}

// writeDraft writes text to a file that only the user can read.
func writeDraft(draft string) (string, error) {
	file, err := os.CreateTemp("", "toolx-*.json")
	if err != nil {
		return "", err
	}
	defer file.Close()
	_, err = file.WriteString(draft + "\n")
	return file.Name(), err
}

func (m *model) updateEdited(msg editedMsg) tea.Cmd {
	if m.page.item.none() || m.page.item.key() != msg.item {
		return nil // another item is shown by now
	}
	written := strings.TrimSpace(string(msg.arguments))
	switch {
	case msg.err != nil:
		m.tell(msg.err.Error(), true)
		return m.tick()
	case written == strings.TrimSpace(msg.draft): // it was left without a change
	case m.page.form.SetArguments(json.RawMessage(written)) != nil:
		m.page.form.EditText(written) // which says what is wrong, and where
	}
	m.page.tab = tabForm
	return m.setFocus(areaPage)
}
