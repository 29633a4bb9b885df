package resources

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/factory"
	"toolx/cmd/request"
	"toolx/cmd/streams"
	"toolx/pkg/catalog"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers/protocol"
)

// completeOptions say which argument a server should complete. Package complete has the completion of toolx's own
// command line.
type completeOptions struct {
	Out      *streams.Streams
	Requests *request.Sender

	request.ReplyFlags
	ref             string // a prompt's name, or a template of resources
	kind            string // --ref: "prompt", "resource", or empty to detect it
	argument, value string
	known           map[string]string
}

// NewComplete returns the command complete; run runs it.
func NewComplete(f *factory.Factory, run cli.RunFunc[completeOptions]) *cobra.Command {
	o := completeOptions{Out: f.Out, Requests: f.Requests}
	formats := []string{"text", "json", "raw"}
	cmd := &cobra.Command{
		Use:   "complete REF ARG=TYPED [k=v…] [-- COMMAND…]",
		Short: "Complete an argument of a prompt or resource",
		Long: `Print a server's suggestions for an argument, one per line. REF is a prompt's name or a
resource template (file:///{path}), after its server's name if several have it.
ARG=TYPED is the argument and its text so far; k=v are other arguments that the server
may use.

` + promptExits,
		Example: `  toolx complete completable-prompt department=E -- npx -y @modelcontextprotocol/server-everything
  toolx complete completable-prompt name= department=Sales -- npx -y @modelcontextprotocol/server-everything
  toolx complete 'demo://resource/dynamic/text/{resourceId}' resourceId=1`,
		Args:              cli.WithCommand(&o.Server, o.take),
		ValidArgsFunction: complete.Reference(f.Tools),
	}
	cmd.Flags().StringVar(&o.kind, "ref", "", "`KIND` of REF: prompt, resource (default: detected)")
	o.Declare(cmd.Flags(), formats...)
	checkKind := func() error { return cli.OneOf("--ref", o.kind, "", "prompt", "resource") }
	cmd.RunE = cli.Run(&o, run, checkKind, o.Check(cmd.Flags(), formats...))
	return cmd
}

// take reads REF ARG=TYPED k=v….
func (o *completeOptions) take(args []string) error {
	if len(args) < 2 || args[0] == "" {
		return fault.Usage("a prompt or template, and the argument to complete, are required",
			"toolx complete PROMPT ARG=TYPED")
	}
	o.ref = args[0]
	for i, arg := range args[1:] {
		name, value, found := strings.Cut(arg, "=")
		switch {
		case name == "" || !found && i > 0:
			return fault.Usage("the argument "+strconv.Quote(arg)+" has no name or no value",
				"toolx complete PROMPT ARG=TYPED k=v")
		case found && strings.HasSuffix(name, ":"):
			return fault.Usage("arguments to complete are text, and "+strconv.Quote(arg)+" is JSON",
				"write "+strings.TrimSuffix(name, ":")+"=TYPED")
		case i == 0:
			o.argument, o.value = name, value
		default:
			if o.known == nil {
				o.known = make(map[string]string)
			}
			o.known[name] = value
		}
	}
	return nil
}

// template reports whether REF is a template: templates have URIs, prompts have names.
func (o completeOptions) template() bool {
	return o.kind == "resource" || o.kind == "" && strings.ContainsAny(o.ref, "{:")
}

// RunComplete requests values and prints them.
func RunComplete(ctx context.Context, o completeOptions) error {
	what, c, member := "prompt", promptCatalog(), "name"
	if o.template() {
		what, c, member = "resource", templateCatalog(), "uriTemplate"
	}
	return o.Requests.Send(ctx, o.ReplyFlags, request.Request{
		Name: o.ref, What: what, Method: "completion/complete",
		Kinds: []catalog.Kind{c.Kind},
		Kept:  func(list *catalog.List) bool { return list.Find(o.ref) != nil },
		Has: func(ctx context.Context, session *protocol.Session) (bool, error) {
			listed, err := c.List(session, ctx)
			named := func(one json.RawMessage) bool { return rawjson.GetText(one, member) == o.ref }
			return slices.ContainsFunc(listed, named), err
		},
		Prepare: func(context.Context, request.Target) (json.RawMessage, error) {
			return rawjson.Marshal(map[string]string{o.argument: o.value})
		},
		Send: func(ctx context.Context, to request.Target) (json.RawMessage, error) {
			ref := protocol.Reference{Prompt: to.Plain}
			if o.template() {
				ref = protocol.Reference{Template: to.Plain}
			}
			return to.Session.Complete(ctx, ref, o.argument, o.value, o.known)
		},
		Read: readCompletion,
		Text: func(to io.Writer, result *exec.Result) error { return printValues(o.Out, to, result) },
	})
}

// readCompletion returns the completion in a CompleteResult.
func readCompletion(reply json.RawMessage) (exec.Parts, error) {
	completion := rawjson.Get(reply, "completion")
	if _, ok := rawjson.Elements(rawjson.Get(completion, "values")); !ok {
		return exec.Parts{}, errors.New("completion.values is not an array")
	}
	return exec.Parts{Value: completion}, nil
}

// printValues writes the values of a completion, and warns if the server has more.
func printValues(o *streams.Streams, out io.Writer, result *exec.Result) error {
	var completion struct {
		Values  []string `json:"values"`
		Total   int      `json:"total"`
		HasMore bool     `json:"hasMore"`
	}
	if err := json.Unmarshal(result.Value, &completion); err != nil {
		return &exec.MalformedError{What: "the reply to completion/complete", Reason: err}
	}
	for _, value := range completion.Values {
		if _, err := fmt.Fprintln(out, render.Safe(value)); err != nil {
			return err
		}
	}
	if completion.HasMore || completion.Total > len(completion.Values) {
		o.Log.Warn(fmt.Sprintf("the server has more values than these %d", len(completion.Values)))
	}
	return nil
}
