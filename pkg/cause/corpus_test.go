package cause

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// lastWords is a failed start of a published server, as testdata/lastwords/README.md describes it.
type lastWords struct {
	name                                                string // with its archive's
	server, runtime, ended, engines, cause, title, hint string
	stdout, stderr                                      string
}

// readLastWords reads the starts of all archives.
func readLastWords(t testing.TB) []*lastWords {
	t.Helper()
	archives, err := filepath.Glob("../../testdata/lastwords/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	var all []*lastWords
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		group := strings.TrimSuffix(filepath.Base(path), ".txtar")
		for _, f := range archive.Files {
			name, part, _ := strings.Cut(f.Name, "/")
			if part == "head" {
				all = append(all, readHead(group+"/"+name, string(f.Data)))
				continue
			}
			one := all[len(all)-1]
			if one.name != group+"/"+name {
				t.Fatalf("%s: %s has no head", path, f.Name)
			}
			switch part {
			case "stdout":
				one.stdout = string(f.Data)
			case "stderr":
				one.stderr = string(f.Data)
			default:
				t.Fatalf("%s: what is %s?", path, f.Name)
			}
		}
	}
	return all
}

// readHead reads what was run and what a person found to be the cause.
func readHead(name, head string) *lastWords {
	one := &lastWords{name: name}
	keys := map[string]*string{
		"server": &one.server, "runtime": &one.runtime, "ended": &one.ended, "engines": &one.engines,
		"cause": &one.cause, "title": &one.title, "hint": &one.hint,
	}
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if field := keys[key]; field != nil {
			*field = value
		}
	}
	return one
}

// output returns what the doctor would know of the start.
func (w *lastWords) output() Output {
	o := Output{Stderr: strings.Split(w.stderr, "\n"), Alive: w.ended == "still running", Done: w.ended == "0"}
	if node, ok := strings.CutPrefix(w.runtime, "node "); ok {
		o.Node = node
		running, _ := strconv.Atoi(node)
		asked, _, _ := strings.Cut(leastVersion().FindString(w.engines), ".")
		if least, err := strconv.Atoi(asked); err == nil && least > running {
			o.Engines = w.engines
		}
	}
	for word := range strings.FieldsSeq(w.server) {
		if !strings.Contains(word, "=") {
			break
		}
		o.Environ = append(o.Environ, word)
	}
	for line := range strings.SplitSeq(w.stdout, "\n") {
		var answer struct {
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		switch _ = json.Unmarshal([]byte(line), &answer); {
		case answer.Error != nil && o.Reply == "":
			o.Reply = answer.Error.Message
		case answer.Result == nil:
			o.Stdout = append(o.Stdout, line)
		}
	}
	return o
}

// leastRight is how many of a hundred failed starts must have the right cause, title and hint. It only rises.
const leastRight = 98

// TestLastWords holds the rules against failed starts of published servers, which were judged by hand. It prints those
// that are wrong; a server that gets better words, or a new file, may add one.
func TestLastWords(t *testing.T) {
	all := readLastWords(t)
	right := 0
	for _, w := range all {
		c := Diagnose(w.output())
		if c == nil {
			c = &Cause{}
		}
		fixes := strings.Join(c.Fixes, "\n")
		if w.hasKind(c.Kind) && strings.Contains(c.What, w.title) && strings.Contains(fixes, w.hint) {
			right++
			continue
		}
		t.Logf("%s: %s (%s): %s\n%s\nwant %s: %q with a hint that has %q", w.name, c.Kind, c.Rule, c.What, fixes,
			w.cause, w.title, w.hint)
	}
	t.Logf("%d of %d failed starts are right", right, len(all))
	if right*100 < leastRight*len(all) {
		t.Errorf("%d of %d failed starts are right, fewer than %d %%", right, len(all), leastRight)
	}
}

// hasKind reports whether a kind is the one that was judged: a check that has the server's own words is not told of by
// a kind.
func (w *lastWords) hasKind(kind Kind) bool {
	if strings.HasPrefix(w.cause, "exit-") {
		return kind != "" && !kind.HasCheck() || kind == "" && w.title == ""
	}
	return kind == Kind(w.cause)
}

// TestRulesHaveIDs: every rule has an id of its own, and expressions that compile.
func TestRulesHaveIDs(t *testing.T) {
	all := slices.Concat(tables().line, tables().sentence)
	for _, r := range tables().anywhere {
		all = append(all, r.Rule)
	}
	known := make(map[string]bool)
	for _, r := range all {
		if r.Group == "" || known[r.Name()] || r.Get("kind") == "" {
			t.Errorf("the rule %s has no group, no id of its own or no kind", r.Name())
		}
		known[r.Name()] = true
	}
	for _, r := range slices.Concat(all, signals(), networkFaults(), fileFaults()) {
		for _, key := range []string{"unless", "beside"} {
			r.Expression(key)
		}
		if r.Expression("match") == nil {
			t.Errorf("the rule %s matches nothing", r.Name())
		}
	}
}

// TestPatterns: patterns.txt and patterns.go have the same expressions, and each compiles.
func TestPatterns(t *testing.T) {
	source, err := os.ReadFile("patterns.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(\w+) += pattern\("(\w+)"\)`).FindAllStringSubmatch(string(source), -1)
	for _, names := range declared {
		if names[1] != names[2] || patterns()[names[2]] == nil {
			t.Errorf("%s is not the pattern %q", names[1], names[2])
		}
	}
	lists := []string{"address", "missingPhrases", "nodeFeatures"} // which are read line by line
	if len(declared)+len(lists) != len(patterns()) {
		t.Errorf("%d expressions are declared, and %d written", len(declared), len(patterns())-len(lists))
	}
	for id, r := range patterns() {
		if r.Expression("match") == nil && !slices.Contains(lists, id) {
			t.Errorf("%s matches nothing", id)
		}
	}
}

// TestEveryRuleHasAnOutput asks for an output of testdata that each rule explains.
func TestEveryRuleHasAnOutput(t *testing.T) {
	explained := make(map[string]bool)
	for _, w := range readLastWords(t) {
		if c := Diagnose(w.output()); c != nil {
			explained[c.Rule] = true
		}
	}
	for _, name := range outputs {
		archive, err := txtar.ParseFile("testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range archive.Files {
			for _, alive := range []bool{false, true} {
				out := exampleOf(string(file.Data))
				out.Alive = alive
				if c := Diagnose(out); c != nil {
					explained[c.Rule] = true
				}
			}
		}
	}
	all := slices.Concat(tables().line, tables().sentence)
	for _, r := range tables().anywhere {
		all = append(all, r.Rule)
	}
	for _, r := range all {
		if !explained[r.Name()] {
			t.Errorf("no output in testdata/lastwords or pkg/cause/testdata is explained by the rule %s", r.Name())
		}
	}
}
