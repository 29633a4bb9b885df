package ai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"toolx/pkg/convert"
	"toolx/pkg/rawjson"
)

// anthropicClient speaks Anthropic's messages API
// (https://docs.anthropic.com/en/docs/build-with-claude/streaming). Of the official
// SDK it uses the stream of events alone; bodies are written and events joined here,
// so that blocks of any type go back as they came. The SDK's root package would add
// its types, OpenTelemetry and 8 MB to the start of every verb.
type anthropicClient struct{ *endpoint }

const (
	// anthropicURL is Anthropic's own address.
	anthropicURL = "https://api.anthropic.com"
	// defaultAnthropicModel is the one that its maker names for tools and agents at a fair price.
	defaultAnthropicModel = "claude-sonnet-5-5"
	// anthropicVersion is the revision of the API that toolx speaks
	// (https://docs.anthropic.com/en/api/versioning).
	anthropicVersion = "2023-06-01"
	// anthropicMaxTokens bounds an answer, which the API wants to be told.
	anthropicMaxTokens = 16384
)

func newAnthropic(options Options) (*anthropicClient, error) {
	base := cmp.Or(options.BaseURL, options.Getenv("ANTHROPIC_BASE_URL"), anthropicURL)
	end, err := newEndpoint(options, Anthropic, cmp.Or(options.Model, defaultAnthropicModel), base, "ANTHROPIC_API_KEY")
	if err != nil {
		return nil, err
	}
	end.base = strings.TrimSuffix(end.base, "/v1") // as the SDKs take it, and as OpenAI's is given
	client := &anthropicClient{end}
	if token := strings.TrimSpace(options.Getenv("ANTHROPIC_AUTH_TOKEN")); end.key == "" && token != "" {
		end.key, end.variable = token, "ANTHROPIC_AUTH_TOKEN"
	}
	return client, nil
}

func (a *anthropicClient) Name() string           { return Anthropic }
func (a *anthropicClient) Model() string          { return a.model }
func (a *anthropicClient) Format() convert.Format { return convert.Anthropic }

func (a *anthropicClient) Check() error {
	if a.key == "" {
		return a.failure(NoKey, "", nil)
	}
	return nil
}

func (a *anthropicClient) Body(request Request) (json.RawMessage, error) {
	limit := int64(anthropicMaxTokens)
	if request.MaxTokens > 0 { // models differ in what they can be asked for
		limit = min(limit, request.MaxTokens)
	}
	members := []rawjson.Member{
		rawjson.NewMember("model", rawjson.Quote(a.model)),
		rawjson.NewMember("max_tokens", json.RawMessage(strconv.FormatInt(limit, 10))),
	}
	if request.System != "" {
		members = append(members, rawjson.NewMember("system", rawjson.Quote(request.System)))
	}
	members = append(members, rawjson.NewMember("messages", rawjson.Array(request.Messages)))
	if request.Tools != nil {
		members = append(members, rawjson.NewMember("tools", request.Tools))
	}
	return rawjson.Object(append(members, rawjson.NewMember("stream", json.RawMessage("true")))), nil
}

func (a *anthropicClient) Turn(ctx context.Context, request Request, emit func(Event)) (*Turn, error) {
	body, err := a.Body(request)
	if err != nil {
		return nil, err
	}
	response, err := a.post(ctx, "/v1/messages", body, a.header)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	stream := ssestream.NewStream[json.RawMessage](ssestream.NewDecoder(response), nil)
	answer := &anthropicAnswer{endpoint: a.endpoint, emit: emit}
	for stream.Next() {
		answer.take(stream.Current())
	}
	if err := stream.Err(); err != nil {
		return nil, a.streamFailure(err)
	}
	return answer.finish()
}

// header names the version of the API, and shows the key.
func (a *anthropicClient) header(header http.Header) {
	header.Set("Accept", "text/event-stream")
	header.Set("Anthropic-Version", anthropicVersion)
	if a.variable == "ANTHROPIC_AUTH_TOKEN" {
		bearer(a.key)(header)
		return
	}
	header.Set("X-Api-Key", a.key)
}

// streamFailure reads the errors of the SDK's stream: an error event, an event that
// is no JSON, or a connection that broke.
func (a *anthropicClient) streamFailure(err error) error {
	var said interface{ RawJSON() string } // the SDK's error of the API
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &said):
		return a.inStream([]byte(said.RawJSON()))
	case errors.As(err, &syntax):
		return a.broken("an event of it is no JSON", nil)
	}
	return a.broken("", err)
}

// anthropicEvent is one event of the stream, as far as its form is known.
type anthropicEvent struct {
	Type  string          `json:"type"`
	Index int             `json:"index"`
	Block json.RawMessage `json:"content_block"`
	Delta json.RawMessage `json:"delta"`
	Usage *struct {
		Output int `json:"output_tokens"`
	} `json:"usage"`
	Message struct {
		Usage struct {
			Input   int `json:"input_tokens"`
			Read    int `json:"cache_read_input_tokens"`
			Written int `json:"cache_creation_input_tokens"`
		} `json:"usage"`
	} `json:"message"`
}

// anthropicAnswer joins the events of one answer.
type anthropicAnswer struct {
	*endpoint
	emit   func(Event)
	said   talk
	blocks []*anthropicBlock
	usage  Usage
	reason string
	ended  bool
}

// anthropicBlock is a content block. The input of a tool comes as pieces of JSON
// text.
type anthropicBlock struct {
	fragment
	input bytes.Buffer
}

func (a *anthropicAnswer) take(raw []byte) {
	var event anthropicEvent
	// The SDK has decoded it before: it is JSON, and a member that has another type
	// than expected is left out.
	_ = json.Unmarshal(raw, &event)
	switch event.Type {
	case "message_start":
		used := event.Message.Usage
		a.usage.Input = used.Input + used.Read + used.Written
	case "content_block_start":
		block := &anthropicBlock{}
		block.merge("", cmpRaw(event.Block, "{}"))
		a.blocks = append(a.blocks, block)
		a.tell(event.Block)
	case "content_block_delta":
		if event.Index >= 0 && event.Index < len(a.blocks) {
			a.blocks[event.Index].add(event.Delta)
			a.tell(event.Delta)
		}
	case "message_delta":
		if event.Usage != nil {
			a.usage.Output = event.Usage.Output
		}
		for member := range rawjson.Each(event.Delta) {
			if member.Name == "stop_reason" && rawjson.IsString(member.Value) {
				a.reason = rawjson.Unquote(member.Value)
			}
		}
	case "message_stop":
		a.ended = true
	}
}

// tell passes on the text and the thoughts of a block's beginning, or of a delta.
func (a *anthropicAnswer) tell(piece json.RawMessage) {
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

// add joins a delta to the block: its members are those of the block, but for a
// tool's input and a citation, which is one of several.
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

// content is the block as the next request repeats it; ok is false where it must
// not: a text without text is refused.
func (b *anthropicBlock) content() (block json.RawMessage, ok bool) {
	if b.input.Len() > 0 {
		b.set("input", b.input.Bytes())
	}
	empty := string(b.get("type")) == `"text"` && string(cmpRaw(b.get("text"), `""`)) == `""`
	return b.json(), !empty
}

// finish is the answer, once all of it has come.
func (a *anthropicAnswer) finish() (*Turn, error) {
	if !a.ended {
		return nil, a.broken("the connection was closed", nil)
	}
	turn := &Turn{Text: a.said.text.String(), Stop: anthropicStop(a.reason), Reason: a.reason, Usage: a.usage}
	var content []json.RawMessage
	for _, block := range a.blocks {
		if block.input.Len() > 0 && (!json.Valid(block.input.Bytes()) || kindOf(block.input.Bytes()) != '{') {
			if turn.Stop == StopLength {
				return nil, a.failure(CutOff, "", nil)
			}
			return nil, a.broken("the arguments of a tool call are no JSON object", nil)
		}
		if one, ok := block.content(); ok {
			content = append(content, one)
		}
	}
	if len(content) > 0 {
		turn.Message = rawjson.Object([]rawjson.Member{
			rawjson.NewMember("role", rawjson.Quote("assistant")), rawjson.NewMember("content", rawjson.Array(content)),
		})
	}
	return turn, nil
}

func anthropicStop(reason string) Stop {
	switch reason {
	case "max_tokens", "model_context_window_exceeded":
		return StopLength
	case "refusal":
		return StopRefused
	case "pause_turn":
		return StopPause
	}
	return StopEnd
}
