package cmd

import (
	"sync"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// The pace of the live line: it appears when a wait becomes noticeable.
const (
	progressDelay = 300 * time.Millisecond
	progressPace  = 100 * time.Millisecond
)

// progressLine is what a terminal shows of a call that takes a while: one line on stderr that is drawn over.
type progressLine struct {
	out   *output
	began time.Time

	mu    sync.Mutex
	state render.Progress
}

// showProgress draws the progress of a call of the tool until stop is called, which may be called twice. Where stderr
// is no terminal it draws nothing.
func (a *App) showProgress(tool string) (stop func()) {
	p := a.newProgress(tool)
	if p == nil {
		return func() {}
	}
	unsubscribe := a.bus.Subscribe(p.take)
	end := p.begin()
	return sync.OnceFunc(func() {
		unsubscribe()
		end()
	})
}

// showDoing draws what is being done, as doing says, until stop is called. Where stderr is no terminal it draws
// nothing.
func (o *output) showDoing(verb string) (doing func(what string), stop func()) {
	p := o.newProgress(verb)
	if p == nil {
		return func(string) {}, func() {}
	}
	return p.say, sync.OnceFunc(p.begin())
}

// newProgress returns nil where nothing is to be drawn.
func (o *output) newProgress(subject string) *progressLine {
	if !o.Console.Motion || o.flags.quiet {
		return nil
	}
	return &progressLine{out: o, began: time.Now(), state: render.Progress{Tool: subject, Message: "starting"}}
}

// say replaces what stands behind the time.
func (p *progressLine) say(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.Message = what
}

// begin draws until end is called.
func (p *progressLine) begin() (end func()) {
	ended := make(chan struct{})
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		p.draw(ended)
	}()
	return func() {
		close(ended)
		<-drawn
		p.out.live.Clear()
	}
}

// draw shows the line at its pace until ended is closed.
func (p *progressLine) draw(ended <-chan struct{}) {
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
			p.out.live.Show(state.Line(p.out.Console.Width))
			pace.Reset(progressPace)
		}
	}
}

// take notes what an event says about how far the call is.
func (p *progressLine) take(event exec.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case servers.ProcessStarted:
		p.state.Message = "waiting for server " + e.Server
	case servers.Retry:
		p.state.Message = "waiting to start server " + e.Server + " again"
	case exec.CallStarted:
		p.state.Message = "running"
	case exec.CallProgress:
		p.state.Done, p.state.Total, p.state.Message = e.Progress.Progress, e.Total, e.Message
	}
}
