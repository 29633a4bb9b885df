package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	replyOptions
	prompt string
	args   []string // k=v, in the order given
	object string   // --args
}

func newPromptsCommand(app *App) *cobra.Command {
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
		newCatalogCommand(app, promptCatalog(), "list [PATTERN…] [-- COMMAND…]", "List the prompts of all servers", runCatalog),
		newPromptGetCommand(app, runPromptGet),
	)
	return cmd
}

const promptExits = `Exit codes: 0 success, 2 wrong usage or arguments, or no server has it, 3
authentication, 4 the server was not reached, 5 the server refused, 6 the protocol
was broken, 124 timeout, 130 interrupted.`

func promptCatalog() catalog {
	return catalog{
		noun: "prompt", plural: "prompts", member: "prompts", method: "prompts/list",
		list: (*servers.Session).Prompts,
		entry: func(definition json.RawMessage) render.Entry {
			return render.Entry{
				Plain: rawjson.GetText(definition, "name"), Title: rawjson.GetText(definition, "title"),
				Description: rawjson.GetText(definition, "description"), Remark: promptSignature(definition),
			}
		},
	}
}

// promptSignature is what a prompt takes, as tools show it: (name, style?).
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

func newPromptGetCommand(app *App, run func(context.Context, *App, promptOptions) error) *cobra.Command {
	var o promptOptions
	var objects []string
	formats := []string{"text", "json", "raw", "yaml"}
	cmd := &cobra.Command{
		Use:   "get PROMPT [k=v…] [-- COMMAND…]",
		Short: "Print a prompt with its arguments filled in",
		Long: `Print the messages of a prompt on stdout: the text alone where there is one message,
else each below its role. Arguments are texts, in the forms that toolx call knows:
k=v, k=@FILE, k=@- and --args.

` + promptExits,
		Example: `  toolx prompts get args-prompt city=Paris state=Texas -- npx -y @modelcontextprotocol/server-everything
  toolx prompts get docs__summary text=@README.md`,
		Args: func(cmd *cobra.Command, args []string) (err error) {
			if args, o.server, err = splitDash(cmd, args); err != nil {
				return err
			}
			if len(args) == 0 || args[0] == "" {
				return fault.Usage("name a prompt", "toolx prompts get PROMPT; toolx prompts list shows them")
			}
			o.prompt = args[0]
			o.args = append(o.args, args[1:]...)
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd.Flags(), formats...); err != nil {
				return err
			}
			var err error
			if o.object, err = oneObject(cmd.Flags(), objects); err != nil {
				return err
			}
			return run(cmd.Context(), app, o)
		},
		ValidArgsFunction: completeNamed(app, promptCatalog()),
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&o.args, "arg", "a", nil, "one argument, `k=v` (repeatable)")
	flags.StringArrayVar(&objects, "args", nil, "all arguments as one `JSON` object, @FILE or -")
	o.declare(flags, formats...)
	o.declareContent(flags)
	return cmd
}

// oneObject is the value of --args, which may be given once.
func oneObject(flags *pflag.FlagSet, objects []string) (string, error) {
	switch {
	case len(objects) > 1:
		return "", fault.Usage("--args is given twice",
			"give one object, and lay single arguments over it: --args @FILE k=v")
	case len(objects) == 1 && objects[0] == "":
		return "", fault.Usage("--args is empty", `--args '{"k":"v"}'`)
	case !flags.Changed("args"):
		return "", nil
	}
	return objects[0], nil
}

// runPromptGet asks for a prompt and prints its messages.
func runPromptGet(ctx context.Context, app *App, o promptOptions) error {
	var listed promptNames
	return app.runRequest(ctx, o.replyOptions, request{
		name: o.prompt, what: "prompt", method: "prompts/get", near: listed.near,
		has: func(ctx context.Context, session *servers.Session) (bool, error) {
			definition, err := listed.find(ctx, session, o.prompt)
			return definition != nil, err
		},
		prepare: func(ctx context.Context, box *toolbox, session *servers.Session, name string) (json.RawMessage, error) {
			definition, err := exec.Within(ctx, box.executor, "prompts/list", func(ctx context.Context) (json.RawMessage, error) {
				return listed.find(ctx, session, name)
			})
			if err != nil {
				return nil, err
			}
			if near := listed.near(name); definition == nil && near != "" {
				app.log.Warn(fmt.Sprintf("server %q lists no prompt '%s'; did you mean '%s'?", session.Name, name, near))
			}
			return app.promptArguments(ctx, session, name, definition, o)
		},
		send: func(ctx context.Context, session *servers.Session, name string, arguments json.RawMessage, progress func(exec.Progress)) (json.RawMessage, error) {
			return session.GetPrompt(ctx, name, arguments, progress)
		},
		read: exec.ReadPrompt,
		text: func(out io.Writer, result *exec.Result) error {
			messages, err := exec.ReadMessages(result.Raw)
			if err != nil {
				return err
			}
			return render.Messages(out, messages, app.outScreen())
		},
	})
}

// promptNames are the names of the prompts that servers list. It is safe for concurrent use.
type promptNames struct {
	mu    sync.Mutex
	names []string
}

// find is findPrompt, and keeps the names that it sees.
func (p *promptNames) find(ctx context.Context, session *servers.Session, name string) (json.RawMessage, error) {
	prompts, err := session.Prompts(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range prompts {
		p.names = append(p.names, rawjson.GetText(one, "name"))
	}
	return promptNamed(prompts, name), err
}

// near is the name that a misspelt one most likely means, empty where there is none.
func (p *promptNames) near(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return words.Nearest(name, p.names)
}

// promptNamed is the prompt of a name, nil where it is not among them.
func promptNamed(prompts []json.RawMessage, name string) json.RawMessage {
	at := slices.IndexFunc(prompts, func(one json.RawMessage) bool { return rawjson.GetText(one, "name") == name })
	if at < 0 {
		return nil
	}
	return prompts[at]
}

func findPrompt(ctx context.Context, session *servers.Session, name string) (json.RawMessage, error) {
	prompts, err := session.Prompts(ctx)
	return promptNamed(prompts, name), err
}

// promptArguments reads the arguments by what the prompt says of itself. A prompt that
// is not listed is for the server to judge: then any argument is a text.
func (a *App) promptArguments(ctx context.Context, session *servers.Session, name string, definition json.RawMessage, o promptOptions) (json.RawMessage, error) {
	tool := &exec.Tool{
		Name: session.Name + exec.Separator + name, Plain: name, Server: session.Name,
		InputSchema: servers.PromptSchema(definition, namesOf(o.args)...), Launch: o.server, Address: a.flags.url, Flags: a.flags.reaching(),
	}
	arguments, err := exec.ParseArgs(tool, exec.Input{Args: o.args, Object: o.object, Stdin: a.Console.In})
	if err == nil {
		err = a.checkPrompt(ctx, tool, arguments, definition)
	}
	var invalid *exec.InvalidArgumentsError
	if errors.As(err, &invalid) {
		return nil, &promptArgumentsError{invalid}
	}
	return arguments, err
}

// checkPrompt holds arguments against the prompt's own list; what it does not know is
// passed on with a warning, as for tools (VAL-2).
func (a *App) checkPrompt(ctx context.Context, tool *exec.Tool, arguments, definition json.RawMessage) error {
	schema, err := jsonschema.Parse(servers.PromptSchema(definition)).Compile(ctx)
	if err != nil {
		return nil //nolint:nilerr // the server judges (VAL-3)
	}
	problems, unknown := schema.Validate(ctx, arguments)
	if len(problems) > 0 {
		return &exec.InvalidArgumentsError{Tool: tool, Problems: problems, Unknown: unknown, Arguments: arguments}
	}
	for _, one := range unknown {
		a.log.Warn(one.String())
	}
	return nil
}

// namesOf are the names of arguments as they were typed: k=v, k:=JSON.
func namesOf(typed []string) []string {
	names := make([]string, len(typed))
	for i, one := range typed {
		name, _, _ := strings.Cut(one, "=")
		names[i] = strings.TrimSuffix(name, ":")
	}
	return names
}

// promptArgumentsError shows how the prompt is asked for, where exec would show a call.
type promptArgumentsError struct{ *exec.InvalidArgumentsError }

// Hint gives an example that works.
func (e *promptArgumentsError) Hint() string {
	return strings.Replace(e.InvalidArgumentsError.Hint(), "toolx call ", "toolx prompts get ", 1)
}

// Unwrap gives the error that it shows.
func (e *promptArgumentsError) Unwrap() error { return e.InvalidArgumentsError }
