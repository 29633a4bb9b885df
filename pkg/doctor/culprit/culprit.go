// Package culprit names who most likely wrote a line that stands on a server's stdout and is
// no message: a library, a runtime, or a program that stands before the server.
package culprit

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Culprit is who most likely wrote something.
type Culprit struct {
	Name       string `json:"name"`
	Confidence string `json:"confidence" mask:"-"` // certain, likely, generic
}

// The grades of a culprit. A certain one has a text that nothing else prints; a
// likely one a shape that mostly means it; a generic one follows from what kind of
// program the server is.
const (
	Certain = "certain"
	Likely  = "likely"
	Generic = "generic"
)

// Context is what stands around a text and helps to tell who wrote it.
type Context struct {
	// Nearby are the lines around it, at most a banner's height away.
	Nearby []string
	// Command is the server's command line, behind the scripts that lead to it.
	Command []string
	// Wrappers are those scripts, the outermost first.
	Wrappers []Wrapper
}

// Recognition says who wrote a text on stdout, and what stops it.
type Recognition struct {
	Culprit Culprit
	// Rule names the rule that matched; RuleRuntime where none did.
	Rule string
	// InServer is what the server's author changes, Outside what its user does
	// without touching its code; either is empty where nothing is known to help there.
	InServer string
	Outside  string
}

// The rules that are no patterns of text.
const (
	// RuleRuntime is the rule of texts that no other rule knows: whatever programs of
	// the server's kind print with.
	RuleRuntime = "runtime"
	// RuleScript is the rule of texts that a script on the way to the server prints.
	RuleScript = "script"
	// RuleMerged is the rule of whatever comes of stderr that is led to stdout.
	RuleMerged = "merged"
)

// The bounds of recognising: a line says who wrote it near its beginning, and the
// tallest banner (FastMCP's) has fifteen lines.
const (
	MaxRecognised = 1024
	BannerHeight  = 15
)

// Recognise says who most likely wrote text: one line of stdout without its end,
// or several that belong together. Escape sequences and a byte order mark at its
// beginning are looked through. It always has an answer; the grade says how good.
func Recognise(text []byte, hint Context) Recognition {
	s := sightOf(text, hint)
	if said, ok := s.said(); ok {
		return said
	}
	for _, one := range culpritRules() {
		if one.matches(s) {
			return s.merged(one.recognition(s), one.confidence == Certain && !one.stderr)
		}
	}
	return s.merged(s.fallback(), false)
}

// sight is a text with all that helps to recognise it.
type sight struct {
	raw    string // as it came, at most maxRecognised bytes
	text   string // without escape sequences and byte order mark
	bom    bool
	nearby []string // plain too
	by     Printer
	argv   []string
	behind []Wrapper
}

func sightOf(text []byte, hint Context) sight {
	raw := strings.TrimRight(string(text[:min(len(text), MaxRecognised)]), "\n")
	s := sight{raw: raw, by: printerBehind(hint.Wrappers, hint.Command), argv: hint.Command, behind: hint.Wrappers}
	s.text, s.bom = strings.CutPrefix(PlainText(raw), "\ufeff")
	if s.text != "\r" { // alone, it is what the line is about
		s.text = strings.TrimRight(s.text, "\r")
	}
	for _, line := range hint.Nearby[:min(len(hint.Nearby), 2*BannerHeight)] {
		s.nearby = append(s.nearby, PlainText(line[:min(len(line), MaxRecognised)]))
	}
	return s
}

// near reports whether a line around the text matches.
func (s sight) near(pattern *regexp.Regexp) bool {
	return slices.ContainsFunc(s.nearby, pattern.MatchString)
}

// fallback is the answer for a text that no rule knows.
func (s sight) fallback() Recognition {
	found := Recognition{
		Culprit:  Culprit{Name: s.by.print, Confidence: Generic},
		Rule:     RuleRuntime,
		InServer: s.by.inServer,
		Outside:  s.outside(""),
	}
	if s.bom {
		found.Rule, found.Culprit.Name = "bom", "a writer that begins with a byte order mark"
		found.InServer = "write UTF-8 without a byte order mark (PowerShell: utf8NoBOM; .NET: new UTF8Encoding(false))"
	}
	return found
}

// said knows the writer of a text that a script on the way to the server prints.
func (s sight) said() (found Recognition, ok bool) {
	for _, w := range s.behind {
		c, sure, says := w.says(s.text)
		if !says {
			continue
		}
		found = w.mended(RuleScript, programWords(c.Words)[0]+" in "+w.at(c), "add >&2 to what prints in "+w.place)
		if sure {
			found.Culprit.Confidence = Certain
		}
		return found, true
	}
	return Recognition{}, false
}

// merged is found, or what leads the server's stderr to stdout where there is such a
// thing: then all that a server logs as it should is there. own says that found
// writes to stdout by itself.
func (s sight) merged(found Recognition, own bool) Recognition {
	for _, w := range s.behind {
		if c, merges := w.merges(); merges && !own {
			return w.mended(RuleMerged, "2>&1 in "+w.at(c)+", which leads stderr to stdout", "remove 2>&1 from "+w.at(c))
		}
	}
	return found
}

// outside adds to what a user can do the switches of the command line that ask
// for more output.
func (s sight) outside(known string) string {
	if known != "" {
		return known
	}
	for _, arg := range s.argv {
		switch arg {
		case "--verbose", "--debug", "-v", "-vv", "-d":
			return "drop " + arg + " from this server's args"
		}
	}
	return ""
}

// rule knows one writer by its text. Where it has no fixes, the runtime's apply.
type rule struct {
	id         string
	name       string
	printed    bool // the name says what was printed; with what, the runtime tells
	confidence string
	pattern    string // of the text without escape sequences
	// near is a pattern that a line around the text must match.
	near string
	// sure is a pattern of the raw text that makes the confidence certain.
	sure string
	// stderr says that it writes there, unless something leads that elsewhere.
	stderr bool
	// of limits the rule to a runtime; empty means any.
	of       string
	inServer string
	outside  string
}

// compiledRule is a rule whose patterns are ready.
type compiledRule struct {
	rule
	text, around, certainly *regexp.Regexp
}

// culpritRules are the rules in their order: the first that matches wins.
var culpritRules = sync.OnceValue(func() []compiledRule {
	var compiled []compiledRule
	for _, family := range [][]rule{libraryRules(), toolRules(), shapeRules()} {
		for _, one := range family {
			compiled = append(compiled, one.compile())
		}
	}
	return compiled
})

func (r rule) compile() compiledRule {
	compiled := compiledRule{rule: r, text: regexp.MustCompile(r.pattern)}
	if r.near != "" {
		compiled.around = regexp.MustCompile(r.near)
	}
	if r.sure != "" {
		compiled.certainly = regexp.MustCompile(r.sure)
	}
	return compiled
}

func (r *compiledRule) matches(s sight) bool {
	return (r.of == "" || r.of == s.by.Name) &&
		r.text.MatchString(s.text) &&
		(r.around == nil || s.near(r.around))
}

func (r *compiledRule) recognition(s sight) Recognition {
	found := Recognition{
		Culprit:  Culprit{Name: r.name, Confidence: r.confidence},
		Rule:     r.id,
		InServer: cmp.Or(r.inServer, s.by.inServer),
		Outside:  s.outside(r.outside),
	}
	if r.printed {
		found.Culprit.Name += " (" + s.by.print + ")"
		if s.by.either {
			found.Culprit.Confidence = Generic
		}
	}
	if r.certainly != nil && r.certainly.MatchString(s.raw) {
		found.Culprit.Confidence = Certain
	}
	return found
}

// PlainText is text without the escape sequences that colour it, title windows or
// move the cursor.
func PlainText(text string) string {
	if !strings.ContainsRune(text, '\x1b') {
		return text
	}
	return escapeSequence().ReplaceAllString(text, "")
}

var escapeSequence = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_a-z])`)
})
