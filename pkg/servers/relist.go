package servers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"toolx/pkg/config"
	"toolx/pkg/exec"
)

// ToolsChanged says that a server's tools were listed anew, because it said that they
// had changed, and that the Registry has the new ones.
type ToolsChanged struct {
	exec.Time
	Server string
	Tools  int
}

// relister lists a session's tools anew when the server says that they have changed: once for however many such
// notifications come meanwhile.
type relister struct {
	session *Session
	server  *config.Server
	// changed takes the tools; nil where nobody wants them.
	changed func([]*exec.Tool)

	mu      sync.Mutex
	running bool
	again   bool
}

// follow gives the session's tools to the Registry whenever they change.
func (r *relister) follow(session *Session, server *config.Server, registry *exec.Registry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.session, r.server = session, server
	r.changed = func(tools []*exec.Tool) { registry.ReplaceServer(server.Name, tools...) }
}

// notified takes the notification; it runs on the goroutine that reads. Before follow there is nothing to do: the first
// list is still to come.
func (r *relister) notified() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.again = r.running; r.changed == nil || r.running {
		return
	}
	r.running = true
	go r.run()
}

// run lists until no notification has come meanwhile. It ends with the session.
func (r *relister) run() {
	ctx, cancel := context.WithTimeout(context.Background(), DefaultStartTimeout)
	defer cancel()
	defer r.session.link.rpc().endWith(cancel)()
	for goesOn := true; goesOn; {
		r.list(ctx)
		r.mu.Lock()
		goesOn = r.again && ctx.Err() == nil
		r.running, r.again = goesOn, false
		r.mu.Unlock()
	}
}

// list lists the tools once.
func (r *relister) list(ctx context.Context) {
	s := r.session
	if err := s.listTools(ctx, r.server); err != nil {
		var failure *Failure
		if ctx.Err() == nil && !errors.As(err, &failure) { // else the end is told elsewhere
			s.notice(slog.LevelWarn,
				fmt.Sprintf("server %q changed its tools, and they cannot be listed: %v", s.Name, err))
		}
		return
	}
	tools := s.Tools()
	r.changed(tools)
	s.bus.Emit(ToolsChanged{Time: exec.Now(), Server: s.Name, Tools: len(tools)})
}
