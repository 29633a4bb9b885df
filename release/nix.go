package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/template"
)

// nixSystems are Nix's names of systems, and ours.
var nixSystems = []struct{ Nix, Ours string }{
	{"x86_64-linux", "linux_amd64"},
	{"aarch64-linux", "linux_arm64"},
	{"x86_64-darwin", "darwin_amd64"},
	{"aarch64-darwin", "darwin_arm64"},
}

//go:embed toolx.nix.tmpl
var nixExpression string

// writeNix writes a Nix expression for the archives in GoReleaser's output folder args[0] to nix/toolx.nix in it.
// GoReleaser writes one only if Nix is installed.
func writeNix(args []string, _ io.Writer) error {
	made, folder, err := begin(args, "nix")
	if err != nil {
		return err
	}
	type archive struct{ Nix, Name, Hash string }
	data := struct {
		Version, Owner string
		Archives       []archive
	}{Version: made.Version, Owner: owner()}
	for _, system := range nixSystems {
		name := fmt.Sprintf("toolx_%s_%s.tar.gz", made.Version, system.Ours)
		packed, err := os.ReadFile(filepath.Join(args[0], name))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(packed)
		data.Archives = append(data.Archives,
			archive{system.Nix, name, "sha256-" + base64.StdEncoding.EncodeToString(sum[:])})
	}
	out, err := os.Create(filepath.Join(folder, "toolx.nix"))
	if err != nil {
		return err
	}
	return errors.Join(template.Must(template.New("").Parse(nixExpression)).Execute(out, data), out.Close())
}
