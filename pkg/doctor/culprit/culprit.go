// Package culprit names who most likely wrote a line that stands on a server's stdout and is
// no message: a library, a runtime, or a program that stands before the server.
package culprit

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolx/pkg/rules"
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
	for _, one := range readRules() {
		if one.matches(s) {
			return s.merged(one.recognition(s), one.Get("grade") == Certain && !one.has("stderr"))
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
		if s.from.languages == nil || slices.Contains(s.from.languages, "dotnet") {
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

// rule knows one writer by its text.
type rule struct {
	*rules.Rule
	// language is what the writer is part of; empty means any.
	language        string
	raw, also, sure *regexp.Regexp
	match           *regexp.Regexp // where also needs it for the lines around
}

//go:embed rules.txt
var rulesText string

// readRules returns the rules of rules.txt in their order.
var readRules = sync.OnceValue(func() []*rule {
	var all []*rule
	for _, r := range rules.Read(rulesText) {
		one := &rule{
			Rule: r, language: r.Group,
			raw: r.Expression("raw"), also: r.Expression("also"), sure: r.Expression("sure"),
		}
		if one.also != nil {
			one.match = r.Expression("match")
		}
		if r.Group == "tools" || r.Group == "shapes" {
			one.language = r.Get("language")
		}
		all = append(all, one)
	}
	return all
})

// has reports whether a rule has a mark, such as "known".
func (r *rule) has(mark string) bool { return r.Get(mark) != "" }

func (r *rule) matches(s sight) bool {
	if !s.from.mayBe(r) || r.Excludes(s.text) {
		return false
	}
	if _, found := r.Find(s.text, s.nearby); found {
		return true
	}
	return r.raw != nil && r.raw.MatchString(s.raw) ||
		r.also != nil && r.also.MatchString(s.text) && slices.ContainsFunc(s.nearby, r.match.MatchString)
}

func (r *rule) recognition(s sight) Recognition {
	found := Recognition{
		Culprit:  Culprit{Name: r.Get("name"), Confidence: r.Get("grade")},
		Rule:     r.ID,
		InServer: cmp.Or(r.Get("in-server"), s.by.inServer),
		Outside:  cmp.Or(r.Get("outside"), s.lessOutput()),
	}
	if r.has("printed") {
		found.Culprit.Name += " (" + s.by.print + ")"
		if s.by.either {
			found.Culprit.Confidence = Generic
		}
	}
	if r.sure != nil && r.sure.MatchString(s.raw) {
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
