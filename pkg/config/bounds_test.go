package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestExpansionIsBounded proves that a few bytes of a config cannot become gigabytes: what the variables of an entry
// become is bounded, and so is what is said of it (CFG-3).
func TestExpansionIsBounded(t *testing.T) {
	environ := []string{"BIG=" + strings.Repeat("x", 100_000)}
	for _, test := range []struct {
		name, text, said string
	}{
		{"one argument", strings.Repeat("${BIG}", 8000), "servers.s.args[0]: the variables of the entry become more than 4 MiB"},
		{"in defaults", strings.Repeat("${NO:-${BIG}}", 8000), "more than 4 MiB"},
		{"no variables", strings.Repeat("${!}", 100_000), "'${!}' is not a variable"},
		{"not set", strings.Repeat("${NO}", 100_000), "NO (args[0]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := &Server{Name: "s", Command: "true", Args: []string{test.text}}
			_, err := server.Resolve(environ)
			var wrong *Error
			if err == nil || !strings.Contains(err.Error(), test.said) || len(err.Error()) > 50_000 {
				t.Fatalf("%.300v", err)
			}
			if errors.As(err, &wrong) && len(wrong.Problems) > mostRemarks {
				t.Errorf("%d problems", len(wrong.Problems))
			}
		})
	}
	server := &Server{Name: "s", Command: "true", Args: []string{strings.Repeat("${BIG}", 40)}}
	if resolved, err := server.Resolve(environ); err != nil || len(resolved.Args[0]) != 4_000_000 {
		t.Errorf("what is below the limit: %v", err)
	}
}

// TestEntriesAreBounded refuses a file with more entries than anyone means.
func TestEntriesAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range maxEntries + 1 {
		fmt.Fprintf(&text, ", \"s%d\": {}", i)
	}
	if _, problems := parseFile(File{Name: "c.json"}, []byte(`{"servers": {`+text.String()[1:]+"}}")); len(problems) != 1 || !strings.Contains(problems[0].Text, "'servers' has 20001 entries, and the most is 20000") {
		t.Errorf("%.300v", problems)
	}
}
