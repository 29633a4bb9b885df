// Package ask lets a model answer a question, calling tools.
package ask

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/ai"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/guard"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// Options are the question, the model, and the tools that it can call.
type Options struct {
	Out   *streams.Streams
	Tools *toolset.Opener

	question  string // "-" is standard input
	provider  string
	model     string
	baseURL   string
	tools     []string // patterns
	system    string   // TEXT or @FILE
	maxTurns  int
	maxResult string
	json      bool
	dryRun    bool
	yes       bool
	follow    bool
	textCalls bool
	server    []string // a command line after --
	answers   person.AnswerFlags
	guards    toolset.Guards
}

// readsQuestions reports whether questions come from standard input, so that no user can be asked there.
func (o *Options) readsQuestions() bool { return o.follow || o.question == "-" }

// New returns the command ask; run runs it.
func New(f *factory.Factory, run cli.RunFunc[Options]) *cobra.Command {
	o := Options{Out: f.Out, Tools: f.Tools}
	cmd := &cobra.Command{
		Use:   "ask QUESTION [-- COMMAND…]",
		Short: "Ask a model that can call tools",
		Long: `Ask a model a question and run the tools that it calls. It can call the tools of all
configured servers and of the config, and built-in tools that the config or --tools
names. The answer is printed on stdout as it arrives, calls and their times on stderr.
If QUESTION is -, it is read from standard input.

The default provider is Ollama on this machine:

` + ai.Help() + `
Tool failures are reported to the model and do not change the exit code.

Exit codes: 0 answered, 2 wrong usage, or a model that is unknown or cannot call tools,
3 the key is missing or refused, 4 the provider or a server could not be reached, 5 the
model refused or did not finish, 6 the answer was cut off, 124 the provider stopped
responding, 130 interrupted.`,
		Example: `  toolx ask "turn on switch one"
  toolx ask "which rooms are too warm?" --provider anthropic --tools 'zwave__*'
  toolx ask "what can you do?" --dry-run -- npx -y @modelcontextprotocol/server-everything
  transcribe | toolx ask --follow --server zwave`,
		Args: cli.WithCommand(&o.server, func(args []string) error {
			o.question = strings.TrimSpace(strings.Join(args, " "))
			return nil
		}),
		RunE: cli.Run(&o, run, o.check),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.provider, "provider", ai.Ollama, "`NAME` of the provider: "+strings.Join(ai.Providers(), ", "))
	flags.StringVar(&o.model, "model", "", "`NAME` of the model at the provider")
	flags.StringVar(&o.baseURL, "base-url", "", "`URL` of the provider's API and its version: http://localhost:8000/v1")
	cli.TextsVar(flags, &o.tools, "tools", "give the model only tools that match `PATTERN` (repeatable)")
	flags.StringVar(&o.system, "system", "", "instructions to the model: `TEXT` or @FILE")
	flags.IntVar(&o.maxTurns, "max-turns", ai.DefaultMaxTurns, "stop after `N` turns of tool calls")
	flags.StringVar(&o.maxResult, "max-result", "64KiB", "cut each result for the model at `SIZE` (0: never)")
	flags.BoolVar(&o.json, "json", false, "print events as JSON lines")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print the request with the converted tools instead of sending it")
	flags.BoolVarP(&o.yes, "yes", "y", false, "run destructive tools without asking")
	flags.BoolVar(&o.textCalls, "text-calls", false,
		"run tool calls that the model writes as text, such as JSON in a code fence")
	flags.BoolVar(&o.follow, "follow", false, "answer each line of standard input, in one conversation")
	o.answers.Declare(flags)
	o.guards.Declare(flags)
	o.guards.DeclareConfirm(flags)
	return cmd
}

// check refuses options that do not go together.
func (o *Options) check() error {
	switch {
	case o.question == "" && !o.follow:
		return fault.Usage("the question is missing", `toolx ask "what time is it?"; - reads it from standard input`)
	case o.question == "-" && o.follow:
		return fault.Usage("--follow reads standard input, and so does the question -", "leave out - with --follow")
	case o.follow && o.dryRun && o.question == "":
		return fault.Usage("--dry-run needs a question", `toolx ask "what time is it?" --dry-run`)
	case o.maxTurns < 1:
		return fault.Usage("--max-turns must be at least 1", "--max-turns 8")
	}
	if err := cli.CheckPatterns(o.tools); err != nil {
		return err
	}
	if err := o.guards.Check(); err != nil {
		return err
	}
	return o.answers.Check()
}

// asking is one run of ask.
type asking struct {
	box     *toolset.Set
	options Options
	talk    *ai.Conversation
	filter  toolset.Filter // of --tools
	opened  []servers.Opened
}

// Run sets up the model and its tools, and asks.
func Run(ctx context.Context, o Options) error {
	provider, err := person.NewProvider(o.Out, o.provider, o.model, o.baseURL)
	if err == nil && !o.dryRun {
		err = provider.Check()
	}
	if err != nil {
		return err
	}
	talk, err := o.conversation(provider)
	if err != nil {
		return err
	}
	question, err := readQuestion(ctx, o.Out, o.question)
	if err != nil {
		return err
	}
	tools := toolset.Options{
		Server: o.server, ReportFailures: true, Answers: &o.answers, Guards: o.guards, KeepAlive: true,
	}
	if o.readsQuestions() {
		tools.User = &person.User{}
	}
	box, err := o.Tools.Open(tools)
	if err != nil {
		return err
	}
	filter, err := box.Filter(o.tools)
	if err != nil {
		return err
	}
	a := &asking{box: box, options: o, talk: talk, filter: filter}
	talk.Executor, talk.Tools, talk.Confirm, talk.Ready = box.Executor, a.tools, a.confirm, a.ready
	talk.Unreached = a.unreached
	if err := a.open(ctx); err != nil {
		var reported *exit.ReportedError // it is on stderr but not in the JSON lines
		if o.json && errors.As(err, &reported) {
			return errors.Join(PrintAskFailure(o.Out, o.question, reported.Unwrap()), err)
		}
		return err
	}
	if err := a.checkOffered(); err != nil {
		return err
	}
	if o.dryRun {
		return a.printRequest(question)
	}
	view := newAskView(o.Out, o.json, provider.Model())
	talk.On = view.take
	if o.follow {
		return view.follow(ctx, talk, question)
	}
	view.question = question
	_, err = talk.Ask(ctx, question)
	return view.failed(view.end(err))
}

// checkOffered refuses --tools that leave the model without any tool, and warns about patterns that match none.
func (a *asking) checkOffered() error {
	patterns, offered := a.options.tools, a.tools()
	if len(patterns) == 0 && len(offered) == 0 {
		a.box.Out.Log.Warn("the model gets no tools; --tools 'toolx__*' gives it the built-in ones")
	}
	if len(patterns) > 0 && len(offered) == 0 {
		return fault.Usage("no tool matches --tools "+strings.Join(patterns, " "), "toolx list shows the tools")
	}
	for _, pattern := range patterns {
		one, err := a.box.Filter([]string{pattern})
		if err == nil && !slices.ContainsFunc(offered, one.SelectsTool) {
			a.box.Out.Log.Warn("no tool matches --tools " + pattern)
		}
	}
	return nil
}

// conversation returns the conversation that the options describe, without executor and tools.
func (o *Options) conversation(provider ai.Provider) (*ai.Conversation, error) {
	talk := &ai.Conversation{Provider: provider, MaxTurns: o.maxTurns, System: o.system, TextCalls: o.textCalls}
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

// readQuestion reads standard input if the question is "-".
func readQuestion(ctx context.Context, o *streams.Streams, question string) (string, error) {
	if question != "-" {
		return question, nil
	}
	text, err := o.ReadWhole(ctx, "-")
	if err != nil {
		return "", err
	}
	if question = strings.TrimSpace(string(text)); question == "" {
		return "", fault.Usage("standard input has no question", `echo "what time is it?" | toolx ask -`)
	}
	return question, nil
}

// open starts the servers whose tools the model may get. It continues without servers that do not answer, unless the
// user named them.
func (a *asking) open(ctx context.Context) error {
	// Patterns that match only local tools need no server.
	filter := a.filter
	local := func(pattern string) bool { return a.box.Registry.Settled(pattern) != nil }
	filter.Patterns = slices.DeleteFunc(slices.Clone(filter.Patterns), local)
	if len(a.options.tools) > 0 && len(filter.Servers)+len(filter.Patterns) == 0 {
		return nil
	}
	filter.Responsive = !a.box.Chosen
	opened, err := a.box.OpenForTools(ctx, "ask", filter)
	if err != nil {
		return err
	}
	a.opened = opened
	a.box.ReportRest(opened)
	if a.box.Chosen {
		return toolset.ListFailure(opened, false)
	}
	return nil
}

// tools returns the tools that the model gets. Built-in ones need --tools; a config can also define them.
func (a *asking) tools() []*exec.Tool {
	return slices.DeleteFunc(a.box.Registry.Offered(), func(tool *exec.Tool) bool {
		return tool.BuiltIn && len(a.options.tools) == 0 || !a.filter.SelectsTool(tool)
	})
}

// unreached returns the failure of the server that a model's name for a tool begins with.
func (a *asking) unreached(name string) error {
	server := exec.ServerOf(name, a.box.Pool.Names())
	for _, one := range a.opened {
		if one.Server == server {
			return one.Err
		}
	}
	return nil
}

// ready restarts the server of a tool if it has ended, and returns the tool as the server lists it now.
func (a *asking) ready(ctx context.Context, tool *exec.Tool) (*exec.Tool, error) {
	if tool.Server == "" {
		return tool, nil
	}
	if _, err := a.box.Pool.Open(ctx, tool.Server); err != nil {
		return nil, a.box.Out.Masked(err)
	}
	for _, one := range a.box.Registry.All() {
		if one.Server == tool.Server && one.Plain == tool.Plain {
			return one, nil
		}
	}
	return nil, a.box.Out.Masked(&exec.NotFoundError{Name: tool.Name})
}

// printRequest prints the request with the tools (--dry-run).
func (a *asking) printRequest(question string) error {
	a.talk.On = func(event ai.Event) { logOffer(a.box.Out, event) }
	return render.Document(a.box.Out.Console.Out, a.talk.Request(question), a.box.Out.OutScreen())
}

// confirm asks the user before running a tool that is destructive or that needs confirmation. Without a terminal, the
// answer is no.
func (a *asking) confirm(ctx context.Context, tool *exec.Tool, arguments json.RawMessage) error {
	ask := tool.Asks(guard.Said)
	switch {
	case ask == nil || a.options.yes:
		return nil
	case !a.box.Out.Person() || a.options.readsQuestions():
		is := "is destructive"
		if !ask.Says || ask.Confirm == guard.Always {
			is = "needs confirmation"
		}
		a.box.Out.Log.Warn(tool.Name + " " + is + " and was not run: no terminal can confirm it; --yes runs such tools")
		why := "it " + is + ", and no terminal could confirm it; toolx ask --yes allows it"
		return &ai.DeclinedError{Tool: tool.Name, Why: why}
	}
	agreed, err := a.box.Opener.Keyboard.Agrees(ctx, "run", ask, arguments)
	if err == nil && !agreed {
		return &ai.DeclinedError{Tool: tool.Name}
	}
	return err
}

// maxWaiting is how many questions may wait; further ones stay in standard input.
const maxWaiting = 10_000

// follow answers questions from standard input, one line after the other and in one conversation (AI-4). It reads lines
// while the model answers. After a failure it continues with the next question.
func (v *askView) follow(ctx context.Context, talk *ai.Conversation, first string) error {
	waiting := make(chan string, maxWaiting)
	if first != "" {
		waiting <- first
	}
	go readLines(v.out.Console.In, waiting)
	for {
		question, more := nextLine(ctx, waiting)
		if ctx.Err() != nil {
			return &exec.InterruptedError{}
		}
		if !more {
			return nil
		}
		if err := v.answerOne(ctx, talk, question); err != nil {
			return err
		}
	}
}

// answerOne answers one of many questions. An error ends them all: stdout was closed, or the user interrupted.
func (v *askView) answerOne(ctx context.Context, talk *ai.Conversation, question string) error {
	v.question = question
	_, err := talk.Ask(ctx, question)
	err = v.end(err)
	switch {
	case v.err != nil:
		return v.err
	case ctx.Err() != nil:
		return v.failed(&exec.InterruptedError{})
	case err != nil && v.json:
		return PrintAskFailure(v.out, question, err)
	case err != nil:
		v.out.Report(err)
	}
	if !v.json {
		_, err := io.WriteString(v.out.Console.Out, "\n")
		return err
	}
	return nil
}

// readLines sends each line of in that is not blank, and closes lines at the end.
func readLines(in io.Reader, lines chan<- string) {
	defer close(lines)
	reader := bufio.NewReader(in)
	for {
		line, err := reader.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			lines <- line
		}
		if err != nil {
			return
		}
	}
}

// nextLine waits for a line; more is false when lines or ctx has ended.
func nextLine(ctx context.Context, lines <-chan string) (line string, more bool) {
	select {
	case <-ctx.Done():
		return "", false
	case line, more = <-lines:
		return line, more
	}
}
