package tui

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/pane"
	"toolx/pkg/tui/result"
	"toolx/pkg/words"
)

// status is the state of a server.
type status int

const (
	statusIdle     status = iota // not started
	statusStarting               // the process or the handshake is under way
	statusRetrying               // waits for the next attempt
	statusReady
	statusFailed  // given up
	statusEnded   // it was ready before
	statusStopped // by the user
	statusRecorded
)

// server holds what is known about one server of the config.
type server struct {
	name      string // it never changes: commands read it while Update writes the rest
	config    *config.Server
	diagnosis diagnosis
	life
}

// life is what is known about a server since its config changed last.
type life struct {
	status status
	since  time.Time // of this status

	pid       int
	command   []string
	files     []programFile // that the process was started from
	timing    exec.Timing
	held      *wire.Attached // how it is shared with other processes; nil if it is not
	retry     servers.Retry  // the last one, while retrying
	attempt   servers.Attempt
	launcher  string            // the package manager that is fetching it, empty if none is known to
	failure   *diagnose.Failure // why it failed or ended; nil if only reason is known
	reason    string            // why it failed or ended
	hint      string            // what to do about a start that failed
	polluted  int               // lines of this life
	diagnosed time.Time         // since of the failure that the doctor examined automatically
	// development is set while the server's files are watched.
	development *development
	// completes and subscribes report which capabilities it has besides lists.
	completes, subscribes bool
	// asked reports whether the user stopped it, or is restarting it.
	asked    bool
	recorded recorded
}

// titleOf names a server; one on the command line has no name of its own.
func titleOf(name string) string {
	if name == config.AdHocName {
		return "the server"
	}
	return "server " + name
}

// commandLine returns the command that was started, or the config's if none was.
func (s *server) commandLine() []string {
	if len(s.command) > 0 || s.config.Command == "" {
		return s.command
	}
	return append([]string{s.config.Command}, s.config.Args...)
}

// become changes the status.
func (s *server) become(to status, at time.Time) { s.status, s.since = to, at }

// take updates the server from an event about it, and reports whether its tools may have changed.
func (s *server) take(event exec.Event) (toolsChanged bool) {
	at := event.When()
	switch e := event.(type) {
	case servers.Attempt:
		s.attempt, s.launcher = e, ""
		s.become(statusStarting, at)
	case wire.ProcessStarted:
		s.pid, s.command, s.polluted, s.reason, s.asked = e.PID, e.Command, 0, "", false
		s.files, s.failure = nil, nil
		s.become(statusStarting, at)
	case protocol.StartOverdue:
		s.launcher = e.Launcher
	case servers.Retry:
		s.retry = e
		s.become(statusRetrying, at)
	case servers.Connected:
		s.timing, s.held = e.Timing, e.Attached
		s.become(statusReady, at)
		return true
	case servers.ConnectFailed:
		s.reason, s.hint, s.failure = e.Err.Error(), result.Hint(e.Err), nil
		_ = errors.As(e.Err, &s.failure) // other errors have no more details
		s.become(statusFailed, at)
	case wire.ProcessExited:
		s.exited(e)
	case protocol.SessionLost:
		s.lost(e)
	case wire.PollutedLine:
		if !e.Class.Harmless() {
			s.polluted++
		}
	case protocol.ToolsChanged:
		return true
	}
	return false
}

// lost records that the session of a server that was ready is lost, whether or not its process runs.
func (s *server) lost(e protocol.SessionLost) {
	if s.status == statusReady {
		s.reason, s.failure = string(e.Why.Ending), e.Why
		s.become(statusEnded, e.When())
	}
}

// runs reports whether there is anything to stop: a process, a session without a process, or attempts to open one.
func (s *server) runs() bool {
	return s.pid != 0 || s.status == statusReady || s.status == statusStarting || s.status == statusRetrying
}

// failed reports whether the server did not start, or ended without being asked to.
func (s *server) failed() bool { return s.status == statusFailed || s.status == statusEnded }

// down reports whether the server has to be restarted before it can be used.
func (s *server) down() bool { return s.failed() || s.status == statusStopped }

// stop records that the user stopped the server and that nothing of it is running.
func (s *server) stop(at time.Time) {
	s.pid, s.reason, s.asked = 0, "", false
	s.become(statusStopped, at)
}

// exited records the end of a process, unless a failed attempt has already recorded more.
func (s *server) exited(e wire.ProcessExited) {
	s.pid = 0
	switch {
	case s.asked && (e.Asked || s.status == statusEnded):
		s.reason = ""
		s.become(statusStopped, e.When())
	case s.status == statusReady:
		s.reason = e.How
		s.become(statusEnded, e.When())
	}
}

// summary returns the server's state at now in a few words.
func (s *server) summary(now time.Time) string {
	switch s.status {
	case statusStarting:
		took := now.Sub(s.since)
		switch limit := s.attempt.Limit; {
		case limit == 0 || took < time.Second:
			return pane.Duration(took)
		case took > limit:
			return pane.Duration(took) + ", no response"
		default:
			return fmt.Sprintf("%.0f/%.0f s", math.Floor(took.Seconds()), limit.Seconds())
		}
	case statusRetrying:
		wait := max(0, s.retry.Delay-now.Sub(s.since))
		return fmt.Sprintf("attempt %d of %d in %s", s.retry.Attempt+1, s.retry.Of, pane.Duration(wait))
	case statusReady:
		if s.held != nil {
			return "shared"
		}
		ms := s.timing.StartMS + s.timing.InitializeMS + s.timing.ListMS
		return pane.Duration(time.Duration(ms * float64(time.Millisecond)))
	case statusFailed, statusEnded:
		if s.failure != nil {
			return s.failure.Brief()
		}
		if s.status == statusFailed {
			return "failed"
		}
		return cmp.Or(s.reason, "ended")
	case statusStopped:
		return "stopped"
	case statusRecorded:
		return words.Count(s.recorded.requests, "request")
	}
	return "not started"
}

// downloadTime is how long a package manager takes if it has nothing to download.
const downloadTime = 2 * time.Second

// detail returns the server's state at now in a sentence. For a start, it has the time limit, the number of the
// attempt, and what toolx is waiting for.
func (s *server) detail(now time.Time) string {
	switch s.status {
	case statusReady:
		return "ready, " + s.summary(now)
	case statusStarting:
	default:
		return s.summary(now)
	}
	took := now.Sub(s.since)
	text := "starting " + pane.Duration(took)
	if limit := s.attempt.Limit; limit > 0 {
		text = fmt.Sprintf("starting %.1f / %g s", took.Seconds(), limit.Seconds())
	}
	if s.attempt.Attempt > 1 {
		text += fmt.Sprintf(", attempt %d of %d", s.attempt.Attempt, s.attempt.Of)
	}
	if s.launcher != "" && took >= downloadTime {
		text += ", " + s.launcher + " may be downloading"
	}
	if s.attempt.Limit > 0 && took > s.attempt.Limit {
		text += "; toolx keeps waiting, X stops it"
	}
	return text
}
