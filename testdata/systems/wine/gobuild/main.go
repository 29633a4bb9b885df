// Gobuild stands for the go command where there is none: "go build [FLAGS] -o FILE PACKAGE" copies the program that
// lies beside it and has the name of the package. Tests that build toolx or the fake server run under Wine with it.
package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
)

func main() {
	if err := build(os.Args[1:]); err != nil {
		panic(err)
	}
}

func build(args []string) error {
	n := len(args)
	if n < 4 || args[0] != "build" || args[n-3] != "-o" {
		return fmt.Errorf("%q: only go build [FLAGS] -o FILE PACKAGE is known here", args)
	}
	file, name := args[n-2], path.Base(args[n-1])
	self, err := os.Executable()
	if err != nil {
		return err
	}
	program, err := os.ReadFile(filepath.Join(filepath.Dir(self), name+".exe"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, program, 0o755)
}
