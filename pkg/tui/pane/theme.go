package pane

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Role is the role of a piece of text, which decides its style.
type Role int

// The roles.
const (
	Plain    Role = iota
	Dim           // less important text
	Strong        // names
	Heading       // titles
	Accent        // things to find quickly
	Good          // success
	Warn          // warnings
	Bad           // failures
	Selected      // the row under the cursor, in the pane with focus
	Inverse       // a text cursor, a chosen button, the match that was found last
	Marked        // the row under the cursor, in another pane
	Tinted        // the same, on a terminal that has colours to tint it
	Bar           // the title of the pane with focus
	Found         // matches of a pattern in a row
	Badge         // a tool's annotations
	Number        // values by their kind, in JSON
	Text
	Word // true, false, null
	Name // of a member
)

// Theme holds the styles of roles on one terminal. A Theme without colour uses only bold, faint and
// reverse: no information depends on colour.
type Theme struct {
	// Glyphs are the signs that are not letters.
	Glyphs Glyphs
	// Clusters reports whether the terminal draws grapheme clusters as one sign with the width of one (mode
	// 2027). Bubble Tea asks the terminal for it, and then draws clusters too.
	Clusters bool
	// Tints reports whether the row under the cursor has a background of its own; elsewhere it is reversed.
	Tints bool
	// Fine reports whether the terminal has more than 16 colours.
	Fine bool

	ascii   bool
	under   *strings.Replacer // changes styles that the row under the cursor would hide
	codes   map[Role]code
	version int // counts changes
}

// Tint gives the row under the cursor a background between the colours of the terminal's background and text, which
// needs more than 16 colours; dark reports whether the background is dark.
func (t *Theme) Tint(dark bool) {
	// Greys from the palette of 256 colours: other greys get a tint there, such as cyan for #eaeef2.
	strong, weak := "#d0d0d0", "#eeeeee"
	if dark {
		strong, weak = "#3a3a3a", "#262626"
	}
	t.Tints, t.Fine, t.under = true, true, strings.NewReplacer()
	t.codes[Selected] = codeOf(lipgloss.NewStyle().Background(lipgloss.Color(strong)))
	t.codes[Tinted] = codeOf(lipgloss.NewStyle().Background(lipgloss.Color(weak)))
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
	Vertical       string
	Horizontal     string
	Corners        [4]string // of borders: top left, top right, bottom left, bottom right
	Thumb          string    // of a scroll bar
	Bars           []string  // rising heights
	Spinner        []string
	Filled, Hollow string // of a progress bar
	Left, Right    string // arrows
	Prompt, Again  string // ahead of text to type, and beside a call to repeat
	Pointer        string // ahead of the selected row of the palette
}

// NewTheme returns the theme of a terminal: color reports whether it shows colour, dark whether its
// background is dark, ascii whether it can only show ASCII.
func NewTheme(color, dark, ascii bool) *Theme {
	t := &Theme{Glyphs: unicodeGlyphs(), ascii: ascii, codes: make(map[Role]code)}
	if ascii {
		t.Glyphs = asciiGlyphs()
	}
	styles := plainStyles()
	if color {
		styles = colorStyles(dark)
	}
	for role, style := range styles {
		t.codes[role] = codeOf(style)
	}
	t.under = strings.NewReplacer(t.codes[Dim].open, "", t.codes[Inverse].open, unreversed)
	if color && dark {
		// Blue, because each palette has a dark blue; blue text becomes white. The palettes of light terminals have no
		// colour on which all others are readable.
		t.Tints = true
		t.codes[Selected] = codeOf(lipgloss.NewStyle().Background(lipgloss.Color("4")))
		white := codeOf(lipgloss.NewStyle().Foreground(lipgloss.Color("15"))).open
		strong := codeOf(lipgloss.NewStyle().Foreground(lipgloss.Color("15")).Bold(true)).open
		t.under = strings.NewReplacer(t.codes[Name].open, white, t.codes[Heading].open, strong, t.codes[Dim].open, "")
	}
	return t
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
		Bars:    []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
		Spinner: []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"},
		Filled:  "█", Hollow: "░", Left: "←", Right: "→", Prompt: "❯", Again: "⟳", Pointer: "▌",
	}
}

func asciiGlyphs() Glyphs {
	return Glyphs{
		Open: "-", Closed: "+", Good: "ok", Bad: "x", Warn: "!", Cursor: ">", More: "~", Bullet: "*", Dot: ":",
		On: "(x)", Off: "( )",
		Vertical: "|", Horizontal: "-", Corners: [4]string{"+", "+", "+", "+"}, Thumb: "#",
		Bars:    []string{"_", ".", "-", "=", "#"},
		Spinner: []string{"|", "/", "-", `\`},
		Filled:  "#", Hollow: ".", Left: "<-", Right: "->", Prompt: ">", Again: "@", Pointer: ">",
	}
}

func plainStyles() map[Role]lipgloss.Style {
	style := lipgloss.NewStyle()
	return map[Role]lipgloss.Style{
		Dim: style.Faint(true), Strong: style.Bold(true), Heading: style.Bold(true).Underline(true),
		Found:  style.Bold(true).Underline(true),
		Accent: style.Bold(true), Bad: style.Bold(true), Selected: style.Reverse(true), Inverse: style.Reverse(true),
		Marked: style.Bold(true), Bar: style.Bold(true).Reverse(true),
	}
}

// colorStyles uses the sixteen colours that a terminal's theme defines; the brighter half on a dark background.
func colorStyles(dark bool) map[Role]lipgloss.Style {
	style := lipgloss.NewStyle()
	pick := func(onLight, onDark string) lipgloss.Style {
		if dark {
			return style.Foreground(lipgloss.Color(onDark))
		}
		return style.Foreground(lipgloss.Color(onLight))
	}
	return map[Role]lipgloss.Style{
		Dim: style.Faint(true), Strong: style.Bold(true), Heading: pick("4", "12").Bold(true),
		Found:  pick("5", "13").Bold(true).Underline(true),
		Accent: pick("6", "14"), Good: pick("2", "10"), Warn: pick("3", "11"), Bad: pick("1", "9").Bold(true),
		Selected: style.Reverse(true), Inverse: style.Reverse(true), Marked: style.Bold(true).Underline(true),
		Bar:    pick("6", "14").Reverse(true).Bold(true),
		Badge:  pick("5", "13"),
		Number: pick("6", "14"), Text: pick("2", "10"), Word: pick("5", "13"), Name: pick("4", "12"),
	}
}
