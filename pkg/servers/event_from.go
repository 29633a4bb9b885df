package servers

import "toolx/pkg/exec"

// Event is an event about one server. All events of this package are.
type Event interface {
	exec.Event
	// From is the name of the server.
	From() string
}

// From implements Event.
func (e ProcessStarted) From() string { return e.Server }

// From implements Event.
func (e ProcessExited) From() string { return e.Server }

// From implements Event.
func (e SessionLost) From() string { return e.Server }

// From implements Event.
func (e PipeHeld) From() string { return e.Server }

// From implements Event.
func (e StdinClosed) From() string { return e.Server }

// From implements Event.
func (e FrameSent) From() string { return e.Server }

// From implements Event.
func (e FrameReceived) From() string { return e.Server }

// From implements Event.
func (e HTTPExchange) From() string { return e.Server }

// From implements Event.
func (e PollutedLine) From() string { return e.Server }

// From implements Event.
func (e OddFrame) From() string { return e.Server }

// From implements Event.
func (e StderrLine) From() string { return e.Server }

// From implements Event.
func (e Retry) From() string { return e.Server }

// From implements Event.
func (e Connected) From() string { return e.Server }

// From implements Event.
func (e ConnectFailed) From() string { return e.Server }

// From implements Event.
func (e LogMessage) From() string { return e.Server }

// From implements Event.
func (e Notification) From() string { return e.Server }

// From implements Event.
func (e ServerRequest) From() string { return e.Server }

// From implements Event.
func (e ToolsChanged) From() string { return e.Server }

// From implements Event.
func (e Attempt) From() string { return e.Server }

// From implements Event.
func (e StartOverdue) From() string { return e.Server }
