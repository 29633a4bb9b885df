package render

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/itchyny/gojq"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Expectation is a jq expression that must be true of a result.
type Expectation struct{ jq *JQ }

// CompileExpectation compiles an expression of --expect. The error is a *fault.UsageError.
func CompileExpectation(expression string) (*Expectation, error) {
	if strings.TrimSpace(expression) == "" {
		return nil, fault.Usage("--expect is empty", "--expect '.items | length == 3'")
	}
	jq, err := compileJQ("--expect", expression)
	return &Expectation{jq}, err
}

// ExpectError reports a result that is not as expected.
type ExpectError struct {
	Expected string
	Actual   string
	Fix      string // may be empty
}

func (e *ExpectError) Error() string { return "expected " + e.Expected + "; " + e.Actual }

// Kind returns KindTool: the call was made, and its result is wrong.
func (e *ExpectError) Kind() fault.Kind { return fault.KindTool }

// Hint returns what to change.
func (e *ExpectError) Hint() string { return e.Fix }

// Check returns an *ExpectError unless the expression gives true for the value of a successful result, which is the
// input of --jq. All values of an expression with several must be true.
func (e *Expectation) Check(ctx context.Context, result *exec.Result) error {
	failed := &ExpectError{Expected: e.jq.expression}
	if result.Truncated != nil {
		failed.Actual, failed.Fix = "the result was cut, so this is unknown", "--max-output 0 keeps all of it"
		return failed
	}
	input, _ := JQInput(result)
	count, stop := 0, errors.New("not true")
	err := e.jq.run(ctx, input, func(value any) error {
		count++
		switch value {
		case true:
			return nil
		case false:
			failed.Actual = e.actual(ctx, input, count)
		default:
			text := shortValue(value)
			failed.Actual = "its value is " + text + ", and must be true"
			failed.Fix = "compare it: " + exec.PasteLine("--expect", e.jq.expression+" == "+text)
		}
		return stop
	})
	var wrong *JQError
	switch {
	case errors.Is(err, stop):
	case errors.As(err, &wrong):
		failed.Actual = "the expression fails: " + wrong.Err.Error()
	case err != nil || count > 0:
		return err
	default:
		failed.Actual = "the expression has no value"
	}
	return failed
}

// actual explains why the value with a number (from 1) is false: it returns the left side of a comparison with its
// value, or else the whole result.
func (e *Expectation) actual(ctx context.Context, input json.RawMessage, number int) string {
	actual := "the result is " + words.Clip(string(rawjson.Compact(input)), maxActual)
	query, err := gojq.Parse(e.jq.expression)
	if err != nil {
		return actual
	}
	compared := leftOfComparison(query)
	if compared == nil || compared.String() == "." {
		return actual
	}
	jq, err := compileJQ("--expect", compared.String())
	if err != nil {
		return actual
	}
	_ = jq.run(ctx, input, func(value any) error { // its failure would have been that of the expectation
		if number--; number == 0 {
			actual = compared.String() + " is " + shortValue(value)
		}
		return nil
	})
	return actual
}

// leftOfComparison returns the query of which an expectation compares the value; nil if there is none.
func leftOfComparison(query *gojq.Query) *gojq.Query {
	switch query.Op {
	case gojq.OpEq, gojq.OpNe, gojq.OpLt, gojq.OpLe, gojq.OpGt, gojq.OpGe:
		left := *query.Left
		left.FuncDefs = query.FuncDefs
		return &left
	case gojq.OpPipe:
		if right := leftOfComparison(query.Right); right != nil {
			piped := *query
			piped.Right = right
			return &piped
		}
	}
	return nil
}

// maxActual is the most bytes of a value in a message.
const maxActual = 300

func shortValue(value any) string {
	text, err := gojq.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return words.Clip(string(text), maxActual)
}

// maxExpected is the most bytes of a value in an expectation that is derived from a result.
const maxExpected = 500

// ExpectationOf returns an expectation for further results like this one: that a small value is equal, or else that the
// members of an object, the elements of an array, or the value have the same types. It is empty if none can be found.
func ExpectationOf(ctx context.Context, result *exec.Result) string {
	input, _ := JQInput(result)
	shapes := []string{".", "type"}
	switch {
	case rawjson.IsObject(input):
		shapes = []string{".", "map_values(type)", "type"}
	case strings.HasPrefix(string(input), "["):
		shapes = []string{".", "map(type) | unique", "type"}
	}
	for _, shape := range shapes {
		jq, err := compileJQ("--expect", shape)
		if err != nil {
			continue
		}
		var text []byte
		err = jq.run(ctx, input, func(value any) (err error) {
			text, err = gojq.Marshal(value)
			return err
		})
		if err != nil || len(text) > maxExpected {
			continue
		}
		expression := shape + " == " + string(text)
		if expected, err := CompileExpectation(expression); err == nil && expected.Check(ctx, result) == nil {
			return expression
		}
	}
	return ""
}
