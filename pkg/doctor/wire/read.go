package wire

import (
	_ "embed"
	"strings"
	"sync"
)

// formsText describes the messages that a server may send; its head explains the notation.
//
//go:embed forms.txt
var formsText string

// form is an object type, or an alias of another type.
type form struct {
	revisions span
	alias     *valueType
	members   []member
}

// member is a named member of a form.
type member struct {
	name      string
	optional  bool
	of        valueType
	revisions span
	judgedBy  []string // the checks that report it themselves
}

// valueType is the type of a value.
type valueType struct {
	name string // as forms.txt writes it
	kind typeKind
	of   []valueType // the parts: one of a list or table, all of a choice
}

// typeKind is how a type is composed.
type typeKind int

const (
	named  typeKind = iota // a form, a scalar or a literal
	list                   // T[]
	table                  // {T}
	choice                 // T|U
)

// span is a range of revisions; an empty end is open.
type span struct{ from, to string }

// has reports whether revision is in the range. Revisions are dates and compare as text.
func (s span) has(revision string) bool {
	return revision >= s.from && (s.to == "" || revision <= s.to)
}

// forms returns the forms by name.
var forms = sync.OnceValue(func() map[string]form {
	all := make(map[string]form)
	_, text, _ := strings.Cut(formsText, "\n\n")
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		lines := strings.Split(paragraph, "\n")
		head, alias, isAlias := strings.Cut(lines[0], " = ")
		words := strings.Fields(head)
		one := form{revisions: readSpan(words[1:])}
		if isAlias {
			of := readType(alias)
			one.alias = &of
		}
		for _, line := range lines[1:] {
			one.members = append(one.members, readMember(strings.Fields(line)))
		}
		all[words[0]] = one
	}
	return all
})

func readMember(words []string) member {
	m := member{of: readType(words[1]), revisions: readSpan(words[2:])}
	m.name, m.optional = strings.CutSuffix(words[0], "?")
	if checks, found := strings.CutPrefix(words[len(words)-1], "@"); found {
		m.judgedBy = strings.Split(checks, ",")
	}
	return m
}

// readSpan returns the range of revisions among words, open if there is none.
func readSpan(words []string) span {
	for _, word := range words {
		if from, to, found := strings.Cut(word, ".."); found {
			return span{from, to}
		}
	}
	return span{}
}

func readType(text string) valueType {
	t := valueType{name: text}
	inner, isList := strings.CutSuffix(text, "[]")
	switch {
	case strings.Contains(text, "|"):
		t.kind = choice
		for part := range strings.SplitSeq(text, "|") {
			t.of = append(t.of, readType(part))
		}
	case isList:
		t.kind, t.of = list, []valueType{readType(inner)}
	case strings.HasPrefix(text, "{"):
		t.kind, t.of = table, []valueType{readType(strings.Trim(text, "{}"))}
	}
	return t
}
