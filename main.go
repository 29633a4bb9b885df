// Toolx invokes and debugs tools from a terminal: those of MCP servers and those of its own config.
package main

import (
	"os"
	"runtime"
	"runtime/debug"

	"toolx/cmd"
	"toolx/pkg/console"
)

func main() {
	startLean()
	os.Exit(cmd.Main(console.System(), os.Args[1:]))
}

// startLean puts the first garbage collection off. Most runs of toolx live for milliseconds and need less memory than
// it takes until the collector would pay; the first collection that comes after all sets the usual pace.
func startLean() {
	usual := debug.SetGCPercent(400)
	runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, usual)
}
