package ai

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"toolx/pkg/convert"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
)

// openAI uses OpenAI's chat completions (https://platform.openai.com/docs/api-reference/chat-streaming), as do vLLM,
// LM Studio, llama.cpp, Mistral and many others. Each adds its own members to answers, and some require them back;
// OpenAI's SDK would drop them, and is larger than all the rest of toolx.
type openAI struct {
	*endpoint
	// named counts the calls that arrived without an id and were given one: ids must be unique in a conversation.
	named atomic.Int64
}

// openAIURL is OpenAI's own address.
const openAIURL = "https://api.openai.com/v1"

func openAIRecord() record {
	return record{
		name: OpenAI, keys: []string{"OPENAI_API_KEY"}, open: newOpenAI,
		help: "OPENAI_API_KEY, and any API like OpenAI's chat completions at\n" +
			"             --base-url: vLLM, LM Studio, llama.cpp, Mistral",
		docs: "Chat Completions | `OPENAI_API_KEY`, not needed in private networks | " +
			"`--base-url`, `OPENAI_BASE_URL`, else OpenAI's | none: use `--model`",
		server:      "an OpenAI-compatible server",
		address:     "http://localhost:8000/v1",
		addressHint: "set --base-url to the address up to the version",
		reachHint:   checkNetwork,
		models:      "/models",
	}
}

func newOpenAI(options Options) (Provider, error) {
	base := cmp.Or(options.BaseURL, options.Getenv("OPENAI_BASE_URL"), openAIURL)
	end, err := newEndpoint(options, OpenAI, options.Model, base)
	if err != nil {
		return nil, err
	}
	end.base = strings.TrimSuffix(end.base, "/chat/completions") // often given in full
	return &openAI{endpoint: end}, nil
}

// Format returns Mistral's if the server is Mistral's: its results carry a name.
func (o *openAI) Format() convert.Format {
	if o.isMistral() {
		return convert.Mistral
	}
	return convert.OpenAI
}

func (o *openAI) isMistral() bool { return strings.Contains(o.base, "api.mistral.ai") }

func (o *openAI) Check() error {
	switch {
	case o.model == "":
		return &fault.UsageError{
			Message: "provider openai needs the name of a model",
			Fix:     fmt.Sprintf("--model NAME; %s/models lists those of the server", o.shown()),
		}
	case o.key == "" && !o.local():
		return o.failure(NoKey, "", nil)
	}
	return nil
}

func (o *openAI) Body(request Request) json.RawMessage {
	var usage, limit json.RawMessage
	if !o.isMistral() { // which always reports usage, and refuses unknown members
		usage = json.RawMessage(`{"include_usage":true}`)
	}
	if request.MaxTokens > 0 {
		limit = json.RawMessage(fmt.Sprint(request.MaxTokens))
	}
	return rawjson.Build("model", o.model, "messages", withSystem(request),
		"tools", request.Tools, // an empty list is refused
		"stream", true, "stream_options", usage, o.limitName(), limit)
}

// limitName returns the member that bounds an answer. OpenAI's reasoning models refuse the older name, the only one
// that all others support.
func (o *openAI) limitName() string {
	if strings.Contains(o.base, "api.openai.com") {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

func (o *openAI) Turn(ctx context.Context, request Request, emit func(Event)) (*Turn, error) {
	response, err := o.post(ctx, "/chat/completions", o.Body(request), func(header http.Header) {
		header.Set("Accept", "text/event-stream")
		bearer(o.key)(header)
	})
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer := &openAIAnswer{openAI: o, message: &fragment{kind: '{'}, emit: emit}
	if err := o.receive(response, answer); err != nil {
		return nil, err
	}
	return answer.finish(), nil
}

// openAIChunk is one event of the stream, or a whole answer.
type openAIChunk struct {
	Error   json.RawMessage `json:"error"`
	Choices []struct {
		Index   int             `json:"index"`
		Delta   json.RawMessage `json:"delta"`
		Message json.RawMessage `json:"message"` // where it was not streamed
		Finish  string          `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Input  int `json:"prompt_tokens"`
		Output int `json:"completion_tokens"`
	} `json:"usage"`
}

// openAIAnswer joins the events of one answer.
type openAIAnswer struct {
	*openAI
	message *fragment
	said    speech
	emit    func(Event)
	ending  string
	usage   Usage
}

func (a *openAIAnswer) stopped() bool { return a.ending != "" }

func (a *openAIAnswer) readWhole(whole []byte) error {
	if _, err := a.read(whole); err != nil {
		return err
	}
	if len(a.message.members) == 0 && a.ending == "" {
		return a.noAnswer(whole)
	}
	return nil
}

func (a *openAIAnswer) read(data []byte) (done bool, err error) {
	if string(data) == "[DONE]" {
		return true, nil
	}
	var chunk openAIChunk
	if err := json.Unmarshal(data, &chunk); err != nil {
		return false, a.broken("an event is not JSON", nil)
	}
	if len(chunk.Error) > 0 && string(chunk.Error) != "null" {
		return false, a.inStream(data)
	}
	if chunk.Usage != nil {
		a.usage = Usage{Input: chunk.Usage.Input, Output: chunk.Usage.Output}
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		for _, piece := range []json.RawMessage{choice.Delta, choice.Message} {
			if kindOf(piece) == '{' {
				a.message.merge("", piece)
				a.said.read(piece, a.emit)
			}
		}
		a.ending = cmp.Or(choice.Finish, a.ending)
	}
	return false, nil
}

// finish returns the answer so far.
func (a *openAIAnswer) finish() *Turn {
	if !a.message.has("role") {
		a.message.set("role", rawjson.Quote("assistant"))
	}
	if !a.message.has("content") { // servers with strict types require it
		a.message.set("content", json.RawMessage("null"))
	}
	a.completeCalls()
	calls := a.message.json()
	a.repairCalls()
	stop := StopEnd
	switch {
	case a.ending == "length" || a.ending == "model_length":
		stop = StopLength
	case a.ending == "content_filter" || a.said.refused:
		stop = StopRefused
	}
	return &Turn{
		Message: a.message.json(), Calls: calls, Text: a.said.text.String(), Stop: stop, Reason: a.ending,
		Usage: a.usage,
	}
}

// calls returns the tool calls of the answer that are objects.
func (a *openAIAnswer) calls() []*fragment {
	calls := a.message.lookup("tool_calls")
	if calls == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(calls.elements), func(call *fragment) bool { return call.kind != '{' })
}

// repairCalls replaces arguments that are not JSON. vLLM and llama.cpp parse them again in the next request, and refuse
// it.
func (a *openAIAnswer) repairCalls() {
	for _, call := range a.calls() {
		function := call.lookup("function")
		if function == nil || function.kind != '{' {
			continue
		}
		arguments := function.get("arguments")
		isText := rawjson.IsString(arguments)
		if isText && !json.Valid([]byte(rawjson.Unquote(arguments))) || string(orText(arguments, "null")) == "null" {
			function.set("arguments", rawjson.Quote(string(argumentsOf(call.json(), a.Format()))))
		}
	}
}

// completeCalls gives calls an id and a type if the server forgot them. The message goes back, and a result needs the
// id of its call.
func (a *openAIAnswer) completeCalls() {
	for _, call := range a.calls() {
		if call.isEmpty("id") {
			call.set("id", rawjson.Quote(a.newID()))
		}
		if call.isEmpty("type") {
			call.set("type", rawjson.Quote("function"))
		}
	}
}

// newID makes an id for a call; Mistral requires 9 letters and digits.
func (a *openAIAnswer) newID() string {
	number := a.named.Add(1)
	if a.isMistral() {
		return fmt.Sprintf("call%05d", number)
	}
	return fmt.Sprintf("call_%d", number)
}
