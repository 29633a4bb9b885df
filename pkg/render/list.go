package render

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Group is the tools of one server, as list shows them.
type Group struct {
	// Server is the server's name; empty for toolx's own tools: the built-in ones, where
	// BuiltIn says so, else those of the config.
	Server  string
	BuiltIn bool
	// Folded makes one line of the group; not in JSON.
	Folded bool
	// NameOf gives the name that a tool is called by; nil or empty where that is its own.
	NameOf func(*exec.Tool) string
	// Status is one word: "ready", "failed".
	Status string
	Tools  []*exec.Tool
	Err    error // why a server has no tools to show; nil where it has
}

// List writes groups of tools. On a terminal each server is a heading with its tools
// below, fitted to the width. Elsewhere each tool is one line of four fields with
// tabs between them: name, signature, badges, first line of the description; lines
// are sorted by name, and failed servers are left to stderr.
func List(out io.Writer, groups []Group, screen Screen) error {
	buffered := bufio.NewWriter(out)
	if screen.TTY {
		for i, group := range groups {
			if i > 0 {
				buffered.WriteByte('\n') //nolint:errcheck // bufio remembers, Flush tells
			}
			writeGroup(buffered, group, screen)
		}
	} else {
		writeRows(buffered, groups, screen)
	}
	return buffered.Flush()
}

func writeRows(out *bufio.Writer, groups []Group, screen Screen) {
	type row struct {
		name string
		tool *exec.Tool
	}
	var rows []row
	for _, group := range groups {
		for _, tool := range group.Tools {
			name := tool.Name
			if group.NameOf != nil {
				name = cmp.Or(group.NameOf(tool), name)
			}
			if !group.Folded {
				rows = append(rows, row{name, tool})
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.name, b.name) })
	for _, row := range rows {
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", Field(row.name, screen), signatureOf(row.tool, 0),
			strings.Join(Badges(row.tool), ","), Field(words.FirstLine(row.tool.Description), screen))
	}
	for _, group := range groups {
		if group.Folded {
			fmt.Fprintf(out, "%s\t\t\t%s: %s\n", ownTools, words.Count(len(group.Tools), "built-in tool"), strings.Join(plainNames(group.Tools), ", "))
		}
	}
}

// ownTools is the pattern that toolx list takes for toolx's own tools.
const ownTools = exec.Own + exec.Separator + "*"

func plainNames(tools []*exec.Tool) []string {
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = Safe(tool.Plain)
	}
	return names
}

func writeGroup(out *bufio.Writer, group Group, screen Screen) {
	fmt.Fprintln(out, groupHeading(group, screen))
	if group.Err != nil {
		for _, line := range Wrap(SafeBlock(group.Err.Error()), max(0, screen.Columns()-2)) {
			fmt.Fprintln(out, "  "+screen.Paint(RoleError, line)) // wrapped, not cut: it says why
		}
		return
	}
	if group.Folded {
		return
	}
	tools := slices.SortedStableFunc(slices.Values(group.Tools), func(a, b *exec.Tool) int { return cmp.Compare(a.Name, b.Name) })
	for _, tool := range tools {
		writeSummary(out, tool, screen)
	}
}

func groupHeading(group Group, screen Screen) string {
	name, remark := Safe(group.Server), words.Count(len(group.Tools), "tool")
	switch {
	case group.Folded:
		name, remark = exec.Own, remark+", built in; toolx list '"+ownTools+"' shows them"
	case group.BuiltIn:
		name, remark = exec.Own, remark+", built in"
	case group.Server == "":
		name, remark = exec.Own, remark+", from the config"
	}
	if group.Err != nil || group.Status != "" && group.Status != "ready" {
		remark = cmp.Or(group.Status, "failed")
	}
	name = Fit(name, max(0, screen.Columns()-ansi.StringWidth(remark)-3))
	return screen.Paint(RoleHeading, name) + " " + screen.Paint(RoleMuted, "("+Safe(remark)+")")
}

// writeSummary writes the signature, and below it the badges and the first sentence
// of the description.
func writeSummary(out *bufio.Writer, tool *exec.Tool, screen Screen) {
	const margin = "  "
	signature := signatureOf(tool, max(0, screen.Columns()-len(margin)))
	name, rest := signature, ""
	if at := strings.IndexByte(signature, '('); at > 0 {
		name, rest = signature[:at], signature[at:]
	}
	fmt.Fprintln(out, margin+screen.Paint(roleName, name)+rest)

	described := Safe(firstSentence(cmp.Or(tool.Description, tool.Title)))
	below := strings.TrimRight(paintBadges(Badges(tool), screen)+screen.Paint(RoleMuted, described), " ")
	if below != "" {
		fmt.Fprintln(out, Fit(margin+margin+below, screen.Columns()))
	}
}

// signatureOf returns a tool's signature. It parses the schema anew: the tool would keep
// what was parsed, and a list can have 100,000 tools.
func signatureOf(tool *exec.Tool, width int) string {
	return Signature(tool.Plain, jsonschema.Parse(tool.InputSchema), width)
}

// Badges names what a tool says of itself by MCP's annotations: "read-only",
// "destructive", "idempotent", "open-world". Only what is said outright counts: a
// hint that is absent means that nothing is known, whatever default the
// specification gives it. They are hints of an untrusted server, not facts.
func Badges(tool *exec.Tool) []string {
	var badges []string
	add := func(hint *bool, badge string) {
		if hint != nil && *hint {
			badges = append(badges, badge)
		}
	}
	hints := tool.Annotations
	add(hints.ReadOnlyHint, "read-only")
	if len(badges) == 0 {
		// These two mean something only for a tool that changes things (MCP schema,
		// ToolAnnotations).
		add(hints.DestructiveHint, "destructive")
		add(hints.IdempotentHint, "idempotent")
	}
	add(hints.OpenWorldHint, "open-world")
	return badges
}

func paintBadges(badges []string, screen Screen) string {
	text := ""
	for _, badge := range badges {
		r := RoleMuted
		switch badge {
		case "read-only":
			r = RoleGood
		case "destructive":
			r = RoleWarning
		}
		text += screen.Paint(r, "["+badge+"]") + " "
	}
	return text
}

// firstSentence gives a description up to its first full stop or line's end.
func firstSentence(text string) string {
	line := words.FirstLine(text)
	for at := 0; at+1 < len(line); at++ {
		// A stop after one letter belongs to an abbreviation: "e.g. this".
		if line[at] == '.' && line[at+1] == ' ' && at >= 2 && line[at-2] != '.' && line[at-2] != ' ' {
			return line[:at+1]
		}
	}
	return line
}

// ListJSON writes groups as the contract has them, on one line: servers in the order
// given, each with its tools in theirs, definitions byte for byte as their owner
// sent them. toolx's own tools are the group with the empty name.
func ListJSON(out io.Writer, groups []Group, screen Screen) error {
	buffered := bufio.NewWriterSize(out, 64<<10)
	w := &listWriter{out: buffered, screen: screen}
	w.raw(`{"servers":[`)
	for i, group := range groups {
		w.comma(i)
		w.group(group)
	}
	w.raw("]}\n")
	if w.err != nil {
		return w.err
	}
	return buffered.Flush()
}

// listWriter keeps the first error.
type listWriter struct {
	out    *bufio.Writer
	screen Screen
	err    error
}

func (w *listWriter) group(group Group) {
	w.raw(`{"name":`)
	w.value(group.Server)
	w.raw(`,"status":`)
	w.value(group.Status)
	if group.Err != nil {
		w.raw(`,"error":`)
		w.value(group.Err.Error())
	}
	w.raw(`,"tools":[`)
	for i, tool := range group.Tools {
		w.comma(i)
		w.raw(`{"name":`)
		w.value(tool.Name)
		w.raw(`,"server":`)
		w.value(tool.Server)
		w.raw(`,"definition":`)
		w.json(tool.Definition)
		w.raw("}")
	}
	w.raw("]}")
}

func (w *listWriter) comma(i int) {
	if i > 0 {
		w.raw(",")
	}
}

func (w *listWriter) value(value any) {
	text, err := rawjson.Marshal(value)
	w.json(text)
	if w.err == nil {
		w.err = err
	}
}

func (w *listWriter) json(text json.RawMessage) {
	switch {
	case w.err != nil:
	case w.screen.TTY:
		w.err = EscapeJSON(w.out, text)
	default:
		_, w.err = w.out.Write(text)
	}
}

func (w *listWriter) raw(text string) {
	if w.err == nil {
		_, w.err = w.out.WriteString(text)
	}
}
