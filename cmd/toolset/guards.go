package toolset

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"toolx/cmd/cli"
	"toolx/pkg/config"
	"toolx/pkg/contract"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/guard"
	"toolx/pkg/servers"
	"toolx/pkg/words"
)

// Guards restrict the tools that a verb may use, in addition to the config. They never permit more.
type Guards struct {
	Allow, Deny []string
	ReadOnly    bool
	Pin         []string // paths of snapshots
	Confirm     string
	Yes         bool // answer every question with yes
}

// Declare declares the flags that exclude tools.
func (o *Guards) Declare(flags *pflag.FlagSet) {
	cli.TextsVar(flags, &o.Allow, "allow", "use only tools whose names match `GLOB` (repeatable)")
	cli.TextsVar(flags, &o.Deny, "deny", "do not use tools whose names match `GLOB` (repeatable)")
	flags.BoolVar(&o.ReadOnly, "read-only", false, "use only tools with readOnlyHint")
	cli.TextsVar(flags, &o.Pin, "pin", "use only tools that have not changed since the snapshot in `DIR` (repeatable)")
}

// DeclareConfirm declares the flag for questions before calls.
func (o *Guards) DeclareConfirm(flags *pflag.FlagSet) {
	flags.StringVar(&o.Confirm, "confirm", "",
		"ask before running tools, `WHEN`: "+strings.Join(guard.Values(), ", ")+" (unless the config is stricter)")
}

// Check refuses invalid values.
func (o *Guards) Check() error {
	for flag, globs := range map[string][]string{"--allow": o.Allow, "--deny": o.Deny} {
		for _, glob := range globs {
			if err := guard.CheckGlob(glob); err != nil {
				return fault.Usage(flag+": "+err.Error(), flag+" 'read_*'; \\[ is a bracket")
			}
		}
	}
	for _, path := range o.Pin {
		if _, err := contract.Read(path); err != nil {
			return fault.Usage("--pin: "+err.Error(), exec.PasteLine("toolx", "snapshot", "--out", cmp.Or(path, "DIR"))+
				" writes a snapshot")
		}
	}
	return cli.OneOf("--confirm", o.Confirm, append([]string{""}, guard.Values()...)...)
}

// Build returns the guards of the flags; none without flags.
func (o *Guards) Build() guard.Guards {
	own := guard.Guards{{
		Deny: o.Deny, ReadOnly: o.ReadOnly, Confirm: guard.Confirm(o.Confirm),
		Where: map[string]string{
			"allow": "--allow", "deny": "--deny", "readOnly": "--read-only", "confirm": "--confirm",
		},
	}}
	for _, path := range o.Pin {
		pin := guard.Guard{Pin: &contract.Pin{Path: path}, Where: map[string]string{"pin": "--pin"}}
		own = append(own, pin)
	}
	if len(o.Allow) > 0 && !slices.Contains(o.Allow, "*") {
		own[0].Allow = o.Allow
	}
	if !own.Says() {
		return nil
	}
	return own
}

// Narrow adds the guards of the flags to those of servers.
func (o *Guards) Narrow(list ...*config.Server) {
	own := o.Build()
	for _, server := range list {
		server.Guards = append(slices.Clip(server.Guards), own...)
	}
}

// ConfirmCall returns a function for exec.Executor that asks the user to confirm a call.
func (b *Set) ConfirmCall(yes bool) func(context.Context, *guard.AskError, json.RawMessage) error {
	return func(ctx context.Context, ask *guard.AskError, arguments json.RawMessage) error {
		switch {
		case yes:
			return nil
		case !b.Out.Person():
			ask.Because, ask.Fix = "no terminal for asking", "--yes calls it without asking"
			return ask
		}
		agreed, err := b.Opener.Keyboard.Agrees(ctx, "call", ask, arguments)
		if err == nil && !agreed {
			ask.Because = "the answer was no"
			return ask
		}
		return err
	}
}

// close closes the servers. First it warns about pinned tools that they do not list. It does so at the end, because
// servers may list more tools some time after their start.
func (b *Set) close(ctx context.Context) {
	defer b.Pool.Close(ctx)
	for _, server := range b.Config().Servers {
		session := b.Pool.Session(server.Name)
		if session == nil {
			continue
		}
		listed := make(map[string]bool)
		for _, tool := range session.Tools() {
			listed[tool.Plain] = true
		}
		for _, text := range server.Guards.Removed(server.Name, listed) {
			b.Out.WarnOnce(text)
		}
	}
}

// ReportGuards reports how many tools of servers are excluded, and warns about denied names that are probably
// misspelt.
func (b *Set) ReportGuards(opened []servers.Opened) {
	for _, server := range b.Config().Servers {
		listed := func(one servers.Opened) bool { return one.Server == server.Name && one.Err == nil }
		if !server.Guards.Says() || !slices.ContainsFunc(opened, listed) {
			continue
		}
		var known []guard.Tool
		denied := 0
		for _, tool := range b.Registry.All() {
			if tool.Server == server.Name {
				known = append(known, guard.Tool{Server: tool.Server, Plain: tool.Plain})
			}
		}
		for _, tool := range b.Registry.Denied() {
			if tool.Server == server.Name {
				known = append(known, guard.Tool{Server: tool.Server, Plain: tool.Plain})
				denied++
			}
		}
		if denied > 0 {
			b.Out.Log.Info(fmt.Sprintf("server %q: %s denied", server.Name, words.Count(denied, "tool")))
		}
		for _, text := range server.Guards.Near(known, words.Nearest) {
			b.Out.WarnOnce("server '" + server.Name + "': " + text)
		}
	}
}
