// Package docs holds the pages that toolx shows: those of "toolx help" beside the help of verbs, and those of the
// doctor's checks.
package docs

import (
	"embed"
	"slices"
)

//go:embed config.md output.md exit-codes.md checks/*.md
var pages embed.FS

// Topics returns the names of the pages of "toolx help", in the order in which they are offered.
func Topics() []string { return []string{"config", "output", "exit-codes"} }

// Page returns the page of a topic as Markdown, or an empty text for an unknown topic.
func Page(topic string) string {
	if !slices.Contains(Topics(), topic) {
		return ""
	}
	return read(topic + ".md")
}

// CheckPage returns the page of a check of the doctor as Markdown, or an empty text for an unknown check.
func CheckPage(id string) string { return read("checks/" + id + ".md") }

func read(name string) string {
	page, err := pages.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(page)
}
