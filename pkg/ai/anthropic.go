package ai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"toolx/pkg/convert"
	"toolx/pkg/rawjson"
)

// anthropicClient uses Anthropic's messages API (https://docs.anthropic.com/en/docs/build-with-claude/streaming). It
// does not use the official SDK, so that blocks of any type are sent back unchanged.
type anthropicClient struct {
	*endpoint
	// most limits the tokens of the model's answer; zero if unknown.
	most atomic.Int64
}

const (
	// anthropicURL is Anthropic's own address.
	anthropicURL = "https://api.anthropic.com"
	// anthropicToken is the variable of a key that is sent as a bearer token.
	anthropicToken = "ANTHROPIC_AUTH_TOKEN"
	// defaultAnthropicModel is the one that Anthropic recommends for tools and agents.
	defaultAnthropicModel = "claude-sonnet-5-5"
	// anthropicVersion is the revision of the API that toolx uses (https://docs.anthropic.com/en/api/versioning).
	anthropicVersion = "2023-06-01"
	// anthropicMaxTokens bounds an answer; the API requires a bound.
	anthropicMaxTokens = 16384
)

func anthropicRecord() record {
	return record{
		name: Anthropic, keys: []string{"ANTHROPIC_API_KEY", anthropicToken}, help: "ANTHROPIC_API_KEY",
		docs: "Messages | `ANTHROPIC_API_KEY`, else `ANTHROPIC_AUTH_TOKEN` | `--base-url`, `ANTHROPIC_BASE_URL`, " +
			"else Anthropic's | `" + defaultAnthropicModel + "`",
		open:        newAnthropic,
		server:      "an Anthropic server",
		address:     anthropicURL,
		addressHint: "set --base-url or ANTHROPIC_BASE_URL to the address before /v1/messages",
		reachHint:   checkNetwork,
		models:      "/v1/models",
	}
}

func newAnthropic(options Options) (Provider, error) {
	base := cmp.Or(options.BaseURL, options.Getenv("ANTHROPIC_BASE_URL"), anthropicURL)
	end, err := newEndpoint(options, Anthropic, cmp.Or(options.Model, defaultAnthropicModel), base)
	if err != nil {
		return nil, err
	}
	// The address may be written as for the SDKs, as for OpenAI, or in full.
	end.base = strings.TrimSuffix(strings.TrimSuffix(end.base, "/messages"), "/v1")
	return &anthropicClient{endpoint: end}, nil
}

func (a *anthropicClient) Format() convert.Format { return convert.Anthropic }

func (a *anthropicClient) Check() error {
	if a.key == "" {
		return a.failure(NoKey, "", nil)
	}
	return nil
}

func (a *anthropicClient) Body(request Request) json.RawMessage {
	limit := int64(anthropicMaxTokens)
	for _, less := range []int64{request.MaxTokens, a.most.Load()} { // models have different limits
		if less > 0 {
			limit = min(limit, less)
		}
	}
	var system json.RawMessage
	if request.System != "" {
		system = rawjson.Quote(request.System)
	}
	return rawjson.Build("model", a.model, "max_tokens", limit, "system", system,
		"messages", rawjson.Array(request.Messages), "tools", request.Tools, "stream", true)
}

func (a *anthropicClient) Turn(ctx context.Context, request Request, emit func(Event)) (*Turn, error) {
	response, err := a.post(ctx, "/v1/messages", a.Body(request), a.header)
	if most := mostTokens(err); most > 0 && a.most.Swap(most) != most {
		response, err = a.post(ctx, "/v1/messages", a.Body(request), a.header)
	}
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer := &anthropicAnswer{endpoint: a.endpoint, emit: emit}
	if err := a.receive(response, answer); err != nil {
		return nil, err
	}
	return answer.finish(), nil
}

// mostTokens reads the limit from the error of a model that does not support such a length ("max_tokens: 16384 > 4096,
// which is the maximum …"); zero if err is another.
func mostTokens(err error) int64 {
	var failure *Failure
	if !errors.As(err, &failure) || failure.Reason != BadRequest {
		return 0
	}
	var asked, most int64
	_, numbers, _ := strings.Cut(failure.Detail, "max_tokens: ")
	if _, err := fmt.Sscanf(numbers, "%d > %d", &asked, &most); err != nil {
		return 0
	}
	return most
}

// header sets the version of the API and the key.
func (a *anthropicClient) header(header http.Header) {
	header.Set("Accept", "text/event-stream")
	header.Set("Anthropic-Version", anthropicVersion)
	if a.variable == anthropicToken {
		bearer(a.key)(header)
		return
	}
	header.Set("X-Api-Key", a.key)
}

// anthropicEvent is one event of the stream, with the members that toolx reads.
type anthropicEvent struct {
	Type  string          `json:"type"`
	Index int             `json:"index"`
	Block json.RawMessage `json:"content_block"`
	Delta json.RawMessage `json:"delta"`
	Usage *struct {
		Output int `json:"output_tokens"`
	} `json:"usage"`
	Message struct {
		Usage anthropicUsage `json:"usage"`
	} `json:"message"`
}

// anthropicUsage counts tokens. Cached input tokens are counted separately.
type anthropicUsage struct {
	Input   int `json:"input_tokens"`
	Read    int `json:"cache_read_input_tokens"`
	Written int `json:"cache_creation_input_tokens"`
	Output  int `json:"output_tokens"`
}

func (u anthropicUsage) input() int { return u.Input + u.Read + u.Written }

// anthropicAnswer joins the events of one answer.
type anthropicAnswer struct {
	*endpoint
	emit   func(Event)
	said   speech
	blocks []*anthropicBlock
	usage  Usage
	reason string
}

// anthropicBlock is a content block. The input of a tool comes as pieces of JSON text.
type anthropicBlock struct {
	fragment
	number int // which the events call its index
	input  bytes.Buffer
}

func (a *anthropicAnswer) stopped() bool { return a.reason != "" }

// readWhole reads an answer that was not streamed as the equivalent events.
func (a *anthropicAnswer) readWhole(whole []byte) error {
	var message struct {
		Type    string            `json:"type"`
		Content []json.RawMessage `json:"content"`
		Reason  string            `json:"stop_reason"`
		Usage   anthropicUsage    `json:"usage"`
	}
	err := json.Unmarshal(whole, &message)
	switch {
	case message.Type == "error":
		return a.inStream(whole)
	case err != nil, message.Reason == "" && len(message.Content) == 0:
		return a.noAnswer(whole)
	}
	for i, block := range message.Content {
		a.begin(i, block)
	}
	a.reason = message.Reason
	a.usage = Usage{Input: message.Usage.input(), Output: message.Usage.Output}
	return nil
}

// read reads one event. Its data repeats the event's name, which gateways drop; some also drop message_stop. A member
// with an unexpected type is ignored.
func (a *anthropicAnswer) read(raw []byte) (done bool, err error) {
	switch {
	case string(raw) == "[DONE]":
		return false, nil
	case !json.Valid(raw):
		return false, a.broken("an event is not JSON", nil)
	}
	var event anthropicEvent
	_ = json.Unmarshal(raw, &event)
	switch event.Type {
	case "error":
		return false, a.inStream(raw)
	case "message_start":
		a.usage.Input = event.Message.Usage.input()
	case "content_block_start":
		a.begin(event.Index, orText(event.Block, "{}"))
	case "content_block_delta":
		if block := a.block(event.Index); block != nil {
			block.add(event.Delta)
			a.pass(event.Delta)
		}
	case "message_delta":
		if event.Usage != nil {
			a.usage.Output = event.Usage.Output
		}
		a.reason = cmp.Or(rawjson.GetText(event.Delta, "stop_reason"), a.reason)
	case "message_stop":
		return true, nil
	}
	return false, nil
}

// begin adds a content block with its first content.
func (a *anthropicAnswer) begin(index int, content json.RawMessage) {
	block := &anthropicBlock{number: index}
	block.merge("", content)
	a.blocks = append(a.blocks, block)
	a.pass(content)
}

// block returns the last block that began under an index; nil if there is none. Some gateways do not count from zero.
func (a *anthropicAnswer) block(index int) *anthropicBlock {
	for _, block := range slices.Backward(a.blocks) {
		if block.number == index {
			return block
		}
	}
	return nil
}

// pass passes on the text and the thoughts of a delta, or of a block's start.
func (a *anthropicAnswer) pass(piece json.RawMessage) {
	for member := range rawjson.Each(piece) {
		if !rawjson.IsString(member.Value) {
			continue
		}
		switch member.Name {
		case "text":
			a.said.say(rawjson.Unquote(member.Value), a.emit)
		case "thinking":
			a.said.think(rawjson.Unquote(member.Value), a.emit)
		}
	}
}

// add joins a delta to the block: its members are those of the block, except for a tool's input and a citation, which
// is one of several.
func (b *anthropicBlock) add(delta json.RawMessage) {
	for member := range rawjson.Each(delta) {
		switch member.Name {
		case "type":
		case "partial_json":
			b.input.WriteString(rawjson.Unquote(member.Value))
		case "citation":
			b.member("citations", rawjson.Quote("citations")).merge("", rawjson.Array([]json.RawMessage{member.Value}))
		default:
			b.member(member.Name, member.Key).merge(member.Name, member.Value)
		}
	}
}

// isMute reports whether the block is empty text, which the API refuses in the next request.
func (b *anthropicBlock) isMute() bool {
	return string(b.get("type")) == `"text"` && b.isEmpty("text")
}

// content returns the block as the next request repeats it, and as the model wrote it. They differ where the input of a
// tool is not a JSON object, which the API refuses.
func (b *anthropicBlock) content() (repeated, written json.RawMessage) {
	switch input := b.input.Bytes(); {
	case len(input) == 0:
	case json.Valid(input) && kindOf(input) == '{':
		b.set("input", input)
	default:
		b.set("input", rawjson.Quote(string(input)))
		written = b.json()
		b.set("input", argumentsOf(written, convert.Anthropic))
		return b.json(), written
	}
	return b.json(), b.json()
}

// finish returns the complete answer.
func (a *anthropicAnswer) finish() *Turn {
	stops := map[string]Stop{
		"max_tokens": StopLength, "model_context_window_exceeded": StopLength, "refusal": StopRefused,
		"pause_turn": StopPause,
	}
	turn := &Turn{Text: a.said.text.String(), Stop: cmp.Or(stops[a.reason], StopEnd), Reason: a.reason, Usage: a.usage}
	var repeated, written []json.RawMessage
	for _, block := range a.blocks {
		if !block.isMute() {
			again, wrote := block.content()
			repeated, written = append(repeated, again), append(written, wrote)
		}
	}
	if len(repeated) > 0 {
		turn.Message, turn.Calls = assistantMessage(repeated), assistantMessage(written)
	}
	return turn
}

// assistantMessage returns the model's message for the history.
func assistantMessage(content []json.RawMessage) json.RawMessage {
	return rawjson.Build("role", "assistant", "content", rawjson.Array(content))
}
