package ai

import (
	"encoding/json"
	"time"

	"toolx/pkg/convert"
	"toolx/pkg/exec"
)

// Event is something that happened in a conversation. Events are values, arrive one at a time and in order, and never
// change.
type Event interface{ event() }

// Offered lists the tools for the model from now on: at the first turn, and again when they have changed.
type Offered struct {
	Format convert.Format
	Names  []string // as the model calls them
	// FromServers is how many of the tools belong to servers; the others are toolx's own.
	FromServers int
	Losses      []convert.Loss // what the format cannot express, including skipped tools
	// Limits is why the provider may refuse all the tools, such as their number; they are among the Losses.
	Limits []convert.Loss
}

// Overfull reports that a request may exceed its context, so that the provider silently cuts it. It is emitted once,
// and again if the conversation has fitted in between.
type Overfull struct {
	Tokens  int // of tools and conversation, estimated
	Context int // the requested size, in tokens
}

// Forgotten reports that the oldest questions were dropped because the conversation was too long.
type Forgotten struct{ Questions int }

// TurnStarted reports that a request is sent to the model.
type TurnStarted struct{ Turn int } // counted from 1 in each answer

// TextDelta is a piece of the answer.
type TextDelta struct{ Text string }

// ThinkingDelta is a piece of the model's thoughts before the answer.
type ThinkingDelta struct{ Text string }

// Retrying reports that a request failed and is sent again after a pause.
type Retrying struct {
	Attempt int // the one that failed, counted from 1
	Delay   time.Duration
	Err     error
}

// TurnFinished reports that the model has ended its turn. Its calls follow.
type TurnFinished struct {
	Turn   int
	Stop   Stop
	Reason string // the provider's own word
	Usage  Usage
	Calls  int
}

// WroteCalls reports that the model wrote calls of offered tools as plain text, such as JSON in a code fence. They are
// not run, because they may be a quotation.
type WroteCalls struct{ Calls []convert.ToolCall }

// CallStarted reports that a call of the model is about to run.
type CallStarted struct {
	ID        string // the provider's, or a generated one
	Name      string // as the model wrote it
	Tool      string // the tool's name in toolx; empty if unknown
	Arguments json.RawMessage
}

// CallFinished reports the result of a call. A call that was not run has no CallStarted.
type CallFinished struct {
	ID     string
	Name   string
	Result *exec.Result // with its duration
	// Shown is the size in bytes of the result for the model, Total its size before it was cut.
	Shown, Total int
}

// Done reports that the answer is complete.
type Done struct{ Answer Answer }

// Answer is the outcome of a question.
type Answer struct {
	Text  string // of the last turn: the answer itself
	Stop  Stop
	Turns int
	Calls int
	Usage Usage
}

func (Offered) event()       {}
func (Overfull) event()      {}
func (Forgotten) event()     {}
func (TurnStarted) event()   {}
func (TextDelta) event()     {}
func (ThinkingDelta) event() {}
func (Retrying) event()      {}
func (TurnFinished) event()  {}
func (WroteCalls) event()    {}
func (CallStarted) event()   {}
func (CallFinished) event()  {}
func (Done) event()          {}
