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
		{"one argument", strings.Repeat("${BIG}", 8000), "servers.s.args[0]: the entry's expanded variables exceed 4 MiB"},
		{"in defaults", strings.Repeat("${NO:-${BIG}}", 8000), "exceed 4 MiB"},
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
	if _, problems := parseFile(File{Name: "c.json"}, []byte(`{"servers": {`+text.String()[1:]+"}}")); len(problems) != 1 || !strings.Contains(problems[0].Text, "'servers' has 20001 entries, at most 20000 are allowed") {
		t.Errorf("%.300v", problems)
	}
}

// TestYAMLIsBounded proves that a text is refused before the lexer has made more than a few times as many tokens as are
// allowed: each takes more than 200 bytes (CFG-3).
func TestYAMLIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out large input")
	}
	fill := func(pattern string) string { return "servers: " + strings.Repeat(pattern, (maxYAML-100)/len(pattern)) }
	const deep, many = "values are nested more than 200 deep", "too large for YAML (more than 50000 tokens)"
	for _, test := range []struct{ name, text, said string }{
		{"lists", fill("["), deep},
		{"mappings", fill("{a:"), deep},
		{"lists with commas", fill("[,,,"), deep},
		{"closed lists", fill("[a]"), many},
		{"anchors", fill("&a "), many},
		{"aliases", fill("*a "), many},
		{"tags", fill("!a "), many},
		{"block texts", "servers:\n" + fill("- |\n")[10:], many},
		{"block texts on a line", "servers:\n" + fill("- |")[9:], "not valid YAML: invalid header option"},
		{"keys on a line", "servers:\n" + fill("? ")[9:], deep},
		{"dashes on a line", "servers:\n" + fill("- ")[9:], deep},
		{"comments", fill("#c\n"), many},
		{"documents", fill("\n---\n"), many},
		{"directives", "%a\n" + fill("\n%"), many},
		{"a mapping", "servers:\n" + fill("a: b\n")[9:], many},
		{"a quote without its end", `a: "` + fill("{a:"), "could not find end character of double-quoted text"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tokens, problem := tokenize("c.yaml", []byte(test.text))
			if len(tokens) > 3*maxTokens {
				t.Errorf("%d tokens", len(tokens))
			}
			if problem == nil {
				_, problems := parseYAML("c.yaml", []byte(test.text))
				problem = &problems[0]
			}
			if !strings.Contains(problem.Text, test.said) {
				t.Errorf("%.200q, want %q", problem.Text, test.said)
			}
		})
	}
	// What only looks like many tokens is read.
	for _, pattern := range []string{"[{a: b}], ", "- |\n  ", "'"} {
		text := "a: |\n  " + strings.Repeat(pattern, 900_000/len(pattern))
		if root, problems := parseYAML("c.yaml", []byte(text)); root == nil || len(problems) > 0 {
			t.Errorf("a text of %q: %.200v", pattern, problems)
		}
	}
}
