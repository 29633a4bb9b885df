// Package serve provides an MCP server for tools of an exec.Executor, on standard streams or over HTTP. mcp-go handles
// the messages; this package limits a client's memory use, authenticates clients, and runs calls in parallel.
package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"toolx/pkg/exec"
	"toolx/pkg/words"
)

// Server is an MCP server of tools, for any transport.
type Server struct {
	sdk   *server.MCPServer
	tools []*exec.Tool
}

// New returns a server for tools, which executor calls. The calls end with ctx, whatever the context of their request.
// version is toolx's.
func New(ctx context.Context, version string, executor *exec.Executor, tools []*exec.Tool) *Server {
	hooks := &server.Hooks{}
	hooks.AddAfterSubscriptionsListen(awaitNotice)
	hooks.AddOnError(func(_ context.Context, _ any, _ mcp.MCPMethod, message any, err error) {
		if request, is := message.(*mcp.CallToolRequest); is && errors.Is(err, server.ErrToolNotFound) {
			rejectUnknown(executor, request, tools)
		}
	})
	sdk := server.NewMCPServer("toolx", version, server.WithToolCapabilities(false), server.WithHooks(hooks))
	for _, tool := range tools {
		handle := handlerOf(executor, tool)
		bounded := func(callCtx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			callCtx, cancel := context.WithCancel(callCtx)
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			return handle(callCtx, request)
		}
		sdk.AddTool(definitionOf(tool), bounded)
	}
	return &Server{sdk, tools}
}

// rejectUnknown records the call of an unknown tool (EXEC-6). errorText rewrites the SDK's error for it.
func rejectUnknown(executor *exec.Executor, request *mcp.CallToolRequest, tools []*exec.Tool) {
	err := unknownTool(request.Params.Name, tools)
	executor.Reject(err.Name, request.Params.RawArguments, time.Now(), err)
}

// unknownTool returns the error for an unknown name.
func unknownTool(name string, tools []*exec.Tool) *exec.NotFoundError {
	name = words.Clip(name, maxErrorText)
	return &exec.NotFoundError{Name: name, Near: exec.Near(name, tools...)}
}

// errorText returns the message for a client for an error of the SDK.
func errorText(message string, tools []*exec.Tool) string {
	if about, is := strings.CutSuffix(message, "' not found: "+server.ErrToolNotFound.Error()); is {
		message = exec.ModelText(unknownTool(strings.TrimPrefix(about, "tool '"), tools))
	}
	return words.Clip(message, maxErrorText)
}

// definitionOf returns a tool in the SDK's form, with its schemas unchanged.
func definitionOf(tool *exec.Tool) mcp.Tool {
	return mcp.Tool{
		Name:            tool.Name,
		Title:           tool.Title,
		Description:     tool.Description,
		RawInputSchema:  tool.InputSchema,
		RawOutputSchema: tool.OutputSchema,
		Annotations:     tool.Annotations,
	}
}

// handlerOf runs calls of a tool through the Executor (EXEC-1).
func handlerOf(executor *exec.Executor, tool *exec.Tool) server.ToolHandlerFunc {
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		arguments := request.Params.RawArguments
		if arguments == nil && request.Params.Arguments != nil {
			encoded, err := json.Marshal(request.Params.Arguments)
			if err != nil {
				return nil, err
			}
			arguments = encoded
		}
		result := executor.Call(ctx, exec.Call{Tool: tool.Name, Target: tool, Arguments: arguments})
		return replyOf(result)
	}
}

// replyOf returns a result in the SDK's form. It leaves out structuredContent that is not an object, which revisions
// before 2026-07-28 do not allow.
func replyOf(result *exec.Result) (*mcp.CallToolResult, error) {
	if result.Raw == nil {
		return mcp.NewToolResultError(exec.ModelText(result.Err)), nil
	}
	raw := result.Raw
	reply, err := mcp.ParseCallToolResult(&raw)
	if err != nil {
		return nil, fmt.Errorf("the result of %s cannot be served: %w", result.ToolName, err)
	}
	if _, object := reply.StructuredContent.(map[string]any); !object {
		reply.StructuredContent, reply.RawStructuredContent = nil, nil
	}
	return reply, nil
}
