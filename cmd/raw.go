package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers"
	"toolx/pkg/words"
)

// rawOptions say what request is sent.
type rawOptions struct {
	replyOptions
	name   string // of the server; that of the command line's where it gives one
	method string
	params string // JSON, @FILE, - or empty
}

func newRawCommand(app *App, run func(context.Context, *App, rawOptions) error) *cobra.Command {
	var o rawOptions
	formats := []string{"raw", "json", "yaml"}
	cmd := &cobra.Command{
		Use:   "raw SERVER METHOD [JSON] [-- COMMAND…]",
		Short: "Send any request and print the exact reply",
		Long: `Send any request to a server and print the reply as it came: the whole JSON-RPC
message, on one line. An error of the server is printed in the same way. The session
is opened as always; the params are sent as they are given, and nothing is checked.
Where the agreed revision wants _meta in every request, it is added.

JSON may be @FILE, or - for standard input. With -- COMMAND or --url there is no
SERVER.

Exit codes: 0 success, 2 wrong usage, 3 authentication, 4 the server was not reached,
5 the reply is an error, 6 the protocol was broken, 124 timeout, 130 interrupted.`,
		Example: `  toolx raw zwave tools/list
  toolx raw zwave tools/call '{"name":"list_zwave_devices","arguments":{}}' | jq .result
  toolx raw no/such/method -- npx -y @modelcontextprotocol/server-everything`,
		Args: func(cmd *cobra.Command, args []string) (err error) {
			if args, o.server, err = splitDash(cmd, args); err != nil {
				return err
			}
			return o.take(args, len(o.server) > 0 || app.flags.url != "")
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd.Flags(), formats...); err != nil {
				return err
			}
			return run(cmd.Context(), app, o)
		},
		ValidArgsFunction: completeServer(app),
	}
	o.declare(cmd.Flags(), formats...)
	return cmd
}

// take reads [SERVER] METHOD [JSON]; adHoc says that the server is given otherwise.
func (o *rawOptions) take(args []string, adHoc bool) error {
	if adHoc {
		o.name = config.AdHocName
	} else if len(args) > 0 {
		o.name, args = args[0], args[1:]
	}
	named := adHoc && len(args) == 2 && args[0] == config.AdHocName // what list calls it
	if len(args) == 0 || len(args) > 2 || args[0] == "" || named {
		if adHoc {
			return fault.Usage("name one method, and no server", "toolx raw METHOD [JSON] -- COMMAND…")
		}
		return fault.Usage("name a server and one method", "toolx raw SERVER METHOD [JSON]")
	}
	o.method = args[0]
	if len(args) == 2 {
		o.params = args[1]
	}
	return nil
}

// runRaw sends the request and prints the reply.
func runRaw(ctx context.Context, app *App, o rawOptions) error {
	var reply *servers.Answer
	params, err := app.readParams(o.params)
	if err != nil {
		return app.printReply(ctx, &exec.Result{ToolName: o.method, Err: err}, o.replyOptions, request{}, nil)
	}
	r := request{
		name: o.method, method: o.method, server: o.name,
		prepare: func(context.Context, *toolbox, *servers.Session, string) (json.RawMessage, error) { return params, nil },
		send: func(ctx context.Context, session *servers.Session, _ string, params json.RawMessage, _ func(exec.Progress)) (json.RawMessage, error) {
			answer, err := session.Request(ctx, o.method, params, nil)
			if err != nil {
				return nil, err
			}
			reply = answer
			if answer.Error != nil {
				return nil, &exec.ToolError{Message: answer.Error.Message, Code: answer.Error.Code}
			}
			return answer.Result, nil
		},
	}
	if o.output == "raw" && o.jq == "" {
		r.show = func(result *exec.Result) error { return app.printFrame(reply, result.Err) }
	}
	return app.runRequest(ctx, o.replyOptions, r)
}

// printFrame prints a reply as it came, and the failure of a request without one. An
// error in it decides the exit code, and needs no other words.
func (a *App) printFrame(reply *servers.Answer, failure error) error {
	a.live.Clear()
	if reply == nil {
		return failure
	}
	frame := []byte(reply.Frame)
	if bytes.ContainsRune(frame, '\n') {
		var line bytes.Buffer
		if json.Compact(&line, frame) == nil {
			frame = line.Bytes()
		}
	}
	if err := a.printJSONLine(frame); err != nil {
		return err
	}
	if failure != nil {
		return &reportedError{failure}
	}
	return nil
}

// readParams reads JSON, @FILE or -; nil where nothing was given.
func (a *App) readParams(text string) (json.RawMessage, error) {
	var data []byte
	var err error
	file, isFile := strings.CutPrefix(text, "@")
	switch {
	case text == "":
		return nil, nil
	case text == "-" || isFile && file == "-":
		data, err = io.ReadAll(a.Console.In)
	case isFile:
		data, err = os.ReadFile(file)
	default:
		data = []byte(text)
	}
	if err != nil {
		return nil, fault.Usage("the params cannot be read: "+err.Error(), "give JSON, @FILE or -")
	}
	if !json.Valid(data) {
		return nil, fault.Usage("the params are not JSON: "+quote(words.Clip(string(data), 80)),
			`for example: '{"cursor":"2"}'`)
	}
	return json.RawMessage(strings.TrimSpace(string(data))), nil
}
