package person

import (
	"context"
	"errors"

	"toolx/pkg/auth"
	"toolx/pkg/exec"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/tui"
)

// Elicit asks the user for a server, and opens pages in the browser if opens is set.
func (k *Keyboard) Elicit(ctx context.Context, asked *protocol.Elicitation, opens bool) (*protocol.Elicited, error) {
	release, err := k.Hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := k.endRead(ctx, asked.Server); err != nil {
		if ctx.Err() == nil {
			return &protocol.Elicited{Action: protocol.Cancel}, nil // the terminal was closed
		}
		return nil, err
	}
	defer k.Out.Live.Pause()() // the form uses the last lines of the terminal
	options := tui.Options{In: k.In, Out: k.Out.Console.Err, Color: k.Out.Console.ErrColor, ASCII: k.Out.ASCII()}
	if opens {
		options.OpenPage = auth.OpenBrowser
	}
	given, err := tui.Elicit(ctx, options, asked)
	var interrupted *exec.InterruptedError
	if errors.As(err, &interrupted) && k.Interrupt != nil {
		k.Interrupt()
	}
	return given, err
}

// endRead waits for the end of a read that an earlier question started, because it would take keys away from the
// current form. The caller holds the keyboard.
func (k *Keyboard) endRead(ctx context.Context, server string) error {
	if k.pending == nil {
		return nil
	}
	k.Out.Say("server %q has a question: press Enter to see it", server)
	if _, err := k.Line(ctx); err != nil {
		return err
	}
	k.dropTyped()
	return nil
}
