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

// timeFlag is the value of a flag for a time. It is zero where the flag was not given.
type timeFlag struct {
	limit     *time.Duration
	unlimited bool // "none" is a value too, and means config.Unlimited
}

// Set implements pflag.Value. A bare number ("5", "1.5") is a number of seconds. globalFlags.check refuses negative
// times, when all flags are read.
func (f timeFlag) Set(text string) error {
	if f.unlimited && text == "none" {
		*f.limit = config.Unlimited
		return nil
	}
	timed := text
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		timed += "s"
	}
	duration, err := time.ParseDuration(timed)
	if err != nil {
		const fix = "write for example 5 (seconds), 30s, 500ms or 1m30s"
		return &config.UnitError{Text: "'" + text + "' is not a time", Fix: fix}
	}
	*f.limit = duration
	return nil
}

// String implements pflag.Value.
func (f timeFlag) String() string {
	switch {
	case f.limit == nil || *f.limit == 0:
		return ""
	case *f.limit == config.Unlimited:
		return "none"
	}
	return f.limit.String()
}

// Type implements pflag.Value.
func (timeFlag) Type() string { return "duration" }

// bounded limits ctx to the time that a whole call may take, connecting included (--max-time, maxTime of the config).
// subject names the call in the error. The clock stops while a person is asked.
func (b *toolbox) bounded(ctx context.Context, subject exec.TimeoutError) (context.Context, func()) {
	return exec.WithMaxTime(ctx, b.executor.Defaults.MaxTime, subject)
}

// gaveUp returns why a call whose server is not open yet has ended: its time was up, or the user gave up. It is nil
// where ctx has not ended; tool and server may be empty.
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
