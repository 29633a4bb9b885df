package cmd

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
	"toolx/cmd/request"
	"toolx/cmd/streams"
	"toolx/pkg/catalog"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers"
	"toolx/pkg/words"
)

// promptOptions say which prompt is asked for, with what.
type promptOptions struct {
	Out      *streams.Streams
	Requests *request.Sender

	request.ReplyFlags
	prompt string
	args   []string // k=v, in the order given
	object string   // --args
}

func newPromptsCommand(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prompts VERB",
		Short: "List and get the prompts of servers",
		Long: `Prompts are messages for a model that servers have ready, with arguments filled in.

A prompt's name may have its server's before it: server__prompt. Without one it is
that of the only server that has it.

` + promptExits,
		Example: `  toolx prompts list
  toolx prompts get args-prompt city=Paris -- npx -y @modelcontextprotocol/server-everything
  toolx prompts get review code=@main.go --jq '.messages[].content.text'`,
		Args: needsVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return needsVerb(cmd, nil) },
	}
	cmd.AddCommand(
		newListingCommand(f, promptCatalog(), "List the prompts of all servers", runListing),
		newPromptGetCommand(f, runPromptGet),
	)
	return cmd
}

const promptExits = `Exit codes: 0 success, 2 wrong usage or arguments, or no server has it, 3
authentication, 4 the server was not reached, 5 the server refused, 6 the protocol
was broken, 124 timeout, 130 interrupted.`

func promptCatalog() listing {
	return listing{
		noun: "prompt", verb: []string{"prompts", "list"}, kind: catalog.Prompts,
		member: "prompts", method: "prompts/list",
		list: (*servers.Session).Prompts,
		entry: func(definition json.RawMessage) render.Entry {
			return render.Entry{
				Plain: rawjson.GetText(definition, "name"), Title: rawjson.GetText(definition, "title"),
				Description: rawjson.GetText(definition, "description"), Remark: promptSignature(definition),
			}
		},
	}
}

// promptSignature returns what a prompt takes, as tools show it: (name, style?).
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

func newPromptGetCommand(f *factory.Factory, run cli.RunFunc[promptOptions]) *cobra.Command {
	o := promptOptions{Out: f.Out, Requests: f.Requests}
	formats := []string{"text", "json", "raw"}
	cmd := &cobra.Command{
		Use:   "get PROMPT [k=v…] [-- COMMAND…]",
		Short: "Print a prompt with its arguments filled in",
		Long: `Print the messages of a prompt on stdout: the text alone where there is one message,
else each below its role. Arguments are texts, in the forms that toolx call knows:
k=v, k=@FILE, k=@- and --args.

` + promptExits,
		Example: `  toolx prompts get args-prompt city=Paris state=Texas -- npx -y @modelcontextprotocol/server-everything
  toolx prompts get docs__summary text=@README.md`,
		Args: cli.WithCommand(&o.Server, func(args []string) error {
			if len(args) == 0 || args[0] == "" {
				return fault.Usage("name a prompt", "toolx prompts get PROMPT; toolx prompts list shows them")
			}
			o.prompt = args[0]
			o.args = append(o.args, args[1:]...)
			return nil
		}),
		ValidArgsFunction: complete.Prompt(f.Tools),
	}
	flags := cmd.Flags()
	request.DeclareArguments(flags, &o.args, &o.object)
	o.Declare(flags, formats...)
	o.DeclareContent(flags)
	cmd.RunE = cli.Run(&o, run, o.Check(flags, formats...))
	return cmd
}

// runPromptGet asks for a prompt and prints its messages.
func runPromptGet(ctx context.Context, o promptOptions) error {
	return o.Requests.Send(ctx, o.ReplyFlags, o.request(o.Out))
}

// request returns what is asked of the server; out is where messages are drawn.
func (o promptOptions) request(out *streams.Streams) request.Request {
	var listed promptNames
	return request.Request{
		Name: o.prompt, What: "prompt", Method: "prompts/get", Near: listed.near,
		Kinds: []catalog.Kind{catalog.Prompts},
		Kept:  func(list *catalog.List) bool { return list.Find(o.prompt) != nil },
		Has: func(ctx context.Context, session *servers.Session) (bool, error) {
			definition, err := listed.find(ctx, session, o.prompt)
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

// promptNames holds the names of the prompts that servers list. It is safe for concurrent use.
type promptNames struct {
	mu    sync.Mutex
	names []string
}

// find returns the prompt of a name, nil where the server does not list it, and keeps all names.
func (p *promptNames) find(
	ctx context.Context, session *servers.Session, name string,
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

// near returns the name that a misspelt one most likely means, or empty.
func (p *promptNames) near(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return words.Nearest(name, p.names)
}

// promptArguments reads the arguments by the prompt's definition, as those of a tool. The server judges a prompt that
// it does not list, whose arguments are all texts.
func promptArguments(
	ctx context.Context, to request.Target, definition json.RawMessage, o promptOptions,
) (json.RawMessage, error) {
	names := make([]string, len(o.args)) // as they were typed: k=v, k:=JSON
	for i, typed := range o.args {
		name, _, _ := strings.Cut(typed, "=")
		names[i] = strings.TrimSuffix(name, ":")
	}
	tool := &exec.Tool{
		Name: to.Session.Name + exec.Separator + to.Plain, Plain: to.Plain, Server: to.Session.Name,
		InputSchema: servers.PromptSchema(definition, names...),
		Launch:      o.Server, Address: to.Box.Flags.URL, Flags: to.Box.Flags.ConnectionFlags(),
	}
	arguments, err := exec.ParseArgs(tool, exec.Input{Args: o.args, Object: o.object, Stdin: to.Box.Out.Console.In})
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

// checkPrompt checks arguments against the prompt's own list. It passes on what is not listed, with a warning, as for
// tools (VAL-2).
func checkPrompt(
	ctx context.Context, o *streams.Streams, tool *exec.Tool, arguments, definition json.RawMessage,
) error {
	schema, err := jsonschema.Parse(servers.PromptSchema(definition)).Compile(ctx)
	if err != nil {
		return nil //nolint:nilerr // the server judges (VAL-3)
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
