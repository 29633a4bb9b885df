package convert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// ToolCall is a model's request to call a tool.
type ToolCall struct {
	ID        string          // the provider's; empty if the message has none
	Name      string          // unchanged from the model
	Arguments json.RawMessage // a JSON object
	// Untyped is set if all values are strings, whose types come from the tool's schema (Qwen3-Coder).
	Untyped bool
	// Err is why the call could not be read, or nil. The model gets it as the call's result.
	Err error
	// custom is set for calls of OpenAI's custom tools, whose results have their own type.
	custom bool
}

// Message has the tool calls in a model's message.
type Message struct {
	// Format is the format of the results; empty if there are no calls and no format was given.
	Format Format
	Calls  []ToolCall
	// Seen describes the input if no calls were found: "an object with role, content".
	Seen string
	// Text is the model's text, if no calls were found: see WrittenCalls.
	Text string
}

// ReadCalls reads the tool calls in a call, an array of calls, an assistant message or a response. In a conversation,
// it reads the last assistant message, without the calls that already have results. If from is empty, the format is
// detected. A message without calls is not an error; input that is not a message, or has another format than from, is.
// A call that cannot be read, or is for one of OpenAI's custom tools, has its own error.
//
// Calls of OpenAI, Mistral and Cohere look the same, and only their results differ. They count as OpenAI's, unless
// every id has 9 letters and digits, as Mistral's have, or the message has Cohere's tool_plan.
//
// Calls in text (Hermes, Qwen3-Coder) are read from plain text, and from the content of a chat message without
// tool_calls, unless from is a provider whose calls are never text. Text in <think> and quoted code are ignored.
func ReadCalls(data []byte, from Format) (*Message, error) {
	reader := callReader{from: from}
	if err := reader.document(data); err != nil {
		return nil, err
	}
	return reader.message()
}

// callReader walks a provider's message and collects its calls.
type callReader struct {
	from  Format
	calls []ToolCall
	// shapes are the formats of the calls; empty for a call that fits several.
	shapes []Format
	// wrapper is the format of the message around the calls; empty if unknown.
	wrapper Format
	seen    string
	said    strings.Builder
	depth   int
}

// document reads the whole input: JSON, a sequence of JSON values, or a model's text.
func (r *callReader) document(data []byte) error {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if len(data) == 0 {
		return errors.New("no tool call: the input is empty")
	}
	if json.Valid(data) {
		whole := jsonschema.NewNode(data)
		r.seen = describeSeen(whole)
		r.text(whole.Text())
		r.value(whole)
		return nil
	}
	if opens := data[0] == '{' || data[0] == '['; opens {
		if values, err := splitValues(data); err == nil { // for example one call per line
			r.seen = fmt.Sprintf("%d JSON values", len(values))
			r.value(jsonschema.NewNode(rawjson.Array(values)))
			return nil
		}
		if text := string(data); !strings.Contains(text, callOpen) && !strings.Contains(text, functionOpen) {
			return fmt.Errorf("no tool call: %w", rawjson.NotJSON(data))
		}
	}
	r.seen = describeText(string(data))
	r.said.Write(data)
	r.text(string(data))
	return nil
}

// describeText describes text in which no calls were found.
func describeText(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "data:") || strings.HasPrefix(text, "event:") { // server-sent events
		return "the events of a stream instead of a message"
	}
	return "text without a <tool_call>"
}

// describeSeen describes a JSON value in which no calls were found.
func describeSeen(value *node) string {
	fields := value.Members()
	switch {
	case value.IsArray():
		return fmt.Sprintf("an array of %d elements", len(value.Elements()))
	case value.IsString():
		return describeText(value.Text())
	case !value.IsObject():
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

// maxCallDepth limits the nesting of messages, such as a serialized message in a conversation in a request.
const maxCallDepth = 4

// value reads calls from a response, a message, a conversation, or calls.
func (r *callReader) value(value *node) {
	r.depth++
	switch {
	case r.depth > maxCallDepth:
	case value.IsArray():
		r.list(value.Elements())
	case value.IsObject():
		r.object(value)
	}
	r.depth--
}

// list reads an array: calls, items of a message, pieces of a stream, or a conversation, where only the last assistant
// message counts.
func (r *callReader) list(elements []*node) {
	last, isConversation := -1, false
	for i, element := range elements {
		role := messageRole(element)
		isConversation = isConversation || role != ""
		if role == "assistant" {
			last = i
		}
	}
	before := len(r.calls)
	var answers []answer
	for i, item := range elements {
		switch kind := item.Get("type").Text(); {
		case kind == "function_call_output" || kind == customOutput:
			answers = append(answers, answer{id: item.Get("call_id").Text()})
		case last >= 0 && i > last:
			answers = append(answers, answersIn(item)...)
		}
		isPiece := r.depth == 1 && !isConversation && !item.Has("type")
		switch {
		case i == last || isPiece:
			r.value(item)
		case messageRole(item) == "":
			// The Responses API has items next to messages. Other messages contain tool results, not calls.
			r.call(item)
		}
	}
	r.dropAnswered(before, answers)
}

// messageRole returns the role of a message, with "assistant" for models of all providers; empty if the object is not a
// message.
func messageRole(message *node) string {
	if role := message.Get("role").Text(); role != "" {
		if role == "model" {
			return "assistant"
		}
		return role
	}
	switch kind := message.Get("type").Text(); kind {
	case "ai", "AIMessage", "AIMessageChunk":
		return "assistant"
	case "human", "system", "tool":
		return kind
	}
	return serializedRole(message)
}

// serializedRole returns the role of a message in LangChain's serialized form, which is the class at the end of its id;
// empty for other objects.
func serializedRole(fields *node) string {
	path := fields.Get("id").Elements()
	if len(path) == 0 || !fields.Has("lc") {
		return ""
	}
	switch class := path[len(path)-1].Text(); {
	case strings.HasPrefix(class, "AIMessage"):
		return "assistant"
	case strings.Contains(class, "Message"):
		return strings.ToLower(class)
	}
	return ""
}

// object reads a response, a message, or a call.
func (r *callReader) object(fields *node) {
	if r.call(fields) {
		return
	}
	if inner, ok := r.unwrap(fields); ok {
		r.value(inner)
		return
	}
	r.content(fields)
}

// call reads one call in any format, and reports whether there is one.
func (r *callReader) call(fields *node) bool {
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

// unwrap returns the content of a response, a request or a stored message.
func (r *callReader) unwrap(fields *node) (inner *node, ok bool) {
	if choices := fields.Get("choices").Elements(); len(choices) > 0 { // OpenAI, Mistral
		return choices[0].Get("message"), true
	}
	if candidates := fields.Get("candidates").Elements(); len(candidates) > 0 { // Gemini
		return candidates[0].Get("content"), true
	}
	if message := fields.Get("message"); message.IsObject() { // Ollama, Cohere
		r.noteWrapper(fields, message)
		return message, true
	}
	if message := fields.Get("output").Get("message"); message.IsObject() { // Bedrock
		return message, true
	}
	for _, name := range []string{"output", "messages", "contents", "input"} { // Responses; requests
		if inner = fields.Get(name); inner.IsArray() {
			return inner, true
		}
	}
	// LangChain's serialized forms: {"lc": 1, "id": […, "AIMessage"], "kwargs": {…}} and {"type": "ai", "data": {…}}.
	if fields.Get("kwargs").IsObject() && fields.Has("lc") {
		return fields.Value("kwargs"), true
	}
	return fields.Value("data"), fields.Get("data").IsObject() && fields.Get("type").Text() == "ai"
}

// noteWrapper detects the format of a response around a chat message.
func (r *callReader) noteWrapper(response, message *node) {
	switch {
	case response.Has("done") || response.Has("created_at"):
		r.wrapper = Ollama
	case response.Has("finish_reason") || message.Has("tool_plan"):
		r.wrapper = Cohere
	}
}

// content reads the calls in an assistant's message or among its parts. It does not search inside parts, which may be
// results of the provider's own tools.
func (r *callReader) content(message *node) {
	if role := messageRole(message); role != "" && role != "assistant" {
		return
	}
	if message.Has("tool_plan") {
		r.wrapper = Cohere
	}
	before := len(r.calls)
	r.listed(message)
	if len(r.calls) > before {
		return
	}
	for _, name := range []string{"content", "parts"} { // Gemini: parts
		for _, part := range message.Get(name).Elements() {
			if !r.call(part) {
				r.said.WriteString(part.Get("text").Text() + "\n")
			}
		}
		if len(r.calls) > before {
			return
		}
	}
	if messageRole(message) != "assistant" {
		return
	}
	text := message.Get("content").Text()
	r.said.WriteString(text)
	if r.from == "" || recordOf(r.from).inText {
		r.text(text)
	}
}

// listed reads the calls that a message lists separately from its content. Each needs a result, even if it cannot be
// read.
func (r *callReader) listed(message *node) {
	for _, name := range []string{"tool_calls", "invalid_tool_calls"} { // LangChain: both
		for _, part := range message.Get(name).Elements() {
			switch {
			case !part.IsObject() || r.call(part):
			case name == "invalid_tool_calls":
				r.add(readInvalidLangChainCall(part))
			case part.Get("type").Text() == "tool_call":
				r.add(unreadableCall(part), LangChain)
			default:
				r.add(unreadableCall(part), OpenAI)
			}
		}
	}
}

// message returns the collected calls.
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
		return nil, fmt.Errorf("the tool calls are not in the format %s: they look like %s", r.from, found)
	case isTextFormat(r.from):
		message.Format = found // results must be a chat message too
	}
	return message, nil
}

// format returns the common format of all calls. A call with only a name fits all formats, and MCP if there are no
// others.
func (r *callReader) format() (Format, error) {
	var found Format
	for _, shape := range r.shapes {
		switch {
		case shape == found || shape == "":
		case found == "":
			found = shape
		case isChat(shape) && isChat(found):
			// An id can have nine letters by chance, but object arguments are deliberate.
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

// isChat reports whether a format's calls look like those of OpenAI's chat completions.
func isChat(format Format) bool { return recordOf(format).family == OpenAI && !isTextFormat(format) }

func isTextFormat(format Format) bool { return recordOf(format).result.asText }

// sameCalls reports whether calls of one format may be read as those of the other. A chat server that does not parse
// the model's calls returns them as text.
func sameCalls(a, b Format) bool {
	return cmp.Or(recordOf(a).family, a) == cmp.Or(recordOf(b).family, b)
}

// answer is a result already in the conversation. Without ids, the name identifies the call.
type answer struct{ id, name string }

// to reports whether a is the result of a call.
func (a answer) to(call ToolCall) bool {
	if a.id != "" && call.ID != "" {
		return a.id == call.ID
	}
	return a.name == "" || a.name == call.Name
}

// dropAnswered removes the calls since index from that have results.
func (r *callReader) dropAnswered(from int, answers []answer) {
	for _, one := range answers {
		if i := slices.IndexFunc(r.calls[from:], one.to); i >= 0 {
			i += from
			r.calls, r.shapes = slices.Delete(r.calls, i, i+1), slices.Delete(r.shapes, i, i+1)
			r.seen = "a conversation whose tool calls have their results"
		}
	}
}

// answersIn returns the results in a message of any provider.
func answersIn(message *node) []answer {
	role := messageRole(message)
	for _, name := range []string{"kwargs", "data"} { // LangChain's serialized forms
		if inner := message.Get(name); inner.IsObject() {
			message = inner
		}
	}
	if role == "function" || strings.HasPrefix(role, "tool") {
		name := cmp.Or(message.Get("tool_name").Text(), message.Get("name").Text())
		return append(partAnswers(message), answer{message.Get("tool_call_id").Text(), name})
	}
	return partAnswers(message)
}

// partAnswers returns the results among the parts of a message: Anthropic's, Bedrock's and Gemini's.
func partAnswers(message *node) []answer {
	var answers []answer
	for _, name := range []string{"content", "parts"} {
		for _, part := range message.Get(name).Elements() {
			if part.Get("type").Text() == "tool_result" {
				answers = append(answers, answer{id: part.Get("tool_use_id").Text()})
			}
			for _, member := range []string{"toolResult", "functionResponse", "function_response"} {
				if result := part.Get(member); result.IsObject() {
					answers = append(answers, answer{
						cmp.Or(result.Get("toolUseId").Text(), result.Get("id").Text()),
						result.Get("name").Text(),
					})
				}
			}
		}
	}
	return answers
}

// maxEncoded bounds how many times arguments may be encoded as a string.
const maxEncoded = 4

var errNoToolName = errors.New("the tool call has no tool name")

// newCall returns a call. Invalid arguments and a missing name set its Err.
func newCall(id, name string, arguments *node) ToolCall {
	object, err := readArguments(arguments.Bytes())
	if name == "" {
		err = errNoToolName
	}
	return ToolCall{ID: id, Name: name, Arguments: object, Err: err}
}

// readArguments reads arguments, which are an object, a string with an object (encoded once or more), or missing. It
// keeps the model's bytes unless they need repair. With an error, the result is an empty object.
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
				return none, fmt.Errorf("the arguments are %w", rawjson.NotJSON(given))
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
	return none, errors.New("the arguments were encoded as a JSON string too many times")
}

// withoutFence removes the Markdown code fence around a value.
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
