package jsonschema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Reason is why a value does not fit its schema.
type Reason string

// The reasons.
const (
	ReasonMissing   Reason = "missing"   // a required parameter is not there
	ReasonType      Reason = "type"      // another kind of value is expected
	ReasonEnum      Reason = "enum"      // not one of the listed values
	ReasonRange     Reason = "range"     // a number that is too small, too large, or between the steps
	ReasonLength    Reason = "length"    // text, an array or an object of the wrong size
	ReasonPattern   Reason = "pattern"   // text that does not match
	ReasonUnique    Reason = "unique"    // an array with repeated values
	ReasonUnknown   Reason = "unknown"   // a parameter outside the schema, under --strict
	ReasonForbidden Reason = "forbidden" // a value or parameter that the schema excludes
	ReasonChoice    Reason = "choice"    // no alternative fits, or more than one
	ReasonSyntax    Reason = "syntax"    // text that is not the required JSON
	ReasonConflict  Reason = "conflict"  // two values for one parameter
)

// MaxPath is the maximum length of a path in messages, in characters.
const MaxPath = 200

// Problem is one way in which arguments do not fit a schema. Its texts from the schema are the server's, and not safe
// for a terminal.
type Problem struct {
	// Path is the path of the value: "level", "options.mode", "items[2].name". It is empty for the arguments as a
	// whole.
	Path string `json:"path"`
	// Reason classifies the problem.
	Reason Reason `json:"reason"`
	// Expected describes what fits: "integer", "at least 0".
	Expected string `json:"expected,omitempty"`
	// Given is the value as JSON, cut at 60 characters; empty if there is none.
	Given string `json:"given,omitempty"`
	// Description is the schema's description of the parameter.
	Description string `json:"description,omitempty"`
	// Options are the valid values of an enum as JSON, all of them.
	Options []string `json:"options,omitempty"`
	// Detail is a further remark: the nearest alternative, or where the JSON is invalid.
	Detail string `json:"detail,omitempty"`

	// Location is Path in its parts: names of members and numbers of elements.
	Location []string `json:"-"`
}

// Expect adds the values that a schema lists for the value, and its description.
func (p *Problem) Expect(schema *Node) {
	p.Description = schema.Description()
	if values, ok := schema.Options(); ok {
		p.Reason, p.Expected, p.Options = ReasonEnum, oneOf(values), OptionTexts(values)
	}
}

// String returns the problem as one line: "missing 'deviceName'", "'level' must be an integer; got "5"" (EXEC-7,
// VAL-1).
func (p Problem) String() string {
	text := p.sentence()
	if p.Detail != "" {
		text += " (" + p.Detail + ")"
	}
	return text
}

// ProblemsText returns problems and unknown parameters as one message. Missing parameters are listed by name; a second
// sentence describes them (EXEC-7).
func ProblemsText(problems []Problem, unknown []UnknownParameter) string {
	var expected []string
	text := func(p Problem) string {
		if p.Reason != ReasonMissing {
			return p.String()
		}
		if about := p.about(); about != "" {
			expected = append(expected, p.subject()+" ("+about+")")
		}
		return p.sentence()
	}
	texts := append(words.FirstTexts(problems, "problems", text), UnknownTexts(unknown)...)
	message := strings.Join(texts, "; ")
	if len(expected) > 0 {
		message += ". Expected: " + strings.Join(expected, ", ")
	}
	return message
}

func (p Problem) sentence() string {
	switch p.Reason {
	case ReasonMissing:
		return "missing " + p.subject()
	case ReasonUnknown:
		return "unknown parameter " + p.subject()
	case ReasonForbidden:
		return p.subject() + " " + p.Expected
	}
	text := p.subject() + " must " + p.verb() + articled(p.Expected)
	if p.Given != "" {
		text += "; got " + p.Given
	}
	return text
}

// articled adds articles to the kinds of value in an expectation: "a string or an array of integer".
func articled(expected string) string {
	alternatives := strings.Split(expected, " or ")
	for i, alternative := range alternatives {
		kind, _, _ := strings.Cut(alternative, " ")
		switch named := KindsNamed(kind); {
		case named.Has(Integer|Array|Object) && named != AnyNumber:
			alternatives[i] = "an " + alternative
		case named != noKinds && named != Null:
			alternatives[i] = "a " + alternative
		}
	}
	return strings.Join(alternatives, " or ")
}

// verb returns the verb before the expectation, which is a kind, a value, a size or an action.
func (p Problem) verb() string {
	switch p.Reason {
	case ReasonType, ReasonEnum, ReasonRange, ReasonSyntax:
		return "be "
	case ReasonLength:
		return "have "
	}
	return ""
}

func (p Problem) subject() string {
	if p.Path == "" {
		return "the arguments"
	}
	return "'" + words.Shorten(p.Path, MaxPath) + "'"
}

// about returns a missing parameter's type, the first sentence of its description, and the detail.
func (p Problem) about() string {
	text := p.Expected
	for _, more := range []struct{ separator, text string }{
		{": ", words.FirstSentence(p.Description)}, {"; ", p.Detail},
	} {
		if text != "" && more.text != "" {
			text += more.separator
		}
		text += more.text
	}
	return text
}

// UnknownParameter is a parameter that the schema does not name (VAL-2). It is passed on: the server may accept more
// than its schema declares.
type UnknownParameter struct {
	// Path is its path, as in Problem.
	Path string
	// Near is the known name that was probably meant, or empty; set for the first twenty unknown parameters of a call.
	Near string
	// Known are the names that the schema has in that place, sorted.
	Known []string

	name string // the last part of Path
}

// String returns a warning in one line: "unknown parameter 'lvl' (did you mean 'level'?)".
func (u UnknownParameter) String() string { return u.Problem().String() }

// Problem returns the parameter as a problem, for --strict.
func (u UnknownParameter) Problem() Problem {
	problem := Problem{Path: u.Path, Reason: ReasonUnknown, Options: u.Known}
	const many = 12
	switch {
	case u.Near != "":
		problem.Detail = "did you mean '" + u.Near + "'?"
	case len(u.Known) > many:
		problem.Detail = fmt.Sprintf("known: %s and %d more", strings.Join(u.Known[:many], ", "), len(u.Known)-many)
	case len(u.Known) > 0:
		problem.Detail = "known: " + strings.Join(u.Known, ", ")
	}
	return problem
}

// Remarks lists the parts of the schema that are not checked, one per line: patterns that no engine supports.
func (s *Schema) Remarks() []string { return slices.Clone(s.remarks) }

// Validate is Check for callers that accept everything if the schema cannot judge.
func (s *Schema) Validate(ctx context.Context, arguments json.RawMessage) ([]Problem, []UnknownParameter) {
	problems, unknown, _ := s.Check(ctx, arguments)
	return problems, unknown
}

// Check validates arguments, a JSON object, and returns all problems at once (VAL-1), and separately the parameters
// that the schema does not name (VAL-2), even if it forbids them.
//
// An error means that the schema could not judge (VAL-3): it is circular, or takes more steps than any reasonable
// schema. The arguments are then neither valid nor invalid. The error is that of ctx if it has ended.
func (s *Schema) Check(
	ctx context.Context, arguments json.RawMessage,
) (problems []Problem, unknown []UnknownParameter, err error) {
	found, err := s.Judge(ctx, arguments)
	return found.Problems, found.Unknown, err
}

// Verdict is the result of validating arguments.
type Verdict struct {
	Problems []Problem
	Unknown  []UnknownParameter
	// Remarks list what was not checked in these arguments, one per line.
	Remarks []string
}

// Judge is Check, with remarks on what is left to the server (VAL-3).
func (s *Schema) Judge(ctx context.Context, arguments json.RawMessage) (Verdict, error) {
	return s.judge(unlimited(ctx), arguments)
}

func (s *Schema) judge(whole *budget, arguments json.RawMessage) (Verdict, error) {
	value, err := rawjson.CheckAndDecode(arguments)
	if err != nil {
		return wrongAsWhole(Problem{
			Reason: ReasonSyntax, Expected: "a JSON object", Given: GivenText(arguments), Detail: err.Error(),
		}), nil
	}
	if _, ok := value.(map[string]any); !ok {
		return wrongAsWhole(Problem{Reason: ReasonType, Expected: "an object", Given: given(value)}), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	failure, unmatched, err := s.applyFairly(whole, value)
	if err != nil {
		return Verdict{}, err
	}
	report := newReport(s.document, value, whole.part(maxSteps))
	if failure != nil {
		if cycle := findCycle(failure); cycle != nil {
			return Verdict{}, cycle
		}
		report.addAll(failure)
	}
	report.addUnknown(whole.part(stepsFor(value)))
	problems := report.sorted()
	report.suggest(whole.part(maxSteps))
	if err := whole.ended(); err != nil {
		return Verdict{}, err
	}
	return Verdict{Problems: problems, Unknown: report.unknown, Remarks: unmatchedRemarks(unmatched)}, nil
}

func wrongAsWhole(problem Problem) Verdict { return Verdict{Problems: []Problem{problem}} }

func unmatchedRemarks(patterns []string) []string {
	return words.Texts(patterns, func(pattern string) string {
		return fmt.Sprintf("the pattern %s takes too long on an argument and was not checked", pattern)
	})
}

// CheckValue validates any JSON value, such as structuredContent against an outputSchema, and returns all problems at
// once. An error means that the schema could not judge, as for Check.
func (s *Schema) CheckValue(ctx context.Context, raw json.RawMessage) ([]Problem, error) {
	value, err := rawjson.CheckAndDecode(raw)
	if err != nil {
		return []Problem{{Reason: ReasonSyntax, Expected: "JSON", Given: GivenText(raw), Detail: err.Error()}}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	whole := unlimited(ctx)
	failure, _, err := s.applyFairly(whole, value)
	if err != nil || failure == nil {
		return nil, err
	}
	if cycle := findCycle(failure); cycle != nil {
		return nil, cycle
	}
	report := newReport(s.document, value, whole.part(maxSteps))
	report.addAll(failure)
	for _, member := range report.unknown { // only arguments may have more members than their schema
		report.problems = append(report.problems, Problem{
			Path: member.Path, Reason: ReasonForbidden, Expected: "is not allowed",
		})
	}
	return report.sorted(), whole.ended()
}

// frames bounds the recursion of the validator: Go ends a program whose stack exceeds 1 GB, and nothing can recover
// that. One level takes 2 kB.
const frames = 50_000

// applyFairly runs the validator and returns the patterns that it gave up on. They count as matching. Below a "not"
// that could refuse a valid value, so a refusal only counts if it remains when they do not match.
func (s *Schema) applyFairly(
	whole *budget, value any,
) (failure *jsonschema.ValidationError, unmatched []string, err error) {
	failure, err = s.apply(whole, value)
	if err != nil || s.meter == nil || len(s.meter.unmatched) == 0 {
		return failure, nil, err
	}
	unmatched = s.meter.unmatched
	if failure == nil {
		return nil, unmatched, nil
	}
	s.meter.deny = true
	defer func() { s.meter.deny = false }()
	if other, err := s.apply(whole, value); err == nil && other == nil {
		return nil, unmatched, nil
	}
	return failure, unmatched, nil
}

// apply runs the validator on a part of the budget.
func (s *Schema) apply(whole *budget, value any) (failure *jsonschema.ValidationError, err error) {
	if s.compiled == nil {
		return nil, nil
	}
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case stopped:
			err = cause.err
		default:
			err = fmt.Errorf("the schema cannot be applied: %v", cause)
		}
	}()
	_, depth := measure(value)
	steps := stepsFor(value)
	if (depth+1)*(s.size+1) > frames {
		steps = min(steps, frames)
	}
	s.meter.start(whole.part(steps))
	errors.As(s.compiled.Validate(value), &failure)
	return failure, nil
}

// stepsFor returns the steps for reading a value once.
func stepsFor(value any) int {
	count, _ := measure(value)
	return maxSteps + stepsPerValue*count
}

// measure counts the values in a value, and how deeply they are nested.
func measure(value any) (count, depth int) {
	count = 1
	add := func(part any) {
		n, d := measure(part)
		count, depth = count+n, max(depth, d)
	}
	switch value := value.(type) {
	case map[string]any:
		for _, part := range value {
			add(part)
		}
	case []any:
		for _, part := range value {
			add(part)
		}
	}
	return count, depth + 1
}

// UnknownTexts returns the warnings of the first unknown parameters, and the number of others.
func UnknownTexts(unknown []UnknownParameter) []string {
	return words.FirstTexts(unknown, "unknown parameters", UnknownParameter.String)
}
