package call

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/correct"
	"toolx/cmd/exit"
	"toolx/cmd/request"
	"toolx/cmd/resources"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// batchOptions say how to run the calls in a file.
type batchOptions struct {
	// from is the file with a call on each line, "-" for standard input; empty if there is none.
	from      string
	parallel  int // calls at once on one server
	unordered bool
	failFast  bool
	report    string // FORMAT=FILE; empty for none
}

func (o *batchOptions) declare(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.from, "batch", "", "run the calls in `FILE`, one per line as JSON; - is standard input")
	flags.IntVar(&o.parallel, "parallel", 1, "with --batch: run `N` calls at once on each server")
	flags.BoolVar(&o.unordered, "unordered", false, "with --batch: print results as they arrive")
	flags.BoolVar(&o.failFast, "fail-fast", false, "with --batch: stop after the first failure")
	flags.StringVar(&o.report, "report", "", "with --batch: write a report to a file, as `FORMAT=FILE`: junit")
	cli.MarkFlagExcludes(cmd, "each line of a batch has a tool and its arguments",
		"batch", "arg", "args", "save", "dry-run", "edit", correct.FromToolCall)
	cli.MarkFlagsNeed(cmd, "batch", "parallel", "unordered", "fail-fast", "report")
}

// check refuses options that a batch does not support.
func (o *batchOptions) check(cmd *cobra.Command, args []string) error {
	given := cmd.Flags().Changed
	if o.from == "" {
		if given("batch") {
			return fault.Usage("--batch is empty", "toolx call --batch calls.jsonl; - is standard input")
		}
		return nil
	}
	if output, _ := cmd.Flags().GetString("output"); given("output") && output != "json" {
		return fault.Usage("cannot combine -o "+output+" and --batch",
			"leave out -o: each result is a line of JSON")
	}
	if len(args) > 1 {
		return fault.Usage("with --batch, the lines have the arguments: unexpected "+strconv.Quote(args[1]),
			"toolx call TOOL --batch FILE, with the arguments of a call on each line")
	}
	if o.parallel < 1 {
		return fault.Usage("--parallel must be at least 1", "--parallel 4")
	}
	return nil
}

// maxBatchLine is the most bytes that a line has.
const maxBatchLine = 64 << 20

// batchOutput is how many bytes of printed lines are written at once; batchDelay bounds how long they wait.
const batchOutput = 64 << 10

// batchHeap is the size of an allocation that a batch never touches, so that it uses no real memory. GC counts it, so
// it runs once per few hundred small calls instead of once per few dozen.
const batchHeap = 8 << 20

// batchCall is one line of a batch.
type batchCall struct {
	number int   // of the line, from 1
	read   int64 // bytes up to the line's end
	line   batchLine
	err    error // of reading the line
	// prepared is nil if the call prepares itself.
	prepared *exec.Prepared
	server   string // the server whose turn the call has
	answered func() // ends the turn
	// result is nil if the call was not made, and id is the line's. done reports whether both are set; batch.mu guards
	// it.
	result *exec.Result
	id     json.RawMessage
	done   bool
	passed bool // the result is as the line expects
}

// size returns how many bytes wait with the call's result.
func (c *batchCall) size() int64 { return int64(len(c.result.Raw)) }

// envelope returns the line to print for a call.
func (c *batchCall) envelope() ([]byte, error) {
	envelope, err := c.result.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return slices.Concat([]byte(`{"id":`), c.id, []byte(","), envelope[1:]), nil
}

// batch runs the calls in a file, with a queue and workers for each server.
type batch struct {
	box     *toolset.Set
	results *request.Printer
	options Options
	jq      *render.JQ // filters each result; nil to print its envelope
	out     *bufio.Writer
	reach   func(read int64, done string) // shows the progress; nil if nothing is shown
	queues  map[string]*batchQueue
	workers sync.WaitGroup
	// stopped is closed when no more calls may start.
	stopped chan struct{}
	stop    func()
	settled chan struct{} // signals the printer that a call is done
	room    chan struct{} // signals that half of the window is free again, if crowded was set
	unread  atomic.Int64  // lines that were left when the batch stopped

	mu      sync.Mutex   // guards what follows
	order   []*batchCall // to print: the calls that were admitted, or with --unordered those that are done
	open    int          // how many were admitted and not printed yet
	waiting int64        // bytes of results that are not printed yet
	crowded bool         // a goroutine waits for room
	// turns has, for each server, an element for each call that it has not answered.
	turns map[string]chan struct{}

	// The printer's own.
	due                       <-chan time.Time // tells when to write out the lines that are printed; nil where none is
	succeeded, failed, unmade int
	kind                      fault.Kind // of the failure that determines the exit code
	err                       error      // of writing
	tests                     *tests
}

// runBatch runs the calls in a file and prints a line for each. The error is how many failed.
func runBatch(ctx context.Context, o Options) error {
	jq, err := render.CompileJQ(o.Jq)
	if err != nil {
		return exit.Usage(err)
	}
	input, size, err := openBatch(o.Out, o.batch.from)
	if err != nil {
		return err
	}
	defer input.Close()
	box, err := o.Tools.Open(toolset.Options{
		Server: o.Server, Strict: o.strict, KeepNames: o.keepNames, ReportFailures: true, SuggestUnknown: true,
		Answers: &o.Answers, Guards: o.Guards, KeepAlive: true,
	})
	if err != nil {
		return err
	}
	box.Executor.Confirm = box.ConfirmCall(o.Guards.Yes)
	if box.Executor.Defaults.MaxOutput, err = o.Printer.Limit(o.MaxOutput, box.Config()); err != nil {
		return err
	}
	if o.Tools.Calls != nil {
		o.Tools.Calls.Gather()
	}
	began := time.Now()
	b := &batch{
		box: box, results: o.Printer, options: o, jq: jq, stopped: make(chan struct{}),
		queues: make(map[string]*batchQueue), turns: make(map[string]chan struct{}),
		room: make(chan struct{}, 1), settled: make(chan struct{}, 1),
		out: bufio.NewWriterSize(box.Out.Console.Out, batchOutput),
	}
	spare := make([]byte, batchHeap)
	defer runtime.KeepAlive(spare)
	if o.batch.parallel == 1 {
		// Only one thing happens at a time, and waking another processor for each half of it takes longer than the
		// work.
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	if b.tests, err = openTests(o.batch.report); err != nil {
		return err
	}
	b.stop = sync.OnceFunc(func() { close(b.stopped) })
	defer context.AfterFunc(ctx, b.stop)()
	reach, end := o.Out.ShowReached("batch", size)
	defer end()
	b.reach = reach
	chunks := make(chan []*batchCall)
	go b.read(input, size > 0, chunks)
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		b.print(ctx)
	}()
	b.dispatch(ctx, chunks)
	b.workers.Wait()
	close(b.settled)
	<-printed
	if size > 0 {
		for chunk := range chunks { // until all lines are counted
			b.unread.Add(int64(len(chunk)))
		}
	}
	end()
	return b.report(ctx, time.Since(began))
}

// openBatch opens the file; size is 0 if unknown.
func openBatch(o *streams.Streams, name string) (input io.ReadCloser, size int64, err error) {
	if name == "-" {
		return io.NopCloser(o.Console.In), 0, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, fault.Usage("--batch: cannot read "+name+": "+fault.Reason(err), "use a readable file")
	}
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return file, size, nil
}

// make runs a call, unless the batch has stopped.
func (b *batch) make(ctx context.Context, call *batchCall) {
	if closed(b.stopped) {
		b.settle(call)
		return
	}
	began := time.Now()
	line := call.line
	var result *exec.Result
	if call.err != nil {
		result = b.box.Executor.Reject(line.name(), line.Arguments, began, call.err)
	} else {
		result = b.ask(ctx, call, began)
	}
	shown := *result // because the execution log reads the original meanwhile
	result = &shown
	call.passed = b.judge(ctx, call, result)
	result.Err = b.box.Out.Masked(result.Err)
	b.results.AddNext(result, b.results.Line.Command)
	if !call.passed && b.options.batch.failFast {
		b.stop()
	}
	if call.id = line.ID; call.id == nil {
		call.id = json.RawMessage(strconv.Itoa(call.number))
	}
	call.line, call.prepared, call.result = batchLine{}, nil, result
	b.settle(call)
}

// judge compares a result with what its line expects, and reports whether it is so. A result that is not as expected
// becomes a failure.
func (b *batch) judge(ctx context.Context, call *batchCall, result *exec.Result) bool {
	line, kind := call.line, fault.KindOf(result.Err)
	switch {
	case call.err != nil || line.Failure == "" && line.Expect == nil:
		return result.Success
	case line.Failure == "":
		bounded, done := b.box.Bounded(ctx, exec.TimeoutError{Tool: line.name()})
		defer done()
		checkExpectations(bounded, result, line.Expect)
		return result.Success
	case !result.Success && kind == line.Failure:
		return true
	}
	wrong := &render.ExpectError{Expected: fmt.Sprintf("error %q", line.Failure), Actual: "the call succeeded"}
	if !result.Success {
		wrong.Actual = fmt.Sprintf("it is %q: %v", kind, result.Err)
	}
	result.Success, result.Err = false, wrong
	return false
}

// prepare does what is possible before a call's turn comes: if its tool is known already, it checks the arguments. The
// call itself reports errors.
func (b *batch) prepare(ctx context.Context, call *batchCall) {
	if call.err != nil || call.line.Tool == "" || closed(b.stopped) {
		return
	}
	prepared, err := b.box.Executor.Prepare(ctx, exec.Call{Tool: call.line.Tool, Arguments: call.line.Arguments})
	if err == nil {
		call.prepared = prepared
	}
}

// giveWay lets the server's next call start as soon as this one is answered, before toolx processes the answer, so that
// the server waits as little as possible. With --fail-fast the answer decides whether there is a next call.
func (b *batch) giveWay(call *batchCall) {
	if !b.options.batch.failFast {
		call.answered()
		runtime.Gosched()
	}
}

// ask runs the call on a line.
func (b *batch) ask(ctx context.Context, call *batchCall, began time.Time) *exec.Result {
	line := call.line
	if tool := b.ready(call); tool != nil {
		return b.callTool(ctx, call, tool)
	}
	subject := exec.TimeoutError{Tool: line.name(), Request: line.Tool == ""}
	bounded, done := b.box.Bounded(ctx, subject)
	defer done()
	switch {
	case line.Resource != "":
		return request.MakeRequest(bounded, b.box, resources.ResourceOptions{URI: line.Resource}.Request(), began)
	case line.Prompt != "":
		options := resources.PromptOptions{Prompt: line.Prompt, Object: string(line.Arguments)}
		return request.MakeRequest(bounded, b.box, options.Request(b.box.Out), began)
	}
	tool, err := b.box.Pool.Find(bounded, line.Tool)
	if err = cmp.Or(toolset.GaveUp(bounded, line.Tool, ""), err); err != nil {
		return b.box.Executor.Reject(line.Tool, line.Arguments, began, err)
	}
	if call.server != tool.Server { // it was unknown until the servers were open
		call.answered()
		b.takeTurn(call, tool.Server)
	}
	return b.callTool(bounded, call, tool)
}

// ready returns the tool of a prepared call if its server still runs and has it; nil means that servers may have to be
// opened.
func (b *batch) ready(call *batchCall) *exec.Tool {
	if call.prepared == nil {
		return nil
	}
	tool, err := b.box.Executor.Registry.Find(call.line.Tool)
	if err != nil || tool != call.prepared.Tool {
		return nil
	}
	if session := b.box.Pool.Session(tool.Server); session == nil || closed(session.Done()) {
		return nil
	}
	return tool
}

func (b *batch) callTool(ctx context.Context, call *batchCall, tool *exec.Tool) *exec.Result {
	return b.box.Executor.Call(ctx, exec.Call{
		Tool: tool.Name, Target: tool, Arguments: call.line.Arguments,
		Timeout: b.box.Flags.Timeout, MaxTime: b.box.Flags.MaxTime,
		Prepared: call.prepared, Answered: func() { b.giveWay(call) },
	})
}

// report prints a summary of the batch on stderr, and returns the batch's error.
func (b *batch) report(ctx context.Context, took time.Duration) error {
	made, unmade := b.succeeded+b.failed, b.unmade+int(b.unread.Load())
	summary := fmt.Sprintf("%s: %d succeeded, %d failed", words.Count(made, "call"), b.succeeded, b.failed)
	if unmade > 0 {
		summary += fmt.Sprintf(", %d not made", unmade)
	}
	if !b.box.Flags.Quiet {
		b.box.Out.Say("%s; %s", summary, took.Round(time.Millisecond))
		if times := b.tests.percentiles(); times != "" {
			b.box.Out.Say("call times: %s", times)
		}
	}
	err := b.tests.write(took, unmade, ctx.Err() != nil)
	switch {
	case cmp.Or(b.err, err) != nil:
		return cmp.Or(b.err, err)
	case ctx.Err() != nil:
		return exit.Reported(&exec.InterruptedError{})
	case b.failed > 0:
		return exit.Reported(exit.Fail(errors.New(summary), b.kind, ""))
	}
	return nil
}
