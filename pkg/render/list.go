package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/jsonschema"
	"toolx/pkg/words"
)

// Group is the tools of one server for list.
type Group struct {
	// Server is the server's name. It is empty for toolx's own tools: the built-in ones if BuiltIn is
	// set, else those of the config.
	Server  string
	BuiltIn bool
	// Folded shows the group as one line; JSON ignores it.
	Folded bool
	// NameOf returns the name to call a tool; nil or empty means its own.
	NameOf func(*exec.Tool) string
	// Status is "ready", "failed", or "cached" without a request.
	Status string
	// Listed is when the server listed the tools; zero means now.
	Listed time.Time
	Tools  []*exec.Tool
	Err    error // why the server has no tools, or nil
}

// List writes groups of tools. On a terminal each server is a heading with its tools below, fitted to the width.
// Elsewhere each tool is a line of four fields separated by tabs: name, signature, badges, first line of the
// description; lines are sorted by name within a server, without failed servers.
func List(out io.Writer, groups []Group, screen Screen) error {
	return buffered(out, func(out *bufio.Writer) error {
		if !screen.TTY {
			writeRows(out, groups, writeRow)
			return nil
		}
		for i, group := range groups {
			if i > 0 {
				fmt.Fprintln(out)
			}
			writeGroup(out, group, screen)
		}
		return nil
	})
}

// Compact writes a short line for each tool, server by server, for models: its name with its parameters, whether it is
// read-only or destructive, and the first sentence of its description. It leaves out folded groups.
func Compact(out io.Writer, groups []Group) error {
	return buffered(out, func(out *bufio.Writer) error {
		folded := func(group Group) bool { return group.Folded }
		writeRows(out, slices.DeleteFunc(slices.Clone(groups), folded), writeCompact)
		return nil
	})
}

// The widths of a compact line's parts, in columns.
const (
	compactSignature = 120
	compactSentence  = 72
)

func writeCompact(out *bufio.Writer, name string, tool *exec.Tool) {
	fmt.Fprintln(out, compactLine(name, tool))
}

func compactLine(name string, tool *exec.Tool) string {
	line := signature(name, jsonschema.Parse(tool.InputSchema), compactSignature)
	for _, badge := range Badges(tool) {
		if badge == "read-only" || badge == "destructive" {
			line += " [" + badge + "]"
		}
	}
	described := Fit(Safe(firstSentence(cmp.Or(tool.Description, tool.Title))), compactSentence)
	return strings.TrimRight(line+" "+described, " ")
}

// writeRow writes a tool as a line of four fields.
func writeRow(out *bufio.Writer, name string, tool *exec.Tool) {
	fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", Safe(name), signatureOf(tool, 0),
		strings.Join(Badges(tool), ","), Safe(words.FirstLine(tool.Description)))
}

func writeRows(out *bufio.Writer, groups []Group, write func(*bufio.Writer, string, *exec.Tool)) {
	type row struct {
		name string
		tool *exec.Tool
	}
	for _, group := range groups {
		var rows []row
		for _, tool := range group.Tools {
			name := tool.Shown()
			if group.NameOf != nil {
				name = cmp.Or(group.NameOf(tool), name)
			}
			if !group.Folded {
				rows = append(rows, row{name, tool})
			}
		}
		slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.name, b.name) })
		for _, row := range rows {
			write(out, row.name, row.tool)
		}
	}
	for _, group := range groups {
		if group.Folded {
			names := make([]string, len(group.Tools))
			for i, tool := range group.Tools {
				names[i] = Safe(tool.Plain)
			}
			count := words.Count(len(names), "built-in tool")
			fmt.Fprintf(out, "%s\t\t\t%s: %s\n", ownTools, count, strings.Join(names, ", "))
		}
	}
}

// ownTools is the pattern for toolx's own tools in toolx list.
const ownTools = exec.Own + exec.Separator + "*"

func writeGroup(out *bufio.Writer, group Group, screen Screen) {
	fmt.Fprintln(out, groupHeading(group, screen))
	if group.Err != nil && group.Listed.IsZero() {
		for _, line := range Wrap(SafeBlock(group.Err.Error()), max(0, screen.Columns()-2)) {
			fmt.Fprintln(out, "  "+screen.Paint(RoleError, line)) // wrapped, not cut: it is the reason
		}
		return
	}
	if group.Folded {
		return
	}
	byName := func(a, b *exec.Tool) int { return cmp.Compare(a.Name, b.Name) }
	for _, tool := range slices.SortedStableFunc(slices.Values(group.Tools), byName) {
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
	if !group.Listed.IsZero() {
		remark += listedAt(group.Listed)
	} else if group.Err != nil || group.Status != "" && group.Status != "ready" {
		remark = cmp.Or(group.Status, "failed")
	}
	name = Fit(name, max(0, screen.Columns()-ansi.StringWidth(remark)-3))
	return screen.Paint(RoleHeading, name) + " " + screen.Paint(RoleMuted, "("+Safe(remark)+")")
}

// listedAt returns when a server sent its list, for the end of a remark; empty for a current list.
func listedAt(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return ", listed " + at.Local().Format("2006-01-02 15:04")
}

// writeSummary writes the signature, and below it the badges and the first sentence of the description.
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

// signatureOf returns a tool's signature. It does not use the tool's parsed schema, which would stay in memory, since a
// list can have 100,000 tools.
func signatureOf(tool *exec.Tool, width int) string {
	return signature(tool.Plain, jsonschema.Parse(tool.InputSchema), width)
}

// Badges returns words for a tool's annotations: "read-only", "destructive", "idempotent", "open-world". A missing hint
// has no badge, whatever its default in the specification. Hints of an untrusted server are not facts.
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
		// These two only have a meaning for a tool that changes something (MCP schema, ToolAnnotations).
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

// firstSentence returns a description up to its first full stop or line end.
func firstSentence(text string) string {
	line := words.FirstLine(text)
	for at := 0; at+1 < len(line); at++ {
		// A stop after one letter is part of an abbreviation: "e.g. this".
		if line[at] == '.' && line[at+1] == ' ' && at >= 2 && line[at-2] != '.' && line[at-2] != ' ' {
			return line[:at+1]
		}
	}
	return line
}

// ListJSON writes groups like CatalogsJSON. toolx's own tools are the group with the empty name.
func ListJSON(out io.Writer, groups []Group, screen Screen) error {
	catalogs := make([]Catalog, len(groups))
	for i, group := range groups {
		catalogs[i] = Catalog{Server: group.Server, Status: group.Status, Err: group.Err, Listed: group.Listed}
		for _, tool := range group.Tools {
			catalogs[i].Entries = append(catalogs[i].Entries, Entry{Name: tool.Name, Definition: tool.Definition})
		}
	}
	return CatalogsJSON(out, catalogs, "tools", screen)
}
