// Package trust has toolx trust, which records consent to a project's config file.
package trust

import (
	"context"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/stores"
	"toolx/cmd/streams"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/trust"
)

// Options say which file to trust, show or revoke.
type Options struct {
	Out     *streams.Streams
	Consent *person.Consent

	file         string // empty: the nearest one that came with a folder
	yes          bool
	list, revoke bool
	json         bool
}

// New returns the command trust; run runs it.
func New(f *factory.Factory, run cli.RunFunc[Options]) *cobra.Command {
	o := Options{Out: f.Out, Consent: f.Consent}
	cmd := &cobra.Command{
		Use:   "trust [FILE]",
		Short: "Trust a project's config file",
		Long: `Show what a project's config file would start, and record your consent: the programs,
the addresses, and the variables and files that servers get. FILE defaults to the config
file of the working folder or the nearest one above it. Consent applies to this version
of the file and of its envFiles; if they change, toolx shows the difference and asks
again.

On a terminal, toolx asks before it records anything; elsewhere it needs --yes. Your own
config, files that you name (--config, TOOLX_CONFIG), commands after -- and --url need
no consent. TOOLX_TRUST=all or TOOLX_TRUST=SHA256 consents for one run; TOOLX_TRUST=none
ignores all consent.

Exit codes: 0 trusted, listed or revoked; 2 wrong usage, no such file, or no consent.`,
		Example: `  toolx trust
  toolx trust --yes .mcp.json
  toolx trust --list
  toolx trust --revoke .mcp.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "" {
				return fault.Usage("the file's name is empty", "toolx trust FILE")
			}
			return cli.AtMostOne(&o.file, "toolx trust FILE: one at a time")(cmd, args)
		},
		ValidArgsFunction: complete.Files("yaml", "yml", "json"),
		RunE:              cli.Run(&o, run, o.check),
	}
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "record the consent without asking")
	cmd.Flags().BoolVar(&o.list, "list", false, "list trusted files")
	cmd.Flags().BoolVar(&o.revoke, "revoke", false, "withdraw consent to FILE")
	cmd.Flags().BoolVar(&o.json, "json", false, "with --list: print JSON")
	cmd.MarkFlagsMutuallyExclusive("list", "revoke", "yes")
	cli.MarkFlagsNeed(cmd, "list", "json")
	return cmd
}

func (o *Options) check() error {
	if o.list && o.file != "" {
		return fault.Usage("--list takes no file", "toolx trust --list")
	}
	return nil
}

// Run shows what a file would start and records the consent, or lists or revokes consents.
func Run(ctx context.Context, o Options) error {
	switch {
	case o.list:
		return listTrusted(o.Out, o.json)
	case o.revoke:
		return revokeTrust(ctx, o.Out, o.file)
	}
	project, err := person.ProjectAt(o.Out, o.file)
	if err != nil {
		return err
	}
	name := project.File.Name
	if !project.NeedsConsent() {
		o.Out.Say("%s starts nothing that needs consent", render.Safe(name))
		return nil
	}
	known, err := stores.Trust().Find(project.File.Path)
	if err != nil {
		return exit.Usage(err)
	}
	if known != nil && known.SHA256 == project.SHA256 {
		o.Out.Say("%s is already trusted", render.Safe(name))
		return nil
	}
	person.ShowEffects(o.Out, project, known)
	switch {
	case o.yes:
		if err := person.KeepTrust(ctx, project); err != nil {
			return err
		}
		o.Out.Say("trusted; to undo: toolx trust --revoke %s", render.Safe(exec.ShellLine(name)))
		return nil
	case !o.Consent.CanAsk():
		return fault.Usage(name+" is not trusted",
			"toolx trust --yes "+exec.ShellLine(name)+", or TOOLX_TRUST="+project.SHA256+" for one run")
	}
	if err := o.Consent.AskFor(ctx, project); err != nil {
		return err
	}
	if !project.Allowed() {
		return fault.Usage(name+" is not trusted", "toolx trust asks again")
	}
	return nil
}

func listTrusted(out *streams.Streams, asJSON bool) error {
	grants, err := stores.Trust().List()
	if err != nil {
		return exit.Usage(err)
	}
	if asJSON {
		return out.PrintJSON(map[string]any{"trusted": append([]trust.Grant{}, grants...)})
	}
	for _, grant := range grants {
		if err := out.PrintFields(grant.Path, grant.SHA256, trustState(grant)); err != nil {
			return err
		}
	}
	if len(grants) == 0 {
		out.Say("no file is trusted")
	}
	return nil
}

// trustState returns the current state of a consent.
func trustState(grant trust.Grant) string {
	project, err := config.ReadProject(grant.Path)
	switch {
	case err != nil:
		return "cannot be read"
	case project.SHA256 != grant.SHA256:
		return "changed since"
	}
	return "trusted since " + grant.Time.UTC().Format(time.DateOnly)
}

func revokeTrust(ctx context.Context, out *streams.Streams, file string) error {
	if file == "" {
		project, err := person.ProjectAt(out, "")
		if err != nil {
			return err
		}
		file = project.File.Path
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	found, err := stores.Trust().Remove(ctx, path)
	if err != nil {
		return exit.Usage(err)
	}
	if !found {
		return fault.Usage("no consent is recorded for "+path, "toolx trust --list shows trusted files")
	}
	out.Say("%s is no longer trusted", render.Safe(path))
	return nil
}
