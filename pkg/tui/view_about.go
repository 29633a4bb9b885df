package tui

import (
	"bytes"
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

// readOnlyTab identifies a tab without a form. Its lines are cached because hostile texts can be slow to lay out.
type readOnlyTab struct {
	item item
	tab  pageTab
}

// readOnlyLines returns the lines of the tab on the screen: the item's description or its definition.
func (p *page) readOnlyLines(width int) []string {
	shown := readOnlyTab{p.item, p.shown()}
	return p.told.Lines(p.theme, shown, width, func() []string {
		if shown.tab == tabJSON {
			return p.definition()
		}
		return p.about(width)
	})
}

// maxBadges is wider than all badges of an item.
const maxBadges = 100

// heading returns an item's title and badges in a line; empty if it has neither.
func (p *page) heading() string {
	tool := p.item.Tool
	var parts []string
	if tool.Title != "" && tool.Title != tool.Plain {
		parts = append(parts, p.theme.Paint(pane.Heading, render.Safe(tool.Title)))
	}
	if badges := p.badges(p.item, maxBadges); badges != "" {
		parts = append(parts, badges)
	}
	return strings.Join(parts, "  ")
}

// leastForm is how many lines a form needs below the description of its item.
const leastForm = 8

// introLines returns the lines above an item's form: title, badges and description. They take at most a third of the
// height, and less if the form needs the room. It returns nothing if there is no description or no room.
func (p *page) introLines(width, height int) []string {
	whole := p.intro.Lines(p.theme, readOnlyTab{p.item, tabForm}, width, func() []string {
		var lines []string
		if heading := p.heading(); heading != "" {
			lines = append(lines, p.theme.Cut(heading, width))
		}
		if p.item.Description != "" {
			lines = append(lines, markdown.Render(p.item.Description, width, p.theme)...)
		}
		return lines
	})
	need := max(leastForm, min(p.form.Lines(), height*2/3))
	room := min(height/3, height-need) - 1 // for the empty line
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

// about returns the description of an item.
func (p *page) about(width int) []string {
	tool := p.item.Tool
	var lines []string
	if heading := p.heading(); heading != "" {
		lines = append(lines, heading, "")
	}
	lines = append(lines, p.resourceFacts(width)...)
	lines = append(lines, markdown.Render(tool.Description, width, p.theme)...)
	if tool.Description == "" {
		lines = append(lines, p.theme.Paint(pane.Dim, "no description"))
	}
	lines = append(lines, "")
	return append(lines, p.theme.Paragraph(pane.Dim, kinds[p.item.kind].past+" as "+render.Safe(tool.Name), width)...)
}

// maxDefinition is how many bytes of a definition are shown.
const maxDefinition = 1 << 20

// definition returns the server's definition of the item as JSON, whatever the width.
func (p *page) definition() []string {
	var text bytes.Buffer
	if json.Indent(&text, p.item.Definition, "", "  ") != nil {
		text.Write(p.item.Definition)
	}
	cut := text.Len() - maxDefinition
	text.Truncate(min(text.Len(), maxDefinition))
	lines := strings.Split(render.SafeBlock(text.String()), "\n")
	if cut > 0 {
		more := fmt.Sprintf("%s %s more not shown", p.theme.Glyphs.Warn, exec.Bytes(int64(cut)))
		lines = append(lines, p.theme.Paint(pane.Warn, more))
	}
	return lines
}

// resourceFacts returns the properties of a resource or template besides its description, and an empty
// line; nothing for any other item.
func (p *page) resourceFacts(width int) []string {
	if !p.item.resource() {
		return nil
	}
	facts := factList{theme: p.theme, width: width}
	name := "uri"
	if p.item.kind == kindTemplate {
		name = "template"
	}
	facts.add(name, render.Safe(p.item.Plain))
	var more struct {
		MIMEType    string  `json:"mimeType"`
		Size        float64 `json:"size"`
		Annotations struct {
			Audience     []string `json:"audience"`
			Priority     *float64 `json:"priority"`
			LastModified string   `json:"lastModified"`
		} `json:"annotations"`
	}
	_ = json.Unmarshal(p.item.Definition, &more) // the JSON shows members of another type
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
