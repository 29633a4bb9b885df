package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"toolx/pkg/rawjson"
)

// callReader walks a provider's message and gathers the calls in it.
type callReader struct {
	from  Format
	calls []ToolCall
	// shapes are the formats that the calls look like, one for each.
	shapes []Format
	// wrapper is the format that the message around the calls tells; empty where it
	// tells none.
	wrapper Format
	// answered are the ids of Responses calls whose output is there already.
	answered map[string]bool
	seen     string
	depth    int
}

// callFields are the members of a JSON object that may be a message or a call.
type callFields []rawjson.Member

// get returns a member's value, nil where there is none, or null.
func (f callFields) get(name string) json.RawMessage {
	for _, member := range f {
		if member.Name == name && string(member.Value) != "null" {
			return member.Value
		}
	}
	return nil
}

func (f callFields) has(name string) bool { return f.get(name) != nil }

// text returns a member that is a string, empty where it is not one.
func (f callFields) text(name string) string {
	value := f.get(name)
	if !rawjson.IsString(value) {
		return ""
	}
	return rawjson.Unquote(value)
}

// object returns a member that is an object.
func (f callFields) object(name string) (callFields, bool) {
	members, ok := rawjson.Members(f.get(name))
	return members, ok
}

// list returns a member that is an array.
func (f callFields) list(name string) ([]json.RawMessage, bool) {
	return rawjson.Elements(f.get(name))
}

// document reads the whole input: JSON, several JSON values one after another, or
// a model's text.
func (r *callReader) document(data []byte) error {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if len(data) == 0 {
		return errors.New("empty where a tool call is expected")
	}
	if json.Valid(data) {
		r.seen = describeSeen(data)
		r.value(data)
		return nil
	}
	if values, ok := jsonStream(data); ok {
		r.seen = fmt.Sprintf("%d JSON values", len(values))
		r.list(values)
		return nil
	}
	if (data[0] == '{' || data[0] == '[') && !holdsTextCalls(string(data)) {
		return fmt.Errorf("no tool call: %w", notJSON(data))
	}
	r.seen = "text without a <tool_call>"
	r.text(string(data))
	return nil
}

// jsonStream cuts JSON values that stand one after another, such as a call on each
// line.
func jsonStream(data []byte) (values []json.RawMessage, ok bool) {
	if data[0] != '{' && data[0] != '[' {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	for {
		var value json.RawMessage
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			return values, true
		}
		if err != nil {
			return nil, false
		}
		values = append(values, value)
	}
}

// notJSON says where and why text is not JSON.
func notJSON(text []byte) error {
	var value json.RawMessage
	err := json.Unmarshal(text, &value)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("not JSON: %s (byte %d)", syntax.Error(), syntax.Offset)
	}
	return errors.New("not JSON")
}

// describeSeen names a JSON value for whoever looks for calls in it.
func describeSeen(value []byte) string {
	if elements, ok := rawjson.Elements(value); ok {
		return fmt.Sprintf("an array of %d elements", len(elements))
	}
	members, ok := rawjson.Members(value)
	switch {
	case rawjson.IsString(value):
		return "text without a <tool_call>"
	case !ok:
		return "a JSON value that is no object"
	case len(members) == 0:
		return "an empty object"
	}
	const most = 8
	var names []string
	for _, member := range members[:min(len(members), most)] {
		names = append(names, member.Name)
	}
	if len(members) > most {
		names = append(names, "…")
	}
	return "an object with " + strings.Join(names, ", ")
}

// maxCallDepth bounds how deep messages are looked for inside of others.
const maxCallDepth = 12

// value reads calls from any JSON value.
func (r *callReader) value(raw json.RawMessage) {
	if r.depth++; r.depth <= maxCallDepth {
		if elements, ok := rawjson.Elements(raw); ok {
			r.list(elements)
		} else if members, ok := rawjson.Members(raw); ok {
			r.object(members)
		} else if rawjson.IsString(raw) {
			r.text(rawjson.Unquote(raw))
		}
	}
	r.depth--
}

// list reads an array: calls, parts of a message, or a conversation, of which only
// the last assistant message counts.
func (r *callReader) list(elements []json.RawMessage) {
	last, isConversation := -1, false
	for i, element := range elements {
		members, _ := rawjson.Members(element)
		r.noteAnswer(members)
		role := messageRole(members)
		if role != "" {
			isConversation = true
		}
		if role == "assistant" {
			last = i
		}
	}
	for i, element := range elements {
		members, _ := rawjson.Members(element)
		// The items of the Responses API are no messages, and stand beside them.
		if isConversation && i != last && messageRole(members) != "" {
			continue
		}
		r.value(element)
	}
}

// messageRole says who wrote a message: "assistant" whatever the provider calls it,
// another word for others, nothing where the object is no message.
func messageRole(message callFields) string {
	if role := message.text("role"); role != "" {
		if role == "model" {
			return "assistant"
		}
		return role
	}
	switch kind := message.text("type"); kind {
	case "ai", "AIMessage", "AIMessageChunk":
		return "assistant"
	case "human", "system", "tool":
		return kind
	}
	return serializedRole(message)
}

// object reads what may be a whole response, a message, or a call.
func (r *callReader) object(fields callFields) {
	for _, shape := range callShapes() {
		if shape.is(fields) {
			call, format := shape.read(fields)
			if !r.answered[call.ID] || format != Responses {
				r.calls, r.shapes = append(r.calls, call), append(r.shapes, format)
			}
			return
		}
	}
	if inner, ok := r.unwrap(fields); ok {
		r.value(inner)
		return
	}
	r.content(fields)
}

// unwrap finds what a response, a request or a stored message holds.
func (r *callReader) unwrap(fields callFields) (inner json.RawMessage, ok bool) {
	if choices, ok := fields.list("choices"); ok && len(choices) > 0 { // OpenAI, Mistral
		members, _ := rawjson.Members(choices[0])
		return callFields(members).get("message"), true
	}
	if candidates, ok := fields.list("candidates"); ok && len(candidates) > 0 { // Gemini
		members, _ := rawjson.Members(candidates[0])
		return callFields(members).get("content"), true
	}
	if message, ok := fields.object("message"); ok { // Ollama, Cohere
		r.noteWrapper(fields, message)
		return fields.get("message"), true
	}
	if output, ok := fields.object("output"); ok && output.has("message") { // Bedrock
		return output.get("message"), true
	}
	for _, name := range []string{"output", "messages", "contents", "input"} { // Responses; requests
		if _, ok := fields.list(name); ok {
			return fields.get(name), true
		}
	}
	return serializedMessage(fields)
}

// content reads a message's calls, or else the parts that it is made of.
func (r *callReader) content(fields callFields) {
	if fields.has("tool_plan") {
		r.wrapper = Cohere
	}
	if calls, ok := fields.list("tool_calls"); ok && len(calls) > 0 {
		for _, call := range calls {
			r.value(call)
		}
		return
	}
	for _, name := range []string{"content", "parts"} { // Gemini: parts
		value := fields.get(name)
		switch {
		case value == nil:
		case !rawjson.IsString(value):
			r.value(value)
		case messageRole(fields) == "assistant" && r.callsMayBeText():
			r.text(rawjson.Unquote(value))
		}
	}
}

// callsMayBeText says whether the text of a chat message is searched for calls.
func (r *callReader) callsMayBeText() bool {
	return slices.Contains([]Format{"", Ollama, Qwen, Hermes, QwenCoder}, r.from)
}

// callShape is one way in which providers write a call.
type callShape struct {
	is   func(callFields) bool
	read func(callFields) (ToolCall, Format)
}

// callShapes are tried in this order: those with a mark of their own first.
func callShapes() []callShape {
	return []callShape{
		{isAnthropicCall, readAnthropicCall},
		{isResponsesCall, readResponsesCall},
		{isGeminiCall, readGeminiCall},
		{isBedrockCall, readBedrockCall},
		{isChatCall, readChatCall},
		{isLangChainCall, readLangChainCall},
		{isMCPCall, readMCPCall},
	}
}

// message is what was gathered.
func (r *callReader) message() (*Message, error) {
	message := &Message{Format: r.from, Calls: r.calls, Seen: r.seen}
	if len(r.calls) == 0 {
		return message, nil
	}
	found, err := r.format()
	switch {
	case err != nil:
		return nil, err
	case r.from == "":
		message.Format = found
	case !sameCalls(r.from, found):
		return nil, fmt.Errorf("the tool calls are not of the format %s: they look like %s", r.from, found)
	case isTextFormat(r.from):
		message.Format = found // a chat message of such a model wants a chat message back
	}
	return message, nil
}

// format is the one that all calls have in common.
func (r *callReader) format() (Format, error) {
	found := r.shapes[0]
	for _, shape := range r.shapes[1:] {
		switch {
		case shape == found:
		case isChat(shape) && isChat(found):
			found = commonChat(found, shape)
		case !sameCalls(shape, found):
			return "", fmt.Errorf("tool calls of different formats in one message: %s and %s", found, shape)
		}
	}
	if r.wrapper != "" && isChat(found) {
		return r.wrapper, nil
	}
	return found, nil
}

func isTextFormat(format Format) bool {
	return format == Hermes || format == Qwen || format == QwenCoder
}

// sameCalls says whether calls of one format may be read as those of the other.
// Text is what a chat server gives that does not know the model's calls.
func sameCalls(a, b Format) bool {
	class := func(format Format) Format {
		switch {
		case isChat(format) || isTextFormat(format):
			return OpenAI
		case format == GeminiJSON:
			return Gemini
		}
		return format
	}
	return class(a) == class(b)
}
