package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/rawjson"
)

// Fault is a violation of the schema in a message.
type Fault struct {
	Pointer string // RFC 6901
	text    string // a sentence
	// judgedBy are the checks that report this place themselves.
	judgedBy []string
	// constant is set if a constant has another value, so that the object has another form.
	constant bool
	// format is set if a string is not a valid URI or URI template.
	format bool
}

// MaxFaults limits the faults of one list.
const MaxFaults = 100

// validator validates values against the forms of one revision.
type validator struct {
	revision string
	forms    map[string]form
}

// validate returns the violations of type t in value, with pointers relative to value.
func (w validator) validate(value json.RawMessage, t valueType) []Fault {
	switch t.kind {
	case list:
		return w.validateList(value, t.of[0])
	case table:
		return w.validateTable(value, t.of[0])
	case choice:
		return w.validateChoice(value, t)
	}
	form, isForm := w.forms[t.name]
	switch {
	case isForm && form.alias != nil:
		return w.validate(value, *form.alias)
	case isForm:
		return w.validateForm(value, form)
	case fitsScalar(value, t.name):
		return nil
	}
	return wrongValue(value, t, inWords(t.name))
}

func (w validator) validateList(value json.RawMessage, of valueType) []Fault {
	elements, ok := rawjson.Elements(value)
	if !ok {
		return wrongValue(value, valueType{}, "an array")
	}
	var faults []Fault
	for i, element := range elements {
		if len(faults) > MaxFaults {
			break
		}
		faults = append(faults, below(strconv.Itoa(i), w.validate(element, of))...)
	}
	return faults
}

func (w validator) validateTable(value json.RawMessage, of valueType) []Fault {
	if !evidence.IsObject(value) {
		return wrongValue(value, valueType{}, "an object")
	}
	members := evidence.Members(value)
	var faults []Fault
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if len(faults) > MaxFaults {
			break
		}
		faults = append(faults, below(name, w.validate(members[name], of))...)
	}
	return faults
}

func (w validator) validateForm(value json.RawMessage, form form) []Fault {
	if !evidence.IsObject(value) {
		return wrongValue(value, valueType{}, "an object")
	}
	members := evidence.Members(value)
	var faults []Fault
	for _, m := range form.members {
		if !m.revisions.has(w.revision) {
			continue
		}
		var found []Fault
		if value, ok := members[m.name]; ok {
			found = w.validate(value, m.of)
		} else if !m.optional {
			found = []Fault{{text: "it is missing"}}
		}
		for _, fault := range below(m.name, found) {
			fault.judgedBy = append(fault.judgedBy, m.judgedBy...)
			faults = append(faults, fault)
		}
	}
	return faults
}

// validateChoice returns nothing if an alternative matches, and otherwise the faults of the alternative whose constants
// match.
func (w validator) validateChoice(value json.RawMessage, t valueType) []Fault {
	var meant []Fault
	var names []string
	for _, one := range t.of {
		if !w.has(one) {
			continue
		}
		names = append(names, inWords(one.name))
		faults := w.validate(value, one)
		switch {
		case len(faults) == 0:
			return nil
		case meant == nil && !slices.ContainsFunc(faults, ofAnotherForm):
			meant = faults
		}
	}
	if meant != nil {
		return meant
	}
	return wrongValue(value, t, strings.Join(names, " or "))
}

// ofAnotherForm reports whether a fault shows that the value has another form: its kind or one of its own constants is
// wrong.
func ofAnotherForm(f Fault) bool {
	return f.Pointer == "" || f.constant && strings.Count(f.Pointer, "/") == 1
}

// has reports whether the revision has a type.
func (w validator) has(t valueType) bool {
	form, isForm := w.forms[t.name]
	return !isForm || form.revisions.has(w.revision)
}

func wrongValue(value json.RawMessage, t valueType, want string) []Fault {
	return []Fault{{
		text:     fmt.Sprintf("it is %s, but must be %s", shown(value), want),
		constant: strings.HasPrefix(t.name, `"`),
		format:   (t.name == "uri" || t.name == "template") && fitsScalar(value, "string"),
	}}
}

// below prefixes pointers with the name of a member or element.
func below(name string, faults []Fault) []Fault {
	for i := range faults {
		faults[i].Pointer = rawjson.Pointer(name) + faults[i].Pointer
	}
	return faults
}

// fitsScalar reports whether value has a type that is not a form. In JSON Schema, 1.0 is an integer.
func fitsScalar(value json.RawMessage, name string) bool {
	number, _ := strconv.ParseFloat(strings.TrimSpace(string(value)), 64) // infinite on overflow
	whole := number == math.Trunc(number)
	switch kind := strings.TrimPrefix(strings.TrimPrefix(evidence.KindOfJSON(value), "an "), "a "); name {
	case "any":
		return true
	case "null", "boolean", "object", "string", "number":
		return kind == name
	case "integer":
		return kind == "number" && whole
	case "natural":
		return kind == "number" && whole && number >= 0
	case "fraction":
		return kind == "number" && number >= 0 && number <= 1
	case "uri":
		parsed, err := url.Parse(rawjson.Unquote(value))
		return kind == "string" && err == nil && parsed.IsAbs()
	case "template":
		return kind == "string" && uriTemplate().MatchString(rawjson.Unquote(value))
	default:
		return kind == "string" && `"`+rawjson.Unquote(value)+`"` == name
	}
}

// uriTemplate matches text whose braces are balanced and not nested (RFC 6570 §2).
var uriTemplate = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([^{}]|\{[^{}]*\})*$`)
})

// inWords returns a type's name for a sentence.
func inWords(name string) string {
	switch name {
	case "fraction":
		return "a number from 0 to 1"
	case "natural":
		return "an integer from 0"
	case "integer", "object":
		return "an " + name
	case "uri":
		return "an absolute URI"
	case "template":
		return "a URI template"
	case "string", "number", "boolean":
		return "a " + name
	}
	return name
}

// shown returns the kind and beginning of a value.
func shown(value json.RawMessage) string {
	kind := evidence.KindOfJSON(value)
	if kind == "null" {
		return kind
	}
	return kind + " (" + evidence.Label(evidence.CutJSON(value)) + ")"
}
