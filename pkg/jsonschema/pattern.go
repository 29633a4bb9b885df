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
	maxProgram   = 100_000                // instructions of the linear engine
	matchTimeout = 100 * time.Millisecond // of the backtracking engine
	maxMatchWork = 200_000_000            // instructions times bytes, of the linear engine
	workPerStep  = 5000                   // units of maxMatchWork
)

// patterns compiles the regular expressions of one schema. JSON Schema uses ECMAScript's. Go's engine supports most of
// them, in linear time, and is used where possible. Only patterns that it does not support (look-around, back
// references, \u escapes) go to a backtracking engine, with a timeout.
//
// A pattern that neither engine supports is the author's mistake. It is recorded and not checked, but the schema does
// not count as broken: the rest of it is still worth checking.
type patterns struct {
	meter   *meter
	ignored []string // patterns that are not checked, in order
}

// compile is a jsonschema.RegexpEngine; it never fails.
func (p *patterns) compile(text string) (jsonschema.Regexp, error) {
	if len(text) <= maxPattern {
		if size := programSize(text); size > 0 && size <= maxProgram {
			if re, err := regexp.Compile(text); err == nil {
				return &linearPattern{re, size, p.meter}, nil
			}
		}
		if re, err := regexp2.Compile(text, regexp2.ECMAScript|regexp2.Unicode); err == nil {
			re.MatchTimeout = matchTimeout
			return &backtrackingPattern{re, p.meter}, nil
		}
	}
	p.ignore(text)
	return &ignoredPattern{text}, nil
}

// ignore records a pattern once: the engine is asked for it twice, when the schema is checked against its meta-schema
// and when it is compiled.
func (p *patterns) ignore(text string) {
	text = words.Shorten(text, words.MaxGiven)
	for _, known := range p.ignored {
		if known == text {
			return
		}
	}
	p.ignored = append(p.ignored, text)
}

// linearPattern is a pattern that Go's engine supports.
type linearPattern struct {
	re    *regexp.Regexp
	size  int // of its program, in instructions
	meter *meter
}

func (p *linearPattern) String() string { return p.re.String() }

// MatchString gives up on work that would take too long: a pattern such as (.{0,1000}){9} on a long text. The server
// then decides.
func (p *linearPattern) MatchString(text string) bool {
	work := p.size * len(text)
	if work > maxMatchWork {
		p.meter.spend(1)
		return p.meter.giveUp(p.re.String())
	}
	p.meter.spend(1 + work/workPerStep)
	return p.re.MatchString(text)
}

// programSize returns the most instructions a pattern can have, without compiling it: repetitions are expanded, so that
// ten bytes can become a thousand instructions. It is 0 for a pattern that Go's engine does not support.
func programSize(pattern string) int {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	return instructions(tree)
}

func instructions(tree *syntax.Regexp) int {
	size := 2 + len(tree.Rune)
	for _, part := range tree.Sub {
		size += instructions(part)
	}
	if tree.Op == syntax.OpRepeat {
		size *= max(1, tree.Min, tree.Max)
	}
	return size
}

// backtrackingPattern is a pattern that needs features of ECMAScript.
type backtrackingPattern struct {
	re    *regexp2.Regexp
	meter *meter
}

func (p *backtrackingPattern) String() string { return p.re.String() }

// MatchString gives up after the timeout; the server then decides.
func (p *backtrackingPattern) MatchString(text string) bool {
	p.meter.spend(1 + len(text)/bytesPerStep)
	matched, err := p.re.MatchString(text)
	if err != nil {
		p.meter.spend(stepsOfTimeout)
		return p.meter.giveUp(p.re.String())
	}
	return matched
}

// ignoredPattern matches everything.
type ignoredPattern struct{ text string }

func (p *ignoredPattern) String() string          { return p.text }
func (p *ignoredPattern) MatchString(string) bool { return true }

// matcher matches names against a document's patterns, each compiled once. A pattern that took too long on a name
// matches all later ones.
type matcher struct {
	engine   patterns
	compiled map[string]jsonschema.Regexp
}

// Limits of one matcher.
const (
	maxPatterns     = 5000 // that are kept compiled: one takes some kilobytes
	stepsPerPattern = 20   // to compile one
)

func newMatcher() *matcher {
	return &matcher{engine: patterns{meter: &meter{}}, compiled: make(map[string]jsonschema.Regexp)}
}

// match reports whether a name matches a pattern; every name does after the budget is used up.
func (m *matcher) match(budget *budget, pattern, name string) (matched bool) {
	defer func() {
		if cause := recover(); cause != nil {
			if _, is := cause.(stopped); !is {
				panic(cause)
			}
			matched = true
		}
	}()
	m.engine.meter.start(budget)
	re, ok := m.compiled[pattern]
	if !ok {
		m.engine.meter.spend(stepsPerPattern)
		re, _ = m.engine.compile(pattern) // it never fails
		if len(m.compiled) >= maxPatterns {
			clear(m.compiled)
		}
		m.compiled[pattern] = re
	}
	matched = re.MatchString(name)
	if len(m.engine.meter.unmatched) > 0 {
		m.compiled[pattern] = &ignoredPattern{pattern}
	}
	return matched
}
