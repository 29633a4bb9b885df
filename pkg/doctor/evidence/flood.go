package evidence

import (
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
)

// Flood is the longest stretch of stdout without a message on it: lines that a client must read, and throw away, before
// it sees its next answer. It counts what the events of a run do not keep.
type Flood struct {
	Lines int
	Bytes int64
	Over  time.Duration // from the stretch's first line to its last
}

// PerSecond is the stretch's rate in bytes; zero for a stretch of one moment.
func (f Flood) PerSecond() float64 {
	if f.Over <= 0 {
		return 0
	}
	return float64(f.Bytes) / f.Over.Seconds()
}

// floodMeter measures stretches as they come.
type floodMeter struct {
	current, longest Flood
	began            time.Time
	all              int // foreign lines of the whole run
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
			return // one line that is too long is no flood
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
