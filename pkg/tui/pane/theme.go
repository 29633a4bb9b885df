package pane

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Role is the role of a piece of text, which decides its style. Colour means state; it never decorates.
type Role int

// The roles.
const (
	Plain    Role = iota
	Dim           // less important text, and the names of values
	Strong        // names and headings
	Accent        // what has the focus, and what runs
	Good          // success
	Warn          // warnings, and what is slow
	Bad           // failures
	Selected      // the row under the cursor and the title of the pane with focus
	Alarm         // failures in the title of the pane with focus
	Tinted        // the row under the cursor in another pane
	Inverse       // a text cursor, a chosen button, the match that was found last
	Found         // matches of a pattern
	Behind        // the screen behind a dialog
)

// Theme holds the styles of roles on one terminal. A Theme without colour uses only bold, faint, underline and
// reverse: no information depends on colour.
type Theme struct {
	// Glyphs are the signs that are not letters.
	Glyphs Glyphs
	// Clusters reports whether the terminal draws grapheme clusters as one sign with the width of one (mode
	// 2027). Bubble Tea asks the terminal for it, and then draws clusters too.
	Clusters bool
	// Fine reports whether the terminal has more than 16 colours.
	Fine bool

	ascii   bool
	under   *strings.Replacer // removes colours that would be unreadable under the cursor
	titled  *strings.Replacer // the same in the title of the pane with focus, but for failures
	codes   map[Role]code
	version int // counts changes
}

// unreversed ends reversing.
const unreversed = "\x1b[27m"

// code is what begins and what ends text in a style.
type code struct{ open, end string }

// codeOf makes the code of a style once, because drawing a style takes longer than the rest of a line.
func codeOf(style lipgloss.Style) code {
	const mark = "\x00"
	open, end, _ := strings.Cut(style.Render(mark), mark)
	return code{open, end}
}

// Change makes the theme look like another. All panes share one theme, so there is no need to update them.
func (t *Theme) Change(to *Theme) {
	version := t.version + 1
	*t = *to
	t.version = version
}

// Glyphs are the signs that panes draw; plain terminals get ASCII.
type Glyphs struct {
	Open, Closed   string // a group whose rows are shown, or hidden
	Good, Bad      string
	Warn           string
	Cursor         string // ahead of the selected row
	More           string // text goes on
	Bullet         string
	Dot            string // between a server and what it has
	On, Off        string // of a switch
	ReadOnly       string // of a tool that changes nothing
	Destructive    string // of a tool that may destroy something
	Vertical       string
	Horizontal     string
	Corners        [4]string // of borders: top left, top right, bottom left, bottom right
	Thumb          string    // of a scroll bar
	Bars           []string  // rising heights
	Spinner        []string
	Filled, Hollow string // of a progress bar
	Left, Right    string // arrows
	Prompt, Again  string // ahead of text to type, and beside a call to repeat
}

// NewTheme returns the theme of a terminal: color reports whether it shows colour, dark whether its
// background is dark, ascii whether it can only show ASCII.
func NewTheme(color, dark, ascii bool) *Theme {
	t := &Theme{Glyphs: unicodeGlyphs(), ascii: ascii}
	if ascii {
		t.Glyphs = asciiGlyphs()
	}
	switch {
	case !color:
		t.setStyles(plainStyles())
	case dark:
		t.setStyles(coloredStyles(palette{accent: "14", good: "10", warn: "11", bad: "9", bar: "14", onBar: "0"}))
	default:
		t.setStyles(coloredStyles(palette{accent: "4", good: "2", warn: "3", bad: "1", bar: "4", onBar: "15"}))
	}
	return t
}

// FixColors replaces the colours, which a terminal with 16 of them defines, with colours that are readable on usual
// backgrounds. They are those of the palette of 256 colours, so that they look the same with more.
func (t *Theme) FixColors(dark bool) {
	t.Fine = true
	if dark {
		t.setStyles(coloredStyles(palette{
			dim: "#a8a8a8", accent: "#5fafff", good: "#5fd787", warn: "#ffaf00", bad: "#ff8787",
			bar: "#5fafff", onBar: "#000000", tint: "#3a3a3a", onTint: "#eeeeee",
		}))
		return
	}
	t.setStyles(coloredStyles(palette{
		dim: "#585858", accent: "#005faf", good: "#005f00", warn: "#875f00", bad: "#af0000",
		bar: "#005faf", onBar: "#ffffff", tint: "#e4e4e4", onTint: "#1c1c1c",
	}))
}

// setStyles prepares the styles for drawing.
func (t *Theme) setStyles(styles map[Role]lipgloss.Style) {
	t.codes = make(map[Role]code)
	var flat []string
	for role, style := range styles {
		t.codes[role] = codeOf(style)
		switch {
		case role == Selected || role == Tinted || role == Alarm:
		case role == Inverse && styles[Selected].GetReverse():
			flat = append(flat, t.codes[role].open, unreversed)
		case style.GetFaint():
			flat = append(flat, t.codes[role].open, "")
		default:
			flat = append(flat, t.codes[role].open, codeOf(style.UnsetForeground()).open)
		}
	}
	t.under = strings.NewReplacer(flat...)
	t.titled = strings.NewReplacer(append([]string{t.codes[Bad].open, t.codes[Alarm].open}, flat...)...)
}

// Paint styles text of one line for a role. Tabs become spaces, because their width varies.
func (t *Theme) Paint(role Role, text string) string {
	if strings.IndexByte(text, '\t') >= 0 {
		text = strings.ReplaceAll(text, "\t", "    ")
	}
	code := t.codes[role]
	if code.open == "" || text == "" {
		return text
	}
	return code.open + text + code.end
}

// DrawsPixels reports whether the terminal has the signs and the colours that pictures are drawn with.
func (t *Theme) DrawsPixels() bool { return t.Fine && !t.ascii }

// Signs replaces the signs in a text of toolx's own that a terminal for ASCII cannot show.
func (t *Theme) Signs(text string) string {
	if !t.ascii {
		return text
	}
	return strings.NewReplacer("✓", "ok", "✗", "x", "·", ":", "×", "x", "…", "~",
		"▶", ">", "◀", "<", "◇", "*", "◆", "o", "■", "#", "├", "|", "┤", "|").Replace(text)
}

func unicodeGlyphs() Glyphs {
	return Glyphs{
		Open: "▾", Closed: "▸", Good: "✓", Bad: "✗", Warn: "!", Cursor: "›", More: "…", Bullet: "•", Dot: "·",
		On: "◉", Off: "○", Vertical: "│", Horizontal: "─", Corners: [4]string{"╭", "╮", "╰", "╯"}, Thumb: "┃",
		ReadOnly: "○", Destructive: "⚠",
		Bars:    []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
		Spinner: []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"},
		Filled:  "█", Hollow: "░", Left: "←", Right: "→", Prompt: "❯", Again: "⟳",
	}
}

func asciiGlyphs() Glyphs {
	return Glyphs{
		Open: "-", Closed: "+", Good: "ok", Bad: "x", Warn: "!", Cursor: ">", More: "~", Bullet: "*", Dot: ":",
		On: "(x)", Off: "( )", ReadOnly: "o", Destructive: "!",
		Vertical: "|", Horizontal: "-", Corners: [4]string{"+", "+", "+", "+"}, Thumb: "#",
		Bars:    []string{"_", ".", "-", "=", "#"},
		Spinner: []string{"|", "/", "-", `\`},
		Filled:  "#", Hollow: ".", Left: "<-", Right: "->", Prompt: ">", Again: "@",
	}
}

func plainStyles() map[Role]lipgloss.Style {
	style := lipgloss.NewStyle()
	bold := style.Bold(true)
	return map[Role]lipgloss.Style{
		Dim: style.Faint(true), Behind: style.Faint(true),
		Strong: bold, Accent: bold, Bad: bold, Found: bold.Underline(true),
		Selected: style.Reverse(true), Tinted: style.Underline(true), Inverse: style.Reverse(true),
		Alarm: style.Reverse(true).Bold(true),
	}
}

// palette has the colours of a theme. An empty dim is faint text, an empty tint underlined text.
type palette struct {
	dim, accent, good, warn, bad string
	bar, onBar, tint, onTint     string // backgrounds, and text on them
}

func coloredStyles(p palette) map[Role]lipgloss.Style {
	styles := plainStyles()
	ink := func(color string) lipgloss.Style { return lipgloss.NewStyle().Foreground(lipgloss.Color(color)) }
	styles[Accent], styles[Good], styles[Warn] = ink(p.accent), ink(p.good), ink(p.warn)
	styles[Bad] = ink(p.bad).Bold(true)
	styles[Found] = ink(p.accent).Bold(true).Underline(true)
	styles[Selected] = ink(p.onBar).Background(lipgloss.Color(p.bar))
	styles[Alarm] = ink(p.onBar).Background(lipgloss.Color(p.bad)).Bold(true)
	if p.dim != "" {
		styles[Dim], styles[Behind] = ink(p.dim), ink(p.dim).Faint(true)
		styles[Tinted] = ink(p.onTint).Background(lipgloss.Color(p.tint))
	}
	return styles
}
