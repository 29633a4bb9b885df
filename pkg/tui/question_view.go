package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/tui/pane"
)

// questionPlace is where a question was drawn last, for the mouse. The inner rectangles are relative
// to the top left of the dialog.
type questionPlace struct {
	x, y    int
	form    rect
	buttons []rect
	// hidden is how many lines of the server's text did not fit.
	hidden int
}

// long reports whether some of the server's text did not fit when it was drawn last.
func (q *question) long() bool { return q.drawn.hidden > 0 }

// said returns the lines of the question's text.
func (qs *questions) said(q *question, width int) []string {
	belongs := q.belongs()
	return q.said.Lines(qs.theme, belongs, width, func() []string {
		page := &sheet{theme: qs.theme, width: width}
		page.write(q)
		if belongs != "" {
			page.own(pane.Dim, belongs)
		}
		return page.lines
	})
}

// sheet collects toolx's own lines, and a server's lines after a bar, so that they cannot imitate toolx's.
type sheet struct {
	theme *pane.Theme
	width int
	lines []string
}

func (s *sheet) own(role pane.Role, text string) {
	s.lines = append(s.lines, s.theme.Paragraph(role, text, s.width)...)
}

// maxSaid limits the bytes of one text.
const maxSaid = 256 << 10

func (s *sheet) quote(text string) {
	cut := len(text) - maxSaid
	text = strings.ToValidUTF8(text[:min(len(text), maxSaid)], "")
	bar := " " + s.theme.Paint(pane.Accent, s.theme.Glyphs.Vertical) + " "
	for paragraph := range strings.SplitSeq(strings.TrimRight(render.SafeBlock(text), "\n"), "\n") {
		for _, line := range pane.Wrap(paragraph, s.width-3) {
			s.lines = append(s.lines, bar+line)
		}
	}
	if cut > 0 {
		s.own(pane.Warn, fmt.Sprintf("%s %s more not shown", s.theme.Glyphs.Warn, exec.Bytes(int64(cut))))
	}
}

// write writes the question's text. The host of a page comes first, so that no message can hide it.
func (s *sheet) write(q *question) {
	switch {
	case q.sampling != nil:
		s.writeSampling(q.sampling)
	case q.elicitation.URL != "":
		host, remarks := q.elicitation.Host()
		s.own(pane.Strong, "visit a page on "+render.Safe(host))
		for _, remark := range remarks {
			s.own(pane.Warn, s.theme.Glyphs.Warn+" "+remark)
		}
		s.own(pane.Dim, "Go there only if you trust that host.")
		s.quote(q.elicitation.Message)
		s.own(pane.Dim, "full address:")
		s.quote(q.elicitation.URL)
	default:
		s.quote(q.elicitation.Message)
	}
}

// writeSampling writes a conversation message by message, and the requirements for the answer.
func (s *sheet) writeSampling(asked *protocol.Sampling) {
	if asked.System != "" {
		s.own(pane.Strong, "system")
		s.quote(asked.System)
	}
	for _, message := range asked.Messages {
		switch message.Role {
		case "user", "assistant":
			s.own(pane.Strong, message.Role)
			s.quote(message.String())
		default:
			s.own(pane.Strong, "another role")
			s.quote("[" + message.Role + "] " + message.String())
		}
	}
	if preferences := asked.Preferences(); len(preferences) > 0 {
		s.own(pane.Strong, "wanted")
		s.quote(strings.Join(preferences, "; "))
	}
}

// belongs returns the call or request of a question, if known.
func (q *question) belongs() string {
	var names []string
	for _, c := range q.running() {
		name := "the call of " + render.Safe(c.name)
		if c.item.kind != kindTool {
			name = "the " + c.item.kind.String() + " " + render.Safe(c.name)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if q.inline {
		return ""
	}
	if len(names) == 0 {
		return "not for any of your calls"
	}
	return "for " + strings.Join(names, ", or ")
}

// The size of the dialog, in cells.
const (
	questionWidth = 96 // at most
	maxRemark     = 3  // lines
)

// render draws the question on the screen, no larger than necessary, and returns its position.
func (qs *questions) render(screenWidth, screenHeight int) (box string, x, y int) {
	q := qs.first()
	width := min(screenWidth, questionWidth)
	if screenWidth >= mediumWidth {
		width = min(screenWidth-4, questionWidth)
	}
	margin := 0 // at the left
	if screenWidth >= roomyWidth {
		margin = 1
	}
	inner := width - 2 - margin
	buttons, rects := qs.renderButtons(q, inner)
	said := qs.said(q, inner)
	remark := qs.remark(q, inner)
	room := screenHeight - 3 - len(buttons) - len(remark) // without the border, and the last line of the screen
	head, fill := q.share(len(said), room)
	q.drawn = questionPlace{hidden: max(0, len(said)-head), buttons: rects}
	how := ""
	if q.form != nil && !q.whole {
		how = ": ctrl+t"
	}
	lines := qs.theme.Scrolled(&q.list, said, head, how)
	if fill > 0 {
		q.drawn.form = rect{1 + margin, 1 + len(lines), inner, fill}
		lines = append(lines, strings.Split(q.form.Render(inner, fill), "\n")...)
	}
	lines = append(lines, remark...)
	for i := range q.drawn.buttons {
		q.drawn.buttons[i].x += margin
		q.drawn.buttons[i].y += 1 + len(lines)
	}
	lines = append(lines, buttons...)
	height := len(lines) + 2
	for i := range lines {
		lines[i] = strings.Repeat(" ", margin) + lines[i]
	}
	block := qs.theme.Block(lines, inner+margin, len(lines))
	frame := pane.Frame{Title: " " + qs.title(q), Role: pane.Accent, Extent: q.list.Extent()}
	box = qs.theme.Framed(frame, block, width, height)
	q.drawn.x, q.drawn.y = (screenWidth-width)/2, max(0, (screenHeight-1-height)/2)
	return box, q.drawn.x, q.drawn.y
}

// share divides the room between the server's text and the form.
func (q *question) share(said, room int) (head, fill int) {
	if q.form == nil || q.whole {
		return min(said, room), 0
	}
	head = min(said, max(1, (room+2)/3, room-q.wants()))
	return head, max(0, min(q.wants(), room-head))
}

// wants returns how many lines a form can use: for its fields, some rows or lines of text, and the remarks on one
// field.
func (q *question) wants() int { return q.fields + 7 }

// remark returns the lines above the buttons: the full reason why the last key did nothing; else a problem of the form,
// on a single line because it may change with every key; else other keys.
func (qs *questions) remark(q *question, width int) []string {
	sign := qs.theme.Glyphs.Warn + " "
	if q.note != "" {
		lines := qs.theme.Paragraph(pane.Warn, sign+q.note, width)
		return lines[:min(len(lines), maxRemark)]
	}
	if problem := q.cannotSend(); problem != "" {
		return []string{qs.theme.Paint(pane.Warn, qs.theme.Cut(sign+problem, width))}
	}
	hint := "f1 help"
	switch {
	case q.editing():
		hint = "esc stops typing  " + hint
	case q.noCall() == "":
		hint = "x cancels the call  " + hint
	}
	return []string{qs.theme.Paint(pane.Dim, hint)}
}

// title names the server, and how many questions are waiting.
func (qs *questions) title(q *question) string {
	title := qs.theme.Paint(pane.Strong, render.Safe(titleOf(q.server))) + " asks"
	if q.sampling != nil {
		title += " a model"
	}
	if n := len(qs.list); n > 1 {
		title = fmt.Sprintf("1 of %d  ", n) + title
	}
	return title
}

// renderButtons draws the ways to answer, in as many lines as necessary, and returns their positions.
func (qs *questions) renderButtons(q *question, width int) (lines []string, places []rect) {
	line, used := "", 0
	for i, binding := range qs.answers(q) {
		label := binding.Keys[0] + " " + binding.Help
		size := ansi.StringWidth(label)
		if used > 0 && used+2+size > width {
			lines = append(lines, line)
			line, used = "", 0
		}
		if used > 0 {
			line += "  "
			used += 2
		}
		places = append(places, rect{1 + used, len(lines), size, 1})
		switch {
		case i == q.button:
			label = qs.theme.Paint(pane.Inverse, label)
		case binding.Off != "":
			label = qs.theme.Paint(pane.Dim, label)
		default:
			label = qs.theme.Paint(pane.Strong, binding.Keys[0]) + " " + binding.Help
		}
		line += label
		used += size
	}
	return append(lines, line), places
}
