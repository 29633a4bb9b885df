package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolx/pkg/ai"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// askOptions say what a model is asked, which one, and with which tools.
type askOptions struct {
	question  string // "-" is standard input
	provider  string
	model     string
	baseURL   string
	servers   []string
	tools     []string // patterns
	system    string   // TEXT or @FILE
	maxTurns  int
	maxResult string
	json      bool
	dryRun    bool
	yes       bool
	follow    bool
	server    []string // a command line behind --
	answers   answerOptions
}

// nobody says that the terminal, if there is one, is not for asking the user: what is typed there are questions.
func (o *askOptions) nobody() bool { return o.follow || o.question == "-" }

func newAskCommand(app *App, run func(context.Context, *App, askOptions) error) *cobra.Command {
	var o askOptions
	cmd := &cobra.Command{
		Use:   "ask QUESTION [-- COMMAND…]",
		Short: "Let a model answer, calling tools",
		Long: `Ask a model, and run the tools that it calls: those of all configured servers, of
the config, and toolx's own. The answer is written to stdout as it comes, calls and
their times to stderr. A QUESTION of - is read from standard input.

The model is one of Ollama on this machine, unless --provider says otherwise:

  ollama     OLLAMA_HOST; the model is qwen3:0.6b where --model names no other
  anthropic  ANTHROPIC_API_KEY
  openai     OPENAI_API_KEY, and whatever speaks OpenAI's chat completions at
             --base-url: vLLM, LM Studio, llama.cpp, Mistral

Exit codes: 0 answered, 2 wrong usage, unknown model or one without tools, 3 the key
is missing or refused, 4 the provider or a server was not reached, 5 the model
refused or came to no end, 6 its answer broke off, 124 it went silent, 130
interrupted. A tool that fails is told to the model and fails nothing else.`,
		Example: `  toolx ask "turn on switch one"
  toolx ask "which rooms are too warm?" --provider anthropic --tools 'zwave__*'
  toolx ask "what can you do?" --dry-run -- npx -y @modelcontextprotocol/server-everything
  transcribe | toolx ask --follow --server zwave`,
		Args: func(cmd *cobra.Command, args []string) (err error) {
			if args, o.server, err = splitDash(cmd, args); err != nil {
				return err
			}
			o.question = strings.TrimSpace(strings.Join(args, " "))
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return run(cmd.Context(), app, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.provider, "provider", ai.Ollama, "`NAME` of who has the model: "+strings.Join(ai.Providers(), ", "))
	flags.StringVar(&o.model, "model", "", "`NAME` of the model, as the provider has it")
	flags.StringVar(&o.baseURL, "base-url", "", "`URL` of the provider's server, up to the version: http://localhost:8000/v1")
	flags.StringArrayVar(&o.servers, "server", nil, "give the model the tools of server `NAME` only (repeatable)")
	flags.StringArrayVar(&o.tools, "tools", nil, "give the model the tools that match `PATTERN` only, as for list (repeatable)")
	flags.StringVar(&o.system, "system", "", "instructions to the model: `TEXT` or @FILE")
	flags.IntVar(&o.maxTurns, "max-turns", ai.DefaultMaxTurns, "give up when the model still calls tools after `N` turns")
	flags.StringVar(&o.maxResult, "max-result", "64KiB", "cut each result for the model at `SIZE` (0: never)")
	flags.BoolVar(&o.json, "json", false, "print what happens as JSON lines")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print the request with the converted tools instead of sending it")
	flags.BoolVarP(&o.yes, "yes", "y", false, "run destructive tools without asking")
	flags.BoolVar(&o.follow, "follow", false, "answer line by line what comes on standard input, in one conversation")
	o.answers.declare(flags)
	return cmd
}

// check refuses options that do not go together.
func (o *askOptions) check() error {
	switch {
	case o.question == "" && !o.follow:
		return fault.Usage("there is no question", `toolx ask "what time is it?"; - reads it from standard input`)
	case o.question == "-" && o.follow:
		return fault.Usage("standard input cannot be a question and questions", "leave out - with --follow")
	case o.follow && o.dryRun && o.question == "":
		return fault.Usage("--dry-run needs a question", `toolx ask "what time is it?" --dry-run`)
	case o.maxTurns < 1:
		return fault.Usage("--max-turns must be at least 1", "--max-turns 8")
	case len(o.server) > 0 && len(o.servers) > 0:
		return fault.Usage("--server and a command after -- do not go together", "leave out one of them")
	}
	if err := checkPatterns(o.tools); err != nil {
		return err
	}
	return o.answers.check()
}

// runAsk sets up the model and its tools, and asks.
func runAsk(ctx context.Context, app *App, o askOptions) error {
	app.mask.Add(ai.Secrets(os.Getenv)...)
	provider, err := ai.New(ai.Options{
		Provider: o.provider, Model: o.model, BaseURL: o.baseURL,
		Getenv: os.Getenv, UserAgent: "toolx/" + Version(),
	})
	if err == nil && !o.dryRun {
		err = provider.Check()
	}
	if err != nil {
		return err
	}
	talk, err := app.conversation(o, provider)
	if err != nil {
		return err
	}
	question, err := app.readQuestion(ctx, o.question)
	if err != nil {
		return err
	}
	tools := toolboxOptions{server: o.server, tellsFailures: true, answers: &o.answers}
	if o.nobody() {
		tools.user = &person{}
	}
	box, err := app.toolbox(tools)
	if err != nil {
		return err
	}
	if err := app.openForAsk(ctx, box, o); err != nil {
		return app.asLine(o, err)
	}
	talk.Executor = box.executor
	talk.Tools = func() []*exec.Tool { return box.toolsFor(o) }
	if err := app.checkOffered(o, talk.Tools()); err != nil {
		return err
	}
	if o.dryRun {
		return app.printAskRequest(talk, question)
	}
	view := newAskView(app, o.json, provider.Model())
	talk.On = view.take
	talk.Confirm = app.confirmation(o)
	talk.Ready = func(ctx context.Context, tool *exec.Tool) (*exec.Tool, error) {
		tool, err := box.readyTool(ctx, tool)
		return tool, app.masked(err)
	}
	if o.follow {
		return app.follow(ctx, talk, view, question)
	}
	view.question = question
	_, err = talk.Ask(ctx, question)
	return view.failed(view.end(err))
}

// checkOffered refuses --tools that leave the model without any tool, and warns of a
// pattern that adds none: most are misspelled.
func (a *App) checkOffered(o askOptions, offered []*exec.Tool) error {
	if len(o.tools) > 0 && len(offered) == 0 {
		return fault.Usage("no tool matches --tools "+strings.Join(o.tools, " "), "toolx list shows the tools")
	}
	for _, pattern := range o.tools {
		if !slices.ContainsFunc(offered, func(tool *exec.Tool) bool { return matches(tool, []string{pattern}) }) {
			a.log.Warn("no tool matches --tools " + pattern)
		}
	}
	return nil
}

// conversation is what the options say of it; executor and tools come later.
func (a *App) conversation(o askOptions, provider ai.Provider) (*ai.Conversation, error) {
	talk := &ai.Conversation{Provider: provider, MaxTurns: o.maxTurns, System: o.system}
	size, err := config.ParseSize(o.maxResult)
	if err != nil {
		return nil, fault.Usage("--max-result: "+err.Error(), "--max-result 64KiB")
	}
	if talk.MaxResult = int(size); size == 0 {
		talk.MaxResult = -1
	}
	if file, is := strings.CutPrefix(o.system, "@"); is && !strings.HasPrefix(file, "@") {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fault.Usage("--system: "+err.Error(), "--system @FILE; @@ is a literal @")
		}
		talk.System = string(text)
	} else if is {
		talk.System = file
	}
	return talk, nil
}

// readQuestion reads standard input where that is the question.
func (a *App) readQuestion(ctx context.Context, question string) (string, error) {
	if question != "-" {
		return question, nil
	}
	read := make(chan error, 1)
	var text []byte
	go func() {
		var err error
		text, err = io.ReadAll(a.Console.In)
		read <- err
	}()
	select {
	case <-ctx.Done():
		return "", &exec.InterruptedError{}
	case err := <-read:
		if err != nil {
			return "", &fault.UsageError{Message: "standard input cannot be read: " + err.Error()}
		}
	}
	if question = strings.TrimSpace(string(text)); question == "" {
		return "", fault.Usage("standard input holds no question", `echo "what time is it?" | toolx ask -`)
	}
	return question, nil
}

// openForAsk starts the servers whose tools the model may get. Where some do not
// answer the others will do, unless they were asked for by name.
func (a *App) openForAsk(ctx context.Context, box *toolbox, o askOptions) error {
	known := box.pool.Names()
	for _, name := range o.servers {
		if !slices.Contains(known, name) {
			return &exec.NotFoundError{Name: name + exec.Separator + "*", UnknownServer: name, Servers: known}
		}
	}
	// Whoever names a tool that no server's can be wants no server.
	patterns := slices.DeleteFunc(slices.Clone(o.tools), func(pattern string) bool { return box.registry.Settled(pattern) != nil })
	if len(o.servers) == 0 && len(o.tools) > 0 && len(patterns) == 0 {
		return nil
	}
	opened, err := a.openServers(ctx, box, "ask", toolFilter{servers: o.servers, patterns: patterns})
	if err != nil {
		return err
	}
	a.tellRest(box, opened)
	if len(o.servers) > 0 || box.adHoc {
		return listFailure(opened, false)
	}
	return nil
}

// asLine prints a failure that only stderr has been told of as a JSON line too, where that was asked for.
func (a *App) asLine(o askOptions, err error) error {
	var reported *reportedError
	if !o.json || !errors.As(err, &reported) {
		return err
	}
	return errors.Join(a.askFailureLine(o.question, reported.error), err)
}

// toolsFor are the tools that the model gets.
func (b *toolbox) toolsFor(o askOptions) []*exec.Tool {
	return slices.DeleteFunc(b.registry.Offered(), func(tool *exec.Tool) bool {
		return len(o.servers) > 0 && !slices.Contains(o.servers, tool.Server) || !matches(tool, o.tools)
	})
}

// readyTool starts the server of a tool anew where it has ended, and gives the tool as that server has it now.
func (b *toolbox) readyTool(ctx context.Context, tool *exec.Tool) (*exec.Tool, error) {
	if tool.Server == "" {
		return tool, nil
	}
	if _, err := b.pool.Open(ctx, tool.Server); err != nil {
		return nil, err
	}
	all := b.registry.All()
	at := slices.IndexFunc(all, func(one *exec.Tool) bool { return one.Server == tool.Server && one.Plain == tool.Plain })
	if at < 0 {
		return nil, &exec.NotFoundError{Name: tool.Name}
	}
	return all[at], nil
}

// printAskRequest prints what would be sent (--dry-run).
func (a *App) printAskRequest(talk *ai.Conversation, question string) error {
	talk.On = func(event ai.Event) {
		switch e := event.(type) {
		case ai.Offered:
			a.logOffered(e)
		case ai.Overfull:
			a.warnOverfull(e)
		}
	}
	return render.Document(a.Console.Out, talk.Request(question), a.outScreen())
}

// confirmation asks before a destructive tool runs. Where nobody can be asked, the answer is no.
func (a *App) confirmation(o askOptions) func(context.Context, *exec.Tool, json.RawMessage) error {
	if o.yes {
		return func(context.Context, *exec.Tool, json.RawMessage) error { return nil }
	}
	if !a.Console.InTTY || !a.Console.ErrTTY || o.nobody() {
		return func(_ context.Context, tool *exec.Tool, _ json.RawMessage) error {
			a.log.Warn(tool.Name + " is destructive and was not run: there is nobody to ask; --yes runs such tools")
			return &ai.DeclinedError{Tool: tool.Name, Why: "it is destructive, and nobody could be asked; toolx ask --yes allows it"}
		}
	}
	return func(ctx context.Context, tool *exec.Tool, arguments json.RawMessage) error {
		a.keyboard.mu.Lock()
		defer a.keyboard.mu.Unlock()
		defer a.live.Hold()()
		fmt.Fprintf(a.live, "run %s %s? It says that it is destructive. [y/N] ",
			render.Safe(tool.Name), render.Safe(words.Clip(string(a.mask.JSON(arguments)), 400)))
		line, err := a.keyboard.line(ctx) // the end of the input says no
		if err != nil {
			fmt.Fprintln(a.live) // nobody has typed Enter
		}
		if ctx.Err() != nil {
			return &exec.InterruptedError{Tool: tool.Name}
		}
		if said := strings.ToLower(strings.TrimSpace(line)); said == "y" || said == "yes" {
			return nil
		}
		return &ai.DeclinedError{Tool: tool.Name}
	}
}
