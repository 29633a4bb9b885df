package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// prompt is the line that asks where to save something.
type prompt struct {
	input textinput.Model
	save  func(path string) NoteMsg
}

// ask opens the line that asks for a path, with a proposed path in it.
func (v *View) ask(question, proposal string, save func(path string) NoteMsg) tea.Cmd {
	input := pane.NewInput(question + ": ")
	input.SetValue(proposal)
	v.prompt = &prompt{input, save}
	return v.prompt.input.Focus()
}

// promptKeys returns the keys while a path is typed.
func (v *View) promptKeys() []pane.Binding {
	return []pane.Binding{
		{Keys: []string{"enter"}, Help: "save", Do: v.answer},
		{Keys: []string{"esc"}, Help: "do not save", Do: func() tea.Cmd { v.prompt = nil; return nil }},
	}
}

// answer saves to the typed path, and asks again with the same text if that fails.
func (v *View) answer() tea.Cmd {
	p := v.prompt
	v.prompt = nil
	path := strings.TrimSpace(p.input.Value())
	if path == "" {
		return nil
	}
	result := v.result
	again := func() tea.Cmd {
		if v.prompt != nil || v.result != result {
			return nil
		}
		v.prompt = p
		return p.input.Focus()
	}
	return func() tea.Msg {
		note := p.save(atHome(path))
		if note.Bad {
			return RetryMsg{note, again}
		}
		return note
	}
}

// line draws the prompt.
func (p *prompt) line(width int) string {
	p.input.SetWidth(max(1, width-len(p.input.Prompt)-1))
	return p.input.View()
}

// atHome expands ~ as a shell would.
func atHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	home, err := os.UserHomeDir()
	if !ok || err != nil || rest != "" && !os.IsPathSeparator(rest[0]) {
		return path
	}
	return filepath.Join(home, rest)
}

// save asks for a folder if there are images or other binary blocks, else for a file for the text.
func (v *View) save() tea.Cmd {
	if !v.binary {
		return v.saveText()
	}
	result := v.result
	return v.ask("save into folder", ".", func(folder string) NoteMsg { return savedBlocks(folder, result) })
}

func savedBlocks(folder string, result *exec.Result) NoteMsg {
	paths, err := render.SaveBlocks(folder, result.ToolName, result)
	switch {
	case err != nil:
		return NoteMsg{err.Error(), true}
	case len(paths) == 1:
		return NoteMsg{Text: "saved " + paths[0]}
	}
	return NoteMsg{Text: fmt.Sprintf("saved %d files, the last one as %s", len(paths), paths[len(paths)-1])}
}

// saveText asks for a file for the whole content of the tab, byte for byte.
func (v *View) saveText() tea.Cmd {
	l := v.tabs[v.current]
	return v.ask("save as", render.FileName(v.result.ToolName)+l.extension, func(path string) NoteMsg {
		if err := l.saveAs(path); err != nil {
			return NoteMsg{err.Error(), true}
		}
		return NoteMsg{Text: "saved " + path}
	})
}

// saveAs writes a new file that only the user can read. It does not overwrite files.
func (l *tab) saveAs(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s already exists; choose another name", path)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(l.write(file, false), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// hasBytes reports whether content has binary blocks.
func hasBytes(content []json.RawMessage) bool {
	return slices.ContainsFunc(content, func(raw json.RawMessage) bool {
		return exec.ReadBlock(raw).Binary()
	})
}
