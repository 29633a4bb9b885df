package cmd

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
)

// clientsNamed returns the clients whose servers a command line names as CLIENT:SERVER: their files are read only where
// that is asked for.
func clientsNamed(cmd *cobra.Command, args []string) []string {
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		args = args[:dash]
	}
	return clientsIn(cmd, args)
}

// clientsIn is clientsNamed for arguments that no "--" follows.
func clientsIn(cmd *cobra.Command, args []string) []string {
	switch cmd.Name() {
	case "list", "doctor", "tui", "ping", "watch", "convert", "subscribe", "status": // any number of names
	case "ask", "serve", "trust", "set", "conformance-client", "add", "rename":
		args = nil // something else
	default:
		args = args[:min(1, len(args))]
	}
	for _, flag := range []string{"server", "tools", "call", "resource"} {
		given, _ := cmd.Flags().GetStringArray(flag)
		args = append(slices.Clone(args), given...)
	}
	var ids []string
	for _, arg := range args {
		client, rest := config.ClientOf(arg)
		if client != nil && !strings.HasPrefix(rest, "//") && !slices.Contains(ids, client.ID) { // else an address
			ids = append(ids, client.ID)
		}
	}
	return ids
}

// addClients adds the servers of other clients to a config: those of --from and imports, which have their plain names
// too, and those of the clients that the command line names.
func (c *consent) addClients(loaded *config.Config, policy policy, options config.Options) error {
	var plain []string
	for _, from := range c.flags.from {
		if config.ClientNamed(from) != nil {
			plain = append(plain, from)
			continue
		}
		file, err := config.ReadClientFile(options, from)
		if err != nil {
			return fromError(from, err)
		}
		c.add(loaded, policy, []*config.ClientConfig{file}, true)
	}
	imported, remarks := loaded.TrustedImports()
	loaded.Warnings = append(loaded.Warnings, remarks...)
	plain = append(plain, imported...)
	read := make(map[string][]*config.ClientConfig)
	for _, id := range distinct(append(slices.Clone(plain), c.named...)) {
		read[id] = config.ReadClients(options, config.ClientNamed(id))
	}
	for _, id := range distinct(plain) {
		c.add(loaded, policy, read[id], true)
	}
	for _, id := range c.named {
		c.add(loaded, policy, read[id], false)
	}
	return nil
}

// add adds files of clients, and applies the user's consent to those that a folder brought along.
func (c *consent) add(loaded *config.Config, policy policy, read []*config.ClientConfig, plain bool) {
	before := len(loaded.Projects)
	loaded.AddClients(read, plain)
	c.applyPolicy(policy, loaded.Projects[before:])
}

// fromError is the error of a --from that is neither a client nor a file that can be read.
func fromError(from string, err error) error {
	return fault.Usage("--from "+quote(from)+": "+err.Error(), fromTakes())
}

func fromTakes() string {
	return "--from takes a config file, or a client: " + strings.Join(clientIDs(), ", ")
}

// expandClients replaces each "CLIENT:" by the names of all servers of that client.
func expandClients(all []*config.Server, names []string) ([]string, error) {
	var expanded []string
	for _, name := range names {
		client, rest := config.ClientOf(name)
		if client == nil || rest != "" {
			expanded = append(expanded, name)
			continue
		}
		before := len(expanded)
		for _, server := range all {
			if server.Client == client.ID && strings.HasPrefix(server.Name, name) && !server.Disabled {
				expanded = append(expanded, server.Name)
			}
		}
		if len(expanded) == before {
			return nil, noServers(client)
		}
	}
	return expanded, nil
}

// noServers is the error of asking for all servers of a client that has none.
func noServers(client *config.Client) error {
	var places []string
	for _, file := range client.Files(config.Options{}) {
		if !slices.Contains(places, file.Path) {
			places = append(places, file.Path)
		}
	}
	return fault.Usage(client.Name+" has no servers here", "toolx looks for them in "+strings.Join(places, ", "))
}

// elsewhere tells, where no server has the name that was asked for, which other client has one of that name, with the
// command to paste. Only then all clients' files are read.
func (a *App) elsewhere(err error, args []string) error {
	err = a.rightly(err)
	var missing *exec.NotFoundError
	var usage *fault.UsageError
	var reported *reportedError
	name := ""
	switch {
	case errors.As(err, &reported): // with this, if there was anything to tell
	case errors.As(err, &missing):
		name = missing.UnknownServer
	case errors.As(err, &usage):
		name = usage.Server
	}
	if name == "" || strings.Contains(name, ":") {
		return err
	}
	var found []string
	for _, file := range config.ReadClients(config.Options{}, config.Clients()...) {
		for _, server := range file.Servers {
			if server.Plain() == name && !slices.Contains(found, server.Name) {
				found = append(found, server.Name)
			}
		}
	}
	if len(found) == 0 {
		return err
	}
	shown := found[0]
	if len(found) > 1 {
		shown = strings.Join(found[:len(found)-1], ", ") + " and " + found[len(found)-1]
	}
	line := []string{"toolx"}
	for _, arg := range args {
		if arg == name || strings.HasPrefix(arg, name+exec.Separator) {
			arg = strings.TrimSuffix(found[0], name) + arg
		}
		line = append(line, arg)
	}
	hint := fmt.Sprintf("another client has it (%s): %s", shown, exec.PasteLine(line...))
	return &failure{err, cmp.Or(fault.KindOf(err), fault.KindNotFound), hint}
}

// askInputs asks for what the entries of servers ask of their user, once for each value. Where the keyring has the
// answer it asks nothing, and where nobody can be asked, a variable of the environment answers (see config.Input).
func (c *consent) askInputs(ctx context.Context, list []*config.Server) error {
	for _, server := range list {
		if server.Err() != nil || server.CheckConsent() != nil {
			continue
		}
		for _, input := range server.Inputs(os.Environ()) {
			if answer, err := secretStore().Get(ctx, inputSecret(input)); err == nil {
				c.mask.Add(answer)
				server.Answer(input, answer)
				continue
			}
			if !c.canAsk() {
				continue
			}
			if err := c.askInput(ctx, server, input); err != nil {
				return err
			}
		}
	}
	return nil
}

// inputSecret returns the name under which the keyring has an answer. Inputs of another file are others.
func inputSecret(input config.Input) string {
	sum := sha256.Sum256([]byte(input.File))
	id := strings.Map(func(r rune) rune {
		if strings.ContainsRune("${}: \t", r) {
			return '_'
		}
		return r
	}, input.ID)
	return "input." + id + "." + hex.EncodeToString(sum[:4])
}

func (c *consent) askInput(ctx context.Context, server *config.Server, input config.Input) error {
	release, err := c.keyboard.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	question := cmp.Or(input.Description, input.ID)
	if len(input.Options) > 0 {
		question += " (" + strings.Join(input.Options, ", ") + ")"
	}
	if input.Default != "" {
		question += " [" + input.Default + "]"
	}
	c.say("server %s asks for %s:", render.Safe(server.Name), render.Safe(question))
	answer, err := c.readAnswer(ctx, input)
	if err != nil {
		return ctx.Err() // nil where the terminal was closed: the entry says what is missing
	}
	if answer = cmp.Or(answer, input.Default); answer == "" {
		return nil
	}
	if input.Secret {
		c.mask.Add(answer)
	}
	server.Answer(input, answer)
	if !input.Secret {
		return nil
	}
	keep, err := c.keyboard.choose(ctx, "keep it in the keyring? [y]es, [n]o: ", "yes", "no")
	if err != nil || keep != "yes" {
		return ctx.Err()
	}
	name := inputSecret(input)
	if _, err := secretStore().Set(ctx, name, answer); err != nil {
		c.log.Warn("the answer holds for this run only: " + err.Error())
		return nil
	}
	c.say("kept; toolx secret remove %s forgets it", render.Safe(name))
	return nil
}

// readAnswer reads what a person types, without showing a secret.
func (c *consent) readAnswer(ctx context.Context, input config.Input) (string, error) {
	if !input.Secret {
		fmt.Fprint(c.live, "> ")
		return c.keyboard.line(ctx)
	}
	return c.readSecret(ctx, input.ID)
}
