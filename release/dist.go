package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// released is GoReleaser's output in a folder.
type released struct {
	Version  string // without "v"
	binaries []binary
}

// binary is toolx for one platform.
type binary struct {
	OS, Arch string // as Go names them
	Path     string
}

// readRelease reads GoReleaser's description of its output folder.
func readRelease(folder string) (released, error) {
	var made released
	if err := readJSON(filepath.Join(folder, "metadata.json"), &made); err != nil {
		return made, err
	}
	var artifacts []struct {
		Type   string `json:"type"`
		GOOS   string `json:"goos"`
		GOARCH string `json:"goarch"`
		Path   string `json:"path"`
	}
	if err := readJSON(filepath.Join(folder, "artifacts.json"), &artifacts); err != nil {
		return made, err
	}
	for _, one := range artifacts {
		if one.Type == "Binary" {
			// Its path is relative to where GoReleaser ran; the folder may have moved.
			path := filepath.Join(folder, filepath.Base(filepath.Dir(one.Path)), filepath.Base(one.Path))
			made.binaries = append(made.binaries, binary{one.GOOS, one.GOARCH, path})
		}
	}
	if len(made.binaries) == 0 {
		return made, fmt.Errorf("%s has no binaries: run make release-snapshot", folder)
	}
	return made, nil
}

func readJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// owner returns the account whose repository has the releases, as .goreleaser.yaml does.
func owner() string { return cmp.Or(os.Getenv("GITHUB_REPOSITORY_OWNER"), "toolx") }
