// Package docs holds the pages that "toolx help" shows beside the verbs' own help.
package docs

import _ "embed"

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
