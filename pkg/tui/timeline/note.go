package timeline

import (
	"fmt"
	"log/slog"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/pane"
)

// note adds a row in toolx's words: about a process, a connection, or a refused request.
func (s *store) note(event exec.Event) {
	life := func(head wire.Head, level, text string) {
		s.record(&row{kind: kindLife, level: level}, head, text, maxText)
	}
	switch e := event.(type) {
	case wire.ProcessStarted:
		s.endPeer(e.Server)
		s.peers[e.Server] = newPeer(e.Command, e.Cwd)
		life(e.Head, "info", fmt.Sprintf("process %d started", e.PID))
	case wire.ProcessExited:
		s.endPeer(e.Server)
		level := "error"
		if e.Asked {
			level = "info"
		}
		text := fmt.Sprintf("process ended after %s: %s", pane.Duration(e.Lived), cutText(e.How, 200))
		if e.Forced != "" {
			text += ", forced by " + e.Forced
		}
		life(e.Head, level, text)
	case protocol.SessionLost:
		s.endPeer(e.Server)
		life(e.Head, "error", e.Why.Error())
	case servers.Retry:
		s.endPeer(e.Server)
		wait := pane.Duration(e.Delay)
		life(e.Head, "warning", fmt.Sprintf("attempt %d of %d failed, next in %s: %v", e.Attempt, e.Of, wait, e.Err))
	case servers.Connected:
		life(e.Head, "info", "connected, protocol "+e.Protocol)
	case servers.ConnectFailed:
		s.endPeer(e.Server)
		life(e.Head, "error", fmt.Sprintf("given up: %v", e.Err))
	case wire.ServerRequest:
		if !e.Answered {
			why := "toolx does not support it"
			if e.Busy {
				why = "too many are waiting for an answer"
			}
			text := "request " + cutText(e.Method, maxName) + " refused: " + why
			s.record(&row{kind: kindNote, level: "warning"}, e.Head, text, maxText)
		}
	case exec.Notice:
		head := wire.Head{At: e.At, Server: e.Server}
		s.record(&row{kind: kindNote, level: levelName(e.Level)}, head, noticeText(e), maxText)
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

// levelName returns MCP's name of a level.
func levelName(level slog.Level) string {
	switch {
	case level >= slog.LevelError:
		return "error"
	case level >= slog.LevelWarn:
		return "warning"
	case level >= slog.LevelInfo:
		return "info"
	}
	return "debug"
}

// levelRole returns the role of a level (RFC 5424, as in MCP).
func levelRole(level string) pane.Role {
	switch level {
	case "emergency", "alert", "critical", "error":
		return pane.Bad
	case "warning":
		return pane.Warn
	}
	return pane.Dim
}
