package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/rawjson"
)

// Fault is a place in a message that the revision does not allow.
type Fault struct {
	Pointer string // RFC 6901
	text    string // what is wrong, a sentence
	// told are the checks that look at this place by themselves.
	told []string
	// constant says that a member which tells one form from another has the wrong
	// value: the value is of another form.
	constant bool
}

// MaxWireFaults bounds what is kept of one list: a hostile one has millions.
const MaxWireFaults = 100

// wireFit holds values against forms of one revision.
type wireFit struct {
	revision string
	forms    map[string]wireForm
}

// fit says where a value is not of a type; pointers begin at the value.
func (w wireFit) fit(value json.RawMessage, t wireType) []Fault {
	switch t.shape {
	case wireList:
		return w.fitList(value, t.of[0])
	case wireTable:
		return w.fitTable(value, t.of[0])
	case wireChoice:
		return w.fitChoice(value, t)
	}
	form, isForm := w.forms[t.name]
	switch {
	case isForm && form.alias != nil:
		return w.fit(value, *form.alias)
	case isForm:
		return w.fitForm(value, form)
	}
	if fitsScalar(value, t.name) {
		return nil
	}
	return wrongValue(value, t, inWords(t.name))
}

func (w wireFit) fitList(value json.RawMessage, of wireType) []Fault {
	elements, ok := rawjson.Elements(value)
	if !ok {
		return wrongValue(value, of, "an array")
	}
	var faults []Fault
	for i, element := range elements {
		if len(faults) > MaxWireFaults {
			break
		}
		faults = append(faults, below(strconv.Itoa(i), w.fit(element, of))...)
	}
	return faults
}

func (w wireFit) fitTable(value json.RawMessage, of wireType) []Fault {
	if !evidence.IsObject(value) {
		return wrongValue(value, of, "an object")
	}
	var faults []Fault
	for name, member := range membersOf(value) {
		if len(faults) > MaxWireFaults {
			break
		}
		faults = append(faults, below(name, w.fit(member, of))...)
	}
	slices.SortFunc(faults, func(a, b Fault) int { return strings.Compare(a.Pointer, b.Pointer) })
	return faults
}

// fitForm holds an object against the members that a form names.
func (w wireFit) fitForm(value json.RawMessage, form wireForm) []Fault {
	if !evidence.IsObject(value) {
		return wrongValue(value, wireType{}, "an object")
	}
	members := membersOf(value)
	var faults []Fault
	for _, m := range form.members {
		if !m.revisions.has(w.revision) {
			continue
		}
		var found []Fault
		member, there := members[m.name]
		switch {
		case there:
			found = w.fit(member, m.of)
		case !m.optional:
			found = []Fault{{text: "it is missing"}}
		}
		for _, fault := range below(m.name, found) {
			fault.told = append(fault.told, m.told...)
			faults = append(faults, fault)
		}
	}
	return faults
}

// fitChoice finds the alternative that a value is of. Where none fits, the faults
// are those of the alternative that it means: the one whose constants it has.
func (w wireFit) fitChoice(value json.RawMessage, t wireType) []Fault {
	var meant []Fault
	for _, one := range t.of {
		if !w.has(one) {
			continue
		}
		faults := w.fit(value, one)
		switch {
		case len(faults) == 0:
			return nil
		case meant == nil && isOf(faults):
			meant = faults
		}
	}
	if meant != nil {
		return meant
	}
	return wrongValue(value, t, w.choices(t))
}

// choices names the alternatives that the revision has.
func (w wireFit) choices(t wireType) string {
	var names []string
	for _, one := range t.of {
		if w.has(one) {
			names = append(names, inWords(one.name))
		}
	}
	return strings.Join(names, " or ")
}

// has reports whether the revision has a type.
func (w wireFit) has(t wireType) bool {
	form, isForm := w.forms[t.name]
	return !isForm || form.revisions.has(w.revision)
}

// isOf reports whether faults are those of a value that is of the form all the same: of
// the right kind, and with the constants that tell the form from others.
func isOf(faults []Fault) bool {
	return !slices.ContainsFunc(faults, func(f Fault) bool {
		return f.Pointer == "" || f.constant && strings.Count(f.Pointer, "/") == 1
	})
}

// wrongValue is the fault of a value that is not what it must be.
func wrongValue(value json.RawMessage, t wireType, want string) []Fault {
	return []Fault{{
		text:     fmt.Sprintf("%s, and must be %s", shownValue(value), want),
		constant: t.shape != wireList && strings.HasPrefix(t.name, `"`),
	}}
}

// below puts faults under the member or element of that name.
func below(name string, faults []Fault) []Fault {
	for i := range faults {
		faults[i].Pointer = rawjson.Pointer(name) + faults[i].Pointer
	}
	return faults
}

// membersOf are an object's members by name; of two of one name the last, as readers
// of JSON have it.
func membersOf(value json.RawMessage) map[string]json.RawMessage {
	members := make(map[string]json.RawMessage)
	for member := range rawjson.Each(value) {
		members[member.Name] = member.Value
	}
	return members
}

// fitsScalar reports whether a value is of a type that is no form.
func fitsScalar(value json.RawMessage, name string) bool {
	kind := evidence.KindOfJSON(value)
	switch name {
	case "any":
		return true
	case "null":
		return kind == "null"
	case "boolean":
		return kind == "a boolean"
	case "object":
		return kind == "an object"
	case "string":
		return kind == "a string"
	case "uri":
		return kind == "a string" && isAbsoluteURI(rawjson.Unquote(value))
	case "template":
		return kind == "a string" && isURITemplate(rawjson.Unquote(value))
	case "number", "integer", "natural", "fraction":
		return kind == "a number" && fitsNumber(string(value), name)
	}
	return kind == "a string" && `"`+rawjson.Unquote(value)+`"` == name
}

// fitsNumber reports whether a number is of a numeric type. For JSON Schema 1.0 is a
// whole number.
func fitsNumber(literal, name string) bool {
	number, _ := strconv.ParseFloat(strings.TrimSpace(literal), 64) // what overflows is infinite
	whole := number == math.Trunc(number)
	switch name {
	case "integer":
		return whole
	case "natural":
		return whole && number >= 0
	case "fraction":
		return number >= 0 && number <= 1
	}
	return true
}

func isAbsoluteURI(text string) bool {
	parsed, err := url.Parse(text)
	return err == nil && parsed.IsAbs()
}

// isURITemplate reports whether the braces of a text are balanced and not nested (RFC
// 6570 §2).
func isURITemplate(text string) bool {
	open := false
	for _, char := range text {
		switch {
		case char == '{' && !open:
			open = true
		case char == '}' && open:
			open = false
		case char == '{', char == '}':
			return false
		}
	}
	return !open
}

// inWords is a type as a sentence names it.
func inWords(name string) string {
	switch name {
	case "fraction":
		return "a number from 0 to 1"
	case "natural":
		return "a whole number from 0"
	case "integer":
		return "a whole number"
	case "uri":
		return "an absolute URI"
	case "template":
		return "a URI template"
	case "string", "number", "boolean":
		return "a " + name
	case "object":
		return "an object"
	}
	return name
}

// shownValue is a value in a few words: its kind, and itself where it is short.
func shownValue(value json.RawMessage) string {
	kind := evidence.KindOfJSON(value)
	if kind == "null" {
		return "it is null"
	}
	return "it is " + kind + " (" + evidence.Excerpt(evidence.ExcerptJSON(value), evidence.MaxLabel) + ")"
}
