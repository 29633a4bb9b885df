// Package decode explains error messages of MCP clients.
package decode

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Diagnosis is what the server did to cause a client's error message.
type Diagnosis struct {
	// Title is the problem in a few words.
	Title string `json:"title"`
	// Observed is what was on the server's stdout, or what happened instead.
	Observed string `json:"stood"`
	// Culprit is the likely source; nil if unknown.
	Culprit *Culprit `json:"culprit,omitempty"`
	// Fix lists fixes, the most reliable first.
	Fix []string `json:"fix"`
	// Checks are the ids of the checks that detect it on the server.
	Checks []string `json:"checks"`

	http bool // it applies to HTTP servers
}

// Culprit is the likely source of a text, with its confidence: certain, likely or generic.
type Culprit struct {
	Name       string `json:"name"`
	Confidence string `json:"confidence"`
}

// maxDecoded is how many bytes of a message are read.
const maxDecoded = 16 << 10

// Decode explains a client's error message; ok is false for an unknown one. The message may be quoted, escaped, or part
// of a log.
func Decode(message string) (d Diagnosis, ok bool) {
	// Logs may escape quotes.
	text := strings.NewReplacer(`\"`, `"`, `\'`, `'`, "\u201c", `"`, "\u201d", `"`).
		Replace(message[:min(len(message), maxDecoded)])
	for _, one := range entries() {
		if one.pattern == nil {
			continue
		}
		if match := one.pattern.FindStringSubmatch(text); match != nil {
			d := one.diagnose(match)
			next := "run toolx doctor -- COMMAND ARGS… to see the line itself"
			if d.http {
				next = "run toolx doctor --url URL to examine the server itself"
			}
			d.Fix = append(d.Fix, next)
			return d, true
		}
	}
	return Diagnosis{}, false
}

// messagesText has the entries; its head explains the notation.
//
//go:embed messages.txt
var messagesText string

// entry is a kind of message, a diagnosis shared by others, or a source of lines.
type entry struct {
	name         string
	pattern      *regexp.Regexp
	use, explain string   // a name and its argument
	begins       []string // the beginnings of the culprit's lines
	// typical has the characters that most often begin the culprit's lines; likelihood is the confidence of a match.
	typical, likelihood string
	Diagnosis
}

// entries returns all entries in order.
var entries = sync.OnceValue(func() []entry {
	var all []entry
	_, text, _ := strings.Cut(strings.ReplaceAll(messagesText, "\n  ", " "), "\n\n")
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		var one entry
		for line := range strings.SplitSeq(paragraph, "\n") {
			key, value, _ := strings.Cut(line, " ")
			switch key {
			case "name":
				one.name = value
			case "pattern":
				one.pattern = regexp.MustCompile(value)
			case "use":
				one.use = value
			case "explain":
				one.explain = value
			case "title":
				one.Title = value
			case "stood":
				one.Observed = value
			case "culprit":
				confidence, name, _ := strings.Cut(value, " ")
				one.Culprit = &Culprit{Name: name, Confidence: confidence}
			case "begins":
				one.begins = append(one.begins, value)
			case "typical":
				one.likelihood, one.typical, _ = strings.Cut(value, " ")
			case "fix":
				one.Fix = append(one.Fix, value)
			case "over":
				one.http = value == "http"
			case "checks":
				one.Checks = strings.Fields(value)
			}
		}
		all = append(all, one)
	}
	return all
})

// diagnose returns the diagnosis for the groups of a match.
func (e entry) diagnose(match []string) Diagnosis {
	expand := func(text string) string {
		for i := range 6 {
			group := ""
			if i < len(match) {
				group = match[i]
			}
			text = strings.ReplaceAll(text, "$"+strconv.Itoa(i), group)
		}
		return text
	}
	if name, argument, _ := strings.Cut(e.use, " "); name != "" {
		return named(name, expand(argument))
	}
	if name, argument, _ := strings.Cut(e.explain, " "); name != "" {
		return explainers()[name](expand(argument))
	}
	d := e.Diagnosis
	d.Observed, d.Fix, d.Checks = expand(d.Observed), slices.Clone(d.Fix), slices.Clone(d.Checks)
	for i := range d.Fix {
		d.Fix[i] = expand(d.Fix[i])
	}
	if d.Culprit != nil {
		who := *d.Culprit
		d.Culprit = &who
	}
	return d
}

// named returns the diagnosis of the entry with a name, with text for $1.
func named(name, text string) Diagnosis {
	one, _ := first(func(e entry) bool { return e.name == name })
	return one.diagnose([]string{"", text})
}

// first returns the first entry for which is returns true.
func first(is func(entry) bool) (one entry, found bool) {
	all := entries()
	at := slices.IndexFunc(all, is)
	if at < 0 {
		return entry{}, false
	}
	return all[at], true
}

// explainers returns the functions that entries refer to.
func explainers() map[string]func(string) Diagnosis {
	return map[string]func(string) Diagnosis{
		"line":      textLine,
		"character": firstCharacter,
		"end":       func(number string) Diagnosis { return endsAt(number, 0) },
		"column":    func(number string) Diagnosis { return endsAt(number, 1) },
		"program":   programNotFound,
	}
}
