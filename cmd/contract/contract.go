// Package contract has toolx snapshot and toolx diff, which show how what servers offer changes.
package contract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/exit"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/contract"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers/protocol"
)

// reportFlags say how changes are printed, and which of them fail.
type reportFlags struct {
	failOn   string
	json     bool
	markdown bool
}

func (o *reportFlags) declare(cmd *cobra.Command, failOn string) {
	flags := cmd.Flags()
	flags.StringVar(&o.failOn, "fail-on", failOn, "exit with 6 on `CHANGES`: breaking, any, none")
	flags.BoolVar(&o.json, "json", false, "print the changes as JSON")
	flags.BoolVar(&o.markdown, "markdown", false, "print the changes as Markdown, for a pull request")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown")
}

func (o *reportFlags) check() error {
	return cli.OneOf("--fail-on", o.failOn, "breaking", "any", "none")
}

// print prints changes on stdout, and how tools exceed a budget; over is nil if they do not. The error sets the exit
// code if that counts as a failure.
func (o *reportFlags) print(out *streams.Streams, all []contract.Difference, over *contract.Overrun) error {
	var count [jsonschema.Breaking + 1]int
	total := 0
	for _, d := range all {
		total += len(d.Changes)
		for _, change := range d.Changes {
			count[change.Effect]++
		}
	}
	var err error
	switch {
	case o.json:
		err = out.PrintJSON(struct {
			Schema     int                   `json:"schema"`
			Breaking   int                   `json:"breaking"`
			Compatible int                   `json:"compatible"`
			Cosmetic   int                   `json:"cosmetic"`
			Servers    []contract.Difference `json:"servers"`
			Budget     *contract.Overrun     `json:"budget,omitempty"`
		}{1, count[jsonschema.Breaking], count[jsonschema.Compatible], count[jsonschema.Cosmetic], all, over})
	case o.markdown:
		err = render.ChangesMarkdown(out.Console.Out, all)
		if over != nil { // as a block of code
			text := over.Error() + ": " + strings.Join(over.Exceeded, "; ")
			fmt.Fprintf(out.Console.Out, "\n    %s\n", render.Safe(text))
		}
	default:
		err = render.Changes(out.Console.Out, all, out.OutScreen())
	}
	if err != nil {
		return err
	}
	switch overBudget := exit.Fail(over, fault.KindProtocol, ""); {
	case over != nil && o.json:
		return exit.Reported(overBudget)
	case over != nil:
		return overBudget
	}
	if o.failOn == "any" && total > 0 || o.failOn == "breaking" && count[jsonschema.Breaking] > 0 {
		return exit.Reported(exit.Fail(errors.New("a contract changed"), fault.KindProtocol, ""))
	}
	return nil
}

// take opens servers and takes a snapshot of each. All must answer. versions adds the servers' own names and versions.
func take(ctx context.Context, b *toolset.Set, names []string, versions bool) (contract.Set, error) {
	for _, server := range b.Config().Servers {
		server.Guards = nil // a snapshot has all tools
	}
	bounded, done := b.Bounded(ctx, exec.TimeoutError{Tool: "snapshot", Request: true})
	defer done()
	opened, err := b.OpenForTools(bounded, "snapshot", toolset.Filter{Servers: names})
	if err != nil {
		return nil, err
	}
	if err := toolset.ListFailure(opened, true); err != nil {
		return nil, err
	}
	taken := make([]*contract.Snapshot, len(opened))
	var wait sync.WaitGroup
	for i := range opened {
		wait.Go(func() { taken[i], opened[i].Err = takeOne(bounded, b, opened[i].Session, versions) })
	}
	wait.Wait()
	toolset.ReportFailed(b.Out, opened, false)
	set := make(contract.Set)
	for i, one := range opened {
		set[one.Server] = taken[i]
	}
	return set, toolset.ListFailure(opened, true)
}

// takeOne takes the snapshot of one server. It asks only for lists that the server declares.
func takeOne(
	ctx context.Context, b *toolset.Set, session *protocol.Session, versions bool,
) (*contract.Snapshot, error) {
	declared := session.Capabilities
	capabilities, err := rawjson.Marshal(declared)
	if err != nil {
		return nil, err
	}
	s := &contract.Snapshot{About: &contract.About{
		Protocol: session.Protocol, Instructions: session.Instructions, Capabilities: capabilities,
	}}
	if versions {
		s.About.Name, s.About.Version = session.Info.Name, session.Info.Version
	}
	var tools []json.RawMessage
	for _, tool := range session.Tools() {
		tools = append(tools, tool.Definition)
	}
	s.Add(contract.Tool, contract.NewDefinitions(contract.Tool, tools))
	for _, list := range []struct {
		kind     contract.Kind
		method   string
		declared bool
		list     func(context.Context) ([]json.RawMessage, error)
	}{
		{contract.Prompt, "prompts/list", declared.Prompts != nil, session.Prompts},
		{contract.Resource, "resources/list", declared.Resources != nil, session.Resources},
		{contract.Template, "resources/templates/list", declared.Resources != nil, session.ResourceTemplates},
	} {
		var elements []json.RawMessage
		if list.declared {
			result := b.Executor.Do(ctx, exec.Operation{
				Name: list.method, Server: session.Name, Method: list.method,
				Timeout: b.Flags.Timeout, MaxTime: b.Flags.MaxTime,
				Run: func(ctx context.Context, _ func(exec.Progress)) (json.RawMessage, error) {
					elements, err := list.list(ctx)
					return rawjson.Array(elements), err
				},
			})
			if result.Err != nil {
				return nil, b.Out.Masked(result.Err)
			}
			elements = slices.Collect(rawjson.EachElement(result.Value))
		}
		s.Add(list.kind, contract.NewDefinitions(list.kind, elements))
	}
	return s, nil
}

// usage returns the error about a snapshot that cannot be used.
func usage(err error, fix string) error { return exit.Fail(err, fault.KindUsage, fix) }
