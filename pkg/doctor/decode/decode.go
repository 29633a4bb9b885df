// Package decode says what an error message of an MCP client means.
package decode

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Diagnosis is what a client's error message says about a server: not what the client could not do, but what the
// server sent.
type Diagnosis struct {
	// Title says in a few words what happened.
	Title string `json:"title"`
	// Observed is what was on the server's stdout, or what happened instead.
	Observed string `json:"stood"`
	// Culprit is who most likely did it, nil if the message does not say.
	Culprit *Culprit `json:"culprit,omitempty"`
	// Fix is what to do, the surest first.
	Fix []string `json:"fix"`
	// Checks are the ids of the checks that find it on the server itself.
	Checks []string `json:"checks"`

	http bool // it happens between a client and a server at an address
}

// Culprit is who most likely wrote a text, and how sure that is: certain, likely or generic.
type Culprit struct {
	Name       string `json:"name"`
	Confidence string `json:"confidence"`
}

// maxDecoded is how many bytes of a message are read: errors come early.
const maxDecoded = 16 << 10

// Decode explains a client's error message; ok is false for an unknown one. Messages may be quoted, escaped, and
// part of other text, as in a log.
func Decode(message string) (d Diagnosis, ok bool) {
	// A log may add escaped quotes.
	text := strings.NewReplacer(`\"`, `"`, `\'`, `'`, "\u201c", `"`, "\u201d", `"`).
		Replace(message[:min(len(message), maxDecoded)])
	for _, one := range entries() {
		if one.pattern == nil {
			continue
		}
		if match := one.pattern.FindStringSubmatch(text); match != nil {
			d := one.diagnose(match)
			next := "toolx doctor -- COMMAND ARGS… starts the server and shows the line itself"
			if d.http {
				next = "toolx doctor --url URL asks the server itself"
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

// entry is a kind of message, a diagnosis that others use, or what is known of who writes a line.
type entry struct {
	name         string
	pattern      *regexp.Regexp
	use, explain string   // with their arguments
	begins       []string // how lines begin that the culprit writes
	// typical are characters at the beginning of lines that the culprit writes more often than others; likelihood is
	// how sure that is.
	typical, likelihood string
	Diagnosis
}

// entries returns all entries in their order.
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

// diagnose returns the diagnosis for a match of the pattern.
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

// named returns the diagnosis of the entry with a name; $1 in it is text.
func named(name, text string) Diagnosis {
	one, _ := first(func(e entry) bool { return e.name == name })
	return one.diagnose([]string{"", text})
}

// first returns the first entry for which is holds.
func first(is func(entry) bool) (one entry, found bool) {
	all := entries()
	at := slices.IndexFunc(all, is)
	if at < 0 {
		return entry{}, false
	}
	return all[at], true
}

// explainers are the functions that entries name.
func explainers() map[string]func(string) Diagnosis {
	return map[string]func(string) Diagnosis{
		"line":      textLine,
		"character": beginningWith,
		"end":       func(number string) Diagnosis { return endsAt(number, 0) },
		"column":    func(number string) Diagnosis { return endsAt(number, 1) },
		"program":   programNotFound,
	}
}
