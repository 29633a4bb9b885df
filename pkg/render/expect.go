package render

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/itchyny/gojq"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// CompileExpectations compiles the expressions of --expect. The error is a *fault.UsageError.
func CompileExpectations(expressions []string) (all []*JQ, err error) {
	for _, expression := range expressions {
		if strings.TrimSpace(expression) == "" {
			return nil, fault.Usage("--expect is empty", "--expect '.items | length == 3'")
		}
		jq, err := compileJQ("--expect", expression)
		if err != nil {
			return nil, err
		}
		all = append(all, jq)
	}
	return all, nil
}

// ExpectError reports a result that is not as expected.
type ExpectError struct{ Expected, Actual string }

func (e *ExpectError) Error() string { return "expected " + e.Expected + "; " + e.Actual }

// Kind returns KindTool: the call was made, and its result is wrong.
func (e *ExpectError) Kind() fault.Kind { return fault.KindTool }

// Expect returns an *ExpectError unless the expression gives true for the value of a successful result. All values of
// an expression with several must be true.
func (j *JQ) Expect(ctx context.Context, result *exec.Result) error {
	failed := &ExpectError{Expected: j.expression, Actual: "the expression has no value"}
	if result.Truncated != nil {
		failed.Actual = "the result was cut, and --max-output 0 keeps all of it"
		return failed
	}
	input, _ := JQInput(result)
	count := 0
	err := j.run(ctx, input, func(value any) error {
		count++
		switch value {
		case true:
			return nil
		case false:
			failed.Actual = j.actual(ctx, input, count)
		default:
			failed.Actual = "its value is " + shortValue(value) + ", and must be true"
		}
		return failed
	})
	switch wrong := (*JQError)(nil); {
	case errors.As(err, &wrong):
		failed.Actual = "the expression fails: " + wrong.Err.Error()
	case err != nil || count > 0:
		return err
	}
	return failed
}

// actual explains why the value with a number (from 1) is false: it returns the left side of a comparison with its
// value, or else the whole result.
func (j *JQ) actual(ctx context.Context, input json.RawMessage, number int) string {
	actual := "the result is " + words.Clip(string(rawjson.Compact(input)), maxActual)
	compared := leftOfComparison(j.query)
	if compared == nil || compared.String() == "." {
		return actual
	}
	name := compared.String()
	compared.FuncDefs = j.query.FuncDefs
	if code, err := gojq.Compile(compared); err == nil {
		left := &JQ{code: code}
		_ = left.run(ctx, input, func(value any) error { // where it fails, so does the expectation
			if number--; number == 0 {
				actual = name + " is " + shortValue(value)
			}
			return nil
		})
	}
	return actual
}

// leftOfComparison returns the query whose value an expectation compares; nil if there is none.
func leftOfComparison(query *gojq.Query) *gojq.Query {
	switch query.Op {
	case gojq.OpEq, gojq.OpNe, gojq.OpLt, gojq.OpLe, gojq.OpGt, gojq.OpGe:
		left := *query.Left
		return &left
	case gojq.OpPipe:
		if right := leftOfComparison(query.Right); right != nil {
			return &gojq.Query{Left: query.Left, Op: query.Op, Patterns: query.Patterns, Right: right}
		}
	}
	return nil
}

// The most bytes of a value in a message, and of an expectation that is derived from a result.
const (
	maxActual   = 300
	maxExpected = 500
)

func shortValue(value any) string {
	text, _ := gojq.Marshal(value) // which is a value of jq
	return words.Clip(string(text), maxActual)
}

// expectations are expressions that are true of a value, the most exact first.
const expectations = `". == \(tojson)",
	(objects | "map_values(type) == \(map_values(type) | tojson)"),
	(arrays | "map(type) | unique == \(map(type) | unique | tojson)"),
	"type == \(type | tojson)"`

// ExpectationOf returns an expectation for further results like this one: that a small value is equal, or else that the
// members of an object, the elements of an array, or the value have the same types. It is empty if none can be found.
func ExpectationOf(ctx context.Context, result *exec.Result) (found string) {
	input, _ := JQInput(result)
	candidates, _ := compileJQ("--expect", expectations)   // which never fails
	_ = candidates.run(ctx, input, func(value any) error { // without a value there is no expectation
		if text, _ := value.(string); found == "" && len(text) <= maxExpected {
			if jq, err := compileJQ("--expect", text); err == nil && jq.Expect(ctx, result) == nil {
				found = text
			}
		}
		return nil
	})
	return found
}
