package wire

import (
	"strings"
	"sync"
)

// wireForm is what an object must be, or another name for a type (alias).
type wireForm struct {
	revisions wireSpan
	alias     *wireType
	members   []wireMember
}

// wireMember is a member that a form names.
type wireMember struct {
	name      string
	optional  bool
	of        wireType
	revisions wireSpan
	told      []string // the checks that look at it by themselves
}

// wireType is what a value must be: a list or table of one type, one of several
// types, or what its name says.
type wireType struct {
	name  string // as it is written
	shape wireShape
	of    []wireType // of a list or table one, of a choice all
}

// wireShape tells how a type is put together.
type wireShape int

// The shapes.
const (
	wireNamed  wireShape = iota // a form, a scalar or a literal
	wireList                    // T[]
	wireTable                   // {T}
	wireChoice                  // T|U
)

// wireSpan is a span of revisions; an end that is empty is open.
type wireSpan struct{ from, to string }

// has reports whether a revision is in the span: they are dates, and compare as text.
func (s wireSpan) has(revision string) bool {
	return revision >= s.from && (s.to == "" || revision <= s.to)
}

// formsOnTheWire are the forms by their names. They are read when the first message
// is held against them.
var formsOnTheWire = sync.OnceValue(func() map[string]wireForm {
	forms := make(map[string]wireForm)
	for _, paragraph := range strings.Split(strings.TrimSpace(answerForms+requestForms), "\n\n") {
		name, form := readForm(strings.Split(strings.TrimSpace(paragraph), "\n"))
		forms[name] = form
	}
	return forms
})

// readForm reads one paragraph.
func readForm(lines []string) (name string, form wireForm) {
	head, alias, isAlias := strings.Cut(lines[0], " = ")
	words := strings.Fields(head)
	name, form.revisions = words[0], readSpan(words[1:])
	if isAlias {
		of := readType(alias)
		form.alias = &of
	}
	for _, line := range lines[1:] {
		form.members = append(form.members, readMember(strings.Fields(line)))
	}
	return name, form
}

func readMember(words []string) wireMember {
	m := wireMember{of: readType(words[1]), revisions: readSpan(words[2:])}
	m.name, m.optional = strings.CutSuffix(words[0], "?")
	if last, told := strings.CutPrefix(words[len(words)-1], "@"); told {
		m.told = strings.Split(last, ",")
	}
	return m
}

// readSpan finds the span among words; without one it is open.
func readSpan(words []string) wireSpan {
	for _, word := range words {
		if from, to, found := strings.Cut(word, ".."); found {
			return wireSpan{from, to}
		}
	}
	return wireSpan{}
}

func readType(text string) wireType {
	t := wireType{name: text}
	inner, isList := strings.CutSuffix(text, "[]")
	switch {
	case strings.Contains(text, "|"):
		t.shape = wireChoice
		for _, part := range strings.Split(text, "|") {
			t.of = append(t.of, readType(part))
		}
	case isList:
		t.shape, t.of = wireList, []wireType{readType(inner)}
	case strings.HasPrefix(text, "{"):
		t.shape, t.of = wireTable, []wireType{readType(strings.Trim(text, "{}"))}
	}
	return t
}
