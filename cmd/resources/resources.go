// Package resources has the commands for resources and prompts, and for any other request.
package resources

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
	"toolx/cmd/list"
	"toolx/cmd/request"
	"toolx/cmd/watch"
	"toolx/pkg/catalog"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/words"
)

// ResourceOptions are the resource to read, and how to print it.
type ResourceOptions struct {
	Requests *request.Sender

	request.ReplyFlags
	URI string
}

const resourceExits = `Exit codes: 0 success, 2 wrong usage, or no server has it, 3 authentication required, 4
the server could not be reached, 5 the server refused, 6 the server broke the protocol,
124 timeout, 130 interrupted.`

// New returns the command resources.
func New(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resources COMMAND",
		Short: "List, read, and watch resources",
		Long: `List, read and watch the resources of servers: files, records, images. Each has a URI;
a template describes many.

A server's name may precede the URI: server__URI. Otherwise the URI belongs to the only
server that has it.

` + resourceExits,
		Example: `  toolx resources list
  toolx resources read demo://resource/static/document/features.md -- npx -y @modelcontextprotocol/server-everything
  toolx resources templates --json | jq '.servers[].templates[].definition.uriTemplate'
  toolx resources subscribe files__file:///tmp/notes.txt`,
		Args: needsVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return needsVerb(cmd, nil) },
	}
	cmd.AddCommand(
		list.NewListing(f, resourceCatalog(), "List resources", list.RunListing),
		list.NewListing(f, templateCatalog(), "List resource templates", list.RunListing),
		list.NewListing(f, skillCatalog(), "List skills", list.RunListing),
		newResourceReadCommand(f, RunResourceRead),
		newResourceSubscribeCommand(f, watch.Run),
	)
	return cmd
}

// needsVerb returns the usage error for a verb without its subcommand.
func needsVerb(cmd *cobra.Command, args []string) error {
	verbs := []string{"list"} // the one that most users want
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

func resourceCatalog() list.Listing {
	return list.Listing{
		Noun: "resource", Verb: []string{"resources", "list"}, Kind: catalog.Resources,
		Member: "resources", Method: "resources/list",
		List: (*protocol.Session).Resources, Entry: resourceEntry("uri"),
	}
}

func templateCatalog() list.Listing {
	return list.Listing{
		Noun: "template", Verb: []string{"resources", "templates"}, Kind: catalog.Templates,
		Member: "templates", Method: "resources/templates/list",
		List: (*protocol.Session).ResourceTemplates, Entry: resourceEntry("uriTemplate"),
	}
}

// resourceEntry returns a function that shows a definition; uri is the member with its URI.
func resourceEntry(uri string) func(json.RawMessage) render.Entry {
	return func(definition json.RawMessage) render.Entry {
		return render.Entry{
			Plain: rawjson.GetText(definition, uri), Remark: rawjson.GetText(definition, "mimeType"),
			Title:       cmp.Or(rawjson.GetText(definition, "title"), rawjson.GetText(definition, "name")),
			Description: rawjson.GetText(definition, "description"),
		}
	}
}

func newResourceReadCommand(f *factory.Factory, run cli.RunFunc[ResourceOptions]) *cobra.Command {
	o := ResourceOptions{Requests: f.Requests}
	formats := []string{"text", "json", "raw"}
	cmd := &cobra.Command{
		Use:   "read URI [-- COMMAND…]",
		Short: "Print a resource",
		Long: `Print a resource on stdout: text unchanged, binary content by name only unless --save
writes it. -o raw prints the exact MCP result.

` + resourceExits,
		Example: `  toolx resources read files__file:///tmp/notes.txt
  toolx resources read demo://resource/dynamic/blob/1 --save . -- npx -y @modelcontextprotocol/server-everything`,
		Args: cli.WithCommand(&o.Server, func(args []string) error {
			if len(args) != 1 || args[0] == "" {
				return fault.Usage("exactly one resource URI is required",
					"toolx resources read URI; toolx resources list shows them")
			}
			o.URI = args[0]
			return nil
		}),
		ValidArgsFunction: complete.Named(f.Tools, catalog.Resources, catalog.Templates),
	}
	o.Declare(cmd.Flags(), formats...)
	o.DeclareContent(cmd.Flags())
	cmd.RunE = cli.Run(&o, run, o.Check(cmd.Flags(), formats...))
	return cmd
}

// RunResourceRead reads a resource and prints its content.
func RunResourceRead(ctx context.Context, o ResourceOptions) error {
	return o.Requests.Send(ctx, o.ReplyFlags, o.Request())
}

// Request returns the request to the server.
func (o ResourceOptions) Request() request.Request {
	return request.Request{
		Name: o.URI, What: "resource", Method: "resources/read",
		Kinds: []catalog.Kind{catalog.Resources, catalog.Templates},
		Kept:  func(list *catalog.List) bool { return keptResource(list, o.URI) },
		Has: func(ctx context.Context, session *protocol.Session) (bool, error) {
			return hasResource(ctx, session, o.URI)
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
func hasResource(ctx context.Context, session *protocol.Session, uri string) (bool, error) {
	resources, err := session.Resources(ctx)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(resources, func(one json.RawMessage) bool { return rawjson.GetText(one, "uri") == uri }) {
		return true, nil
	}
	templates, err := session.ResourceTemplates(ctx)
	return slices.ContainsFunc(templates, func(one json.RawMessage) bool {
		return protocol.TemplateMatches(rawjson.GetText(one, "uriTemplate"), uri)
	}), err
}

// keptResource is hasResource for an earlier list of a server.
func keptResource(list *catalog.List, uri string) bool {
	if list.Kind != catalog.Templates {
		return list.Find(uri) != nil
	}
	return slices.ContainsFunc(list.Entries, func(one catalog.Entry) bool {
		return protocol.TemplateMatches(one.Name, uri)
	})
}

func newResourceSubscribeCommand(f *factory.Factory, run cli.RunFunc[watch.Options]) *cobra.Command {
	o := watch.Options{Out: f.Out, Flags: f.Flags, Tools: f.Tools, Bus: f.Bus, UpdatesOnly: true}
	cmd := &cobra.Command{
		Use:   "subscribe URI… [-- COMMAND…]",
		Short: "Print a line when a resource changes",
		Long: `Subscribe to resources and print a line for each update, until Ctrl-C. A URI needs
its server's name (server__URI) if there are several servers. toolx watch
--resource prints other notifications too.

` + watch.WatchExits,
		Example: `  toolx resources subscribe files__file:///tmp/notes.txt
  toolx resources subscribe --count 1 --json demo://resource/dynamic/text/1 -- npx -y @modelcontextprotocol/server-everything`,
		Args: cli.WithCommand(&o.Command, func(args []string) error {
			if o.Resources = args; len(args) == 0 {
				return fault.Usage("a resource URI is required",
					"toolx resources subscribe URI; toolx resources list shows them")
			}
			return nil
		}),
		RunE:              cli.Run(&o, run, o.Check),
		ValidArgsFunction: complete.Named(f.Tools, catalog.Resources, catalog.Templates),
	}
	o.DeclareOutput(cmd.Flags())
	return cmd
}
