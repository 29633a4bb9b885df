package watch

import (
	"encoding/json"
	"strings"
	"time"

	"toolx/pkg/mask"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

// look is what all tabs need to draw.
type look struct {
	theme *pane.Theme
	hide  func(string) string
	now   func() time.Time
	focus bool

	// selected reports whether server and tool are selected on the screen. An empty server is toolx's own tools.
	selected     bool
	server, tool string
	// call is the call that is followed, between from and to; it is empty if none is.
	call     string
	from, to time.Time
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
	return strings.Clone(words.Head(text, limit))
}

// row returns a row of the screen: columns at its left, and at its right the part that stays when there
// is too little room for all of them.
func (l *look) row(columns []string, right string, width int) string {
	left := strings.Join(columns, " ")
	if right == "" {
		return l.theme.Fit(left, width)
	}
	right = l.theme.Cut(right, max(0, width*2/3))
	wide := l.theme.Width(right)
	return l.theme.Fit(left, width-wide-1) + l.theme.Fit(" "+right, min(width, wide+1))
}

// clockColumn returns a time as a column, if rows are at least least wide.
func (l *look) clockColumn(at time.Time, width, least int) []string {
	if width < least {
		return nil
	}
	return []string{l.theme.Paint(pane.Dim, l.clock(at))}
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

// holds reports whether text contains another text, which is in lower case.
func holds(text, lower string) bool {
	return strings.Contains(strings.ToLower(text), lower)
}
