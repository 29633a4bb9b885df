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
	firstKey   string // that the expression reads first; empty for none
	query      *gojq.Query
	code       *gojq.Code
}

// CompileJQ compiles the expression of --jq before a call; it returns nil for an empty one. The error is a
// *fault.UsageError. The expression has no access to files or the environment, because it may come from an untrusted
// script.
func CompileJQ(expression string) (*JQ, error) {
	if expression == "" {
		return nil, nil
	}
	return compileJQ("--jq", expression)
}

// compileJQ compiles the expression of a flag, which errors name.
func compileJQ(flag, expression string) (*JQ, error) {
	query, err := gojq.Parse(expression)
	if err != nil {
		return nil, jqUsage(flag, expression, err)
	}
	lenient, err := gojq.Parse(lenientFromJSON)
	if err != nil {
		return nil, err
	}
	first := firstKey(query)
	query.FuncDefs = append(lenient.FuncDefs, query.FuncDefs...)
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, jqUsage(flag, expression, err)
	}
	return &JQ{expression, first, query, code}, nil
}

// firstKey returns the key that a query reads first: structuredContent in .structuredContent.n | length; empty for
// other queries.
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

// RemarkOnNull returns a remark with a result's keys if the expression returns null because its first key is missing;
// else it is empty.
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

// lenientFromJSON lets expressions apply fromjson to values that JQInput has already parsed.
const lenientFromJSON = `def _fromjson: fromjson; def fromjson: if type == "string" then _fromjson else . end; .`

func jqUsage(flag, expression string, err error) error {
	example := map[string]string{"--jq": ".items[].name", "--expect": ".items | length == 3"}[flag]
	return fault.Usage(fmt.Sprintf("%s %s: %v", flag, expression, err),
		fmt.Sprintf("for example: %s '%s'; https://jqlang.org/manual describes the language", flag, example))
}

// JQError reports that a valid expression failed on the result of a call.
type JQError struct {
	Expression string
	Err        error
}

func (e *JQError) Error() string { return fmt.Sprintf("--jq %s: %v", e.Expression, e.Err) }

// Unwrap returns jq's own error.
func (e *JQError) Unwrap() error { return e.Err }

// Hint returns that the call succeeded, and how to see its result.
func (e *JQError) Hint() string {
	var large oversize
	if errors.As(e.Err, &large) {
		return "the call itself succeeded; leave --jq out and pipe the result into jq"
	}
	return "the call itself succeeded; " +
		"without --jq its result is printed, and --jq . shows the expression's input"
}

// oversize is the size in bytes of a value over maxJQ.
type oversize int64

func (n oversize) Error() string {
	const text = "the result has %s, and an expression can read at most %s"
	return fmt.Sprintf(text, exec.Bytes(int64(n)), exec.Bytes(maxJQ))
}

// maxJQ is the size limit in bytes for an expression's input, which takes up to forty times as much memory.
const maxJQ = 8 << 20

// JQInput returns the input of --jq: the result's value. If that is a text with a JSON object or array, as from servers
// without structured content, it returns the parsed value, and read is true. A text with only a number or a word
// remains a text, so that the type of the input does not vary.
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

// write writes the results of the expression for value, one per line: text unchanged (as in jq -r), anything else as
// JSON. Integers keep their digits; gojq sorts the keys of objects. The error is a *JQError if the expression fails on
// the value.
func (j *JQ) write(ctx context.Context, out *bufio.Writer, value json.RawMessage, screen Screen) error {
	return j.run(ctx, value, func(result any) error { return j.writeOne(out, result, screen) })
}

// run passes each result of the expression for value to a function, until that returns an error.
func (j *JQ) run(ctx context.Context, value json.RawMessage, each func(any) error) error {
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
		if err := each(result); err != nil {
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
