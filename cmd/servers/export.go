package servers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/config"
	"toolx/pkg/convert"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/state"
)

// exportOptions are the server to export, and the client.
type exportOptions struct {
	Out     *streams.Streams
	Tools   *toolset.Opener
	Consent *person.Consent

	name    string
	to      string
	write   bool
	project bool
	replace bool
	bridge  bool
}

func newServersExportCommand(f *factory.Factory, run cli.RunFunc[exportOptions]) *cobra.Command {
	o := exportOptions{Out: f.Out, Tools: f.Tools, Consent: f.Consent}
	cmd := &cobra.Command{
		Use:   "export NAME --to CLIENT",
		Short: "Convert a server's entry for another client",
		Long: `Print a server's entry in the form of another client's config. --write adds it to that
client's file, keeps the rest of the file unchanged, and saves a backup beside it.
Settings that the client does not support are reported on stderr.

` + cli.WrapHelp("CLIENT is one of "+strings.Join(cli.ClientIDs(), ", ")+".") + `

Exit codes: 0 printed or written, 2 wrong usage, no such server or client, or a file
that cannot be changed.`,
		Example: `  toolx servers export files --to cursor
  toolx servers export files --to vscode --write --project`,
		Args:              oneNamed(&o.name),
		RunE:              cli.Run(&o, run, o.check),
		ValidArgsFunction: complete.Servers(f.Tools, 1),
	}
	cmd.Flags().StringVar(&o.to, "to", "", "write the entry for `CLIENT`")
	cmd.Flags().BoolVar(&o.write, "write", false, "write the entry to the client's file, and keep a backup next to it")
	cmd.Flags().BoolVar(&o.project, "project", false, "write the file of this folder instead of your own")
	cmd.Flags().BoolVar(&o.replace, "replace", false, "replace the client's entry with this name")
	cmd.Flags().BoolVar(&o.bridge, "bridge", false, "write a command that reaches a remote server over stdio")
	clients := cobra.FixedCompletions(cli.ClientIDs(), cobra.ShellCompDirectiveNoFileComp)
	_ = cmd.RegisterFlagCompletionFunc("to", clients)
	return cmd
}

func (o *exportOptions) check() error {
	if o.to == "" {
		return fault.Usage("--to CLIENT is required", "--to takes one of: "+strings.Join(cli.ClientIDs(), ", "))
	}
	if (o.project || o.replace) && !o.write {
		return fault.Usage("--project and --replace need --write", "add --write, or leave them out")
	}
	if _, err := convert.ParseFormat(o.to); err == nil && config.ClientNamed(o.to) == nil {
		return fault.Usage(strconv.Quote(o.to)+" is a format of tools, not a client",
			exec.PasteLine("toolx", "convert", "--format", o.to, "--server", o.name)+
				" converts the server's tools; the clients are "+strings.Join(cli.ClientIDs(), ", "))
	}
	return cli.OneOf("--to", o.to, cli.ClientIDs()...)
}

// runServersExport prints the entry, or writes it.
func runServersExport(ctx context.Context, o exportOptions) error {
	loaded, err := o.Consent.LoadConfig()
	if err != nil {
		return err
	}
	server, err := cli.ServerNamed(loaded.Servers, o.name, "toolx servers add NAME adds one")
	if err != nil {
		return err
	}
	if o.bridge {
		if server, err = bridged(server); err != nil {
			return err
		}
	}
	client := config.ClientNamed(o.to)
	entry, lost, err := server.Export(client, os.LookupEnv)
	if err != nil {
		return exit.Usage(err)
	}
	for _, one := range lost {
		o.Out.Log.Warn(one)
	}
	file, err := clientFile(client, o.project)
	if err != nil {
		return err
	}
	_, name := config.ClientOf(o.name)
	change := config.Change{Path: append(slices.Clone(file.Keys()), name), Value: entry}
	if !o.write {
		snippet, err := config.Edit(filepath.Base(file.Path), nil, change)
		if err != nil {
			return err
		}
		_, err = o.Out.Console.Out.Write(snippet)
		return err
	}
	return Editor{o.Tools}.writeEntry(ctx, file, change, o.replace)
}

// bridged returns an entry that runs toolx proxy before a remote server, for clients that support only stdio. Headers
// and secrets remain in the config.
func bridged(server *config.Server) (*config.Server, error) {
	if server.URL == "" {
		return nil, fault.Usage("server '"+server.Name+"' is a local program and needs no bridge", "leave out --bridge")
	}
	command := []string{"toolx", "proxy"}
	if client, _ := config.ClientOf(server.Name); client == nil && server.File() != "" {
		command = append(command, "--config", server.File())
	}
	entry := config.AdHoc(append(command, server.Name), "", nil)
	entry.Name = server.Name
	return entry, nil
}

// clientFile returns the file for an entry: the first existing file of the user's own, or of the folder's.
func clientFile(client *config.Client, project bool) (config.ClientFile, error) {
	scope, whose := config.ScopeUser, "of your own"
	if project {
		scope, whose = config.ScopeProject, "in a folder"
	}
	otherScope := func(f config.ClientFile) bool { return f.Scope != scope }
	files := slices.DeleteFunc(client.Files(config.Options{}), otherScope)
	if len(files) == 0 {
		return config.ClientFile{}, fault.Usage(fmt.Sprintf("%s has no file %s", client.Name, whose),
			"leave out --project, or give it")
	}
	if at := slices.IndexFunc(files, func(f config.ClientFile) bool { return f.Exists }); at >= 0 {
		return files[at], nil
	}
	return files[0], nil
}

// writeEntry puts an entry into a client's file.
func (e Editor) writeEntry(ctx context.Context, to config.ClientFile, change config.Change, replace bool) error {
	file := NamedFile(to.Path, to.Scope == config.ScopeProject)
	if reason := to.Refused(); reason != "" {
		return fault.Usage("cannot change "+file.Name+": "+reason, person.OwnFileFix(file.Name))
	}
	backup := ""
	err := e.edit(ctx, file, true, func(data []byte) ([]config.Change, error) {
		if config.Holds(file.Name, data, change.Path) && !replace {
			name := change.Path[len(change.Path)-1]
			taken := fmt.Sprintf("%s has a server '%s' already", file.Name, name)
			return nil, fault.Usage(taken, "replace it: --replace")
		}
		if len(data) == 0 {
			return []config.Change{change}, nil
		}
		var err error
		backup, err = keepBackup(file.Path, data)
		return []config.Change{change}, err
	})
	if err != nil {
		return err
	}
	e.Tools.Out.Say("written to %s", render.Safe(file.Path))
	if backup != "" {
		e.Tools.Out.Say("backup: %s", render.Safe(backup))
	}
	return nil
}

// keepBackup saves a file's text next to it with the same permissions, and returns the path.
func keepBackup(path string, data []byte) (string, error) {
	backup := path + "." + time.Now().Format("20060102-150405") + ".bak"
	info, err := os.Stat(path)
	if err == nil {
		_, err = os.Lstat(backup)
		if errors.Is(err, fs.ErrNotExist) {
			err = state.Rewrite(backup, data, info.Mode().Perm())
		}
	}
	if err != nil {
		return "", fault.Usage("cannot save a backup next to "+path+": "+fault.Reason(err), "make its folder writable")
	}
	return backup, nil
}
