package exec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"toolx/pkg/fault"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Result is the outcome of a call. It marshals to the envelope of EXEC-4 and EXEC-5.
type Result struct {
	Success bool
	// Value is the result as JSON: structuredContent if present, else the text (blocks joined by a newline) if all
	// content is text, else the content array. It is nil for a failed call.
	Value json.RawMessage
	// Err is why the call failed, nil on success. Its text is the envelope's "error", KindOf(Err) its "kind".
	Err error

	ToolName string
	Server   string // empty for toolx's own tools
	// Duration covers validation and execution (EXEC-12).
	Duration time.Duration
	// Timing splits the whole duration, if a session was opened for the call.
	Timing *Timing
	// Session describes the running session that the call used; nil if the server was started for the call.
	Session *SessionUse

	// Content is the MCP content array, untouched; nil if there was none.
	Content []json.RawMessage
	// Raw is the exact CallToolResult, nil if there was none.
	Raw json.RawMessage
	// Truncated is how much of Value remains, nil if it is complete.
	Truncated *Truncated
	// Next is the command to run after a failure, quoted for a shell; may be empty.
	Next string
	// Warnings are remarks for the user: unknown parameters, a broken schema.
	Warnings []string

	// onlyText is the content's text, if structured content only wraps it.
	onlyText json.RawMessage
	// asked: the part of Duration during which a person was asked something.
	asked time.Duration
	// progressed reports whether the call reported progress.
	progressed bool

	valueIsContent  bool
	valueHasContent bool
}

// ValueIsContent reports whether Value is the content array itself, since the result was neither structured nor only
// text.
func (r *Result) ValueIsContent() bool { return r.valueIsContent }

// Timing splits the time of a call, in milliseconds.
type Timing struct {
	StartMS      float64 `json:"start_ms"`      // until the process was running or connected
	InitializeMS float64 `json:"initialize_ms"` // the handshake
	ListMS       float64 `json:"list_ms"`       // tools/list, all pages
	CallMS       float64 `json:"call_ms"`       // tools/call
}

// MarshalJSON implements json.Marshaler without reflection, which would slow down every call.
func (t *Timing) MarshalJSON() ([]byte, error) {
	out := make([]byte, 0, 128)
	for _, m := range []struct {
		name string
		ms   float64
	}{
		{`{"start_ms":`, t.StartMS}, {`,"initialize_ms":`, t.InitializeMS}, {`,"list_ms":`, t.ListMS}, {`,"call_ms":`, t.CallMS},
	} {
		out = strconv.AppendFloat(append(out, m.name...), m.ms, 'f', -1, 64)
	}
	return append(out, '}'), nil
}

// SessionUse is how a call used a running session.
type SessionUse struct {
	Reused bool    `json:"reused"` // the server was already running
	AgeMS  float64 `json:"age_ms"` // for how long, in milliseconds
}

// Truncated is how much of a large output was kept (EXEC-14).
type Truncated struct {
	ShownBytes int64 `json:"shown_bytes"`
	TotalBytes int64 `json:"total_bytes"`
}

// Milliseconds returns d in the unit of the envelope.
func Milliseconds(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000
}

// MarshalJSON returns the envelope, on one line. The four fields of EXEC-4 and EXEC-5 come first and are always
// present; the others only if they have content.
func (r *Result) MarshalJSON() ([]byte, error) {
	entries := []struct {
		name  string
		value any
		when  bool
	}{
		{"success", r.Success, true},
		{"result", r.valueOrNull(), r.Success},
		{"error", r.errorText(), !r.Success},
		{"tool_name", r.ToolName, true},
		{"execution_time_ms", Milliseconds(r.Duration), true},
		{"kind", fault.KindOf(r.Err), !r.Success},
		{"hint", fault.HintOf(r.Err), fault.HintOf(r.Err) != ""},
		{"next", r.Next, r.Next != ""},
		{"details", fault.DetailsOf(r.Err), fault.DetailsOf(r.Err) != nil},
		{"server", r.Server, r.Server != ""},
		{"content", r.Content, r.contentSaysMore()},
		{"truncated", r.Truncated, r.Truncated != nil},
		{"warnings", r.Warnings, len(r.Warnings) > 0},
		{"timing", r.Timing, r.Timing != nil},
		{"session", r.Session, r.Session != nil},
	}
	var out bytes.Buffer
	out.Grow(len(r.Value) + 384) // a result can be tens of megabytes
	for _, e := range entries {
		if !e.when {
			continue
		}
		separator := byte(',')
		if out.Len() == 0 {
			separator = '{'
		}
		out.WriteByte(separator)
		out.WriteString(`"` + e.name + `":`)
		if err := appendJSON(&out, e.value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// appendJSON writes a value on one line.
func appendJSON(out *bytes.Buffer, value any) error {
	switch value := value.(type) {
	case json.RawMessage:
		if !rawjson.IsString(value) {
			return json.Compact(out, value)
		}
		out.Write(value)
		return nil
	case string:
		out.Write(rawjson.Quote(value))
		return nil
	case bool:
		out.WriteString(strconv.FormatBool(value))
		return nil
	case *Timing:
		raw, err := value.MarshalJSON()
		out.Write(raw)
		return err
	case float64: // of milliseconds
		out.WriteString(strconv.FormatFloat(value, 'f', -1, 64))
		return nil
	}
	raw, err := rawjson.Marshal(value)
	out.Write(raw)
	return err
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

// String returns the result as text, for a model or a screen (EXEC-16): the text unchanged, structured values as JSON,
// a failure as "Error: …" with what a model can do about it; binary blocks are named, never included. The text is not
// safe for a terminal.
func (r *Result) String() string {
	text := "Error: " + ModelText(r.Err)
	if r.Success {
		text = r.text()
	}
	if r.Truncated != nil {
		text += fmt.Sprintf("\n[output cut: %d of %d bytes shown]", r.Truncated.ShownBytes, r.Truncated.TotalBytes)
	}
	return text
}

func (r *Result) text() string {
	answer := r.Answer()
	switch {
	case rawjson.IsString(answer):
		return rawjson.Unquote(answer)
	case r.valueIsContent:
		return blocksText(r.Content)
	}
	return string(answer)
}

// Answer is Value for people: the text, as a JSON string, if Value is structured content that only wraps it
// ({"content":"012"}), else Value.
func (r *Result) Answer() json.RawMessage {
	if r.onlyText != nil {
		return r.onlyText
	}
	return r.Value
}

// blocksText returns a content array as text, with a line break after each block.
func blocksText(content []json.RawMessage) string {
	return strings.Join(words.Texts(content, func(block json.RawMessage) string { return ReadBlock(block).String() }),
		"\n")
}

// shaped has the parts of a CallToolResult that shaping needs. They are slices of the reply.
type shaped struct {
	content    []json.RawMessage
	structured json.RawMessage // nil if there is none
	null       bool            // structuredContent is null
	isError    bool
}

// readReply reads a CallToolResult that is known to be JSON.
func readReply(raw json.RawMessage) (reply shaped, err error) {
	if !rawjson.IsObject(raw) {
		return shaped{}, malformedReply("result", raw)
	}
	for field := range rawjson.Each(raw) {
		null := string(field.Value) == "null"
		switch field.Name {
		case "content":
			var isArray bool
			if reply.content, isArray = rawjson.Elements(field.Value); !isArray && !null {
				return shaped{}, malformedReply("content", field.Value)
			}
		case "structuredContent":
			if reply.null = null; !null {
				reply.structured = field.Value
			}
		case "isError":
			reply.isError = string(field.Value) == "true"
		}
	}
	return reply, nil
}

// malformedReply reports a part of the reply with the wrong type.
func malformedReply(part string, value json.RawMessage) error {
	kind := "not JSON"
	if decoded, err := rawjson.Decode(value); err == nil {
		kind = jsonschema.DescribeKind(decoded)
	}
	return &MalformedError{What: "the response to tools/call", Reason: fmt.Errorf("%s is %s", part, kind)}
}

// shape sets r from the implementation's reply (a CallToolResult as JSON). limit is the most bytes of the value; zero
// means all.
func (r *Result) shape(raw json.RawMessage, limit int64) error {
	reply, err := readReply(raw)
	if err != nil {
		return err
	}
	r.Raw = raw
	r.Content = reply.content
	if reply.isError {
		r.Err = r.cutFailure(&ToolError{Message: errorMessage(reply)}, limit)
		return nil
	}
	r.Success = true
	switch text, onlyText := allText(reply.content); {
	case reply.structured != nil:
		r.Value = reply.structured
		if onlyText && wraps(reply.structured, text) {
			r.onlyText = text
		}
	case onlyText && reply.null && string(text) == `"null"`:
		r.Value = json.RawMessage("null") // the result is null, as is the text
	case onlyText:
		r.Value, r.valueHasContent = text, true
	default:
		r.valueIsContent = true
		if r.Value, err = rawjson.Marshal(reply.content); err != nil {
			return err
		}
	}
	r.cut(limit)
	return nil
}

// wraps reports whether structured content has only one member with the same text, or with a number or literal that is
// written the same.
func wraps(structured, text json.RawMessage) bool {
	var value json.RawMessage
	for member := range rawjson.Each(structured) {
		if value != nil {
			return false // do not read the others, which may be millions
		}
		value = member.Value
	}
	if value == nil {
		return false
	}
	if rawjson.IsString(value) {
		return rawjson.Unquote(value) == rawjson.Unquote(text)
	}
	return string(value) == rawjson.Unquote(text) && !bytes.ContainsAny(value[:1], "{[")
}

// allText joins text blocks by newlines into one JSON string; ok is false if any block is not text. It does not copy a
// single block, which can be tens of megabytes.
func allText(content []json.RawMessage) (text json.RawMessage, ok bool) {
	texts := make([]json.RawMessage, len(content))
	for i, block := range content {
		read := ReadBlock(block)
		if texts[i] = read.Quoted; read.Type != "text" || texts[i] == nil {
			return nil, false
		}
	}
	if len(texts) == 1 && utf8.Valid(texts[0]) {
		return texts[0], true
	}
	decoded := make([]string, len(texts))
	for i := range texts {
		decoded[i] = rawjson.Unquote(texts[i])
	}
	return rawjson.Quote(strings.Join(decoded, "\n")), true
}

// errorMessage returns the message of a result with isError.
func errorMessage(reply shaped) string {
	message := strings.TrimSpace(blocksText(reply.content))
	if message == "" && reply.structured != nil {
		message = string(reply.structured)
	}
	if message == "" {
		message = "the tool reported a failure without a message"
	}
	return message
}

// cut shortens Value to limit bytes, at a character boundary, and sets Truncated. A value that is not text becomes the
// beginning of its JSON, as text.
func (r *Result) cut(limit int64) {
	// Quotes and escapes only add to a text's length.
	if limit <= 0 || int64(len(r.Value)) <= limit && !r.valueIsContent {
		return
	}
	text := r.text()
	if int64(len(text)) <= limit {
		return
	}
	r.Value, r.onlyText, r.valueIsContent = rawjson.Quote(r.shorten(text, limit)), nil, false
}

// cutFailure shortens a failed tool's message, like cut. It returns every other error unchanged.
func (r *Result) cutFailure(err error, limit int64) error {
	if limit <= 0 || err == nil || fault.KindOf(err) != fault.KindTool || int64(len(err.Error())) <= limit {
		return err
	}
	short := &ToolError{Message: r.shorten(err.Error(), limit)}
	var failed *ToolError
	if errors.As(err, &failed) {
		short.Code = failed.Code
	}
	return short
}

// shorten returns the beginning of a text of more than limit bytes, up to a character boundary, and sets Truncated.
func (r *Result) shorten(text string, limit int64) string {
	short := words.Head(text, int(limit))
	r.Truncated = &Truncated{ShownBytes: int64(len(short)), TotalBytes: int64(len(text))}
	return short
}

// contentSaysMore reports whether the content array has more than Value. A single text block that repeats the
// structured value as JSON (as the specification recommends) does not count.
func (r *Result) contentSaysMore() bool {
	if len(r.Content) == 0 || r.Truncated != nil || r.valueIsContent || r.valueHasContent {
		return false
	}
	text, onlyText := allText(r.Content)
	if !onlyText {
		return true
	}
	if !r.Success || bytes.Equal(text, r.Value) {
		return false
	}
	return len(r.Content) != 1 || !sameJSON([]byte(rawjson.Unquote(text)), r.Value)
}

// sameJSON compares two JSON texts by value.
func sameJSON(a, b []byte) bool {
	var left, right any
	if json.Unmarshal(a, &left) != nil || json.Unmarshal(b, &right) != nil {
		return false
	}
	return reflect.DeepEqual(left, right)
}
