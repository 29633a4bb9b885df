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
	"toolx/pkg/rawjson"
)

// The limits of a conversation where its fields do not say otherwise.
const (
	DefaultMaxTurns  = 16
	DefaultMaxResult = 64 << 10
)

// Conversation is a talk with a model that may call tools. Its fields are set
// before the first question and not changed after. Questions are asked one at a
// time; what was said before is part of each.
type Conversation struct {
	Provider Provider
	Executor *exec.Executor
	// Tools gives the tools that the model may call; it is asked at every turn, and
	// nil means none. No other tool runs, whatever the model says.
	Tools func() []*exec.Tool
	// System are instructions to the model; may be empty.
	System string
	// MaxTurns is how often the model is asked for one answer, MaxResult the size in
	// bytes at which a result is cut for it. Zero means the defaults; less than zero
	// means never.
	MaxTurns  int
	MaxResult int
	// Confirm is asked before a tool runs that says of itself that it is destructive
	// (see Destructive); nil refuses. The reason of a refusal is told to the model.
	Confirm func(ctx context.Context, tool *exec.Tool, arguments json.RawMessage) (refusal error)
	// On gets the events; may be nil. It must not ask this conversation.
	On func(Event)
	// Sleep waits between attempts; nil is a plain wait that ctx ends.
	Sleep func(ctx context.Context, d time.Duration) error

	events  sync.Mutex
	history []json.RawMessage
	offered []string
}

// Ask asks the model and lets it call tools until it has an answer. The error is
// an *exec.InterruptedError when ctx ends, else a *Failure or what the conversion
// says.
//
// After an error the conversation can go on. What the model did before is kept, so
// that it knows of it, unless the provider refused the whole: that history would be
// refused again.
func (c *Conversation) Ask(ctx context.Context, question string) (*Answer, error) {
	answer := &Answer{}
	begun := len(c.history)
	history := append(slices.Clip(c.history), textMessage("user", question))
	history, err := c.loop(ctx, history, answer)
	switch {
	case err == nil:
		c.history = history
		c.emit(Done{Answer: *answer})
		return answer, nil
	case len(history) > begun+1 && lasting(err):
		// Some providers want every question to be answered before the next.
		c.history = append(history, textMessage("assistant", "(no answer: "+err.Error()+")"))
	}
	return nil, err
}

// lasting says that a history is worth keeping after err: it was not the reason.
func lasting(err error) bool {
	switch exec.KindOf(err) {
	case exec.KindConnect, exec.KindProtocol, exec.KindTimeout, exec.KindInterrupted:
		return true
	}
	var failure *Failure
	return errors.As(err, &failure) && failure.Reason == TooManyTurns
}

// Request is the body that asking this question would send (--dry-run).
func (c *Conversation) Request(question string) (json.RawMessage, error) {
	history := append(slices.Clip(c.history), textMessage("user", question))
	return c.Provider.Body(c.request(history, c.offer()))
}

// loop asks until the model wants no more tools. history is returned as far as
// every call in it has its result, also with an error.
func (c *Conversation) loop(ctx context.Context, history []json.RawMessage, answer *Answer) ([]json.RawMessage, error) {
	limit := cmp.Or(c.MaxTurns, DefaultMaxTurns)
	for limit < 0 || answer.Turns < limit {
		answer.Turns++
		offer := c.offer() // converted at the moment of sending (CONV-5)
		turn, calls, err := c.turn(ctx, answer, c.request(history, offer))
		if err != nil {
			return history, err
		}
		if turn.Message != nil {
			history = append(history, turn.Message)
		}
		if len(calls) == 0 {
			if turn.Stop == StopPause {
				continue
			}
			answer.Text, answer.Stop = turn.Text, turn.Stop
			return history, nil
		}
		answer.Calls += len(calls)
		results := c.run(ctx, offer, calls)
		if ctx.Err() != nil {
			return history[:len(history)-1], &exec.InterruptedError{}
		}
		written, err := convert.WriteResults(c.Provider.Format(), results)
		if err != nil {
			return history[:len(history)-1], fmt.Errorf("the results of the tools cannot be written for %s: %w", c.Provider.Name(), err)
		}
		history = append(history, messagesOf(written)...)
	}
	return history, &Failure{Provider: c.Provider.Name(), Model: c.Provider.Model(), Reason: TooManyTurns, Turns: limit}
}

// messagesOf cuts results into messages: some formats have one for each, some one
// for all.
func messagesOf(written []byte) []json.RawMessage {
	if messages, is := rawjson.Elements(written); is {
		return messages
	}
	return []json.RawMessage{written}
}

func (c *Conversation) request(history []json.RawMessage, offer *offer) Request {
	return Request{System: c.System, Messages: history, Tools: offer.document}
}

// turn asks once, tells how it went, and reads the calls.
func (c *Conversation) turn(ctx context.Context, answer *Answer, request Request) (*Turn, []convert.ToolCall, error) {
	c.emit(TurnStarted{Turn: answer.Turns})
	turn, err := c.attempts(ctx, request)
	if err != nil {
		return nil, nil, err
	}
	answer.Usage = answer.Usage.add(turn.Usage)
	var calls []convert.ToolCall
	if turn.Message != nil {
		message, err := convert.ReadCalls(turn.Message, c.Provider.Format())
		if err != nil {
			return nil, nil, &Failure{
				Provider: c.Provider.Name(), Model: c.Provider.Model(), Reason: Broken,
				Detail: err.Error(), Partial: turn.Text,
			}
		}
		calls = message.Calls
	}
	c.emit(TurnFinished{Turn: answer.Turns, Stop: turn.Stop, Reason: turn.Reason, Usage: turn.Usage, Calls: len(calls)})
	return turn, calls, c.judgeStop(turn, calls)
}

// judgeStop makes failures of endings that are no answer.
func (c *Conversation) judgeStop(turn *Turn, calls []convert.ToolCall) error {
	failure := &Failure{
		Provider: c.Provider.Name(), Model: c.Provider.Model(),
		Detail: turn.Reason, Partial: turn.Text,
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

// The pauses between attempts, where the server does not say how long: they double.
const (
	maxAttempts  = 4
	firstPause   = time.Second
	longestPause = time.Minute
)

// attempts sends a request until it is answered. It is sent again only while
// nothing of an answer was passed on, and not where the server wants to be left
// alone for longer than anyone would wait.
func (c *Conversation) attempts(ctx context.Context, request Request) (*Turn, error) {
	pause := firstPause
	for attempt := 1; ; attempt++ {
		var partial strings.Builder
		begun := false
		turn, err := c.Provider.Turn(ctx, request, func(event Event) {
			begun = true
			if delta, is := event.(TextDelta); is {
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
		if !failure.retry || begun || attempt == maxAttempts || failure.RetryAfter > longestPause {
			return nil, err
		}
		wait := max(pause, failure.RetryAfter)
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

// emit passes events on one at a time: calls run side by side.
func (c *Conversation) emit(event Event) {
	if c.On == nil {
		return
	}
	c.events.Lock()
	defer c.events.Unlock()
	c.On(event)
}
