package cmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
)

// keyboard asks the person at the terminal, on stderr. A read cannot be interrupted: the next call takes up a read that
// nobody waits for any more.
type keyboard struct {
	*output
	in io.Reader
	// over is closed when the command is interrupted: then nothing is asked any more. nil never is.
	over <-chan struct{}

	mu      sync.Mutex // held while a person is being asked: one form at a time
	lines   *bufio.Reader
	pending chan typedLine
}

// typedLine is a line that a person has typed, without its end.
type typedLine struct {
	text string
	err  error
}

// hold waits until no other form is open and keeps the live line away. The error is ctx's,
// or context.Canceled after an interruption.
func (k *keyboard) hold(ctx context.Context) (release func(), err error) {
	k.mu.Lock()
	err = ctx.Err()
	select {
	case <-k.over:
		err = context.Canceled
	default:
	}
	if err != nil {
		k.mu.Unlock()
		return nil, err
	}
	show := k.live.Hold()
	k.dropTyped()
	return func() {
		show()
		k.mu.Unlock()
	}, nil
}

// uninterrupted returns a context that ends when the command is interrupted.
func (k *keyboard) uninterrupted() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-k.over:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// dropTyped drops lines that were typed before now, as no answer to a question that nobody has seen. The caller holds
// the keyboard.
func (k *keyboard) dropTyped() {
	k.Console.DropTyped()
	if !k.Console.InTTY {
		return
	}
	if k.pending != nil {
		select {
		case <-k.pending:
			k.pending = nil
		default:
			return // the reader waits, so it has nothing in its buffer
		}
	}
	if k.lines != nil {
		_, _ = k.lines.Discard(k.lines.Buffered()) // never more than there is
	}
}

// line waits for the next line. The error is ctx's, or the end of the input. The caller holds the keyboard.
func (k *keyboard) line(ctx context.Context) (string, error) {
	if k.lines == nil {
		k.lines = bufio.NewReader(k.in)
	}
	if k.pending == nil {
		pending := make(chan typedLine, 1)
		k.pending = pending
		go func() {
			text, err := k.lines.ReadString('\n')
			if text != "" {
				err = nil
			}
			pending <- typedLine{strings.TrimRight(text, "\r\n"), err}
		}()
	}
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case typed := <-k.pending:
		k.pending = nil
		return typed.text, typed.err
	}
}

// choose asks for one of several words, of which the first letter is enough. It drops what was typed before
// the question. The caller holds the keyboard.
func (k *keyboard) choose(ctx context.Context, question string, words ...string) (string, error) {
	for {
		k.dropTyped()
		fmt.Fprint(k.live, question)
		typed, err := k.line(ctx)
		if err != nil {
			return "", err
		}
		typed = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(typed), "/"))
		for _, word := range words {
			if typed != "" && strings.HasPrefix(word, typed) {
				return word, nil
			}
		}
	}
}
