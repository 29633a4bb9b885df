package result

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/config"
	"toolx/pkg/tui/pane"
)

// openPager shows the whole content of the tab in the user's pager.
func (v *View) openPager() tea.Cmd { return Page(v.getenv("PAGER"), v.tabs[v.current].write) }

// Page returns the command that shows what write writes in a pager. variable is $PAGER; write is asked for text that is
// safe for a terminal.
func Page(variable string, write func(out io.Writer, safe bool) error) tea.Cmd {
	words := pagerCommand(variable)
	run := func(_ io.Reader, out, errOut io.Writer) error { return runPager(words, write, out, errOut) }
	return pane.Exec(run, func(err error) tea.Msg {
		if err != nil {
			name := cmp.Or(strings.TrimSpace(variable), words[0])
			return NoteMsg{fmt.Sprintf("%s: %v; set PAGER to your pager", name, err), true}
		}
		return nil
	})
}

// pagerCommand returns the program of $PAGER with its flags, or less if it is not set. With its flag -F, less would
// exit immediately for a short text, and the user would not see it.
func pagerCommand(variable string) []string {
	words := pane.Program(variable)
	if len(words) == 0 {
		words = []string{"less"}
		if runtime.GOOS == "windows" {
			words = []string{"more"}
		}
	}
	if filepath.Base(words[0]) == "less" {
		words = append(words, "-+F")
	}
	return words
}

// runPager shows a text on the terminal. A pager reads keys from the terminal itself.
func runPager(words []string, write func(out io.Writer, safe bool) error, out, errOut io.Writer) error {
	pager := exec.Command(words[0], words[1:]...)
	pager.Env, pager.Stdout, pager.Stderr = config.Environ(), out, errOut
	in, err := pager.StdinPipe()
	if err != nil {
		return err
	}
	if err := pager.Start(); err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(in, 64<<10)
	// A user who quits early closes the pipe before everything is written, which is not an error.
	_ = errors.Join(write(buffered, true), buffered.Flush(), in.Close())
	return pager.Wait()
}
