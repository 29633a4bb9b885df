package servers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/detect"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// initFile is the config that toolx init writes.
const initFile = "toolx.yaml"

// initHeader begins a new config.
const initHeader = `# The servers and tools that toolx knows: toolx help config describes this file.
# toolx servers add NAME --project -- COMMAND adds a server.
`

// NoConfig is the message of toolx without arguments and without a config.
const NoConfig = "no server is configured; toolx init creates a toolx.yaml here with the servers that it finds"

type initOptions struct {
	Out   *streams.Streams
	Tools *toolset.Opener
}

// NewInit returns the command init; run runs it.
func NewInit(f *factory.Factory, run cli.RunFunc[initOptions]) *cobra.Command {
	o := initOptions{Out: f.Out, Tools: f.Tools}
	return &cobra.Command{
		Use:   "init",
		Short: "Create a toolx.yaml for this folder",
		Long: `Create a toolx.yaml in the working folder. It contains the server that the folder's
package.json or pyproject.toml builds, and imports the servers of other MCP clients on
this machine. On a terminal, toolx asks about each of them and trusts the file.
Otherwise it writes everything that it finds, and the servers start only after toolx
trust. An existing config is never changed.

Exit codes: 0 written, 2 a config exists already, or it cannot be written, 130
interrupted.`,
		Example: "  toolx init",
		Args:    cli.NoArguments,
		RunE:    cli.Run(&o, run),
	}
}

// RunInit writes the config and prints what to do next.
func RunInit(ctx context.Context, o initOptions) error {
	for _, name := range []string{initFile, "toolx.yml", "toolx.json", ".toolx.yaml"} {
		if _, err := os.Lstat(name); err == nil {
			return fault.Usage(name+" already exists, and toolx init does not change files",
				"add a server to it: toolx servers add NAME --project -- COMMAND…")
		}
	}
	run := initRun{o.Tools}
	found, err := run.servers(ctx)
	if err != nil {
		return err
	}
	clients, err := run.imports(ctx)
	if err != nil {
		return err
	}
	if len(found)+len(clients) == 0 && o.Out.Person() {
		if found, err = run.typed(ctx); err != nil {
			return err
		}
	}
	return run.write(ctx, found, clients)
}

// initRun is a run of toolx init.
type initRun struct{ tools *toolset.Opener }

// servers returns the servers of the working folder's own project that the user wants.
func (r initRun) servers(ctx context.Context) ([]detect.Server, error) {
	var wanted []detect.Server
	for _, server := range detect.Servers(os.DirFS(".")) {
		r.tools.Out.Say("%s belongs to an MCP server: %s", server.File, render.Safe(exec.PasteLine(server.Command...)))
		for _, script := range server.Scripts {
			person.QuoteEffect(r.tools.Out, "it runs "+script)
		}
		yes, err := r.tools.Keyboard.Confirms(ctx, "add it as "+server.Name+"?")
		if err != nil {
			return nil, err
		}
		if !yes {
			continue
		}
		if slices.ContainsFunc(wanted, func(s detect.Server) bool { return s.Name == server.Name }) {
			server.Name += "-python"
		}
		if wanted = append(wanted, server); server.Missing != "" {
			r.tools.Out.Log.Warn(render.Safe(server.Missing) + " does not exist yet: build the server first")
		}
	}
	return wanted, nil
}

// imports returns the ids of the clients whose servers the user wants.
func (r initRun) imports(ctx context.Context) ([]string, error) {
	var ids, counts []string
	for _, client := range ClientsWithServers() {
		ids = append(ids, client.ID)
		counts = append(counts, fmt.Sprintf("%s (%d)", client.Name, len(client.Servers)))
	}
	if len(ids) == 0 {
		return nil, nil
	}
	r.tools.Out.Say("other clients have servers: %s", strings.Join(counts, ", "))
	yes, err := r.tools.Keyboard.Confirms(ctx, "use them under their plain names?")
	if err != nil || !yes {
		return nil, err
	}
	return ids, nil
}

// clientServers is a client, with the names of its enabled servers.
type clientServers struct {
	*config.Client
	Servers []string
}

// ClientsWithServers returns the clients that have servers. A file that several clients read counts for one of them.
func ClientsWithServers() []clientServers {
	var clients []clientServers
	var read []string
	for _, client := range config.Clients() {
		var servers []string
		for _, file := range config.ReadClients(config.Options{}, client) {
			if slices.Contains(read, file.Path) {
				continue
			}
			before := len(servers)
			for _, server := range file.Servers {
				if !server.Disabled {
					servers = append(servers, server.Plain())
				}
			}
			if len(servers) > before {
				read = append(read, file.Path)
			}
		}
		if len(servers) > 0 {
			clients = append(clients, clientServers{client, servers})
		}
	}
	return clients
}

// typed asks for a server's command if none was found. The user can leave it empty.
func (r initRun) typed(ctx context.Context) ([]detect.Server, error) {
	release, err := r.tools.Keyboard.Hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	r.tools.Out.Say("no server was found; type a command that starts one, such as node dist/index.js, " +
		"or press Enter for none:")
	fmt.Fprint(r.tools.Out.Live, "> ")
	typed, err := r.tools.Keyboard.Line(ctx)
	if err != nil {
		return nil, ctx.Err() // nil if the terminal was closed
	}
	if strings.TrimSpace(typed) == "" {
		return nil, nil
	}
	commands := cmdline.ShellCommands(typed)
	if len(commands) != 1 || len(commands[0].Words) == 0 || strings.ContainsRune(typed, '$') {
		return nil, fault.Usage("not a valid command line",
			"toolx servers add NAME --project -- COMMAND…")
	}
	return []detect.Server{{Name: "server", Command: commands[0].Words}}, nil
}

// write creates the file, which must not exist yet, with the servers and imports.
func (r initRun) write(ctx context.Context, found []detect.Server, clients []string) error {
	file, err := os.OpenFile(initFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		_, err = file.WriteString(initHeader)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return fault.Usage("cannot write "+initFile+": "+fault.Reason(err), "run toolx init in a folder of your own")
	}
	written := NamedFile(initFile, true)
	err = Editor{Tools: r.tools}.edit(ctx, written, r.tools.Out.Person(), func([]byte) ([]config.Change, error) {
		var changes []config.Change
		for _, server := range found {
			command := words.Texts(server.Command, config.Literal)
			entry, err := entryOf(&config.Server{Command: command[0], Args: command[1:], Cwd: "."}, cli.Flags{})
			if err != nil {
				return nil, err
			}
			changes = append(changes, config.Change{Path: []string{"servers", server.Name}, Value: entry})
		}
		if len(clients) > 0 {
			changes = append(changes, importsOf(clients))
		}
		return changes, nil
	})
	if err != nil {
		return errors.Join(err, os.Remove(initFile))
	}
	switch {
	case len(found)+len(clients) > 0 && !r.tools.Out.Person():
		r.tools.Out.Say("written, but not trusted, because no one confirmed it; " +
			"next: toolx trust shows what it would run, and asks")
	case len(found) > 0:
		r.tools.Out.Say("written; next: toolx doctor %s examines it, toolx list shows its tools",
			found[0].Name)
	case len(clients) > 0:
		r.tools.Out.Say("written, with the servers of %s; next: toolx servers shows them",
			words.Count(len(clients), "client"))
	default:
		r.tools.Out.Say("created without servers; next: toolx servers add NAME --project -- COMMAND…")
	}
	_, err = fmt.Fprintln(r.tools.Out.Console.Out, initFile)
	return err
}

// NothingConfigured reports whether no config has a server or a tool. A config that cannot be read counts as having
// one.
func NothingConfigured(c *person.Consent) bool {
	loaded, err := c.LoadConfig()
	if err != nil || len(loaded.Servers)+len(loaded.Tools) > 0 {
		return false
	}
	_, err = os.Lstat(initFile)
	return errors.Is(err, fs.ErrNotExist)
}
