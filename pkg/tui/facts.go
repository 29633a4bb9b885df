package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/tui/markdown"
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

// capabilities lists the capabilities of a server (MCP 2025-11-25, basic/lifecycle).
func capabilities(c mcp.ServerCapabilities) string {
	var names []string
	add := func(has bool, name string) {
		if has {
			names = append(names, name)
		}
	}
	add(c.Tools != nil, "tools")
	add(c.Resources != nil, "resources")
	add(c.Prompts != nil, "prompts")
	add(c.Logging != nil, "logging")
	add(c.Completions != nil, "completions")
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// environment lists the variables that the config sets for a server, in order of their names.
func environment(entry *config.Server) string {
	var lines []string
	for name, value := range entry.Env {
		lines = append(lines, render.Safe(fmt.Sprintf("%s=%s", name, value)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// serverFacts returns the lines of a server's page.
func (m *model) serverFacts(s *server, width int) []string {
	theme := m.theme
	facts := factList{theme: theme, width: width}
	fact := facts.add
	now := m.now()
	fact("state", m.tree.state(s, now))
	fact("reason", render.SafeBlock(m.hide(s.reason)))
	if s.status == statusFailed {
		fact("hint", render.SafeBlock(m.hide(s.hint)))
	}
	facts.lines = append(facts.lines, m.doctorLines(&s.diagnosis, width)...)
	fact("url", render.Safe(m.hide(s.config.URL)))
	fact("headers", render.Safe(strings.Join(slices.Sorted(maps.Keys(s.config.Headers)), ", "))) // their values are secrets
	fact("command", render.Safe(m.hide(strings.Join(s.commandLine(), " "))))
	session := m.options.Pool.Session(s.name)
	if session != nil && s.status == statusReady {
		fact("protocol", render.Safe(session.Protocol))
		fact("server", render.Safe(strings.TrimSpace(session.Info.Name+" "+session.Info.Version)))
		fact("capabilities", capabilities(session.Capabilities))
		fact("lists", m.listCounts(s))
		fact("start", fmt.Sprintf("start %.0f ms, initialize %.0f ms, list %.0f ms", s.timing.StartMS, s.timing.InitializeMS, s.timing.ListMS))
		fact("up", pane.Duration(now.Sub(s.since)))
	}
	if s.pid != 0 {
		fact("pid", fmt.Sprint(s.pid))
		if bytes, ok := m.options.Memory(s.pid); ok {
			fact("memory", exec.Bytes(bytes))
		}
	}
	fact("environment", m.hide(environment(s.config)))
	if s.polluted > 0 {
		fact("stdout", theme.Paint(pane.Warn, words.Count(s.polluted, "line")+" not JSON-RPC"))
	}
	lines := append(append(facts.lines, ""), pane.Wrap(m.serverLine(), width)...)
	if session != nil && session.Instructions != "" {
		lines = append(lines, "", theme.Paint(pane.Heading, "instructions"), "")
		text := session.Instructions
		lines = append(lines, s.manual.Lines(theme, text, width, func() []string { return markdown.Render(text, width, theme) })...)
	}
	return lines
}

// serverLine says which actions are possible for the server on the page.
func (m *model) serverLine() string {
	var told []string
	for _, binding := range append([]pane.Binding{*pane.Find(m.common(), "r")}, m.serverKeys()...) {
		if binding.Off == "" {
			told = append(told, m.theme.Paint(pane.Strong, binding.Keys[0])+" "+m.theme.Paint(pane.Dim, binding.Help))
		}
	}
	return strings.Join(told, hintGap)
}

func onlyFirst(i int, name string) string {
	if i > 0 {
		return ""
	}
	return name
}

// listCounts says how many items of each kind a server has, as far as that is known.
func (m *model) listCounts(s *server) string {
	g := m.tree.groupOf(s.name)
	counts := []string{words.Count(len(g.tools), "tool")}
	for _, of := range g.serverLists {
		if of.shown() && of.listed {
			counts = append(counts, words.Count(len(of.items), of.kind.String()))
		}
	}
	return strings.Join(counts, ", ")
}

// serverListFacts returns the lines of the page of one of a server's lists.
func (m *model) serverListFacts(of *serverList, width int) []string {
	facts := factList{theme: m.theme, width: width}
	switch {
	case of.reading != nil:
		facts.add("state", m.theme.Paint(pane.Accent, m.spinner()+" listing"))
	case of.failure != "":
		facts.add("state", m.theme.Paint(pane.Bad, m.theme.Glyphs.Bad+" they cannot be listed"))
		facts.add("reason", render.SafeBlock(m.hide(of.failure)))
	}
	if of.listed {
		facts.add("number", fmt.Sprint(len(of.items)))
	}
	facts.lines = append(facts.lines, "")
	const most, longest = 200, 1000 // the tree has all of them, and each has its page
	for _, one := range of.items[:min(len(of.items), most)] {
		line := m.theme.Paint(pane.Strong, render.Safe(one.label()))
		if told, _, _ := strings.Cut(one.Description[:min(len(one.Description), longest)], "\n"); told != "" {
			line += "  " + m.theme.Paint(pane.Dim, render.Safe(strings.ToValidUTF8(told, "")))
		}
		facts.lines = append(facts.lines, m.theme.Cut(line, width))
	}
	hint := "enter opens the list, / finds in it"
	if of.failure != "" {
		hint = "enter lists them again"
	}
	return append(facts.lines, "", m.theme.Paint(pane.Dim, hint))
}

// factList is a list of names and values.
type factList struct {
	theme *pane.Theme
	width int
	lines []string
}

// add adds a value, over several lines if it is long; an empty one is left out.
func (f *factList) add(name, value string) {
	if value == "" {
		return
	}
	for i, line := range pane.Wrap(value, max(10, f.width-14)) {
		f.lines = append(f.lines, fmt.Sprintf("%s %s", f.theme.Paint(pane.Dim, fmt.Sprintf("%-13s", onlyFirst(i, name))), line))
	}
}

// widest returns the width of the widest line.
func widest(lines []string) int {
	width := 0
	for _, line := range lines {
		width = max(width, ansi.StringWidth(line))
	}
	return width
}

// cleanNote returns the message of the status line, safe and on one line.
func (m *model) cleanNote() string { return render.Safe(m.hide(m.note.text)) }
