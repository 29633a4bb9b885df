package watch

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/pane"
)

// remark is a row of the log: what a server reports through the protocol, or what toolx reports.
type remark struct {
	line
	level  string // a syslog severity, or empty
	source string // the logger, or what kind of message it is
}

func (r *remark) weight() int { return r.line.weight() + len(r.source) + len(r.level) }

func (r *remark) contains(lower string) bool {
	return r.line.contains(lower) || holds(r.source, lower) || holds(r.level, lower)
}

// logTab shows log messages, notifications and requests from servers, and toolx's own notices. It starts
// with all servers, because notices belong to none.
type logTab struct{ list[*remark] }

func newLogTab(l *look) *logTab {
	t := &logTab{newList[*remark](l, "log")}
	t.draw, t.open, t.allServers = t.drawLine, t.opened, true
	return t
}

func (t *logTab) take(event exec.Event) {
	switch e := event.(type) {
	case wire.LogMessage:
		t.add(e.At, e.Server, e.Level, e.Logger, said(e.Data))
	case wire.Notification:
		t.add(e.At, e.Server, "", cutText(e.Method, maxName), string(e.Params))
	case wire.ServerRequest:
		t.add(e.At, e.Server, "", "request", answered(e))
	case exec.Notice:
		t.add(e.At, "", levelName(e.Level), "toolx", noticeText(e))
	case servers.Retry:
		wait := pane.Duration(e.Delay)
		text := fmt.Sprintf("attempt %d of %d failed, next in %s: %v", e.Attempt, e.Of, wait, e.Err)
		t.add(e.At, e.Server, "warning", "toolx", text)
	case servers.Connected:
		t.add(e.At, e.Server, "info", "toolx", "connected, protocol "+e.Protocol)
	case servers.ConnectFailed:
		t.add(e.At, e.Server, "error", "toolx", fmt.Sprintf("given up: %v", e.Err))
	case wire.ProcessExited:
		level := "error"
		if e.Asked {
			level = "info"
		}
		t.add(e.At, e.Server, level, "toolx", exited(e))
	case protocol.SessionLost:
		t.add(e.At, e.Server, "error", "toolx", e.Why.Error())
	}
}

func (t *logTab) add(at time.Time, server, level, source, text string) {
	t.journal.add(&remark{newLine(at, server, text), cutText(level, maxName), cutText(source, maxName)})
}

// said returns the text of a log message: its data if that is a string, else JSON.
func said(data json.RawMessage) string {
	if rawjson.IsString(data) {
		return rawjson.Unquote(data)
	}
	return string(data)
}

func answered(e wire.ServerRequest) string {
	how := "refused: toolx does not support it"
	switch {
	case e.Answered:
		how = "answered"
	case e.Busy:
		how = "refused: too many are waiting for an answer"
	}
	return cutText(e.Method, maxName) + ", " + how
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
	case "debug":
		return pane.Dim
	}
	return pane.Good
}

func (t *logTab) drawLine(r *remark, width int) string {
	left := append(t.clockColumn(r.at, width, 48), t.serverColumn(r.server, width, 60)...)
	left = append(left, t.theme.Paint(levelRole(r.level), t.theme.Fit(t.safe(r.level, 9), 9)))
	if r.source != "" {
		left = append(left, t.theme.Paint(pane.Strong, t.safe(r.source, width)))
	}
	return t.row(append(left, t.safe(r.text, width)), r.cutSize(), width)
}

func (t *logTab) opened(r *remark) opened {
	words := []string{t.clock(r.at), t.safe(r.server, 40), t.safe(r.level, 20), t.safe(r.source, 60)}
	title := strings.Join(strings.Fields(strings.Join(words, " ")), " ")
	return opened{title: title + r.cutNote(), text: r.text}
}
