package doctor

import (
	"slices"
	"strings"
	"sync"
	"time"

	"toolx/pkg/cause"
	"toolx/pkg/config"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

// Recorded collects the evidence in a recording. It judges the last process of each server; the ones before it have
// failed in the same way, or were only restarted.
type Recorded struct {
	names   []string // in order
	servers map[string]*recorded
	seen    map[wire.Head]bool
}

// recorded is one server of a recording.
type recorded struct {
	source  wire.Head
	record  evidence.Recorder
	began   time.Time
	last    time.Time
	started wire.ProcessStarted
	url     string
	exited  *wire.ProcessExited
	ready   bool // it has answered
}

// Take adds an event.
func (r *Recorded) Take(event wire.Event) {
	name, source := event.From(), event.Source()
	s := r.servers[name]
	started, isStart := event.(wire.ProcessStarted)
	switch {
	case !r.seen[source] || isStart:
		if r.servers == nil {
			r.servers, r.seen = make(map[string]*recorded), make(map[wire.Head]bool)
		}
		if s == nil {
			r.names = append(r.names, name)
		}
		s = &recorded{source: source, began: event.When(), started: started}
		r.servers[name], r.seen[source] = s, true
	case s.source != source:
		return // of a process that started before the one that is judged
	}
	s.last = event.When()
	switch e := event.(type) {
	case wire.ProcessExited:
		s.exited = &e
	case wire.HTTPExchange:
		s.url = e.URL
	case wire.FrameReceived:
		s.ready = s.ready || e.Method == ""
	case wire.PollutedLine:
		if e.Phase = wire.PhaseRequest; !s.ready {
			e.Phase = wire.PhaseStart
		}
		event = e
	}
	s.record.Record(event)
}

// Fleet returns the evidence of all servers, for Judge.
func (r *Recorded) Fleet() *evidence.Fleet {
	fleet := new(evidence.Fleet)
	if r == nil {
		return fleet
	}
	for _, name := range r.names {
		fleet.Servers = append(fleet.Servers, r.servers[name].evidence(name))
	}
	return fleet
}

func (s *recorded) evidence(name string) *evidence.Evidence {
	server := &config.Server{Name: name, URL: s.url, Cwd: s.started.Cwd}
	if command := s.started.Command; len(command) > 0 {
		server.Command, server.Args = command[0], command[1:]
	}
	run := s.record.Run("clean", s.began)
	run.Protocol = protocolOf(run)
	if ended := s.failure(name, run); ended != nil {
		if run.Ended = ended; run.Protocol == "" {
			run.Failure = ended
		}
	}
	launch := &config.Resolved{
		Command: server.Command, Args: server.Args, Cwd: server.Cwd, URL: server.URL, Typed: true,
	}
	return &evidence.Evidence{Server: server, Launch: launch, Clean: run, Recorded: true}
}

// protocolOf returns the revision that the first answered request agrees on or, in the era without handshake, is in.
func protocolOf(run *evidence.Run) string {
	for _, x := range run.Exchanges {
		meta := rawjson.Get(rawjson.Get(x.Sent, "params"), "_meta")
		switch revision := rawjson.GetText(meta, "io.modelcontextprotocol/protocolVersion"); {
		case x.Result == nil:
		case x.Method == "initialize":
			return rawjson.GetText(x.Result, "protocolVersion")
		case revision != "":
			return revision
		}
	}
	return ""
}

// failure returns how the process ended before it was asked to, or that it did not answer; nil if neither happened.
func (s *recorded) failure(name string, run *evidence.Run) *diagnose.Failure {
	f := &diagnose.Failure{
		Server: name, Command: s.started.Command, Cwd: s.started.Cwd, URL: s.url, StderrLines: run.StderrLines,
	}
	for _, line := range evidence.EventsOf[wire.StderrLine](run) {
		f.StderrTail = append(f.StderrTail, line.Text)
	}
	for _, line := range evidence.EventsOf[wire.PollutedLine](run) {
		f.Stdout = append(f.Stdout, string(line.Text))
	}
	f.Stderr = cause.RelevantLines(f.StderrTail, shownLines)
	if at := slices.IndexFunc(run.Exchanges, func(x *evidence.Exchange) bool { return !x.Answered() }); at >= 0 {
		f.Waiting = run.Exchanges[at].Method
	}
	switch {
	case s.exited != nil && !s.exited.Asked:
		f.Ending, f.How, f.Lived = diagnose.EndingExited, s.exited.How, s.exited.Lived
		if strings.HasPrefix(f.How, "signal") {
			f.Ending = diagnose.EndingKilled
		}
	case run.Protocol == "":
		f.Ending, f.Lived = diagnose.EndingSilent, s.last.Sub(s.began)
	default:
		return nil
	}
	f.FromOutput = sync.OnceValue(func() *cause.Cause { return cause.Diagnose(f.Output()) })
	return f
}

// shownLines is how many lines of stderr a failure shows.
const shownLines = 20
