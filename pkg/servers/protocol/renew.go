package protocol

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
)

// renew performs the handshake once more, for a session in place of one that the server has forgotten.
func (s *Session) renew(ctx context.Context, limit time.Duration) error {
	bounded, stop := exec.WithLimit(ctx, limit)
	defer stop()
	if _, err := s.initializeAt(bounded, s.Protocol); err != nil {
		return s.startError(mcp.MethodInitialize, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.renewals)
	s.renewals = make(chan struct{})
	return nil
}

// Renewed returns a channel that is closed when another session has replaced the current one.
func (s *Session) Renewed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.renewals
}

// Repeatable reports whether a request may be sent twice: one that only reads or subscribes, or a call of a tool whose
// annotations say so.
func (s *Session) Repeatable(method string, params json.RawMessage) bool {
	if mcp.MCPMethod(method) != mcp.MethodToolsCall {
		return slices.Contains([]mcp.MCPMethod{
			mcp.MethodPing, mcp.MethodToolsList, mcp.MethodResourcesList, mcp.MethodResourcesTemplatesList,
			mcp.MethodResourcesRead, mcp.MethodPromptsList, mcp.MethodPromptsGet, mcp.MethodCompletionComplete,
			mcp.MethodSetLogLevel, mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe,
			mcp.MethodSubscriptionsListen, mcp.MethodServerDiscover,
			mcp.MethodTasksGet, mcp.MethodTasksList, mcp.MethodTasksResult,
		}, mcp.MCPMethod(method))
	}
	tool := s.tools.find(rawjson.GetText(params, "name"))
	if tool == nil {
		return false
	}
	annotations := rawjson.Get(tool.Definition, "annotations")
	return string(rawjson.Get(annotations, "readOnlyHint")) == "true" ||
		string(rawjson.Get(annotations, "idempotentHint")) == "true"
}
