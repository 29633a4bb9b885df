package cmd_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestStyle holds what docs/style.md says and a program can check of Go comments: a function
// that returns a bool reports whether, and comments refer only to pages of this repository.
func TestStyle(t *testing.T) {
	page := regexp.MustCompile(`[\w./-]+\.md\b`)
	for path, file := range sources(t) {
		for _, group := range file.Comments {
			text := group.Text()
			if strings.Contains(text, "says whether") || strings.Contains(text, "say whether") {
				t.Errorf("%s: write \"reports whether\" (docs/style.md): %s", path, text)
			}
			for _, name := range page.FindAllString(text, -1) {
				if _, err := os.Stat(filepath.Join("..", name)); err != nil {
					t.Errorf("%s: a comment refers to %s, which is not here", path, name)
				}
			}
		}
	}
}
