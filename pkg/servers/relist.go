package servers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

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

// relister lists a session's tools anew when the server says that they have changed:
// once for however many such notifications come meanwhile.
type relister struct {
	server *config.Server
	// changed takes the tools; nil where nobody wants them.
	changed func([]*exec.Tool)

	mu      sync.Mutex
	running bool
	again   bool
}

// toolsChanged takes the notification; it runs on the goroutine that reads. Before
// anybody wants the tools there is nothing to do: the first list is still to come.
func (s *Session) toolsChanged() {
	r := &s.relist
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.again = r.running; r.changed == nil || r.running {
		return
	}
	r.running = true
	go s.listAnew(r.changed)
}

// listAnew lists until no notification has come meanwhile. It ends with the session.
func (s *Session) listAnew(changed func([]*exec.Tool)) {
	ctx, cancel := context.WithTimeout(context.Background(), DefaultStartTimeout)
	defer cancel()
	peer := s.link.rpc()
	go func() {
		select {
		case <-peer.closing:
		case <-peer.done:
		case <-ctx.Done():
		}
		cancel()
	}()
	for {
		s.listOnceMore(ctx, changed)
		s.relist.mu.Lock()
		if !s.relist.again || ctx.Err() != nil {
			s.relist.running = false
			s.relist.mu.Unlock()
			return
		}
		s.relist.again = false
		s.relist.mu.Unlock()
	}
}

func (s *Session) listOnceMore(ctx context.Context, changed func([]*exec.Tool)) {
	definitions, err := s.pages(ctx, string(mcp.MethodToolsList), "tools")
	if err != nil {
		var failure *Failure
		if ctx.Err() == nil && !errors.As(err, &failure) { // else the end is told elsewhere
			s.notice(slog.LevelWarn, fmt.Sprintf("server %q changed its tools, and they cannot be listed: %v", s.Name, err))
		}
		return
	}
	tools := s.makeTools(s.relist.server, definitions)
	s.mu.Lock()
	s.tools = tools
	s.mu.Unlock()
	changed(tools)
	s.bus.Emit(ToolsChanged{Time: exec.Now(), Server: s.Name, Tools: len(tools)})
}

// follow gives the session's tools to the Registry whenever they change.
func (s *Session) follow(server *config.Server, registry *exec.Registry) {
	s.relist.mu.Lock()
	defer s.relist.mu.Unlock()
	s.relist.server = server
	s.relist.changed = func(tools []*exec.Tool) {
		registry.ReplaceServer(server.Name, tools...)
	}
}
