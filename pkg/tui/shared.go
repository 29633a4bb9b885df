package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/atotto/clipboard"

	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
	"toolx/pkg/tui/result"
)

// shared is what the parts of the interface have in common.
type shared struct {
	ctx     context.Context
	options Options
	now     func() time.Time
	theme   *pane.Theme
	note    note
	dialog  *dialog        // nil while none is open
	quit    func() tea.Cmd // ends the interface
}

func newShared(ctx context.Context, options Options, dark bool) *shared {
	if options.Now == nil {
		options.Now = time.Now
	}
	theme := pane.NewTheme(options.Color, dark, options.ASCII)
	return &shared{ctx: ctx, options: options, now: options.Now, theme: theme}
}

// showsRecording reports whether the interface shows a recording: nothing runs, and nothing can be called.
func (s *shared) showsRecording() bool { return s.options.Recorded != nil }

// later is a message from a command: a function to run in Update once the work is done.
type later func() tea.Cmd

// after returns the command that does work in the background and passes its result to take in Update.
func after[T any](work func() T, take func(T) tea.Cmd) tea.Cmd {
	return func() tea.Msg {
		done := work()
		return later(func() tea.Cmd { return take(done) })
	}
}

// note is a short message on the status line, shown until it is replaced or old.
type note struct {
	text string
	bad  bool
	at   time.Time
}

// noteTime is how long a note is shown. It is shown for at least readTime, whatever keys are pressed.
const (
	noteTime = 5 * time.Second
	readTime = time.Second
)

// notify shows a message on the status line.
func (s *shared) notify(text string, bad bool) { s.note = note{text, bad, s.now()} }

// fail shows an error on the status line.
func (s *shared) fail(err error) tea.Cmd {
	s.notify(err.Error(), true)
	return nil
}

// saved shows where something was saved, or why it was not.
func (s *shared) saved(path string, err error) tea.Cmd {
	if err == nil {
		s.notify("saved "+path, false)
		return nil
	}
	return s.fail(err)
}

// fade removes a note that has been shown for at least a given time.
func (s *shared) fade(least time.Duration) {
	if s.now().Sub(s.note.at) >= least {
		s.note = note{}
	}
}

// do runs the action of a key, or shows why it is not possible.
func (s *shared) do(binding *pane.Binding) tea.Cmd {
	if binding.Off == "" {
		return binding.Do()
	}
	s.notify(binding.Help+": "+binding.Off, true)
	if binding.Fix != nil {
		binding.Fix()
	}
	return nil
}

// hide masks secrets for the screen.
func (s *shared) hide(text string) string {
	if s.options.Hide == nil {
		return text
	}
	return s.options.Hide(text)
}

// safe masks secrets in untrusted text and makes it fit for one line, safeBlock for several.
func (s *shared) safe(text string) string      { return render.Safe(s.hide(text)) }
func (s *shared) safeBlock(text string) string { return render.SafeBlock(s.hide(text)) }

// spinner returns the sign for something that is running.
func (s *shared) spinner() string {
	frames := s.theme.Glyphs.Spinner
	return frames[int(s.now().UnixMilli()/tickTime.Milliseconds())%len(frames)]
}

// copied puts text on the clipboard: the terminal's by OSC 52, and the system's.
func (s *shared) copied(text, what string) tea.Cmd {
	return tea.Batch(tea.SetClipboard(text), func() tea.Msg {
		_ = clipboard.WriteAll(text) // without a system clipboard, the terminal's has it
		return result.NoteMsg{Text: "copied " + what}
	})
}
