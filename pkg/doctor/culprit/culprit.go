// Package culprit identifies what most likely printed a non-protocol line on a server's stdout: a library, a runtime,
// or a program that starts the server.
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

// Culprit is the likely source of a line.
type Culprit struct {
	Name       string `json:"name"`
	Confidence string `json:"confidence" mask:"-"` // certain, likely, generic
}

// The grades of a culprit. Certain: only it prints this text. Likely: the text usually comes from it. Generic: a guess
// from the server's runtime.
const (
	Certain = "certain"
	Likely  = "likely"
	Generic = "generic"
)

// Context helps to identify the source of a text.
type Context struct {
	// Nearby are the lines around it, at most BannerHeight away.
	Nearby []string
	// Command is the server's command line, without the scripts around it. It begins with the runtime if the program's
	// name does not imply one.
	Command []string
	// Wrappers are the scripts around it, outermost first.
	Wrappers []Wrapper
	// Beside are the command lines of other programs that write to the same stdout.
	Beside [][]string
}

// Recognition is the source of a text on stdout, and how to stop it.
type Recognition struct {
	Culprit Culprit
	// Rule is the id of the matching rule, or one of the constants below.
	Rule string
	// InServer is a fix for the server's author, Outside one for its user; either may be empty.
	InServer string
	Outside  string
}

// Rules that do not match text.
const (
	// RuleRuntime is for unknown texts: the usual way to print in the server's runtime.
	RuleRuntime = "runtime"
	// RuleScript is for texts that a script around the server prints.
	RuleScript = "script"
	// RuleMerged is for stderr that a script redirects to stdout.
	RuleMerged = "merged"
)

// Limits of recognition: the bytes of a line that are examined, and the lines of the tallest banner (FastMCP's).
const (
	MaxRecognised = 1024
	BannerHeight  = 15
)

// Recognise returns the likely source of text, which is one line of stdout without its newline or several related
// lines. It ignores escape sequences and a leading byte order mark. If no rule matches, the culprit is generic.
func Recognise(text []byte, hint Context) Recognition {
	raw := strings.TrimRight(string(text[:min(len(text), MaxRecognised)]), "\n")
	s := output{
		raw: raw, by: printerBehind(hint.Wrappers, hint.Command), from: originOf(hint),
		argv: hint.Command, behind: hint.Wrappers,
	}
	s.text, s.bom = strings.CutPrefix(PlainText(raw), "\ufeff")
	if s.text != "\r" { // a lone CR is the line's text
		s.text = strings.TrimRight(s.text, "\r")
	}
	for _, line := range hint.Nearby[:min(len(hint.Nearby), 2*BannerHeight)] {
		s.nearby = append(s.nearby, PlainText(line[:min(len(line), MaxRecognised)]))
	}
	if printedByScript, ok := s.printedByScript(); ok {
		return printedByScript
	}
	for _, one := range readRules() {
		if one.matches(s) {
			return s.merged(one.recognition(s), one.Get("grade") == Certain && !one.has("stderr"))
		}
	}
	return s.merged(s.fallback(), false)
}

// output is a text and its context.
type output struct {
	raw    string // as it came, at most MaxRecognised bytes
	text   string // without escape sequences and byte order mark
	bom    bool
	nearby []string // plain too
	by     Printer
	from   origin
	argv   []string
	behind []Wrapper
}

// fallback returns the recognition of a text that matches no rule.
func (s output) fallback() Recognition {
	found := Recognition{
		Culprit:  Culprit{Name: s.by.print, Confidence: Generic},
		Rule:     RuleRuntime,
		InServer: s.by.inServer,
		Outside:  s.quieter(),
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

// printedByScript recognizes a text that a script around the server prints.
func (s output) printedByScript() (found Recognition, ok bool) {
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

// merged returns the redirection of stderr to stdout in a script, if there is one, and otherwise found. own is set if
// found writes to stdout itself.
func (s output) merged(found Recognition, own bool) Recognition {
	for _, w := range s.behind {
		if c, merges := w.merges(); merges && !own {
			at := w.at(c)
			return w.culprit(RuleMerged, "2>&1 in "+at+", which leads stderr to stdout", "remove 2>&1 from "+at)
		}
	}
	return found
}

// quieter suggests removing a verbose or debug flag, or returns nothing.
func (s output) quieter() string {
	more := []string{"--verbose", "--debug", "-v", "-vv", "-d"}
	at := slices.IndexFunc(s.argv, func(arg string) bool { return slices.Contains(more, arg) })
	if at < 0 {
		return ""
	}
	return "remove " + s.argv[at] + " from this server's args"
}

// rule recognizes one source by its text.
type rule struct {
	*rules.Rule
	// language is the runtime of the source; empty means any.
	language        string
	raw, also, sure *regexp.Regexp
	match           *regexp.Regexp // only with also, for the nearby lines
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

// has reports whether a rule has a flag, such as "known".
func (r *rule) has(mark string) bool { return r.Get(mark) != "" }

func (r *rule) matches(s output) bool {
	if !s.from.couldBe(r) || r.Excludes(s.text) {
		return false
	}
	if _, found := r.Find(s.text, s.nearby); found {
		return true
	}
	return r.raw != nil && r.raw.MatchString(s.raw) ||
		r.also != nil && r.also.MatchString(s.text) && slices.ContainsFunc(s.nearby, r.match.MatchString)
}

func (r *rule) recognition(s output) Recognition {
	found := Recognition{
		Culprit:  Culprit{Name: r.Get("name"), Confidence: r.Get("grade")},
		Rule:     r.ID,
		InServer: cmp.Or(r.Get("in-server"), s.by.inServer),
		Outside:  cmp.Or(r.Get("outside"), s.quieter()),
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

// PlainText returns text without terminal escape sequences.
func PlainText(text string) string {
	if !strings.ContainsRune(text, '\x1b') {
		return text
	}
	return escapeSequence().ReplaceAllString(text, "")
}

var escapeSequence = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_a-z])`)
})
