package pane

import (
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
)

// settleTime is longer than a goroutine that can run usually waits for a processor, and shorter than a person notices.
const settleTime = 20 * time.Millisecond

// Exec returns the command that gives the terminal to a program: run runs it on the streams of the terminal, and done
// receives its error.
//
// A program that ends at once must not leave the screen blank: Bubble Tea does not wait for the goroutine of the
// renderer that it stops before the program, which may then stop the ticker of the next renderer as well
// (charmbracelet/bubbletea#1778, open in 2.1.1).
func Exec(run func(in io.Reader, out, errOut io.Writer) error, done tea.ExecCallback) tea.Cmd {
	return tea.Exec(&program{run: run}, done)
}

// program is a tea.ExecCommand that runs a function.
type program struct {
	run         func(in io.Reader, out, errOut io.Writer) error
	in          io.Reader
	out, errOut io.Writer
}

func (p *program) SetStdin(in io.Reader)   { p.in = in }
func (p *program) SetStdout(out io.Writer) { p.out = out }
func (p *program) SetStderr(out io.Writer) { p.errOut = out }

func (p *program) Run() error {
	time.Sleep(settleTime)
	return p.run(p.in, p.out, p.errOut)
}
