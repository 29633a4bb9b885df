package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/guard"
	"toolx/pkg/render"
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
	return oneOf("--confirm", o.confirm, append([]string{""}, guard.Values()...)...)
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
		case !b.person():
			ask.Because, ask.Fix = "there is no terminal to ask at", "--yes calls it without a question"
			return ask
		}
		agreed, err := b.keyboard.agrees(ctx, "call", ask, arguments)
		if err == nil && !agreed {
			ask.Because = "the answer was no"
			return ask
		}
		return err
	}
}

// agrees asks the user to agree to a call. No answer is a no. The error is an interruption.
func (k *keyboard) agrees(
	ctx context.Context, verb string, ask *guard.AskError, arguments json.RawMessage,
) (bool, error) {
	release, err := k.hold(ctx)
	if err != nil {
		return false, &exec.InterruptedError{Tool: ask.Tool}
	}
	defer release()
	reason, given := ask.Reason(), words.Clip(string(k.mask.JSON(arguments)), 400)
	fmt.Fprintf(k.live, "%s %s %s? %s%s. [y/N] ", verb, render.Safe(ask.Tool), render.Safe(given),
		strings.ToUpper(reason[:1]), render.Safe(reason[1:]))
	line, err := k.line(ctx)
	if err != nil { // at the end of the input too, which means no
		fmt.Fprintln(k.live)
	}
	if ctx.Err() != nil {
		return false, &exec.InterruptedError{Tool: ask.Tool}
	}
	said := strings.ToLower(strings.TrimSpace(line))
	return said == "y" || said == "yes", nil
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
			b.log.Info(fmt.Sprintf("server %q: %s denied", server.Name, words.Count(denied, "tool")))
		}
		for _, text := range server.Guards.Near(known, words.Nearest) {
			b.warnOnce("server '" + server.Name + "': " + text)
		}
	}
}
