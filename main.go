// Toolx invokes and debugs tools from a terminal: those of MCP servers and those
// of its own config.
package main

import (
	"os"

	"toolx/cmd"
	"toolx/pkg/console"
)

func main() {
	os.Exit(cmd.Main(console.System(), os.Args[1:]))
}
