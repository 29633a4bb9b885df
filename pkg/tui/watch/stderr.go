package watch

import (
	"fmt"
	"strings"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/tui/pane"
)

// printed is a line of a server's stderr, or a mark where its process starts or ends.
type printed struct {
	at     time.Time
	server string
	text   string // at most maxText bytes of size
	size   int
	mark   bool
}

func (p *printed) subject() string            { return p.server }
func (p *printed) weight() int                { return rowWeight + len(p.text) }
func (p *printed) contains(lower string) bool { return holds(p.text, lower) }

// stderrTab shows what servers print on stderr.
type stderrTab struct{ list[*printed] }

func newStderrTab(l *look) *stderrTab {
	t := &stderrTab{newList[*printed](l, "stderr")}
	t.draw, t.open = t.line, t.opened
	return t
}

func (t *stderrTab) take(event exec.Event) {
	switch e := event.(type) {
	case servers.StderrLine:
		t.journal.add(&printed{at: e.At, server: e.Server, text: cutText(e.Text, maxText), size: len(e.Text)})
	case servers.ProcessStarted:
		t.journal.add(&printed{at: e.At, server: e.Server, text: started(e), mark: true})
	case servers.ProcessExited:
		t.journal.add(&printed{at: e.At, server: e.Server, text: exited(e), mark: true})
	case servers.SessionLost:
		t.journal.add(&printed{at: e.At, server: e.Server, text: lost(e), mark: true})
	}
}

// started, exited and lost are the marks in the life of a process.
func started(e servers.ProcessStarted) string { return fmt.Sprintf("process %d started", e.PID) }

func exited(e servers.ProcessExited) string {
	text := fmt.Sprintf("process ended after %s: %s", duration(e.Lived), cutText(e.How, 200))
	if e.Forced != "" {
		text += ", forced by " + e.Forced
	}
	return text
}

func lost(e servers.SessionLost) string { return "the server " + string(e.Why.Ending) }

func (t *stderrTab) line(p *printed, width int) string {
	var left []string
	if width >= 32 {
		left = append(left, t.theme.Paint(pane.Dim, t.clock(p.at)))
	}
	if width >= 40 {
		left = append(left, t.serverColumn(p.server)...)
	}
	text := t.safe(p.text, width)
	if p.mark {
		text = t.theme.Paint(pane.Accent, t.dash()+" "+text)
	}
	right := ""
	if p.size > len(p.text) {
		right = exec.Bytes(int64(p.size))
	}
	return t.row(strings.Join(append(left, text), " "), right, width)
}

func (t *stderrTab) opened(p *printed) opened {
	return opened{title: t.clock(p.at) + " " + t.safe(p.server, 40) + cutNote(len(p.text), p.size), text: p.text}
}

// cutNote says how much of a text was kept; empty if nothing was cut.
func cutNote(kept, size int) string {
	if kept >= size {
		return ""
	}
	return fmt.Sprintf(", the first %s of %s", exec.Bytes(int64(kept)), exec.Bytes(int64(size)))
}
