package tool

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"

	"github.com/dlclark/regexp2"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
)

// The bounds of looking at patterns.
const (
	maxPatternBytes = 10_000
	patternTime     = 2 * time.Second        // for all patterns of a server
	attackTime      = 100 * time.Millisecond // for one match
	attackLength    = 30                     // repetitions that exponential work cannot pass
)

func askSchemaPattern(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	judge := patternJudge{known: make(map[string]string), deadline: time.Now().Add(patternTime)}
	for _, d := range listing.Read(e).Tools {
		for _, tree := range d.Schemas() {
			for _, node := range tree.Nodes {
				if pattern, ok := node.Object["pattern"].(string); ok {
					found = append(found, judge.findings(d, node.Pointer()+"/pattern", pattern)...)
				}
				if node.Keyword == "patternProperties" {
					found = append(found, judge.findings(d, node.Pointer(), node.Name)...)
				}
			}
		}
	}
	return check.Capped(found)
}

// patternJudge remembers what it thinks of patterns: generated schemas repeat them.
type patternJudge struct {
	known    map[string]string
	deadline time.Time
}

func (j *patternJudge) findings(d *listing.Definition, pointer, pattern string) []check.Finding {
	remark, seen := j.known[pattern]
	if !seen {
		remark = j.remark(pattern)
		j.known[pattern] = remark
	}
	if remark == "" {
		return nil
	}
	return []check.Finding{d.Finding(pointer, evidence.Excerpt(pattern, evidence.MaxExcerpt)+": "+remark)}
}

// remark says what is wrong with a pattern, empty where nothing is.
func (j *patternJudge) remark(pattern string) string {
	if len(pattern) > maxPatternBytes {
		return fmt.Sprintf("%d bytes are too many for a pattern", len(pattern))
	}
	backtracking, err := regexp2.Compile(pattern, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return "JavaScript does not read it"
	}
	if feature := notECMA(pattern); feature != "" {
		return "JavaScript does not know " + feature
	}
	if time.Now().Before(j.deadline) {
		if length := endless(backtracking, pattern); length > 0 {
			return fmt.Sprintf("a text of %d characters keeps it busy for more than %s", length, attackTime)
		}
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return "Go and Rust do not read it: " + syntaxRemark(err)
	}
	return ""
}

// syntaxRemark is what Go says about a pattern, without repeating it.
func syntaxRemark(err error) string {
	text := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	return evidence.Excerpt(text, evidence.MaxExcerpt)
}

// notECMA names what a pattern uses of other languages, which the engine that stands
// in for JavaScript's lets pass.
func notECMA(pattern string) string {
	escaped := false
	for i := range len(pattern) {
		if escaped {
			escaped = false
			switch pattern[i] {
			case 'A', 'z', 'Z', 'Q', 'E', 'G':
				return `\` + pattern[i:i+1]
			}
			continue
		}
		escaped = pattern[i] == '\\'
		rest := pattern[i:]
		switch {
		case strings.HasPrefix(rest, "(?P<"):
			return "(?P<name>"
		case strings.HasPrefix(rest, "[[:"):
			return "[[:class:]]"
		case strings.HasPrefix(rest, "(?i)"), strings.HasPrefix(rest, "(?s)"), strings.HasPrefix(rest, "(?m)"), strings.HasPrefix(rest, "(?x)"):
			return rest[:4]
		}
	}
	return ""
}

// endless looks for a text on which a backtracking engine does not come to an end,
// and gives its length; zero where none was found. It tries rather than guesses: a
// repetition is pumped, then the text made to fail.
func endless(engine *regexp2.Regexp, pattern string) int {
	tree, err := syntax.Parse(withoutLookaround(pattern), syntax.Perl)
	if err != nil {
		return 0
	}
	engine.MatchTimeout = attackTime
	attacks := attackTexts(tree, "", nil)
	for _, attack := range attacks[:min(len(attacks), 8)] {
		for _, ending := range []string{"\x00", "!"} {
			if _, err := engine.MatchString(attack + ending); err != nil {
				return len(attack + ending)
			}
		}
	}
	return 0
}

// withoutLookaround turns look-around into plain groups, so that Go can parse the
// rest; what is lost is only a guess at a text.
func withoutLookaround(pattern string) string {
	return strings.NewReplacer(`\\`, `\\`, `\(`, `\(`, "(?=", "(?:", "(?!", "(?:", "(?<=", "(?:", "(?<!", "(?:").Replace(pattern)
}

// maxAttack bounds the texts that patterns are tried on, in bytes.
const maxAttack = 2000

// attackTexts are texts that reach each unbounded repetition and pump it; prefix is
// what comes before tree.
func attackTexts(tree *syntax.Regexp, prefix string, found []string) []string {
	switch tree.Op {
	case syntax.OpConcat:
		for _, part := range tree.Sub {
			found = attackTexts(part, prefix, found)
			if prefix += sampleText(part, false); len(prefix) > maxAttack {
				return found
			}
		}
		return found
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		unbounded := tree.Op != syntax.OpRepeat || tree.Max < 0 || tree.Max >= attackLength
		if once := sampleText(tree.Sub[0], true); unbounded && once != "" && len(once) < maxAttack/attackLength {
			found = append(found, prefix+strings.Repeat(once, attackLength))
		}
	}
	for _, part := range tree.Sub {
		found = attackTexts(part, prefix, found)
	}
	return found
}

// sampleText is a short text that a pattern matches; some says that what may be
// missing is there once.
func sampleText(tree *syntax.Regexp, some bool) string {
	switch tree.Op {
	case syntax.OpLiteral:
		return string(tree.Rune)
	case syntax.OpCharClass:
		return sampleRune(tree.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpStar, syntax.OpQuest:
		if !some {
			return ""
		}
	case syntax.OpRepeat:
		one := sampleText(tree.Sub[0], some)
		count := tree.Min
		if some {
			count = max(count, 1)
		}
		return strings.Repeat(one, min(count, maxAttack/max(len(one), 1)))
	case syntax.OpConcat:
		var text strings.Builder
		for _, part := range tree.Sub {
			if text.Len() < maxAttack {
				text.WriteString(sampleText(part, some))
			}
		}
		return text.String()
	}
	if len(tree.Sub) == 0 {
		return ""
	}
	return sampleText(tree.Sub[0], some)
}

// sampleRune is a character of a class, given as pairs of bounds.
func sampleRune(class []rune) string {
	for _, wanted := range "a0 A-" {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= wanted && wanted <= class[i+1] {
				return string(wanted)
			}
		}
	}
	if len(class) == 0 {
		return ""
	}
	return string(class[0])
}
