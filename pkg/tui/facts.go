package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/config"
	"toolx/pkg/render"
)

// capabilities names what a server offers (MCP 2025-11-25, basic/lifecycle).
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

// environment is what the config sets for a server, in order of the names.
func environment(entry *config.Server) string {
	var lines []string
	for name, value := range entry.Env {
		lines = append(lines, render.Safe(fmt.Sprintf("%s=%s", name, value)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// widest is the width of the widest line.
func widest(lines []string) int {
	width := 0
	for _, line := range lines {
		width = max(width, ansi.StringWidth(line))
	}
	return width
}

// cleanNote is the message of the last line, safe and on one line.
func (m *model) cleanNote() string { return render.Safe(m.hide(m.note.text)) }
