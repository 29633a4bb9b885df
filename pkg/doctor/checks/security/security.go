// Package security has the checks of text that servers send to people and models.
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

// Checks returns the checks of text that servers send to people and models: control characters, invisible and
// confusable text, and hidden instructions. They see every string in the server's responses.
func Checks() []check.Check {
	return check.WithPages(pages, []check.Check{
		{ID: "text-control", Need: check.NeedHandshake, Ask: eachPassage(controlRemark)},
		{ID: "text-bidi", Need: check.NeedHandshake, Ask: eachPassage(bidiRemark)},
		{ID: "text-invisible", Need: check.NeedHandshake, Ask: askTextInvisible},
		{ID: "text-confusable", Need: check.NeedHandshake, Ask: eachPassage(confusableRemark)},
		{ID: "prompt-injection", Need: check.NeedHandshake, Ask: eachPassage(injectionRemark)},
		{ID: "skill-invalid", Need: check.NeedHandshake, Ask: askSkillInvalid},
		{ID: "tool-shadowing", AskAll: askToolShadowing},
		{ID: "definition-drift", Need: check.NeedPins, AskAll: askDefinitionDrift},
	})
}

// eachPassage returns a check of every passage, with a limited number of findings.
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

// withSigns returns code points and the text that has them, or nothing without code points.
func withSigns(text string, signs []string) string {
	if len(signs) == 0 {
		return ""
	}
	signs = slices.Compact(signs)
	return evidence.Listed(signs) + " in: " + evidence.Cut(around(text, signs[0]))
}

// around returns the text from shortly before a code point, so that an excerpt shows it.
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

// askTextInvisible reports invisible characters: as a note if they were probably pasted, and otherwise as an error.
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
	// Errors first, because Capped drops the last findings.
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

// injectionRemark ignores results, which contain pages and files that the user requested.
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

// askToolShadowing looks for the names of other servers' tools in descriptions. Single words, such as search, prove
// nothing.
func askToolShadowing(fleet *evidence.Fleet) []check.Finding {
	if len(fleet.Servers) < 2 {
		return nil
	}
	owners := make(map[string][]string) // servers by tool name
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
						d.Finding("/description", "it mentions %q, a tool of %q", evidence.Label(name), others[0]))
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

// identifiers returns the distinct words of a text that may be tool names.
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
