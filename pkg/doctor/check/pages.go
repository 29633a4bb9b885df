package check

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Page is a check's page, <id>.md beside its code: its front matter, then its sections.
type Page struct {
	Severity Severity `json:"severity"`
	Group    Group    `json:"group"`
	// Title is the problem in a few words.
	Title      string   `json:"title"`
	Why        string   `json:"why"`              // who is affected, and how
	Bad        string   `json:"bad,omitempty"`    // an example, a few lines
	Good       string   `json:"good,omitempty"`   // the same, fixed
	Fix        []string `json:"fix,omitempty"`    // what to do, the server's author first, then its user
	Breaks     []string `json:"breaks,omitempty"` // clients that fail on it
	Exceptions []string `json:"spares,omitempty"` // similar cases that are not reported
	Source     string   `json:"source,omitempty"` // the specification's clause and revision, or a report
	// After lists checks whose findings would explain this one's. If one of them has a finding, this check is skipped.
	After []string `json:"after,omitempty"`
}

// WithPages adds to each check of a family its page, a Markdown file named after its id.
func WithPages(pages fs.FS, checks []Check) []Check {
	for i := range checks {
		checks[i].Page = PageOf(pages, checks[i].ID)
	}
	return checks
}

// PageOf returns the page of a check, or the zero Page.
func PageOf(pages fs.FS, id string) Page {
	text, err := fs.ReadFile(pages, id+".md")
	if err != nil {
		return Page{}
	}
	return readPage(string(text))
}

// readPage parses a page. Its front matter is YAML with plain or double-quoted values on one line, and one list; a test
// enforces that.
func readPage(text string) Page {
	var page Page
	text = strings.ReplaceAll(text, "\r\n", "\n") // as git may check it out
	front, body, _ := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
	for line := range strings.Lines(front) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if plain, err := strconv.Unquote(value); err == nil {
			value = plain
		}
		switch name {
		case "title":
			page.Title = value
		case "severity":
			page.Severity = Severity(value)
		case "group":
			page.Group = Group(value)
		case "after":
			page.After = strings.Split(strings.Trim(value, "[]"), ", ")
		case "source":
			page.Source = value
		}
	}
	page.Why = strings.NewReplacer("\n\n", "\n\n", "\n", " ").Replace(sectionOf(body, "Why it matters"))
	page.Bad = exampleOf(sectionOf(body, "Bad"))
	page.Good = exampleOf(sectionOf(body, "Good"))
	page.Fix = itemsOf(sectionOf(body, "What to do"))
	page.Breaks = itemsOf(sectionOf(body, "Affected clients"))
	page.Exceptions = itemsOf(sectionOf(body, "Not reported"))
	return page
}

// sectionOf returns the text below a heading, or nothing.
func sectionOf(body, heading string) string {
	_, rest, _ := strings.Cut("\n"+body, "\n## "+heading+"\n\n")
	text, _, _ := strings.Cut(rest, "\n\n## ")
	return strings.TrimSuffix(text, "\n")
}

// exampleOf returns the text of a block of code.
func exampleOf(section string) string {
	return strings.TrimSuffix(strings.TrimPrefix(section, "```text\n"), "\n```")
}

// itemsOf returns the items of a list. Indented lines continue an item.
func itemsOf(section string) []string {
	if section == "" {
		return nil
	}
	return strings.Split(strings.TrimPrefix(strings.ReplaceAll(section, "\n  ", " "), "- "), "\n- ")
}

// Markdown returns a check's page for SARIF, with the contents of its front matter.
func (c Check) Markdown() string {
	var page strings.Builder
	fmt.Fprintf(&page, "# %s\n\n%s.\n\n", c.ID, Sentence(c.Title))
	fmt.Fprintf(&page, "| severity | group |\n| --- | --- |\n| %s | %s |\n", c.Severity, c.Group)
	Section(&page, "Why it matters", c.Why)
	Section(&page, "Bad", fenced(c.Bad))
	Section(&page, "Good", fenced(c.Good))
	Section(&page, "What to do", Bulleted(c.Fix))
	Section(&page, "Affected clients", Bulleted(c.Breaks))
	Section(&page, "Not reported", Bulleted(c.Exceptions))
	Section(&page, "Source", c.Source)
	if len(c.After) > 0 {
		var links []string
		for _, id := range c.After {
			links = append(links, fmt.Sprintf("[%s](%s.md)", id, id))
		}
		Section(&page, "Skipped after", strings.Join(links, ", "))
	}
	return page.String()
}

// Section writes a heading and its text, unless the text is empty.
func Section(page *strings.Builder, heading, body string) {
	if body = strings.TrimRight(body, "\n"); body != "" {
		fmt.Fprintf(page, "\n## %s\n\n%s\n", heading, body)
	}
}

// fenced returns text as a block of code.
func fenced(text string) string {
	if text == "" {
		return ""
	}
	return "```text\n" + strings.TrimRight(text, "\n") + "\n```"
}

// Bulleted writes a list in Markdown.
func Bulleted(items []string) string {
	var text strings.Builder
	for _, item := range items {
		text.WriteString("- " + strings.ReplaceAll(item, "\n", "\n  ") + "\n")
	}
	return text.String()
}

// Sentence capitalizes the first letter of a title.
func Sentence(title string) string {
	if title == "" {
		return title
	}
	return strings.ToUpper(title[:1]) + title[1:]
}
