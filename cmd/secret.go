package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/keyring"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// ring returns the system's keyring, as TOOLX_KEYRING has it.
func ring() keyring.Ring { return keyring.Ring{Off: os.Getenv("TOOLX_KEYRING") == "off"} }

// secretStore returns where toolx secret keeps what it is given.
func secretStore() keyring.Store { return keyring.Store{Path: stateFile("secrets.json"), Ring: ring()} }

// newSources returns where references in the config get their values from. Ctrl-C ends the wait for them, and a program
// has the time that the flags give.
func newSources(k *keyboard, flags *globalFlags) *config.Sources {
	return &config.Sources{
		Keyring: func(name string) (string, error) {
			ctx, cancel := k.uninterrupted()
			defer cancel()
			secret, err := secretStore().Get(ctx, name)
			if errors.Is(err, keyring.ErrNone) {
				err = fault.Usage("toolx secret has put it into the keyring, and there is none here",
					"toolx secret set "+exec.ShellLine(name)+" keeps it in a file that only you can read")
			}
			return secret, err
		},
		Run: func(command []string, folder string, environ []string) (string, error) {
			ctx, cancel := k.uninterrupted()
			defer cancel()
			limit, flag := flags.referenceTime()
			text, err := servers.Printed(ctx, limit, command, folder, environ)
			if flag != "" && errors.Is(err, context.DeadlineExceeded) {
				err = &failure{error: err, kind: fault.KindTimeout, hint: flag + " gives more time"}
			}
			return text, err
		},
	}
}

// referenceTime bounds a program that a reference names, where no flag does; a person may have to unlock something.
const referenceTime = 30 * time.Second

// referenceTime returns how long a program that a reference names may take, and the flag that says so, if any does.
func (f *globalFlags) referenceTime() (limit time.Duration, flag string) {
	limit = referenceTime
	if f.timeout > 0 && f.timeout < limit {
		limit, flag = f.timeout, "--timeout"
	}
	if f.maxTime > 0 && f.maxTime < limit {
		limit, flag = f.maxTime, "--max-time"
	}
	return limit, flag
}

func newSecretCommand(app *App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "secret set|list|remove [NAME]",
		Short: "Keep secrets for the config in the system's keyring",
		Long: `Keep secrets that the config refers to as ${keyring:NAME}, so that they stand in no
file and no shell's history. They are in the system's keyring where there is one, else
in a file that only you can read.

Exit codes: 0 success, 2 wrong usage, or no secret of that name, 130 interrupted.`,
		Example: `  toolx secret set github
  toolx secret list
  toolx secret remove github`,
		Args: needsSubcommand("unknown subcommand %q of secret", // after a colon it would be masked
			"toolx secret set NAME, toolx secret list, or toolx secret remove NAME"),
		RunE: func(*cobra.Command, []string) error { return nil }, // never reached: Args always fails
	}
	cmd.AddCommand(
		newSecretSetCommand(app, runSecretSet),
		newSecretListCommand(app, runSecretList),
		newSecretRemoveCommand(app, runSecretRemove),
	)
	return cmd
}

func newSecretSetCommand(app *App, run runFunc[string]) *cobra.Command {
	var name string
	return &cobra.Command{
		Use:   "set NAME",
		Short: "Keep a secret under a name",
		Long: `Keep a secret under a name, in the place of an earlier one. toolx asks for it on a
terminal, without showing it; in a pipe it reads standard input, without the end of
the last line. It is never an argument, since others can read those.

Exit codes: 0 kept, 2 wrong usage, or an empty secret, 130 interrupted.`,
		Example: `  toolx secret set github
  pass show github/token | toolx secret set github`,
		Args:              oneSecret("set", &name),
		ValidArgsFunction: completeSecrets,
		RunE:              runs(app, &name, run),
	}
}

func newSecretListCommand(app *App, run runFunc[bool]) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the names of secrets",
		Long: `List the names of the secrets that toolx keeps, one on a line; never the secrets.

Exit codes: 0 listed, also where there is none; 2 wrong usage, or a damaged list.`,
		Example: `  toolx secret list
  toolx secret list --json`,
		Args: noArguments,
		RunE: runs(app, &asJSON, run),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, `print {"secrets":[NAME,…]}`)
	return cmd
}

func newSecretRemoveCommand(app *App, run runFunc[string]) *cobra.Command {
	var name string
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Forget a secret",
		Long: `Forget the secret of a name.

Exit codes: 0 removed, 2 wrong usage, or no secret of that name.`,
		Example:           `  toolx secret remove github`,
		Args:              oneSecret("remove", &name),
		ValidArgsFunction: completeSecrets,
		RunE:              runs(app, &name, run),
	}
}

// oneSecret reads the arguments of a verb that takes the name of one secret.
func oneSecret(verb string, name *string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return fault.Usage("secret "+verb+" takes a name", "toolx secret "+verb+" NAME")
		case len(args) > 1 && verb == "set":
			// What was typed is not repeated: it may be the secret.
			return fault.Usage("secret set takes a name alone: others can read the arguments of a program",
				"leave the secret out, and toolx asks for it; in a pipe it reads standard input")
		case len(args) > 1:
			return fault.Usage("unexpected argument "+quote(args[1]), "toolx secret "+verb+" takes one name")
		}
		*name = args[0]
		return checkSecretName(args[0])
	}
}

// checkSecretName refuses a name that ${keyring:NAME} could not have.
func checkSecretName(name string) error {
	const longest = 128
	wrong := func(r rune) bool {
		return !unicode.IsGraphic(r) || unicode.IsSpace(r) || strings.ContainsRune("${}", r)
	}
	if name == "" || len(name) > longest || strings.ContainsFunc(name, wrong) || strings.Contains(name, ":-") {
		return fault.Usage("the name "+quote(name)+" cannot be written as ${keyring:NAME}",
			"use letters, digits, and signs such as . - _ / @")
	}
	return nil
}

// completeSecrets completes the name of a secret, without a look into the keyring.
func completeSecrets(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var found []cobra.Completion
	names, _ := secretStore().Names()
	for _, name := range names {
		if len(args) == 0 && strings.HasPrefix(name, typed) {
			found = append(found, name)
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// runSecretSet keeps what is typed, or comes on standard input.
func runSecretSet(ctx context.Context, app *App, name string) error {
	secret, err := app.readSecret(ctx, name)
	if err != nil {
		return err
	}
	app.mask.Add(secret)
	store := secretStore()
	inKeyring, err := store.Set(ctx, name, secret)
	if err != nil {
		return usageError(err)
	}
	place := "the keyring"
	if !inKeyring {
		place = store.Path + ", which only you can read: no keyring takes it"
	}
	app.say("kept in %s; the config has it as ${keyring:%s}", render.Safe(place), render.Safe(name))
	return nil
}

// maxSecret is the size in bytes of the largest secret.
const maxSecret = 64 << 10

// readSecret asks for a secret on a terminal, else it reads standard input.
func (o *output) readSecret(ctx context.Context, name string) (string, error) {
	read := func() (string, error) {
		text, err := io.ReadAll(io.LimitReader(o.Console.In, maxSecret+1))
		return string(text), err
	}
	if input, isFile := o.Console.In.(*os.File); isFile && o.Console.InTTY {
		if before, err := term.GetState(int(input.Fd())); err == nil {
			defer term.Restore(int(input.Fd()), before) //nolint:errcheck // there is nothing else to do
		}
		o.Console.DropTyped()
		o.Console.HideTyped()
		fmt.Fprintf(o.live, "secret %s (it is not shown): ", render.Safe(name))
		o.live.Flush(ctx)
		read = func() (string, error) {
			text, err := readHidden(input)
			o.say("")
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
			"keep it in a file, and write ${file:PATH} in the config")
	}
	return secret, nil
}

// runSecretList prints the names.
func runSecretList(_ context.Context, app *App, asJSON bool) error {
	names, err := secretStore().Names()
	switch {
	case err != nil:
		return usageError(err)
	case asJSON:
		return app.printJSON(map[string]any{"secrets": append([]string{}, names...)})
	}
	for _, name := range names {
		if err := app.printFields(name); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		app.say("no secret is kept; toolx secret set NAME keeps one")
	}
	return nil
}

// runSecretRemove forgets a secret.
func runSecretRemove(ctx context.Context, app *App, name string) error {
	err := secretStore().Remove(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Usage("no secret is named "+quote(name), "toolx secret list shows the names")
	case errors.Is(err, keyring.ErrNone):
		return fault.Usage(quote(name)+" is in the keyring, and there is none here",
			"run it where the keyring is, without TOOLX_KEYRING=off")
	case err != nil:
		return usageError(err)
	}
	app.say("%s is removed", render.Safe(name))
	return nil
}
