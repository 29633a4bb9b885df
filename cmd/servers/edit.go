package servers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
	"toolx/cmd/stores"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/mask"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/state"
	"toolx/pkg/words"
)

// ConfigFileFlags say which config file to change.
type ConfigFileFlags struct{ user, project bool }

func (f *ConfigFileFlags) declare(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.user, "user", false, "change your own config")
	cmd.Flags().BoolVar(&f.project, "project", false, "change the config of this folder, or of the nearest one above")
}

// check refuses flags that select two files.
func (f *ConfigFileFlags) check(flags *cli.Flags) func() error {
	return func() error {
		given := len(flags.Config)
		for _, flag := range []bool{f.user, f.project} {
			if flag {
				given++
			}
		}
		if given > 1 {
			return fault.Usage("toolx changes only one file at a time", "give one of --user, --project, --config FILE")
		}
		return nil
	}
}

// Named returns the file that the flags select; ok is false if they select none.
func (f *ConfigFileFlags) Named(flags *cli.Flags) (file config.File, ok bool) {
	switch {
	case len(flags.Config) > 0:
		return NamedFile(flags.Config[0], false), true
	case f.user:
		return config.UserFile(config.Options{}), true
	case !f.project:
		return config.File{}, false
	}
	files, _, _ := config.Find(config.Options{})
	if at := slices.IndexFunc(files, func(f config.File) bool { return f.Project }); at >= 0 {
		return files[at], true
	}
	return NamedFile("toolx.yaml", true), true
}

// NamedFile returns a file by its name, which is relative to the working folder.
func NamedFile(name string, project bool) config.File {
	path, err := filepath.Abs(name)
	if err != nil {
		path = name
	}
	return config.File{Name: name, Path: path, Project: project}
}

// addOptions say which server to add, and where.
type addOptions struct {
	Out   *streams.Streams
	Flags *cli.Flags
	Tools *toolset.Opener

	ConfigFileFlags
	name      string
	command   []string
	replace   bool
	noConnect bool
}

func newServersAddCommand(f *factory.Factory, run cli.RunFunc[addOptions]) *cobra.Command {
	o := addOptions{Out: f.Out, Flags: f.Flags, Tools: f.Tools}
	cmd := &cobra.Command{
		Use:   "add NAME -- COMMAND… | NAME URL",
		Short: "Add a server to the config",
		Long: `Add a server to the config, then connect to it once and show what it offers. The
server is a command after --, or an address; --env, --cwd, -H, --cacert and --protocol
become part of the entry. ${VARIABLE} in a value is expanded when the server starts, so
that the file needs no secrets.

The entry is kept even if the server cannot be reached.

Exit codes: 0 added, 2 wrong usage, or a file that cannot be changed, 3 authentication
required, 4 the server could not be reached, 5 the server refused, 6 the server broke
the protocol.`,
		Example: `  toolx servers add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  toolx servers add github https://api.example.com/mcp -H 'Authorization: Bearer ${TOKEN}'
  toolx servers add db --project --env 'DSN=${DSN}' -- npx -y @bytebase/dbhub`,
		Args: cli.WithCommand(&o.command, func(args []string) error { return o.take(f.Flags, args) }),
		RunE: cli.Run(&o, run, o.check(f.Flags)),
	}
	o.declare(cmd)
	cmd.Flags().BoolVar(&o.replace, "replace", false, "replace the entry with this name")
	cmd.Flags().BoolVar(&o.noConnect, "no-connect", false, "do not connect to the server")
	return cmd
}

// take reads NAME [URL].
func (o *addOptions) take(flags *cli.Flags, args []string) error {
	const fix = "toolx servers add NAME -- COMMAND…, or toolx servers add NAME URL"
	if len(args) == 2 && flags.URL == "" {
		flags.URL = args[1]
		args = args[:1]
	}
	switch {
	case len(args) == 0 || args[0] == "":
		return fault.Usage("the server needs a name", fix)
	case len(args) > 1:
		return fault.Usage("unexpected argument "+strconv.Quote(args[1]), fix)
	case len(o.command) == 0 && flags.URL == "":
		return fault.Usage("the server needs a command or an address", fix)
	}
	o.name = args[0]
	return nil
}

// runServersAdd writes the entry and connects to the server.
func runServersAdd(ctx context.Context, o addOptions) error {
	editor := Editor{o.Tools}
	given, err := o.Flags.AdHoc(o.command)
	if err != nil {
		return err
	}
	if err := config.CheckServerName(o.name); err != nil {
		return fault.Usage(err.Error(), "letters, digits, - and _ are safe: toolx servers add files …")
	}
	file, named := o.Named(o.Flags)
	if !named {
		file = config.UserFile(config.Options{})
	}
	if err := editor.rebasePaths(given, file); err != nil {
		return err
	}
	if err := editor.Add(ctx, file, o.name, given, o.replace); err != nil {
		return err
	}
	o.Out.Say("added %s to %s", render.Safe(o.name), render.Safe(file.Name))
	editor.pointToSecrets(o.name, given)
	// From here on, the file has the server.
	o.Flags.URL, o.Flags.Headers, o.Flags.Env, o.Flags.Cwd = "", nil, nil, ""
	if o.noConnect {
		return nil
	}
	return editor.meet(ctx, o.name, file)
}

// Editor changes the entries of config files.
type Editor struct{ Tools *toolset.Opener }

// Add writes the entry of a server into a file.
func (e Editor) Add(
	ctx context.Context, file config.File, name string, server *config.Server, replace bool,
) error {
	entry, err := entryOf(server, *e.Tools.Flags)
	if err != nil {
		return err
	}
	return e.edit(ctx, file, true, func(data []byte) ([]config.Change, error) {
		path, found := config.ServerPath(file.Name, data, name)
		if found && !replace {
			return nil, fault.Usage(fmt.Sprintf("%s has a server '%s' already", file.Name, name),
				"choose another name, or replace it: --replace")
		}
		return []config.Change{{Path: path, Value: entry}}, nil
	})
}

// Import writes into a file the clients whose servers it adds to its own.
func (e Editor) Import(ctx context.Context, file config.File, clients []string) error {
	return e.edit(ctx, file, true, func([]byte) ([]config.Change, error) {
		return []config.Change{importsOf(clients)}, nil
	})
}

func importsOf(clients []string) config.Change {
	ids, _ := rawjson.Marshal(clients) // texts always marshal
	return config.Change{Path: []string{"imports"}, Value: ids}
}

// rebasePaths changes the paths of a server so that they mean the same in the file as on the command line, where they
// are relative to the working folder.
func (e Editor) rebasePaths(server *config.Server, file config.File) error {
	for _, path := range []*string{&server.Command, &e.Tools.Flags.CACert} {
		isName := path == &server.Command &&
			(server.Cwd != "" || !strings.ContainsAny(*path, "/"+string(filepath.Separator)))
		settled := filepath.IsAbs(*path) || strings.HasPrefix(*path, "~") || strings.Contains(*path, "${")
		if *path == "" || isName || settled {
			continue
		}
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = absolute
		if inside, err := filepath.Rel(filepath.Dir(file.Path), absolute); err == nil && filepath.IsLocal(inside) {
			*path = "./" + filepath.ToSlash(inside)
		}
	}
	for _, arg := range server.Args {
		if _, err := os.Stat(arg); err == nil && !filepath.IsAbs(arg) && server.Cwd == "" {
			const text = "the argument %s is relative to the folder in which toolx runs; --cwd . fixes it"
			e.Tools.Out.Log.Warn(fmt.Sprintf(text, render.Safe(arg)))
			break
		}
	}
	return nil
}

// pointToSecrets warns about secrets that an entry has as plain text, and shows how to store them in the keyring.
func (e Editor) pointToSecrets(name string, server *config.Server) {
	tell := func(what, flag, prefix string) {
		e.Tools.Out.Log.Warn(render.Safe(what) + " may be a secret, and is in the file as plain text")
		e.Tools.Out.Say("hint: %s stores it in the keyring; then add the server again with "+
			"%s '%s${keyring:%s}' --replace",
			exec.ShellLine("toolx", "secret", "set", name), flag, render.Safe(prefix), name)
	}
	for _, header := range slices.Sorted(maps.Keys(server.Headers)) {
		value := server.Headers[header]
		if strings.Contains(value, "${") || !mask.Name(header) && !mask.Value(value) {
			continue
		}
		prefix := header + ": "
		if strings.HasPrefix(value, "Bearer ") {
			prefix += "Bearer "
		}
		tell("the header "+header, "-H", prefix)
	}
	for _, variable := range slices.Sorted(maps.Keys(server.Env)) {
		value := server.Env[variable]
		if value != "" && !strings.Contains(value, "${") && (mask.Name(variable) || mask.Value(value)) {
			tell("the variable "+variable, "--env", variable+"=")
		}
	}
}

// entryOf returns the entry for a server on the command line.
func entryOf(server *config.Server, flags cli.Flags) (json.RawMessage, error) {
	return rawjson.Marshal(struct {
		Command  string            `json:"command,omitempty"`
		Args     []string          `json:"args,omitempty"`
		Cwd      string            `json:"cwd,omitempty"`
		Env      map[string]string `json:"env,omitempty"`
		URL      string            `json:"url,omitempty"`
		Headers  map[string]string `json:"headers,omitempty"`
		CACert   string            `json:"caCert,omitempty"`
		Protocol string            `json:"protocol,omitempty"`
	}{
		server.Command, server.Args, server.Cwd, server.Env, server.URL, server.Headers, flags.CACert, flags.Protocol,
	})
}

// meet connects to the added server, and shows what it offers.
func (e Editor) meet(ctx context.Context, name string, file config.File) error {
	box, err := e.Tools.Open(toolset.Options{})
	if err != nil {
		return err
	}
	server, err := cli.ServerNamed(box.Config().Servers, name, "toolx servers lists them")
	if err != nil {
		return err
	}
	if server.Origin.File != file.Name {
		e.Tools.Out.Log.Warn(fmt.Sprintf("in this folder, server '%s' comes from %s", name, server.Origin))
	}
	stop := e.Tools.ShowProgress("connect")
	defer stop()
	session, err := box.Pool.Open(ctx, name)
	stop()
	if err != nil {
		shown := render.Safe(exec.ShellLine(name))
		e.Tools.Out.Say("the entry is kept, although the server could not be reached; next: toolx doctor %s, "+
			"or toolx servers remove %s", shown, shown)
		return e.Tools.Out.Masked(cmp.Or(toolset.GaveUp(ctx, "servers add", name), err))
	}
	found := e.Tools.Out.Mask.Text(strings.TrimSpace(session.Info.Name + " " + session.Info.Version))
	tools := toolset.ToolsOf(box.Registry.All(), name, toolset.Filter{})
	e.Tools.Out.Say("connected: %s, MCP %s, %s", render.Safe(cmp.Or(found, "a server without a name")),
		render.Safe(session.Protocol), words.Count(len(tools), "tool"))
	return nil
}

// serversEdit is a verb that changes one entry.
type serversEdit struct {
	use, short, example string
	done                string // what was done
	// changes returns the changes to an entry; none if nothing has to change.
	changes func(o editOptions, server *config.Server, path []string) []config.Change
}

func serversEdits() []serversEdit {
	return []serversEdit{
		{
			"remove NAME", "Remove a server from the config",
			"  toolx servers remove files\n  toolx servers remove files --project", "removed",
			func(_ editOptions, _ *config.Server, path []string) []config.Change {
				return []config.Change{{Path: path}}
			},
		},
		{
			"rename NAME NEW", "Rename a server in the config", "  toolx servers rename files notes",
			"renamed", func(o editOptions, _ *config.Server, path []string) []config.Change {
				return []config.Change{{Path: path, Rename: o.to}}
			},
		},
		{
			"enable NAME", "Enable a server in the config", "  toolx servers enable files", "enabled",
			func(_ editOptions, server *config.Server, path []string) []config.Change {
				return switched(server, path, true)
			},
		},
		{
			"disable NAME", "Disable a server in the config", "  toolx servers disable files",
			"disabled", func(_ editOptions, server *config.Server, path []string) []config.Change {
				return switched(server, path, false)
			},
		},
	}
}

// editOptions say which entry to change, and how.
type editOptions struct {
	Out   *streams.Streams
	Tools *toolset.Opener

	ConfigFileFlags
	serversEdit
	name string
	to   string // the new name
}

// switched returns the changes that enable or disable a server. It changes the value of an existing key, so that a
// comment next to it stays.
func switched(server *config.Server, path []string, on bool) []config.Change {
	if server.Disabled == !on {
		return nil
	}
	key, value := "disabled", fmt.Sprint(!on)
	if written, _ := server.DisabledBy(); strings.HasPrefix(written, "enabled") || !on && server.Says("enabled") {
		key, value = "enabled", fmt.Sprint(on)
	}
	return []config.Change{{Path: append(slices.Clone(path), key), Value: []byte(value)}}
}

func newServersEditCommand(f *factory.Factory, run cli.RunFunc[editOptions], edit serversEdit) *cobra.Command {
	o := editOptions{Out: f.Out, Tools: f.Tools, serversEdit: edit}
	cmd := &cobra.Command{Use: edit.use, Short: edit.short, Example: edit.example}
	renames := strings.HasPrefix(cmd.Use, "rename")
	cmd.Long = cmd.Short + ". The rest of the file stays the same. If several\n" +
		"files have a server of that name, choose one with --user, --project or --config.\n\n" + editExits
	cmd.ValidArgsFunction = complete.Servers(f.Tools, 1)
	cmd.Args = func(_ *cobra.Command, args []string) error {
		want, fix := 1, "toolx servers "+cmd.Use
		if renames {
			want = 2
		}
		switch {
		case len(args) < want || slices.Contains(args, ""):
			return fault.Usage("the server's name is missing", fix)
		case len(args) > want:
			return fault.Usage("unexpected argument "+strconv.Quote(args[want]), fix)
		}
		if o.name = args[0]; renames {
			o.to = args[1]
		}
		return nil
	}
	cmd.RunE = cli.Run(&o, run, o.check(f.Flags))
	o.declare(cmd)
	return cmd
}

// runServersEdit changes the entry of a server in the file that has it.
func runServersEdit(ctx context.Context, o editOptions) error {
	if o.to != "" {
		if err := config.CheckServerName(o.to); err != nil {
			return fault.Usage(err.Error(), "letters, digits, - and _ are safe")
		}
	}
	editor := Editor{o.Tools}
	server, file, err := editor.entryNamed(o)
	if err != nil {
		return err
	}
	err = editor.edit(ctx, file, true, func(data []byte) ([]config.Change, error) {
		path, found := config.ServerPath(file.Name, data, o.name)
		if !found {
			gone := fmt.Sprintf("%s no longer has server '%s'", file.Name, o.name)
			return nil, fault.Usage(gone, "read the file")
		}
		return o.changes(o, server, path), nil
	})
	if err != nil {
		return err
	}
	done := o.done
	if o.to != "" {
		done += " to " + render.Safe(o.to)
	}
	o.Out.Say("%s: %s in %s", render.Safe(o.name), done, render.Safe(file.Name))
	return nil
}

// entryNamed returns the server and the file that has it: the one that the flags name, else the one whose entry is
// used.
func (e Editor) entryNamed(o editOptions) (*config.Server, config.File, error) {
	const fix = "toolx servers lists them; toolx servers add NAME adds one"
	if client, _ := config.ClientOf(o.name); client != nil {
		theirs := fmt.Sprintf("%s is in a file of %s, and toolx changes only its own config", o.name, client.Name)
		return nil, config.File{}, fault.Usage(theirs,
			"toolx servers show "+exec.ShellLine(o.name)+" shows where it is")
	}
	file, named := o.Named(e.Tools.Flags)
	if named {
		loaded, err := config.Load(config.Options{Files: []string{file.Name}})
		if err != nil {
			return nil, file, exit.Usage(err)
		}
		server, err := cli.ServerNamed(loaded.Servers, o.name, fix)
		return server, file, err
	}
	loaded, err := e.Tools.Consent.LoadConfig()
	if err != nil {
		return nil, file, err
	}
	server, err := cli.ServerNamed(loaded.Servers, o.name, fix)
	if err != nil {
		return nil, file, err
	}
	file = NamedFile(server.Origin.File, server.Project() != nil)
	return server, file, nil
}

// editLockTime is how long toolx waits for another process that is changing a config.
const editLockTime = 10 * time.Second

// maxEdited is the size in bytes of the largest file that toolx changes; clients keep other data in theirs.
const maxEdited = 64 << 20

// edit changes values in a config file, and nothing else in it; see rewrite.
func (e Editor) edit(
	ctx context.Context, file config.File, consented bool, changes func([]byte) ([]config.Change, error),
) error {
	return e.rewrite(ctx, file, consented, func(data []byte) ([]byte, error) {
		wanted, err := changes(data)
		if err != nil || len(wanted) == 0 {
			return nil, err
		}
		text, err := config.Edit(file.Name, data, wanted...)
		if err != nil {
			return nil, exit.Usage(err)
		}
		return text, nil
	})
}

// rewrite changes a config file under a lock that all toolx processes share. change gets the text, empty if there is no
// file yet, and returns the new one, or nil to change nothing. consented reports whether the user knows what the
// changed entry starts: then a folder's file to which the user has consented stays trusted.
func (e Editor) rewrite(
	ctx context.Context, file config.File, consented bool, change func([]byte) ([]byte, error),
) error {
	if lock := stores.State("edit.lock"); lock != "" {
		bounded, cancel := context.WithTimeout(ctx, editLockTime)
		defer cancel()
		unlock, err := state.Lock(bounded, lock)
		if err != nil {
			return exit.Usage(fmt.Errorf("another toolx process is changing a config: %s is locked", lock))
		}
		defer unlock()
	}
	if reason := file.Refused(); reason != "" {
		return fault.Usage("cannot change "+file.Name+": "+reason, person.OwnFileFix(file.Name))
	}
	data, err := state.Read(file.Path, maxEdited)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err != nil && !isNew {
		return fault.Usage("cannot read "+file.Name+": "+fault.Reason(err), "use a readable file")
	}
	text, err := change(data)
	if err != nil || text == nil {
		return err
	}
	trusted := consented && (isNew || e.IsTrusted(file))
	if err := state.Rewrite(file.Path, text, newFileMode(file)); err != nil {
		return fault.Usage("cannot write "+file.Name+": "+fault.Reason(err), "use a writable file")
	}
	if !trusted {
		return nil
	}
	return e.KeepTrust(ctx, file)
}

// KeepTrust keeps the user's consent to a file after the user's own change.
func (e Editor) KeepTrust(ctx context.Context, file config.File) error {
	if !file.Project {
		return nil
	}
	project, err := person.ProjectAt(e.Tools.Out, file.Path)
	if err != nil || !project.NeedsConsent() {
		return err
	}
	return person.KeepTrust(ctx, project)
}

// newFileMode returns the mode of a new file: the user's own may contain secrets, a folder's is shared.
func newFileMode(file config.File) fs.FileMode {
	if file.Project {
		return 0o644
	}
	return 0o600
}

// IsTrusted reports whether the user has consented to the current version of the file.
func (e Editor) IsTrusted(file config.File) bool {
	if !file.Project {
		return false
	}
	project, err := person.ProjectAt(e.Tools.Out, file.Path)
	if err != nil {
		return false
	}
	known, err := stores.Trust().Find(project.File.Path)
	return err == nil && (known != nil && known.SHA256 == project.SHA256 || !project.NeedsConsent())
}
