package jsonschema

import (
	"regexp"
	"regexp/syntax"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolx/pkg/words"
)

// Limits of one regular expression from a schema.
const (
	maxPattern   = 10_000                 // bytes
	matchTimeout = 100 * time.Millisecond // of the backtracking engine
	maxMatchWork = 500_000_000            // instructions times bytes, of the linear engine
)

// patterns compiles the regular expressions of one schema. JSON Schema means
// ECMAScript's; Go's engine reads most of them, in linear time, and decides
// where it can. Only what it lacks (look-around, back references, \u escapes)
// goes to a backtracking engine, under a timeout.
//
// A pattern that neither engine reads is the schema author's slip. It is left
// out and remembered, rather than turned into a broken schema: everything else
// that the schema says is still worth checking.
type patterns struct {
	meter   *meter
	ignored []string // patterns that are not checked, in order
}

// compile is a jsonschema.RegexpEngine; it never fails.
func (p *patterns) compile(text string) (jsonschema.Regexp, error) {
	if len(text) <= maxPattern {
		if re, err := regexp.Compile(text); err == nil {
			return &linearPattern{re, p.meter}, nil
		}
		if re, err := regexp2.Compile(text, regexp2.ECMAScript|regexp2.Unicode); err == nil {
			re.MatchTimeout = matchTimeout
			return &backtrackingPattern{re, p.meter}, nil
		}
	}
	p.ignore(text)
	return &ignoredPattern{text}, nil
}

// ignore remembers a pattern once: the engine is asked for it twice, when the
// schema is held against its meta-schema and when it is compiled.
func (p *patterns) ignore(text string) {
	text = words.Shorten(text, words.MaxGiven)
	for _, known := range p.ignored {
		if known == text {
			return
		}
	}
	p.ignored = append(p.ignored, text)
}

// linearPattern is a pattern that Go's engine reads.
type linearPattern struct {
	re    *regexp.Regexp
	meter *meter
}

func (p *linearPattern) String() string { return p.re.String() }

// MatchString gives up where finding out would cost too much: a pattern such as
// (.{1000}){100} on a long text. The server then judges.
func (p *linearPattern) MatchString(text string) bool {
	p.meter.step()
	const short = 1000 // bytes for which even the largest program is quick
	if len(text) > short && programSize(p.re.String())*len(text) > maxMatchWork {
		return p.meter.giveUp(p.re.String())
	}
	return p.re.MatchString(text)
}

// programSize returns the number of instructions of a pattern that compiles.
func programSize(pattern string) int {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0
	}
	return len(program.Inst)
}

// backtrackingPattern is a pattern that needs ECMAScript's own features.
type backtrackingPattern struct {
	re    *regexp2.Regexp
	meter *meter
}

func (p *backtrackingPattern) String() string { return p.re.String() }

// MatchString gives up when its time is up: only the server can judge.
func (p *backtrackingPattern) MatchString(text string) bool {
	p.meter.step()
	matched, err := p.re.MatchString(text)
	if err != nil {
		return p.meter.giveUp(p.re.String())
	}
	return matched
}

// ignoredPattern matches everything.
type ignoredPattern struct{ text string }

func (p *ignoredPattern) String() string          { return p.text }
func (p *ignoredPattern) MatchString(string) bool { return true }

// matcher matches names against a document's patterns, each compiled once. One that
// took too long on a name counts as matched by all that follow.
type matcher struct {
	engine   patterns
	compiled map[string]jsonschema.Regexp
}

func newMatcher() *matcher {
	return &matcher{engine: patterns{meter: &meter{}}, compiled: make(map[string]jsonschema.Regexp)}
}

func (m *matcher) match(pattern, name string) bool {
	re, ok := m.compiled[pattern]
	if !ok {
		re, _ = m.engine.compile(pattern) // it never fails
		m.compiled[pattern] = re
	}
	before := len(m.engine.meter.unmatched)
	matched := re.MatchString(name)
	if len(m.engine.meter.unmatched) > before {
		m.compiled[pattern] = &ignoredPattern{pattern}
	}
	return matched
}

// matchPattern matches one name against one pattern of a schema.
func matchPattern(pattern, name string) bool {
	re, err := new(patterns).compile(pattern)
	return err == nil && re.MatchString(name)
}
