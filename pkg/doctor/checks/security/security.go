// Package security has the checks of text that a server sends to be read.
package security

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/exec"
	"toolx/pkg/words"
)

// Checks are the questions about text that a server sends to be read: what
// acts on a terminal, what is read otherwise than it is shown, and what talks to the
// model past its user. They see every string of the server's answers.
func Checks() []check.Check {
	return []check.Check{
		{ID: "text-control", Need: check.NeedHandshake, Ask: eachPassage(askTextControl)},
		{ID: "text-bidi", Need: check.NeedHandshake, Ask: eachPassage(func(p Passage) string { return withSigns(p.Text, bidis(p.Text)) })},
		{ID: "text-invisible", Need: check.NeedHandshake, Ask: eachPassage(askTextInvisible)},
		{ID: "text-confusable", Need: check.NeedHandshake, Ask: eachPassage(askTextConfusable)},
		{ID: "prompt-injection", Need: check.NeedHandshake, Ask: askPromptInjection},
		{ID: "tool-shadowing", AskAll: askToolShadowing},
		{ID: "definition-drift", Need: check.NeedPins, AskAll: askDefinitionDrift},
	}
}

// eachPassage asks about every text and keeps a bounded number of findings.
func eachPassage(ask func(Passage) (evidence string)) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		var found []check.Finding
		for _, p := range Passages(e) {
			if evidence := ask(p); evidence != "" {
				found = append(found, p.finding(evidence))
			}
		}
		return check.Capped(found)
	}
}

func askTextControl(p Passage) string {
	return withSigns(p.Text, Controls(p.Text))
}

// withSigns is a text with the code points that are wrong with it, empty where none
// are.
func withSigns(text string, signs []string) string {
	if len(signs) == 0 {
		return ""
	}
	signs = slices.Compact(signs)
	return evidence.Listed(len(signs), func(i int) string { return signs[i] }) + " in: " + evidence.Excerpt(around(text, signs[0]), evidence.MaxExcerpt)
}

// around begins a text near the character that the code point names, so that an
// excerpt shows it.
func around(text, sign string) string {
	const before = 20
	var wanted rune
	if _, err := fmt.Sscanf(sign, "U+%X", &wanted); err != nil {
		return text
	}
	at := strings.IndexRune(text, wanted)
	if at <= 2*before {
		return text
	}
	at -= before
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return "…" + text[at:]
}

func askTextInvisible(p Passage) string {
	h := invisibles(p.Text)
	if h.tags != "" {
		return fmt.Sprintf("hidden text in %s: %q", words.Count(h.count, "invisible character"), evidence.Excerpt(h.tags, evidence.MaxExcerpt))
	}
	if len(h.bytes) > 1 {
		return fmt.Sprintf("hidden bytes in %s: %q", words.Count(h.count, "invisible character"), evidence.Excerpt(string(h.bytes), evidence.MaxExcerpt))
	}
	return withSigns(p.Text, h.signs)
}

// maxConfusable bounds the length in bytes of what is taken for a name.
const maxConfusable = 512

func askTextConfusable(p Passage) string {
	if !p.name || p.result || len(p.Text) > maxConfusable {
		return ""
	}
	scripts := scriptsOf(p.Text)
	if writtenTogether(scripts) {
		return ""
	}
	foreign := foreignLetters(p.Text)
	return fmt.Sprintf("%q is %s: %s", evidence.Excerpt(p.Text, evidence.MaxLabel), strings.Join(scripts, " and "),
		evidence.Listed(len(foreign), func(i int) string { return foreign[i] }))
}

// askPromptInjection leaves the results of calls to text checks: what a page or a
// file says there is its author's, and the user asked for it.
func askPromptInjection(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	find := orderFinder()
	for _, p := range Passages(e) {
		if p.result {
			continue
		}
		if phrase, is := find(p.Text); phrase != "" {
			found = append(found, p.finding(is+": "+evidence.Excerpt(phrase, evidence.MaxExcerpt)))
		}
	}
	return check.Capped(found)
}

// askToolShadowing looks for the names of other servers' tools in descriptions. A
// name of a single word, such as search, is language, and proves nothing.
func askToolShadowing(fleet *evidence.Fleet) []check.Finding {
	owners := make(map[string][]string) // servers by the name of a tool
	for _, e := range fleet.Servers {
		for _, d := range listing.Read(e).Tools {
			for _, name := range []string{d.Name, e.Server.Name + exec.Separator + d.Name} {
				if telling(name) && !slices.Contains(owners[name], e.Server.Name) {
					owners[name] = append(owners[name], e.Server.Name)
				}
			}
		}
	}
	var found []check.Finding
	for _, e := range fleet.Servers {
		var mine []check.Finding
		for _, d := range listing.Read(e).Tools {
			for _, word := range identifiers(d.Text("description")) {
				if others := owners[word]; len(others) > 0 && !slices.Contains(others, e.Server.Name) {
					f := d.Finding("/description", fmt.Sprintf("it names %q, a tool of server %q", evidence.Excerpt(word, evidence.MaxLabel), others[0]))
					f.Server = e.Server.Name
					mine = append(mine, f)
				}
			}
		}
		for _, f := range check.Capped(mine) {
			f.Server = e.Server.Name
			found = append(found, f)
		}
	}
	return found
}

// telling reports whether a name is of more than one word, so that it cannot stand in a
// sentence by chance.
func telling(name string) bool { return len(listing.NameWords(name)) > 1 }

// identifiers are the words of a text that may be names of tools, each once.
func identifiers(text string) []string {
	var found []string
	seen := make(map[string]bool)
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '.'
	}) {
		word = strings.Trim(word, ".-")
		if !seen[word] && telling(word) {
			seen[word] = true
			found = append(found, word)
		}
	}
	return found
}
