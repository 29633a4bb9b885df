package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers"
	"toolx/pkg/words"
)

// resourceOptions say which resource is read.
type resourceOptions struct {
	replyOptions
	uri string
}

const resourceExits = `Exit codes: 0 success, 2 wrong usage or no server has it, 3 authentication, 4 the
server was not reached, 5 the server refused, 6 the protocol was broken, 124 timeout,
130 interrupted.`

// newResourcesCommand makes the verb; its parts are verbs of their own.
func newResourcesCommand(app *App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resources VERB",
		Short: "List, read and watch the resources of servers",
		Long: `Resources are what servers have to read: files, records, pictures. Each has a URI;
a template stands for many.

A URI may have its server's name before it: server__URI. Without one it is that of
the only server that has it.

` + resourceExits,
		Example: `  toolx resources list
  toolx resources read demo://resource/static/document/features.md -- npx -y @modelcontextprotocol/server-everything
  toolx resources templates --json | jq '.servers[].templates[].definition.uriTemplate'
  toolx resources subscribe files__file:///tmp/notes.txt`,
		Args: needsVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return needsVerb(cmd, nil) },
	}
	cmd.AddCommand(
		newCatalogCommand(app, resourceCatalog(), "list [PATTERN…] [-- COMMAND…]", "List the resources of all servers", runCatalog),
		newCatalogCommand(app, templateCatalog(), "templates [PATTERN…] [-- COMMAND…]", "List the templates of resources of all servers", runCatalog),
		newResourceReadCommand(app, runResourceRead),
		newResourceSubscribeCommand(app, runWatch),
	)
	return cmd
}

// needsVerb is the usage error of a verb that only has verbs of its own.
func needsVerb(cmd *cobra.Command, args []string) error {
	var verbs []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			verbs = append(verbs, sub.Name())
		}
	}
	if at := slices.Index(verbs, "list"); at > 0 { // what is wanted most often
		verbs = slices.Insert(slices.Delete(verbs, at, at+1), 0, "list")
	}
	fix := fmt.Sprintf("%s %s; --help shows more", cmd.CommandPath(), strings.Join(verbs, "|"))
	if cmd.ArgsLenAtDash() == 0 { // all there is is a server
		return fault.Usage("say what to do with "+cmd.Name(),
			fmt.Sprintf("%s %s -- %s", cmd.CommandPath(), verbs[0], exec.ShellLine(args...)))
	}
	if len(args) > 0 {
		if near := words.Nearest(args[0], verbs); near != "" {
			fix = "did you mean: " + cmd.CommandPath() + " " + near
		}
		return fault.Usage(fmt.Sprintf("unknown command %q", cmd.Name()+" "+args[0]), fix)
	}
	return fault.Usage("say what to do with "+cmd.Name(), fix)
}

func newCatalogCommand(
	app *App, c catalog, use, short string, run func(context.Context, *App, catalogOptions, catalog) error,
) *cobra.Command {
	var o catalogOptions
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Long: short + `, grouped by server. A PATTERN is a glob or a part of a name,
title or description. In a pipe each is a line of four fields with tabs between them.

Exit codes: 0 when at least one server answered, 2 wrong usage, no server is
configured, or nothing fits, 4 when no server answered; with --strict when any did not.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), app, o, c) },
	}
	o.declareCatalog(cmd)
	return cmd
}

func resourceCatalog() catalog {
	return catalog{
		noun: "resource", plural: "resources", member: "resources", method: "resources/list",
		list: (*servers.Session).Resources,
		entry: func(definition json.RawMessage) render.Entry {
			return resourceEntry(definition, rawjson.GetText(definition, "uri"))
		},
	}
}

func templateCatalog() catalog {
	return catalog{
		noun: "template", plural: "templates", member: "templates", method: "resources/templates/list",
		list: (*servers.Session).ResourceTemplates,
		entry: func(definition json.RawMessage) render.Entry {
			return resourceEntry(definition, rawjson.GetText(definition, "uriTemplate"))
		},
	}
}

func resourceEntry(definition json.RawMessage, uri string) render.Entry {
	return render.Entry{
		Plain: uri, Remark: rawjson.GetText(definition, "mimeType"),
		Title:       cmp.Or(rawjson.GetText(definition, "title"), rawjson.GetText(definition, "name")),
		Description: rawjson.GetText(definition, "description"),
	}
}

func newResourceReadCommand(app *App, run func(context.Context, *App, resourceOptions) error) *cobra.Command {
	var o resourceOptions
	formats := []string{"text", "json", "raw", "yaml"}
	cmd := &cobra.Command{
		Use:   "read URI [-- COMMAND…]",
		Short: "Print the content of a resource",
		Long: `Print the content of a resource on stdout: text as it is, bytes by their name only
unless --save writes them. -o raw prints the exact MCP result.

` + resourceExits,
		Example: `  toolx resources read files__file:///tmp/notes.txt
  toolx resources read demo://resource/dynamic/blob/1 --save . -- npx -y @modelcontextprotocol/server-everything`,
		Args: func(cmd *cobra.Command, args []string) (err error) {
			if args, o.server, err = splitDash(cmd, args); err != nil {
				return err
			}
			if len(args) != 1 || args[0] == "" {
				return fault.Usage("name one resource by its URI",
					"toolx resources read URI; toolx resources list shows them")
			}
			o.uri = args[0]
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd.Flags(), formats...); err != nil {
				return err
			}
			return run(cmd.Context(), app, o)
		},
		ValidArgsFunction: completeNamed(app, resourceCatalog()),
	}
	o.declare(cmd.Flags(), formats...)
	o.declareContent(cmd.Flags())
	return cmd
}

// runResourceRead reads a resource and prints its contents.
func runResourceRead(ctx context.Context, app *App, o resourceOptions) error {
	return app.runRequest(ctx, o.replyOptions, request{
		name: o.uri, what: "resource", method: "resources/read",
		has: func(ctx context.Context, session *servers.Session) (bool, error) {
			return hasResource(ctx, session, o.uri)
		},
		prepare: func(_ context.Context, _ *toolbox, _ *servers.Session, uri string) (json.RawMessage, error) {
			return rawjson.Marshal(map[string]string{"uri": uri})
		},
		send: func(ctx context.Context, session *servers.Session, uri string, _ json.RawMessage, progress func(exec.Progress)) (json.RawMessage, error) {
			return session.ReadResource(ctx, uri, progress)
		},
		read: exec.ReadContents,
	})
}

// hasResource reports whether a server lists a resource, or has a template for it.
func hasResource(ctx context.Context, session *servers.Session, uri string) (bool, error) {
	resources, err := session.Resources(ctx)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(resources, func(one json.RawMessage) bool { return rawjson.GetText(one, "uri") == uri }) {
		return true, nil
	}
	templates, err := session.ResourceTemplates(ctx)
	return slices.ContainsFunc(templates, func(one json.RawMessage) bool {
		return servers.TemplateMatches(rawjson.GetText(one, "uriTemplate"), uri)
	}), err
}

func newResourceSubscribeCommand(app *App, run func(context.Context, *App, watchOptions) error) *cobra.Command {
	var o watchOptions
	cmd := &cobra.Command{
		Use:   "subscribe URI… [-- COMMAND…]",
		Short: "Tell when resources change",
		Long: `Subscribe to resources and print a line for each update, until Ctrl-C. A URI needs
its server's name (server__URI) where there are several servers. It is toolx watch,
for resources alone.

` + watchExits,
		Example: `  toolx resources subscribe files__file:///tmp/notes.txt
  toolx resources subscribe --count 1 --json demo://resource/dynamic/text/1 -- npx -y @modelcontextprotocol/server-everything`,
		Args: func(cmd *cobra.Command, args []string) (err error) {
			if o.resources, o.command, err = splitDash(cmd, args); err == nil && len(o.resources) == 0 {
				err = fault.Usage("name a resource by its URI",
					"toolx resources subscribe URI; toolx resources list shows them")
			}
			return err
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.updatesOnly = true
			if err := o.check(); err != nil {
				return err
			}
			return run(cmd.Context(), app, o)
		},
		ValidArgsFunction: completeNamed(app, resourceCatalog()),
	}
	o.declareOutput(cmd.Flags())
	return cmd
}
