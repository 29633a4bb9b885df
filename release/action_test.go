package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestActionPassesInputsAsVariables reads action.yml: a step runs a script and nothing else, so that no input can
// become a command, and has the variables that the script reads. docs/ci.md lists the inputs with their defaults.
func TestActionPassesInputsAsVariables(t *testing.T) {
	var action struct {
		Inputs map[string]struct{ Description, Default string }
		Runs   struct {
			Steps []struct {
				Run string
				Env map[string]string
			}
		}
	}
	text := readText(t, "action.yml")
	if err := yaml.Unmarshal([]byte(text), &action); err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`^bash "\$GITHUB_ACTION_PATH/(release/action/[a-z]+\.sh)"$`)
	var scripts []string
	for _, step := range action.Runs.Steps {
		if step.Run == "" {
			continue
		}
		found := command.FindStringSubmatch(step.Run)
		if found == nil {
			t.Errorf("a step runs %q", step.Run)
			continue
		}
		scripts = append(scripts, filepath.Base(found[1]))
		script := readText(t, found[1])
		for _, name := range regexp.MustCompile(`\$\{?(TOOLX_ACTION_[A-Z_]+)`).FindAllStringSubmatch(script, -1) {
			if _, given := step.Env[name[1]]; !given {
				t.Errorf("%s reads %s, which its step does not set", found[1], name[1])
			}
		}
		for name := range step.Env {
			read := strings.Contains(script, "$"+name) || strings.Contains(script, "${"+name)
			if common := readText(t, "release/action/common.sh"); !read && strings.HasPrefix(name, "TOOLX_ACTION_") &&
				(!strings.Contains(script, "common.sh") || !strings.Contains(common, "$"+name)) {
				t.Errorf("%s does not read %s", found[1], name)
			}
		}
	}
	want := []string{"install.sh", "doctor.sh", "snapshot.sh", "comment.sh", "batch.sh"}
	if !slices.Equal(scripts, want) {
		t.Errorf("the steps run %q, want %q", scripts, want)
	}
	page := readText(t, "docs/ci.md")
	for name, input := range action.Inputs {
		if !strings.Contains(text, "inputs."+name) {
			t.Errorf("the input %s is not used", name)
		}
		row := "| `" + name + "` | `" + input.Default + "` |"
		if input.Default == "" || strings.Contains(input.Default, "$") {
			row = "| `" + name + "` | |"
		}
		if !strings.Contains(page, row) {
			t.Errorf("docs/ci.md has no row %s", row)
		}
	}
}

// readText reads a file of the repository.
func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
