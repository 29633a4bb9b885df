package cmd

import (
	"bufio"
	"context"
	"io"
	"strings"

	"toolx/pkg/ai"
	"toolx/pkg/exec"
)

// maxWaiting is how many questions may wait for their answers; further ones wait in standard input.
const maxWaiting = 10_000

// follow answers questions that come line by line on standard input, one after the other and in one conversation, until
// it ends (AI-4). Lines are read while an answer is made. After a failure the next question is asked.
func (v *askView) follow(ctx context.Context, talk *ai.Conversation, first string) error {
	waiting := make(chan string, maxWaiting)
	if first != "" {
		waiting <- first
	}
	go readLines(v.Console.In, waiting)
	for {
		question, more := nextLine(ctx, waiting)
		if ctx.Err() != nil {
			return &exec.InterruptedError{}
		}
		if !more {
			return nil
		}
		if err := v.answerOne(ctx, talk, question); err != nil {
			return err
		}
	}
}

// answerOne answers one of many questions. The error ends them all: stdout is gone, or the user has interrupted.
func (v *askView) answerOne(ctx context.Context, talk *ai.Conversation, question string) error {
	v.question = question
	_, err := talk.Ask(ctx, question)
	err = v.end(err)
	switch {
	case v.err != nil:
		return v.err
	case ctx.Err() != nil:
		return v.failed(&exec.InterruptedError{})
	case err != nil && v.json:
		return v.askFailureLine(question, err)
	case err != nil:
		v.tell(err)
	}
	if !v.json {
		_, err := io.WriteString(v.Console.Out, "\n")
		return err
	}
	return nil
}

// readLines sends each line of in that is not blank, and closes lines at the end.
func readLines(in io.Reader, lines chan<- string) {
	defer close(lines)
	reader := bufio.NewReader(in)
	for {
		line, err := reader.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			lines <- line
		}
		if err != nil {
			return
		}
	}
}

// nextLine waits for a line; more is false at the end of lines or of ctx.
func nextLine(ctx context.Context, lines <-chan string) (line string, more bool) {
	select {
	case <-ctx.Done():
		return "", false
	case line, more = <-lines:
		return line, more
	}
}
