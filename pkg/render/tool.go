package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/jsonschema"
	"toolx/pkg/words"
)

// ToolFacts are what show prints about a tool besides its definition.
type ToolFacts struct {
	Example string        // a command line that works; empty leaves it out
	Timeout time.Duration // of its calls; zero leaves it out
	App     []string      // facts about its app, one per line; nil leaves it out
}

// Tool describes a tool: what it does, its parameters in the order of the schema, nested ones indented, its result, and
// an example. On a terminal it fits the width; elsewhere no line is broken or cut.
func Tool(out io.Writer, tool *exec.Tool, facts ToolFacts, screen Screen) error {
	w := &toolWriter{out: bufio.NewWriter(out), screen: screen}
	w.head(tool)
	w.section("Parameters", parameterRows(tool.Input()), "none")
	if len(tool.OutputSchema) > 0 {
		w.section("Result", parameterRows(tool.Output()), newTyper().nodeType(tool.Output().Root(), 1))
	}
	if len(facts.App) > 0 {
		w.heading("App")
	}
	for _, fact := range facts.App {
		w.paragraph("  ", Safe(fact))
	}
	if facts.Timeout > 0 {
		w.heading("Timeout")
		w.line("  " + facts.Timeout.String())
	}
	if facts.Example != "" {
		w.heading("Example")
		w.line("  " + SafeBlock(facts.Example)) // not wrapped, so that it can be copied
	}
	return w.out.Flush()
}

// ToolJSON writes a tool's definition, byte for byte.
func ToolJSON(out io.Writer, tool *exec.Tool, screen Screen) error {
	return buffered(out, func(out *bufio.Writer) error { return WriteJSONLine(out, tool.Definition, screen) })
}

type toolWriter struct {
	out    *bufio.Writer
	screen Screen
}

func (w *toolWriter) line(text string) { fmt.Fprintln(w.out, text) }

func (w *toolWriter) heading(text string) {
	w.line("")
	w.line(w.screen.Paint(RoleHeading, text))
}

// paragraph writes safe text, wrapped, below a margin.
func (w *toolWriter) paragraph(margin, text string) {
	room := 0
	if width := w.screen.Columns(); width > 0 {
		room = max(20, width-len(margin))
	}
	for _, line := range Wrap(text, room) {
		w.line(strings.TrimRight(margin+line, " "))
	}
}

func (w *toolWriter) head(tool *exec.Tool) {
	line := w.screen.Paint(roleName, Safe(tool.Name))
	if tool.Title != "" && tool.Title != tool.Name {
		line += "  " + Safe(tool.Title)
	}
	if badges := paintBadges(Badges(tool), w.screen); badges != "" {
		line += "  " + strings.TrimRight(badges, " ")
	}
	w.line(line)
	if description := strings.TrimSpace(tool.Description); description != "" {
		w.line("")
		w.paragraph("  ", SafeBlock(description))
	}
}

// section writes a table of parameters, or another text if there are none.
func (w *toolWriter) section(title string, rows []parameterRow, without string) {
	w.heading(title)
	if len(rows) == 0 {
		w.paragraph("  ", without)
		return
	}
	names, types := 0, 0
	if width := w.screen.Columns(); width > 0 {
		most := max(10, width/3)
		for _, row := range rows {
			names, types = max(names, ansi.StringWidth(row.name)), max(types, ansi.StringWidth(row.kind))
		}
		names, types = min(names, most), min(types, most)
	} else { // without a limit, only rows with a very long name or type are longer
		const widestName, widestType = 40, 32
		for _, row := range rows {
			names = wider(names, row.name, widestName)
			types = wider(types, row.kind, widestType)
		}
	}
	for _, row := range rows {
		w.row(row, names, types)
	}
}

// wider returns the greater of a column's width and that of a text, unless that is more than most.
func wider(column int, text string, most int) int {
	if width := ansi.StringWidth(text); width <= most {
		return max(column, width)
	}
	return column
}

// row writes name, type and need side by side, and the rest below.
func (w *toolWriter) row(row parameterRow, names, types int) {
	need := w.screen.Paint(RoleMuted, "optional")
	if row.required {
		need = w.screen.Paint(RoleWarning, "required")
	}
	name, kind := Pad(row.name, names), Pad(row.kind, types)
	indentation := len(row.name) - len(strings.TrimLeft(row.name, " "))
	w.line("  " + name[:indentation] + w.screen.Paint(roleName, name[indentation:]) + "  " + kind + "  " + need)
	margin := strings.Repeat(" ", indentation+6)
	if row.description != "" {
		w.paragraph(margin, row.description)
	}
	if row.bounds != "" {
		w.paragraph(margin, row.bounds)
	}
}

// parameterRow is one line of the table; everything in it is safe.
type parameterRow struct {
	name        string // indented by two spaces for each level
	kind        string
	required    bool
	description string
	bounds      string
}

// parameterRows lists the parameters of a schema, those of nested objects below their own.
func parameterRows(schema *jsonschema.Document) []parameterRow {
	return newTyper().rows(schema.Arguments(), 0)
}

func (t *typer) rows(object *jsonschema.Shape, level int) []parameterRow {
	var all []parameterRow
	for _, p := range object.Fields() {
		if t.steps <= 0 || level > maxDepth {
			break
		}
		shape := t.shape(p.Node)
		row := parameterRow{
			name:        strings.Repeat("  ", level) + propertyName(p.Name),
			required:    p.Required,
			description: SafeBlock(strings.TrimSpace(shape.Description)),
			bounds:      bounds(shape),
		}
		inner, mark := shape, ""
		if shape.Items != nil {
			inner, mark = t.shape(shape.Items), "[]"
		}
		var below []parameterRow
		if inner.Kind == jsonschema.ShapeObject {
			below = t.rows(inner, level+1)
		}
		switch {
		case len(below) == 0:
			row.kind = t.typeOf(shape, 1)
		case shape.Nullable:
			row.kind = "object" + mark + "|null" // its parts follow
		default:
			row.kind = "object" + mark
		}
		all = append(append(all, row), below...)
	}
	return all
}

// bounds describes the allowed values and the default.
func bounds(s *jsonschema.Shape) string {
	var parts []string
	if len(s.Options) > maxOptions {
		parts = append(parts, "one of "+strings.Join(words.Texts(s.Options, option), ", "))
	}
	limits := s.Limits()
	for _, bound := range []struct {
		name  string
		value *jsonschema.Node
	}{
		{"default", s.Default},
		{"at least", limits.Minimum},
		{"above", limits.Above},
		{"at most", limits.Maximum},
		{"below", limits.Below},
		{"shortest length", limits.Shortest},
		{"longest length", limits.Longest},
		{"fewest items", limits.Fewest},
		{"most items", limits.Most},
	} {
		if bound.value != nil {
			parts = append(parts, bound.name+" "+compact(bound.value.Raw()))
		}
	}
	if s.Format != "" {
		parts = append(parts, "format "+Safe(s.Format))
	}
	if pattern := limits.Pattern.Text(); pattern != "" {
		parts = append(parts, "pattern "+Safe(pattern))
	}
	return strings.Join(parts, "; ")
}

// option returns one value of an enum.
func option(o jsonschema.Option) string { return compact(o.Raw) }
