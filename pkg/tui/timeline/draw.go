package timeline

import (
	"fmt"
	"strings"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/mask"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// look is what is needed to draw rows.
type look struct {
	theme *pane.Theme
	hide  func(string) string
	now   func() time.Time
	rows  *store
	focus bool
}

// safe prepares untrusted text for a number of cells on one line: it masks secrets and makes control
// characters visible. It reads no more of the text than it needs.
func (l *look) safe(text string, cells int) string {
	const bytesPerCell = 16 // an emoji with joiners is long
	more := ""
	if limit := max(1, cells) * bytesPerCell; len(text) > limit {
		text, more = cutText(text, limit), l.theme.Glyphs.More
	}
	text = strings.ReplaceAll(text, "\t", "    ")
	return render.Safe(l.masked(text)) + more
}

// masked masks secrets. If the text was cut and has a mark at its end, a cut secret is found as well.
func (l *look) masked(text string) string {
	if l.hide == nil {
		return text
	}
	return strings.TrimSuffix(l.hide(text+"…"), "…")
}

// maskedJSON masks secrets in JSON, first by the names of members, then by known values. The result is
// JSON in all but odd cases.
func (l *look) maskedJSON(text []byte) []byte {
	if l.hide == nil {
		return text
	}
	var byName *mask.Masker
	return []byte(l.masked(string(byName.JSON(text))))
}

// The widths from which rows have another column.
const (
	widthOfTime  = 32
	widthOfClock = 44
	widthOfSize  = 60
)

// draw returns a row without the cursor. As it gets narrower, the least important columns are left out first.
func (l *look) draw(r *row, c choice, width int) string {
	var left []string
	if at := l.timeColumn(r.at, c, width); at != "" {
		left = append(left, l.theme.Paint(pane.Dim, at))
	}
	const column = 12
	if width >= widthOfSize && c.all && r.call == nil && len(l.rows.servers()) > 1 {
		left = append(left, l.theme.Fit(l.safe(r.server, column), column))
	}
	sign, what, right := l.cells(r, c, width)
	line := strings.Join(append(left, sign, what), " ")
	if right == "" {
		return l.theme.Fit(line, width)
	}
	right = l.theme.Cut(right, max(0, width*2/3))
	wide := l.theme.Width(right)
	return l.theme.Fit(line, width-wide-1) + l.theme.Fit(" "+right, min(width, wide+1))
}

// timeColumn returns the time since the followed call started, else the time of day.
func (l *look) timeColumn(at time.Time, c choice, width int) string {
	now := l.now()
	at = at.In(now.Location())
	today := at.YearDay() == now.YearDay() && at.Year() == now.Year()
	switch from := c.from; {
	case width < widthOfTime:
		return ""
	case !from.IsZero():
		return fmt.Sprintf("%7s", offset(at.Sub(from)))
	case c.shows == streamCalls && today:
		return fmt.Sprintf("%-16s", at.Format("15:04:05.000"))
	case c.shows == streamCalls:
		return at.Format("2006-01-02 15:04")
	case width < widthOfClock:
		return at.Format("15:04:05")
	}
	return at.Format("15:04:05.000")
}

// offset formats a time since the start of a call: "93 ms", "59.71 s", "1m59.7s".
func offset(since time.Duration) string {
	switch {
	case since < 10*time.Second:
		return fmt.Sprintf("%d ms", since.Milliseconds())
	case since < time.Minute:
		return fmt.Sprintf("%.2f s", since.Seconds())
	}
	return since.Round(100 * time.Millisecond).String()
}

// cells returns what a row shows besides its time: a sign for its source, what it is, and at its right what is shown
// even if there is little room.
func (l *look) cells(r *row, c choice, width int) (sign, what, right string) {
	theme, text := l.theme, func() string { return l.safe(r.text, width) }
	switch r.kind {
	case kindMessage:
		return l.messageCells(r, c, width)
	case kindUnexpected:
		return l.unexpectedCells(r, width)
	case kindCall:
		return l.callCells(r, width)
	case kindOdd:
		what = theme.Paint(pane.Warn, "odd: "+l.safe(oddText(r.odd), width))
		return theme.Paint(pane.Warn, theme.Glyphs.Warn), what, ""
	case kindExchange:
		role := pane.Dim
		if r.exchange.Err != nil || r.exchange.Status >= 400 {
			role = pane.Bad
		}
		what = theme.Paint(role, l.safe(exchangeText(r.exchange), width))
		return theme.Paint(role, theme.Glyphs.Bullet), what, theme.Paint(pane.Dim, pane.Duration(r.exchange.Took))
	case kindStderr:
		if r.size > len(r.text) {
			right = exec.Bytes(int64(r.size))
		}
		return theme.Paint(pane.Dim, theme.Glyphs.Vertical), text(), right
	}
	role := levelRole(r.level)
	return theme.Paint(role, theme.Signs("◇")), theme.Paint(role, text()), ""
}

func (l *look) messageCells(r *row, c choice, width int) (sign, what, right string) {
	theme, m := l.theme, r.said()
	sign = theme.Signs("◀")
	if m.sent {
		sign = theme.Signs("▶")
	}
	what = l.safe(m.summary, width)
	switch {
	case m.failed:
		what = theme.Paint(pane.Bad, what)
	case m.level != "":
		sign = theme.Paint(levelRole(m.level), theme.Glyphs.Bullet)
		what = theme.Paint(levelRole(m.level), l.safe(m.level, 20)) + " " + what
	}
	if m.of != "" && width >= widthOfSize {
		what += theme.Paint(pane.Dim, " of "+l.safe(m.of, width))
	}
	if m.short > 0 && width >= widthOfClock {
		what += theme.Paint(pane.Dim, fmt.Sprintf(" #%d", m.short))
	}
	status, size := l.status(m, r.at, !c.from.IsZero()), theme.Paint(pane.Dim, exec.Bytes(int64(r.size)))
	switch {
	case width >= widthOfSize:
		pad := func(text string, cells int) string {
			return strings.Repeat(" ", max(0, cells-theme.Width(text))) + text
		}
		return sign, what, pad(size, 9) + " " + pad(status, 13)
	case status == "" && m.id != "":
		return sign, what, size
	}
	return sign, what, status
}

// status returns how long a request took and how it ended, or how long it has been waiting.
func (l *look) status(m *message, at time.Time, followed bool) string {
	theme := l.theme
	switch m.state {
	case stateWaiting:
		return theme.Paint(pane.Warn, "waits "+pane.Duration(max(0, l.now().Sub(at))))
	case stateCancelled:
		return theme.Paint(pane.Dim, "cancelled")
	case stateLost:
		return theme.Paint(pane.Warn, "no response")
	case stateUnsure:
		return theme.Paint(pane.Dim, "no response?")
	}
	switch {
	case m.of == "":
		return ""
	case m.failed:
		return theme.Paint(pane.Bad, theme.Glyphs.Bad+" "+pane.Duration(m.latency))
	case followed && !m.sent:
		return theme.Paint(pane.Good, theme.Glyphs.Good) + " " + pane.Duration(m.latency)
	}
	return theme.Paint(pane.Dim, theme.Glyphs.Good+" "+pane.Duration(m.latency))
}

// unexpectedCells draws a line that is not a message, with the program that most likely wrote it.
func (l *look) unexpectedCells(r *row, width int) (sign, what, right string) {
	role, sign := pane.Bad, l.theme.Glyphs.Bad
	harmless := r.unexpected.Class.Harmless()
	if harmless {
		role, sign = pane.Dim, l.theme.Glyphs.Bullet
	}
	sign = l.theme.Paint(role, sign)
	what = l.theme.Paint(role, l.safe(string(r.unexpected.Class), 20)) + " " + l.safe(r.text, width)
	if harmless || width < widthOfSize {
		return sign, what, ""
	}
	by := l.rows.recognise(r).Culprit
	grade := " (" + by.Confidence + ")"
	name := l.theme.Cut(l.safe(by.Name, width), width*2/5-len(grade)) // the text needs the rest
	return sign, what, l.theme.Paint(pane.Warn, name) + l.theme.Paint(pane.Dim, grade)
}

func (l *look) callCells(r *row, width int) (sign, what, right string) {
	c := r.call
	role, sign := pane.Dim, l.theme.Glyphs.Good
	switch {
	case c.Success:
	case c.Kind == fault.KindInterrupted: // by the user, which is not a failure
		role, sign = pane.Warn, l.theme.Glyphs.Warn
	default:
		role, sign = pane.Bad, l.theme.Glyphs.Bad
	}
	what = l.theme.Paint(pane.Strong, l.safe(c.Tool, width))
	if !c.Success {
		what += " " + l.theme.Paint(role, l.safe(c.problem(), width))
	}
	what += " " + l.theme.Paint(pane.Dim, l.safe(r.text, width))
	return l.theme.Paint(role, sign), what, pane.Duration(c.Duration())
}
