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
	"toolx/pkg/tui/pane"
)

// remark is a row of the log: what a server reports through the protocol, or what toolx reports.
type remark struct {
	at     time.Time
	server string
	level  string // a syslog severity; empty where nobody gave one
	source string // the logger, or what kind of message it is
	text   string // at most maxText bytes of size
	size   int
}

func (r *remark) subject() string { return r.server }
func (r *remark) weight() int     { return rowWeight + len(r.text) + len(r.source) + len(r.level) }

func (r *remark) contains(lower string) bool {
	return holds(r.text, lower) || holds(r.source, lower) || holds(r.level, lower)
}

// logTab shows log messages, notifications and requests of servers, and toolx's own notices. It begins
// with all servers, because notices belong to none.
type logTab struct{ list[*remark] }

func newLogTab(l *look) *logTab {
	t := &logTab{newList[*remark](l, "log")}
	t.draw, t.open, t.everything = t.line, t.opened, true
	return t
}

func (t *logTab) take(event exec.Event) {
	switch e := event.(type) {
	case servers.LogMessage:
		t.add(e.At, e.Server, e.Level, e.Logger, said(e.Data))
	case servers.Notification:
		t.add(e.At, e.Server, "", cutText(e.Method, maxName), string(e.Params))
	case servers.ServerRequest:
		t.add(e.At, e.Server, "", "request", answered(e))
	case exec.Notice:
		t.add(e.At, "", levelName(e.Level), "toolx", noticeText(e))
	case servers.Retry:
		text := fmt.Sprintf("attempt %d of %d failed, the next comes in %s: %v", e.Attempt, e.Of, duration(e.Delay), e.Err)
		t.add(e.At, e.Server, "warning", "toolx", text)
	case servers.Connected:
		t.add(e.At, e.Server, "info", "toolx", "connected, protocol "+e.Protocol)
	case servers.ConnectFailed:
		t.add(e.At, e.Server, "error", "toolx", fmt.Sprintf("given up: %v", e.Err))
	case servers.ProcessExited:
		t.add(e.At, e.Server, exitLevel(e), "toolx", exited(e))
	case servers.SessionLost:
		t.add(e.At, e.Server, "error", "toolx", e.Why.Error())
	}
}

func (t *logTab) add(at time.Time, server, level, source, text string) {
	t.journal.add(&remark{
		at: at, server: server, level: cutText(level, maxName), source: cutText(source, maxName),
		text: cutText(text, maxText), size: len(text),
	})
}

// said returns the text of a log message: its data if that is a string, else JSON.
func said(data json.RawMessage) string {
	if rawjson.IsString(data) {
		return rawjson.Unquote(data)
	}
	return string(data)
}

func answered(e servers.ServerRequest) string {
	switch {
	case e.Answered:
		return cutText(e.Method, maxName) + ", answered"
	case e.Busy:
		return cutText(e.Method, maxName) + ", refused: too many wait for an answer"
	}
	return cutText(e.Method, maxName) + ", refused: toolx does not offer it"
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

func exitLevel(e servers.ProcessExited) string {
	if e.Asked {
		return "info"
	}
	return "error"
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

func (t *logTab) line(r *remark, width int) string {
	var left []string
	if width >= 48 {
		left = append(left, t.theme.Paint(pane.Dim, t.clock(r.at)))
	}
	if width >= 60 {
		left = append(left, t.serverColumn(r.server)...)
	}
	left = append(left, t.theme.Paint(levelRole(r.level), t.theme.Fit(t.safe(r.level, 9), 9)))
	if r.source != "" {
		left = append(left, t.theme.Paint(pane.Strong, t.safe(r.source, width)))
	}
	right := ""
	if r.size > len(r.text) {
		right = exec.Bytes(int64(r.size))
	}
	return t.row(strings.Join(append(left, t.safe(r.text, width)), " "), right, width)
}

func (t *logTab) opened(r *remark) opened {
	words := []string{t.clock(r.at), t.safe(r.server, 40), t.safe(r.level, 20), t.safe(r.source, 60)}
	title := strings.Join(strings.Fields(strings.Join(words, " ")), " ")
	return opened{title: title + cutNote(len(r.text), r.size), text: r.text}
}
