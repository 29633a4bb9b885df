package tui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers"
	"toolx/pkg/tui/form"
	"toolx/pkg/tui/pane"
)

// questionPlace is where a question was drawn last, for the mouse. The rectangles of
// what is inside count from the dialog's top left.
type questionPlace struct {
	x, y    int
	form    rect
	buttons []rect
	// hidden is how many lines of what the server says have no room.
	hidden int
}

// answerField is the only field of the form in which the user plays a model.
const answerField = "answer"

// open makes the form of a question, filled in with the defaults of its schema.
func (q *question) open(theme *pane.Theme) {
	schema, start := json.RawMessage(answerSchema), json.RawMessage(nil)
	if q.elicitation != nil {
		schema, start = q.elicitation.Schema, q.elicitation.Fill(nil)
	}
	var document struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	// What cannot be read has no fields; the form shows it as JSON all the same.
	unread := json.Unmarshal(schema, &document) != nil
	q.fields = len(document.Properties)
	if q.elicitation != nil && q.elicitation.URL != "" || q.fields == 0 && !unread {
		return
	}
	tool, err := exec.NewTool(rawjson.Object([]rawjson.Member{
		rawjson.NewMember("name", rawjson.Quote("answer")), rawjson.NewMember("inputSchema", schema),
	}))
	if err != nil {
		return // it is no object, which readElicitation refuses
	}
	q.form = form.New(tool, theme)
	q.form.HoldFormats()
	if len(start) > 0 {
		_ = q.form.SetArguments(start) // Fill gives an object
	}
	q.focus(inForm)
}

// answerSchema is that of what a model would say.
const answerSchema = `{"type":"object","required":["` + answerField + `"],"properties":{"` + answerField +
	`":{"type":"string","description":"What the model would say; ctrl+j begins a new line."}}}`

// answerOf is the text that a user has typed in a model's place.
func answerOf(content json.RawMessage) string {
	var fields map[string]string
	_ = json.Unmarshal(content, &fields) // the form has one field, of text
	return fields[answerField]
}

// long says whether not all that the server says had room when it was drawn last.
func (q *question) long() bool { return q.drawn.hidden > 0 }

// said are the lines that tell what is asked: toolx's own, then those of the server
// behind a bar, so that they cannot pass for toolx's.
func (m *model) said(q *question, width int) []string {
	var lines []string
	own := func(role pane.Role, text string) {
		if text == "" {
			return
		}
		for _, line := range pane.Wrap(text, width) {
			lines = append(lines, m.theme.Paint(role, line))
		}
	}
	quote := func(text string) {
		bar := m.theme.Paint(pane.Accent, m.theme.Glyphs.Vertical) + " "
		for paragraph := range strings.SplitSeq(strings.TrimRight(render.SafeBlock(text), "\n"), "\n") {
			for _, line := range pane.Wrap(paragraph, width-2) {
				lines = append(lines, bar+line)
			}
		}
	}
	own(pane.Dim, q.belongs())
	switch {
	case q.sampling != nil:
		for _, part := range samplingParts(q.sampling) {
			own(pane.Heading, part.head)
			quote(part.text)
		}
		own(pane.Dim, samplingWishes(q.sampling))
	case q.elicitation.URL != "": // the host comes first, where no message can hide it
		host, remarks := q.elicitation.Host()
		own(pane.Strong, "visit a page on "+render.Safe(host))
		for _, remark := range remarks {
			own(pane.Warn, m.theme.Glyphs.Warn+" "+remark)
		}
		own(pane.Dim, "Go there only if you trust that host.")
		quote(q.elicitation.Message)
		own(pane.Dim, "the whole address:")
		quote(q.elicitation.URL)
	default:
		quote(q.elicitation.Message)
	}
	return lines
}

// belongs says which call a question is for, as far as that is known.
func (q *question) belongs() string {
	var names []string
	for _, c := range q.running() {
		if name := render.Safe(c.item.Name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return "for no call of yours"
	case 1:
		return "for the call of " + names[0]
	}
	return "for a call of one of " + strings.Join(names, ", ")
}

// samplingPart is one message to the model, under its role.
type samplingPart struct{ head, text string }

func samplingParts(asked *servers.Sampling) []samplingPart {
	var parts []samplingPart
	if asked.System != "" {
		parts = append(parts, samplingPart{"system", asked.System})
	}
	for _, message := range asked.Messages {
		parts = append(parts, samplingPart{render.Safe(message.Role), message.String()})
	}
	return parts
}

// samplingWishes are what the server would like of the answer.
func samplingWishes(asked *servers.Sampling) string {
	var wishes []string
	if len(asked.Hints) > 0 {
		wishes = append(wishes, "a model like "+strings.Join(asked.Hints, ", "))
	}
	if asked.MaxTokens > 0 {
		wishes = append(wishes, "at most "+exec.Count(int(asked.MaxTokens), "token"))
	}
	if asked.Temperature != "" {
		wishes = append(wishes, "temperature "+asked.Temperature.String())
	}
	for _, stop := range asked.Stops {
		wishes = append(wishes, fmt.Sprintf("ends at %q", stop))
	}
	if len(wishes) == 0 {
		return ""
	}
	return "wanted: " + render.Safe(strings.Join(wishes, "; "))
}

// The size of the dialog, in cells.
const (
	questionWidth = 96 // at most
	formMinimum   = 4  // lines that a form gets before what the server says
)

// renderQuestion draws the question that is asked, no larger than it needs to be, and
// says where on the screen.
func (m *model) renderQuestion(q *question) (box string, x, y int) {
	width := min(m.width, questionWidth)
	if m.width >= mediumWidth {
		width = min(m.width-4, questionWidth)
	}
	inner := width - 2
	buttons, rects := m.renderButtons(q, inner)
	said := m.said(q, inner)
	room := m.height - 3 - len(buttons) - 1 // the border, the last line of the screen, the remark
	head, fill := q.share(len(said), room)
	q.drawn = questionPlace{hidden: max(0, len(said)-head), buttons: rects}
	lines := m.window(q, said, head)
	if fill > 0 {
		q.drawn.form = rect{1, 1 + len(lines), inner, fill}
		lines = append(lines, strings.Split(q.form.Render(inner, fill), "\n")...)
	}
	lines = append(lines, m.remark(q))
	for i := range q.drawn.buttons {
		q.drawn.buttons[i].y += 1 + len(lines)
	}
	lines = append(lines, buttons...)
	height := len(lines) + 2
	box = m.theme.Box(m.questionTitle(q), m.theme.Block(lines, inner, len(lines)), width, height, true)
	q.drawn.x, q.drawn.y = (m.width-width)/2, max(0, (m.height-1-height)/2)
	return box, q.drawn.x, q.drawn.y
}

// share splits the room between what the server says and the form.
func (q *question) share(said, room int) (head, fill int) {
	if q.form == nil || q.whole {
		return min(said, room), 0
	}
	head = min(said, max(1, room/3))
	if said <= room-q.wants() { // both fit
		head = said
	}
	return head, max(0, min(q.wants(), room-head))
}

// wants is how many lines a form needs at the most: its fields, and what is said about
// one of them.
func (q *question) wants() int { return max(formMinimum, q.fields+4) }

// window is the part of what the server says that is seen.
func (m *model) window(q *question, said []string, height int) []string {
	q.top = max(0, min(q.top, len(said)-height))
	lines := slices.Clone(said[q.top : q.top+height])
	if rest := len(said) - q.top - height; rest > 0 && height > 0 {
		how := ""
		if q.form != nil && !q.whole {
			how = ": ctrl+t"
		}
		last := m.theme.Paint(pane.Dim, fmt.Sprintf("%s %s%s", m.theme.Glyphs.More, exec.Count(rest+1, "more line"), how))
		lines[height-1] = last
	}
	return lines
}

// remark is the line above the buttons: what is wrong, else what more keys do.
func (m *model) remark(q *question) string {
	if text := cmp.Or(q.note, q.cannotSend()); text != "" {
		return m.theme.Paint(pane.Warn, m.theme.Glyphs.Warn+" "+text)
	}
	hint := "f1 help"
	switch {
	case q.editing():
		hint = "esc stops typing  " + hint
	case q.noAsker() == "":
		hint = "x cancels the call  " + hint
	}
	return m.theme.Paint(pane.Dim, hint)
}

// questionTitle says who asks, and how many wait behind.
func (m *model) questionTitle(q *question) string {
	title := m.theme.Paint(pane.Strong, "server "+render.Safe(q.server)) + " asks"
	if q.sampling != nil {
		title += " a model"
	}
	if n := len(m.questions); n > 1 {
		title = fmt.Sprintf("1 of %d  ", n) + title
	}
	return title
}

// renderButtons draws the ways to answer, in as many lines as they need, and says where
// each stands in them.
func (m *model) renderButtons(q *question, width int) (lines []string, places []rect) {
	line, used := "", 0
	for i, binding := range m.questionKeys(q) {
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
			label = m.theme.Paint(pane.Selected, label)
		case binding.Off != "":
			label = m.theme.Paint(pane.Dim, label)
		default:
			label = m.theme.Paint(pane.Strong, binding.Keys[0]) + " " + binding.Help
		}
		line += label
		used += size
	}
	return append(lines, line), places
}
