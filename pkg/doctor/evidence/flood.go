package evidence

import (
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
)

// Flood is the longest sequence of lines on stdout without a message, all of which a client must read before the next
// response. It includes lines that are not in the run's events.
type Flood struct {
	Lines int
	Bytes int64
	Over  time.Duration // from the first line to the last
}

// PerSecond returns the rate in bytes; zero if Over is zero.
func (f Flood) PerSecond() float64 {
	if f.Over <= 0 {
		return 0
	}
	return float64(f.Bytes) / f.Over.Seconds()
}

// floodMeter finds the longest sequence in a stream of events.
type floodMeter struct {
	current, longest Flood
	began            time.Time
	all              int // lines without a message in the whole run
}

func (m *floodMeter) count(event exec.Event) {
	switch e := event.(type) {
	case wire.FrameReceived:
		m.current = Flood{}
	case wire.PollutedLine:
		if e.Class.Harmless() || e.Salvaged > 0 {
			return
		}
		m.all++
		if e.Class == wire.ClassTooLong {
			return // a single long line is not a flood
		}
		if m.current.Lines == 0 {
			m.began = e.At
		}
		m.current.Lines++
		m.current.Bytes += e.Size
		m.current.Over = e.At.Sub(m.began)
		if m.current.Bytes >= m.longest.Bytes {
			m.longest = m.current
		}
	}
}
