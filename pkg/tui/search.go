package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/sahilm/fuzzy"

	"toolx/pkg/render"
	"toolx/pkg/tui/markdown"
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

// found is a row that the finder lists, with its score.
type found struct {
	row
	score int
}

// The score of a word of the pattern, by where it is found. Shorter labels score higher.
const (
	isLabel       = 5000
	beginsLabel   = 4000
	beginsWord    = 3000 // within the label
	inLabel       = 2000
	inServer      = 1000
	inAddress     = 900 // the URI of a resource
	inLetters     = 500 // at most: its letters, in their order, are in the label
	inDescription = 100
	maxShortness  = 500
)

// searchable returns every row that can be found: servers, and all that they and toolx have.
func (t *tree) searchable() []row {
	var rows []row
	for _, g := range t.groups {
		if g.server != nil {
			rows = append(rows, row{group: g})
		}
		for _, s := range g.sections() {
			for _, one := range s.items {
				rows = append(rows, row{g, s.list, one})
			}
		}
	}
	return rows
}

// search returns the rows that match a pattern, best first, and toolx's own after those of servers. It looks for words
// in labels; if no row has all of them, for their letters; and finally for words in descriptions. A word after a
// question mark is looked for only in descriptions. added are additional scores, by the names of items. letters reports
// whether the rows match by letters.
func search(rows []row, pattern string, added map[string]int) (best []row, letters bool) {
	wanted := strings.Fields(strings.ToLower(pattern))
	for way, score := range []func(row, string) int{wordScore, letterScore, descriptionScore} {
		var list []found
		for _, r := range rows {
			if total := scoreOf(r, wanted, score); total > 0 {
				if !r.item.none() {
					total += added[r.item.Name]
				}
				list = append(list, found{r, total})
			}
		}
		if len(list) == 0 {
			continue
		}
		slices.SortStableFunc(list, func(a, b found) int {
			if own, others := a.group.builtIn, b.group.builtIn; own != others {
				if own {
					return 1
				}
				return -1
			}
			return cmp.Compare(b.score, a.score)
		})
		for _, one := range list {
			best = append(best, one.row)
		}
		return best, way == 1
	}
	return nil, false
}

// scoreOf returns how well a row matches all words, zero if it does not match one of them.
func scoreOf(r row, wanted []string, score func(row, string) int) int {
	total := 1 // an empty pattern matches every row
	for _, word := range wanted {
		var one int
		if about, ok := strings.CutPrefix(word, "?"); ok {
			one = descriptionScore(r, about)
		} else {
			one = score(r, word)
		}
		if one == 0 {
			return 0
		}
		total += one
	}
	return total
}

// wordScore looks for a word as it is: in the label, in the name of the server, in a URI.
func wordScore(r row, word string) int {
	label := strings.ToLower(r.label())
	at := strings.Index(label, word)
	if at < 0 {
		switch {
		case r.item.none() || r.group.server == nil:
		case strings.Contains(strings.ToLower(r.group.server.name), word):
			return inServer
		case r.item.resource() && strings.Contains(strings.ToLower(r.item.Plain), word):
			return inAddress
		}
		return 0
	}
	short := max(1, maxShortness-len(label))
	switch {
	case label == word:
		return isLabel + short
	case at == 0:
		return beginsLabel + short
	case startsWord(r.label(), word):
		return beginsWord + short
	}
	return inLabel + short
}

// startsWord reports whether a word of a label begins with a text in lower case: after a sign, or with a capital
// letter.
func startsWord(label, text string) bool {
	before := utf8.RuneError
	for i, char := range label {
		afterSign := !unicode.IsLetter(before) && !unicode.IsDigit(before)
		capital := unicode.IsLower(before) && unicode.IsUpper(char)
		if (afterSign || capital) && strings.HasPrefix(strings.ToLower(label[i:]), text) {
			return true
		}
		before = char
	}
	return false
}

// letterScore looks for the letters of a word, in their order, in the label.
func letterScore(r row, word string) int {
	if one := wordScore(r, word); one > 0 {
		return one
	}
	if matches := fuzzy.Find(word, []string{r.label()}); len(matches) > 0 {
		return max(1, min(inLetters, inLetters/2+matches[0].Score))
	}
	return 0
}

// descriptionScore looks for a word in the title and the description.
func descriptionScore(r row, word string) int {
	if one := wordScore(r, word); one > 0 && word != "" {
		return one
	}
	if !r.item.none() && strings.Contains(strings.ToLower(r.item.Title+"\n"+r.item.Description), word) {
		return inDescription
	}
	return 0
}

// label returns the name under which a row is found.
func (r row) label() string {
	switch {
	case !r.item.none():
		return r.item.label()
	case r.group != nil && r.group.server != nil:
		return r.group.server.name
	}
	return ""
}

// marked draws the label of a row and highlights the matches of the pattern.
func (t *tree) marked(r row) string {
	label := r.label()
	hits := make([]bool, len(label))
	lower := strings.ToLower(label)
	for _, word := range strings.Fields(strings.ToLower(t.filter.Value())) {
		if strings.HasPrefix(word, "?") || len(lower) != len(label) {
			continue // offsets are not those of the label
		}
		if at := strings.Index(lower, word); at >= 0 {
			for i := range len(word) {
				hits[at+i] = true
			}
			continue
		}
		if matches := fuzzy.Find(word, []string{label}); t.letters && len(matches) > 0 {
			for _, at := range matches[0].MatchedIndexes {
				hits[at] = true
			}
		}
	}
	var out strings.Builder
	for from := 0; from < len(label); {
		to := from + 1
		for to < len(label) && (hits[to] == hits[from] || !utf8.RuneStart(label[to])) {
			to++
		}
		role := pane.Plain
		if hits[from] {
			role = pane.Found
		}
		out.WriteString(t.theme.Paint(role, render.Safe(label[from:to])))
		from = to
	}
	return out.String()
}

// foundLine draws a row of the finder: "server · tool", its badges, and the first words of its description.
func (t *tree) foundLine(r row, width int) string {
	line := t.marked(r)
	if r.item.none() {
		return t.theme.Cut(line+" "+t.state(r.group.server), width)
	}
	line = t.theme.Paint(pane.Dim, render.Safe(r.group.name())+" "+t.theme.Glyphs.Dot+" ") + line
	if badges := t.badges(r.item, width); badges != "" {
		line += "  " + badges
	}
	told := words.FirstLine(words.Head(r.item.Description, 4*width))
	if strings.ContainsAny(told, "*`[#") { // it may be Markdown
		told = ansi.Strip(words.FirstLine(strings.Join(markdown.Render(told, 4*width, t.theme), "\n")))
	}
	if r.item.kind != kindTool {
		told = strings.TrimSuffix(r.item.kind.String()+": "+told, ": ")
	}
	if told != "" && ansi.StringWidth(line)+6 < width {
		line += "  " + t.theme.Paint(pane.Dim, render.Safe(told))
	}
	return t.theme.Cut(line, width)
}

// inputLine draws the typed text, and how many of all rows it finds.
func (t *tree) inputLine(width int) string {
	count := fmt.Sprintf("%d of %d", len(t.rows), t.all)
	room := width - len(count) - 1
	if room < 8 {
		room, count = width, ""
	}
	t.filter.SetWidth(max(1, room-3))
	return t.theme.Fit(t.filter.View(), room) + " " + t.theme.Paint(pane.Dim, count)
}
