// Package person asks the user at the terminal for consent, answers to servers, logins and secrets.
package person

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"toolx/cmd/streams"
	"toolx/pkg/exec"
	"toolx/pkg/guard"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// Keyboard asks the user at the terminal, on stderr. A read cannot be interrupted, so the next call takes over a read
// that no one waits for any more.
type Keyboard struct {
	Out *streams.Streams
	In  io.Reader
	// Over is closed when the command is interrupted: then there are no more questions. It may be nil.
	Over <-chan struct{}
	// Interrupt ends the command, like Ctrl-C outside a form.
	Interrupt func()

	mu      sync.Mutex // held while the user is asked: one form at a time
	lines   *bufio.Reader
	pending chan typedLine
}

// typedLine is a line that the user has typed, without its end.
type typedLine struct {
	text string
	err  error
}

// Hold waits until no other form is open and keeps the live line away. The error is ctx's,
// or context.Canceled after an interruption.
func (k *Keyboard) Hold(ctx context.Context) (release func(), err error) {
	k.mu.Lock()
	err = ctx.Err()
	select {
	case <-k.Over:
		err = context.Canceled
	default:
	}
	if err != nil {
		k.mu.Unlock()
		return nil, err
	}
	show := k.Out.Live.Hold()
	k.dropTyped()
	return func() {
		show()
		k.mu.Unlock()
	}, nil
}

// uninterrupted returns a context that ends when the command is interrupted.
func (k *Keyboard) uninterrupted() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-k.Over:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// dropTyped drops lines that were typed before now, because they cannot be answers to the next question. The caller
// holds the keyboard.
func (k *Keyboard) dropTyped() {
	k.Out.Console.DropTyped()
	if !k.Out.Console.InTTY {
		return
	}
	if k.pending != nil {
		select {
		case <-k.pending:
			k.pending = nil
		default:
			return // the reader is waiting, so its buffer is empty
		}
	}
	if k.lines != nil {
		_, _ = k.lines.Discard(k.lines.Buffered()) // never more than there is
	}
}

// Line waits for the next line. The error is ctx's, or the end of the input. The caller holds the keyboard.
func (k *Keyboard) Line(ctx context.Context) (string, error) {
	if k.lines == nil {
		k.lines = bufio.NewReader(k.In)
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

// choose asks for one of several words; the first letter is enough. It drops lines that were typed before the question.
// The caller holds the keyboard.
func (k *Keyboard) choose(ctx context.Context, question string, words ...string) (string, error) {
	for {
		k.dropTyped()
		fmt.Fprint(k.Out.Live, question)
		typed, err := k.Line(ctx)
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

// Confirms asks the user a yes-or-no question. Without a terminal, the answer is yes.
func (k *Keyboard) Confirms(ctx context.Context, question string) (bool, error) {
	if !k.Out.Person() {
		return true, nil
	}
	release, err := k.Hold(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	answer, err := k.choose(ctx, question+" [y]es, [n]o: ", "yes", "no")
	if err != nil {
		return false, ctx.Err() // nil if the terminal was closed
	}
	return answer == "yes", nil
}

// Agrees asks the user to confirm a call. No answer means no. The error is an interruption.
func (k *Keyboard) Agrees(
	ctx context.Context, verb string, ask *guard.AskError, arguments json.RawMessage,
) (bool, error) {
	release, err := k.Hold(ctx)
	if err != nil {
		return false, &exec.InterruptedError{Tool: ask.Tool}
	}
	defer release()
	reason, given := ask.Reason(), words.Clip(string(k.Out.Mask.JSON(arguments)), 400)
	fmt.Fprintf(k.Out.Live, "%s %s %s? %s%s. [y/N] ", verb, render.Safe(ask.Tool), render.Safe(given),
		strings.ToUpper(reason[:1]), render.Safe(reason[1:]))
	line, err := k.Line(ctx)
	if err != nil { // also at the end of the input, which means no
		fmt.Fprintln(k.Out.Live)
	}
	if ctx.Err() != nil {
		return false, &exec.InterruptedError{Tool: ask.Tool}
	}
	said := strings.ToLower(strings.TrimSpace(line))
	return said == "y" || said == "yes", nil
}
