package call

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
)

// The limits of what a batch buffers.
const (
	batchWindow  = 64       // calls that were read and not printed yet; four times --parallel if that is more
	batchResults = 64 << 20 // bytes of their results; beyond that, no call starts
)

// batchDelay is how long a printed line may wait for the next ones. Writing each alone, and waking the process that
// reads it, would take a tenth of the time of a short call.
const batchDelay = 10 * time.Millisecond

func (o batchOptions) window() int { return max(batchWindow, 4*o.parallel) }

// dispatch passes each call to the queue of its server, until there are no more or the batch stops.
func (b *batch) dispatch(ctx context.Context, chunks <-chan []*batchCall) {
	defer func() {
		for _, queue := range b.queues {
			close(queue.calls)
		}
	}()
	for {
		select {
		case <-b.stopped:
			return
		case chunk, more := <-chunks:
			if !more {
				return
			}
			for i, call := range chunk {
				if !b.admit(call) {
					b.unread.Add(int64(len(chunk) - i))
					return
				}
				b.queueOf(ctx, call) <- call
			}
		}
	}
}

// admit waits until there is room for one more call, and records it. It reports whether the batch continues.
func (b *batch) admit(call *batchCall) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.open >= b.options.batch.window() || b.waiting > batchResults {
		b.crowded = true
		b.mu.Unlock()
		select {
		case <-b.room:
		case <-b.stopped:
		}
		b.mu.Lock()
		if closed(b.stopped) {
			return false
		}
	}
	if closed(b.stopped) {
		return false
	}
	b.open++
	if !b.options.batch.unordered {
		b.order = append(b.order, call)
	}
	return true
}

func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// batchQueue has the calls of one server that have not started.
type batchQueue struct {
	server string // empty for calls that name none
	calls  chan *batchCall
	// next is locked by the worker that takes the next call, until that call may start. So calls start in the order of
	// the lines.
	next sync.Mutex
}

// queueOf returns the queue of the server that a call names, or of the only server, and starts its workers. The queue
// has room for all admitted calls.
func (b *batch) queueOf(ctx context.Context, call *batchCall) chan<- *batchCall {
	names := b.box.Pool.Names()
	server := exec.ServerOf(call.line.name(), names)
	if server == "" && len(names) == 1 {
		server = names[0]
	}
	queue := b.queues[server]
	if queue == nil {
		queue = &batchQueue{server: server, calls: make(chan *batchCall, b.options.batch.window())}
		b.queues[server] = queue
		for range b.options.batch.parallel + 1 { // one prepares the next call while those before it are under way
			b.workers.Go(func() {
				for b.makeNext(ctx, queue) {
				}
			})
		}
	}
	return queue.calls
}

// makeNext runs the next call of a queue when its turn has come. It reports whether there was one.
func (b *batch) makeNext(ctx context.Context, queue *batchQueue) bool {
	queue.next.Lock()
	call, more := <-queue.calls
	if !more {
		queue.next.Unlock()
		return false
	}
	server := queue.server
	if b.prepare(ctx, call); call.prepared != nil {
		server = call.prepared.Tool.Server
	}
	b.takeTurn(call, server)
	queue.next.Unlock()
	b.make(ctx, call)
	call.answered()
	return true
}

// takeTurn waits until a server may get one more call. The turn lasts until the call is answered.
func (b *batch) takeTurn(call *batchCall, server string) {
	b.mu.Lock()
	turns := b.turns[server]
	if turns == nil {
		turns = make(chan struct{}, b.options.batch.parallel)
		b.turns[server] = turns
	}
	b.mu.Unlock()
	turns <- struct{}{}
	call.server, call.answered = server, sync.OnceFunc(func() { <-turns })
}

// settle records that a call is done or was skipped.
func (b *batch) settle(call *batchCall) {
	b.mu.Lock()
	call.done = true
	if call.result != nil {
		b.waiting += call.size()
	}
	if b.options.batch.unordered {
		b.order = append(b.order, call)
	}
	b.mu.Unlock()
	select {
	case b.settled <- struct{}{}:
	default: // the printer has yet to look
	}
}

// print prints results when their turn has come, until settled is closed and none is left. It runs in its own
// goroutine, so that it works while the next call waits for its server.
func (b *batch) print(ctx context.Context) {
	for more := true; more; {
		select {
		case _, more = <-b.settled:
		case <-b.due:
			b.flush()
		}
		for call := b.next(); call != nil; call = b.next() {
			b.printCall(ctx, call)
			if b.leave(call) == 0 || b.box.Out.Console.OutTTY {
				b.flush() // the writer of the calls may wait for this answer before the next
			}
		}
	}
	b.flush()
}

// flush writes out the lines that are printed.
func (b *batch) flush() {
	b.due = nil
	if b.err = cmp.Or(b.err, b.out.Flush()); b.err != nil {
		b.stop() // no one reads the output
	}
}

// next returns the next call to print, or nil if it is not done yet.
func (b *batch) next() *batchCall {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.order) == 0 || !b.order[0].done {
		return nil
	}
	call := b.order[0]
	b.order = b.order[1:]
	return call
}

// leave makes room for another call, and returns how many there are.
func (b *batch) leave(call *batchCall) (open int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open--
	if call.result != nil {
		b.waiting -= call.size()
	}
	if b.crowded && b.open <= b.options.batch.window()/2 && b.waiting <= batchResults {
		b.crowded = false
		b.room <- struct{}{} // never blocks: the channel is empty while crowded is set
	}
	return b.open
}

// printCall writes the line of a call and counts it.
func (b *batch) printCall(ctx context.Context, call *batchCall) {
	if call.result == nil {
		b.unmade++
		return
	}
	switch {
	case b.err != nil:
	case b.jq != nil:
		b.err = b.printPicked(ctx, call)
	default:
		b.err = b.printLine(call)
	}
	kind := fault.KindOf(call.result.Err)
	switch {
	case call.passed:
		b.succeeded++
	case kind == fault.KindTool, b.kind == "":
		b.kind = kind
		b.failed++
	default:
		b.failed++
	}
	b.tests.add(call)
	if b.reach != nil {
		b.reach(call.read, fmt.Sprintf("%d done, %d failed", b.succeeded+b.failed, b.failed))
	}
}

// printPicked writes a result after --jq. A failure has no line: it is on stderr, and stdout has only results.
func (b *batch) printPicked(ctx context.Context, call *batchCall) error {
	if call.result.Success {
		var picked bytes.Buffer
		err := render.Result(ctx, &picked, call.result, render.ResultOptions{JQ: b.jq, Screen: b.box.Out.OutScreen()})
		if err == nil {
			b.writeSoon()
			_, err = picked.WriteTo(b.out)
			return err
		}
		failed := *call.result
		failed.Success, failed.Err = false, b.box.Out.Masked(err)
		call.result, call.passed = &failed, false
	}
	if call.passed {
		return nil // the line expects the failure
	}
	b.box.Out.Log.Warn(fmt.Sprintf("line %d: %v", call.number, call.result.Err))
	return nil
}

// writeSoon removes the live line, because a line will be written soon.
func (b *batch) writeSoon() {
	if b.box.Out.Console.OutTTY {
		b.box.Out.Live.Clear()
	}
	if b.due == nil {
		b.due = time.After(batchDelay)
	}
}

func (b *batch) printLine(call *batchCall) error {
	envelope, err := call.envelope()
	if err != nil {
		return err
	}
	b.writeSoon()
	return render.WriteJSONLine(b.out, envelope, b.box.Out.OutScreen())
}
