package render

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
)

// Format is how a result is written: the value of -o.
type Format string

// The formats.
const (
	FormatText Format = "text" // the answer as it is
	FormatJSON Format = "json" // the envelope on one line, also of a failure
	FormatRaw  Format = "raw"  // the exact CallToolResult of MCP
	FormatYAML Format = "yaml" // the envelope as YAML, also of a failure
)

// ResultOptions say how a result is written.
type ResultOptions struct {
	Format Format // empty means FormatText
	JQ     *JQ    // where it is set, a success is what it makes of the value
	Screen Screen
}

// Result writes a call's result to out, which is stdout: the answer and nothing
// else. A failure is written in the formats that have a place for it (JSON, YAML,
// and raw where the server gave a result); in text it is left to Error, on stderr.
//
// Off a terminal every byte is the tool's own, and text is written without a copy
// of it in memory; on a terminal untrusted text is made safe, in JSON by \u escapes,
// and structured values are indented. The error is that of writing, or of JQ; ctx's
// end stops an expression that does not end by itself.
func Result(ctx context.Context, out io.Writer, result *exec.Result, options ResultOptions) error {
	buffered := bufio.NewWriterSize(out, 64<<10)
	if err := writeResult(ctx, buffered, result, options); err != nil {
		buffered.Flush() //nolint:errcheck // the first error is the one to tell
		return err
	}
	return buffered.Flush()
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
	case FormatYAML:
		envelope, err := result.MarshalJSON()
		if err != nil {
			return err
		}
		return YAML(out, envelope)
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

// WriteJSONLine writes JSON as it is and ends the line.
func WriteJSONLine(out *bufio.Writer, text []byte, screen Screen) error {
	if screen.TTY {
		if err := EscapeJSON(out, text); err != nil {
			return err
		}
	} else if _, err := out.Write(text); err != nil {
		return err
	}
	return out.WriteByte('\n')
}

// writeText writes the answer for a person or a pipe.
func writeText(out *bufio.Writer, result *exec.Result, screen Screen) error {
	answer := result.Answer()
	switch {
	case len(answer) == 0:
		return nil
	case rawjson.IsString(answer):
		return writeString(out, answer, screen)
	case result.ValueIsContent():
		return writeBlocks(out, result.Content, screen)
	case screen.TTY:
		return WriteJSONLine(out, indent(answer), screen)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, answer); err != nil {
		return err
	}
	return WriteJSONLine(out, line.Bytes(), screen)
}

// writeString writes what a JSON string says, with a newline at the end where it
// has none.
func writeString(out *bufio.Writer, quoted json.RawMessage, screen Screen) error {
	if !screen.TTY {
		tail := &lastByte{out: out}
		if err := rawjson.WriteText(tail, quoted); err != nil {
			return err
		}
		return endLine(out, tail.last)
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return err
	}
	return writeBlockText(out, SafeBlock(text))
}

// writeBlocks writes a content array, each block on lines of its own; bytes are
// named, never written (EXEC-15).
func writeBlocks(out *bufio.Writer, content []json.RawMessage, screen Screen) error {
	for _, raw := range content {
		text := exec.ParseBlock(raw).String()
		if screen.TTY {
			text = SafeBlock(text)
		}
		if err := writeBlockText(out, text); err != nil {
			return err
		}
	}
	return nil
}

func writeBlockText(out *bufio.Writer, text string) error {
	if _, err := out.WriteString(text); err != nil {
		return err
	}
	if text == "" {
		return endLine(out, 0)
	}
	return endLine(out, text[len(text)-1])
}

// endLine writes a newline unless the last byte was one.
func endLine(out *bufio.Writer, last byte) error {
	if last == '\n' {
		return nil
	}
	return out.WriteByte('\n')
}

// lastByte passes everything on and remembers how it ended.
type lastByte struct {
	out  *bufio.Writer
	last byte
}

func (l *lastByte) Write(p []byte) (int, error) {
	if len(p) > 0 {
		l.last = p[len(p)-1]
	}
	return l.out.Write(p)
}

// WriteString spares io.WriteString a copy for every escape.
func (l *lastByte) WriteString(s string) (int, error) {
	if s != "" {
		l.last = s[len(s)-1]
	}
	return l.out.WriteString(s)
}

// TruncationRemark is what to tell on stderr of a result whose output was cut
// (EXEC-14); empty where all of it is there.
func TruncationRemark(result *exec.Result) string {
	if result.Truncated == nil {
		return ""
	}
	return fmt.Sprintf("output cut: %s of %s shown; --max-output 0 shows all",
		exec.Bytes(result.Truncated.ShownBytes), exec.Bytes(result.Truncated.TotalBytes))
}
