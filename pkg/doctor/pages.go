package doctor

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Markdown is a check's page as docs/checks has it: what --explain shows, for
// readers of the repository and of SARIF.
func (c Check) Markdown() string {
	var page strings.Builder
	fmt.Fprintf(&page, "# %s\n\n%s.\n\n", c.ID, sentence(c.Title))
	fmt.Fprintf(&page, "| severity | group |\n| --- | --- |\n| %s | %s |\n", c.Severity, c.Group)
	section(&page, "Why it matters", c.Page.Why)
	section(&page, "Bad", fenced(c.Page.Bad))
	section(&page, "Good", fenced(c.Page.Good))
	section(&page, "What to do", bulleted(c.Page.Fix))
	section(&page, "Who fails on it", bulleted(c.Page.Breaks))
	section(&page, "Source", c.Page.Source)
	if len(c.After) > 0 {
		var links []string
		for _, id := range c.After {
			links = append(links, fmt.Sprintf("[%s](%s.md)", id, id))
		}
		section(&page, "Not asked after", strings.Join(links, ", "))
	}
	return page.String()
}

// section writes a heading and what stands below it, unless that is nothing.
func section(page *strings.Builder, heading, body string) {
	if body = strings.TrimRight(body, "\n"); body != "" {
		fmt.Fprintf(page, "\n## %s\n\n%s\n", heading, body)
	}
}

// fenced is an example as a block of code.
func fenced(text string) string {
	if text == "" {
		return ""
	}
	return "```text\n" + strings.TrimRight(text, "\n") + "\n```"
}

func bulleted(items []string) string {
	var text strings.Builder
	for _, item := range items {
		text.WriteString("- " + strings.ReplaceAll(item, "\n", "\n  ") + "\n")
	}
	return text.String()
}

// sentence begins a title with a capital.
func sentence(title string) string {
	if title == "" {
		return title
	}
	return strings.ToUpper(title[:1]) + title[1:]
}

// Near returns the id of a check that a slip could have meant, empty where none is
// near. A part of an id counts as a slip too.
func Near(id string) string {
	best, least := "", max(2, len(id)/3)+1
	for _, check := range Checks() {
		distance := levenshtein.ComputeDistance(id, check.ID)
		if len(id) > 2 && strings.Contains(check.ID, id) {
			distance = min(distance, 2)
		}
		if distance < least {
			best, least = check.ID, distance
		}
	}
	return best
}
