package jsonschema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// manyAlternatives is a schema whose work is large: of each level all alternatives are tried again.
func manyAlternatives(levels, alternatives int) json.RawMessage {
	var list strings.Builder
	for i := range alternatives {
		fmt.Fprintf(&list, `,{"properties":{"a":{"const":"%d"}},"required":["a"]}`, i)
	}
	schema := `{"oneOf":[` + list.String()[1:] + `]}`
	for range levels {
		schema = `{"allOf":[` + schema + `,{"$ref":"#/$defs/one"},{"$ref":"#/$defs/one"}]}`
	}
	return json.RawMessage(`{"type":"object","$defs":{"one":{"oneOf":[` + list.String()[1:] + `]}},"allOf":[` + schema + `]}`)
}

// endsAfter is a context that ends when it has been looked at so many times.
type endsAfter struct {
	context.Context
	looks *int
}

func (c endsAfter) Err() error {
	if *c.looks--; *c.looks < 0 {
		return context.Canceled
	}
	return nil
}

// large skips a test that only gives one goroutine much to do, which takes ten times as long under the race detector.
func large(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out large input")
	}
}

// All work on a schema ends with its context, also one that ends in the middle of the work.
func TestWorkEndsWithItsContext(t *testing.T) {
	t.Parallel()
	document := Parse(manyAlternatives(50, 200))
	schema, err := document.Compile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	arguments := json.RawMessage(`{"a":"zz"}`)
	for name, work := range map[string]func(ctx context.Context) error{
		"arguments": func(ctx context.Context) error { _, err := schema.Judge(ctx, arguments); return err },
		"a value":   func(ctx context.Context) error { _, err := schema.CheckValue(ctx, arguments); return err },
		"example": func(ctx context.Context) error {
			if _, err := document.Example(ctx); err != nil {
				return err
			}
			return ctx.Err()
		},
		"compile": func(ctx context.Context) error { _, err := Parse(document.raw).Compile(ctx); return err },
	} {
		t.Run(name, func(t *testing.T) {
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if err := work(ended); !errors.Is(err, context.Canceled) {
				t.Errorf("the error is %v", err)
			}
			if name == "compile" {
				return // which cannot be stopped, but is not waited for
			}
			for _, looks := range []int{1, 2, 5} {
				if err := work(endsAfter{t.Context(), &looks}); !errors.Is(err, context.Canceled) {
					t.Errorf("after some looks the error is %v", err)
				}
			}
		})
	}
}

// The compiled schema is kept for later, although the first who asked for it did not wait.
func TestCompileOutlivesItsFirstCaller(t *testing.T) {
	t.Parallel()
	document := Parse(manyAlternatives(20, 50))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := document.Compile(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if _, err := document.Compile(t.Context()); err != nil {
		t.Errorf("the error stays: %v", err)
	}
}

// What counts is what a schema object looks at, and not only how often it is applied.
func TestWideStepsCount(t *testing.T) {
	t.Parallel()
	large(t)
	var options, required strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&options, `,"v%d"`, i)
		fmt.Fprintf(&required, `,"r%d"`, i)
	}
	wide := `{"enum":[` + options.String()[1:] + `]}`
	for name, test := range map[string]struct{ schema, value string }{
		"listed values": {
			`{"items":{"oneOf":[` + strings.Repeat(`{"$ref":"#/$defs/wide"},`, 200) + `{}]},"$defs":{"wide":` + wide + `}}`,
			`[` + strings.Repeat(`"x",`, 20) + `"x"]`,
		},
		"required names": {
			`{"items":{"oneOf":[` + strings.Repeat(`{"$ref":"#/$defs/wide"},`, 200) + `{}]},"$defs":{"wide":{"required":[` + required.String()[1:] + `]}}}`,
			`[` + strings.Repeat(`{},`, 20) + `{}]`,
		},
		"a long text": {
			`{"items":{"oneOf":[` + strings.Repeat(`{"minLength":1,"maxLength":2},`, 500) + `{}]}}`,
			`["` + strings.Repeat("a", 1_000_000) + `"]`,
		},
		"a pattern": {
			`{"items":{"pattern":"^(a|aa){0,900}$"}}`,
			`["` + strings.Repeat(strings.Repeat("a", 1000)+`","`, 2000) + `"]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			schema, err := Parse(json.RawMessage(test.schema)).Compile(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := schema.CheckValue(t.Context(), json.RawMessage(test.value)); !errors.Is(err, ErrSteps) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// A question about a name ends, however many patterns a schema has: it counts as known then.
func TestMatchingNamesIsBounded(t *testing.T) {
	t.Parallel()
	large(t)
	var list strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&list, `,"^(a|aa){0,900}b%d$":{"type":"integer"}`, i)
	}
	root := Parse(json.RawMessage(`{"patternProperties":{` + list.String()[1:] + `}}`)).Root()
	if found, all := root.Branches().matching(strings.Repeat("a", 500)); all || len(found) > 0 {
		t.Errorf("all patterns were tried: %v, %d matched", all, len(found))
	}
	if !root.Branches().HasPattern(strings.Repeat("a", 500)) {
		t.Error("a name that was not matched against all patterns counts as unknown")
	}
}

// A pattern whose program would be large is left to the engine that does not write repetitions out.
func TestLargeProgram(t *testing.T) {
	t.Parallel()
	engine := &patterns{meter: &meter{}}
	for pattern, linear := range map[string]bool{
		`^[a-z]{1,200}$`:                  true,
		strings.Repeat(`.{0,1000}`, 1000): false,
	} {
		re, err := engine.compile(pattern)
		if _, is := re.(*linearPattern); is != linear || err != nil {
			t.Errorf("%.20s: compiled to %T, %v", pattern, re, err)
		}
	}
}

// A refusal stays one when there are too many steps to say in what.
func TestReportIsBounded(t *testing.T) {
	t.Parallel()
	large(t)
	var alternatives strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&alternatives, `,{"$ref":"#/$defs/wide","title":"%d"}`, i)
	}
	wide := `{"enum":["` + strings.Repeat(`x","`, 1000) + `y"]}`
	schema, err := Parse(json.RawMessage(`{"properties":{"a":{"anyOf":[` + alternatives.String()[1:] + `]}},"$defs":{"wide":` + wide + `}}`)).Compile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	problems, _, err := schema.Check(t.Context(), json.RawMessage(`{"a":"z"}`))
	if err == nil && len(problems) == 0 {
		t.Error("nothing is said to be wrong")
	}
}

// manyRequired is a schema whose every parameter requires as many as the whole.
func manyRequired() *Document {
	var properties, required strings.Builder
	for i := range 200 {
		fmt.Fprintf(&properties, `,"p%d":{"$ref":"#"}`, i)
		fmt.Fprintf(&required, `,"p%d"`, i)
	}
	return Parse(json.RawMessage(`{"type":"object","properties":{` + properties.String()[1:] + `},"required":[` + required.String()[1:] + `]}`))
}

// To say what is missing takes steps for each name, and more for what the schema says of it.
func TestDescribingSpendsSteps(t *testing.T) {
	t.Parallel()
	schema, err := manyRequired().Compile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const steps = 1000
	budget := newBudget(t.Context(), steps)
	report := newReport(schema.document, map[string]any{}, budget)
	report.addMissing(nil, schema.document.Root().Facets().Required(), "")
	if !errors.Is(budget.err, ErrSteps) {
		t.Errorf("%d names were described with %d steps", len(report.problems), steps)
	}
}

// The search for an example of which each part requires as many others ends with its steps, and says so.
func TestExampleOfManyRequired(t *testing.T) {
	t.Parallel()
	large(t)
	if got, err := manyRequired().Example(t.Context()); !errors.Is(err, ErrSteps) || len(got) > 4*maxExampleSize {
		t.Errorf("the error is %v, the example has %d bytes", err, len(got))
	}
}

// Of one object's missing names a part is described, however many alternatives lack others.
func TestDescribingAlternatives(t *testing.T) {
	t.Parallel()
	document := manyRequired()
	report := newReport(document, map[string]any{}, unlimited(t.Context()))
	for range 10 {
		report.addMissing(nil, document.Root().Facets().Required(), "")
	}
	described := 0
	for _, problem := range report.problems {
		if problem.Expected != "" {
			described++
		}
	}
	if described != maxDescribed {
		t.Errorf("%d names are described, want %d", described, maxDescribed)
	}
}
