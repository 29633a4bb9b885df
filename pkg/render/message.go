package render

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"toolx/pkg/fault"
)

// Error writes a failure for stderr, in one write: "error: …", then the error's details, indented, then a "hint: …"
// line for each line of its hint. Further lines of the message are indented, so that a server's text cannot imitate
// toolx's lines.
func Error(out io.Writer, err error, screen Screen) error {
	var text strings.Builder
	text.WriteString(message(screen.Paint(RoleError, "error:"), err.Error()))
	for _, detail := range fault.DetailsOf(err) {
		text.WriteString("  " + screen.Paint(RoleMuted, Safe(detail)) + "\n")
	}
	if hint := strings.TrimSpace(fault.HintOf(err)); hint != "" {
		for line := range strings.SplitSeq(hint, "\n") {
			text.WriteString(message(screen.Paint(RoleGood, "hint:"), line))
		}
	}
	_, failure := io.WriteString(out, text.String())
	return failure
}

// Aside writes one line of status, dim with colour, in one write. It makes the text safe.
func Aside(out io.Writer, text string, screen Screen) error {
	_, err := io.WriteString(out, screen.Paint(RoleMuted, Safe(text))+"\n")
	return err
}

// quoteMark begins each line of Quote.
const quoteMark = "  | "

// Quote returns an untrusted text as lines after a bar, so that it cannot imitate toolx's output. It breaks lines to
// fit into columns, because a line broken by the terminal would continue without the bar; 0 means no limit.
func Quote(text string, columns int) []string {
	if columns > 0 {
		columns = max(columns-len(quoteMark), len(quoteMark))
	}
	lines := Wrap(strings.TrimRight(SafeBlock(text), "\n"), columns)
	for i := range lines {
		lines[i] = quoteMark + lines[i]
	}
	return lines
}

// LogLine writes one log record, in one write: "warning: text".
func LogLine(out io.Writer, level slog.Level, text string, screen Screen) error {
	r, label := RoleMuted, "debug:"
	switch {
	case level >= slog.LevelError:
		r, label = RoleError, "error:"
	case level >= slog.LevelWarn:
		r, label = RoleWarning, "warning:"
	case level >= slog.LevelInfo:
		label = "info:"
	}
	_, err := io.WriteString(out, message(screen.Paint(r, label), text))
	return err
}

// message returns a label and a text of one or more lines, with a newline at the end.
func message(label, text string) string {
	lines := strings.ReplaceAll(SafeBlock(strings.TrimRight(text, "\r\n")), "\n", "\n  ")
	return label + " " + lines + "\n"
}

// Progress is the progress of a running call.
type Progress struct {
	Tool    string
	Done    float64
	Total   float64 // zero if the server does not know
	Message string
	Elapsed time.Duration
}

// Line returns progress as one line of at most width columns, without a newline or control sequences.
func (p Progress) Line(width int) string {
	parts := []string{Safe(p.Tool)}
	switch {
	case p.Total > 0:
		parts = append(parts, bar(p.Done/p.Total), fmt.Sprintf("%s/%s", number(p.Done), number(p.Total)))
	case p.Done > 0:
		parts = append(parts, number(p.Done))
	}
	parts = append(parts, p.Elapsed.Truncate(100*time.Millisecond).String())
	if p.Message != "" {
		parts = append(parts, Safe(p.Message))
	}
	// Leave the last column free: some terminals wrap when it is written.
	return Fit(strings.Join(parts, "  "), max(1, width-1))
}

// bar draws a share from 0 to 1; servers may report other values.
func bar(share float64) string {
	const cells = 20
	filled := 0
	if share > 0 { // false for NaN
		filled = int(min(share, 1) * cells)
	}
	return strings.Repeat("█", filled) + strings.Repeat("░", cells-filled)
}

func number(value float64) string { return fmt.Sprintf("%.6g", value) }
