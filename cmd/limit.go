package cmd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
)

// limitFlag is a flag for a time that may be none, as in the config. It sets limit to
// config.Unlimited then; zero stands for a flag that was not given.
type limitFlag struct{ limit *time.Duration }

// timeFlag is a flag for a time that has to be one.
type timeFlag struct{ limitFlag }

// Set implements pflag.Value.
func (f timeFlag) Set(text string) (err error) {
	*f.limit, err = parseTime(text)
	return err
}

// parseTime reads the time of a flag; a bare number ("5", "1.5") is one of seconds. What
// is negative is left to be refused with the other flags, when all are read.
func parseTime(text string) (time.Duration, error) {
	timed := text
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		timed += "s"
	}
	if duration, err := time.ParseDuration(timed); err == nil {
		return duration, nil
	}
	return 0, &config.UnitError{Text: fmt.Sprintf("'%s' is not a time", text), Fix: "write for example 5 (seconds), 30s, 500ms or 1m30s"}
}

// String implements pflag.Value.
func (f limitFlag) String() string {
	switch {
	case f.limit == nil || *f.limit == 0:
		return ""
	case *f.limit == config.Unlimited:
		return "none"
	}
	return f.limit.String()
}

// Set implements pflag.Value.
func (f limitFlag) Set(text string) (err error) {
	if text == "none" {
		*f.limit = config.Unlimited
		return nil
	}
	*f.limit, err = parseTime(text)
	return err
}

// Type implements pflag.Value.
func (limitFlag) Type() string { return "duration" }

// bounded is ctx with the time that all of a call may take (--max-time, maxTime of the config): to connect is a part of
// it. subject names the call in the error. A person who is asked meanwhile stops that clock.
func (b *toolbox) bounded(ctx context.Context, subject exec.TimeoutError) (context.Context, func()) {
	return exec.WithMaxTime(ctx, b.executor.Defaults.MaxTime, subject)
}

// gaveUp is why nothing more comes of a call whose server is not open yet: its time was
// up, or the user gave up. It is nil where ctx has not ended; tool and server may be empty.
func gaveUp(ctx context.Context, tool, server string) error {
	if server != "" {
		return ended(ctx, tool, fmt.Sprintf("server %q was not ready for it by then", server))
	}
	return ended(ctx, tool, "no server was ready for it by then")
}

// ended returns why ctx has ended before a call of the tool could be made, or nil while it has not. detail says what
// took the time.
func ended(ctx context.Context, tool, detail string) error {
	var timeout *exec.TimeoutError
	switch {
	case ctx.Err() == nil:
		return nil
	case errors.As(context.Cause(ctx), &timeout):
		told := *timeout
		told.Detail = detail
		return &told
	}
	return &exec.InterruptedError{Tool: tool}
}

// slowSchema is the detail of a limit that passes while toolx works on a tool's schema.
const slowSchema = "its schema takes that long to work with"
