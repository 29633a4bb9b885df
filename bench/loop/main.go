// Command loop makes calls one after the other over one connection, as a program does that uses mcp-go's client and
// nothing else of it: no validation, no log, no results on stdout. A batch of toolx is measured against it.
//
//	loop CALLS TOOL ARGUMENTS COMMAND [ARGUMENT…]
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

func main() {
	if len(os.Args) < 5 {
		fmt.Fprintln(os.Stderr, "usage: loop CALLS TOOL ARGUMENTS COMMAND [ARGUMENT…]")
		os.Exit(2)
	}
	calls, err := strconv.Atoi(os.Args[1])
	if err == nil {
		err = loop(calls, os.Args[2], json.RawMessage(os.Args[3]), os.Args[4:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "loop:", err)
		os.Exit(1)
	}
}

// loop starts the server, makes the calls, each begun when the last has ended, and ends the server.
func loop(calls int, tool string, arguments json.RawMessage, command []string) error {
	ctx := context.Background()
	server, err := client.NewStdioMCPClient(command[0], nil, command[1:]...)
	if err != nil {
		return err
	}
	begin := mcp.InitializeRequest{}
	begin.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	begin.Params.ClientInfo = mcp.Implementation{Name: "loop", Version: "1"}
	if _, err := server.Initialize(ctx, begin); err != nil {
		return err
	}
	request := mcp.CallToolRequest{}
	request.Params.Name, request.Params.Arguments = tool, arguments
	for range calls {
		if _, err := server.CallTool(ctx, request); err != nil {
			return err
		}
	}
	return server.Close()
}
