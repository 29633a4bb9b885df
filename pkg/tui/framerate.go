package tui

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

// The times between two looks at whether there is something to draw.
const (
	steadyFrames = time.Second / framesPerSecond
	firstFrames  = time.Second / 60 // after a pause, so that a key's frame is not late
	idleFrames   = time.Second
)

// settleTime is how long nothing is drawn before a frameRate becomes idle.
const settleTime = 100 * time.Millisecond

// frameRate slows Bubble Tea's ticker down while nothing changes. Bubble Tea looks whether there is something to draw
// as often as it draws at most, and each look wakes the process: an interface at which nobody types would take 0.4 % of
// a processor, nearly all of it for waking up.
type frameRate struct {
	mu     sync.Mutex
	ticker interface{ Reset(time.Duration) }
	settle *time.Timer // nil while idle
	drawn  time.Time
}

// drew notes that a frame was made, which the next tick of the program draws. Call it where Bubble Tea asks for the
// frame.
func (r *frameRate) drew(program *tea.Program) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ticker == nil {
		ticker := tickerOf(program)
		if ticker == nil {
			return
		}
		r.ticker = ticker
	}
	r.drawn = time.Now()
	if r.settle == nil {
		r.ticker.Reset(firstFrames)
		r.settle = time.AfterFunc(settleTime, r.settled)
	}
}

// settled takes the rate that fits what was drawn of late.
func (r *frameRate) settled() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.drawn) < settleTime {
		r.ticker.Reset(steadyFrames)
		r.settle.Reset(settleTime)
		return
	}
	r.ticker.Reset(idleFrames)
	r.settle = nil
}

// tickerOf returns the ticker by which a running program draws; nil if it has none. Bubble Tea has no setting for it
// that could change while a program runs, so it is taken from the program's unexported field.
func tickerOf(program *tea.Program) *time.Ticker {
	if program == nil {
		return nil
	}
	field := reflect.ValueOf(program).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return *(**time.Ticker)(unsafe.Pointer(field.UnsafeAddr()))
}
