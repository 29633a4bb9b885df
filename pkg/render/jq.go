package render

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/itchyny/gojq"

	"toolx/pkg/exec"
)

// JQ is a compiled jq expression.
type JQ struct {
	expression string
	code       *gojq.Code
}

// CompileJQ reads the expression of --jq, before anything is called; an empty one
// gives nil. The error is an *exec.UsageError. The expression sees no files and no environment: it may come
// from a script that somebody else wrote.
func CompileJQ(expression string) (*JQ, error) {
	if expression == "" {
		return nil, nil
	}
	query, err := gojq.Parse(expression)
	if err != nil {
		return nil, jqUsage(expression, err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, jqUsage(expression, err)
	}
	return &JQ{expression, code}, nil
}

func jqUsage(expression string, err error) error {
	return &exec.UsageError{
		Message: fmt.Sprintf("--jq %s: %v", expression, err),
		Fix:     "for example: --jq '.items[].name'; https://jqlang.org/manual describes the language",
	}
}

// write writes what the expression makes of value, one result to a line: text as it
// is (as jq -r does), anything else as JSON. Integers keep their digits; gojq sorts
// the keys of objects. The error is an *exec.UsageError where the expression does
// not fit the value.
func (j *JQ) write(ctx context.Context, out *bufio.Writer, value json.RawMessage, screen Screen) error {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	var input any
	if len(value) > 0 {
		if err := decoder.Decode(&input); err != nil {
			return err
		}
	}
	iterator := j.code.RunWithContext(ctx, input)
	for {
		result, more := iterator.Next()
		if !more {
			return nil
		}
		if err, failed := result.(error); failed {
			var halted *gojq.HaltError
			if errors.As(err, &halted) && halted.Value() == nil {
				return nil
			}
			if ctx.Err() != nil {
				return &exec.InterruptedError{}
			}
			return jqUsage(j.expression, err)
		}
		if err := j.writeOne(out, result, screen); err != nil {
			return err
		}
	}
}

func (j *JQ) writeOne(out *bufio.Writer, result any, screen Screen) error {
	if text, ok := result.(string); ok {
		if screen.TTY {
			text = SafeBlock(text)
		}
		if _, err := out.WriteString(text); err != nil {
			return err
		}
		return out.WriteByte('\n')
	}
	line, err := gojq.Marshal(result)
	if err != nil {
		return err
	}
	return jsonLine(out, line, screen)
}
