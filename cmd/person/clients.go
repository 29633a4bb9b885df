package person

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"

	"toolx/cmd/cli"
	"toolx/cmd/stores"
	"toolx/pkg/config"
	"toolx/pkg/render"
)

// addClients adds the servers of other clients to a config: those of --from and imports, also under their plain names,
// and those of clients on the command line.
func (c *Consent) addClients(loaded *config.Config, policy Policy, options config.Options) error {
	var plain []string
	for _, from := range c.Flags.From {
		if config.ClientNamed(from) != nil {
			plain = append(plain, from)
			continue
		}
		file, err := config.ReadClientFile(options, from)
		if err != nil {
			return cli.FromError(from, err)
		}
		c.add(loaded, policy, []*config.ClientConfig{file}, true)
	}
	imported, remarks := loaded.TrustedImports()
	loaded.Warnings = append(loaded.Warnings, remarks...)
	plain = append(plain, imported...)
	read := make(map[string][]*config.ClientConfig)
	for _, id := range cli.Distinct(append(slices.Clone(plain), c.Named...)) {
		read[id] = config.ReadClients(options, config.ClientNamed(id))
	}
	for _, id := range cli.Distinct(plain) {
		c.add(loaded, policy, read[id], true)
	}
	for _, id := range c.Named {
		c.add(loaded, policy, read[id], false)
	}
	return nil
}

// add adds files of clients, and applies the user's consent to those that came with a folder.
func (c *Consent) add(loaded *config.Config, policy Policy, read []*config.ClientConfig, plain bool) {
	before := len(loaded.Projects)
	loaded.AddClients(read, plain)
	c.ApplyPolicy(policy, loaded.Projects[before:])
}

// askInputs asks the user for the inputs of servers' entries, once for each value. It does not ask for answers in the
// keyring. Without a terminal, an environment variable has the answer (see config.Input).
func (c *Consent) askInputs(ctx context.Context, list []*config.Server) error {
	for _, server := range list {
		if server.Err() != nil || server.CheckConsent() != nil {
			continue
		}
		for _, input := range server.Inputs(os.Environ()) {
			if answer, err := stores.Secrets().Get(ctx, inputSecret(input)); err == nil {
				c.Out.Mask.Add(answer)
				server.Answer(input, answer)
				continue
			}
			if !c.CanAsk() {
				continue
			}
			if err := c.askInput(ctx, server, input); err != nil {
				return err
			}
		}
	}
	return nil
}

// inputSecret returns the name of an answer in the keyring. Inputs of different files are different.
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

func (c *Consent) askInput(ctx context.Context, server *config.Server, input config.Input) error {
	release, err := c.Keyboard.Hold(ctx)
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
	c.Out.Say("server %s asks for %s:", render.Safe(server.Name), render.Safe(question))
	answer, err := c.readAnswer(ctx, input)
	if err != nil {
		return ctx.Err() // nil if the terminal was closed: the entry then reports the missing input
	}
	if answer = cmp.Or(answer, input.Default); answer == "" {
		return nil
	}
	if input.Secret {
		c.Out.Mask.Add(answer)
	}
	server.Answer(input, answer)
	if !input.Secret {
		return nil
	}
	keep, err := c.Keyboard.choose(ctx, "keep it in the keyring? [y]es, [n]o: ", "yes", "no")
	if err != nil || keep != "yes" {
		return ctx.Err()
	}
	name := inputSecret(input)
	if _, err := stores.Secrets().Set(ctx, name, answer); err != nil {
		c.Out.Log.Warn("the answer is used only for this run: " + err.Error())
		return nil
	}
	c.Out.Say("stored; to remove it: toolx secret remove %s", render.Safe(name))
	return nil
}

// readAnswer reads the user's answer, without showing a secret.
func (c *Consent) readAnswer(ctx context.Context, input config.Input) (string, error) {
	if !input.Secret {
		fmt.Fprint(c.Out.Live, "> ")
		return c.Keyboard.Line(ctx)
	}
	return ReadSecret(ctx, c.Out, input.ID)
}
