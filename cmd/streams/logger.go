package streams

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"toolx/pkg/exec"
	"toolx/pkg/mask"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// Settings are the flags' settings for stderr.
type Settings struct {
	Level   slog.Level // the lowest level to show
	JSON    bool       // log records are JSON
	Quiet   bool       // no progress, and no remarks
	Verbose bool       // reports have all details
}

// NewLogger returns the logger on stderr with the flags' settings. It masks secrets and makes text from servers safe.
func NewLogger(out io.Writer, screen render.Screen, settings Settings, masker *mask.Masker) *slog.Logger {
	if settings.JSON {
		if screen.TTY {
			out = SafeJSON{Out: out}
		}
		short := func(groups []string, attr slog.Attr) slog.Attr {
			attr = masker.Attr(groups, attr)
			if attr.Key == slog.MessageKey && len(groups) == 0 {
				attr.Value = slog.StringValue(shortLine(attr.Value.String()))
			}
			return attr
		}
		return slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: settings.Level, ReplaceAttr: short}))
	}
	return slog.New(&textHandler{out: out, screen: screen, level: settings.Level, mask: masker})
}

// maxLogLine is the most bytes of a log message.
const maxLogLine = 16 << 10

// shortLine cuts a log message, which may quote any amount of a server's text.
func shortLine(text string) string {
	if len(text) <= maxLogLine {
		return text
	}
	size := exec.Bytes(int64(len(text)))
	return fmt.Sprintf("%s (%s in all; --record keeps messages whole)", words.Clip(text, maxLogLine), size)
}

// SafeJSON writes JSON for a terminal: it writes control characters and invisible text as \u escapes.
type SafeJSON struct{ Out io.Writer }

func (s SafeJSON) Write(p []byte) (int, error) { return len(p), rawjson.Escape(s.Out, p) }

// textHandler writes log records for people: "warning: text key=value", without
// the times and quotes that slog's own text form has.
type textHandler struct {
	out    io.Writer
	screen render.Screen
	level  slog.Level
	mask   *mask.Masker
	attrs  []slog.Attr

	mu sync.Mutex
}

// Enabled implements slog.Handler.
func (h *textHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

// Handle implements slog.Handler.
func (h *textHandler) Handle(_ context.Context, record slog.Record) error {
	var text strings.Builder
	text.WriteString(record.Message)
	add := func(attr slog.Attr) bool {
		fmt.Fprintf(&text, " %s=%v", attr.Key, attr.Value)
		return true
	}
	for _, attr := range h.attrs {
		add(attr)
	}
	record.Attrs(add)
	h.mu.Lock()
	defer h.mu.Unlock()
	return render.LogLine(h.out, record.Level, shortLine(h.mask.Text(text.String())), h.screen)
}

// WithAttrs implements slog.Handler.
func (h *textHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &textHandler{
		out: h.out, screen: h.screen, level: h.level, mask: h.mask,
		attrs: slices.Concat(h.attrs, attrs),
	}
}

// WithGroup implements slog.Handler; toolx does not group.
func (h *textHandler) WithGroup(string) slog.Handler { return h }
