package main

import (
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// bom is a bill of materials, as far as CycloneDX 1.6 needs it. It has neither a time nor a random serial number, which
// are optional there, so that two builds of one commit have the same.
type bom struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type     string    `json:"type"`
	Ref      string    `json:"bom-ref"`
	Name     string    `json:"name"`
	Version  string    `json:"version,omitempty"`
	Licences []licence `json:"licenses,omitempty"`
	PURL     string    `json:"purl"`
}

type licence struct {
	Licence struct {
		ID string `json:"id"`
	} `json:"license"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// writeSBOM writes the bill of materials of the binary args[0] to args[1]: the modules that the linker recorded in it,
// the standard library, and their licences. args[2] is toolx's version.
func writeSBOM(args []string, _ io.Writer) error {
	if len(args) != 3 {
		return errors.New("sbom needs a binary, a file to write and a version")
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(billOf(info, args[2]), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(args[1], append(text, '\n'), 0o644)
}

// billOf returns the bill of materials of a binary.
func billOf(info *buildinfo.BuildInfo, version string) bom {
	toolx := part("application", info.Main.Path, version, "MIT")
	made := bom{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{toolx}}
	made.Components = append(made.Components,
		part("library", "std", strings.TrimPrefix(info.GoVersion, "go"), "BSD-3-Clause"))
	for _, one := range info.Deps {
		if one.Replace != nil {
			one = one.Replace
		}
		made.Components = append(made.Components, part("library", one.Path, one.Version, licencesOf(one.Path)...))
	}
	all := dependency{Ref: toolx.Ref}
	for _, one := range made.Components {
		all.DependsOn = append(all.DependsOn, one.Ref)
		made.Dependencies = append(made.Dependencies, dependency{Ref: one.Ref})
	}
	made.Dependencies = append([]dependency{all}, made.Dependencies...)
	return made
}

// part returns a component that is a Go module; ids are the SPDX identifiers of its licences.
func part(kind, path, version string, ids ...string) component {
	made := component{Type: kind, Name: path, Version: version, PURL: fmt.Sprintf("pkg:golang/%s@%s", path, version)}
	made.Ref = made.PURL
	for _, id := range ids {
		var one licence
		one.Licence.ID = id
		made.Licences = append(made.Licences, one)
	}
	return made
}
