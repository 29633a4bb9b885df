package cmd

import (
	"bufio"
	"context"
	"io"
	"strings"
	"sync"

	"toolx/pkg/ai"
	"toolx/pkg/exec"
)

// follow answers questions that come line by line on standard input, one after the other and in one conversation, until
// it ends (AI-4). Lines are read while an answer is made. A bad answer is told, and the next question is asked.
func (a *App) follow(ctx context.Context, talk *ai.Conversation, view *askView, first string) error {
	waiting := newQueue()
	if first != "" {
		waiting.put(first)
	}
	go func() {
		readLines(a.Console.In, waiting.put)
		waiting.close()
	}()
	for {
		question, more := waiting.next(ctx)
		if ctx.Err() != nil {
			return &exec.InterruptedError{}
		}
		if !more {
			return nil
		}
		if err := a.answerOne(ctx, talk, view, question); err != nil {
			return err
		}
	}
}

// answerOne answers one of many questions. The error ends them all: stdout has gone, or the user wants no more.
func (a *App) answerOne(ctx context.Context, talk *ai.Conversation, view *askView, question string) error {
	view.question = question
	_, err := talk.Ask(ctx, question)
	err = view.end(err)
	switch {
	case view.err != nil:
		return view.err
	case ctx.Err() != nil:
		return view.failed(&exec.InterruptedError{})
	case err != nil && view.json:
		return a.askFailureLine(question, err)
	case err != nil:
		a.tell(err)
	}
	if !view.json {
		_, err := io.WriteString(a.Console.Out, "\n")
		return err
	}
	return nil
}

// readLines gives each line that says something.
func readLines(in io.Reader, give func(string)) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			give(line)
		}
		if err != nil {
			return
		}
	}
}

// queue holds questions until they are asked, however many come.
type queue struct {
	mu     sync.Mutex
	lines  []string
	closed bool
	more   chan struct{} // holds one sign at most: look again
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

func (q *queue) put(line string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lines = append(q.lines, line)
	q.wake()
}

// close says that no more will come; what is there is still given.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// next waits for a line; ok is false where there will be none, or ctx has ended.
func (q *queue) next(ctx context.Context) (line string, ok bool) {
	for {
		q.mu.Lock()
		if len(q.lines) > 0 {
			line, q.lines = q.lines[0], q.lines[1:]
			q.mu.Unlock()
			return line, true
		}
		closed := q.closed
		q.mu.Unlock()
		if closed {
			return "", false
		}
		select {
		case <-ctx.Done():
			return "", false
		case <-q.more:
		}
	}
}
