// Package security has the checks of text that a server sends to be read.
package security

import (
	"cmp"
	"embed"
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

//go:embed *.md
var pages embed.FS

// Checks are about the text that a server sends to be read: what acts on a terminal, what reads differently from how
// it looks, and what addresses the model behind its user's back. They see every string of the server's answers.
func Checks() []check.Check {
	return check.WithPages(pages, []check.Check{
		{ID: "text-control", Need: check.NeedHandshake, Ask: eachPassage(controlRemark)},
		{ID: "text-bidi", Need: check.NeedHandshake, Ask: eachPassage(bidiRemark)},
		{ID: "text-invisible", Need: check.NeedHandshake, Ask: askTextInvisible},
		{ID: "text-confusable", Need: check.NeedHandshake, Ask: eachPassage(confusableRemark)},
		{ID: "prompt-injection", Need: check.NeedHandshake, Ask: eachPassage(injectionRemark)},
		{ID: "tool-shadowing", AskAll: askToolShadowing},
		{ID: "definition-drift", Need: check.NeedPins, AskAll: askDefinitionDrift},
	})
}

// eachPassage asks about every text and keeps a bounded number of findings.
func eachPassage(remark func(Passage) string) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		var found []check.Finding
		for _, p := range Passages(e) {
			if text := remark(p); text != "" {
				found = append(found, check.At(&p.Where, "%s", text))
			}
		}
		return check.Capped(found)
	}
}

func controlRemark(p Passage) string { return withSigns(p.Text, Controls(p.Text)) }

func bidiRemark(p Passage) string { return withSigns(p.Text, bidis(p.Text)) }

// withSigns returns a text with the code points that are wrong in it; nothing if none are.
func withSigns(text string, signs []string) string {
	if len(signs) == 0 {
		return ""
	}
	signs = slices.Compact(signs)
	return evidence.Listed(signs) + " in: " + evidence.Cut(around(text, signs[0]))
}

// around begins a text near the character that a code point names, so that an excerpt shows it.
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

// askTextInvisible makes a note of characters that were pasted along with a text, and an error of what may hide one.
func askTextInvisible(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, p := range Passages(e) {
		h := invisibles(p.Text)
		text := invisibleRemark(p.Text, h)
		if text == "" {
			continue
		}
		f := check.At(&p.Where, "%s", text)
		if !p.name && h.pasted() {
			f.Severity, f.Title = check.Info, "text contains invisible characters, probably pasted"
			f.Fix = []string{"in the server: remove them from the text"}
		}
		found = append(found, f)
	}
	// Notes do not crowd errors out of the findings that are kept.
	slices.SortStableFunc(found, func(a, b check.Finding) int { return cmp.Compare(len(a.Severity), len(b.Severity)) })
	return check.Capped(found)
}

func invisibleRemark(text string, h hidden) string {
	switch count := words.Count(h.count, "invisible character"); {
	case h.tags != "":
		return fmt.Sprintf("hidden text in %s: %q", count, evidence.Cut(h.tags))
	case len(h.bytes) > 1:
		return fmt.Sprintf("hidden bytes in %s: %q", count, evidence.Cut(string(h.bytes)))
	}
	return withSigns(text, h.signs)
}

func confusableRemark(p Passage) string {
	const longest = 512 // bytes of a name
	if !p.name || p.result || len(p.Text) > longest {
		return ""
	}
	scripts, foreign := mixesScripts(p.Text)
	if scripts == nil || foreign == nil {
		return ""
	}
	return fmt.Sprintf("%q is %s: %s", evidence.Label(p.Text), strings.Join(scripts, " and "), evidence.Listed(foreign))
}

// injectionRemark ignores the results of calls: the author of a page or file wrote the text, and the user asked
// for it.
func injectionRemark(p Passage) string {
	if p.result {
		return ""
	}
	phrase, is := findOrder(p.Text)
	if phrase == "" {
		return ""
	}
	return is + ": " + evidence.Cut(phrase)
}

// askToolShadowing looks for the names of other servers' tools in descriptions. A name of a single word, such as
// search, is language and proves nothing.
func askToolShadowing(fleet *evidence.Fleet) []check.Finding {
	if len(fleet.Servers) < 2 {
		return nil
	}
	owners := make(map[string][]string) // servers by the name of a tool
	for _, e := range fleet.Servers {
		for _, d := range listing.Read(e).Tools {
			for _, name := range []string{d.Name, e.Server.Name + exec.Separator + d.Name} {
				if len(listing.NameWords(name)) > 1 && !slices.Contains(owners[name], e.Server.Name) {
					owners[name] = append(owners[name], e.Server.Name)
				}
			}
		}
	}
	var found []check.Finding
	for _, e := range fleet.Servers {
		var mine []check.Finding
		for _, d := range listing.Read(e).Tools {
			for _, name := range identifiers(d.Text("description")) {
				if others := owners[name]; len(others) > 0 && !slices.Contains(others, e.Server.Name) {
					mine = append(mine,
						d.Finding("/description", "it names %q, a tool of server %q", evidence.Label(name), others[0]))
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

// identifiers returns the words of a text that may be names of tools, each once.
func identifiers(text string) []string {
	found := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '.'
	})
	for i, word := range found {
		found[i] = strings.Trim(word, ".-")
	}
	slices.Sort(found)
	return slices.Compact(found)
}
