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
	"toolx/pkg/words"
)

// catalogOptions say what of a server's lists beside tools is shown, and how.
type catalogOptions struct {
	patterns []string
	json     bool
	strict   bool
	server   []string // a command line behind --
	answers  answerOptions
}

// catalog is one kind of list that servers have.
type catalog struct {
	noun, plural string
	member       string // of the JSON output
	method       string
	list         func(*servers.Session, context.Context) ([]json.RawMessage, error)
	entry        func(definition json.RawMessage) render.Entry
}

// declareCatalog adds what all verbs that list share.
func (o *catalogOptions) declareCatalog(cmd *cobra.Command) {
	cmd.Args = func(cmd *cobra.Command, args []string) (err error) {
		if o.patterns, o.server, err = splitDash(cmd, args); err != nil {
			return err
		}
		if err := checkPatterns(o.patterns); err != nil {
			return err
		}
		return o.answers.check()
	}
	o.answers.declare(cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print full definitions as JSON, as the servers sent them")
	cmd.Flags().BoolVar(&o.strict, "strict", false, "fail when any server did not answer")
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

// runCatalog opens every server, in parallel, and lists what they have.
func runCatalog(ctx context.Context, app *App, o catalogOptions, c catalog) error {
	box, err := app.toolbox(toolboxOptions{server: o.server, tellsFailures: true, answers: &o.answers})
	if err != nil {
		return err
	}
	if err := box.needServers(); err != nil {
		return err
	}
	bounded, done := box.bounded(ctx, exec.TimeoutError{Tool: c.method, Request: true})
	defer done()
	names, searched := box.serversFor(toolFilter{patterns: o.patterns})
	opened, err := app.startServers(bounded, box, c.method, names, searched)
	if err != nil {
		return err
	}
	app.tellFailed(opened, searched)
	catalogs := app.catalogs(bounded, box, opened, o.patterns, c)
	if ctx.Err() != nil {
		return &exec.InterruptedError{}
	}
	failure := listFailure(opened, o.strict)
	if failure == nil && len(o.patterns) > 0 && !slices.ContainsFunc(catalogs, func(one render.Catalog) bool { return len(one.Entries) > 0 }) {
		return &noMatchError{what: c.noun, patterns: o.patterns, hint: "without a pattern, all are listed"}
	}
	if o.json {
		err = render.CatalogsJSON(app.Console.Out, catalogs, c.member, app.outScreen())
	} else {
		// stderr has told of those that failed.
		catalogs = slices.DeleteFunc(catalogs, func(one render.Catalog) bool {
			return one.Err != nil || len(one.Entries) == 0 && len(o.patterns) > 0
		})
		err = render.Catalogs(app.Console.Out, catalogs, c.noun, c.plural, app.outScreen())
	}
	if err != nil {
		return err
	}
	return failure
}

// catalogs lists all servers that answered, in parallel. A list that fails counts as
// a server that did not answer, and is told.
func (a *App) catalogs(ctx context.Context, box *toolbox, opened []servers.Opened, patterns []string, c catalog) []render.Catalog {
	catalogs := make([]render.Catalog, len(opened))
	var wait sync.WaitGroup
	for i := range opened {
		wait.Go(func() {
			catalogs[i] = render.Catalog{Server: opened[i].Server, Status: "ready"}
			if opened[i].Err == nil {
				catalogs[i].Entries, opened[i].Err = a.catalogOf(ctx, box, opened[i].Session, patterns, c)
				opened[i].Err = a.masked(opened[i].Err)
				if opened[i].Err != nil && fault.KindOf(opened[i].Err) != fault.KindInterrupted {
					a.tell(opened[i].Err)
				}
			}
			if catalogs[i].Err = opened[i].Err; catalogs[i].Err != nil {
				catalogs[i].Status = "failed"
			}
		})
	}
	wait.Wait()
	return catalogs
}

func (a *App) catalogOf(ctx context.Context, box *toolbox, session *servers.Session, patterns []string, c catalog) ([]render.Entry, error) {
	result := box.executor.Do(ctx, exec.Operation{
		Name: c.method, Server: session.Name, Method: c.method, Timeout: a.flags.timeout, MaxTime: a.flags.maxTime,
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
	elements, _ := rawjson.Elements(result.Value)
	var entries []render.Entry
	for _, definition := range elements {
		entry := c.entry(definition)
		entry.Definition, entry.Name = definition, session.Name+exec.Separator+entry.Plain
		if entryMatches(entry, patterns) {
			entries = append(entries, entry)
		}
	}
	return entries, nil
}

// entryMatches reports whether an entry matches one of the patterns, or there are none, by the rules that tools have.
func entryMatches(entry render.Entry, patterns []string) bool {
	if len(patterns) == 0 {
		return true
	}
	text := strings.ToLower(strings.Join([]string{entry.Name, entry.Title, entry.Description}, "\n"))
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		for _, name := range []string{entry.Name, entry.Plain} {
			if ok, _ := path.Match(pattern, name); ok {
				return true
			}
		}
		return strings.Contains(text, strings.ToLower(pattern))
	})
}

// completeNamed completes what servers list, behind "server__"; before that the servers.
func completeNamed(app *App, c catalog) cobra.CompletionFunc {
	return completeQualified(app, c.plural, func(ctx context.Context, box *toolbox, server, typed string) []cobra.Completion {
		if server == "" {
			return nil
		}
		session, err := box.pool.Open(ctx, server)
		if err != nil { // what cannot be opened cannot be completed; the verb will say why
			return nil
		}
		var names []cobra.Completion
		definitions, _ := c.list(session, ctx)
		for _, definition := range definitions {
			entry := c.entry(definition)
			if name := server + exec.Separator + entry.Plain; strings.HasPrefix(name, typed) {
				names = append(names, cobra.CompletionWithDesc(name, words.FirstLine(entry.Description)))
			}
		}
		return names
	})
}
