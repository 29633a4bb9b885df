package cli

// CommandLine is the command line, and the words that reach its servers again.
type CommandLine struct {
	Args    []string // without the program's name
	Command string   // its path, "toolx call"
	URL     string   // --url
	Launch  []string // the words that reach its servers again
	AdHoc   bool     // whether Launch is a server's command or address
}
