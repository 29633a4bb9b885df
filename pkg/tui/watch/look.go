package watch

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"toolx/pkg/mask"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// look is what all tabs need to draw.
type look struct {
	theme *pane.Theme
	hide  func(string) string
	now   func() time.Time
	focus bool

	// selected says that server and tool are selected on the screen; an empty server stands for
	// toolx's own tools.
	selected     bool
	server, tool string
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
func (l *look) maskedJSON(text string) json.RawMessage {
	if l.hide == nil {
		return json.RawMessage(text)
	}
	var byName *mask.Masker
	return json.RawMessage(l.masked(string(byName.JSON([]byte(text)))))
}

// cutText copies at most limit bytes of text, to a character's border, so that the rest can be freed.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for at := limit; at > max(0, limit-utf8.UTFMax); at-- {
		if utf8.RuneStart(text[at]) {
			limit = at
			break
		}
	}
	return strings.Clone(text[:limit])
}

// row returns a row of the screen: text at its left, and at its right the part that stays when the
// text is too long.
func (l *look) row(left, right string, width int) string {
	if right == "" {
		return l.theme.Fit(left, width)
	}
	right = l.theme.Cut(right, max(0, width*2/3))
	wide := l.theme.Width(right)
	return l.theme.Fit(left, width-wide-1) + l.theme.Fit(" "+right, min(width, wide+1))
}

// clock formats a time of day, with the date unless it is today.
func (l *look) clock(at time.Time) string {
	now := l.now()
	at = at.In(now.Location())
	if at.YearDay() != now.YearDay() || at.Year() != now.Year() {
		return at.Format("2006-01-02 15:04:05.000")
	}
	return at.Format("15:04:05.000")
}

// dash begins the line of an event in the life of a process.
func (l *look) dash() string { return strings.Repeat(l.theme.Glyphs.Horizontal, 2) }

// duration is pane.Duration with one more digit where latencies differ in it: "3.2 ms".
func duration(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	}
	return pane.Duration(d)
}

// keep copies the beginning of a text, at most maxText bytes.
func keep(text []byte) string {
	return cutText(string(text[:min(len(text), maxText+1)]), maxText)
}

// holds reports whether text contains another text, which is in lower case.
func holds(text, lower string) bool {
	return strings.Contains(strings.ToLower(text), lower)
}

// emphasize highlights the search text in an unstyled line.
func (l *look) emphasize(line, lower string) string {
	folded := strings.ToLower(line)
	if lower == "" || len(folded) != len(line) { // places are not the same
		return line
	}
	var out strings.Builder
	for {
		at := strings.Index(folded, lower)
		if at < 0 {
			return out.String() + line
		}
		end := at + len(lower)
		out.WriteString(line[:at] + l.theme.Paint(pane.Heading, line[at:end]))
		line, folded = line[end:], folded[end:]
	}
}
