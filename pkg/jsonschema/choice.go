package jsonschema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// choose explains why no alternative of an anyOf or oneOf fits: by one problem that all share if possible, otherwise by
// the nearest alternative.
func (r *report) choose(err *jsonschema.ValidationError) {
	here := r.path(err.InstanceLocation)
	var tried []*report
	for _, cause := range err.Causes {
		if r.budget.err != nil {
			return
		}
		branch := newReport(r.document, r.value, r.budget)
		branch.choice, branch.places = true, r.places
		branch.add(cause)
		branch.problems = branch.sorted()
		if len(branch.problems) == 0 && len(branch.unknown) > 0 {
			// Its only problems are unknown parameters.
			r.merge(branch)
			return
		}
		tried = append(tried, branch)
	}
	if len(tried) == 0 {
		r.addLeaf(err)
		return
	}
	if problem, ok := sameKind(tried, here); ok {
		r.problems = append(r.problems, problem)
		return
	}
	if problem, ok := oneMissing(tried); ok {
		r.problems = append(r.problems, problem)
		return
	}
	best := slices.MinFunc(tried, func(a, b *report) int { return a.distance(here) - b.distance(here) })
	if len(best.problems) == 0 {
		r.addLeaf(err)
		return
	}
	best.remark(r.alternativesOf(err, tried, best))
	r.merge(best)
}

// merge adds the findings of another report.
func (r *report) merge(other *report) {
	r.problems = append(r.problems, other.problems...)
	for _, u := range other.unknown {
		r.mergeUnknown(u)
	}
}

// remark adds a remark to the first problem, unless it has a better one.
func (r *report) remark(text string) {
	if r.problems[0].Detail == "" {
		r.problems[0].Detail = text
	}
}

// distance measures how far the arguments are from an alternative. Another kind of value is farthest; then another
// value where the alternative names one, which is how alternatives usually differ.
func (r *report) distance(here string) int {
	const kindWeight, valueWeight, missingWeight, unknownWeight = 1000, 100, 10, 5
	sum := unknownWeight * len(r.unknown)
	for _, problem := range r.problems {
		switch {
		case problem.Path == here && problem.Reason == ReasonType:
			sum += kindWeight
		case problem.Reason == ReasonEnum:
			sum += valueWeight
		case problem.Reason == ReasonMissing || problem.Reason == ReasonForbidden:
			sum += missingWeight
		default:
			sum++
		}
	}
	return sum
}

// wrongKind reports whether an alternative requires another kind of value.
func (r *report) wrongKind(here string) bool {
	return len(r.problems) == 1 && r.problems[0].Path == here && r.problems[0].Reason == ReasonType
}

// wrongValue reports whether an alternative requires another value somewhere, usually where alternatives differ.
func (r *report) wrongValue() bool {
	return slices.ContainsFunc(r.problems, func(p Problem) bool { return p.Reason == ReasonEnum })
}

// sameKind merges alternatives that each require one kind, or one of some values, in the same place into one problem:
// "must be one of "on", "off"", "must be a string or an integer".
func sameKind(tried []*report, here string) (Problem, bool) {
	var expected, options []string
	merged := tried[0].problems
	for _, branch := range tried {
		if len(branch.problems) != 1 || len(branch.unknown) > 0 {
			return Problem{}, false
		}
		problem := branch.problems[0]
		switch {
		case problem.Path != here:
			return Problem{}, false
		case problem.Reason == ReasonEnum:
			options = append(options, problem.Options...)
		case problem.Reason == ReasonType:
			expected = append(expected, strings.Split(problem.Expected, " or ")...)
		default:
			return Problem{}, false
		}
	}
	problem := merged[0]
	switch {
	case len(options) == 0:
		problem.Expected = strings.Join(unique(expected), " or ")
	default:
		options = unique(options)
		problem.Reason, problem.Options = ReasonEnum, options
		problem.Expected = oneOfTexts(append(slices.Clone(options), unique(expected)...))
	}
	return problem, true
}

// oneMissing merges alternatives that each lack one parameter into one problem.
func oneMissing(tried []*report) (Problem, bool) {
	var names []string
	for _, branch := range tried {
		if len(branch.problems) != 1 || branch.problems[0].Reason != ReasonMissing {
			return Problem{}, false
		}
		names = append(names, branch.problems[0].Path)
	}
	names = unique(names)
	problem := tried[0].problems[0]
	if len(names) > 1 {
		problem.Detail = "or '" + strings.Join(names[1:], "' or '") + "' instead"
	}
	return problem, true
}

// alternativesOf names the alternatives, for the remark on the nearest; empty if only one is likely.
func (r *report) alternativesOf(err *jsonschema.ValidationError, tried []*report, best *report) string {
	here := r.path(err.InstanceLocation)
	var names []string
	schemas := r.alternativeSchemas(err, len(tried))
	possible := 0
	for i, branch := range tried {
		if branch.wrongKind(here) || branch.wrongValue() && !best.wrongValue() {
			continue
		}
		possible++
		if schemas != nil {
			if name := alternativeName(schemas[i]); name != "" {
				names = append(names, name)
			}
		}
	}
	const many = 8
	switch {
	case possible < 2:
		return ""
	case len(names) != possible || possible > many:
		return fmt.Sprintf("nearest of %d alternatives", possible)
	}
	return "nearest of the alternatives " + strings.Join(names, ", ")
}

// alternativeSchemas finds the alternatives in the schema by the location of the error.
func (r *report) alternativeSchemas(err *jsonschema.ValidationError, n int) []*Node {
	fragment, ok := strings.CutPrefix(err.SchemaURL, schemaURL)
	if !ok {
		return nil
	}
	list := r.document.Resolve(fragment).Get(err.ErrorKind.KeywordPath()[0]).Elements()
	if len(list) != n {
		return nil
	}
	return list
}

// alternativeName names one alternative: by its title, its constant, or its required parameters.
func alternativeName(schema *Node) string {
	if title := schema.Facets().first("title").Text(); title != "" {
		return title
	}
	required := schema.Facets().Required()
	for _, name := range required {
		property, _ := schema.Property(name)
		if value := property.Facets().first("const"); value != nil {
			return name + "=" + given(value.value())
		}
	}
	if len(required) > 0 {
		return "{" + strings.Join(required, ", ") + "}"
	}
	return schema.TypeName()
}

func oneOfTexts(texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	return "one of " + strings.Join(texts, ", ")
}
