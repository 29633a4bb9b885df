// Package docs holds the pages that toolx shows: those of "toolx help" beside the verbs'
// own help, and those of the doctor's checks.
package docs

import "embed"

//go:embed config.md
var config string

//go:embed output.md
var output string

//go:embed exit-codes.md
var exitCodes string

// Topics are the names of the pages, in the order in which they are offered.
func Topics() []string { return []string{"config", "output", "exit-codes"} }

// Page is the page of a topic as Markdown, empty where there is none.
func Page(topic string) string {
	switch topic {
	case "config":
		return config
	case "output":
		return output
	case "exit-codes":
		return exitCodes
	}
	return ""
}

//go:embed checks/*.md
var checks embed.FS

// CheckPage is the page of a check of the doctor as Markdown, empty where there is none.
func CheckPage(id string) string {
	page, err := checks.ReadFile("checks/" + id + ".md")
	if err != nil {
		return ""
	}
	return string(page)
}
