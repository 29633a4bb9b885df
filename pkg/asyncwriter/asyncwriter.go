// Package asyncwriter writes in the background, so that a slow terminal or disk does not block the caller.
package asyncwriter

import (
	"bytes"
	"context"
	"io"
	"sync"
)

// Writer queues each write and passes it to another writer in order, on a separate goroutine. It is safe for concurrent
// use.
type Writer struct {
	out   io.Writer
	limit int
	note  func(lines int) string

	mu      sync.Mutex
	queue   [][]byte
	size    int           // of the queue, in bytes
	drained chan struct{} // closed when all is written; nil while nothing is
	dropped int           // lines since the last that was kept
	err     error         // the first error of out
}

// New returns a Writer to out. It refuses an Offer that would make the queue longer than limit, in
// bytes. note returns the text, with its newline, that replaces dropped lines.
func New(out io.Writer, limit int, note func(lines int) string) *Writer {
	return &Writer{out: out, limit: limit, note: note}
}

// Write queues a copy of p and returns at once, however long the queue is. It is for output that must
// not get lost. The error is that of an earlier write, after which everything is dropped.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	w.push(bytes.Clone(p))
	return len(p), nil
}

// Offer is Write for output of unlimited size: if the queue is too long, it drops p and counts its
// lines. It always takes a single write that finds the queue empty.
func (w *Writer) Offer(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil:
		return 0, w.err
	case w.size > 0 && w.size+len(p) > w.limit:
		w.dropped += max(1, bytes.Count(p, []byte("\n")))
	default:
		w.push(bytes.Clone(p))
	}
	return len(p), nil
}

// Queue is Write without a copy of p, which w owns then. It reports whether p was taken: it is not if an earlier write
// has failed, or if the queue would be longer than the limit.
func (w *Writer) Queue(p []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || w.size > 0 && w.size+len(p) > w.limit {
		return false
	}
	w.push(p)
	return true
}

// Offering returns a view of w whose Write is Offer.
func (w *Writer) Offering() io.Writer { return offering{w} }

type offering struct{ *Writer }

func (o offering) Write(p []byte) (int, error) { return o.Offer(p) }

// push queues p after the note about what was dropped before it, and starts the writing goroutine unless it is running.
func (w *Writer) push(p []byte) {
	w.noteDropped()
	w.queue, w.size = append(w.queue, p), w.size+len(p)
	if w.drained == nil {
		w.drained = make(chan struct{})
		go w.drain()
	}
}

func (w *Writer) noteDropped() {
	if w.dropped > 0 {
		note := []byte(w.note(w.dropped))
		w.queue, w.size, w.dropped = append(w.queue, note), w.size+len(note), 0
	}
}

// drain writes until the queue is empty.
func (w *Writer) drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		if len(w.queue) == 0 {
			w.noteDropped()
		}
		if len(w.queue) == 0 || w.err != nil {
			w.queue, w.size = nil, 0
			close(w.drained)
			w.drained = nil
			return
		}
		next := w.queue[0]
		w.mu.Unlock()
		_, err := w.out.Write(next)
		w.mu.Lock()
		w.queue[0] = nil
		w.queue, w.size, w.err = w.queue[1:], w.size-len(next), err
	}
}

// Behind reports whether anything is waiting to be written.
func (w *Writer) Behind() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.drained != nil
}

// Flush waits until everything is written or ctx ends. The error is ctx's, or the first one of writing.
func (w *Writer) Flush(ctx context.Context) error {
	w.mu.Lock()
	drained := w.drained
	w.mu.Unlock()
	if drained != nil {
		select {
		case <-drained:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
