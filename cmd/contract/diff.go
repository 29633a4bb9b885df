package contract

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/factory"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/contract"
	"toolx/pkg/detect"
	"toolx/pkg/fault"
	"toolx/pkg/words"
)

// DiffOptions are what to compare, and how to print it.
type DiffOptions struct {
	Out   *streams.Streams
	Flags *cli.Flags
	Tools *toolset.Opener

	sides   []string // as typed
	command []string // the second side: a command line after --
	report  reportFlags
}

// NewDiff returns the command diff; run runs it.
func NewDiff(f *factory.Factory, run cli.RunFunc[DiffOptions]) *cobra.Command {
	o := DiffOptions{Out: f.Out, Flags: f.Flags, Tools: f.Tools}
	cmd := &cobra.Command{
		Use:   "diff BEFORE [AFTER] [-- COMMAND…]",
		Short: "Compare two versions of a server",
		Long: `Compare what servers offer, and classify each change: breaking, compatible or cosmetic.
Each side is the name of a server, a URL, a command in quotes, a snapshot (folder or
file), the output of toolx list --json (- reads it from stdin), or REV:PATH for a
snapshot in git. A command after -- and --url are the second side.

Exit codes: 0 nothing changed that counts (see --fail-on), 2 wrong usage, an unknown
server, or an invalid snapshot, 3 authentication required, 4 a server could not be
reached, 5 a server refused, 6 breaking changes, or a server broke the protocol, 124
timeout, 130 interrupted.`,
		Example: `  toolx diff snapshots -- node server.js
  toolx diff HEAD~1:snapshots snapshots --markdown
  toolx diff 'npx -y @modelcontextprotocol/server-memory@2025.4.25' 'npx -y @modelcontextprotocol/server-memory'
  toolx diff zwave https://mcp.example.com/mcp --fail-on any`,
		Args: cli.WithCommand(&o.command, func(args []string) error {
			o.sides = args
			wanted := 2
			if len(o.command) > 0 || f.Flags.URL != "" {
				wanted = 1
			}
			if len(args) != wanted || slices.Contains(args, "") {
				return fault.Usage("exactly two sides are required",
					"toolx diff BEFORE AFTER, or toolx diff BEFORE -- COMMAND…; a command on both sides needs quotes")
			}
			return nil
		}),
		ValidArgsFunction: complete.Servers(f.Tools, 2),
		RunE:              cli.Run(&o, run, o.report.check),
	}
	o.report.declare(cmd, "breaking")
	return cmd
}

// RunDiff compares two sides and prints the changes.
func RunDiff(ctx context.Context, o DiffOptions) error {
	// The sides decide whether the config is needed, so its servers stay beside a command after --.
	box, err := o.Tools.Open(toolset.Options{Lenient: true, ReportFailures: true})
	if err != nil {
		return err
	}
	d := differ{o, box, slices.Clone(box.Config().Servers)}
	var sides []side
	for _, word := range o.sides {
		one, err := d.side(ctx, word)
		if err != nil {
			return err
		}
		sides = append(sides, one)
	}
	if len(o.command) > 0 {
		server, err := o.Flags.AdHoc(o.command)
		if err != nil {
			return err
		}
		sides = append(sides, d.adHoc(server))
	}
	if o.Flags.URL != "" {
		sides = append(sides, side{live: config.AdHocName})
	}
	box.Pool.Change(ctx, d.servers, "")
	if err := d.take(ctx, sides); err != nil {
		return err
	}
	before, after, err := match(sides[0], sides[1])
	if err != nil {
		return err
	}
	return o.report.print(o.Out, contract.CompareSets(before, after), nil)
}

// side is one side of a comparison.
type side struct {
	word string // as typed
	live string // the name of a server to ask; empty for a snapshot
	set  contract.Set
}

// differ reads the sides of a comparison.
type differ struct {
	DiffOptions
	box     *toolset.Set
	servers []*config.Server // of the config, and those of sides
}

// side reads a side: a server first, so that ./NAME means a folder.
func (d *differ) side(ctx context.Context, word string) (one side, err error) {
	one.word = word
	isServer := func(s *config.Server) bool { return s.Name == word }
	_, missing := os.Stat(word)
	switch {
	case word == "-":
		var data []byte
		if data, err = d.Out.ReadWhole(ctx, word); err == nil {
			one.set, err = contract.Parse("stdin", contract.Files{"": data})
		}
	case strings.HasPrefix(word, "http://"), strings.HasPrefix(word, "https://"):
		one = d.adHoc(config.AdHoc(nil, word, nil))
	case slices.ContainsFunc(d.servers, isServer):
		one.live = word
	case missing == nil:
		one.set, err = contract.Read(word)
	case isRevision(word):
		one.set, err = readRevision(ctx, word)
	case strings.Contains(word, " "):
		commands := cmdline.ShellCommands(word)
		if len(commands) != 1 || len(commands[0].Words) == 0 || strings.ContainsAny(word, "$`") {
			return one, fault.Usage(strconv.Quote(word)+" is not a plain command",
				"give programs and arguments only; toolx diff BEFORE -- COMMAND… takes any")
		}
		one = d.adHoc(config.AdHoc(commands[0].Words, "", nil))
	default:
		return one, d.unknown(word, missing)
	}
	var file *contract.FileError
	if errors.As(err, &file) {
		err = usage(err, "a side is a server, a URL, a quoted command, a snapshot, or REV:PATH")
	}
	return one, err
}

// unknown returns the error for a side that is nothing that toolx knows.
func (d *differ) unknown(word string, missing error) error {
	if !errors.Is(missing, fs.ErrNotExist) {
		return fault.Usage("cannot read "+word+": "+fault.Reason(missing), "name a snapshot that you can read")
	}
	names := words.Texts(d.servers, func(s *config.Server) string { return s.Name })
	fix := "toolx servers lists servers; toolx diff BEFORE -- " + word + " runs a command"
	if near := words.Nearest(word, names); near != "" {
		fix = "did you mean " + near + "? " + fix
	}
	return fault.Usage("no server, file or folder is named "+strconv.Quote(word), fix)
}

// adHoc adds the server of a side, under a name that is free.
func (d *differ) adHoc(server *config.Server) side {
	base := detect.NameOf(append([]string{server.Command}, server.Args...), server.URL)
	server.Name = base
	taken := func(s *config.Server) bool { return s.Name == server.Name }
	for i := 2; slices.ContainsFunc(d.servers, taken); i++ {
		server.Name = fmt.Sprintf("%s-%d", base, i)
	}
	d.servers = append(d.servers, server)
	return side{live: server.Name}
}

// take asks the servers of both sides, in parallel.
func (d *differ) take(ctx context.Context, sides []side) error {
	var names []string
	for _, one := range sides {
		if one.live != "" {
			if err := d.box.Pool.Known(one.live); err != nil {
				return err
			}
			names = append(names, one.live)
		}
	}
	if len(names) == 0 {
		return nil
	}
	set, err := take(ctx, d.box, cli.Distinct(names), false)
	if err != nil {
		return err
	}
	for i, one := range sides {
		if one.live != "" {
			sides[i].set = contract.Set{one.live: set[one.live]}
		}
	}
	return nil
}

// match returns the servers to compare. One server is compared with that of its name, or with a single one.
func match(before, after side) (contract.Set, contract.Set, error) {
	pick := func(from side, name string) (contract.Set, error) {
		if from.set[name] == nil {
			return nil, fault.Usage(from.word+" has several servers: "+
				strings.Join(words.Texts(from.set.Names(), strconv.Quote), ", "),
				"name the folder of one, such as "+from.word+"/"+from.set.Names()[0])
		}
		return contract.Set{name: from.set[name]}, nil
	}
	var err error
	switch {
	case len(before.set) > 1 && len(after.set) == 1:
		before.set, err = pick(before, after.set.Names()[0])
	case len(after.set) > 1 && len(before.set) == 1:
		after.set, err = pick(after, before.set.Names()[0])
	}
	return before.set, after.set, err
}
