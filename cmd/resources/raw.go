package resources

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/request"
	"toolx/cmd/streams"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/words"
)

// rawOptions say which request to send.
type rawOptions struct {
	Out      *streams.Streams
	Printer  *request.Printer
	Requests *request.Sender

	request.ReplyFlags
	name   string // of the server; for a server on the command line, its name
	method string
	params string // JSON, @FILE, - or empty
}

// NewRaw returns the command raw; run runs it.
func NewRaw(f *factory.Factory, run cli.RunFunc[rawOptions]) *cobra.Command {
	o := rawOptions{Out: f.Out, Printer: f.Printer, Requests: f.Requests}
	formats := []string{"raw", "json"}
	cmd := &cobra.Command{
		Use:   "raw SERVER METHOD [JSON] [-- COMMAND…]",
		Short: "Send a request and print the exact response",
		Long: `Send any request to a server and print the response as it was received: the whole
JSON-RPC message, on one line, even if it is an error. toolx opens a session first and
does not check the params; it adds _meta if the protocol revision requires it.

JSON may be @FILE, or - for standard input. With -- COMMAND or --url, leave out SERVER.

Exit codes: 0 success, 2 wrong usage, 3 authentication required, 4 the server could not
be reached, 5 the response is an error, 6 the server broke the protocol, 124 timeout, 130
interrupted.`,
		Example: `  toolx raw zwave tools/list
  toolx raw zwave tools/call '{"name":"list_zwave_devices","arguments":{}}' | jq .result
  toolx raw no/such/method -- npx -y @modelcontextprotocol/server-everything`,
		Args: cli.NameOrCommand(&o.Server, func(args []string) error {
			return o.take(args, len(o.Server) > 0 || f.Flags.URL != "")
		}),
		ValidArgsFunction: complete.Servers(f.Tools, 1),
	}
	o.Declare(cmd.Flags(), formats...)
	cmd.RunE = cli.Run(&o, run, o.Check(cmd.Flags(), formats...))
	return cmd
}

// take reads [SERVER] METHOD [JSON]; adHoc reports whether the server is given by a command or address.
func (o *rawOptions) take(args []string, adHoc bool) error {
	if adHoc {
		o.name = config.AdHocName
	} else if len(args) > 0 {
		o.name, args = args[0], args[1:]
	}
	named := adHoc && len(args) == 2 && args[0] == config.AdHocName // its name in the output of list
	if len(args) == 0 || len(args) > 2 || args[0] == "" || named {
		if adHoc {
			return fault.Usage("exactly one method, and no server, is required", "toolx raw METHOD [JSON] -- COMMAND…")
		}
		return fault.Usage("a server and one method are required", "toolx raw SERVER METHOD [JSON]")
	}
	o.method = args[0]
	if len(args) == 2 {
		o.params = args[1]
	}
	return nil
}

// RunRaw sends the request and prints the response.
func RunRaw(ctx context.Context, o rawOptions) error {
	params, err := readParams(o.Out, o.params)
	if err != nil {
		failed := &exec.Result{ToolName: o.method, Err: err}
		return o.Printer.PrintReply(ctx, failed, o.ReplyFlags, request.Request{}, nil)
	}
	var reply *protocol.Answer
	r := request.Request{
		Name: o.method, Method: o.method, Server: o.name,
		Prepare: func(context.Context, request.Target) (json.RawMessage, error) { return params, nil },
		Send: func(ctx context.Context, to request.Target) (json.RawMessage, error) {
			if o.method == string(mcp.MethodToolsCall) && guarded(to) {
				o.Out.Log.Warn("raw sends any request: allow, deny, readOnly and confirm do not apply")
			}
			answer, err := to.Session.Request(ctx, o.method, to.Arguments, nil)
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
	if o.Output == "raw" && o.Jq == "" {
		r.Show = func(result *exec.Result) error { return printFrame(o.Out, reply, result.Err) }
	}
	return o.Requests.Send(ctx, o.ReplyFlags, r)
}

// guarded reports whether the config restricts the tools of the server.
func guarded(to request.Target) bool {
	return slices.ContainsFunc(to.Box.Config().Servers, func(server *config.Server) bool {
		return server.Name == to.Session.Name && server.Guards.Says()
	})
}

// printFrame prints a response unchanged, on one line. An error in it sets the exit code, and is not reported again.
func printFrame(o *streams.Streams, reply *protocol.Answer, failure error) error {
	o.Live.Clear()
	if reply == nil {
		return failure
	}
	frame := []byte(reply.Frame)
	if bytes.ContainsRune(frame, '\n') {
		frame = rawjson.Compact(reply.Frame)
	}
	frame = append(frame, '\n')
	var err error
	if o.Console.OutTTY {
		err = rawjson.Escape(o.Console.Out, frame)
	} else {
		_, err = o.Console.Out.Write(frame)
	}
	if err == nil && failure != nil {
		return exit.Reported(failure)
	}
	return err
}

// readParams reads JSON, @FILE or -; nil if nothing was given.
func readParams(o *streams.Streams, text string) (json.RawMessage, error) {
	data := []byte(text)
	if file, isFile := strings.CutPrefix(text, "@"); isFile || text == "-" {
		var err error
		if data, err = o.ReadInput(file); err != nil {
			return nil, err
		}
	} else if text == "" {
		return nil, nil
	}
	if !json.Valid(data) {
		return nil, fault.Usage("the params are not JSON: "+strconv.Quote(words.Clip(string(data), 80)),
			`for example: '{"cursor":"2"}'`)
	}
	return bytes.TrimSpace(data), nil
}
