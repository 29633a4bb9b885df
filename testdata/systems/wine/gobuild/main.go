// Gobuild stands for the go command where there is none: "go build -o FILE PACKAGE" copies the program that lies beside
// it and has the name of the package. Tests that build toolx or the fake server run under Wine with it.
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
	if len(args) != 4 || args[0] != "build" || args[1] != "-o" {
		return fmt.Errorf("%q: only go build -o FILE PACKAGE is known here", args)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	program, err := os.ReadFile(filepath.Join(filepath.Dir(self), path.Base(args[3])+".exe"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(args[2]), 0o755); err != nil {
		return err
	}
	return os.WriteFile(args[2], program, 0o755)
}
