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

// object is a JSON object.
type object = map[string]any

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

// billOf returns the bill of materials of a binary in CycloneDX 1.6. It omits the optional time and random serial
// number, so that builds are reproducible.
func billOf(info *buildinfo.BuildInfo, version string) object {
	toolx := part("application", info.Main.Path, version, "MIT")
	parts := []object{part("library", "std", strings.TrimPrefix(info.GoVersion, "go"), "BSD-3-Clause")}
	for _, one := range info.Deps {
		if one.Replace != nil && !strings.HasPrefix(one.Replace.Path, "./") { // release/lazyinit edits copies there
			one = one.Replace
		}
		parts = append(parts, part("library", one.Path, one.Version, licencesOf(one.Path)...))
	}
	var refs []any
	dependencies := []object{nil}
	for _, one := range parts {
		refs = append(refs, one["bom-ref"])
		dependencies = append(dependencies, object{"ref": one["bom-ref"]})
	}
	dependencies[0] = object{"ref": toolx["bom-ref"], "dependsOn": refs}
	return object{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": object{"component": toolx}, "components": parts, "dependencies": dependencies,
	}
}

// part returns a component that is a Go module; ids are the SPDX identifiers of its licences.
func part(kind, path, version string, ids ...string) object {
	url := fmt.Sprintf("pkg:golang/%s@%s", path, version)
	made := object{"type": kind, "bom-ref": url, "name": path, "purl": url}
	if version != "" {
		made["version"] = version
	}
	var licences []object
	for _, id := range ids {
		licences = append(licences, object{"license": object{"id": id}})
	}
	if licences != nil {
		made["licenses"] = licences
	}
	return made
}
