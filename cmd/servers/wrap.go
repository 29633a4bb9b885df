package servers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/stores"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/state"
)

// wrapOptions say whose entry to change.
type wrapOptions struct {
	Out     *streams.Streams
	Tools   *toolset.Opener
	Consent *person.Consent

	name   string
	record string
	undo   bool
}

func newServersWrapCommand(f *factory.Factory, run cli.RunFunc[wrapOptions]) *cobra.Command {
	o := wrapOptions{Out: f.Out, Tools: f.Tools, Consent: f.Consent}
	cmd := &cobra.Command{
		Use:   "wrap CLIENT:SERVER",
		Short: "Record what another client and its server send",
		Long: `Change the entry of another client so that it starts the server behind toolx proxy, which
records all messages for toolx trace. toolx servers unwrap restores the file. Restart the
client, or its server, after both.

` + editExits,
		Example: `  toolx servers wrap cursor:files
  toolx servers wrap claude-desktop:files --to /tmp/files.jsonl`,
		Args:              oneNamed(&o.name),
		RunE:              cli.Run(&o, run),
		ValidArgsFunction: complete.Servers(f.Tools, 1),
	}
	cmd.Flags().StringVar(&o.record, "to", "", "record to `FILE` (default: one in the state folder)")
	return cmd
}

func newServersUnwrapCommand(f *factory.Factory, run cli.RunFunc[wrapOptions]) *cobra.Command {
	o := wrapOptions{Out: f.Out, Tools: f.Tools, Consent: f.Consent, undo: true}
	return &cobra.Command{
		Use:   "unwrap CLIENT:SERVER",
		Short: "Undo toolx servers wrap",
		Long: `Restore the file of another client as it was before toolx servers wrap. If it has changed
since, only the command of the entry is restored.

` + editExits,
		Example:           "  toolx servers unwrap cursor:files",
		Args:              oneNamed(&o.name),
		RunE:              cli.Run(&o, run),
		ValidArgsFunction: complete.Servers(f.Tools, 1),
	}
}

// runServersWrap changes the command of a client's entry, or restores it.
func runServersWrap(ctx context.Context, o wrapOptions) error {
	server, places, err := o.find()
	if err != nil {
		return err
	}
	command, err := o.command(server)
	if err != nil {
		return err
	}
	file := NamedFile(places[0].Path, places[0].Scope == config.ScopeProject)
	kept := stores.State(fmt.Sprintf("wrapped/%x", sum([]byte(file.Path + "\x00" + server.Name))[:8]))
	restored := false
	err = Editor{o.Tools}.rewrite(ctx, file, true, func(data []byte) ([]byte, error) {
		if o.undo {
			was, _ := state.Read(kept, sha256.Size+maxEdited) // without it, the command is still restored
			var before []byte
			if before, restored = bytes.CutPrefix(was, sum(data)); restored {
				return before, nil
			}
		}
		text, err := started(server, places, data, command)
		if err == nil && !o.undo {
			err = keep(kept, append(sum(text), data...))
		}
		return text, err
	})
	name, path := render.Safe(o.name), render.Safe(file.Path)
	switch {
	case err != nil:
		return err
	case restored:
		_ = os.Remove(kept) // the next wrap replaces it
		o.Out.Say("restored %s", path)
	case o.undo:
		o.Out.Say("%s: only the command was restored, since %s has changed", name, path)
	default:
		o.Out.Say("%s records to %s; restart it in the client", name, render.Safe(command[3]))
		o.Out.Say("toolx trace %s shows that; toolx servers unwrap %s restores %s",
			render.Safe(exec.ShellLine(command[3])), render.Safe(exec.ShellLine(o.name)), path)
	}
	return nil
}

// started returns the text of a client's file in which the entry of a server starts another command. The entry is in
// one of the places.
func started(server *config.Server, places []config.ClientFile, data []byte, command []string) ([]byte, error) {
	var err error
	for _, place := range places {
		var changes []config.Change
		if changes, err = server.Started(place, data, command); err == nil {
			var text []byte
			if text, err = config.Edit(place.Path, data, changes...); err == nil {
				return text, nil
			}
		}
	}
	return nil, exit.Usage(err)
}

// find returns the server, and the client's file that has it: more than once if it has several places for servers.
func (o *wrapOptions) find() (*config.Server, []config.ClientFile, error) {
	client, _ := config.ClientOf(o.name)
	if client == nil {
		return nil, nil, fault.Usage(o.name+" is not a server of another client",
			"toolx servers lists them, as CLIENT:SERVER; toolx commands record with --record FILE")
	}
	loaded, err := o.Consent.LoadConfig()
	if err != nil {
		return nil, nil, err
	}
	server, err := cli.ServerNamed(loaded.Servers, o.name, "toolx servers "+client.ID+" lists them")
	if err != nil {
		return nil, nil, err
	}
	places := slices.DeleteFunc(client.Files(config.Options{}), func(f config.ClientFile) bool {
		return f.Path != server.File()
	})
	switch {
	case server.URL != "":
		return nil, nil, fault.Usage(o.name+" is reached over HTTP, and is not started by a command",
			exec.PasteLine("toolx", "proxy", "--record", "calls.jsonl", o.name)+" is a command that records it")
	case len(places) == 0:
		return nil, nil, fault.Usage("toolx cannot change "+server.File(), "change it by hand")
	}
	return server, places, nil
}

// command returns what the entry is to start.
func (o *wrapOptions) command(server *config.Server) ([]string, error) {
	switch _, before := server.Wrapped(); {
	case o.undo && before == nil:
		return nil, fault.Usage(o.name+" is not wrapped", "toolx servers show "+exec.ShellLine(o.name))
	case o.undo:
		return before, nil
	case before != nil:
		return nil, fault.Usage(o.name+" is wrapped already", "toolx servers unwrap "+exec.ShellLine(o.name))
	}
	record := o.record
	if record == "" {
		record = stores.State(filepath.Join("recordings", render.FileName(o.name)+".jsonl"))
	}
	record, err := filepath.Abs(record)
	if err != nil {
		return nil, err
	}
	toolx, err := os.Executable() // clients have other search paths
	if err != nil {
		return nil, err
	}
	return server.Wrap(toolx, record), nil
}

// keep saves what unwrap restores: the digest of the file's new text, and its old text.
func keep(path string, text []byte) error {
	if err := state.Replace(path, text); err != nil {
		return fault.Usage("cannot save a backup: "+fault.Reason(err), "make "+filepath.Dir(path)+" writable")
	}
	return nil
}

func sum(text []byte) []byte {
	digest := sha256.Sum256(text)
	return digest[:]
}
