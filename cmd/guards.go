package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"toolx/cmd/cli"
	"toolx/pkg/config"
	"toolx/pkg/fault"
	"toolx/pkg/guard"
	"toolx/pkg/servers"
	"toolx/pkg/words"
)

// guardOptions say which tools a verb may use, beside what the config says: they narrow that, and never widen it.
type guardOptions struct {
	allow, deny []string
	readOnly    bool
	confirm     string
	yes         bool // every question is answered with yes
}

// declare declares the flags that leave tools out.
func (o *guardOptions) declare(flags *pflag.FlagSet) {
	flags.StringArrayVar(&o.allow, "allow", nil, "use only tools whose names match `GLOB` (repeatable)")
	flags.StringArrayVar(&o.deny, "deny", nil, "use no tools whose names match `GLOB` (repeatable)")
	flags.BoolVar(&o.readOnly, "read-only", false, "use only tools that say readOnlyHint")
}

// declareConfirm declares the flag for questions before calls.
func (o *guardOptions) declareConfirm(flags *pflag.FlagSet) {
	flags.StringVar(&o.confirm, "confirm", "",
		"ask before tools, `WHEN`: "+strings.Join(guard.Values(), ", ")+" (the config's counts where it is stricter)")
}

// check refuses values that mean nothing.
func (o *guardOptions) check() error {
	for flag, globs := range map[string][]string{"--allow": o.allow, "--deny": o.deny} {
		for _, glob := range globs {
			if err := guard.CheckGlob(glob); err != nil {
				return fault.Usage(flag+": "+err.Error(), flag+" 'read_*'; \\[ is a bracket")
			}
		}
	}
	return cli.OneOf("--confirm", o.confirm, append([]string{""}, guard.Values()...)...)
}

// guards returns those that the flags say, none where they say nothing.
func (o *guardOptions) guards() guard.Guards {
	own := guard.Guards{{
		Deny: o.deny, ReadOnly: o.readOnly, Confirm: guard.Confirm(o.confirm),
		Where: map[string]string{
			"allow": "--allow", "deny": "--deny", "readOnly": "--read-only", "confirm": "--confirm",
		},
	}}
	if len(o.allow) > 0 && !slices.Contains(o.allow, "*") {
		own[0].Allow = o.allow
	}
	if !own.Says() {
		return nil
	}
	return own
}

// narrow adds the guards of the flags to those of servers.
func (o *guardOptions) narrow(list ...*config.Server) {
	own := o.guards()
	for _, server := range list {
		server.Guards = append(slices.Clip(server.Guards), own...)
	}
}

// confirmCall returns what asks the user before a call that is to be confirmed, as exec.Executor wants it.
func (b *toolbox) confirmCall(yes bool) func(context.Context, *guard.AskError, json.RawMessage) error {
	return func(ctx context.Context, ask *guard.AskError, arguments json.RawMessage) error {
		switch {
		case yes:
			return nil
		case !b.out.Person():
			ask.Because, ask.Fix = "there is no terminal to ask at", "--yes calls it without a question"
			return ask
		}
		agreed, err := b.opener.keyboard.Agrees(ctx, "call", ask, arguments)
		if err == nil && !agreed {
			ask.Because = "the answer was no"
			return ask
		}
		return err
	}
}

// tellGuards says how many tools of servers may not be used, and warns of a name that was to be denied and is probably
// misspelt.
func (b *toolbox) tellGuards(opened []servers.Opened) {
	for _, server := range b.config().Servers {
		listed := func(one servers.Opened) bool { return one.Server == server.Name && one.Err == nil }
		if !server.Guards.Says() || !slices.ContainsFunc(opened, listed) {
			continue
		}
		var known []guard.Tool
		denied := 0
		for _, tool := range b.registry.All() {
			if tool.Server == server.Name {
				known = append(known, guard.Tool{Server: tool.Server, Plain: tool.Plain})
			}
		}
		for _, tool := range b.registry.Denied() {
			if tool.Server == server.Name {
				known = append(known, guard.Tool{Server: tool.Server, Plain: tool.Plain})
				denied++
			}
		}
		if denied > 0 {
			b.out.Log.Info(fmt.Sprintf("server %q: %s denied", server.Name, words.Count(denied, "tool")))
		}
		for _, text := range server.Guards.Near(known, words.Nearest) {
			b.out.WarnOnce("server '" + server.Name + "': " + text)
		}
	}
}
