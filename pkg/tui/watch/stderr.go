package watch

import (
	"fmt"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/pane"
)

// printed is a line of a server's stderr, or a mark where its process starts or ends.
type printed struct {
	line
	mark bool
}

// stderrTab shows what servers print on stderr.
type stderrTab struct{ list[*printed] }

func newStderrTab(l *look) *stderrTab {
	t := &stderrTab{newList[*printed](l, "stderr")}
	t.draw, t.open = t.drawLine, t.opened
	return t
}

func (t *stderrTab) take(event exec.Event) {
	add := func(at time.Time, server, text string, mark bool) {
		t.journal.add(&printed{newLine(at, server, text), mark})
	}
	switch e := event.(type) {
	case wire.StderrLine:
		add(e.At, e.Server, e.Text, false)
	case wire.ProcessStarted:
		add(e.At, e.Server, started(e), true)
	case wire.ProcessExited:
		add(e.At, e.Server, exited(e), true)
	case protocol.SessionLost:
		add(e.At, e.Server, lost(e), true)
	}
}

// silent reports whether the only row is a mark: the process is running, and has printed nothing.
func (t *stderrTab) silent() bool { return t.count() == 1 && t.view.row(0).mark }

// started, exited and lost are the marks in the life of a process.
func started(e wire.ProcessStarted) string { return fmt.Sprintf("process %d started", e.PID) }

func exited(e wire.ProcessExited) string {
	text := fmt.Sprintf("process ended after %s: %s", pane.Duration(e.Lived), cutText(e.How, 200))
	if e.Forced != "" {
		text += ", forced by " + e.Forced
	}
	return text
}

func lost(e protocol.SessionLost) string { return "the server " + string(e.Why.Ending) }

func (t *stderrTab) drawLine(p *printed, width int) string {
	text := t.safe(p.text, width)
	if p.mark {
		text = t.theme.Paint(pane.Accent, t.dash()+" "+text)
	}
	left := append(t.clockColumn(p.at, width, 32), t.serverColumn(p.server, width, 40)...)
	return t.row(append(left, text), p.cutSize(), width)
}

func (t *stderrTab) opened(p *printed) opened {
	return opened{title: t.clock(p.at) + " " + t.safe(p.server, 40) + p.cutNote(), text: p.text}
}
