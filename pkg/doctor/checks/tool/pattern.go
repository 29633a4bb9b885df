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

// Limits on the checks of patterns.
const (
	maxPatternBytes = 10_000
	patternTime     = 2 * time.Second        // for all patterns of a server
	attackTime      = 100 * time.Millisecond // for one match
	attackLength    = 30                     // repetitions, too many for exponential backtracking
)

func askSchemaPattern(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	judge := patternJudge{known: make(map[string]string), deadline: time.Now().Add(patternTime)}
	for _, d := range listing.Read(e).Tools {
		for _, tree := range d.Schemas() {
			for _, node := range tree.All {
				if pattern := node.Get("pattern").Text(); pattern != "" {
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

// patternJudge caches results, because generated schemas repeat patterns.
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
	return d.One(pointer, "%s: %s", evidence.Cut(pattern), remark)
}

// remark returns what is wrong with a pattern, or nothing.
func (j *patternJudge) remark(pattern string) string {
	if len(pattern) > maxPatternBytes {
		return fmt.Sprintf("the pattern is too long: %d bytes", len(pattern))
	}
	backtracking, err := regexp2.Compile(pattern, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return "JavaScript cannot parse it"
	}
	if feature := notECMA(pattern); feature != "" {
		return "JavaScript does not support " + feature
	}
	if time.Now().Before(j.deadline) {
		if length := endless(backtracking, pattern); length > 0 {
			return fmt.Sprintf("matching a text of %d characters takes more than %s", length, attackTime)
		}
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return "Go and Rust cannot parse it: " + evidence.Cut(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return ""
}

// notECMA returns syntax of other languages in a pattern, which the ECMAScript engine accepts nevertheless, or nothing.
func notECMA(pattern string) string {
	escaped := false
	for i := range len(pattern) {
		rest := pattern[i:]
		if escaped {
			escaped = false
			if strings.ContainsRune("AzZQEG", rune(rest[0])) {
				return `\` + rest[:1]
			}
			continue
		}
		escaped = rest[0] == '\\'
		for _, foreign := range []string{"(?P<", "[[:", "(?i)", "(?s)", "(?m)", "(?x)"} {
			if strings.HasPrefix(rest, foreign) {
				return strings.NewReplacer("(?P<", "(?P<name>", "[[:", "[[:class:]]").Replace(foreign)
			}
		}
	}
	return ""
}

// endless returns the length of a text on which a backtracking engine takes too long, or zero. It tries texts that
// repeat the match of a repetition and then fail.
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

// withoutLookaround replaces look-around with plain groups, so that Go can parse the pattern.
func withoutLookaround(pattern string) string {
	return strings.NewReplacer(`\\`, `\\`, `\(`, `\(`, "(?=", "(?:", "(?!", "(?:", "(?<=", "(?:", "(?<!",
		"(?:").Replace(pattern)
}

// maxAttack limits the size of texts in bytes.
const maxAttack = 2000

// attackTexts returns texts that reach each unbounded repetition and repeat its match; prefix is a match of the pattern
// before tree.
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

// sampleText returns a short text that matches a pattern; some includes optional parts once.
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

// sampleRune returns a character of a class, given as pairs of bounds.
func sampleRune(class []rune) string {
	for _, wanted := range "a0 A-" {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= wanted && wanted <= class[i+1] {
				return string(wanted)
			}
		}
	}
	return string(class[:min(len(class), 1)])
}

// askSchemaGrammar finds what llama.cpp cannot convert to a grammar. What all its versions reject is a warning, because
// a request with such a tool fails.
func askSchemaGrammar(e *evidence.Evidence) []check.Finding {
	var always, some []spot
	for _, d := range listing.Read(e).Tools {
		if d.Input == nil {
			continue
		}
		for _, limit := range d.Input.GrammarLimits() {
			place := evidence.Label(strings.TrimSuffix(d.Name+"."+limit.At.PropertyPath(), "."))
			one := spot{d, limit.At.Pointer() + "/" + limit.Keyword, place + " has " + limit.Text}
			if limit.Always {
				always = append(always, one)
			} else {
				some = append(some, one)
			}
		}
	}
	found := together(always, "")
	for i := range found {
		found[i].Severity = check.Warning
	}
	return append(found, together(some, "")...)
}
