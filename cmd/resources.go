package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/factory"
	"toolx/cmd/request"
	"toolx/pkg/catalog"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers"
	"toolx/pkg/words"
)

// resourceOptions say which resource is read.
type resourceOptions struct {
	Requests *request.Sender

	request.ReplyFlags
	uri string
}

const resourceExits = `Exit codes: 0 success, 2 wrong usage or no server has it, 3 authentication, 4 the
server was not reached, 5 the server refused, 6 the protocol was broken, 124 timeout,
130 interrupted.`

func newResourcesCommand(f *factory.Factory) *cobra.Command {
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
		newListingCommand(f, resourceCatalog(), "List the resources of all servers", runListing),
		newListingCommand(f, templateCatalog(), "List the templates of all servers", runListing),
		newResourceReadCommand(f, runResourceRead),
		newResourceSubscribeCommand(f, runWatch),
	)
	return cmd
}

// needsVerb returns the usage error of a verb that only has verbs of its own.
func needsVerb(cmd *cobra.Command, args []string) error {
	verbs := []string{"list"} // which is what most users want
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "list" {
			verbs = append(verbs, sub.Name())
		}
	}
	path, missing := cmd.CommandPath(), "say what to do with "+cmd.Name()
	switch {
	case cmd.ArgsLenAtDash() == 0:
		return fault.Usage(missing, fmt.Sprintf("%s %s -- %s", path, verbs[0], exec.ShellLine(args...)))
	case len(args) == 0:
		return fault.Usage(missing, fmt.Sprintf("%s %s; --help shows more", path, strings.Join(verbs, "|")))
	}
	fix := fmt.Sprintf("%s %s; --help shows more", path, strings.Join(verbs, "|"))
	if near := words.Nearest(args[0], verbs); near != "" {
		fix = "did you mean: " + path + " " + near
	}
	return fault.Usage(fmt.Sprintf("unknown command %q", cmd.Name()+" "+args[0]), fix)
}

func resourceCatalog() listing {
	return listing{
		noun: "resource", verb: []string{"resources", "list"}, kind: catalog.Resources,
		member: "resources", method: "resources/list",
		list: (*servers.Session).Resources, entry: resourceEntry("uri"),
	}
}

func templateCatalog() listing {
	return listing{
		noun: "template", verb: []string{"resources", "templates"}, kind: catalog.Templates,
		member: "templates", method: "resources/templates/list",
		list: (*servers.Session).ResourceTemplates, entry: resourceEntry("uriTemplate"),
	}
}

// resourceEntry returns what shows a definition; uri is the member with its URI.
func resourceEntry(uri string) func(json.RawMessage) render.Entry {
	return func(definition json.RawMessage) render.Entry {
		return render.Entry{
			Plain: rawjson.GetText(definition, uri), Remark: rawjson.GetText(definition, "mimeType"),
			Title:       cmp.Or(rawjson.GetText(definition, "title"), rawjson.GetText(definition, "name")),
			Description: rawjson.GetText(definition, "description"),
		}
	}
}

func newResourceReadCommand(f *factory.Factory, run cli.RunFunc[resourceOptions]) *cobra.Command {
	o := resourceOptions{Requests: f.Requests}
	formats := []string{"text", "json", "raw"}
	cmd := &cobra.Command{
		Use:   "read URI [-- COMMAND…]",
		Short: "Print the content of a resource",
		Long: `Print the content of a resource on stdout: text as it is, bytes by their name only
unless --save writes them. -o raw prints the exact MCP result.

` + resourceExits,
		Example: `  toolx resources read files__file:///tmp/notes.txt
  toolx resources read demo://resource/dynamic/blob/1 --save . -- npx -y @modelcontextprotocol/server-everything`,
		Args: cli.WithCommand(&o.Server, func(args []string) error {
			if len(args) != 1 || args[0] == "" {
				return fault.Usage("name one resource by its URI",
					"toolx resources read URI; toolx resources list shows them")
			}
			o.uri = args[0]
			return nil
		}),
		ValidArgsFunction: complete.Named(f.Tools, catalog.Resources, catalog.Templates),
	}
	o.Declare(cmd.Flags(), formats...)
	o.DeclareContent(cmd.Flags())
	cmd.RunE = cli.Run(&o, run, o.Check(cmd.Flags(), formats...))
	return cmd
}

// runResourceRead reads a resource and prints its contents.
func runResourceRead(ctx context.Context, o resourceOptions) error {
	return o.Requests.Send(ctx, o.ReplyFlags, o.request())
}

// request returns what is asked of the server.
func (o resourceOptions) request() request.Request {
	return request.Request{
		Name: o.uri, What: "resource", Method: "resources/read",
		Kinds: []catalog.Kind{catalog.Resources, catalog.Templates},
		Kept:  func(list *catalog.List) bool { return keptResource(list, o.uri) },
		Has: func(ctx context.Context, session *servers.Session) (bool, error) {
			return hasResource(ctx, session, o.uri)
		},
		Prepare: func(_ context.Context, to request.Target) (json.RawMessage, error) {
			return rawjson.Marshal(map[string]string{"uri": to.Plain})
		},
		Send: func(ctx context.Context, to request.Target) (json.RawMessage, error) {
			return to.Session.ReadResource(ctx, to.Plain, to.Progress)
		},
		Read: exec.ReadContents,
	}
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

// keptResource is hasResource for one of the lists that a server gave earlier.
func keptResource(list *catalog.List, uri string) bool {
	if list.Kind != catalog.Templates {
		return list.Find(uri) != nil
	}
	return slices.ContainsFunc(list.Entries, func(one catalog.Entry) bool {
		return servers.TemplateMatches(one.Name, uri)
	})
}

func newResourceSubscribeCommand(f *factory.Factory, run cli.RunFunc[watchOptions]) *cobra.Command {
	o := watchOptions{Out: f.Out, Flags: f.Flags, Tools: f.Tools, Bus: f.Bus, updatesOnly: true}
	cmd := &cobra.Command{
		Use:   "subscribe URI… [-- COMMAND…]",
		Short: "Tell when resources change",
		Long: `Subscribe to resources and print a line for each update, until Ctrl-C. A URI needs
its server's name (server__URI) where there are several servers. toolx watch
--resource prints other notifications too.

` + watchExits,
		Example: `  toolx resources subscribe files__file:///tmp/notes.txt
  toolx resources subscribe --count 1 --json demo://resource/dynamic/text/1 -- npx -y @modelcontextprotocol/server-everything`,
		Args: cli.WithCommand(&o.command, func(args []string) error {
			if o.resources = args; len(args) == 0 {
				return fault.Usage("name a resource by its URI",
					"toolx resources subscribe URI; toolx resources list shows them")
			}
			return nil
		}),
		RunE:              cli.Run(&o, run, o.check),
		ValidArgsFunction: complete.Named(f.Tools, catalog.Resources, catalog.Templates),
	}
	o.declareOutput(cmd.Flags())
	return cmd
}
