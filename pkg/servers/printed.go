package servers

import (
	"context"
	"fmt"
	"os/exec"
	"time"
)

// The limits of programs that print something for toolx.
const (
	printedTime = 30 * time.Second // of one that a reference names; a person may have to unlock something
	printedMost = 64 << 10         // bytes of its output
)

// Printed runs a program for its output, with nothing on its stdin, in a folder and an environment, and returns what it
// prints on stdout. The error has the first line of its stderr.
func Printed(ctx context.Context, command []string, folder string, environ []string) (string, error) {
	program := exec.Command(command[0], command[1:]...)
	program.Dir, program.Env = folder, environ
	text, err := printed(ctx, program, printedTime)
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
		return nil, fmt.Errorf("it has not ended within %s", limit)
	case err != nil:
		if said := headline(stderr.text.Bytes()); said != "" {
			return nil, fmt.Errorf("%w; stderr: %s", err, said)
		}
		return nil, err
	}
	return stdout.text.Bytes(), nil
}
