package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/render"
)

// SaveMsg asks the user for the path to save something to.
type SaveMsg struct {
	Title, Path string // the question, and a proposal
	// Failed says why it could not be saved to Path, if it was tried. It is not safe for a terminal yet.
	Failed string
	save   func(path string) (saved string, err error)
}

// Save returns the command that saves to a path. It asks again if that fails.
func (m SaveMsg) Save(path string) tea.Cmd {
	if m.Path = path; path == "" {
		return nil
	}
	return func() tea.Msg {
		saved, err := m.save(atHome(path))
		if err != nil {
			m.Failed = err.Error()
			return m
		}
		return NoteMsg{Text: "saved " + saved}
	}
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
	return v.Ask(SaveMsg{Title: "save into folder", Path: ".", save: func(folder string) (string, error) {
		paths, err := render.SaveBlocks(folder, result.ToolName, result)
		if err != nil || len(paths) == 1 {
			return strings.Join(paths, ""), err
		}
		return fmt.Sprintf("%d files, the last one as %s", len(paths), paths[len(paths)-1]), nil
	}})
}

// saveText asks for a file for the whole content of the tab, byte for byte.
func (v *View) saveText() tea.Cmd {
	l := v.tabs[v.current]
	name := render.FileName(v.result.ToolName) + l.extension
	save := func(path string) (string, error) { return path, l.saveAs(path) }
	return v.Ask(SaveMsg{Title: "save as", Path: name, save: save})
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
