package cli

// CommandLine is what was typed, and what reaches its servers again.
type CommandLine struct {
	Args    []string // without the program's name
	Command string   // its path, "toolx call"
	URL     string   // --url
	Launch  []string // the words that reach its servers again
	AdHoc   bool     // that launch names a server itself
}
