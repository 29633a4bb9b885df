package tui

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/config"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
	"toolx/pkg/tui/result"
)

// editArguments opens the arguments as JSON in the user's editor. When the editor ends, the form takes
// over the saved text.
func (p *panes) editArguments() tea.Cmd {
	edited, draft := p.page.item.key(), p.page.form.Draft()
	file, err := writeDraft(draft)
	if err != nil {
		return p.fail(err)
	}
	return p.openEditor(file, 0, func() tea.Msg {
		defer os.Remove(file) //nolint:errcheck // the system cleans up its temporary folder
		written, err := os.ReadFile(file)
		if err != nil {
			return result.NoteMsg{Text: err.Error(), Bad: true}
		}
		return later(func() tea.Cmd { p.edited(edited, draft, strings.TrimSpace(string(written))); return nil })
	})
}

// lineEditors are the editors that accept a line number as +N before the file.
var lineEditors = []string{"emacs", "emacsclient", "jed", "joe", "kak", "micro", "nano", "ne", "nvim", "vi", "vim"}

// openEditor opens a file in the user's editor, at a line if that is not 0; done runs once the user has left it.
func (s *shared) openEditor(file string, line int, done func() tea.Msg) tea.Cmd {
	editor := cmp.Or(strings.TrimSpace(os.Getenv("VISUAL")), strings.TrimSpace(os.Getenv("EDITOR")), "vi")
	words := pane.Program(editor, file)
	if line > 0 && slices.Contains(lineEditors, filepath.Base(words[0])) {
		words = slices.Insert(words, len(words)-1, "+"+strconv.Itoa(line))
	}
	command := exec.CommandContext(s.ctx, words[0], words[1:]...)
	command.Env = config.Environ()
	run := func(in io.Reader, out, errOut io.Writer) error {
		command.Stdin, command.Stdout, command.Stderr = in, out, errOut
		return command.Run()
	}
	return pane.Exec(run, func(err error) tea.Msg {
		if err != nil {
			return result.NoteMsg{Text: fmt.Sprintf("%s: %v; set EDITOR to your editor", editor, err), Bad: true}
		}
		return done()
	})
}

// openLog shows the file with a server's stderr.
func openLog(path string) tea.Cmd {
	return result.Page(os.Getenv("PAGER"), func(out io.Writer, _ bool) error {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		lines := bufio.NewReader(file)
		for {
			line, err := lines.ReadString('\n')
			if line != "" {
				if _, err := io.WriteString(out, render.SafeBlock(line)); err != nil {
					return err
				}
			}
			if err != nil {
				return nil
			}
		}
	})
}

// edited takes the text that the editor saved, unless another item is shown by now.
func (p *panes) edited(one itemKey, draft, written string) {
	if p.page.item.none() || p.page.item.key() != one {
		return
	}
	if written != strings.TrimSpace(draft) && p.page.form.SetArguments(json.RawMessage(written)) != nil {
		p.page.form.EditText(written) // it shows what is wrong, and where
	}
	p.page.tab = tabForm
	p.setFocus(areaPage)
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
