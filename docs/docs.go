// Package docs holds the pages that "toolx help" shows beside the help of verbs.
package docs

import (
	"embed"
	"slices"
)

//go:embed config.md output.md exit-codes.md
var pages embed.FS

// Topics returns the names of the pages of "toolx help", in the order in which they are offered.
func Topics() []string { return []string{"config", "output", "exit-codes"} }

// Page returns the page of a topic as Markdown, or an empty text for an unknown topic.
func Page(topic string) string {
	if !slices.Contains(Topics(), topic) {
		return ""
	}
	page, err := pages.ReadFile(topic + ".md")
	if err != nil {
		return ""
	}
	return string(page)
}
