package render

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
)

// Format is the format of a result: the value of -o.
type Format string

// The formats.
const (
	FormatText Format = "text" // the text unchanged
	FormatJSON Format = "json" // the envelope on one line, also for a failure
	FormatRaw  Format = "raw"  // the exact CallToolResult of MCP
)

// ResultOptions are how to write a result.
type ResultOptions struct {
	Format Format // empty means FormatText
	JQ     *JQ    // if set, it computes the output of a successful call
	Screen Screen
}

// Result writes a call's result, and nothing else, to out, which is stdout. It writes a failure only as JSON, or raw if
// the server returned a result; as text, Error writes it to stderr.
//
// In a file or a pipe every byte is the tool's, and text is not copied in memory. On a terminal untrusted text is made
// safe, in JSON by \u escapes, and structured values are indented. The error is that of writing, or of JQ. The end of
// ctx stops an expression.
func Result(ctx context.Context, out io.Writer, result *exec.Result, options ResultOptions) error {
	return buffered(out, func(out *bufio.Writer) error { return writeResult(ctx, out, result, options) })
}

func writeResult(ctx context.Context, out *bufio.Writer, result *exec.Result, options ResultOptions) error {
	if options.JQ != nil && result.Success {
		input, _ := JQInput(result)
		return options.JQ.write(ctx, out, input, options.Screen)
	}
	switch options.Format {
	case FormatJSON:
		envelope, err := result.MarshalJSON()
		if err != nil {
			return err
		}
		return WriteJSONLine(out, envelope, options.Screen)
	case FormatRaw:
		if result.Raw == nil {
			return nil
		}
		return WriteJSONLine(out, result.Raw, options.Screen)
	}
	if !result.Success {
		return nil
	}
	return writeText(out, result, options.Screen)
}

// ended returns why ctx ended while a result was being printed.
func ended(ctx context.Context) error {
	var timeout *exec.TimeoutError
	if errors.As(context.Cause(ctx), &timeout) {
		copied := *timeout
		copied.Detail = "printing its result takes that long"
		return &copied
	}
	return &exec.InterruptedError{}
}

// writeText writes the result for a person or a pipe.
func writeText(out *bufio.Writer, result *exec.Result, screen Screen) error {
	answer := result.Answer()
	switch {
	case len(answer) == 0:
		return nil
	case rawjson.IsString(answer):
		return writeString(out, answer, screen)
	case result.ValueIsContent():
		return writeBlocks(out, result.Content, screen)
	}
	return writeJSON(out, answer, screen)
}

// writeString writes the text of a JSON string, with a newline at the end if it has none.
func writeString(out *bufio.Writer, quoted json.RawMessage, screen Screen) error {
	if screen.TTY {
		return writeLines(out, rawjson.Unquote(quoted), screen)
	}
	tail := &lastByte{Writer: out}
	if err := rawjson.WriteText(tail, quoted); err != nil {
		return err
	}
	return endLine(out, tail.last)
}

// Messages writes a prompt for a person or a model: the text alone if there is one message, else each below the name of
// its role, with an empty line between them. Binary blocks are described, not written (EXEC-15).
func Messages(out io.Writer, messages []exec.Message, screen Screen) error {
	return buffered(out, func(out *bufio.Writer) error {
		for i, message := range messages {
			if i > 0 {
				out.WriteByte('\n') //nolint:errcheck // bufio remembers, Flush returns it
			}
			if len(messages) > 1 {
				fmt.Fprintln(out, screen.Paint(RoleHeading, Safe("["+message.Role+"]")))
			}
			if err := writeBlocks(out, message.Blocks, screen); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeBlocks writes content blocks, each beginning on a new line. Binary blocks are described, not written (EXEC-15).
func writeBlocks(out *bufio.Writer, content []json.RawMessage, screen Screen) error {
	for _, raw := range content {
		if err := writeLines(out, exec.ReadBlock(raw).String(), screen); err != nil {
			return err
		}
	}
	return nil
}

// writeLines writes text, safe on a terminal, with a newline at the end if it has none.
func writeLines(out *bufio.Writer, text string, screen Screen) error {
	if screen.TTY {
		text = SafeBlock(text)
	}
	tail := &lastByte{Writer: out}
	if _, err := tail.WriteString(text); err != nil {
		return err
	}
	return endLine(out, tail.last)
}

// endLine writes a newline unless the last byte was one.
func endLine(out *bufio.Writer, last byte) error {
	if last == '\n' {
		return nil
	}
	return out.WriteByte('\n')
}

// lastByte remembers the last byte written.
type lastByte struct {
	*bufio.Writer
	last byte
}

// Write implements io.Writer.
func (l *lastByte) Write(p []byte) (int, error) {
	if len(p) > 0 {
		l.last = p[len(p)-1]
	}
	return l.Writer.Write(p)
}

// WriteString saves io.WriteString a copy for each escape.
func (l *lastByte) WriteString(s string) (int, error) {
	if s != "" {
		l.last = s[len(s)-1]
	}
	return l.Writer.WriteString(s)
}

// TruncationRemark returns the remark on stderr about a result whose output was cut (EXEC-14); empty if
// nothing was cut.
func TruncationRemark(result *exec.Result) string {
	if result.Truncated == nil {
		return ""
	}
	return fmt.Sprintf("output cut: %s of %s shown; --max-output 0 shows all",
		exec.Bytes(result.Truncated.ShownBytes), exec.Bytes(result.Truncated.TotalBytes))
}
