package jsonschema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// report turns the validator's tree of errors into a list for people.
type report struct {
	document *Document
	value    any // the arguments
	// budget bounds the work. When it is used up, the report is finished.
	budget *budget
	// choice reports whether the errors are those of one alternative among several.
	choice   bool
	problems []Problem
	unknown  []UnknownParameter
	reported map[string]bool // the paths of unknown
	// places has the schemas of values with problems, by location: thousands of problems may be about one value.
	places map[string]*place
}

// place is what the schema contains about one value in the arguments. Expensive parts are computed when needed.
type place struct {
	schema      *Node // nil if the schema has nothing about it
	given       string
	names       *names
	missing     int // names that were reported as missing
	described   bool
	description string
	options     []any // nil if other values are valid too
}

// names are the member names of a schema for an object.
type names struct {
	set    map[string]bool
	sorted []string
}

func newNames(set map[string]bool) *names {
	return &names{set: set, sorted: slices.Sorted(maps.Keys(set))}
}

func newReport(document *Document, value any, budget *budget) *report {
	return &report{
		document: document, value: value, budget: budget,
		reported: make(map[string]bool), places: make(map[string]*place),
	}
}

// addAll adds the root error. It adds at least one problem or unknown parameter.
func (r *report) addAll(err *jsonschema.ValidationError) {
	r.add(err)
	if r.budget.err != nil && len(r.problems)+len(r.unknown) == 0 {
		r.problems = []Problem{{Reason: ReasonForbidden, Expected: "do not fit the schema"}}
	}
}

// add takes one error with all its causes.
func (r *report) add(err *jsonschema.ValidationError) {
	if r.budget.spend(1) != nil {
		return
	}
	switch k := err.ErrorKind.(type) {
	case nil:
		// The validator keeps no reasons below a "not" or an "if".
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range err.Causes {
			r.add(cause)
		}
	case *kind.AnyOf:
		r.choose(err)
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			r.choose(err)
		} else {
			r.addLeaf(err)
		}
	case *kind.Required:
		r.addMissing(err.InstanceLocation, k.Missing, "")
	case *kind.Dependency:
		r.addMissing(err.InstanceLocation, k.Missing, k.Prop)
	case *kind.DependentRequired:
		r.addMissing(err.InstanceLocation, k.Missing, k.Prop)
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			r.addOutside(append(slices.Clone(err.InstanceLocation), name))
		}
	case *kind.PropertyNames:
		r.addName(err, k.Property)
	case *kind.FalseSchema:
		if strings.HasSuffix(err.SchemaURL, "/unevaluatedProperties") {
			r.addOutside(err.InstanceLocation)
			return
		}
		r.addLeaf(err)
	default:
		r.addLeaf(err)
	}
}

// addLeaf adds an error about one value.
func (r *report) addLeaf(err *jsonschema.ValidationError) {
	at := r.place(err.InstanceLocation)
	if r.budget.spend(listedIn(err)) != nil {
		return
	}
	problem := problemOf(err, at.given)
	problem.Path, problem.Location = r.path(err.InstanceLocation), err.InstanceLocation
	if len(err.InstanceLocation) > 0 {
		at.describe()
		problem.Description = at.description
		if at.options != nil && problem.Reason == ReasonType && r.budget.spend(len(at.options)/itemsPerStep) == nil {
			problem.Reason, problem.Expected, problem.Options = ReasonEnum, oneOf(at.options), OptionTexts(at.options)
		}
	}
	r.problems = append(r.problems, problem)
}

// listedIn returns the steps for writing the values that an error lists.
func listedIn(err *jsonschema.ValidationError) int {
	if enum, is := err.ErrorKind.(*kind.Enum); is {
		return len(enum.Want) / itemsPerStep
	}
	return 0
}

const (
	// maxDescribed bounds the missing names of one object that are described, for all alternatives of its schema.
	maxDescribed = 200
	// stepsPerDescription is the cost of finding the description of a name.
	stepsPerDescription = 20
)

// addMissing adds a problem for each name that an object lacks. because is the parameter that requires them; it may be
// empty.
func (r *report) addMissing(location, names []string, because string) {
	object := r.place(location)
	for _, name := range names {
		if r.budget.spend(1) != nil {
			return
		}
		below := append(slices.Clone(location), name)
		problem := Problem{Path: r.path(below), Reason: ReasonMissing, Location: below}
		if object.missing++; object.missing <= maxDescribed && r.budget.spend(stepsPerDescription) == nil {
			schema, _ := object.schema.Property(name)
			problem.Expected = schema.TypeName()
			problem.Description = schema.Description()
			if values, ok := schema.Options(); ok {
				problem.Options = OptionTexts(values)
			}
		}
		if because != "" {
			problem.Detail = "needed because '" + because + "' is given"
		}
		r.problems = append(r.problems, problem)
	}
}

// addOutside adds a parameter that a closed schema (additionalProperties: false) does not allow. If the schema does not
// name it anywhere, it is unknown, not a problem (VAL-2). If another alternative names it, it does not fit the others.
// If another part of an allOf names it, that is the common mistake of two closed schemas that exclude each other's
// parameters; servers never mean it.
func (r *report) addOutside(location []string) {
	last := len(location) - 1
	known := r.namesIn(location[:last])
	switch {
	case !known.set[location[last]]:
		r.addUnknownParameter(location, known.sorted)
	case r.choice:
		r.problems = append(r.problems, Problem{
			Path: r.path(location), Reason: ReasonForbidden,
			Expected: "cannot be given together with the other parameters",
			Location: location,
		})
	}
}

func (r *report) addUnknownParameter(location, known []string) {
	r.mergeUnknown(UnknownParameter{Path: r.path(location), Known: known, name: location[len(location)-1]})
}

func (r *report) mergeUnknown(u UnknownParameter) {
	if !r.reported[u.Path] {
		r.reported[u.Path] = true
		r.unknown = append(r.unknown, u)
	}
}

// namesIn returns the names that members of the object at a location may have.
func (r *report) namesIn(location []string) *names {
	at := r.place(location)
	if at.names == nil {
		at.names = newNames(at.schema.Branches().Names())
	}
	return at.names
}

// place returns the place of the value at a location.
func (r *report) place(location []string) *place {
	key := strings.Join(location, "\x00")
	if r.places[key] == nil {
		schema, _ := r.document.at(location)
		r.places[key] = &place{schema: schema, given: given(valueAt(r.value, location))}
	}
	return r.places[key]
}

// describe fills in the description and the valid values of the place.
func (p *place) describe() *place {
	if !p.described {
		p.described = true
		p.description = p.schema.Description()
		p.options, _ = p.schema.Options()
	}
	return p
}

// suggest finds the nearest names for the first unknown parameters, which messages name.
func (r *report) suggest(budget *budget) {
	for i := range r.unknown[:min(len(r.unknown), words.MaxNamed)] {
		if budget.spend(comparing(r.unknown[i].Known)) != nil {
			return
		}
		r.unknown[i].Near = words.Nearest(r.unknown[i].name, r.unknown[i].Known)
	}
}

// addName adds a name that the schema's propertyNames refuses.
func (r *report) addName(err *jsonschema.ValidationError, name string) {
	object := r.objectWith(name, r.value, make([]string, 0, len(err.InstanceLocation)))
	problem := Problem{
		Path:     r.path(append(slices.Clone(object), name)),
		Reason:   ReasonForbidden,
		Expected: "is not an allowed name here",
	}
	if leaf := firstLeaf(err); leaf != err {
		reason := problemOf(leaf, given(name))
		problem.Detail = "it must " + reason.verb() + reason.Expected
	}
	r.problems = append(r.problems, problem)
}

// objectWith returns the location of the first object below value that has a refused name and no problem about it yet.
// at is the location of value, and its capacity the depth of the object: the depth is all that is right in the
// validator's own location, which it overwrites (santhosh-tekuri/jsonschema#269).
func (r *report) objectWith(name string, value any, at []string) []string {
	if r.budget.spend(1) != nil {
		return nil
	}
	object, isObject := value.(map[string]any)
	if len(at) == cap(at) {
		schema, _ := r.document.at(at)
		path := r.path(append(at, name))
		known := func(p Problem) bool { return p.Path == path }
		if _, has := object[name]; has && schema.Branches().first("propertyNames") != nil &&
			!slices.ContainsFunc(r.problems, known) {
			return at
		}
		return nil
	}
	if isObject {
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if found := r.objectWith(name, object[key], append(at, key)); found != nil {
				return found
			}
		}
	}
	items, _ := value.([]any)
	for i, item := range items {
		if found := r.objectWith(name, item, append(at, strconv.Itoa(i))); found != nil {
			return found
		}
	}
	return nil
}

func firstLeaf(err *jsonschema.ValidationError) *jsonschema.ValidationError {
	for len(err.Causes) > 0 {
		err = err.Causes[0]
	}
	return err
}

// sorted returns the problems in a stable order: first the missing ones, as their schemas list them, then the others by
// path.
func (r *report) sorted() []Problem {
	SortProblems(r.problems)
	slices.SortFunc(r.unknown, func(a, b UnknownParameter) int { return cmp.Compare(a.Path, b.Path) })
	return slices.CompactFunc(r.problems,
		func(a, b Problem) bool { return a.Path == b.Path && a.String() == b.String() })
}

// SortProblems sorts problems into the order of Check.
func SortProblems(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		missingA, missingB := a.Reason == ReasonMissing, b.Reason == ReasonMissing
		switch {
		case missingA && missingB:
			return cmp.Compare(parent(a.Path), parent(b.Path))
		case missingA:
			return -1
		case missingB:
			return 1
		}
		if order := cmp.Compare(a.Path, b.Path); order != 0 {
			return order
		}
		return cmp.Compare(a.String(), b.String())
	})
}

func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '.'))] }

// path writes a location in the arguments for people: options.mode, items[2]. A name that is the whole location may
// have dots and spaces, as on the command line.
func (r *report) path(location []string) string {
	if len(location) == 1 && location[0] != "" && !strings.ContainsAny(location[0], "[]\"'") {
		return location[0]
	}
	var path strings.Builder
	value := r.value
	for _, token := range location {
		_, inArray := value.([]any)
		switch {
		case inArray:
			path.WriteString("[" + token + "]")
		case token == "" || strings.ContainsAny(token, ".[]\"' "):
			path.WriteString("[" + strconv.Quote(token) + "]")
		case path.Len() > 0:
			path.WriteString("." + token)
		default:
			path.WriteString(token)
		}
		value = valueAt(value, []string{token})
	}
	return path.String()
}

// valueAt follows names and indexes into a value; nil if they lead nowhere.
func valueAt(value any, location []string) any {
	found, _ := rawjson.At(value, rawjson.Pointer(location...))
	return found
}

// problemOf describes what is wrong with one value, without a Path.
func problemOf(err *jsonschema.ValidationError, given string) Problem {
	if problem, ok := lengthProblem(err.ErrorKind, given); ok {
		return problem
	}
	problem := Problem{Given: given}
	set := func(reason Reason, expected string) { problem.Reason, problem.Expected = reason, expected }
	switch k := err.ErrorKind.(type) {
	case *kind.Type:
		set(ReasonType, strings.Join(k.Want, " or "))
	case *kind.Enum:
		set(ReasonEnum, oneOf(k.Want))
		problem.Options = OptionTexts(k.Want)
	case *kind.Const:
		set(ReasonEnum, oneOf([]any{k.Want}))
		problem.Options = OptionTexts([]any{k.Want})
	case *kind.Pattern:
		set(ReasonPattern, "match the pattern "+k.Want)
	case *kind.Minimum:
		set(ReasonRange, "at least "+decimal(k.Want))
	case *kind.Maximum:
		set(ReasonRange, "at most "+decimal(k.Want))
	case *kind.ExclusiveMinimum:
		set(ReasonRange, "more than "+decimal(k.Want))
	case *kind.ExclusiveMaximum:
		set(ReasonRange, "less than "+decimal(k.Want))
	case *kind.MultipleOf:
		set(ReasonRange, "a multiple of "+decimal(k.Want))
	case *kind.UniqueItems:
		set(ReasonUnique, "not repeat a value")
		problem.Given = ""
		problem.Detail = fmt.Sprintf("items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		set(ReasonChoice, "contain an item that fits the schema")
	case *kind.MinContains:
		set(ReasonChoice, "contain at least "+words.Count(k.Want, "item")+" of the kind the schema asks for")
		problem.Given = strconv.Itoa(len(k.Got))
	case *kind.MaxContains:
		set(ReasonChoice, "contain at most "+words.Count(k.Want, "item")+" of the kind the schema limits")
		problem.Given = strconv.Itoa(len(k.Got))
	case *kind.OneOf:
		set(ReasonChoice, "fit exactly one alternative of the schema")
		if len(k.Subschemas) == 2 {
			problem.Detail = fmt.Sprintf("it fits alternatives %d and %d", k.Subschemas[0]+1, k.Subschemas[1]+1)
		}
	case *kind.AnyOf:
		set(ReasonChoice, "fit an alternative of the schema")
	case *kind.FalseSchema:
		set(ReasonForbidden, "is not allowed")
		problem.Given = ""
	case *kind.Not:
		set(ReasonForbidden, "has a value that the schema excludes")
		problem.Given = ""
	default:
		set(ReasonForbidden, "does not fit the schema")
		problem.Given = ""
	}
	return problem
}

// lengthProblem describes a wrong length of a text, an array or an object; ok is false if it is right.
func lengthProblem(of jsonschema.ErrorKind, given string) (problem Problem, ok bool) {
	set := func(expected, given string) {
		problem = Problem{Reason: ReasonLength, Expected: expected, Given: given}
	}
	switch k := of.(type) {
	case *kind.MinLength:
		set("at least "+words.Count(k.Want, "character"), given)
	case *kind.MaxLength:
		set("at most "+words.Count(k.Want, "character"), given)
	case *kind.MinItems:
		set("at least "+words.Count(k.Want, "item"), strconv.Itoa(k.Got))
	case *kind.MaxItems:
		set("at most "+words.Count(k.Want, "item"), strconv.Itoa(k.Got))
	case *kind.AdditionalItems:
		set(words.Count(k.Count, "item")+" fewer", "")
	case *kind.MinProperties:
		set("at least "+words.Count(k.Want, "member"), strconv.Itoa(k.Got))
	case *kind.MaxProperties:
		set("at most "+words.Count(k.Want, "member"), strconv.Itoa(k.Got))
	}
	return problem, problem.Reason != ""
}

// findCycle looks for a schema that refers to itself endlessly: the validator's other errors are then meaningless.
func findCycle(err *jsonschema.ValidationError) error {
	switch k := err.ErrorKind.(type) {
	case *kind.RefCycle:
		return fmt.Errorf("the schema refers to itself endlessly at %s", strings.TrimPrefix(k.URL, schemaURL))
	case *kind.InvalidJsonValue:
		return errors.New("the schema cannot be applied")
	}
	for _, cause := range err.Causes {
		if cycle := findCycle(cause); cycle != nil {
			return cycle
		}
	}
	return nil
}

// given returns a value as JSON, shortened for a message.
func given(value any) string {
	raw, err := rawjson.Marshal(value)
	if err != nil {
		return ""
	}
	return words.Shorten(string(raw), words.MaxGiven)
}

// GivenText returns text that may not be JSON, quoted if it is not.
func GivenText(text []byte) string {
	if json.Valid(text) {
		return words.Shorten(strings.TrimSpace(string(text)), words.MaxGiven)
	}
	return words.Shorten(string(rawjson.Quote(words.Shorten(string(text), words.MaxGiven))), words.MaxGiven)
}

// oneOf returns the expectation for one of several values.
func oneOf(values []any) string {
	if len(values) == 1 {
		return given(values[0])
	}
	return "one of " + listOptions(values, ", ")
}

// listOptions lists values as JSON, the first twenty of them.
func listOptions(values []any, separator string) string {
	const many = 20
	texts := OptionTexts(values[:min(len(values), many)])
	if more := len(values) - many; more > 0 {
		texts = append(texts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(texts, separator)
}

// OptionTexts writes values as JSON.
func OptionTexts(values []any) []string {
	texts := make([]string, len(values))
	for i, value := range values {
		raw, err := rawjson.Marshal(value)
		if err != nil {
			continue
		}
		texts[i] = string(raw)
	}
	return texts
}

// decimal writes a bound without fractions and without hundreds of zeros.
func decimal(value *big.Rat) string {
	const digits = 20
	if value.IsInt() && len(value.Num().String()) <= digits {
		return value.Num().String()
	}
	float, _ := value.Float64()
	return strconv.FormatFloat(float, 'g', -1, 64)
}
