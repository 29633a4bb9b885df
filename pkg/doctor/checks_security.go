package doctor

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolx/pkg/exec"
)

// securityChecks are the questions about text that a server sends to be read: what
// acts on a terminal, what is read otherwise than it is shown, and what talks to the
// model past its user. They see every string of the server's answers.
func securityChecks() []Check {
	return []Check{
		{ID: "text-control", Need: NeedHandshake, Ask: eachPassage(askTextControl)},
		{ID: "text-bidi", Need: NeedHandshake, Ask: eachPassage(func(p passage) string { return withSigns(p.text, bidis(p.text)) })},
		{ID: "text-invisible", Need: NeedHandshake, Ask: eachPassage(askTextInvisible)},
		{ID: "text-confusable", Need: NeedHandshake, Ask: eachPassage(askTextConfusable)},
		{ID: "prompt-injection", Need: NeedHandshake, Ask: askPromptInjection},
		{ID: "tool-shadowing", AskAll: askToolShadowing},
		{ID: "definition-drift", Need: NeedPins, AskAll: askDefinitionDrift},
	}
}

// eachPassage asks about every text and keeps a bounded number of findings.
func eachPassage(ask func(passage) (evidence string)) func(*Evidence) []Finding {
	return func(e *Evidence) []Finding {
		var found []Finding
		for _, p := range e.passages() {
			if evidence := ask(p); evidence != "" {
				found = append(found, p.finding(evidence))
			}
		}
		return capped(found)
	}
}

func askTextControl(p passage) string {
	return withSigns(p.text, controls(p.text))
}

// withSigns is a text with the code points that are wrong with it, empty where none
// are.
func withSigns(text string, signs []string) string {
	if len(signs) == 0 {
		return ""
	}
	signs = slices.Compact(signs)
	return listed(len(signs), func(i int) string { return signs[i] }) + " in: " + excerpt(around(text, signs[0]), maxExcerpt)
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

func askTextInvisible(p passage) string {
	h := invisibles(p.text)
	if h.tags != "" {
		return fmt.Sprintf("hidden text in %s: %q", exec.Count(h.count, "invisible character"), excerpt(h.tags, maxExcerpt))
	}
	if len(h.bytes) > 1 {
		return fmt.Sprintf("hidden bytes in %s: %q", exec.Count(h.count, "invisible character"), excerpt(string(h.bytes), maxExcerpt))
	}
	return withSigns(p.text, h.signs)
}

// maxConfusable bounds the length in bytes of what is taken for a name.
const maxConfusable = 512

func askTextConfusable(p passage) string {
	if !p.name || p.result || len(p.text) > maxConfusable {
		return ""
	}
	scripts := scriptsOf(p.text)
	if writtenTogether(scripts) {
		return ""
	}
	foreign := foreignLetters(p.text)
	return fmt.Sprintf("%q is %s: %s", excerpt(p.text, maxLabel), strings.Join(scripts, " and "),
		listed(len(foreign), func(i int) string { return foreign[i] }))
}

// askPromptInjection leaves the results of calls to text checks: what a page or a
// file says there is its author's, and the user asked for it.
func askPromptInjection(e *Evidence) []Finding {
	var found []Finding
	find := orderFinder()
	for _, p := range e.passages() {
		if p.result {
			continue
		}
		if phrase, is := find(p.text); phrase != "" {
			found = append(found, p.finding(is+": "+excerpt(phrase, maxExcerpt)))
		}
	}
	return capped(found)
}

// askToolShadowing looks for the names of other servers' tools in descriptions. A
// name of a single word, such as search, is language, and proves nothing.
func askToolShadowing(fleet *Fleet) []Finding {
	owners := make(map[string][]string) // servers by the name of a tool
	for _, e := range fleet.Servers {
		for _, d := range e.survey().tools {
			for _, name := range []string{d.name, e.Server.Name + exec.Separator + d.name} {
				if telling(name) && !slices.Contains(owners[name], e.Server.Name) {
					owners[name] = append(owners[name], e.Server.Name)
				}
			}
		}
	}
	var found []Finding
	for _, e := range fleet.Servers {
		var mine []Finding
		for _, d := range e.survey().tools {
			for _, word := range identifiers(d.text("description")) {
				if others := owners[word]; len(others) > 0 && !slices.Contains(others, e.Server.Name) {
					f := d.finding("/description", fmt.Sprintf("it names %q, a tool of server %q", excerpt(word, maxLabel), others[0]))
					f.Server = e.Server.Name
					mine = append(mine, f)
				}
			}
		}
		for _, f := range capped(mine) {
			f.Server = e.Server.Name
			found = append(found, f)
		}
	}
	return found
}

// telling says whether a name is of more than one word, so that it cannot stand in a
// sentence by chance.
func telling(name string) bool { return len(nameWords(name)) > 1 }

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
