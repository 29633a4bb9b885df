// Command floor does the minimum for a cold call: it starts a stdio server, initializes, calls one tool, prints the
// text, and stops the server. It has no SDK, no config, no validation and no error handling; it is the baseline for
// toolx. With a URL instead of the command it does the same over HTTP, with the same exchanges as toolx, in old and new
// revisions.
//
//	floor TOOL ARGUMENTS COMMAND [ARGUMENT…]
//	floor TOOL ARGUMENTS [legacy] URL
//	floor loop CALLS TOOL ARGUMENTS COMMAND [ARGUMENT…]
//
// The last form makes so many calls one after the other, and prints the last answer.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: floor TOOL ARGUMENTS COMMAND [ARGUMENT…]")
		os.Exit(2)
	}
	run := call
	if os.Args[1] == "loop" && len(os.Args) > 5 {
		calls, _ := strconv.Atoi(os.Args[2]) // an invalid number makes no call
		os.Args = os.Args[2:]
		run = func(tool, arguments string, command []string) error { return loop(calls, tool, arguments, command) }
	}
	if strings.HasPrefix(os.Args[len(os.Args)-1], "http://") {
		run = callHTTP
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

// answer is the part of a response that is read.
type answer struct {
	Result struct {
		Content []struct{ Text string }
	}
}

func (a answer) print() {
	for _, block := range a.Result.Content {
		fmt.Println(block.Text)
	}
}

func call(tool, arguments string, command []string) error { return loop(1, tool, arguments, command) }

// loop makes calls, one after the other.
func loop(calls int, tool, arguments string, command []string) error {
	server := exec.Command(command[0], command[1:]...)
	stdin, err := server.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	replies := bufio.NewReaderSize(stdout, 64<<10)
	var result answer
	ask := func(request string) error {
		if _, err := io.WriteString(stdin, request+"\n"); err != nil {
			return err
		}
		line, err := replies.ReadBytes('\n')
		if err != nil {
			return err
		}
		return json.Unmarshal(line, &result)
	}
	for _, request := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"floor","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
	} {
		if err := ask(request); err != nil {
			return err
		}
	}
	params := `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
	for id := range calls {
		if err := ask(`{"jsonrpc":"2.0","id":` + strconv.Itoa(id+3) + params); err != nil {
			return err
		}
	}
	result.print()
	if err := stdin.Close(); err != nil {
		return err
	}
	return server.Wait()
}
