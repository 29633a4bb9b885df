// Command fakeserver is the scripted MCP server of package fake as a program:
//
//	go run ./pkg/servers/fake/cmd/fakeserver --list
package main

import (
	"os"

	"toolx/pkg/servers/fake"
)

func main() { os.Exit(fake.Main(os.Args[1:])) }
