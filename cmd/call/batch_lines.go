package call

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// newBatchCall reads a line. Where tool is not empty, the line may hold nothing but arguments for it.
func newBatchCall(number int, read int64, text []byte, tool string) *batchCall {
	call := &batchCall{number: number, read: read}
	var err error
	if call.line, err = readBatchCall(text, tool); err != nil {
		call.err = fault.Usage(fmt.Sprintf("line %d: %v", number, err), `{"tool": NAME, "arguments": {…}, "id": …}`)
	}
	return call
}

// The most lines, and the bytes, that are passed on at once.
const (
	batchChunk      = 32
	batchChunkBytes = 64 << 10
)

// read sends the calls of the lines until the batch stops, those together that can be read without waiting. It counts
// what is left of a file then.
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

// readLine reads a line with its end. Of one that is longer than most it returns one byte more than that, and skips the
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

// batchLine is what a line says.
type batchLine struct {
	Tool, Prompt, Resource string
	Arguments, ID          json.RawMessage
}

func (l batchLine) name() string { return cmp.Or(l.Tool, l.Prompt, l.Resource) }

// readBatchCall reads a line. After an error the line has what could be read. Where tool is not empty, it is the tool
// of lines that name none, and a line is its arguments, unless it has them in a member of that name.
func readBatchCall(text []byte, tool string) (line batchLine, err error) {
	if len(text) > maxBatchLine {
		return line, fmt.Errorf("it is longer than %s", exec.Bytes(maxBatchLine))
	}
	if err := rawjson.Check(bytes.TrimSpace(text)); err != nil {
		return line, err
	}
	members, ok := rawjson.Members(bytes.TrimSpace(text))
	if !ok {
		return line, errors.New("it is not a JSON object")
	}
	if tool != "" && !wrapsArguments(members) {
		return batchLine{Tool: tool, Arguments: bytes.TrimSpace(text)}, nil
	}
	texts := map[string]*string{"tool": &line.Tool, "prompt": &line.Prompt, "resource": &line.Resource}
	for _, m := range members {
		switch to := texts[m.Name]; {
		case to != nil && !rawjson.IsString(m.Value):
			err = cmp.Or(err, fmt.Errorf("%s is not a text", m.Name))
		case to != nil:
			*to = rawjson.Unquote(m.Value)
		case m.Name == "id":
			line.ID = rawjson.Compact(m.Value)
		case m.Name == "arguments":
			line.Arguments = m.Value
		default:
			known := []string{"tool", "prompt", "resource", "arguments", "id"}
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
	named := 0
	for _, name := range []string{line.Tool, line.Prompt, line.Resource} {
		if name != "" {
			named++
		}
	}
	_, isObject := rawjson.Members(line.Arguments)
	switch {
	case err != nil:
	case named == 0:
		err = errors.New("it has no tool")
	case named > 1:
		err = errors.New("it has several of tool, prompt and resource")
	case line.Arguments != nil && !isObject:
		err = errors.New("arguments is not an object")
	case line.Resource != "" && line.Arguments != nil:
		err = errors.New("a resource takes no arguments")
	}
	return line, err
}

// wrapsArguments reports whether a line has its arguments in a member, beside nothing but its id and its tool.
func wrapsArguments(line []rawjson.Member) bool {
	wraps := false
	for _, member := range line {
		switch member.Name {
		case "arguments":
			_, wraps = rawjson.Members(member.Value)
		case "id", "tool":
		default:
			return false
		}
	}
	return wraps
}
