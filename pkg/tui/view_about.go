package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/tui/markdown"
	"toolx/pkg/tui/pane"
)

// maxBadges is wider than all badges of an item.
const maxBadges = 100

// heading returns an item's title and badges in a line; empty if it has neither.
func (s *shared) heading(one item) string {
	tool := one.Tool
	var parts []string
	if tool.Title != "" && tool.Title != tool.Plain {
		parts = append(parts, s.theme.Paint(pane.Strong, render.Safe(tool.Title)))
	}
	if badges := s.badges(one, maxBadges); badges != "" {
		parts = append(parts, badges)
	}
	return strings.Join(parts, "  ")
}

// leastForm is how many lines a form needs below the description of its item.
const leastForm = 8

// introLines returns the lines above an item's form: title, badges and description. Above fields they take at most
// a third of the height, and less if the form needs the room. It returns nothing if there is no description or no room.
func (p *page) introLines(width, height int) []string {
	whole := p.intro.Lines(p.theme, p.item, width, func() []string {
		var lines []string
		if heading := p.heading(p.item); heading != "" {
			lines = append(lines, p.theme.Cut(heading, width))
		}
		lines = append(lines, p.resourceFacts(p.item, width)...)
		if p.item.Description != "" {
			lines = append(lines, markdown.Render(p.item.Description, width, p.theme)...)
		}
		return lines
	})
	need, share := max(leastForm, min(p.form.Lines(), height*2/3)), height/3
	if p.form.Empty() {
		need, share = 1, height
	}
	room := min(share, height-need) - 1 // for the empty line
	if len(whole) == 0 || room <= 0 || p.form.AsJSON() {
		return nil
	}
	lines := slices.Clone(whole[:min(len(whole), room)])
	if len(lines) < len(whole) {
		for len(lines) > 1 && strings.TrimSpace(ansi.Strip(lines[len(lines)-1])) == "" {
			lines = lines[:len(lines)-1]
		}
		last := len(lines) - 1
		lines[last] = p.theme.Cut(lines[last], width-2) + " " + p.theme.Glyphs.More
	}
	return append(lines, "")
}

// aboutLines returns the description of an item.
func (s *shared) aboutLines(one item, width int) []string {
	tool := one.Tool
	var lines []string
	if heading := s.heading(one); heading != "" {
		lines = append(lines, heading, "")
	}
	lines = append(lines, s.resourceFacts(one, width)...)
	lines = append(lines, markdown.Render(tool.Description, width, s.theme)...)
	if tool.Description == "" {
		lines = append(lines, s.theme.Paint(pane.Dim, "no description"))
	}
	lines = append(lines, "")
	return append(lines, s.theme.Paragraph(pane.Dim, kinds[one.kind].past+" as "+render.Safe(tool.Name), width)...)
}

// resourceFacts returns the properties of a resource or template besides its description, and an empty
// line; nothing for any other item.
func (s *shared) resourceFacts(one item, width int) []string {
	if !one.resource() {
		return nil
	}
	facts := factList{theme: s.theme, width: width}
	name := "uri"
	if one.kind == kindTemplate {
		name = "template"
	}
	facts.add(name, render.Safe(one.Plain))
	var more struct {
		MIMEType    string  `json:"mimeType"`
		Size        float64 `json:"size"`
		Annotations struct {
			Audience     []string `json:"audience"`
			Priority     *float64 `json:"priority"`
			LastModified string   `json:"lastModified"`
		} `json:"annotations"`
	}
	_ = json.Unmarshal(one.Definition, &more) // the JSON shows members of another type
	facts.add("type", render.Safe(more.MIMEType))
	if more.Size > 0 {
		facts.add("size", exec.Bytes(int64(more.Size)))
	}
	facts.add("for", render.Safe(strings.Join(more.Annotations.Audience, ", ")))
	if more.Annotations.Priority != nil {
		facts.add("priority", fmt.Sprintf("%g of 1", *more.Annotations.Priority))
	}
	facts.add("changed", render.Safe(more.Annotations.LastModified))
	return append(facts.lines, "")
}
