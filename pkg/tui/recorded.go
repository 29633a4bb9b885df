package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/feed"
)

// The bounds of the servers in a recording, which anyone may have written: how many, and bytes of their names.
const (
	maxRecorded = 100
	maxName     = 200
)

// recorded is what a recording has of a server.
type recorded struct {
	from, to time.Time
	requests int
}

// updateRecorded handles the next events of a recording. Those of servers beyond the bounds are lost.
func (m *model) updateRecorded(msg feed.Msg) tea.Cmd {
	known, lost := len(m.servers.list), 0
	for _, event := range msg.Events {
		name := feed.Server(event)
		if notice, ok := event.(exec.Notice); ok {
			name = notice.Server
		}
		s := m.servers.server(name)
		switch {
		case s != nil || name == "":
		case len(m.servers.list) == maxRecorded || len(name) > maxName:
			lost++
			continue
		default:
			s = m.addServer(&config.Server{Name: name})
			s.recorded.from = event.When()
			s.become(statusRecorded, event.When())
		}
		m.timeline.Take(event)
		if s != nil {
			s.replay(event)
		}
	}
	m.timeline.Dropped(lost)
	if len(m.servers.list) > known {
		m.setTools()
	}
	return m.wait()
}

// replay updates the server from an event of a recording.
func (s *server) replay(event exec.Event) {
	s.recorded.to = event.When()
	switch e := event.(type) {
	case wire.FrameSent:
		if e.Method != "" && e.ID != "" {
			s.recorded.requests++
		}
	case wire.PollutedLine:
		if !e.Class.Harmless() {
			s.polluted++
		}
	case wire.HTTPExchange:
		s.config.URL = e.URL
	case wire.ProcessStarted:
		s.command = e.Command
		s.become(statusRecorded, e.At)
	case wire.ProcessExited:
		if s.reason = e.How; !e.Asked {
			s.become(statusEnded, e.At)
		}
	case exec.Notice: // why it ended
		s.reason = e.Text
	}
}
