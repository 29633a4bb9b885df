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

// The grades of a culprit. A certain one has a text that nothing else prints, a likely one a shape that mostly means
// it; a generic one follows from the kind of program that the server is.
const (
	Certain = "certain"
	Likely  = "likely"
	Generic = "generic"
)

// Context is what is around a text and helps to tell who wrote it.
type Context struct {
	// Nearby are the lines around it, at most a banner's height away.
	Nearby []string
	// Command is the server's command line, inside the scripts that lead to it. It begins with the runtime if the
	// program's name does not say that.
	Command []string
	// Wrappers are those scripts, the outermost first.
	Wrappers []Wrapper
	// Beside are the command lines of further programs that write to the same stdout.
	Beside [][]string
}

// Recognition says who wrote a text on stdout, and what stops it.
type Recognition struct {
	Culprit Culprit
	// Rule names the rule that matched, or is RuleRuntime.
	Rule string
	// InServer is what the server's author changes, Outside what its user does without touching its code; either may
	// be unknown.
	InServer string
	Outside  string
}

// The rules that are not patterns of text.
const (
	// RuleRuntime is the rule of texts that no other rule knows: whatever programs of the server's kind print with.
	RuleRuntime = "runtime"
	// RuleScript is the rule of texts that a script on the way to the server prints.
	RuleScript = "script"
	// RuleMerged is the rule of stderr that is redirected to stdout.
	RuleMerged = "merged"
)

// The bounds of recognition: a line says who wrote it near its beginning, and the tallest banner (FastMCP's) has
// fifteen lines.
const (
	MaxRecognised = 1024
	BannerHeight  = 15
)

// Recognise says who most likely wrote text: one line of stdout without its end, or several that belong together. It
// ignores escape sequences and a byte order mark at the beginning. It always has an answer; the grade says how good.
func Recognise(text []byte, hint Context) Recognition {
	raw := strings.TrimRight(string(text[:min(len(text), MaxRecognised)]), "\n")
	s := sight{
		raw: raw, by: printerBehind(hint.Wrappers, hint.Command), from: originOf(hint),
		argv: hint.Command, behind: hint.Wrappers,
	}
	s.text, s.bom = strings.CutPrefix(PlainText(raw), "\ufeff")
	if s.text != "\r" { // alone, it is the content of the line
		s.text = strings.TrimRight(s.text, "\r")
	}
	for _, line := range hint.Nearby[:min(len(hint.Nearby), 2*BannerHeight)] {
		s.nearby = append(s.nearby, PlainText(line[:min(len(line), MaxRecognised)]))
	}
	if said, ok := s.said(); ok {
		return said
	}
	for _, one := range compiledRules() {
		if one.matches(s) {
			return s.merged(one.recognition(s), one.confidence == Certain && !one.stderr)
		}
	}
	return s.merged(s.fallback(), false)
}

// sight is a text with all that helps to recognize it.
type sight struct {
	raw    string // as it came, at most MaxRecognised bytes
	text   string // without escape sequences and byte order mark
	bom    bool
	nearby []string // plain too
	by     Printer
	from   origin
	argv   []string
	behind []Wrapper
}

// fallback returns the answer for a text that no rule knows.
func (s sight) fallback() Recognition {
	found := Recognition{
		Culprit:  Culprit{Name: s.by.print, Confidence: Generic},
		Rule:     RuleRuntime,
		InServer: s.by.inServer,
		Outside:  s.lessOutput(),
	}
	if s.bom {
		found.Rule, found.Culprit.Name = "bom", "a writer that begins with a byte order mark"
		found.InServer = "write UTF-8 without a byte order mark"
		if s.from.mayBe(rule{language: "dotnet"}) {
			found.InServer += " (PowerShell: utf8NoBOM; .NET: new UTF8Encoding(false))"
		}
	}
	return found
}

// said returns the writer of a text that a script on the way to the server prints.
func (s sight) said() (found Recognition, ok bool) {
	for _, w := range s.behind {
		if c, sure, says := w.says(s.text); says {
			found = w.culprit(RuleScript, programWords(c.Words)[0]+" in "+w.at(c), "add >&2 to what prints in "+w.place)
			if sure {
				found.Culprit.Confidence = Certain
			}
			return found, true
		}
	}
	return Recognition{}, false
}

// merged returns found, or what redirects the server's stderr to stdout, where all that a server logs as it should
// then goes. own is set if found writes to stdout itself.
func (s sight) merged(found Recognition, own bool) Recognition {
	for _, w := range s.behind {
		if c, merges := w.merges(); merges && !own {
			at := w.at(c)
			return w.culprit(RuleMerged, "2>&1 in "+at+", which leads stderr to stdout", "remove 2>&1 from "+at)
		}
	}
	return found
}

// lessOutput tells a user to drop a switch that asks for more output.
func (s sight) lessOutput() string {
	more := []string{"--verbose", "--debug", "-v", "-vv", "-d"}
	at := slices.IndexFunc(s.argv, func(arg string) bool { return slices.Contains(more, arg) })
	if at < 0 {
		return ""
	}
	return "drop " + s.argv[at] + " from this server's args"
}

// rule knows one writer by its text. If it has no fixes, the runtime's apply.
type rule struct {
	id         string
	name       string
	printed    bool // the name says what was printed; the runtime says with what
	confidence string
	// language is what the writer is part of: its rule is for programs of that language, and for those of unknown
	// languages. Empty means any.
	language string
	// known limits the rule to programs that are known to be of its language.
	known bool
	// tools limits the rule to command lines with one of these programs, as far as they are known.
	tools   string
	pattern string // of the text without escape sequences
	// not is a pattern of texts that the rule is not about all the same.
	not string
	// near is a pattern that a line around the text must match.
	near string
	// beside is a pattern of further texts, if a line around them matches pattern.
	beside string
	// raw is a pattern of the text with its escape sequences, as an alternative to pattern.
	raw string
	// sure is a pattern of the raw text that makes the confidence certain.
	sure string
	// stderr reports whether it writes there, unless that is redirected.
	stderr   bool
	inServer string
	outside  string
}

// compiledRule is a rule whose patterns are ready; those that the rule does not have are nil.
type compiledRule struct {
	rule
	text, other, around, others, coloured, certainly *regexp.Regexp
}

// compiledRules are the rules with their patterns.
var compiledRules = sync.OnceValue(func() []compiledRule {
	compile := func(pattern string) *regexp.Regexp {
		if pattern == "" {
			return nil
		}
		return regexp.MustCompile(pattern)
	}
	var compiled []compiledRule
	for _, r := range rules() {
		compiled = append(compiled, compiledRule{
			rule: r, text: compile(r.pattern), other: compile(r.not), around: compile(r.near),
			others: compile(r.beside), coloured: compile(r.raw), certainly: compile(r.sure),
		})
	}
	return compiled
})

func (r *compiledRule) matches(s sight) bool {
	near := func(pattern *regexp.Regexp) bool { return slices.ContainsFunc(s.nearby, pattern.MatchString) }
	switch {
	case !s.from.mayBe(r.rule), r.other != nil && r.other.MatchString(s.text):
		return false
	case r.text != nil && r.text.MatchString(s.text):
		return r.around == nil || near(r.around)
	case r.coloured != nil && r.coloured.MatchString(s.raw):
		return true
	}
	return r.others != nil && r.others.MatchString(s.text) && near(r.text)
}

func (r *compiledRule) recognition(s sight) Recognition {
	found := Recognition{
		Culprit:  Culprit{Name: r.name, Confidence: r.confidence},
		Rule:     r.id,
		InServer: cmp.Or(r.inServer, s.by.inServer),
		Outside:  cmp.Or(r.outside, s.lessOutput()),
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

// PlainText returns text without the escape sequences that colour it, title windows or move the cursor.
func PlainText(text string) string {
	if !strings.ContainsRune(text, '\x1b') {
		return text
	}
	return escapeSequence().ReplaceAllString(text, "")
}

var escapeSequence = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_a-z])`)
})
