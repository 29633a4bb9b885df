package list

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/correct"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/stores"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/catalog"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers"
	"toolx/pkg/servers/protocol"
)

// listingOptions say what to show of a list other than tools, and how.
type listingOptions struct {
	Out       *streams.Streams
	Tools     *toolset.Opener
	Corrector *correct.Corrector

	toolset.CacheFlags
	patterns []string
	json     bool
	strict   bool
	verify   bool     // read what is listed, where Listing.Check can
	server   []string // a command line after --
	answers  person.AnswerFlags
}

// Listing is a kind of list that servers have.
type Listing struct {
	Noun   string // its plural ends in s
	Verb   []string
	Kind   catalog.Kind
	Member string // of the JSON output
	Method string
	List   func(*protocol.Session, context.Context) ([]json.RawMessage, error)
	Entry  func(definition json.RawMessage) render.Entry
	// Check returns what is wrong with a definition or, with verify, with what it describes. It may be nil; Exits is
	// what it adds to the exit codes.
	Check func(ctx context.Context, session *protocol.Session, definition json.RawMessage, verify bool) error
	Exits string
}

// NewListing returns the command for the kind of list c; run runs it.
func NewListing(
	f *factory.Factory, c Listing, short string, run func(context.Context, listingOptions, Listing) error,
) *cobra.Command {
	o := listingOptions{Out: f.Out, Tools: f.Tools, Corrector: f.Corrector}
	cmd := &cobra.Command{
		Use:   c.Verb[1] + " [PATTERN…] [-- COMMAND…]",
		Short: short,
		Long: short + `, grouped by server. A PATTERN is a server's name, a glob, or part of a
name, title or description. In a pipe each is a line of four tab-separated fields.

Exit codes: 0 at least one server answered, 2 wrong usage, no server is configured, or
nothing matches, 4 no server answered; with --strict, any server did not` + c.Exits + `.`,
		Args: cli.WithCommand(&o.server, func(args []string) error {
			o.patterns = args
			return cli.CheckPatterns(args)
		}),
		RunE: cli.Run(&o, func(ctx context.Context, o listingOptions) error {
			return run(ctx, o, c)
		}, o.answers.Check),
	}
	o.answers.Declare(cmd.Flags())
	o.CacheFlags.Declare(cmd)
	cmd.Flags().BoolVar(&o.json, "json", false, "print full definitions as JSON, as the servers sent them")
	cmd.Flags().BoolVar(&o.strict, "strict", false, "fail if any server does not respond")
	if c.Check != nil {
		cmd.Flags().BoolVar(&o.verify, "verify", false, "read all files, and compare them with their digests")
	}
	return cmd
}

// RunListing opens all servers in parallel, and lists what they have.
func RunListing(ctx context.Context, o listingOptions, c Listing) error {
	box, err := o.Tools.Open(toolset.Options{Server: o.server, ReportFailures: true, Answers: &o.answers})
	if err != nil {
		return err
	}
	if err := box.NeedServers(""); err != nil {
		return err
	}
	bounded, done := box.Bounded(ctx, exec.TimeoutError{Tool: c.Method, Request: true})
	defer done()
	filter, err := box.Filter(o.patterns)
	if err != nil {
		return err
	}
	if err := o.Corrector.CheckPatterns(box, filter, c.Kind, nil); err != nil {
		return err
	}
	opened, catalogs, invalid, err := openListing(bounded, box, o, c, filter)
	if err != nil {
		return err
	}
	if err := o.Corrector.CheckPatterns(box, filter, c.Kind, named(catalogs)); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return &exec.InterruptedError{}
	}
	failure := cmp.Or(toolset.ListFailure(opened, o.strict), invalid)
	found := slices.ContainsFunc(catalogs, func(one render.Catalog) bool { return len(one.Entries) > 0 })
	if failure == nil && len(filter.Patterns) > 0 && len(filter.Servers) == 0 && !found {
		return toolset.NoMatch(c.Noun, o.patterns, "without a pattern, all are listed")
	}
	if o.json {
		err = render.CatalogsJSON(o.Out.Console.Out, catalogs, c.Member, o.Out.OutScreen())
	} else {
		// Failed servers are on stderr already.
		catalogs = slices.DeleteFunc(catalogs, func(one render.Catalog) bool {
			return one.Err != nil && one.Listed.IsZero() || len(one.Entries) == 0 && len(filter.Patterns) > 0
		})
		err = render.Catalogs(o.Out.Console.Out, catalogs, c.Noun, c.Noun+"s", o.Out.OutScreen())
	}
	if err != nil {
		return err
	}
	return failure
}

// openListing returns what servers list, or what their catalogues have.
func openListing(
	ctx context.Context, b *toolset.Set, o listingOptions, c Listing, filter toolset.Filter,
) (opened []servers.Opened, catalogs []render.Catalog, invalid, err error) {
	kept := make(map[string][]render.Entry)
	take := func(server *config.Server) (time.Time, bool) {
		list := stores.Catalog().Read(server.Identity()).List(c.Kind)
		if list == nil {
			return time.Time{}, false
		}
		kept[server.Name] = c.entries(server.Name, list.Definitions(), filter)
		return list.Time, true
	}
	var listed map[string]time.Time
	if o.Cached {
		opened, listed = b.OpenCatalogues(filter, c.Verb, take)
	} else {
		if !o.Refresh {
			filter.Cached = func(server *config.Server) (fits, known bool) {
				_, known = take(server)
				return len(kept[server.Name]) > 0, known
			}
		}
		if opened, err = b.OpenServers(ctx, c.Method, filter); err != nil {
			return nil, nil, nil, err
		}
	}
	catalogs, invalid = listAll(ctx, b, opened, filter, c, o.verify)
	if !o.Cached && !o.Refresh && ctx.Err() == nil {
		listed = b.AddStale(opened, c.Noun+"s", take)
	}
	for i := range catalogs {
		at, found := listed[catalogs[i].Server]
		if !found {
			continue
		}
		catalogs[i].Entries, catalogs[i].Listed = kept[catalogs[i].Server], at
		if catalogs[i].Err == nil {
			catalogs[i].Status = "cached"
		}
	}
	return opened, catalogs, invalid, nil
}

// named returns a function that reports whether an entry has a name.
func named(catalogs []render.Catalog) func(name string) bool {
	return func(name string) bool {
		return slices.ContainsFunc(catalogs, func(one render.Catalog) bool {
			is := func(entry render.Entry) bool { return entry.Plain == name || entry.Name == name }
			return slices.ContainsFunc(one.Entries, is)
		})
	}
}

// listAll lists all opened servers in parallel. It reports lists that fail; their servers count as not answering. It
// also reports invalid entries, and returns the error of one of them.
func listAll(
	ctx context.Context, b *toolset.Set, opened []servers.Opened, filter toolset.Filter, c Listing, verify bool,
) ([]render.Catalog, error) {
	catalogs, invalid := make([]render.Catalog, len(opened)), make([]error, len(opened))
	var wait sync.WaitGroup
	for i := range opened {
		wait.Go(func() {
			one := render.Catalog{Server: opened[i].Server, Alone: b.AdHoc, Status: "ready"}
			if opened[i].Session != nil {
				one.Entries, opened[i].Err = listOne(ctx, b, opened[i].Session, filter, c)
				for _, entry := range one.Entries {
					if c.Check == nil || ctx.Err() != nil {
						break
					}
					_, err := exec.Within(ctx, b.Executor, entry.Plain, func(ctx context.Context) (any, error) {
						return nil, c.Check(ctx, opened[i].Session, entry.Definition, verify)
					})
					if err != nil {
						b.Out.Report(b.Out.Masked(err))
						invalid[i] = exit.Reported(err)
					}
				}
				opened[i].Err = b.Out.Masked(opened[i].Err)
				if opened[i].Err != nil && fault.KindOf(opened[i].Err) != fault.KindInterrupted {
					b.Out.Report(opened[i].Err)
				}
			}
			if one.Err = opened[i].Err; one.Err != nil {
				one.Status = "failed"
			}
			catalogs[i] = one
		})
	}
	wait.Wait()
	return catalogs, cmp.Or(invalid...)
}

// listOne returns the entries of one server that the filter selects.
func listOne(
	ctx context.Context, b *toolset.Set, session *protocol.Session, filter toolset.Filter, c Listing,
) ([]render.Entry, error) {
	result := b.Executor.Do(ctx, exec.Operation{
		Name: c.Method, Server: session.Name, Method: c.Method, Timeout: b.Flags.Timeout, MaxTime: b.Flags.MaxTime,
		Run: func(ctx context.Context, _ func(exec.Progress)) (json.RawMessage, error) {
			elements, err := c.List(session, ctx)
			if err != nil {
				return nil, err
			}
			return rawjson.Array(elements), nil
		},
	})
	if result.Err != nil {
		return nil, result.Err
	}
	return c.entries(session.Name, slices.Collect(rawjson.EachElement(result.Value)), filter), nil
}

// entries returns the entries for a server's definitions that the filter selects.
func (c Listing) entries(server string, definitions []json.RawMessage, filter toolset.Filter) []render.Entry {
	var entries []render.Entry
	for _, definition := range definitions {
		entry := c.Entry(definition)
		entry.Definition, entry.Name = definition, server+exec.Separator+entry.Plain
		if filter.Selects(server, []string{entry.Name, entry.Plain}, entry.Plain, entry.Title, entry.Description) {
			entries = append(entries, entry)
		}
	}
	return entries
}
