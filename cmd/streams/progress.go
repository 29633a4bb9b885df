package streams

import (
	"sync"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/servers"
	"toolx/pkg/servers/wire"
)

// The pace of the live line: it appears when a wait becomes noticeable.
const (
	progressDelay = 300 * time.Millisecond
	progressPace  = 100 * time.Millisecond
)

// Progress shows a call that takes a while: one line on stderr that is redrawn.
type Progress struct {
	out   *Streams
	began time.Time

	mu       sync.Mutex
	state    render.Progress
	reported exec.Progress
}

// ShowProgress draws the progress of a call of the tool until stop is called; stop may be called twice. If stderr is
// not a terminal, it draws nothing.
func (o *Streams) ShowProgress(bus *exec.Bus, tool string) (stop func()) {
	p := o.newProgress(tool)
	if p == nil {
		return func() {}
	}
	unsubscribe := bus.Subscribe(p.take)
	end := p.begin()
	return sync.OnceFunc(func() {
		unsubscribe()
		end()
	})
}

// ShowDoing draws the current action, which doing sets, until stop is called. If stderr is not a terminal, it draws
// nothing.
func (o *Streams) ShowDoing(verb string) (doing func(what string), stop func()) {
	p := o.newProgress(verb)
	if p == nil {
		return func(string) {}, func() {}
	}
	return p.say, sync.OnceFunc(p.begin())
}

// ShowReached draws how much of a whole has been read, which reach sets, until stop is called; whole is 0 if unknown.
// If stderr is not a terminal, it draws nothing, and reach is nil.
func (o *Streams) ShowReached(subject string, whole int64) (reach func(part int64, done string), stop func()) {
	p := o.newProgress(subject)
	if p == nil {
		return nil, func() {}
	}
	reach = func(part int64, done string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.state.Message = done
		if whole > 0 {
			p.state.Done, p.state.Total = float64(part), float64(whole)
		}
	}
	return reach, sync.OnceFunc(p.begin())
}

// newProgress returns nil if nothing is drawn.
func (o *Streams) newProgress(subject string) *Progress {
	if !o.Console.Motion || o.Settings.Quiet {
		return nil
	}
	return &Progress{out: o, began: time.Now(), state: render.Progress{Tool: subject, Message: "starting"}}
}

// say replaces the text after the time.
func (p *Progress) say(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.Message = what
}

// begin draws until end is called.
func (p *Progress) begin() (end func()) {
	ended := make(chan struct{})
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		p.draw(ended)
	}()
	return func() {
		close(ended)
		<-drawn
		p.out.Live.Clear()
	}
}

// draw shows the line at its pace until ended is closed.
func (p *Progress) draw(ended <-chan struct{}) {
	pace := time.NewTimer(progressDelay)
	defer pace.Stop()
	for {
		select {
		case <-ended:
			return
		case <-pace.C:
			p.mu.Lock()
			state := p.state
			p.mu.Unlock()
			state.Elapsed = time.Since(p.began)
			p.out.Live.Show(state.Line(p.out.Console.Width))
			pace.Reset(progressPace)
		}
	}
}

// take updates the progress from an event.
func (p *Progress) take(event exec.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case wire.ProcessStarted:
		p.state.Message = "waiting for server " + e.Server
	case servers.Retry:
		p.state.Message = "waiting to start server " + e.Server + " again"
	case exec.CallStarted:
		p.state.Message = "running"
	case exec.CallProgress:
		p.reported = p.reported.Then(e.Progress)
		p.state.Done, p.state.Total, p.state.Message = p.reported.Progress, p.reported.Total, p.reported.Text()
	}
}
