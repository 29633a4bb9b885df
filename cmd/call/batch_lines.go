package call

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"toolx/cmd/exit"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// newBatchCall reads a line. If tool is not empty, the line may be just its arguments.
func newBatchCall(number int, read int64, text []byte, tool string) *batchCall {
	call := &batchCall{number: number, read: read}
	var err error
	if call.line, err = readBatchCall(text, tool); err != nil {
		call.err = fault.Usage(fmt.Sprintf("line %d: %v", number, err), `{"tool": NAME, "arguments": {…}, "id": …}`)
	}
	return call
}

// The most lines and bytes that are passed on at once.
const (
	batchChunk      = 32
	batchChunkBytes = 64 << 10
)

// read sends the calls until the batch stops, grouping those that can be read without waiting. It then counts the
// remaining lines of a file.
func (b *batch) read(input io.Reader, isFile bool, calls chan<- []*batchCall) {
	defer close(calls)
	reader := bufio.NewReaderSize(input, batchChunkBytes)
	var chunk []*batchCall
	var read, sent int64
	for number := 1; ; number++ {
		text, err := readLine(reader, maxBatchLine)
		read += int64(len(text))
		if len(bytes.TrimSpace(text)) > 0 {
			chunk = append(chunk, newBatchCall(number, read, text, b.options.Tool))
		}
		if err == nil && len(chunk) < batchChunk && read-sent < batchChunkBytes && hasLine(reader) {
			continue
		}
		if len(chunk) > 0 {
			select {
			case calls <- chunk:
			case <-b.stopped:
				b.unread.Add(int64(len(chunk)))
				if !isFile {
					return
				}
			}
		}
		if err != nil {
			return
		}
		chunk, sent = nil, read
	}
}

// hasLine reports whether a line can be read without waiting.
func hasLine(reader *bufio.Reader) bool {
	waiting, _ := reader.Peek(reader.Buffered()) // which is there
	return bytes.IndexByte(waiting, '\n') >= 0
}

// readLine reads a line with its end. If the line is longer than most bytes, it returns most+1 bytes and skips the
// rest.
func readLine(reader *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := reader.ReadSlice('\n')
		line = append(line, part[:min(len(part), most+1-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// batchLine is the content of a line.
type batchLine struct {
	Tool, Prompt, Resource string
	Arguments, ID          json.RawMessage
	Expect                 []*render.JQ
	Failure                fault.Kind // that the call must have; empty if it must succeed
}

func (l batchLine) name() string { return cmp.Or(l.Tool, l.Prompt, l.Resource) }

// readBatchCall reads a line. After an error, line has the parts that could be read. If tool is not empty, it is the
// tool of lines that name none, and a line is its arguments unless it has a member "arguments".
func readBatchCall(text []byte, tool string) (line batchLine, err error) {
	if len(text) > maxBatchLine {
		return line, fmt.Errorf("longer than %s", exec.Bytes(maxBatchLine))
	}
	if err := rawjson.Check(bytes.TrimSpace(text)); err != nil {
		return line, err
	}
	members, ok := rawjson.Members(bytes.TrimSpace(text))
	if !ok {
		return line, errors.New("not a JSON object")
	}
	if tool != "" && !wrapsArguments(members) {
		return batchLine{Tool: tool, Arguments: bytes.TrimSpace(text)}, nil
	}
	var failure string
	var expressions []string
	texts := map[string]*string{
		"tool": &line.Tool, "prompt": &line.Prompt, "resource": &line.Resource, "error": &failure,
	}
	for _, m := range members {
		switch to := texts[m.Name]; {
		case to != nil && !rawjson.IsString(m.Value):
			err = cmp.Or(err, fmt.Errorf("%s is not a string", m.Name))
		case to != nil:
			*to = rawjson.Unquote(m.Value)
		case m.Name == "id":
			line.ID = rawjson.Compact(m.Value)
		case m.Name == "arguments":
			line.Arguments = m.Value
		case m.Name == "expect":
			if json.Unmarshal(m.Value, &expressions) != nil {
				err = cmp.Or(err, errors.New("expect is not a list of jq expressions"))
			}
		default:
			known := []string{"tool", "prompt", "resource", "arguments", "id", "expect", "error"}
			unknown := fmt.Errorf("unknown key %q", m.Name)
			if near := words.Nearest(m.Name, known); near != "" {
				unknown = fmt.Errorf("unknown key %q, did you mean %s?", m.Name, near)
			}
			err = cmp.Or(err, unknown)
		}
	}
	if line.name() == "" {
		line.Tool = tool
	}
	line.Failure = fault.Kind(failure)
	var wrong error
	line.Expect, wrong = render.CompileExpectations(expressions)
	return line, cmp.Or(err, wrong, line.check())
}

// check refuses members that do not go together.
func (l batchLine) check() error {
	named := 0
	for _, name := range []string{l.Tool, l.Prompt, l.Resource} {
		if name != "" {
			named++
		}
	}
	switch {
	case named == 0:
		return errors.New("no tool, prompt or resource")
	case named > 1:
		return errors.New("more than one of tool, prompt and resource")
	case l.Arguments != nil && !rawjson.IsObject(l.Arguments):
		return errors.New("arguments is not an object")
	case l.Resource != "" && l.Arguments != nil:
		return errors.New("a resource takes no arguments")
	case l.Failure != "" && !slices.ContainsFunc(exit.Kinds, func(k exit.Kind) bool { return k.Kind == l.Failure }):
		kinds := words.Texts(exit.Kinds, func(kind exit.Kind) string { return string(kind.Kind) })
		return fmt.Errorf("error is %q, and must be one of: %s", l.Failure, strings.Join(kinds, ", "))
	case l.Failure != "" && l.Expect != nil:
		return errors.New("expect needs a result, and error means that there is none")
	}
	return nil
}

// wrapsArguments reports whether a line has arguments, and only members that can be beside them.
func wrapsArguments(line []rawjson.Member) bool {
	wraps := false
	for _, member := range line {
		switch member.Name {
		case "arguments":
			wraps = rawjson.IsObject(member.Value)
		case "id", "tool", "expect", "error":
		default:
			return false
		}
	}
	return wraps
}
