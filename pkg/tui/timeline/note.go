package timeline

import (
	"fmt"
	"strings"

	"toolx/pkg/doctor/culprit"
	"toolx/pkg/exec"
	"toolx/pkg/recording"
	"toolx/pkg/servers"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

// note adds a row in toolx's words: about a process or a connection, or a notice.
func (s *store) note(event exec.Event) {
	add := func(head wire.Head, level, text string) {
		r := &row{kind: kindNote, level: level}
		if s.recorded && len(text) <= maxText {
			r.noted = event
		}
		s.record(r, head, text, maxText)
	}
	switch e := event.(type) {
	case wire.ProcessStarted:
		s.endPeer(e.Source())
		p, text := newPeer(e.Command, e.Cwd), fmt.Sprintf("process %d started", e.PID)
		if s.recorded { // its files may be on another machine
			p.writers, text = &culprit.Context{Command: e.Command}, "started: "+exec.PasteLine(e.Command...)
		}
		s.peers[e.Source()] = p
		add(e.Head, "info", text)
	case wire.ProcessExited:
		s.endPeer(e.Source())
		e.How = cutText(e.How, 200)
		event = e // for its row
		level := "error"
		if e.Asked {
			level = "info"
		}
		text := fmt.Sprintf("process ended after %s: %s", pane.Duration(e.Lived), e.How)
		if e.Forced != "" {
			text += ", forced by " + e.Forced
		}
		add(e.Head, level, text)
	case protocol.SessionLost:
		s.endPeer(e.Source())
		add(e.Head, "error", e.Why.Error())
	case servers.Retry:
		s.endPeer(e.Source())
		wait := pane.Duration(e.Delay)
		add(e.Head, "warning", fmt.Sprintf("attempt %d of %d failed, next in %s: %v", e.Attempt, e.Of, wait, e.Err))
	case servers.Connected:
		add(e.Head, "info", "connected, protocol "+e.Protocol)
	case servers.ConnectFailed:
		s.endPeer(e.Source())
		add(e.Head, "error", fmt.Sprintf("given up: %v", e.Err))
	case recording.Dropped:
		add(e.Head, "warning", words.Count(e.Lines, "line")+" not recorded in time")
	case exec.Notice:
		add(wire.Head{At: e.At, Server: e.Server}, strings.ToLower(e.Level.String()), noticeText(e))
	}
}

func noticeText(e exec.Notice) string {
	var text strings.Builder
	text.WriteString(e.Text)
	for _, attr := range e.Attrs {
		fmt.Fprintf(&text, " %s=%s", attr.Key, attr.Value)
	}
	return text.String()
}

// levelRole returns the role of a level (RFC 5424, as in MCP).
func levelRole(level string) pane.Role {
	switch level {
	case "emergency", "alert", "critical", "error":
		return pane.Bad
	case "warning", "warn":
		return pane.Warn
	}
	return pane.Dim
}
