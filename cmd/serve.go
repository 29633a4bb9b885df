package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/spf13/cobra"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers"
	"toolx/pkg/words"
)

// serveOptions say what is served, and where.
type serveOptions struct {
	file string // a config file; empty: the config that is found
	http httpOptions
}

func newServeCommand(app *App, run func(context.Context, *App, serveOptions) error) *cobra.Command {
	var o serveOptions
	command := &cobra.Command{
		Use:   "serve [FILE]",
		Short: "Serve the config's tools as an MCP server on stdio, or over HTTP",
		Long: `Serve the tools that a config file defines (builtin, mock and internal ones) as an
MCP server on standard input and output, until standard input ends. Mocks can carry
a delay, an error, or faults, so that anyone can rehearse failure.

With --http it serves over streamable HTTP instead, until Ctrl-C: on this machine
only unless --allow-remote is given, and never to a web page from elsewhere. A token is
asked of every client: that in TOOLX_SERVE_TOKEN, or in a file that --token names, else a
new one that is printed on stderr. --no-token asks for none.

Exit codes: 0 when standard input ends or Ctrl-C is pressed, 2 for a wrong config, or
an address that cannot be had; a mock's crash fault ends the process with its own
code.`,
		Example: `  toolx serve testdata/zwave.yaml
  toolx list -- toolx serve testdata/zwave.yaml
  toolx serve testdata/zwave.yaml --http 127.0.0.1:8080`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return &fault.UsageError{Message: "unexpected argument " + quote(args[1]), Fix: "toolx serve FILE; --config lays several files over each other"}
			}
			if len(args) == 1 {
				o.file = args[0]
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.http.check(cmd.Flags()); err != nil {
				return err
			}
			return run(cmd.Context(), app, o)
		},
	}
	o.http.declare(command.Flags())
	return command
}

// runServe serves until standard input, or the process, is to end.
func runServe(ctx context.Context, app *App, o serveOptions) error {
	app.asksNobody = true // standard input is the client's
	if o.file != "" {
		if _, err := os.Stat(o.file); err != nil {
			return &fault.UsageError{
				Message: fmt.Sprintf("toolx serve %s: %s", o.file, reasonOf(err)),
				Fix:     "FILE is the config whose tools are served; without it, toolx serve takes the one that is found here",
			}
		}
		app.flags.config = append(app.flags.config, o.file)
	}
	app.flushTime = unreadTime
	stdout := &answerWriter{out: app.Console.Out}
	crashes := &stage{stdout: stdout, stderr: app.live, exit: make(chan int, 1)}
	box, err := app.toolbox(toolboxOptions{configOnly: true, stage: crashes, confined: true})
	if err != nil {
		return err
	}
	served, broken := working(box.registry.All())
	for _, wrong := range broken {
		app.tell(wrong)
	}
	switch {
	case len(served) == 0 && len(broken) > 0:
		return &reportedError{broken[0]}
	case len(served) == 0:
		return &fault.UsageError{Message: "the config defines no tools", Fix: "add some under tools:; docs/serve.md has an example"}
	}
	mcpServer := newMCPServer(ctx, box.executor, served)
	limit := cmp.Or(box.config.Defaults.MaxMessage, servers.DefaultMaxMessage)
	serve := func() error {
		client := newStdioClient(mcpServer, stdout, limit, func(text string) { app.log.Warn(text) })
		return client.serve(ctx, app.Console.In)
	}
	if o.http.address != "" {
		endpoint, err := app.listen(o.http, mcpServer, limit)
		if err != nil {
			return err
		}
		serve = func() error { return endpoint.serve(ctx) }
	}
	ended := make(chan error, 1)
	go func() { ended <- serve() }()
	select {
	case code := <-crashes.exit:
		return &exitStatus{code}
	case err := <-ended:
		return err
	}
}

// newMCPServer is the server behind both transports. Calls end with ctx, whatever
// the request that made them has to say.
func newMCPServer(ctx context.Context, executor *exec.Executor, tools []*exec.Tool) *server.MCPServer {
	hooks := &server.Hooks{}
	hooks.AddAfterSubscriptionsListen(awaitNotice)
	hooks.AddOnError(func(_ context.Context, _ any, _ mcp.MCPMethod, message any, err error) {
		if request, is := message.(*mcp.CallToolRequest); is && errors.Is(err, server.ErrToolNotFound) {
			rejectUnknown(executor, request)
		}
	})
	mcpServer := server.NewMCPServer("toolx", Version(), server.WithToolCapabilities(false), server.WithHooks(hooks))
	for _, tool := range tools {
		handle := handlerOf(executor, tool)
		mcpServer.AddTool(definitionOf(tool), func(callCtx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			callCtx, cancel := context.WithCancel(callCtx)
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			return handle(callCtx, request)
		})
	}
	return mcpServer
}

// rejectUnknown records the call of a tool that is not there (EXEC-6). The SDK answers it,
// in words of its own, which errorText mends.
func rejectUnknown(executor *exec.Executor, request *mcp.CallToolRequest) {
	name := words.Clip(request.Params.Name, maxErrorText)
	executor.Reject(name, request.Params.RawArguments, time.Now(), &exec.NotFoundError{Name: name})
}

// errorText is what a client reads of an error of the SDK's.
func errorText(message string) string {
	if tool, is := strings.CutSuffix(message, ": "+server.ErrToolNotFound.Error()); is {
		message = "Tool" + strings.TrimPrefix(tool, "tool")
	}
	return words.Clip(message, maxErrorText)
}

// definitionOf is the SDK's form of a tool, with the schemas as they are written.
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

// replyOf is a result as the SDK sends it. A value that is no object stays out of
// structuredContent: no revision before 2026-07-28 allows it there.
func replyOf(result *exec.Result) (*mcp.CallToolResult, error) {
	if result.Raw == nil {
		return mcp.NewToolResultError(result.Err.Error()), nil
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

// stage is the process on which mocks rehearse failure.
type stage struct {
	stdout, stderr io.Writer
	exit           chan int
}

func (s *stage) Stdout(line string) { _, _ = io.WriteString(s.stdout, line+"\n") }
func (s *stage) Stderr(line string) { _, _ = io.WriteString(s.stderr, line+"\n") }

// Exit makes runServe return with that code, in mid-call; the first code counts. As
// nothing happens in a process that has crashed, it does not return.
func (s *stage) Exit(code int) {
	select {
	case s.exit <- code:
	default:
	}
	select {}
}
