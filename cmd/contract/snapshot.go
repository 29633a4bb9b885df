package contract

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/factory"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/config"
	"toolx/pkg/contract"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// SnapshotOptions say of which servers to take a snapshot, and what to do with it.
type SnapshotOptions struct {
	Out   *streams.Streams
	Tools *toolset.Opener

	names    []string
	command  []string // a command line after --
	out      string
	against  string // --check
	update   bool
	versions bool
	budget   contract.Budget
	report   reportFlags
}

// defaultFolder is where snapshots are written unless --out says otherwise.
const defaultFolder = "snapshots"

// NewSnapshot returns the command snapshot; run runs it.
func NewSnapshot(f *factory.Factory, run cli.RunFunc[SnapshotOptions]) *cobra.Command {
	o := SnapshotOptions{Out: f.Out, Tools: f.Tools}
	cmd := &cobra.Command{
		Use:   "snapshot [SERVER…] [-- COMMAND…]",
		Short: "Save what servers offer, or compare it",
		Long: `Write the tools, prompts, resources, templates, instructions, capabilities and protocol
version of servers to files for version control: a folder with a file for each tool, or
one file if --out ends in .json. --check compares servers with such files and prints
the changes.

Exit codes: 0 written, or nothing changed, 2 wrong usage, an unknown server, or an
invalid snapshot, 3 authentication required, 4 a server could not be reached, 5 a server
refused, 6 a server changed (see --fail-on), is over budget, or broke the protocol, 124 timeout, 130
interrupted.`,
		Example: `  toolx snapshot
  toolx snapshot --check snapshots
  toolx snapshot --check snapshots --update
  toolx snapshot --out everything.json -- npx -y @modelcontextprotocol/server-everything`,
		Args:              cli.NamesOrCommand(&o.names, &o.command),
		ValidArgsFunction: complete.Servers(f.Tools, 0),
		RunE:              cli.Run(&o, run, o.report.check, o.check),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.out, "out", defaultFolder,
		"write to `PATH`: a folder, a file that ends in .json, or - for stdout")
	flags.StringVar(&o.against, "check", "", "compare with the folder or file at `PATH`")
	flags.BoolVar(&o.update, "update", false, "replace a snapshot that differs")
	flags.BoolVar(&o.versions, "versions", false, "include the servers' own names and versions")
	o.report.declare(cmd, "any")
	cmd.MarkFlagsMutuallyExclusive("out", "check")
	cli.BudgetVar(flags, &o.budget)
	cli.MarkFlagsNeed(cmd, "check", "fail-on", "json", "markdown", "max-tokens", "max-server-tokens", "max-tool-tokens",
		"max-tools")
	return cmd
}

func (o *SnapshotOptions) check() error {
	if o.out == "" {
		return fault.Usage("--out is empty", "toolx snapshot --out "+defaultFolder)
	}
	return nil
}

// RunSnapshot writes snapshots of servers, or compares servers with snapshots.
func RunSnapshot(ctx context.Context, o SnapshotOptions) error {
	target := o.out
	if o.against != "" {
		target = o.against
	}
	before, err := existing(target, o.against != "")
	if err != nil {
		return err
	}
	box, err := o.Tools.Open(toolset.Options{Server: o.command, ReportFailures: true})
	if err != nil {
		return err
	}
	names := o.names
	if o.against != "" && len(names) == 0 && !box.AdHoc && len(o.Tools.Flags.Servers) == 0 {
		names = before.Names()
	}
	if names, err = box.NamedServers(names); err != nil {
		return err
	}
	after, err := take(ctx, box, names, o.versions)
	if err != nil {
		return err
	}
	if o.against == "" {
		return o.write(target, before, after)
	}
	selected := before
	if oneEach := len(before) == 1 && len(after) == 1; !oneEach || !box.AdHoc && before[config.AdHocName] == nil {
		selected, err = selectServers(target, before, after)
	}
	if err != nil {
		return err
	}
	over := o.budget.Or(box.Config().Budget).Check(after)
	failed := o.report.print(o.Out, contract.CompareSets(selected, after), over)
	if !o.update {
		return failed
	}
	if len(selected) == 1 && len(after) == 1 { // under the name that it has there
		after = contract.Set{selected.Names()[0]: after[after.Names()[0]]}
	}
	if err := o.write(target, before, after); err != nil || over == nil {
		return err
	}
	return failed
}

// existing reads the snapshot at a path. If it need not be there, a missing one has no servers.
func existing(target string, needed bool) (contract.Set, error) {
	if target == "-" && !needed {
		return nil, nil
	}
	before, err := contract.Read(target)
	switch {
	case err == nil:
		return before, nil
	case !needed && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, contract.ErrEmpty)):
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, usage(err, "toolx snapshot --out "+exec.ShellLine(target))
	}
	return nil, usage(err, "remove it, then write it again: toolx snapshot --out "+exec.ShellLine(target))
}

// selectServers returns the snapshots of the servers in after.
func selectServers(target string, before, after contract.Set) (contract.Set, error) {
	selected := make(contract.Set)
	for _, name := range after.Names() {
		if before[name] == nil {
			return nil, fault.Usage(target+" has no server "+strconv.Quote(name)+"; it has "+
				strings.Join(words.Texts(before.Names(), strconv.Quote), ", "),
				exec.ShellLine("toolx", "snapshot", name, "--out", target)+" adds it")
		}
		selected[name] = before[name]
	}
	return selected, nil
}

// write writes snapshots. A different one is replaced only with --update.
func (o *SnapshotOptions) write(target string, before, after contract.Set) error {
	if target == "-" {
		text, err := after.Encode()
		if err == nil {
			_, err = o.Out.Console.Out.Write(text)
		}
		return err
	}
	for _, name := range after.Names() {
		if was := before[name]; was != nil && !o.update && len(contract.Compare(was, after[name])) > 0 {
			return fault.Usage("server "+strconv.Quote(name)+" differs from its snapshot in "+target,
				o.checkLine(name, target)+" shows how; add --update to accept it")
		}
	}
	write := after.WriteFolder
	if strings.HasSuffix(target, ".json") || isFile(target) {
		write = after.WriteFile
	}
	if err := write(target); err != nil {
		return usage(err, "name another place with --out")
	}
	for _, name := range after.Names() {
		o.Out.Say("%s: %s in %s", render.Safe(name), strings.Join(counts(after[name]), ", "), render.Safe(target))
	}
	return nil
}

// checkLine returns the command that compares a server with its snapshot.
func (o *SnapshotOptions) checkLine(name, target string) string {
	words := []string{"toolx", "snapshot", name, "--check", target}
	switch url := o.Tools.Flags.URL; {
	case len(o.command) > 0:
		words = append([]string{"toolx", "snapshot", "--check", target, "--"}, o.command...)
	case url != "":
		words = []string{"toolx", "snapshot", "--check", target, "--url", url}
	}
	return exec.PasteLine(words...)
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

// counts says how much a server offers.
func counts(s *contract.Snapshot) []string {
	var texts []string
	for _, kind := range []contract.Kind{contract.Tool, contract.Prompt, contract.Resource, contract.Template} {
		if count := len(s.Lists[kind]); count > 0 || kind == contract.Tool {
			texts = append(texts, words.Count(count, string(kind)))
		}
	}
	return texts
}
