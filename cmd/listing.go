package cmd

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// listingOptions say what of a server's lists beside tools is shown, and how.
type listingOptions struct {
	patterns []string
	json     bool
	strict   bool
	server   []string // a command line after --
	answers  answerOptions
}

// listing is one kind of list that servers have.
type listing struct {
	noun   string // its plural ends in s
	member string // of the JSON output
	method string
	list   func(*servers.Session, context.Context) ([]json.RawMessage, error)
	entry  func(definition json.RawMessage) render.Entry
}

func newListingCommand(
	app *App, c listing, verb, short string, run func(context.Context, *App, listingOptions, listing) error,
) *cobra.Command {
	var o listingOptions
	cmd := &cobra.Command{
		Use:   verb + " [PATTERN…] [-- COMMAND…]",
		Short: short,
		Long: short + `, grouped by server. A PATTERN is a glob or a part of a name,
title or description. In a pipe each is a line of four fields with tabs between.

Exit codes: 0 when at least one server answered, 2 wrong usage, no server is
configured, or nothing fits, 4 when no server answered; with --strict when any did not.`,
		Args: withCommand(&o.server, func(args []string) error {
			o.patterns = args
			return checkPatterns(args)
		}),
		RunE: runs(app, &o, func(ctx context.Context, app *App, o listingOptions) error {
			return run(ctx, app, o, c)
		}, o.answers.check),
	}
	o.answers.declare(cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print full definitions as JSON, as the servers sent them")
	cmd.Flags().BoolVar(&o.strict, "strict", false, "fail when any server did not answer")
	return cmd
}

// checkPatterns refuses patterns that path.Match cannot read.
func checkPatterns(patterns []string) error {
	for _, pattern := range patterns {
		if _, err := path.Match(pattern, ""); err != nil {
			return fault.Usage("the pattern "+quote(pattern)+" is malformed", "quote [ and \\ in patterns: '\\['")
		}
	}
	return nil
}

// runListing opens every server, in parallel, and lists what they have.
func runListing(ctx context.Context, app *App, o listingOptions, c listing) error {
	box, err := app.toolbox(toolboxOptions{server: o.server, tellsFailures: true, answers: &o.answers})
	if err != nil {
		return err
	}
	if err := box.needServers(""); err != nil {
		return err
	}
	bounded, done := box.bounded(ctx, exec.TimeoutError{Tool: c.method, Request: true})
	defer done()
	opened, err := box.openServers(bounded, c.method, toolFilter{patterns: o.patterns})
	if err != nil {
		return err
	}
	catalogs := box.catalogs(bounded, opened, o.patterns, c)
	if ctx.Err() != nil {
		return &exec.InterruptedError{}
	}
	failure := listFailure(opened, o.strict)
	found := slices.ContainsFunc(catalogs, func(one render.Catalog) bool { return len(one.Entries) > 0 })
	if failure == nil && len(o.patterns) > 0 && !found {
		return noMatch(c.noun, o.patterns, "without a pattern, all are listed")
	}
	if o.json {
		err = render.CatalogsJSON(app.Console.Out, catalogs, c.member, app.outScreen())
	} else {
		// stderr has told of those that failed.
		catalogs = slices.DeleteFunc(catalogs, func(one render.Catalog) bool {
			return one.Err != nil || len(one.Entries) == 0 && len(o.patterns) > 0
		})
		err = render.Catalogs(app.Console.Out, catalogs, c.noun, c.noun+"s", app.outScreen())
	}
	if err != nil {
		return err
	}
	return failure
}

// catalogs lists all servers that answered, in parallel. It reports a list that fails, which counts as a server that
// did not answer.
func (b *toolbox) catalogs(
	ctx context.Context, opened []servers.Opened, patterns []string, c listing,
) []render.Catalog {
	catalogs := make([]render.Catalog, len(opened))
	var wait sync.WaitGroup
	for i := range opened {
		wait.Go(func() {
			one := render.Catalog{Server: opened[i].Server, Status: "ready"}
			if opened[i].Err == nil {
				one.Entries, opened[i].Err = b.catalogOf(ctx, opened[i].Session, patterns, c)
				opened[i].Err = b.masked(opened[i].Err)
				if opened[i].Err != nil && fault.KindOf(opened[i].Err) != fault.KindInterrupted {
					b.tell(opened[i].Err)
				}
			}
			if one.Err = opened[i].Err; one.Err != nil {
				one.Status = "failed"
			}
			catalogs[i] = one
		})
	}
	wait.Wait()
	return catalogs
}

// catalogOf returns what one server lists, as far as the patterns match.
func (b *toolbox) catalogOf(
	ctx context.Context, session *servers.Session, patterns []string, c listing,
) ([]render.Entry, error) {
	result := b.executor.Do(ctx, exec.Operation{
		Name: c.method, Server: session.Name, Method: c.method, Timeout: b.flags.timeout, MaxTime: b.flags.maxTime,
		Run: func(ctx context.Context, _ func(exec.Progress)) (json.RawMessage, error) {
			elements, err := c.list(session, ctx)
			if err != nil {
				return nil, err
			}
			return rawjson.Array(elements), nil
		},
	})
	if result.Err != nil {
		return nil, result.Err
	}
	var entries []render.Entry
	for definition := range rawjson.EachElement(result.Value) {
		entry := c.entry(definition)
		entry.Definition, entry.Name = definition, session.Name+exec.Separator+entry.Plain
		if fits(patterns, []string{entry.Name, entry.Plain}, entry.Name, entry.Title, entry.Description) {
			entries = append(entries, entry)
		}
	}
	return entries, nil
}

// fits reports whether a pattern matches one of the names as a glob, or is a part of one of the texts; it also does
// where there are no patterns.
func fits(patterns, names []string, texts ...string) bool {
	text := strings.ToLower(strings.Join(texts, "\n"))
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(pattern string) bool {
		glob := func(name string) bool { ok, _ := path.Match(pattern, name); return ok }
		return slices.ContainsFunc(names, glob) || strings.Contains(text, strings.ToLower(pattern))
	})
}
