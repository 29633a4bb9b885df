package resources

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/list"
	"toolx/cmd/request"
	"toolx/cmd/streams"
	"toolx/pkg/catalog"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/words"
)

// PromptOptions are the prompt to get, and its arguments.
type PromptOptions struct {
	Out      *streams.Streams
	Requests *request.Sender

	request.ReplyFlags
	Prompt string
	args   []string // k=v, in the order given
	Object string   // --args
}

// NewPrompts returns the command prompts.
func NewPrompts(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prompts COMMAND",
		Short: "List and get prompts",
		Long: `List and get the prompts of servers: messages for a model, with arguments filled in.

A server's name may precede the prompt's: server__prompt. Otherwise the prompt belongs
to the only server that has it.

` + promptExits,
		Example: `  toolx prompts list
  toolx prompts get args-prompt city=Paris -- npx -y @modelcontextprotocol/server-everything
  toolx prompts get review code=@main.go --jq '.messages[].content.text'`,
		Args: needsVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return needsVerb(cmd, nil) },
	}
	cmd.AddCommand(
		list.NewListing(f, promptCatalog(), "List prompts", list.RunListing),
		newPromptGetCommand(f, RunPromptGet),
	)
	return cmd
}

const promptExits = `Exit codes: 0 success, 2 wrong usage or arguments, or no server has it, 3
authentication required, 4 the server could not be reached, 5 the server refused, 6 the
server broke the protocol, 124 timeout, 130 interrupted.`

func promptCatalog() list.Listing {
	return list.Listing{
		Noun: "prompt", Verb: []string{"prompts", "list"}, Kind: catalog.Prompts,
		Member: "prompts", Method: "prompts/list",
		List: (*protocol.Session).Prompts,
		Entry: func(definition json.RawMessage) render.Entry {
			return render.Entry{
				Plain: rawjson.GetText(definition, "name"), Title: rawjson.GetText(definition, "title"),
				Description: rawjson.GetText(definition, "description"), Remark: promptSignature(definition),
			}
		},
	}
}

// promptSignature returns the parameters of a prompt, as for tools: (name, style?).
func promptSignature(definition json.RawMessage) string {
	arguments, _ := rawjson.Elements(rawjson.Get(definition, "arguments"))
	names := make([]string, len(arguments))
	for i, argument := range arguments {
		names[i] = rawjson.GetText(argument, "name")
		if string(rawjson.Get(argument, "required")) != "true" {
			names[i] += "?"
		}
	}
	return "(" + strings.Join(names, ", ") + ")"
}

func newPromptGetCommand(f *factory.Factory, run cli.RunFunc[PromptOptions]) *cobra.Command {
	o := PromptOptions{Out: f.Out, Requests: f.Requests}
	formats := []string{"text", "json", "raw"}
	cmd := &cobra.Command{
		Use:   "get PROMPT [k=v…] [-- COMMAND…]",
		Short: "Print a prompt with its arguments filled in",
		Long: `Print the messages of a prompt on stdout: only the text if there is one message,
otherwise each message below its role. Arguments are text, in the forms of toolx call: k=v,
k=@FILE, k=@- and --args.

` + promptExits,
		Example: `  toolx prompts get args-prompt city=Paris state=Texas -- npx -y @modelcontextprotocol/server-everything
  toolx prompts get docs__summary text=@README.md`,
		Args: cli.WithCommand(&o.Server, func(args []string) error {
			if len(args) == 0 || args[0] == "" {
				return fault.Usage("a prompt name is required",
					"toolx prompts get PROMPT; toolx prompts list shows them")
			}
			o.Prompt = args[0]
			o.args = append(o.args, args[1:]...)
			return nil
		}),
		ValidArgsFunction: complete.Prompt(f.Tools),
	}
	flags := cmd.Flags()
	request.DeclareArguments(flags, &o.args, &o.Object)
	o.Declare(flags, formats...)
	o.DeclareContent(flags)
	cmd.RunE = cli.Run(&o, run, o.Check(flags, formats...))
	return cmd
}

// RunPromptGet gets a prompt and prints its messages.
func RunPromptGet(ctx context.Context, o PromptOptions) error {
	return o.Requests.Send(ctx, o.ReplyFlags, o.Request(o.Out))
}

// Request returns the request to the server; messages are drawn on out.
func (o PromptOptions) Request(out *streams.Streams) request.Request {
	var listed promptNames
	return request.Request{
		Name: o.Prompt, What: "prompt", Method: "prompts/get", Near: listed.near,
		Kinds: []catalog.Kind{catalog.Prompts},
		Kept:  func(list *catalog.List) bool { return list.Find(o.Prompt) != nil },
		Has: func(ctx context.Context, session *protocol.Session) (bool, error) {
			definition, err := listed.find(ctx, session, o.Prompt)
			return definition != nil, err
		},
		Prepare: func(ctx context.Context, to request.Target) (json.RawMessage, error) {
			find := func(ctx context.Context) (json.RawMessage, error) { return listed.find(ctx, to.Session, to.Plain) }
			definition, err := exec.Within(ctx, to.Box.Executor, "prompts/list", find)
			if err != nil {
				return nil, err
			}
			if near := listed.near(to.Plain); definition == nil && near != "" {
				const text = "server %q lists no prompt '%s'; did you mean '%s'?"
				to.Box.Out.Log.Warn(fmt.Sprintf(text, to.Session.Name, to.Plain, near))
			}
			return promptArguments(ctx, to, definition, o)
		},
		Send: func(ctx context.Context, to request.Target) (json.RawMessage, error) {
			return to.Session.GetPrompt(ctx, to.Plain, to.Arguments, to.Progress)
		},
		Read: exec.ReadPrompt,
		Text: func(to io.Writer, result *exec.Result) error {
			messages, err := exec.ReadMessages(result.Raw)
			if err != nil {
				return err
			}
			return render.Messages(to, messages, out.OutScreen())
		},
	}
}

// promptNames collects the names of the prompts that servers list. It is safe for concurrent use.
type promptNames struct {
	mu    sync.Mutex
	names []string
}

// find returns the prompt with a name, or nil if the server does not list it, and collects all names.
func (p *promptNames) find(
	ctx context.Context, session *protocol.Session, name string,
) (found json.RawMessage, err error) {
	prompts, err := session.Prompts(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range prompts {
		listed := rawjson.GetText(one, "name")
		p.names = append(p.names, listed)
		if listed == name && found == nil {
			found = one
		}
	}
	return found, err
}

// near returns the most similar name to a misspelt one, or empty.
func (p *promptNames) near(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return words.Nearest(name, p.names)
}

// promptArguments reads the arguments by the prompt's definition, as for a tool. If the server does not list the
// prompt, all arguments are strings, and the server validates them.
func promptArguments(
	ctx context.Context, to request.Target, definition json.RawMessage, o PromptOptions,
) (json.RawMessage, error) {
	names := make([]string, len(o.args)) // as typed: k=v, k:=JSON
	for i, typed := range o.args {
		name, _, _ := strings.Cut(typed, "=")
		names[i] = strings.TrimSuffix(name, ":")
	}
	tool := &exec.Tool{
		Name: to.Session.Name + exec.Separator + to.Plain, Plain: to.Plain, Server: to.Session.Name,
		InputSchema: protocol.PromptSchema(definition, names...),
		Launch:      o.Server, Address: to.Box.Flags.URL, Flags: to.Box.Flags.ConnectionFlags(),
	}
	arguments, err := exec.ParseArgs(tool, exec.Input{Args: o.args, Object: o.Object, Stdin: to.Box.Out.Console.In})
	if err == nil {
		err = checkPrompt(ctx, to.Box.Out, tool, arguments, definition)
	}
	var invalid *exec.InvalidArgumentsError
	if errors.As(err, &invalid) {
		hint := strings.Replace(invalid.Hint(), "toolx call ", "toolx prompts get ", 1)
		return nil, exit.Fail(invalid, fault.KindInvalidArguments, hint)
	}
	return arguments, err
}

// checkPrompt checks arguments against the prompt's own list. As for tools, it sends arguments that are not listed too,
// with a warning (VAL-2).
func checkPrompt(
	ctx context.Context, o *streams.Streams, tool *exec.Tool, arguments, definition json.RawMessage,
) error {
	schema, err := jsonschema.Parse(protocol.PromptSchema(definition)).Compile(ctx)
	if err != nil {
		return nil //nolint:nilerr // the server validates them (VAL-3)
	}
	problems, unknown := schema.Validate(ctx, arguments)
	if len(problems) > 0 {
		return &exec.InvalidArgumentsError{Tool: tool, Problems: problems, Unknown: unknown, Arguments: arguments}
	}
	for _, one := range unknown {
		o.Log.Warn(one.String())
	}
	return nil
}
