package servers

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// printedMost is how many bytes a program may print for toolx.
const printedMost = 64 << 10

// lateError says that a program did not end in time.
type lateError struct{ limit time.Duration }

func (e lateError) Error() string { return fmt.Sprintf("it has not ended within %s", e.limit) }
func (e lateError) Unwrap() error { return context.DeadlineExceeded }

// Printed runs a program for its output, with nothing on its stdin, in a folder and an environment, and returns what it
// prints on stdout. The error has the first line of its stderr; it is a context.DeadlineExceeded where limit is up.
func Printed(
	ctx context.Context, limit time.Duration, command []string, folder string, environ []string,
) (string, error) {
	program := exec.Command(command[0], command[1:]...)
	program.Dir, program.Env = folder, environ
	text, err := printed(ctx, program, limit)
	return string(text), err
}

// printed runs a program for its output. A program that fails, or has not ended in time, ends with all that it has
// started; what another one leaves behind may be a keeper of secrets, and lives on.
func printed(ctx context.Context, command *exec.Cmd, limit time.Duration) ([]byte, error) {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	command.WaitDelay = drainTime // for what it has started and left behind
	stdout, stderr := &cappedBuffer{most: printedMost}, &cappedBuffer{most: printedMost}
	command.Stdout, command.Stderr = stdout, stderr
	group, err := startGroup(command)
	if err != nil {
		return nil, err
	}
	alive := context.AfterFunc(bounded, group.kill)
	err = command.Wait()
	group.waited()
	if alive() && err == nil {
		group.leave()
	} else {
		group.kill()
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
		if said := headline(stderr.text.Bytes()); said != "" {
			return nil, fmt.Errorf("%w; stderr: %s", err, said)
		}
		return nil, err
	}
	return stdout.text.Bytes(), nil
}
