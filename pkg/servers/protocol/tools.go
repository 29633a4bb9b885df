package protocol

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
)

// toolList is the list of a server's tools, in the server's order. It is safe for concurrent use; the zero value is
// empty.
type toolList struct {
	mu       sync.Mutex
	tools    []*exec.Tool
	recalled bool // it is an earlier list that is still valid
}

// set replaces the list. recalled says that it is an earlier one.
func (l *toolList) set(tools []*exec.Tool, recalled bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tools, l.recalled = tools, recalled
}

func (l *toolList) all() []*exec.Tool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tools
}

// find returns the tool of a plain name, nil where there is none.
func (l *toolList) find(plain string) *exec.Tool {
	for _, tool := range l.all() {
		if tool.Plain == plain {
			return tool
		}
	}
	return nil
}

// takeRecalled reports whether the list is an earlier one, the first time that it is asked.
func (l *toolList) takeRecalled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	recalled := l.recalled
	l.recalled = false
	return recalled
}

// Tools returns the server's tools in the server's order.
func (s *Session) Tools() []*exec.Tool { return s.tools.all() }

// ListAgain lists the tools again if they are those of an earlier list, the first time that it is called, and reports
// whether it did.
func (s *Session) ListAgain(ctx context.Context) bool {
	return s.tools.takeRecalled() && s.listTools(ctx) == nil // else it is not known
}

// listTools asks for all pages of tools/list. A server without tools has an empty list, which is not a failure.
func (s *Session) listTools(ctx context.Context) error {
	definitions, err := s.pages(ctx, string(mcp.MethodToolsList), "tools")
	if err != nil {
		return err
	}
	s.tools.set(s.makeTools(definitions), false)
	return nil
}

// recall takes the tools of an earlier list that is still valid, and reports whether there is one.
func (s *Session) recall() bool {
	definitions, ok := s.keeping.tools()
	if ok {
		s.tools.set(s.makeTools(definitions), true)
	}
	return ok
}

// makeTools creates tools from a server's definitions; definitions that cannot be read are left out with a warning.
func (s *Session) makeTools(definitions []json.RawMessage) []*exec.Tool {
	for _, warning := range s.keeping.server.Guards.Reread(s.Name) {
		s.notice(slog.LevelWarn, warning)
	}
	var tools []*exec.Tool
	for _, definition := range definitions {
		tool, err := DescribeTool(s.keeping.server, definition)
		if err != nil {
			s.notice(slog.LevelWarn, fmt.Sprintf("server %q lists a tool %v", s.Name, err))
			continue
		}
		if s.leavesOut(definition, tool.Plain) {
			continue
		}
		tool.Implementation = s
		tools = append(tools, tool)
	}
	return tools
}

// paramHeaders returns the Mcp-Param headers of a call with the given params, nil where the tool has none (MCP
// 2026-07-28, server/tools, x-mcp-header).
func (r *requester) paramHeaders(params json.RawMessage) map[string]string {
	if !r.mirrorsParams() {
		return nil
	}
	tool := r.tools.find(rawjson.GetText(params, "name"))
	if tool == nil || !bytes.Contains(tool.Definition, []byte("x-mcp-header")) {
		return nil
	}
	var known mcp.Tool
	if json.Unmarshal(tool.Definition, &known) != nil {
		return nil
	}
	return mcp.GenerateParamHeaders(&known, params)
}

// leavesOut reports whether a tool must be left out over HTTP, since its x-mcp-header annotations break the rules.
func (r *requester) leavesOut(definition json.RawMessage, name string) bool {
	if !r.mirrorsParams() || !bytes.Contains(definition, []byte("x-mcp-header")) {
		return false
	}
	var known mcp.Tool
	if json.Unmarshal(definition, &known) != nil {
		return false // what is wrong with it is found elsewhere
	}
	err := mcp.ValidateParamHeaderAnnotations(&known)
	if err != nil {
		r.notice(slog.LevelWarn, fmt.Sprintf("server %q: the tool '%s' is left out, as MCP 2026-07-28 demands: %v",
			r.Name, name, err))
	}
	return err != nil
}

// NoteList notes the tools in the result of tools/list that the server has sent its client, and returns the result
// without those that must be left out.
func (r *requester) NoteList(result json.RawMessage) json.RawMessage {
	var kept []json.RawMessage
	var tools []*exec.Tool
	all := 0
	for definition := range rawjson.EachElement(rawjson.Get(result, "tools")) {
		all++
		if r.leavesOut(definition, rawjson.GetText(definition, "name")) {
			continue
		}
		kept = append(kept, definition)
		if tool, err := exec.NewTool(definition); err == nil {
			tools = append(tools, tool)
		}
	}
	r.NoteTools(tools)
	if len(kept) < all {
		return rawjson.With(result, "tools", rawjson.Array(kept))
	}
	return result
}

// mirrorsParams reports whether parameters of calls are repeated in headers.
func (r *requester) mirrorsParams() bool { return r.transport.OverHTTP() && r.modern() }
