package cmd

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// batchOptions say how the calls of a file are made.
type batchOptions struct {
	// from is the file that holds a call on each line, "-" for standard input; empty where there is none.
	from      string
	parallel  int // calls at once on one server
	unordered bool
	failFast  bool
}

func (o *batchOptions) declare(flags *pflag.FlagSet) {
	flags.StringVar(&o.from, "batch", "", "make the calls of `FILE`, one on a line as JSON; -: of standard input")
	flags.IntVar(&o.parallel, "parallel", 1, "with --batch: make `N` calls at once on each server")
	flags.BoolVar(&o.unordered, "unordered", false, "with --batch: print results as they come")
	flags.BoolVar(&o.failFast, "fail-fast", false, "with --batch: begin no call after one has failed")
}

// check refuses flags that do not go together.
func (o *batchOptions) check(cmd *cobra.Command, args []string) error {
	given := cmd.Flags().Changed
	if o.from == "" {
		for _, flag := range []string{"parallel", "unordered", "fail-fast"} {
			if given(flag) {
				return fault.Usage("--"+flag+" belongs to --batch", "toolx call --batch calls.jsonl")
			}
		}
		if given("batch") {
			return fault.Usage("--batch is empty", "toolx call --batch calls.jsonl; - is standard input")
		}
		return nil
	}
	for _, flag := range []string{"arg", "args", "jq", "save", "dry-run", "edit", "from-tool-call"} {
		if given(flag) {
			return fault.Usage("--"+flag+" and --batch do not go together", "each line has a tool and its arguments")
		}
	}
	if output, _ := cmd.Flags().GetString("output"); given("output") && output != "json" {
		return fault.Usage("-o "+output+" and --batch do not go together",
			"leave out -o: each result is a line of JSON")
	}
	if len(args) > 0 {
		return fault.Usage("--batch takes no tool", "each line has one: {\"tool\": NAME, \"arguments\": {…}}")
	}
	if o.parallel < 1 {
		return fault.Usage("--parallel must be at least 1", "--parallel 4")
	}
	return nil
}

// The most that a batch holds at a time.
const (
	maxBatchLine = 64 << 20 // bytes of a line
	batchWindow  = 64       // calls whose results wait for that of an earlier one
	batchResults = 64 << 20 // bytes of those results, beyond which no call is begun
)

// batchCall is one line of a batch.
type batchCall struct {
	number int   // of the line, from 1
	read   int64 // bytes up to the line's end
	text   []byte
	// envelope is what is printed; nil where the call was not made. It is set when done is closed.
	envelope json.RawMessage
	kind     fault.Kind // empty after success
	done     chan struct{}
}

// batch makes the calls of a file: a queue and workers for each server, and one writer.
type batch struct {
	*toolbox
	options callOptions
	queues  map[string]chan *batchCall
	workers sync.WaitGroup
	// stopped is closed when no more calls are to be begun.
	stopped chan struct{}
	stop    func()
	// written takes the calls in the order in which they are printed.
	written chan *batchCall
	// waiting is how many bytes of results are not printed yet; printed tells when there are fewer.
	waiting atomic.Int64
	printed chan struct{}
	unread  atomic.Int64 // lines of a file that were left when the batch stopped

	// The writer's counts.
	succeeded, failed, unmade int
	kind                      fault.Kind // of the failure that decides about the exit code
	err                       error      // of writing
}

// runBatch makes the calls of a file and prints a line for each. The error says how many failed.
func runBatch(ctx context.Context, app *App, o callOptions) error {
	input, size, err := app.openBatch(o.batch.from)
	if err != nil {
		return err
	}
	defer input.Close()
	box, err := app.toolbox(toolboxOptions{
		server: o.server, strict: o.strict, keepNames: o.keepNames, tellsFailures: true, namesUnknown: true,
		answers: &o.answers, guards: o.guards,
	})
	if err != nil {
		return err
	}
	box.executor.Confirm = box.confirmCall(o.guards.yes)
	if box.executor.Defaults.MaxOutput, err = app.maxOutput(o.maxOutput, box.config); err != nil {
		return err
	}
	began := time.Now()
	b := &batch{
		toolbox: box, options: o, queues: make(map[string]chan *batchCall), stopped: make(chan struct{}),
		written: make(chan *batchCall, batchWindow), printed: make(chan struct{}, 1),
	}
	b.stop = sync.OnceFunc(func() { close(b.stopped) })
	defer context.AfterFunc(ctx, b.stop)()
	reach, end := app.showReached("batch", size)
	defer end()
	lines := make(chan *batchCall)
	go b.read(input, size > 0, lines)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		b.write(reach)
	}()
	b.dispatch(ctx, lines)
	b.workers.Wait()
	close(b.written)
	<-finished
	if size > 0 {
		for range lines { // the rest is counted
		}
	}
	end()
	return b.report(ctx, time.Since(began))
}

// openBatch opens the file; size is 0 where nobody knows it.
func (o *output) openBatch(name string) (input io.ReadCloser, size int64, err error) {
	if name == "-" {
		return io.NopCloser(o.Console.In), 0, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, fault.Usage("--batch: cannot read "+name+": "+fault.Reason(err), "name a file that you may read")
	}
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return file, size, nil
}

// read sends the lines until the batch stops. It counts what is left of a file then.
func (b *batch) read(input io.Reader, isFile bool, lines chan<- *batchCall) {
	defer close(lines)
	reader := bufio.NewReaderSize(input, 64<<10)
	var read int64
	for number := 1; ; number++ {
		text, err := readLine(reader, maxBatchLine)
		read += int64(len(text))
		if len(bytes.TrimSpace(text)) > 0 {
			select {
			case lines <- &batchCall{number: number, read: read, text: text, done: make(chan struct{})}:
			case <-b.stopped:
				b.unread.Add(1)
				if !isFile {
					return
				}
			}
		}
		if err != nil {
			return
		}
	}
}

// readLine reads a line with its end. Of one that is longer than most it returns one byte more than that, and skips the
// rest.
func readLine(reader *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := reader.ReadSlice('\n')
		line = append(line, part[:min(len(part), most+1-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// dispatch gives each call to the queue of its server, until there are no more or the batch stops.
func (b *batch) dispatch(ctx context.Context, lines <-chan *batchCall) {
	defer func() {
		for _, queue := range b.queues {
			close(queue)
		}
	}()
	for {
		for b.waiting.Load() > batchResults {
			select {
			case <-b.printed:
			case <-b.stopped:
				return
			}
		}
		var call *batchCall
		select {
		case <-b.stopped:
			return
		case next, more := <-lines:
			if !more {
				return
			}
			call = next
		}
		if !b.options.batch.unordered {
			b.written <- call
		}
		select {
		case b.queueOf(ctx, call) <- call:
		case <-b.stopped:
			b.settle(call)
		}
	}
}

// settle says that a call is done with, made or left out, so that the writer can go on.
func (b *batch) settle(call *batchCall) {
	close(call.done)
	if b.options.batch.unordered {
		b.written <- call
	}
}

// queueOf returns the queue of the server that a call names, with its workers.
func (b *batch) queueOf(ctx context.Context, call *batchCall) chan<- *batchCall {
	name := cmp.Or(rawjson.GetText(call.text, "tool"), rawjson.GetText(call.text, "prompt"),
		rawjson.GetText(call.text, "resource"))
	server := exec.ServerOf(name, b.pool.Names())
	queue := b.queues[server]
	if queue != nil {
		return queue
	}
	queue = make(chan *batchCall)
	b.queues[server] = queue
	for range b.options.batch.parallel {
		b.workers.Go(func() {
			for call := range queue {
				b.make(ctx, call)
			}
		})
	}
	return queue
}

// make makes a call, unless the batch has stopped.
func (b *batch) make(ctx context.Context, call *batchCall) {
	select {
	case <-b.stopped:
		b.settle(call)
		return
	default:
	}
	began := time.Now()
	line, err := readBatchCall(call.text)
	var result *exec.Result
	if err != nil {
		err = fault.Usage(fmt.Sprintf("line %d: %v", call.number, err), `{"tool": NAME, "arguments": {…}, "id": …}`)
		result = b.executor.Reject(line.name(), line.Arguments, began, err)
	} else {
		result = b.ask(ctx, line, began)
	}
	result.Err = b.masked(result.Err)
	if !result.Success {
		call.kind = fault.KindOf(result.Err)
		if b.options.batch.failFast {
			b.stop()
		}
	}
	envelope, err := result.MarshalJSON()
	if err == nil {
		id := line.ID
		if id == nil {
			id = json.RawMessage(strconv.Itoa(call.number))
		}
		call.envelope = slices.Concat([]byte(`{"id":`), id, []byte(","), envelope[1:])
	}
	call.text = nil
	b.waiting.Add(int64(len(call.envelope)))
	b.settle(call)
}

// ask makes the call of a line.
func (b *batch) ask(ctx context.Context, line batchLine, began time.Time) *exec.Result {
	subject := exec.TimeoutError{Tool: line.name(), Request: line.Tool == ""}
	bounded, done := b.bounded(ctx, subject)
	defer done()
	switch {
	case line.Resource != "":
		return b.request(bounded, resourceOptions{uri: line.Resource}.request(), began)
	case line.Prompt != "":
		options := promptOptions{prompt: line.Prompt, object: string(line.Arguments)}
		return b.request(bounded, options.request(b.output), began)
	}
	call, err := b.prepareCall(bounded, callOptions{tool: line.Tool, object: string(line.Arguments)})
	if err != nil {
		return b.executor.Reject(line.Tool, line.Arguments, began, err)
	}
	return b.executor.Call(bounded, call)
}

// batchLine is what a line says.
type batchLine struct {
	Tool, Prompt, Resource string
	Arguments, ID          json.RawMessage
}

func (l batchLine) name() string { return cmp.Or(l.Tool, l.Prompt, l.Resource) }

// readBatchCall reads a line. After an error the line has what could be read.
func readBatchCall(text []byte) (line batchLine, err error) {
	if len(text) > maxBatchLine {
		return line, fmt.Errorf("it is longer than %s", exec.Bytes(maxBatchLine))
	}
	if err := rawjson.Check(bytes.TrimSpace(text)); err != nil {
		return line, err
	}
	members, ok := rawjson.Members(bytes.TrimSpace(text))
	if !ok {
		return line, errors.New("it is not a JSON object")
	}
	texts := map[string]*string{"tool": &line.Tool, "prompt": &line.Prompt, "resource": &line.Resource}
	for _, m := range members {
		switch to := texts[m.Name]; {
		case to != nil && !rawjson.IsString(m.Value):
			err = cmp.Or(err, fmt.Errorf("%s is not a text", m.Name))
		case to != nil:
			*to = rawjson.Unquote(m.Value)
		case m.Name == "id":
			line.ID = rawjson.Compact(m.Value)
		case m.Name == "arguments":
			line.Arguments = m.Value
		default:
			known := []string{"tool", "prompt", "resource", "arguments", "id"}
			unknown := fmt.Errorf("unknown key %q", m.Name)
			if near := words.Nearest(m.Name, known); near != "" {
				unknown = fmt.Errorf("unknown key %q, did you mean %s?", m.Name, near)
			}
			err = cmp.Or(err, unknown)
		}
	}
	named := 0
	for _, name := range []string{line.Tool, line.Prompt, line.Resource} {
		if name != "" {
			named++
		}
	}
	_, isObject := rawjson.Members(line.Arguments)
	switch {
	case err != nil:
	case named == 0:
		err = errors.New("it has no tool")
	case named > 1:
		err = errors.New("it has several of tool, prompt and resource")
	case line.Arguments != nil && !isObject:
		err = errors.New("arguments is not an object")
	case line.Resource != "" && line.Arguments != nil:
		err = errors.New("a resource takes no arguments")
	}
	return line, err
}

// write prints results as they come to it.
func (b *batch) write(reach func(read int64, done string)) {
	out := bufio.NewWriter(b.Console.Out)
	for call := range b.written {
		<-call.done
		if call.envelope == nil {
			b.unmade++
			continue
		}
		if b.err == nil {
			if b.Console.OutTTY {
				b.live.Clear()
			}
			b.err = cmp.Or(render.WriteJSONLine(out, call.envelope, b.outScreen()), out.Flush())
		}
		if b.err != nil {
			b.stop() // nobody reads what comes
		}
		b.waiting.Add(-int64(len(call.envelope)))
		select {
		case b.printed <- struct{}{}:
		default:
		}
		switch {
		case call.kind == "":
			b.succeeded++
		case call.kind == fault.KindTool, b.kind == "":
			b.kind = call.kind
			b.failed++
		default:
			b.failed++
		}
		reach(call.read, fmt.Sprintf("%d done, %d failed", b.succeeded+b.failed, b.failed))
	}
}

// report says on stderr what became of the batch. The error is its own.
func (b *batch) report(ctx context.Context, took time.Duration) error {
	made, unmade := b.succeeded+b.failed, b.unmade+int(b.unread.Load())
	summary := fmt.Sprintf("%s: %d succeeded, %d failed", words.Count(made, "call"), b.succeeded, b.failed)
	if unmade > 0 {
		summary += fmt.Sprintf(", %d not made", unmade)
	}
	if !b.flags.quiet {
		b.say("%s; %s", summary, took.Round(time.Millisecond))
	}
	switch {
	case b.err != nil:
		return b.err
	case ctx.Err() != nil:
		return &reportedError{&exec.InterruptedError{}}
	case b.failed > 0:
		return &reportedError{&failure{error: errors.New(summary), kind: b.kind}}
	}
	return nil
}
