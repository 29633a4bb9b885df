// Command release creates the parts of a release of toolx other than its binaries.
//
//	go run ./release notices                       the licences of all linked modules, with their texts
//	go run ./release man FOLDER SECONDS            a man page for each verb, with a date
//	go run ./release sbom BINARY FILE VERSION      a bill of materials, CycloneDX
//	go run ./release nix|npm|pip FOLDER            packages made of what GoReleaser has put into FOLDER
//
// GoReleaser (.goreleaser.yaml) and make release-snapshot run it.
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

// run creates the part of a release that the first argument names.
func run(args []string, stdout io.Writer) error {
	parts := map[string]func(args []string, out io.Writer) error{
		"notices": writeNotices,
		"man":     writeMan,
		"sbom":    writeSBOM,
		"nix":     writeNix,
		"npm":     writeNPM,
		"pip":     writePip,
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
