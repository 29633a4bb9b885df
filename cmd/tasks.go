package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/spf13/cobra"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

const taskExits = `Exit codes: 0 success, 2 wrong usage or no such task, 3 authentication, 4 the server
was not reached, 5 the tool failed, or the server refused, 6 the protocol was broken,
124 timeout, 130 interrupted.`

func newTasksCommand(app *App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tasks list|get|wait|result|cancel",
		Short: "Find calls again that go on as tasks",
		Long: `A call with --detach goes on as a task of its server, and its id finds it again: to see
how far it is, to wait for its result, or to cancel it. The server must outlive the
command that calls: one that a session holds, or one over HTTP that has no sessions.

` + taskExits,
		Example: `  toolx tasks list
  toolx tasks wait 0f3c9a51`,
		Args: needsVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return needsVerb(cmd, nil) },
	}
	cmd.AddCommand(
		newTasksListCommand(app, runTasksList),
		newTaskCommand(app, "get", "Print the state of a task", runTaskGet, "text", "json", "yaml"),
		newTaskCommand(app, "wait", "Wait for a task, and print its result", runTaskWait,
			"text", "json", "raw", "yaml"),
		newTaskCommand(app, "result", "Print the result of a task that has ended", runTaskResult,
			"text", "json", "raw", "yaml"),
		newTaskCommand(app, "cancel", "Cancel a task", runTaskCancel, "text", "json", "yaml"),
	)
	return cmd
}

// taskOptions say which task is meant.
type taskOptions struct {
	replyOptions
	id string
}

func newTaskCommand(app *App, verb, short string, run runFunc[taskOptions], formats ...string) *cobra.Command {
	var o taskOptions
	cmd := &cobra.Command{
		Use:   verb + " ID",
		Short: short,
		Long: short + `.

ID is what "toolx call --detach" has printed, its beginning, or the server's own id.

` + taskExits,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return fault.Usage("name one task by its id", "toolx tasks "+verb+" ID; toolx tasks list shows them")
			}
			o.id = args[0]
			return nil
		},
		ValidArgsFunction: completeTask,
	}
	o.declare(cmd.Flags(), formats...)
	if slices.Contains(formats, "raw") {
		o.declareContent(cmd.Flags())
	}
	cmd.RunE = runs(app, &o, run, o.check(cmd.Flags(), formats...))
	return cmd
}

// completeTask completes the id of a task that is kept.
func completeTask(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var ids []cobra.Completion
	if len(args) == 0 {
		for _, task := range keptTasks() {
			ids = append(ids, cobra.CompletionWithDesc(task.ID, render.Safe(task.Tool+" "+string(task.Status))))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// aboutTask asks the server of a kept task something about it. send gets the state that the server tells.
func (a *App) aboutTask(
	ctx context.Context, o taskOptions, method string, read func(json.RawMessage) (exec.Parts, error),
	send func(ctx context.Context, to target, kept *keptTask, task *servers.Task) (json.RawMessage, error),
	text func(io.Writer, *exec.Result) error,
) error {
	kept, err := keptTaskNamed(o.id)
	if err != nil {
		return err
	}
	a.flags.url = cmp.Or(a.flags.url, kept.URL)
	return a.runRequest(ctx, o.replyOptions, request{
		name: kept.Tool, what: "task", server: kept.Server, method: method, read: read, text: text,
		send: func(ctx context.Context, to target) (json.RawMessage, error) {
			if err := kept.reached(to); err != nil {
				return nil, err
			}
			task, err := to.session.Tasks().Get(ctx, kept.Task)
			if err != nil {
				return nil, kept.unknown(err)
			}
			kept.update(task)
			if err := keepTask(kept); err != nil {
				to.log.Info("the state of the task is not kept: " + err.Error())
			}
			return send(ctx, to, kept, task)
		},
	})
}

// reached returns why the server that was reached cannot have the task.
func (k *keptTask) reached(to target) error {
	if identity := to.identityOf(to.session.Name); identity != k.Identity {
		return fault.Usage("the entry of server "+quote(k.Server)+" is another than when the task was begun",
			"toolx tasks list shows what is kept; give --header and --config as for the call")
	}
	if !to.session.Tasks().OutliveProcess() {
		forgetTask(k.ID)
		return &exec.ToolError{Message: "the server of the task has ended, and has taken the task along"}
	}
	return nil
}

// unknown explains the error of a server that has no such task any more, and forgets the task.
func (k *keptTask) unknown(err error) error {
	var refused *exec.ToolError
	if errors.As(err, &refused) && refused.Code == mcp.INVALID_PARAMS {
		forgetTask(k.ID)
		return &exec.ToolError{Message: "the server has no such task any more: " + refused.Message, Code: refused.Code}
	}
	return err
}

// identityOf returns the identity of a server's entry; empty where there is none of that name.
func (b *toolbox) identityOf(server string) string {
	at := slices.IndexFunc(b.config().Servers, func(s *config.Server) bool { return s.Name == server })
	if at < 0 {
		return ""
	}
	return b.config().Servers[at].Identity()
}

// shown returns what the user is shown of a kept task, as JSON.
func (k *keptTask) shown() (json.RawMessage, error) {
	public := *k
	public.Identity, public.URL = "", ""
	return rawjson.Marshal(public)
}

func readState(reply json.RawMessage) (exec.Parts, error) { return exec.Parts{Value: reply}, nil }

// writeState writes the state of a task in words.
func writeState(out io.Writer, result *exec.Result) error {
	text := func(name string) string { return render.Safe(rawjson.GetText(result.Value, name)) }
	line := text("id") + "\t" + text("status")
	if message := text("message"); message != "" {
		line += "\t" + message
	}
	_, err := fmt.Fprintln(out, line)
	return err
}

func runTaskGet(ctx context.Context, app *App, o taskOptions) error {
	return app.aboutTask(ctx, o, "tasks/get", readState,
		func(_ context.Context, _ target, kept *keptTask, _ *servers.Task) (json.RawMessage, error) {
			return kept.shown()
		}, writeState)
}

func runTaskWait(ctx context.Context, app *App, o taskOptions) error {
	return app.aboutTask(ctx, o, "tasks/get", exec.ReadCall,
		func(ctx context.Context, to target, kept *keptTask, task *servers.Task) (json.RawMessage, error) {
			return kept.ended(to.session.Tasks().Await(ctx, task, to.progress))
		}, nil)
}

func runTaskResult(ctx context.Context, app *App, o taskOptions) error {
	return app.aboutTask(ctx, o, "tasks/get", exec.ReadCall,
		func(ctx context.Context, to target, kept *keptTask, task *servers.Task) (json.RawMessage, error) {
			if !task.Status.Final() {
				return nil, &exec.ToolError{Message: fmt.Sprintf(
					"the task has no result yet: it is %s; toolx tasks wait %s waits", task.Status, kept.ID)}
			}
			return kept.ended(to.session.Tasks().Result(ctx, task, to.progress))
		}, nil)
}

// ended takes the result of the task's call. A tool that has failed is an error, as for call.
func (k *keptTask) ended(reply json.RawMessage, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, k.unknown(err)
	}
	if err := exec.CallFailure(reply); err != nil {
		return nil, err
	}
	k.Status = servers.TaskCompleted
	_ = keepTask(k) // the next look at it says the same
	return reply, nil
}

func runTaskCancel(ctx context.Context, app *App, o taskOptions) error {
	return app.aboutTask(ctx, o, "tasks/cancel", readState,
		func(ctx context.Context, to target, kept *keptTask, task *servers.Task) (json.RawMessage, error) {
			if task.Status.Final() {
				return nil, &exec.ToolError{Message: "the task has ended already: it is " + string(task.Status)}
			}
			if err := to.session.Tasks().Cancel(ctx, kept.Task); err != nil {
				return nil, kept.unknown(err)
			}
			forgetTask(kept.ID)
			kept.Status = servers.TaskCancelled
			return kept.shown()
		}, writeState)
}

// detach begins a call as a task, and keeps that. A server that makes no task of it gives the result at once. output
// is the format in which the result is printed: as text, it is the id.
func (b *toolbox) detach(ctx context.Context, call exec.Call, output string) *exec.Result {
	tool := call.Target
	session := b.pool.Session(tool.Server)
	d := &detaching{
		session: session, identity: b.identityOf(tool.Server), tool: tool.Name, url: b.flags.url,
	}
	call.Implementation = d
	result := b.executor.Call(ctx, call)
	switch {
	case result.Success && d.kept == nil:
		b.log.Warn("the server made no task of the call, and this is its result")
	case result.Success && output == "text":
		result.Value = rawjson.Quote(d.kept.ID)
	}
	return result
}

// detaching is the implementation of a tool whose result nobody waits for.
type detaching struct {
	session             *servers.Session
	identity, tool, url string
	kept                *keptTask
}

// CallTool implements exec.Implementation. Its result is what is kept of the task.
func (d *detaching) CallTool(ctx context.Context, request exec.Request) (json.RawMessage, error) {
	switch {
	case d.session == nil:
		return nil, fault.Usage("--detach is for tools of servers: toolx's own end with it", "leave --detach out")
	case !d.session.Tasks().OutliveProcess():
		keep := "toolx session start " + d.session.Name
		if d.session.Name == config.AdHocName {
			keep = "toolx session start --as NAME -- COMMAND…"
		}
		return nil, fault.Usage(
			"--detach: server "+quote(d.session.Name)+", or its session, ends with this command, and its tasks with it",
			keep+" keeps it")
	}
	task, result, err := d.session.Tasks().Begin(ctx, request, true)
	if task == nil {
		return result, err
	}
	kept := &keptTask{
		ID: taskID(d.identity, task.ID), Task: task.ID, Server: d.session.Name, Tool: d.tool, Begun: time.Now().UTC(),
		Identity: d.identity, URL: d.url,
	}
	kept.update(task)
	if err := keepTask(kept); err != nil {
		return nil, fmt.Errorf("task %s runs and cannot be found again, for it is not kept: %w", quote(task.ID), err)
	}
	d.kept = kept
	shown, err := kept.shown()
	if err != nil {
		return nil, err
	}
	return rawjson.Build("content", rawjson.Array(nil), "structuredContent", shown), nil
}

// tasksListOptions say which servers' tasks are listed.
type tasksListOptions struct {
	names []string
	json  bool
}

func newTasksListCommand(app *App, run runFunc[tasksListOptions]) *cobra.Command {
	var o tasksListOptions
	cmd := &cobra.Command{
		Use:   "list [SERVER…]",
		Short: "List the tasks that are kept, and those of servers that list them",
		Long: `List the tasks that are kept: id, state, tool, age, and what the server says. Their
servers are asked for the state, and those that list their tasks (2025-11-25) for the
others that they have, which "-" stands before.

` + taskExits,
		RunE:              runs(app, &o, run),
		ValidArgsFunction: completeServers(app, 0),
		Args: func(_ *cobra.Command, args []string) error {
			o.names = args
			return nil
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print a line of JSON for each task")
	return cmd
}

func runTasksList(ctx context.Context, app *App, o tasksListOptions) error {
	tasks := keptTasks()
	if len(o.names) > 0 {
		tasks = slices.DeleteFunc(tasks, func(k *keptTask) bool { return !slices.Contains(o.names, k.Server) })
	}
	names := slices.Clone(o.names)
	for _, task := range tasks {
		if task.URL == app.flags.url && !slices.Contains(names, task.Server) {
			names = append(names, task.Server)
		}
	}
	var failure error
	if len(names) > 0 {
		box, err := app.toolbox(toolboxOptions{tellsFailures: true})
		if err != nil {
			return err
		}
		bounded, done := box.bounded(ctx, exec.TimeoutError{Tool: "tasks list", Request: true})
		defer done()
		for _, name := range names {
			found, err := box.tasksOf(bounded, name, tasks)
			tasks = found
			if err != nil {
				err = cmp.Or(gaveUp(bounded, "", name), err)
				app.log.Warn(app.masked(err).Error())
				failure = cmp.Or(failure, err)
			}
		}
	}
	if err := app.printTasks(tasks, o.json); err != nil {
		return err
	}
	if failure != nil {
		return &reportedError{failure}
	}
	return nil
}

// tasksOf returns the tasks with what their server says of its own; those that it knows no longer are left out, and
// those that it lists besides are added.
func (b *toolbox) tasksOf(ctx context.Context, server string, tasks []*keptTask) ([]*keptTask, error) {
	session, err := b.pool.Open(ctx, server)
	if err != nil {
		return tasks, err
	}
	known := make(map[string]bool)
	var left []*keptTask
	for _, kept := range tasks {
		if kept.Server != server || kept.reached(target{toolbox: b, session: session}) != nil {
			left = append(left, kept)
			continue
		}
		known[kept.Task] = true
		state, err := session.Tasks().Get(ctx, kept.Task)
		var refused *exec.ToolError
		switch {
		case err == nil:
			kept.update(state)
			_ = keepTask(kept) // the next look at it says the same
			left = append(left, kept)
		case errors.As(err, &refused):
			b.log.Warn("task " + kept.ID + ": " + kept.unknown(err).Error()) // which may forget it
		default:
			return append(left, kept), err
		}
	}
	if !session.Tasks().Listable() {
		return left, nil
	}
	listed, err := session.Tasks().List(ctx)
	for _, task := range listed {
		if known[task.ID] {
			continue
		}
		other := &keptTask{ID: "-", Task: task.ID, Server: server, Tool: server}
		other.update(task)
		if begun, err := time.Parse(time.RFC3339, task.Created); err == nil {
			other.Begun = begun
		}
		left = append(left, other)
	}
	return left, err
}

// printTasks prints a line for each task.
func (a *App) printTasks(tasks []*keptTask, asJSON bool) error {
	if len(tasks) == 0 && !asJSON {
		a.say("no tasks are kept")
		return nil
	}
	var rows [][]string
	for _, task := range tasks {
		if asJSON {
			line, err := task.shown()
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(a.Console.Out, "%s\n", line); err != nil {
				return err
			}
			continue
		}
		age := "-"
		if !task.Begun.IsZero() {
			age = time.Since(task.Begun).Round(time.Second).String()
		}
		id := task.ID
		if id == "-" {
			id = "- " + task.Task
		}
		rows = append(rows, []string{id, string(task.Status), task.Tool, age, task.Message})
	}
	return a.printTable([]string{"ID", "STATUS", "TOOL", "AGE", ""}, rows)
}
