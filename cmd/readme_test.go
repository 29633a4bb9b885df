package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme holds the README to what a newcomer needs of it: it is short, and its commands work in a checkout.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if words := len(strings.Fields(string(text))); words > 700 {
		t.Errorf("README.md has %d words, at most 700 are read", words)
	}
	// What begins so is not run, because of what it needs.
	needs := map[string]string{
		"toolx tui":                        "a terminal",
		"toolx servers add":                "a server's command",
		"toolx servers":                    "other clients",
		"toolx call cursor:":               "another client",
		"toolx call echo message=hi --url": "a server at an address",
		"toolx doctor -- npx":              "a package",
		"toolx session start":              "a browser",
		"toolx dev":                        "somebody who ends it",
		"toolx ask":                        "a model",
	}
	home := t.TempDir()
	ran := 0
	commands := regexp.MustCompile("(?m)^\\$ (toolx .*)$|`(toolx [^`]+)`")
	for _, found := range commands.FindAllStringSubmatch(string(text), -1) {
		command := found[1] + found[2]
		left := false
		for begin := range needs {
			left = left || strings.HasPrefix(command, begin)
		}
		if left {
			continue
		}
		shell := exec.Command("sh", "-c", command)
		shell.Dir, shell.Env = "..", append(os.Environ(), homeVariables(home)...)
		shell.Env = append(shell.Env, "PATH="+built(t, releasedPath))
		if out, err := shell.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
		ran++
	}
	if ran < 8 {
		t.Errorf("only %d commands were found", ran)
	}
}

// TestPagesAreShort bounds the documentation: what is longer is not read.
func TestPagesAreShort(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join("..", "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal(err)
	}
	most := map[string]int{"all pages": 40_000, "architecture.md": 1_800}
	words := map[string]int{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		words[filepath.Base(page)] = len(strings.Fields(string(text)))
		words["all pages"] += words[filepath.Base(page)]
	}
	for what, limit := range most {
		if words[what] > limit {
			t.Errorf("%s: %d words, at most %d", what, words[what], limit)
		}
	}
}
