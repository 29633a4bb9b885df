package cmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolx/pkg/catalog"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/jsonschema"
	"toolx/pkg/render"
)

// searchOptions say what is searched for, and how it is shown.
type searchOptions struct {
	words  []string
	json   bool
	output string
	limit  int
	server []string // a command line after --
}

// noLimit stands for a --limit that was not given.
const noLimit = -1

// searchLimit is how many tools are shown on a terminal.
const searchLimit = 20

func newSearchCommand(app *App, run runFunc[searchOptions]) *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:   "search WORD… [-- COMMAND…]",
		Short: "Find tools in the catalogues, without starting a server",
		Long: `Find tools by their names, titles, descriptions and parameters, best first. A tool is
found if it has all words. Servers are not asked: what they listed last is searched,
those of other clients too, and toolx's own tools. In a pipe each tool is a line of
four fields with tabs between: name, signature, badges, description.

Exit codes: 0 when a tool was found, 2 wrong usage or config, or none was found.`,
		Example: `  toolx search thermostat
  toolx search list device -o names
  toolx search room --json | jq -r '.tools[].name'`,
		Args: withCommand(&o.server, func(args []string) error {
			for _, arg := range args {
				o.words = append(o.words, strings.Fields(strings.ToLower(arg))...)
			}
			if len(o.words) == 0 {
				return fault.Usage("name a word to look for", "toolx search WORD; toolx list shows all tools")
			}
			return nil
		}),
		RunE: runs(app, &o, run, func() error {
			if o.limit < 0 && o.limit != noLimit {
				return fault.Usage("--limit must not be negative", "--limit 10")
			}
			return oneOf("-o", o.output, "text", "json", "names")
		}),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.json, "json", false, "same as -o json")
	flags.StringVarP(&o.output, "output", "o", "text", "`FORMAT`: text, json, names (one a line)")
	flags.IntVar(&o.limit, "limit", noLimit, "show the best `N`; 0: all (default 20 on a terminal, else all)")
	flags.Lookup("limit").DefValue = "0" // the usage says more
	return cmd
}

// match is a tool that was found.
type match struct {
	tool *exec.Tool
	name string // that calls it
	rank int
	at   time.Time // when its server listed it; zero for toolx's own
}

// runSearch searches the catalogues, and prints what was found.
func runSearch(_ context.Context, app *App, o searchOptions) error {
	known, err := app.offline(o.server)
	if err != nil {
		return err
	}
	matches, missing := known.search(o.words)
	if len(missing) > 0 {
		app.log.Warn("no catalogue of " + strings.Join(missing, ", ") + "; toolx list makes one")
	}
	if len(matches) == 0 {
		hint := "a tool is found if it has all words; toolx list shows every tool"
		return noMatch("tool", o.words, hint)
	}
	limit := o.limit
	if limit == noLimit && app.Console.OutTTY && !o.json && o.output == "text" {
		limit = searchLimit
	}
	if limit > 0 && len(matches) > limit {
		app.log.Warn(fmt.Sprintf("%d more tools fit; --limit 0 shows all", len(matches)-limit))
		matches = matches[:limit]
	}
	found := make([]render.Found, len(matches))
	for i, one := range matches {
		found[i] = render.Found{Tool: one.tool, Name: one.name, Listed: one.at}
	}
	switch {
	case o.json || o.output == "json":
		return render.FoundJSON(app.Console.Out, found, app.outScreen())
	case o.output == "names":
		return printNames(app.Console.Out, found)
	}
	return render.FoundTools(app.Console.Out, found, app.outScreen())
}

func printNames(out io.Writer, found []render.Found) error {
	for _, one := range found {
		if _, err := fmt.Fprintln(out, render.Safe(one.Name)); err != nil {
			return err
		}
	}
	return nil
}

// search returns the tools that have all words, best first, and the servers that have no catalogue.
func (c *offline) search(words []string) (matches []match, missing []string) {
	take := func(tool *exec.Tool, name string, at time.Time) {
		subject := catalog.Subject{
			Name: tool.Plain, Qualified: name, Title: tool.Title, Description: tool.Description,
			Parameters: parameterNames(tool),
		}
		if rank := catalog.Rank(subject, words); rank > 0 {
			matches = append(matches, match{tool, name, rank, at})
		}
	}
	registry := c.local()
	seen := make(map[string]bool) // identities of entries: an import has two names
	for _, server := range c.servers() {
		seen[server.Identity()] = true
		tools, at, ok := keptTools(c.store, server)
		if !ok {
			missing = append(missing, server.Name)
		}
		registry.ReplaceServer(server.Name, tools...) // a built-in tool whose name they take has another name
		for _, tool := range tools {
			if tool.Denied() == nil {
				take(tool, tool.Name, at)
			}
		}
	}
	for _, server := range c.elsewhere() {
		if seen[server.Identity()] {
			continue
		}
		seen[server.Identity()] = true
		tools, at, _ := keptTools(c.store, server)
		for _, tool := range tools {
			if tool.Denied() == nil {
				take(tool, tool.Name, at)
			}
		}
	}
	for _, tool := range registry.All() {
		if name := registry.NameOf(tool); tool.Server == "" && name != "" && !c.chosen {
			take(tool, name, time.Time{})
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.name, b.name))
	})
	return matches, missing
}

// elsewhere returns other clients' servers, as CLIENT:SERVER; none where the command line says whose servers count.
func (c *offline) elsewhere() []*config.Server {
	if c.chosen || len(c.flags.config)+len(c.flags.from) > 0 {
		return nil
	}
	var others []*config.Server
	names := make(map[string]bool)
	for _, file := range config.ReadClients(config.Options{}, config.Clients()...) {
		for _, server := range file.Servers {
			if !names[server.Name] && !server.Disabled {
				others = append(others, server)
			}
			names[server.Name] = true // what comes later is shadowed
		}
	}
	return others
}

// parameterNames returns the names of a tool's parameters, nested ones too.
func parameterNames(tool *exec.Tool) []string {
	var names []string
	var add func(object *jsonschema.Node, level int)
	add = func(object *jsonschema.Node, level int) {
		for _, property := range object.Properties() {
			if names = append(names, property.Name); level < maxLevels && len(names) < maxParameters {
				add(property.Node, level+1)
			}
		}
	}
	add(jsonschema.Parse(tool.InputSchema).Root(), 1)
	return names
}
