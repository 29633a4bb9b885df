package exec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Result is how a call ended. It marshals to the envelope of EXEC-4 and EXEC-5.
type Result struct {
	Success bool
	// Value is the answer as JSON: structuredContent where there is one, else the
	// text (blocks joined by a newline) where all content is text, else the
	// content array. It is nil where the call failed.
	Value json.RawMessage
	// Err is why the call failed, nil on success. Its text is the envelope's
	// "error", KindOf(Err) its "kind".
	Err error

	ToolName string
	Server   string // empty for toolx's own tools
	// Duration covers validation and execution (EXEC-12).
	Duration time.Duration
	// Timing is the split of the whole wait, where a session was opened for it.
	Timing *Timing

	// Content is the MCP content array, untouched; nil where there was none.
	Content []json.RawMessage
	// Raw is the exact CallToolResult, nil where the tool gave none.
	Raw json.RawMessage
	// Truncated says how much of Value is left, nil where all is.
	Truncated *Truncated
	// Warnings are remarks for the user: unknown parameters, a broken schema.
	Warnings []string

	valueIsContent bool
}

// ValueIsContent says that Value is the content array itself: the answer was
// neither structured nor text alone.
func (r *Result) ValueIsContent() bool { return r.valueIsContent }

// Timing splits the time of a call, in milliseconds.
type Timing struct {
	StartMS      float64 `json:"start_ms"`      // until the process ran or the connection stood
	InitializeMS float64 `json:"initialize_ms"` // the handshake
	ListMS       float64 `json:"list_ms"`       // tools/list, all pages
	CallMS       float64 `json:"call_ms"`       // tools/call
}

// Truncated says how much of a large output was kept (EXEC-14).
type Truncated struct {
	ShownBytes int64 `json:"shown_bytes"`
	TotalBytes int64 `json:"total_bytes"`
}

// Milliseconds gives d as the envelope counts time.
func Milliseconds(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000
}

// MarshalJSON gives the envelope. The four fields of EXEC-4 and EXEC-5 come
// first and always; the others only where they say something.
func (r *Result) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	field := func(name string, value any) error {
		if out.Len() == 0 {
			out.WriteByte('{')
		} else {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, "%q:", name)
		return appendJSON(&out, value)
	}
	type entry struct {
		name  string
		value any
		when  bool
	}
	entries := []entry{
		{"success", r.Success, true},
		{"result", r.valueOrNull(), r.Success},
		{"error", r.errorText(), !r.Success},
		{"tool_name", r.ToolName, true},
		{"execution_time_ms", Milliseconds(r.Duration), true},
		{"kind", KindOf(r.Err), !r.Success},
		{"hint", HintOf(r.Err), HintOf(r.Err) != ""},
		{"details", DetailsOf(r.Err), DetailsOf(r.Err) != nil},
		{"server", r.Server, r.Server != ""},
		{"content", r.Content, r.contentSaysMore()},
		{"truncated", r.Truncated, r.Truncated != nil},
		{"warnings", r.Warnings, len(r.Warnings) > 0},
		{"timing", r.Timing, r.Timing != nil},
	}
	for _, e := range entries {
		if !e.when {
			continue
		}
		if err := field(e.name, e.value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func (r *Result) valueOrNull() json.RawMessage {
	if r.Value == nil {
		return json.RawMessage("null")
	}
	return r.Value
}

func (r *Result) errorText() string {
	if r.Err == nil {
		return ""
	}
	return r.Err.Error()
}

// String is the result as text, for a model or a screen (EXEC-16): the text as
// it is, structured values as JSON, a failure as "Error: …"; binary blocks are
// named, never included. Text from a server is not made safe for a terminal here.
func (r *Result) String() string {
	if !r.Success {
		return "Error: " + r.errorText()
	}
	text := r.text()
	if r.Truncated != nil {
		text += fmt.Sprintf("\n[output cut: %d of %d bytes shown]", r.Truncated.ShownBytes, r.Truncated.TotalBytes)
	}
	return text
}

func (r *Result) text() string {
	var text string
	if json.Unmarshal(r.Value, &text) == nil {
		return text
	}
	if r.valueIsContent {
		lines := make([]string, len(r.Content))
		for i, block := range r.Content {
			lines[i] = ParseBlock(block).String()
		}
		return strings.Join(lines, "\n")
	}
	return string(r.Value)
}

// shaped is a CallToolResult, read as far as shaping needs it.
type shaped struct {
	Content           []json.RawMessage `json:"content"`
	StructuredContent json.RawMessage   `json:"structuredContent"`
	IsError           bool              `json:"isError"`
}

// shape fills in r from the implementation's reply (a CallToolResult as JSON).
// limit, where it is not zero, cuts the value to so many bytes.
func (r *Result) shape(raw json.RawMessage, limit int64) error {
	var reply shaped
	if err := json.Unmarshal(raw, &reply); err != nil {
		return &MalformedError{What: "the reply to tools/call", Reason: err}
	}
	if string(raw) == "null" {
		return &MalformedError{What: "the reply to tools/call", Reason: errors.New("result is null")}
	}
	r.Raw = raw
	r.Content = reply.Content
	if reply.IsError {
		r.Err = &ToolError{Message: errorMessage(reply)}
		return nil
	}
	r.Success = true
	var err error
	if r.Value, r.valueIsContent, err = valueOf(reply); err != nil {
		return err
	}
	r.cut(limit)
	return nil
}

// valueOf picks the answer as the contract orders it, and says whether it is the
// content array itself.
func valueOf(reply shaped) (value json.RawMessage, isContent bool, err error) {
	if len(reply.StructuredContent) > 0 && !bytes.Equal(reply.StructuredContent, []byte("null")) {
		return reply.StructuredContent, false, nil
	}
	if text, ok := allText(reply.Content); ok {
		value, err = marshalJSON(text)
		return value, false, err
	}
	value, err = marshalJSON(reply.Content)
	return value, true, err
}

// allText joins text blocks by newlines; ok is false where any block is not text.
func allText(content []json.RawMessage) (text string, ok bool) {
	texts := make([]string, len(content))
	for i, raw := range content {
		block := ParseBlock(raw)
		if block.Type != "text" {
			return "", false
		}
		texts[i] = block.Text
	}
	return strings.Join(texts, "\n"), true
}

// errorMessage is what a tool with isError said.
func errorMessage(reply shaped) string {
	var texts []string
	for _, raw := range reply.Content {
		texts = append(texts, ParseBlock(raw).String())
	}
	message := strings.TrimSpace(strings.Join(texts, "\n"))
	if message == "" && len(reply.StructuredContent) > 0 {
		message = string(reply.StructuredContent)
	}
	if message == "" {
		message = "the tool reported a failure and gave no reason"
	}
	return message
}

// cut shortens Value to limit bytes, at a character's border, and says so. A
// value that is not text becomes the beginning of its JSON, as text.
func (r *Result) cut(limit int64) {
	if limit <= 0 {
		return
	}
	text := r.text()
	total := int64(len(text))
	if total <= limit {
		return
	}
	short := text[:limit]
	for len(short) > 0 && !utf8.RuneStart(text[len(short)]) {
		short = short[:len(short)-1]
	}
	value, err := marshalJSON(short)
	if err != nil {
		return
	}
	r.Value, r.valueIsContent = value, false
	r.Truncated = &Truncated{ShownBytes: int64(len(short)), TotalBytes: total}
}

// contentSaysMore says whether the content array holds what Value does not. A
// single text block that repeats the structured value as JSON (as the
// specification recommends) says nothing more.
func (r *Result) contentSaysMore() bool {
	if len(r.Content) == 0 || r.Truncated != nil {
		return false
	}
	if _, ok := allText(r.Content); ok {
		var text string
		if !r.Success || json.Unmarshal(r.Value, &text) == nil {
			return false
		}
		return len(r.Content) != 1 || !sameJSON([]byte(ParseBlock(r.Content[0]).Text), r.Value)
	}
	return !r.valueIsContent
}

// sameJSON compares two JSON texts by value.
func sameJSON(a, b []byte) bool {
	var left, right any
	if json.Unmarshal(a, &left) != nil || json.Unmarshal(b, &right) != nil {
		return false
	}
	x, errX := json.Marshal(left)
	y, errY := json.Marshal(right)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// marshalJSON is json.Marshal without the escaping of <, > and &, which would
// make text from tools unreadable in a terminal.
func marshalJSON(value any) (json.RawMessage, error) {
	var out bytes.Buffer
	if err := appendJSON(&out, value); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func appendJSON(out *bytes.Buffer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // Encode ends in a newline
	return nil
}
