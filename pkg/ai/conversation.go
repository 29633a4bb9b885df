package ai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"toolx/pkg/convert"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
)

// The default limits of a conversation.
const (
	DefaultMaxTurns   = 16
	defaultMaxResult  = 64 << 10
	defaultMaxHistory = 128 << 10 // some 32,000 tokens
)

// Conversation is a conversation with a model that may call tools. Its fields are set before the first question and
// do not change. Questions are asked one at a time; each includes the conversation so far.
type Conversation struct {
	Provider Provider
	Executor *exec.Executor
	// Tools returns, for every turn, the tools that the model may call; nil means none. No other tool runs.
	Tools func() []*exec.Tool
	// System are instructions to the model; may be empty.
	System string
	// MaxTokens limits each turn of the model; see Request.
	MaxTokens int64
	// MaxTurns is how often the model is asked for one answer, MaxResult the size in bytes at which a result is cut for
	// it, MaxHistory the size up to which earlier questions are part of a new one; the oldest are forgotten first, and
	// more of them if the provider reports that it is too long. Zero means the defaults; less than zero means no limit.
	MaxTurns   int
	MaxResult  int
	MaxHistory int
	// TextCalls runs the calls that a model writes as plain text, see WroteCalls; their results go back as text.
	TextCalls bool
	// Confirm is asked before a tool runs that is marked as destructive (see Destructive); nil refuses. The reason for
	// a refusal goes to the model.
	Confirm func(ctx context.Context, tool *exec.Tool, arguments json.RawMessage) (refusal error)
	// Ready is called before a tool runs and returns the current tool: its server may have exited and need a restart.
	// nil means that tools are ready. An error goes to the model.
	Ready func(ctx context.Context, tool *exec.Tool) (*exec.Tool, error)
	// Unreached returns why the server in a qualified name has no tools to offer; nil if it has, or if there is no such
	// server. nil means that all servers were reached.
	Unreached func(name string) error
	// On receives the events; may be nil. It must not ask this conversation.
	On func(Event)
	// Sleep waits between attempts; nil is a plain wait that ctx ends.
	Sleep func(ctx context.Context, d time.Duration) error

	events  sync.Mutex
	history [][]json.RawMessage // for each question, all messages from it to its answer
	offered []string
	full    bool // see Overfull
	unnamed int  // calls whose provider gave no id, see CallStarted
}

// Ask asks the model and lets it call tools until it has an answer. The error is an *exec.InterruptedError when ctx
// ends, else a *Failure or an error of the conversion.
//
// The conversation can continue after an error. What the model did stays part of it, unless the provider refused it: it
// would refuse it again.
func (c *Conversation) Ask(ctx context.Context, question string) (*Answer, error) {
	return c.answer(ctx, []json.RawMessage{textMessage("user", question)})
}

// answer asks the model to continue after the messages of asked.
func (c *Conversation) answer(ctx context.Context, asked []json.RawMessage) (*Answer, error) {
	answer := &Answer{}
	c.forgetBeyond(cmp.Or(c.MaxHistory, defaultMaxHistory))
	exchange, err := c.loop(ctx, asked, answer)
	switch {
	case err == nil:
		c.history = append(c.history, exchange)
		c.emit(Done{Answer: *answer})
		return answer, nil
	case len(exchange) > len(asked) && lasting(err):
		// Some providers require an answer to every question before the next.
		c.history = append(c.history, append(exchange, textMessage("assistant", "(no answer: "+err.Error()+")")))
	}
	return nil, err
}

// lasting reports whether an exchange is kept after err, because it did not cause it.
func lasting(err error) bool {
	kinds := []fault.Kind{fault.KindConnect, fault.KindProtocol, fault.KindTimeout, fault.KindInterrupted}
	return slices.Contains(kinds, fault.KindOf(err)) || reasonOf(err) == TooManyTurns
}

// reasonOf returns the reason of a Failure, empty for other errors.
func reasonOf(err error) Reason {
	var failure *Failure
	if errors.As(err, &failure) {
		return failure.Reason
	}
	return ""
}

// forgetBeyond drops the oldest questions, with their answers, until at most limit bytes are left; a negative limit
// keeps all.
func (c *Conversation) forgetBeyond(limit int) {
	size := 0
	for i := len(c.history) - 1; i >= 0; i-- {
		for _, message := range c.history[i] {
			size += len(message)
		}
		if limit >= 0 && size > limit {
			c.forget(i + 1)
			return
		}
	}
}

// forget drops the n oldest questions.
func (c *Conversation) forget(n int) {
	c.history = slices.Clone(c.history[n:])
	c.emit(Forgotten{Questions: n})
}

// forgetHalf drops the older half of the questions, one at least.
func (c *Conversation) forgetHalf() { c.forget((len(c.history) + 1) / 2) }

// Request returns the body that asking this question would send (--dry-run).
func (c *Conversation) Request(question string) json.RawMessage {
	return c.Provider.Body(c.request([]json.RawMessage{textMessage("user", question)}, c.offer()))
}

// loop asks until the model calls no more tools. It returns the exchange, which begins with the question, up to the
// last call with a result, also with an error.
func (c *Conversation) loop(
	ctx context.Context, exchange []json.RawMessage, answer *Answer,
) ([]json.RawMessage, error) {
	limit := cmp.Or(c.MaxTurns, DefaultMaxTurns)
	for limit < 0 || answer.Turns < limit {
		offer := c.offer() // converted at the moment of sending (CONV-5)
		turn, calls, err := c.turn(ctx, answer, exchange, offer)
		if reasonOf(err) == TooLong && len(c.history) > 0 {
			c.forgetHalf()
			continue
		}
		if err != nil {
			return exchange, err
		}
		done := exchange
		if turn.Message != nil {
			exchange = append(exchange, turn.Message)
		}
		if len(calls) == 0 && turn.Stop != StopPause {
			answer.Text, answer.Stop = turn.Text, turn.Stop
			return exchange, nil
		}
		results, err := c.results(ctx, offer, calls, turn.written)
		if err != nil {
			return done, err
		}
		exchange = append(exchange, results...)
		answer.Calls += len(calls)
	}
	return exchange, &Failure{
		Provider: c.Provider.Name(), Model: c.Provider.Model(), Reason: TooManyTurns,
		Turns: limit,
	}
}

// results returns the results of a turn's calls as messages. For calls that were written as text they are the user's
// text: no provider accepts a result without its call.
func (c *Conversation) results(
	ctx context.Context, offer *offer, calls []convert.ToolCall, asText bool,
) ([]json.RawMessage, error) {
	if len(calls) == 0 {
		return nil, nil
	}
	results := c.run(ctx, offer, calls)
	if ctx.Err() != nil {
		return nil, &exec.InterruptedError{}
	}
	format := c.Provider.Format()
	if asText {
		format = convert.Hermes
	}
	written, err := convert.WriteResults(format, results)
	if err != nil {
		return nil, fmt.Errorf("the results of the tools cannot be written for %s: %w", c.Provider.Name(), err)
	}
	if asText {
		return []json.RawMessage{textMessage("user", string(written))}, nil
	}
	if messages, is := rawjson.Elements(written); is {
		return messages, nil
	}
	return []json.RawMessage{written}, nil // some formats have one message for all
}

// request returns the conversation so far, with the current exchange. If the provider would cut it silently, the oldest
// questions are forgotten; what is still too much is reported.
func (c *Conversation) request(exchange []json.RawMessage, offer *offer) Request {
	for {
		messages := slices.Concat(slices.Concat(c.history...), exchange)
		request := Request{System: c.System, Messages: messages, Tools: offer.document, MaxTokens: c.MaxTokens}
		tokens, context := c.size(request)
		full := context > 0 && tokens > context
		if full && len(c.history) > 0 {
			c.forgetHalf()
			continue
		}
		if full && !c.full {
			c.emit(Overfull{Tokens: tokens, Context: context})
		}
		c.full = full
		return request
	}
}

// size returns how many tokens a request takes, and the size at which the provider cuts it: zero if the provider
// refuses long requests, as most do.
func (c *Conversation) size(request Request) (tokens, context int) {
	if cutter, is := c.Provider.(interface {
		size(Request) (tokens, context int)
	}); is {
		return cutter.size(request)
	}
	return 0, 0
}

// turn asks once, reports how it went, and reads the calls.
func (c *Conversation) turn(
	ctx context.Context, answer *Answer, exchange []json.RawMessage, offer *offer,
) (*Turn, []convert.ToolCall, error) {
	request := c.request(exchange, offer)
	c.emit(TurnStarted{Turn: answer.Turns + 1})
	turn, err := c.attempts(ctx, request)
	if err != nil {
		return nil, nil, err
	}
	answer.Turns++
	answer.Usage = answer.Usage.add(turn.Usage)
	var calls []convert.ToolCall
	if turn.Message != nil {
		message, err := convert.ReadCalls(orText(turn.Calls, string(turn.Message)), c.Provider.Format())
		if err != nil {
			return nil, nil, &Failure{
				Provider: c.Provider.Name(), Model: c.Provider.Model(), Reason: Broken,
				Detail: err.Error(), Partial: turn.Text,
			}
		}
		calls = message.Calls
	}
	written := offer.written(turn, calls)
	if turn.written = c.TextCalls && len(written) > 0; turn.written {
		calls = written
	}
	c.emit(TurnFinished{Turn: answer.Turns, Stop: turn.Stop, Reason: turn.Reason, Usage: turn.Usage, Calls: len(calls)})
	if len(written) > 0 && !turn.written {
		c.emit(WroteCalls{Calls: written})
	}
	return turn, calls, c.judgeStop(turn, calls)
}

// judgeStop turns a stop without an answer into a failure.
func (c *Conversation) judgeStop(turn *Turn, calls []convert.ToolCall) error {
	failure := &Failure{Provider: c.Provider.Name(), Model: c.Provider.Model(), Partial: turn.Text}
	if turn.Reason != "stop" { // which gives no reason
		failure.Detail = turn.Reason
	}
	cut := func(call convert.ToolCall) bool { return call.Err != nil }
	switch {
	case turn.Stop == StopRefused:
		failure.Reason = Refused
	case turn.Stop == StopLength && slices.ContainsFunc(calls, cut):
		failure.Reason = CutOff
	default:
		return nil
	}
	return failure
}

// The pauses between attempts double, unless the server sets one.
const (
	maxAttempts  = 4
	firstPause   = time.Second
	longestPause = time.Minute
)

// attempts sends a request until it is answered. It does not retry after part of the answer was passed on (thoughts do
// not count), or if the server asks for a very long pause.
func (c *Conversation) attempts(ctx context.Context, request Request) (*Turn, error) {
	pause := firstPause
	for attempt := 1; ; attempt++ {
		var partial strings.Builder
		begun := false
		turn, err := c.Provider.Turn(ctx, request, func(event Event) {
			if delta, is := event.(TextDelta); is {
				begun = true
				partial.WriteString(delta.Text)
			}
			c.emit(event)
		})
		if err == nil {
			return turn, nil
		}
		if ctx.Err() != nil {
			return nil, &exec.InterruptedError{}
		}
		var failure *Failure
		if !errors.As(err, &failure) {
			return nil, err
		}
		failure.Attempts, failure.Partial = attempt, partial.String()
		if !failure.retry || begun || attempt == failure.maxAttempts() || failure.RetryAfter > longestPause {
			return nil, err
		}
		wait := cmp.Or(failure.RetryAfter, pause)
		pause *= 2
		c.emit(Retrying{Attempt: attempt, Delay: wait, Err: failure})
		if c.sleep(ctx, wait) != nil {
			return nil, &exec.InterruptedError{}
		}
	}
}

func (c *Conversation) sleep(ctx context.Context, d time.Duration) error {
	if c.Sleep != nil {
		return c.Sleep(ctx, d)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// emit passes on events one at a time: calls run in parallel.
func (c *Conversation) emit(event Event) {
	if c.On == nil {
		return
	}
	c.events.Lock()
	defer c.events.Unlock()
	c.On(event)
}

// Said is a message of a conversation with another client.
type Said struct {
	Role   string // "user" or "assistant"
	Blocks []exec.Block
}

// Continue asks the model to continue a conversation. It is Ask with more than a question. If the provider does not
// support a part of it, such as audio, the error says so and nothing is sent.
func (c *Conversation) Continue(ctx context.Context, said []Said) (*Answer, error) {
	exchange := make([]json.RawMessage, len(said))
	for i, one := range said {
		var err error
		if exchange[i], err = one.message(c.Provider.Name()); err != nil {
			return nil, err
		}
	}
	return c.answer(ctx, exchange)
}

// message returns a message in the form of a provider. Text alone has the same form everywhere.
func (s Said) message(provider string) (json.RawMessage, error) {
	if s.Role != "user" && s.Role != "assistant" {
		return nil, fmt.Errorf("the role %q is unknown", s.Role)
	}
	if !slices.ContainsFunc(s.Blocks, func(block exec.Block) bool { return block.Type != "text" }) {
		return textMessage(s.Role, s.text()), nil
	}
	if provider == Ollama {
		return s.ollama()
	}
	parts := make([]json.RawMessage, len(s.Blocks))
	for i, block := range s.Blocks {
		part := openAIPart
		if provider == Anthropic {
			part = anthropicPart
		}
		if parts[i] = part(block); parts[i] == nil || s.Role != "user" && block.Type != "text" {
			return nil, s.refusal(provider, block)
		}
	}
	return rawjson.Build("role", s.Role, "content", rawjson.Array(parts)), nil
}

// text returns the texts, one per line.
func (s Said) text() string {
	var texts []string
	for _, block := range s.Blocks {
		if block.Type == "text" {
			texts = append(texts, block.Text())
		}
	}
	return strings.Join(texts, "\n")
}

// refusal returns the error for what a provider does not support.
func (s Said) refusal(provider string, block exec.Block) error {
	what := fmt.Sprintf("content of the type %q", block.Type)
	if block.MIMEType != "" {
		what += fmt.Sprintf(" (%s)", block.MIMEType)
	}
	return fmt.Errorf("%s takes no %s from the role %q", provider, what, s.Role)
}

// ollama has images beside the text (api/chat), of any type that the model supports.
func (s Said) ollama() (json.RawMessage, error) {
	var images []json.RawMessage
	for _, block := range s.Blocks {
		switch {
		case block.Type == "text":
		case isImage(block) && s.Role == "user":
			images = append(images, rawjson.Quote(block.Base64()))
		default:
			return nil, s.refusal(Ollama, block)
		}
	}
	return rawjson.Build("role", s.Role, "content", s.text(), "images", rawjson.Array(images)), nil
}

// anthropicPart returns a block of the messages API, which supports four types of images; nil for other content.
func anthropicPart(block exec.Block) json.RawMessage {
	switch {
	case block.Type == "text":
		return textPart(rawjson.Quote(block.Text()))
	case isImage(block) && slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"},
		block.MIMEType):
		source := rawjson.Build("type", "base64", "media_type", block.MIMEType, "data", block.Base64())
		return rawjson.Build("type", "image", "source", source)
	}
	return nil
}

// openAIPart returns a part of chat completions' content: text, an image, or audio in two formats; nil for other
// content.
func openAIPart(block exec.Block) json.RawMessage {
	sound := map[string]string{
		"audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav", "audio/mpeg": "mp3",
		"audio/mp3": "mp3",
	}
	switch {
	case block.Type == "text":
		return textPart(rawjson.Quote(block.Text()))
	case isImage(block):
		url := "data:" + block.MIMEType + ";base64," + block.Base64()
		return rawjson.Build("type", "image_url", "image_url", rawjson.Build("url", url))
	case block.Type == "audio" && block.Base64() != "" && sound[block.MIMEType] != "":
		return rawjson.Build("type", "input_audio", "input_audio",
			rawjson.Build("data", block.Base64(), "format", sound[block.MIMEType]))
	}
	return nil
}

func isImage(block exec.Block) bool {
	return block.Type == "image" && block.Base64() != "" && strings.HasPrefix(block.MIMEType, "image/")
}
