package render

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// JQ is a compiled jq expression.
type JQ struct {
	expression string
	firstKey   string // of the input that the expression takes first; empty for none
	code       *gojq.Code
}

// CompileJQ reads the expression of --jq, before anything is called; it returns nil for an empty one.
// The error is a *fault.UsageError. The expression sees no files and no environment, because it may come
// from a script that somebody else wrote.
func CompileJQ(expression string) (*JQ, error) {
	if expression == "" {
		return nil, nil
	}
	query, err := gojq.Parse(expression)
	if err != nil {
		return nil, jqUsage(expression, err)
	}
	lenient, err := gojq.Parse(lenientFromJSON)
	if err != nil {
		return nil, err
	}
	first := firstKey(query)
	query.FuncDefs = append(lenient.FuncDefs, query.FuncDefs...)
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, jqUsage(expression, err)
	}
	return &JQ{expression, first, code}, nil
}

// firstKey returns the key of the input that a query takes first: structuredContent of .structuredContent.n | length;
// empty if it begins otherwise.
func firstKey(query *gojq.Query) string {
	for query.Op == gojq.OpPipe {
		query = query.Left
	}
	switch term := query.Term; {
	case term == nil || term.Type != gojq.TermTypeIndex:
		return ""
	case term.Index.Str != nil:
		return term.Index.Str.Str
	case term.Index.Start != nil && !term.Index.IsSlice: // .["key"]
		if key := term.Index.Start.Term; key != nil && key.Str != nil {
			return key.Str.Str
		}
		return ""
	default:
		return term.Index.Name
	}
}

// RemarkOnNull says which keys a result has, where the expression makes null of it because the first key that it takes
// is not one of them; empty otherwise.
func (j *JQ) RemarkOnNull(ctx context.Context, result *exec.Result) string {
	value, _ := JQInput(result)
	if j.firstKey == "" || len(value) > maxJQ {
		return ""
	}
	members, isObject := rawjson.Members(value)
	has := func(member rawjson.Member) bool { return member.Name == j.firstKey }
	if !isObject || slices.ContainsFunc(members, has) {
		return ""
	}
	input, err := decodeNumbers(value)
	if err != nil {
		return ""
	}
	made, more := j.code.RunWithContext(ctx, input).Next()
	if !more || made != nil {
		return ""
	}
	const text = "--jq %s is null: the result has no key '%s'"
	remark := fmt.Sprintf(text, j.expression, j.firstKey)
	if len(members) == 0 {
		return remark + ", and no other"
	}
	name := func(member rawjson.Member) string { return member.Name }
	return remark + "; its keys: " + strings.Join(words.FirstTexts(members, "keys", name), ", ")
}

// decodeNumbers decodes JSON with all digits of its numbers.
func decodeNumbers(value json.RawMessage) (decoded any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	err = decoder.Decode(&decoded)
	return decoded, err
}

// lenientFromJSON lets expressions apply fromjson to what JQInput has read already.
const lenientFromJSON = `def _fromjson: fromjson; def fromjson: if type == "string" then _fromjson else . end; .`

func jqUsage(expression string, err error) error {
	return &fault.UsageError{
		Message: fmt.Sprintf("--jq %s: %v", expression, err),
		Fix:     "for example: --jq '.items[].name'; https://jqlang.org/manual describes the language",
	}
}

// JQError reports that a valid expression does not fit the result of a call that was made.
type JQError struct {
	Expression string
	Err        error
}

func (e *JQError) Error() string { return fmt.Sprintf("--jq %s: %v", e.Expression, e.Err) }

// Unwrap returns jq's own error.
func (e *JQError) Unwrap() error { return e.Err }

// Hint says that the call succeeded, and how to see its result.
func (e *JQError) Hint() string {
	var large oversize
	if errors.As(e.Err, &large) {
		return "the call itself succeeded; leave --jq out and pipe the result into jq"
	}
	return "the call itself succeeded; " +
		"without --jq its result is printed, and --jq . shows what the expression works on"
}

// oversize is the size in bytes of a value over maxJQ.
type oversize int64

func (n oversize) Error() string {
	return fmt.Sprintf("the result is %s, and an expression gets at most %s", exec.Bytes(int64(n)), exec.Bytes(maxJQ))
}

// maxJQ is the size in bytes of the largest value that an expression gets. In memory it takes up to forty times that.
const maxJQ = 8 << 20

// JQInput returns what --jq works on: the result's value. If that is a text which holds an object or an
// array in JSON, as servers without structured content answer, it returns that, and read is true. A text
// that is only a number or a word stays a text, so that the type of the input does not depend on it.
func JQInput(result *exec.Result) (input json.RawMessage, read bool) {
	if len(result.Value) > maxJQ || !rawjson.IsString(result.Value) {
		return result.Value, false
	}
	text := json.RawMessage(strings.TrimSpace(rawjson.Unquote(result.Value)))
	if len(text) == 0 || !bytes.ContainsAny(text[:1], "{[") || !json.Valid(text) {
		return result.Value, false
	}
	return text, true
}

// write writes the results of the expression for value, one on a line: text as it is (as jq -r does),
// anything else as JSON. Integers keep their digits; gojq sorts the keys of objects. The error is a
// *JQError if the expression does not fit the value.
func (j *JQ) write(ctx context.Context, out *bufio.Writer, value json.RawMessage, screen Screen) error {
	if len(value) > maxJQ {
		return &JQError{j.expression, oversize(len(value))}
	}
	var input any
	if len(value) > 0 {
		var err error
		if input, err = decodeNumbers(value); err != nil {
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
				return ended(ctx)
			}
			return &JQError{j.expression, err}
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
		_, err := out.WriteString(text + "\n")
		return err
	}
	line, err := gojq.Marshal(result)
	if err != nil {
		return err
	}
	return WriteJSONLine(out, line, screen)
}
