package ai

import (
	"encoding/json"
	"time"

	"toolx/pkg/convert"
	"toolx/pkg/exec"
)

// Event is something that happened in a conversation. Events are values, come one at a time and in order, and never
// change.
type Event interface{ event() }

// Offered says which tools the model is given from now on: at the first turn, and again when they have changed.
type Offered struct {
	Format convert.Format
	Names  []string // as the model calls them
	// FromServers is how many of the tools are those of servers; the others are toolx's own.
	FromServers int
	Losses      []convert.Loss // what the format could not hold, skipped tools included
	// Limits is why the provider may refuse the tools together, such as their number; they are among the Losses.
	Limits []convert.Loss
}

// Overfull says that a request may not fit the context that it asks for, and that the provider will cut off what does
// not, without a word. It comes once, and again when the conversation has fitted in between.
type Overfull struct {
	Tokens  int // of tools and conversation, estimated
	Context int // what is asked for, in tokens
}

// Forgotten says that the oldest questions are no longer part of the conversation: it had become too long.
type Forgotten struct{ Questions int }

// TurnStarted says that the model is being asked.
type TurnStarted struct{ Turn int } // counted from 1 in each answer

// TextDelta is a piece of the answer.
type TextDelta struct{ Text string }

// ThinkingDelta is a piece of what the model thought before it answered.
type ThinkingDelta struct{ Text string }

// Retrying says that a request failed and is sent again after a pause.
type Retrying struct {
	Attempt int // the one that failed, counted from 1
	Delay   time.Duration
	Err     error
}

// TurnFinished says that the model has ended its turn. Calls come after it.
type TurnFinished struct {
	Turn   int
	Stop   Stop
	Reason string // the provider's own word
	Usage  Usage
	Calls  int
}

// WroteCalls says that the model wrote calls of tools that it has as plain text, such as JSON in a code fence. They are
// not made: it may be a quotation.
type WroteCalls struct{ Calls []convert.ToolCall }

// CallStarted says that a call of the model is about to run.
type CallStarted struct {
	ID        string // the provider's, or one that is made up here where it gives none
	Name      string // as the model wrote it
	Tool      string // the tool's name in toolx; empty where none is meant
	Arguments json.RawMessage
}

// CallFinished says how a call ended; one that was not run comes without CallStarted.
type CallFinished struct {
	ID     string
	Name   string
	Result *exec.Result // with its duration
	// Shown is the size in bytes of the result that the model gets, Total what it was before it was cut.
	Shown, Total int
}

// Done says that the answer is complete.
type Done struct{ Answer Answer }

// Answer is what became of a question.
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
