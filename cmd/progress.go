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

// progressLine is what a terminal shows of a call that takes a while: one line on
// stderr that is drawn over.
type progressLine struct {
	app   *App
	began time.Time

	mu    sync.Mutex
	state render.Progress
}

// showProgress draws the progress of a call of the tool until stop is called, which
// may be done twice. Where stderr is no terminal nothing is drawn.
func (a *App) showProgress(tool string) (stop func()) {
	if !a.Console.Motion || a.flags.quiet {
		return func() {}
	}
	p := &progressLine{app: a, began: time.Now(), state: render.Progress{Tool: tool, Message: "starting"}}
	unsubscribe := a.bus.Subscribe(p.take)
	ended := make(chan struct{})
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		p.draw(ended)
	}()
	return sync.OnceFunc(func() {
		unsubscribe()
		close(ended)
		<-drawn
		a.live.Clear()
	})
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
			p.app.live.Show(state.Line(p.app.Console.Width))
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
