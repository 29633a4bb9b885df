package servers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"toolx/cmd/cli"
	"toolx/cmd/exit"
	"toolx/cmd/person"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/words"
)

// serversListOptions say which servers to list, and how.
type serversListOptions struct {
	Out   *streams.Streams
	Tools *toolset.Opener

	clients []string
	json    bool
	connect bool
}

// serverRow is one entry of a config file, of toolx or of another client.
type serverRow struct {
	Name      string   `json:"name"`           // the name in toolx
	Client    string   `json:"client"`         // the id of a client, or "toolx"
	Also      []string `json:"also,omitempty"` // further clients that read the same entry
	Transport string   `json:"transport"`
	Where     string   `json:"where"`
	Scope     string   `json:"scope,omitempty"`
	Enabled   bool     `json:"enabled"`
	// DisabledBy is the setting that disables the entry, with its place.
	DisabledBy string `json:"disabled_by,omitempty"`
	// State is ok, disabled, broken, untrusted or shadowed; after --connect also ready or failed.
	State string `json:"state"`
	Error string `json:"error,omitempty"`
	// Command or URL is what the entry starts or reaches, as written, with secrets masked.
	Command []string `json:"command,omitempty"`
	URL     string   `json:"url,omitempty"`
	// SameAs are the first few other servers with the same command or address, SameMore is the number of the rest.
	SameAs   []string `json:"same_as,omitempty"`
	SameMore int      `json:"same_as_more,omitempty"`
	// ShadowedBy is the place of the entry that hides this one.
	ShadowedBy string     `json:"shadowed_by,omitempty"`
	Found      *foundInfo `json:"found,omitempty"`

	server *config.Server
	path   string
}

// foundInfo is what a server reports about itself.
type foundInfo struct {
	Name         string `json:"name"`
	Version      string `json:"version"`
	Protocol     string `json:"protocol"`
	Era          string `json:"era"`
	StartMS      int64  `json:"start_ms"`
	Tools        int    `json:"tools"`
	Resources    int    `json:"resources"`
	Templates    int    `json:"templates"`
	Prompts      int    `json:"prompts"`
	Instructions string `json:"instructions,omitempty"`
	Capabilities any    `json:"capabilities,omitempty"`
}

func (o *serversListOptions) take(args []string) error {
	for _, arg := range args {
		id := strings.TrimSuffix(arg, ":")
		if id != ownRows && config.ClientNamed(id) == nil {
			fix := "toolx servers CLIENT…; the clients are toolx, " + strings.Join(cli.ClientIDs(), ", ")
			family := slices.DeleteFunc(cli.ClientIDs(), func(client string) bool {
				return id == "" || !strings.Contains(client, strings.ToLower(id))
			})
			if len(family) > 0 {
				fix = "did you mean " + strings.Join(family, " or ") + "?"
			} else if near := words.Nearest(id, cli.ClientIDs()); near != "" {
				fix = "did you mean " + near + "?"
			}
			return fault.Usage("servers: unknown client or subcommand "+strconv.Quote(arg), fix)
		}
		o.clients = append(o.clients, id)
	}
	return nil
}

// ownRows is the client in the rows of toolx's own servers.
const ownRows = "toolx"

// RunList lists all servers in the configs on this machine.
func RunList(ctx context.Context, o serversListOptions) error {
	list := rows{o.Tools}
	rows, remarks, err := list.all(o.clients)
	if err != nil {
		return err
	}
	if len(o.clients) > 0 {
		rows = slices.DeleteFunc(rows, func(row *serverRow) bool {
			return !slices.Contains(o.clients, row.Client) &&
				!slices.ContainsFunc(row.Also, func(id string) bool { return slices.Contains(o.clients, id) })
		})
	}
	for _, remark := range remarks {
		o.Out.Log.Warn(remark.String())
	}
	var failed error
	if o.connect {
		if failed, err = list.connect(ctx, rows); err != nil {
			return err
		}
	}
	if err := list.print(rows, o); err != nil {
		return err
	}
	return failed
}

// rows makes the rows of servers, one for each entry of a config.
type rows struct{ tools *toolset.Opener }

// all returns the entries of toolx's own files and of all clients, and the problems in the files of the named clients,
// or of all clients if none is named.
func (s rows) all(asked []string) (rows []*serverRow, remarks []config.Warning, err error) {
	about := func(id string) bool { return len(asked) == 0 || slices.Contains(asked, id) }
	policy, err := person.TrustPolicy(os.Getenv(config.EnvTrust))
	if err != nil {
		return nil, nil, err
	}
	options := config.Options{Files: s.tools.Flags.Config, Distrust: policy.None, Sources: s.tools.Consent.Sources}
	loaded, err := config.Load(options)
	if err != nil && about(ownRows) {
		s.tools.Out.Log.Warn(words.FirstLine(err.Error()))
	}
	s.tools.Consent.ApplyPolicy(policy, loaded.Projects)
	files := config.ReadClients(options, config.Clients()...)
	s.addSecrets(loaded.Servers)
	for _, file := range files {
		s.addSecrets(file.Servers)
	}
	for _, server := range loaded.Servers {
		rows = append(rows, s.of(server, ownRows))
	}
	for _, shadowed := range loaded.Shadowed {
		if shadowed.Server != "" {
			rows = append(rows, &serverRow{
				Name: shadowed.Server, Client: ownRows, Where: shadowed.Origin.String(), State: "shadowed",
				ShadowedBy: shadowed.By.String(), path: shadowed.Origin.File,
			})
		}
	}
	first, places := make(map[string]*serverRow), make(map[entryPlace]*serverRow)
	for _, row := range rows {
		if row.server != nil {
			places[row.place()] = row
		}
	}
	for _, file := range files {
		if file.Project != nil {
			s.tools.Consent.ApplyPolicy(policy, []*config.Project{file.Project})
		}
		if about(file.Client.ID) {
			remarks = append(remarks, file.Warnings...)
		}
		for _, server := range file.Servers {
			row := s.of(server, file.Client.ID)
			if same := places[row.place()]; same != nil { // another client uses the same entry
				if same.Client != row.Client && !slices.Contains(same.Also, row.Client) {
					same.Also = append(same.Also, row.Client)
				}
				row = same
			} else {
				rows = append(rows, row)
				places[row.place()] = row
			}
			if earlier := first[server.Name]; earlier == nil {
				first[server.Name] = row
			} else if earlier != row && row.Client == file.Client.ID {
				row.State, row.ShadowedBy = "shadowed", earlier.Where
			}
		}
	}
	findSame(rows)
	return rows, cli.Distinct(remarks), nil
}

// entryPlace is the place of an entry, and its name there.
type entryPlace struct {
	name, path   string
	line, column int
	enabled      bool
}

func (r *serverRow) place() entryPlace {
	return entryPlace{r.server.Plain(), r.path, r.server.Origin.Line, r.server.Origin.Column, r.Enabled}
}

// addSecrets masks the secrets of all servers before the first row is made, because the entry of another server may
// contain them.
func (s rows) addSecrets(list []*config.Server) {
	for _, server := range list {
		s.tools.Out.Mask.Add(server.Secrets()...)
	}
}

func (s rows) of(server *config.Server, client string) *serverRow {
	row := &serverRow{
		Name: server.Name, Client: client, Transport: server.Way(), Where: server.Origin.String(),
		Scope: string(server.Scope), Enabled: !server.Disabled, State: "ok", server: server,
		path: server.Origin.File,
	}
	if setting, origin := server.DisabledBy(); setting != "" {
		row.DisabledBy = setting + ", " + origin.String()
	}
	if path, err := filepath.Abs(row.path); err == nil && row.path != "" {
		row.path = path
	}
	for _, word := range server.Target() {
		row.Command = append(row.Command, s.tools.Out.Mask.Text(word))
	}
	if server.URL != "" {
		row.URL, row.Command = row.Command[0], nil
	}
	switch {
	case server.Err() != nil:
		row.State, row.Error = "broken", words.FirstLine(s.tools.Out.Mask.Text(server.Err().Error()))
	case server.Disabled:
		row.State = "disabled"
	case server.CheckConsent() != nil:
		row.State = "untrusted"
	case server.URL == "":
		if program, args, whole := cmdline.SplitLine(server.Command, filepath.Dir(row.path)); whole {
			row.State = "broken"
			row.Error = "command is a whole command line; write " +
				s.tools.Out.Mask.Text(diagnose.EntryOf(program, append(args, server.Args...)))
		}
	}
	return row
}

// maxSame is how many other entries for the same server a row names.
const maxSame = 3

// findSame records which entries are for the same server: of many, the first few.
func findSame(rows []*serverRow) {
	groups := make(map[string][]*serverRow)
	for _, row := range rows {
		if row.server == nil || row.State == "shadowed" || len(row.server.Target()) == 0 {
			continue
		}
		key := strings.Join(row.server.Target(), "\x00")
		groups[key] = append(groups[key], row)
	}
	for _, group := range groups {
		for _, row := range group {
			for _, other := range group[:min(maxSame+1, len(group))] {
				if other != row && len(row.SameAs) < maxSame {
					row.SameAs = append(row.SameAs, other.Name)
				}
			}
			row.SameMore = len(group) - 1 - len(row.SameAs)
		}
	}
}

// connect connects to the servers of rows in parallel, and records what each reports about itself. failed is the error
// of a server if none answered.
func (s rows) connect(ctx context.Context, rows []*serverRow) (failed, err error) {
	byName := make(map[string]*serverRow)
	var list []*config.Server
	for _, row := range rows {
		if row.State != "ok" && row.State != "untrusted" {
			continue
		}
		byName[row.Name] = row
		list = append(list, row.server)
	}
	if len(list) == 0 {
		return nil, nil
	}
	box, err := s.tools.Open(toolset.Options{Servers: list, ReportFailures: true, Lenient: true, Once: true})
	if err != nil {
		return nil, err
	}
	bounded, done := box.Bounded(ctx, exec.TimeoutError{Tool: "servers", Request: true})
	defer done()
	opened, err := box.StartServers(bounded, "connect", box.Pool.Names(), box.Pool.OpenAll)
	if err != nil {
		return nil, err
	}
	var wait sync.WaitGroup
	for _, one := range opened {
		row := byName[one.Server]
		if one.Err != nil {
			row.State, row.Error = "failed", words.FirstLine(one.Err.Error())
			if one.Err != nil && row.server.CheckConsent() != nil {
				row.State = "untrusted"
			}
			continue
		}
		row.State = "ready"
		wait.Go(func() { row.Found = describeFound(bounded, box, one.Session) })
	}
	wait.Wait()
	failed = toolset.ListFailure(opened, false)
	unreached := slices.ContainsFunc(opened, func(one servers.Opened) bool {
		return fault.KindOf(one.Err) != fault.KindUsage // the kind for files that are not trusted
	})
	if failed != nil && unreached {
		failed = exit.Reported(exit.Fail(failed, fault.KindConnect, ""))
	}
	return failed, nil
}

// describeFound returns what a server reports about itself.
func describeFound(ctx context.Context, b *toolset.Set, session *protocol.Session) *foundInfo {
	start := session.Timing.StartMS + session.Timing.InitializeMS + session.Timing.ListMS
	hide := b.Out.Mask.Text
	info := &foundInfo{
		Name: hide(session.Info.Name), Version: hide(session.Info.Version), Protocol: session.Protocol,
		Era: "initialize", StartMS: int64(math.Round(start)), Tools: len(session.Tools()),
		Instructions: hide(session.Instructions), Capabilities: session.Capabilities,
	}
	if session.Protocol >= "2026-07-28" {
		info.Era = "server/discover"
	}
	if session.Capabilities.Resources != nil {
		list, _ := session.Resources(ctx)
		info.Resources = len(list)
		templates, _ := session.ResourceTemplates(ctx)
		info.Templates = len(templates)
	}
	if session.Capabilities.Prompts != nil {
		list, _ := session.Prompts(ctx)
		info.Prompts = len(list)
	}
	return info
}

// offers returns how many tools, resources and prompts the server has.
func (f *foundInfo) offers() string {
	return strings.Join([]string{
		words.Count(f.Tools, "tool"), words.Count(f.Resources, "resource"), words.Count(f.Templates, "template"),
		words.Count(f.Prompts, "prompt"),
	}, ", ")
}

func (s rows) print(rows []*serverRow, o serversListOptions) error {
	if o.json {
		return s.tools.Out.PrintJSON(map[string]any{"servers": append([]*serverRow{}, rows...)})
	}
	table := make([][]string, len(rows))
	for i, row := range rows {
		table[i] = []string{row.Name, cmp.Or(row.Transport, "-"), row.State, row.Where, row.notes()}
	}
	if len(rows) == 0 {
		s.tools.Out.Say("no config on this machine has a server; toolx servers add NAME -- COMMAND… adds one")
	}
	return s.tools.Out.PrintTable([]string{"NAME", "TRANSPORT", "STATE", "WHERE", ""}, table)
}

// notes returns further remarks on an entry.
func (r *serverRow) notes() string {
	var notes []string
	if f := r.Found; f != nil {
		notes = append(notes, fmt.Sprintf("%s %s, %s, %d ms, %s", f.Name, f.Version, f.Protocol, f.StartMS, f.offers()))
	}
	if len(r.Also) > 0 {
		notes = append(notes, "also used by "+strings.Join(r.Also, ", "))
	}
	if len(r.SameAs) > 0 {
		same := "same as " + strings.Join(r.SameAs, ", ")
		if r.SameMore > 0 {
			same += fmt.Sprintf(" and %d more", r.SameMore)
		}
		notes = append(notes, same)
	}
	if r.server != nil && r.server.DisabledElsewhere() {
		notes = append(notes, r.DisabledBy)
	}
	if r.ShadowedBy != "" {
		notes = append(notes, "shadowed by "+r.ShadowedBy)
	}
	if r.Error != "" {
		notes = append(notes, r.Error)
	}
	return strings.Join(notes, "; ")
}
