package person

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"toolx/cmd/cli"
	"toolx/cmd/exit"
	"toolx/cmd/stores"
	"toolx/cmd/streams"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/keyring"
	"toolx/pkg/render"
	"toolx/pkg/servers/stdio"
)

// NewSources returns the sources of references in the config. Ctrl-C ends the wait for them, and the flags limit how
// long a program may take.
func NewSources(k *Keyboard, flags *cli.Flags) *config.Sources {
	return &config.Sources{
		Keyring: func(name string) (string, error) {
			ctx, cancel := k.uninterrupted()
			defer cancel()
			secret, err := stores.Secrets().Get(ctx, name)
			if errors.Is(err, keyring.ErrNone) {
				err = fault.Usage("the secret is in a keyring, which is not available here",
					"toolx secret set "+exec.ShellLine(name)+" stores it in a file that only you can read")
			}
			return secret, err
		},
		Run: func(command []string, folder string, environ []string) (string, error) {
			ctx, cancel := k.uninterrupted()
			defer cancel()
			limit, flag := flags.ReferenceTime()
			text, err := stdio.Output(ctx, limit, command, folder, environ)
			if flag != "" && errors.Is(err, context.DeadlineExceeded) {
				err = exit.Fail(err, fault.KindTimeout, flag+" gives more time")
			}
			return text, err
		},
	}
}

// ReadSecret asks for a secret on a terminal, else it reads standard input.
func ReadSecret(ctx context.Context, o *streams.Streams, name string) (string, error) {
	read := func() (string, error) {
		text, err := io.ReadAll(io.LimitReader(o.Console.In, maxSecret+1))
		return string(text), err
	}
	if input, isFile := o.Console.In.(*os.File); isFile && o.Console.InTTY {
		if before, err := term.GetState(int(input.Fd())); err == nil {
			defer term.Restore(int(input.Fd()), before) //nolint:errcheck // nothing can be done about it
		}
		o.Console.DropTyped()
		o.Console.HideTyped()
		fmt.Fprintf(o.Live, "secret %s (it is not shown): ", render.Safe(name))
		o.Live.Flush(ctx)
		read = func() (string, error) {
			text, err := readHidden(input)
			o.Say("")
			return text, err
		}
	}
	type reading struct {
		text string
		err  error
	}
	done := make(chan reading, 1)
	go func() {
		text, err := read()
		done <- reading{text, err}
	}()
	var got reading
	select {
	case <-ctx.Done():
		return "", &exec.InterruptedError{}
	case got = <-done:
	}
	const fix = "type it when toolx asks, or pipe it: pass show x | toolx secret set NAME"
	secret := strings.TrimSuffix(strings.TrimSuffix(got.text, "\n"), "\r")
	switch {
	case got.err != nil:
		return "", fault.Usage("cannot read the secret: "+fault.Reason(got.err), fix)
	case secret == "":
		return "", fault.Usage("the secret is empty", fix)
	case len(got.text) > maxSecret:
		return "", fault.Usage("the secret is larger than "+exec.Bytes(maxSecret),
			"store it in a file, and write ${file:PATH} in the config")
	}
	return secret, nil
}

// maxSecret is the size in bytes of the largest secret.
const maxSecret = 64 << 10

// readHidden reads a line without showing it, because it contains a code.
func readHidden(input *os.File) (string, error) {
	line, err := term.ReadPassword(int(input.Fd()))
	if err == nil {
		return string(line), nil
	}
	text, err := bufio.NewReader(input).ReadString('\n')
	if err != nil {
		return "", errors.New("the terminal was closed")
	}
	return text, nil
}
