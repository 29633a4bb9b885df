package stdio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"toolx/pkg/words"
)

// printedMost is how many bytes a program may print for toolx.
const printedMost = 64 << 10

// longestLine is how much of a line of stderr an error quotes.
const longestLine = 120

// lateError says that a program did not end in time.
type lateError struct{ limit time.Duration }

func (e lateError) Error() string { return fmt.Sprintf("it has not ended within %s", e.limit) }
func (e lateError) Unwrap() error { return context.DeadlineExceeded }

// Output runs a program for its output, with nothing on its stdin, in a folder and an environment, and returns what it
// prints on stdout. The error has the first line of its stderr; it is a context.DeadlineExceeded where limit is up.
func Output(
	ctx context.Context, limit time.Duration, command []string, folder string, environ []string,
) (string, error) {
	program := exec.Command(command[0], command[1:]...)
	program.Dir, program.Env = folder, environ
	text, err := run(ctx, program, limit)
	return string(text), err
}

// run runs a program for its output. A program that fails, or has not ended in time, ends with all that it has
// started; what another one leaves behind may be a keeper of secrets, and lives on.
func run(ctx context.Context, command *exec.Cmd, limit time.Duration) ([]byte, error) {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	command.WaitDelay = DrainTime // for what it has started and left behind
	stdout, stderr := &cappedBuffer{most: printedMost}, &cappedBuffer{most: printedMost}
	command.Stdout, command.Stderr = stdout, stderr
	group, err := startGroup(command)
	if err != nil {
		return nil, err
	}
	alive := context.AfterFunc(bounded, group.Kill)
	err = command.Wait()
	group.waited()
	if alive() && err == nil {
		group.leave()
	} else {
		group.Kill()
		group.release(bounded)
	}
	switch {
	case stdout.cut:
		return nil, fmt.Errorf("it prints more than %d KiB", printedMost>>10)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case bounded.Err() != nil:
		return nil, lateError{limit}
	case errors.Is(err, exec.ErrWaitDelay):
		return nil, errors.New("what it has started keeps its output open")
	case err != nil:
		if said := words.Shorten(words.FirstLine(strings.TrimSpace(stderr.text.String())), longestLine); said != "" {
			return nil, fmt.Errorf("%w; stderr: %s", err, said)
		}
		return nil, err
	}
	return stdout.text.Bytes(), nil
}

// cappedBuffer keeps the beginning of what is written to it, and takes no more.
type cappedBuffer struct {
	most int
	text bytes.Buffer
	cut  bool
}

func (b *cappedBuffer) Write(text []byte) (int, error) {
	kept := text[:min(len(text), b.most-b.text.Len())]
	b.cut = b.cut || len(kept) < len(text)
	b.text.Write(kept)
	if b.cut {
		return len(kept), io.ErrShortWrite // ends a program that never stops
	}
	return len(text), nil
}
