// Command release makes what a release of toolx has besides its binaries.
//
//	go run ./release notices       the licences of all linked modules, with their texts
//
// It writes to standard output, or into the folder that follows the word. make release-snapshot runs all of it.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run makes the part of a release that the first argument names.
func run(args []string, stdout io.Writer) error {
	parts := map[string]func(args []string, out io.Writer) error{
		"notices": writeNotices,
	}
	if len(args) == 0 || parts[args[0]] == nil {
		return fmt.Errorf("unknown part of a release: %q; see the head of release/main.go", args)
	}
	out := bufio.NewWriter(stdout)
	if err := parts[args[0]](args[1:], out); err != nil {
		return err
	}
	return out.Flush()
}
