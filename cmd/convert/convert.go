// Package convert has toolx convert, which converts tool definitions between formats.
package convert

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/correct"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/catalog"
	"toolx/pkg/config"
	"toolx/pkg/convert"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// Options are the tools to convert, the format, and how to report losses.
type Options struct {
	Out       *streams.Streams
	Flags     *cli.Flags
	Tools     *toolset.Opener
	Corrector *correct.Corrector
	Line      *cli.CommandLine

	format   string
	from     string
	file     string // "-" is standard input; empty: the tools of servers and config
	patterns []string
	names    string
	report   string
	strict   bool
	tokens   bool
	output   string
	server   []string // a command line after --
}

// New returns the command convert; run runs it.
func New(f *factory.Factory, run cli.RunFunc[Options]) *cobra.Command {
	o := Options{Out: f.Out, Flags: f.Flags, Tools: f.Tools, Corrector: f.Corrector, Line: f.Line}
	asJSON := false
	cmd := &cobra.Command{
		Use:   "convert --format F [FILE|-] [PATTERN…] [-- COMMAND…]",
		Short: "Convert tool definitions between formats",
		Long: `Convert tool definitions to the format of a provider's API. Losses, which are what the
format cannot express, are reported on stderr, one per line.

Tools come from a FILE, from standard input (- or a pipe), or otherwise from all
configured servers and the config. toolx detects the format of a FILE. A PATTERN is a
server's name, a glob, or part of a name or description, as for list.

` + cli.WrapHelp("Formats: "+convert.Join(convert.Formats())+".") + `

Exit codes: 0 success, 2 wrong usage, unreadable input, no tool that the format can
express, or a loss with --strict, 4 no server responded.`,
		Example: `  toolx convert --format qwen
  toolx convert --format gemini tools.json --strict
  toolx convert --format anthropic 'zwave__*' --names names.json > tools.json
  toolx convert --format openai --tokens -- npx -y @modelcontextprotocol/server-everything`,
		Args: cli.WithCommand(&o.server, func(args []string) (err error) {
			o.file, o.patterns, err = splitFile(args)
			return err
		}),
		ValidArgsFunction: complete.Files(), // it does not complete patterns, which are seldom typed in full
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.format, "format", "f", "", "the `FORMAT` to convert to")
	flags.StringVar(&o.format, "to", "", "same as --format: the `FORMAT` to convert to")
	flags.BoolVar(&asJSON, "json", false, "same as -o json")
	flags.StringVar(&o.from, "from", "", "`FORMAT` of FILE, if toolx cannot detect it")
	flags.StringVar(&o.names, "names", "", "write a JSON map of converted names to servers' tools to `FILE`")
	flags.StringVar(&o.report, "report", "text", "`FORM` of the reported losses: text, json")
	flags.BoolVar(&o.strict, "strict", false,
		"print nothing and fail if anything was lost that a model would see (titles and annotations do not count)")
	flags.BoolVar(&o.tokens, "tokens", false, "print how many tokens each tool costs (an estimate)")
	flags.StringVarP(&o.output, "output", "o", "", "`FORM` of the output: json (default), jsonl (one tool per line)")
	cmd.RunE = cli.Run(&o, run, func() error {
		if asJSON {
			o.output = "json"
		}
		return o.check(f.Flags.Servers)
	})
	return cmd
}

// check refuses invalid options before anything happens; servers are those of --server.
func (o *Options) check(servers []string) error {
	if o.format == "" {
		return fault.Usage("the target format is required",
			"toolx convert --format qwen; one of "+convert.Join(convert.Formats()))
	}
	for _, name := range []string{o.format, o.from} {
		_, err := convert.ParseFormat(name)
		switch {
		case err == nil || name == "":
		case config.ClientNamed(name) != nil:
			fix := exec.PasteLine("toolx", "list", "--from", name, "--json") + " | toolx convert --format " + o.format
			if name == o.format {
				fix = "toolx servers export NAME --to " + name + " writes a server for it"
			}
			return fault.Usage(strconv.Quote(name)+" is a client, not a format of tools", fix)
		default:
			return exit.Usage(err)
		}
	}
	if err := cli.OneOf("--report", o.report, "text", "json"); err != nil {
		return err
	}
	if err := cli.OneOf("-o", o.output, "", "json", "jsonl"); err != nil {
		return err
	}
	if o.tokens && o.output == "jsonl" {
		return fault.Usage("--tokens cannot print jsonl", "-o json")
	}
	if o.names == "-" {
		return fault.Usage("--names cannot write to standard output, which has the tools", "--names names.json")
	}
	if o.file != "" && (len(o.server) > 0 || len(servers) > 0) {
		return fault.Usage("tools come from "+o.file+" or from a server, not from both", "leave one of them out")
	}
	return nil
}

// splitFile separates the input from the patterns. The input is "-", an existing file, or an argument that looks like a
// file name and cannot be a tool's name.
func splitFile(args []string) (file string, patterns []string, err error) {
	if len(args) == 0 {
		return "", nil, nil
	}
	first := args[0]
	info, statErr := os.Stat(first)
	switch {
	case first == "-", statErr == nil && !info.IsDir():
		return first, args[1:], nil
	case strings.ContainsAny(first, `/\`), slices.Contains([]string{".json", ".jsonl", ".txt"}, filepath.Ext(first)):
		return "", nil, fault.Usage("no such file: "+first, "name a file of tool definitions, or - for standard input")
	}
	return "", args, nil
}

// Run gathers the tools, converts them, and prints tools and losses.
func Run(ctx context.Context, o Options) error {
	source, err := convertSource(ctx, o)
	if err != nil {
		return err
	}
	if len(o.patterns) > 0 && len(source.Tools) == 0 {
		o.Out.Log.Warn("no tool matches " + strings.Join(o.patterns, " "))
	}
	to, _ := convert.ParseFormat(o.format) // check has accepted it
	conversion := convert.ConvertAll(source.Tools, to)
	LogConverted(o.Out, len(conversion.Tools), source.Label(), to)
	losses := append(slices.Clone(source.Skipped), conversion.Losses()...)
	if err := reportLosses(o.Out, losses, o.report); err != nil {
		return err
	}
	if err := lossFailure(losses, conversion, o.strict); err != nil {
		return err
	}
	if o.names != "" {
		if err := writeNames(o.Line.AdHoc, o.names, conversion); err != nil {
			return err
		}
	}
	switch {
	case o.tokens:
		return printTokens(o.Out, conversion, o.output)
	case o.output != "jsonl":
		return o.Out.PrintDocument(conversion.Document(), o.output)
	}
	for _, tool := range conversion.Tools {
		if err := o.Out.PrintDocument(tool.Tool, o.output); err != nil {
			return err
		}
	}
	return nil
}

// LogConverted logs how many tools were converted, and the formats. CONV-3 prescribes the words, even for one tool, and
// for Ollama, whose form is Qwen's.
func LogConverted(o *streams.Streams, tools int, from string, to convert.Format) {
	if to == convert.Ollama {
		to = convert.Qwen
	}
	o.Log.Debug(fmt.Sprintf("🔧 Converted %d tools from %s to %s format", tools, from, to.Label()))
}

// convertInput returns the document to convert, or nil for the tools of servers and the config, if no document is named
// or piped in. It waits for a silent pipe, because the program at its other end may start a server first, and reports
// that it waits.
func convertInput(ctx context.Context, o Options) ([]byte, error) {
	if o.file != "" {
		return o.Out.ReadInput(o.file)
	}
	if len(o.server) > 0 || len(o.Flags.Servers) > 0 || o.Flags.URL != "" || !o.Out.Console.Piped() {
		return nil, nil
	}
	silent := time.AfterFunc(silentInput, func() {
		o.Out.Log.Warn("reading tools from standard input; < /dev/null converts those of the servers and the config")
	})
	defer silent.Stop()
	data, err := o.Out.ReadWhole(ctx, "-")
	if err != nil || len(bytes.TrimSpace(data)) == 0 {
		return nil, err
	}
	return data, nil
}

// silentInput is how long a pipe on standard input may be silent before toolx reports that it is waiting.
const silentInput = 3 * time.Second

// convertSource reads the tools from a document, or gathers those of the servers and the config.
func convertSource(ctx context.Context, o Options) (*convert.Source, error) {
	data, err := convertInput(ctx, o)
	if err != nil {
		return nil, err
	}
	if data != nil {
		from, _ := convert.ParseFormat(o.from) // empty if none was given
		source, err := convert.Read(data, from)
		if err != nil {
			name := o.file
			if name == "" || name == "-" {
				name = "standard input"
			}
			return nil, exit.Usage(fmt.Errorf("%s: %w", name, err))
		}
		filter := toolset.Filter{Patterns: o.patterns}
		unwanted := func(tool convert.Tool) bool { return !selectsDefinition(filter, tool) }
		source.Tools = slices.DeleteFunc(source.Tools, unwanted)
		return source, nil
	}
	box, err := o.Tools.Open(toolset.Options{Server: o.server})
	if err != nil {
		return nil, err
	}
	filter, err := box.Filter(o.patterns)
	if err != nil {
		return nil, err
	}
	tools, err := box.OpenTools(ctx, filter, "convert")
	if err != nil {
		return nil, err
	}
	if err := o.Corrector.CheckPatterns(box, filter, catalog.Tools, func(string) bool { return false }); err != nil {
		return nil, err
	}
	source := &convert.Source{Format: convert.MCP}
	for _, tool := range tools {
		source.Tools = append(source.Tools, convert.Tool{Server: tool.Prefix(), Definition: tool.Definition})
	}
	return source, nil
}

// selectsDefinition is toolset.Filter.SelectsTool for a tool in a file. As elsewhere, a server's tool has two names.
func selectsDefinition(f toolset.Filter, tool convert.Tool) bool {
	if len(f.Patterns) == 0 {
		return true
	}
	known, err := exec.NewTool(tool.Definition)
	if err != nil {
		return false
	}
	if tool.Server != "" {
		known.Name = tool.Server + exec.Separator + known.Plain
	}
	return f.SelectsTool(known)
}

// reportLosses reports losses, as lines or as one JSON array.
func reportLosses(o *streams.Streams, losses []convert.Loss, form string) error {
	if form == "json" {
		report, err := rawjson.Marshal(append([]convert.Loss{}, losses...))
		if err != nil {
			return err
		}
		o.Say("%s", report)
		return nil
	}
	for _, loss := range losses {
		// Even without losses, the provider may refuse a kept keyword, and a skipped tool is missing.
		if loss.Severity == convert.Info && loss.Kind != convert.Kept && loss.Kind != convert.Skipped {
			o.Log.Info(loss.String())
			continue
		}
		o.Say("%s", render.Safe(loss.String()))
	}
	return nil
}

// lossFailure returns the error for a conversion that lost too much: with strict anything, otherwise every tool.
func lossFailure(losses []convert.Loss, conversion *convert.Conversion, strict bool) error {
	lost, skipped := 0, 0
	for _, loss := range losses {
		if loss.Severity != convert.Info {
			lost++
		}
		if loss.Severity == convert.Fatal {
			skipped++
		}
	}
	switch {
	case strict && lost > 0:
		text := "1 loss"
		if lost > 1 {
			text = fmt.Sprintf("%d losses", lost)
		}
		return fault.Usage(fmt.Sprintf("%s cannot express everything: %s", conversion.Format, text),
			"leave out --strict to accept that, or choose a richer format")
	case skipped > 0 && len(conversion.Tools) == 0:
		return fault.Usage(fmt.Sprintf("no tool can be expressed as %s", conversion.Format),
			"choose a richer format: toolx convert --help")
	}
	return nil
}

// modelName is the tool behind a name that a model uses.
type modelName struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
}

// writeNames writes the server and tool of each name that a model uses.
func writeNames(adHoc bool, file string, conversion *convert.Conversion) error {
	members := make([]rawjson.Member, 0, len(conversion.Tools))
	for _, tool := range conversion.Tools {
		server := tool.Server
		if adHoc {
			server = config.AdHocName
		}
		value, err := rawjson.Marshal(modelName{server, tool.Plain})
		if err != nil {
			return err
		}
		members = append(members, rawjson.NewMember(tool.Name, value))
	}
	var out bytes.Buffer
	if err := json.Indent(&out, rawjson.Object(members), "", "  "); err != nil {
		return err
	}
	out.WriteByte('\n')
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		return fault.Usage("--names: "+err.Error(), "use a writable file")
	}
	return nil
}

// contextWindow is the number of tokens that shares refer to.
const contextWindow = 200_000

// tokenCost is an estimate of how much of a model's context tools take.
type tokenCost struct {
	Estimate bool       `json:"estimate"` // always true: no tokenizer is used
	Total    int        `json:"total"`
	Share    float64    `json:"share"` // of contextWindow, from 0 to 1
	Window   int        `json:"window"`
	Tools    []toolCost `json:"tools"` // the most expensive first
}

type toolCost struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// costOf estimates the cost of the tools of a conversion.
func costOf(conversion *convert.Conversion) tokenCost {
	cost := tokenCost{Estimate: true, Window: contextWindow, Tools: []toolCost{}}
	for _, tool := range conversion.Tools {
		tokens := convert.EstimateTokens(tool.Tool)
		cost.Total += tokens
		cost.Tools = append(cost.Tools, toolCost{tool.Name, tokens})
	}
	slices.SortStableFunc(cost.Tools, func(a, b toolCost) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Name, b.Name))
	})
	cost.Share = float64(cost.Total) / contextWindow
	return cost
}

// printTokens prints the cost of each tool. In a pipe, each tool is a line of two tab-separated fields, tokens and
// name.
func printTokens(o *streams.Streams, conversion *convert.Conversion, form string) error {
	cost := costOf(conversion)
	if form != "" {
		document, err := rawjson.Marshal(cost)
		if err != nil {
			return err
		}
		return o.PrintDocument(document, form)
	}
	out := bufio.NewWriter(o.Console.Out)
	for _, tool := range cost.Tools {
		if o.Console.OutTTY {
			fmt.Fprintf(out, "%8s  %s\n", fmt.Sprintf("~%d", tool.Tokens), render.Safe(tool.Name))
		} else {
			fmt.Fprintf(out, "%d\t%s\n", tool.Tokens, render.Safe(tool.Name))
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	o.Say("about %d tokens for %s (estimated): %.1f %% of a window of %d",
		cost.Total, words.Count(len(cost.Tools), "tool"), 100*cost.Share, contextWindow)
	return nil
}
