package convert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// ToolCall is a model's request to call a tool.
type ToolCall struct {
	ID        string          // the provider's; empty where the message had none
	Name      string          // as the model wrote it
	Arguments json.RawMessage // a JSON object
	// Untyped reports that the arguments came as text (Qwen3-Coder): each value is a string that the tool's schema
	// types.
	Untyped bool
	// Err is why the arguments could not be read, or nil; it goes to the model as the call's result.
	Err error
	// custom reports whether the call is one of OpenAI's custom tools, whose results are of a type of their own.
	custom bool
}

// Message holds the tool calls of a model's answer.
type Message struct {
	// Format is the one that results are to be written in; empty if there are no calls and no format was named.
	Format Format
	Calls  []ToolCall
	// Seen describes what was read, for a message that no calls were found: "an object with role, content".
	Seen string
	// Text is what the model said, where no calls were found: see WrittenCalls.
	Text string
}

// ReadCalls reads the tool calls of a provider's call, an array of calls, an assistant message or a response. Of a
// conversation it reads the last assistant message, without the calls that already have results. If from is empty, the
// format is recognised. A message without calls is not an error; text that is not a message, or has another format than
// from, is. A call that cannot be read or is not of a function (OpenAI's custom tools) has its own error.
//
// Calls of OpenAI, Mistral and Cohere look alike, and only their results differ. They count as OpenAI's, unless every
// id has the 9 letters and digits of Mistral's, or the message has Cohere's tool_plan.
//
// Calls in text (Hermes, Qwen3-Coder) are read from input that is all text, and from the content of a chat message
// without tool_calls, unless from is a provider whose calls are never text. Text in <think>, and text that is quoted as
// code, holds no calls.
func ReadCalls(data []byte, from Format) (*Message, error) {
	reader := callReader{from: from}
	if err := reader.document(data); err != nil {
		return nil, err
	}
	return reader.message()
}

// callReader walks a provider's message and gathers the calls in it.
type callReader struct {
	from  Format
	calls []ToolCall
	// shapes are the formats that the calls look like, one for each; empty if a call looks like several.
	shapes []Format
	// wrapper is the format that the message around the calls has; empty if it has none.
	wrapper Format
	seen    string
	said    strings.Builder
	depth   int
}

// document reads the whole input: JSON, several JSON values one after another, or a model's text.
func (r *callReader) document(data []byte) error {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if len(data) == 0 {
		return errors.New("empty where a tool call is expected")
	}
	if json.Valid(data) {
		r.seen = describeSeen(data)
		if rawjson.IsString(data) {
			r.text(rawjson.Unquote(data))
		}
		r.value(data)
		return nil
	}
	if opens := data[0] == '{' || data[0] == '['; opens {
		if values, err := splitValues(data); err == nil { // a call on each line, say
			r.seen = fmt.Sprintf("%d JSON values", len(values))
			r.value(rawjson.Array(values))
			return nil
		}
		if text := string(data); !strings.Contains(text, callOpen) && !strings.Contains(text, functionOpen) {
			return fmt.Errorf("no tool call: %w", notJSON(data))
		}
	}
	r.seen = describeText(string(data))
	r.said.Write(data)
	r.text(string(data))
	return nil
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

// describeText describes text in which no calls were found.
func describeText(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "data:") || strings.HasPrefix(text, "event:") { // server-sent events
		return "the events of a stream, and not the message that they make"
	}
	return "text without a <tool_call>"
}

// describeSeen describes a JSON value in which no calls were found.
func describeSeen(value []byte) string {
	if elements, ok := rawjson.Elements(value); ok {
		return fmt.Sprintf("an array of %d elements", len(elements))
	}
	fields, ok := rawjson.Members(value)
	switch {
	case rawjson.IsString(value):
		return describeText(rawjson.Unquote(value))
	case !ok:
		return "a JSON value that is not an object"
	case len(fields) == 0:
		return "an empty object"
	}
	const most = 8
	var names []string
	for _, member := range fields[:min(len(fields), most)] {
		names = append(names, member.Name)
	}
	if len(fields) > most {
		names = append(names, "…")
	}
	return "an object with " + strings.Join(names, ", ")
}

// maxCallDepth bounds how deep messages may nest: a serialized message in a conversation in a request.
const maxCallDepth = 4

// value reads calls from a response, a message, a conversation, a call or several.
func (r *callReader) value(raw json.RawMessage) {
	if r.depth++; r.depth <= maxCallDepth {
		if elements, ok := rawjson.Elements(raw); ok {
			r.list(elements)
		} else if fields, ok := rawjson.Members(raw); ok {
			r.object(fields)
		}
	}
	r.depth--
}

// list reads an array: calls, items of a message, the pieces of a stream, or a conversation, of which only the last
// assistant message counts.
func (r *callReader) list(elements []json.RawMessage) {
	last, isConversation := -1, false
	for i, element := range elements {
		role := messageRole(membersOf(element))
		isConversation = isConversation || role != ""
		if role == "assistant" {
			last = i
		}
	}
	before := len(r.calls)
	var answers []answer
	for i, element := range elements {
		item := membersOf(element)
		switch kind := item.text("type"); {
		case kind == "function_call_output" || kind == customOutput:
			answers = append(answers, answer{id: item.text("call_id")})
		case last >= 0 && i > last:
			answers = append(answers, answersIn(item)...)
		}
		isPiece := r.depth == 1 && !isConversation && !item.has("type")
		switch {
		case i == last || isPiece:
			r.value(element)
		case messageRole(item) == "":
			// The items of the Responses API stand beside messages. Other messages hold what tools answered, in which
			// nothing is a call of the model.
			r.call(item)
		}
	}
	r.dropAnswered(before, answers)
}

// messageRole returns who wrote a message: "assistant" whatever the provider calls it, or another word; empty if the
// object is not a message.
func messageRole(message members) string {
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

// serializedRole returns who wrote a message in LangChain's serialized form, by the class that its id ends in; empty if
// it is none.
func serializedRole(fields members) string {
	path := fields.list("id")
	if len(path) == 0 || !fields.has("lc") {
		return ""
	}
	switch class := rawjson.Unquote(path[len(path)-1]); {
	case strings.HasPrefix(class, "AIMessage"):
		return "assistant"
	case strings.Contains(class, "Message"):
		return strings.ToLower(class)
	}
	return ""
}

// object reads what may be a whole response, a message, or a call.
func (r *callReader) object(fields members) {
	if r.call(fields) {
		return
	}
	if inner, ok := r.unwrap(fields); ok {
		r.value(inner)
		return
	}
	r.content(fields)
}

// call reads one call, in any shape; it reports whether there is one.
func (r *callReader) call(fields members) bool {
	for _, one := range slices.Backward(allRecords()) {
		for _, shape := range one.calls {
			if shape.is(fields) {
				r.add(shape.read(fields))
				return true
			}
		}
	}
	return false
}

func (r *callReader) add(call ToolCall, shape Format) {
	r.calls, r.shapes = append(r.calls, call), append(r.shapes, shape)
}

// unwrap finds what a response, a request or a stored message holds.
func (r *callReader) unwrap(fields members) (inner json.RawMessage, ok bool) {
	if choices := fields.list("choices"); len(choices) > 0 { // OpenAI, Mistral
		return membersOf(choices[0]).get("message"), true
	}
	if candidates := fields.list("candidates"); len(candidates) > 0 { // Gemini
		return membersOf(candidates[0]).get("content"), true
	}
	if message, ok := fields.object("message"); ok { // Ollama, Cohere
		r.noteWrapper(fields, message)
		return fields.get("message"), true
	}
	if output, ok := fields.object("output"); ok && output.isObject("message") { // Bedrock
		return output.get("message"), true
	}
	for _, name := range []string{"output", "messages", "contents", "input"} { // Responses; requests
		if inner = fields.get(name); literal(inner) == "array" {
			return inner, true
		}
	}
	// LangChain's serialized forms: {"lc": 1, "id": […, "AIMessage"], "kwargs": {…}} and {"type": "ai", "data": {…}}.
	if fields.isObject("kwargs") && fields.has("lc") {
		return fields.get("kwargs"), true
	}
	return fields.get("data"), fields.isObject("data") && fields.text("type") == "ai"
}

// noteWrapper takes what the response around a chat message says of its format.
func (r *callReader) noteWrapper(response, message members) {
	switch {
	case response.has("done") || response.has("created_at"):
		r.wrapper = Ollama
	case response.has("finish_reason") || message.has("tool_plan"):
		r.wrapper = Cohere
	}
}

// content reads the calls of an assistant's message, or those among its parts. What the parts hold is not looked into:
// it may be what a tool of the provider answered.
func (r *callReader) content(message members) {
	if role := messageRole(message); role != "" && role != "assistant" {
		return
	}
	if message.has("tool_plan") {
		r.wrapper = Cohere
	}
	before := len(r.calls)
	r.listed(message)
	if len(r.calls) > before {
		return
	}
	for _, name := range []string{"content", "parts"} { // Gemini: parts
		for _, part := range message.list(name) {
			if fields := membersOf(part); !r.call(fields) {
				r.said.WriteString(fields.text("text") + "\n")
			}
		}
		if len(r.calls) > before {
			return
		}
	}
	if messageRole(message) != "assistant" {
		return
	}
	text := message.text("content")
	r.said.WriteString(text)
	if r.from == "" || recordOf(r.from).inText {
		r.text(text)
	}
}

// listed reads the calls that a message lists apart from its content. Each of them has a result to come, even where it
// cannot be read.
func (r *callReader) listed(message members) {
	for _, name := range []string{"tool_calls", "invalid_tool_calls"} { // LangChain: both
		for _, part := range message.list(name) {
			fields, isObject := rawjson.Members(part)
			switch {
			case !isObject || r.call(fields):
			case name == "invalid_tool_calls":
				r.add(readInvalidLangChainCall(fields))
			case members(fields).text("type") == "tool_call":
				r.add(unreadableCall(fields), LangChain)
			default:
				r.add(unreadableCall(fields), OpenAI)
			}
		}
	}
}

// message returns what was gathered.
func (r *callReader) message() (*Message, error) {
	message := &Message{Format: r.from, Calls: r.calls, Seen: r.seen}
	if len(r.calls) == 0 {
		message.Text = r.said.String()
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

// format returns the format that all calls share. A call with only a name fits all formats; alone, it counts as MCP's.
func (r *callReader) format() (Format, error) {
	var found Format
	for _, shape := range r.shapes {
		switch {
		case shape == found || shape == "":
		case found == "":
			found = shape
		case isChat(shape) && isChat(found):
			// An id can have nine letters by chance; an argument object has no other reason.
			if found != Ollama && shape != Ollama {
				found = OpenAI
			} else {
				found = Ollama
			}
		case !sameCalls(shape, found):
			return "", fmt.Errorf("tool calls of different formats in one message: %s and %s", found, shape)
		}
	}
	if r.wrapper != "" && isChat(found) {
		return r.wrapper, nil
	}
	return cmp.Or(found, MCP), nil
}

// isChat reports whether a format's calls are those of OpenAI's chat completions, or look like them.
func isChat(format Format) bool { return recordOf(format).family == OpenAI && !isTextFormat(format) }

func isTextFormat(format Format) bool { return recordOf(format).result.asText }

// sameCalls reports whether calls of one format may be read as those of the other. A chat server that does not know the
// model's calls returns them as text.
func sameCalls(a, b Format) bool {
	return cmp.Or(recordOf(a).family, a) == cmp.Or(recordOf(b).family, b)
}

// answer is a result that the conversation already has. If the provider has no ids, the name identifies the call.
type answer struct{ id, name string }

// to reports whether it is the answer to a call.
func (a answer) to(call ToolCall) bool {
	if a.id != "" && call.ID != "" {
		return a.id == call.ID
	}
	return a.name == "" || a.name == call.Name
}

// dropAnswered removes the calls, from one on, that have answers: they were made before, and are not made again.
func (r *callReader) dropAnswered(from int, answers []answer) {
	for _, one := range answers {
		if i := slices.IndexFunc(r.calls[from:], one.to); i >= 0 {
			i += from
			r.calls, r.shapes = slices.Delete(r.calls, i, i+1), slices.Delete(r.shapes, i, i+1)
			r.seen = "a conversation whose tool calls have their results"
		}
	}
}

// answersIn returns the results that a message of any provider holds.
func answersIn(message members) []answer {
	role := messageRole(message)
	for _, name := range []string{"kwargs", "data"} { // LangChain's serialized forms
		if inner, ok := message.object(name); ok {
			message = inner
		}
	}
	if role == "function" || strings.HasPrefix(role, "tool") {
		name := cmp.Or(message.text("tool_name"), message.text("name"))
		return append(partAnswers(message), answer{message.text("tool_call_id"), name})
	}
	return partAnswers(message)
}

// partAnswers returns the results among the parts of a message: Anthropic's, Bedrock's and Gemini's.
func partAnswers(message members) []answer {
	var answers []answer
	for _, name := range []string{"content", "parts"} {
		for _, part := range message.list(name) {
			fields := membersOf(part)
			if fields.text("type") == "tool_result" {
				answers = append(answers, answer{id: fields.text("tool_use_id")})
			}
			for _, member := range []string{"toolResult", "functionResponse", "function_response"} {
				if result, ok := fields.object(member); ok {
					answers = append(answers, answer{
						cmp.Or(result.text("toolUseId"), result.text("id")),
						result.text("name"),
					})
				}
			}
		}
	}
	return answers
}

// maxEncoded bounds how often arguments may have been encoded as a string.
const maxEncoded = 4

var errNoToolName = errors.New("the tool call names no tool")

// newCall makes a call of its parts. Arguments that cannot be read, and a missing name, are the call's own error.
func newCall(id, name string, arguments json.RawMessage) ToolCall {
	object, err := readArguments(arguments)
	if name == "" {
		err = errNoToolName
	}
	return ToolCall{ID: id, Name: name, Arguments: object, Err: err}
}

// readArguments makes one JSON object of what a model gave: an object, a string that holds one (encoded once or more),
// nothing. The object is byte for byte the model's, unless it had to be repaired. With an error it is empty.
func readArguments(given json.RawMessage) (json.RawMessage, error) {
	none := json.RawMessage("{}")
	for range maxEncoded {
		given = withoutFence(bytes.TrimSpace(given))
		if len(given) == 0 || string(given) == "null" {
			return none, nil
		}
		if !json.Valid(given) {
			repaired, end, ok := repairJSON(string(given))
			if !ok || end != len(given) {
				return none, fmt.Errorf("the arguments are %w", notJSON(given))
			}
			given = repaired
		}
		switch {
		case given[0] == '{':
			return given, nil
		case !rawjson.IsString(given):
			return none, fmt.Errorf("the arguments must be a JSON object, not %s",
				words.Shorten(string(given), words.MaxGiven))
		}
		given = json.RawMessage(rawjson.Unquote(given))
	}
	return none, errors.New("the arguments are JSON that was encoded as a string too many times")
}

// withoutFence removes a value from the code fence of Markdown that a model put around it.
func withoutFence(text []byte) []byte {
	const fence = "```"
	inner, opened := bytes.CutPrefix(text, []byte(fence))
	inner, closed := bytes.CutSuffix(inner, []byte(fence))
	language, code, isBlock := bytes.Cut(inner, []byte("\n"))
	if !opened || !closed || !isBlock || bytes.ContainsAny(language, `{"'`) {
		return text
	}
	return bytes.TrimSpace(code)
}
