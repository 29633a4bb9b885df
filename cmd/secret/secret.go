// Package secret has the commands that store secrets.
package secret

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/stores"
	"toolx/cmd/streams"
	"toolx/pkg/fault"
	"toolx/pkg/keyring"
	"toolx/pkg/render"
)

// New returns the command secret.
func New(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "secret set|list|remove [NAME]",
		Short: "Store secrets in the system keyring",
		Long: `Store secrets that the config refers to as ${keyring:NAME}, so that no file and no
shell history contains them. They are stored in the system keyring if there is one,
otherwise in a file that only you can read.

Exit codes: 0 success, 2 wrong usage, or no secret of that name, 130 interrupted.`,
		Example: `  toolx secret set github
  toolx secret list
  toolx secret remove github`,
		Args: cli.NeedsSubcommand("toolx secret set NAME, toolx secret list, or toolx secret remove NAME"),
		RunE: func(*cobra.Command, []string) error { return nil }, // never reached: Args always fails
	}
	cmd.AddCommand(
		newSecretSetCommand(f, runSecretSet),
		newSecretListCommand(f, runSecretList),
		newSecretRemoveCommand(f, runSecretRemove),
	)
	return cmd
}

// nameOptions have the name of a secret.
type nameOptions struct {
	Out *streams.Streams

	name string
}

// listOptions say how to list secrets.
type listOptions struct {
	Out *streams.Streams

	json bool
}

func newSecretSetCommand(f *factory.Factory, run cli.RunFunc[nameOptions]) *cobra.Command {
	o := nameOptions{Out: f.Out}
	return &cobra.Command{
		Use:   "set NAME",
		Short: "Store a secret",
		Long: `Store a secret, replacing an earlier one of the same name. On a terminal toolx asks for
it without showing it; otherwise it reads standard input, without the last newline. It
is never an argument, because other users can see those.

Exit codes: 0 stored, 2 wrong usage, or an empty secret, 130 interrupted.`,
		Example: `  toolx secret set github
  pass show github/token | toolx secret set github`,
		Args:              oneSecret("set", &o.name),
		ValidArgsFunction: completeSecrets,
		RunE:              cli.Run(&o, run),
	}
}

func newSecretListCommand(f *factory.Factory, run cli.RunFunc[listOptions]) *cobra.Command {
	o := listOptions{Out: f.Out}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the names of secrets",
		Long: `List the names of stored secrets, one per line; never the secrets themselves.

Exit codes: 0 listed, even if there are none; 2 wrong usage, or a damaged list.`,
		Example: `  toolx secret list
  toolx secret list --json`,
		Args: cli.NoArguments,
		RunE: cli.Run(&o, run),
	}
	cmd.Flags().BoolVar(&o.json, "json", false, `print {"secrets":[NAME,…]}`)
	return cmd
}

func newSecretRemoveCommand(f *factory.Factory, run cli.RunFunc[nameOptions]) *cobra.Command {
	o := nameOptions{Out: f.Out}
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Delete a secret",
		Long: `Delete a secret.

Exit codes: 0 deleted, 2 wrong usage, or no secret of that name.`,
		Example:           `  toolx secret remove github`,
		Args:              oneSecret("remove", &o.name),
		ValidArgsFunction: completeSecrets,
		RunE:              cli.Run(&o, run),
	}
}

// oneSecret reads the arguments of a verb that takes the name of one secret.
func oneSecret(verb string, name *string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return fault.Usage("a secret name is required", "toolx secret "+verb+" NAME")
		case len(args) > 1 && verb == "set":
			// The message does not repeat the argument, because it may be the secret.
			return fault.Usage("secret set takes only a name: other users can read a program's arguments",
				"leave out the secret, and toolx asks for it, or reads standard input in a pipe")
		case len(args) > 1:
			return fault.Usage("unexpected argument "+strconv.Quote(args[1]), "toolx secret "+verb+" takes one name")
		}
		*name = args[0]
		return checkSecretName(args[0])
	}
}

// checkSecretName refuses a name that does not work in ${keyring:NAME}.
func checkSecretName(name string) error {
	const longest = 128
	wrong := func(r rune) bool {
		return !unicode.IsGraphic(r) || unicode.IsSpace(r) || strings.ContainsRune("${}", r)
	}
	if name == "" || len(name) > longest || strings.ContainsFunc(name, wrong) || strings.Contains(name, ":-") {
		return fault.Usage("the name "+strconv.Quote(name)+" cannot be written as ${keyring:NAME}",
			"use letters, digits, and characters such as . - _ / @")
	}
	return nil
}

// completeSecrets completes the name of a secret, without accessing the keyring.
func completeSecrets(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var found []cobra.Completion
	names, _ := stores.Secrets().Names()
	for _, name := range names {
		if len(args) == 0 && strings.HasPrefix(name, typed) {
			found = append(found, name)
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// runSecretSet stores a secret that is typed or read from standard input.
func runSecretSet(ctx context.Context, o nameOptions) error {
	secret, err := person.ReadSecret(ctx, o.Out, o.name)
	if err != nil {
		return err
	}
	o.Out.Mask.Add(secret)
	store := stores.Secrets()
	inKeyring, err := store.Set(ctx, o.name, secret)
	if err != nil {
		return exit.Usage(err)
	}
	place := "the keyring"
	if !inKeyring {
		place = store.Path + ", which only you can read, because no keyring can store it"
	}
	o.Out.Say("stored in %s; use it in the config as ${keyring:%s}", render.Safe(place), render.Safe(o.name))
	return nil
}

// runSecretList prints the names.
func runSecretList(_ context.Context, o listOptions) error {
	names, err := stores.Secrets().Names()
	switch {
	case err != nil:
		return exit.Usage(err)
	case o.json:
		return o.Out.PrintJSON(map[string]any{"secrets": append([]string{}, names...)})
	}
	for _, name := range names {
		if err := o.Out.PrintFields(name); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		o.Out.Say("no secrets are stored; toolx secret set NAME stores one")
	}
	return nil
}

// runSecretRemove deletes a secret.
func runSecretRemove(ctx context.Context, o nameOptions) error {
	err := stores.Secrets().Remove(ctx, o.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Usage("no secret named "+strconv.Quote(o.name), "toolx secret list shows the names")
	case errors.Is(err, keyring.ErrNone):
		return fault.Usage(strconv.Quote(o.name)+" is in a keyring, which is not available here",
			"run it without TOOLX_KEYRING=off, where the keyring is available")
	case err != nil:
		return exit.Usage(err)
	}
	o.Out.Say("%s is removed", render.Safe(o.name))
	return nil
}
