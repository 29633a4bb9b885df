package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolx/pkg/convert"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// convertOptions say what is converted, into what, and how it is told.
type convertOptions struct {
	format   string
	from     string
	file     string // "-" is standard input; empty: the tools of servers and config
	patterns []string
	servers  []string // --server
	names    string
	report   string
	strict   bool
	tokens   bool
	output   string
	server   []string // a command line behind --
}

func newConvertCommand(app *App, run func(context.Context, *App, convertOptions) error) *cobra.Command {
	var o convertOptions
	cmd := &cobra.Command{
		Use:   "convert --format F [FILE|-] [PATTERN…] [-- COMMAND…]",
		Short: "Convert tool definitions between providers' formats",
		Long: `Convert tools to what a provider's API takes in its list of tools, and say what was
lost on the way: one line on stderr for each change that the target forces.

Tools come from a FILE, from standard input (-), or, without either, from all
configured servers and the config. The source's format is recognised by itself; a
PATTERN is a glob or a part of a name or description, as for list.

Formats: ` + convert.Join(convert.Formats()) + `.

Exit codes: 0 success, 2 wrong usage, input that cannot be read, or no tool that the
format can express; with --strict also when anything was lost. 4 when no server
answered.`,
		Example: `  toolx convert --format qwen
  toolx convert --format gemini tools.json --strict
  toolx convert --format anthropic 'zwave__*' --names names.json > tools.json
  toolx convert --format openai --tokens -- npx -y @modelcontextprotocol/server-everything`,
		Args: func(cmd *cobra.Command, args []string) (err error) {
			if args, o.server, err = splitDash(cmd, args); err != nil {
				return err
			}
			o.file, o.patterns, err = splitFile(args)
			return err
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return run(cmd.Context(), app, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.format, "format", "f", "", "the `FORMAT` to convert to")
	flags.StringVar(&o.from, "from", "", "the `FORMAT` of FILE, where it cannot be recognised")
	flags.StringArrayVar(&o.servers, "server", nil, "only the tools of server `S` (repeatable)")
	flags.StringVar(&o.names, "names", "", "write which name is which server's tool to `FILE`, as JSON")
	flags.StringVar(&o.report, "report", "text", "how losses are told on stderr, `FORM`: text or json")
	flags.BoolVar(&o.strict, "strict", false, "fail, and print nothing, when anything was lost that a model would see (so not title, annotations, outputSchema, icons, _meta)")
	flags.BoolVar(&o.tokens, "tokens", false, "print what each tool costs in tokens, estimated")
	flags.StringVarP(&o.output, "output", "o", "", "`FORM` of the output: json (the default), jsonl (one tool a line), yaml")
	return cmd
}

// check refuses what cannot be done, before anything is.
func (o convertOptions) check() error {
	if o.format == "" {
		return fault.Usage("name the format to convert to",
			"toolx convert --format qwen; one of "+convert.Join(convert.Formats()))
	}
	for _, name := range []string{o.format, o.from} {
		if name == "" {
			continue
		}
		if _, err := convert.ParseFormat(name); err != nil {
			return &usageError{err}
		}
	}
	if err := oneOf("--report", o.report, "text", "json"); err != nil {
		return err
	}
	if err := oneOf("-o", o.output, "", "json", "jsonl", "yaml"); err != nil {
		return err
	}
	if o.tokens && o.output == "jsonl" {
		return fault.Usage("--tokens has no form jsonl", "-o json")
	}
	if o.names == "-" {
		return fault.Usage("--names cannot write to standard output, which has the tools", "--names names.json")
	}
	if o.file != "" && (len(o.server) > 0 || len(o.servers) > 0) {
		return fault.Usage("tools come from "+o.file+" or from a server, not from both", "leave one of them out")
	}
	return nil
}

// splitFile parts the input from patterns: "-", what exists as a file, and what is written like the path of one.
func splitFile(args []string) (file string, patterns []string, err error) {
	if len(args) == 0 {
		return "", nil, nil
	}
	first := args[0]
	switch info, statErr := os.Stat(first); {
	case first == "-", statErr == nil && !info.IsDir():
		return first, args[1:], nil
	case looksLikeFile(first):
		return "", nil, fault.Usage("no such file: "+first,
			"name a file of tool definitions, or - for standard input")
	}
	return "", args, nil
}

// looksLikeFile reports whether an argument is meant as a file's name: no tool is called so.
func looksLikeFile(arg string) bool {
	return strings.ContainsAny(arg, `/\`) || slices.Contains([]string{".json", ".jsonl", ".txt"}, filepath.Ext(arg))
}

// runConvert gathers the tools, converts them, and prints tools and losses.
func runConvert(ctx context.Context, app *App, o convertOptions) error {
	source, err := app.convertSource(ctx, o)
	if err != nil {
		return err
	}
	if len(o.patterns) > 0 && len(source.Tools) == 0 {
		app.log.Warn("no tool matches " + strings.Join(o.patterns, " "))
	}
	to, _ := convert.ParseFormat(o.format) // check has seen to it
	conversion := convert.ConvertAll(source.Tools, to)
	app.logConverted(len(conversion.Tools), source.Label(), to)
	losses := append(slices.Clone(source.Skipped), conversion.Losses()...)
	if err := app.tellLosses(losses, o.report); err != nil {
		return err
	}
	if err := lossFailure(losses, conversion, o.strict); err != nil {
		return err
	}
	if o.names != "" {
		if err := writeNames(o.names, conversion); err != nil {
			return err
		}
	}
	if o.tokens {
		return app.printTokens(conversion, o.output)
	}
	return app.printConversion(conversion, o.output)
}

// logConverted logs how many tools were converted, from what to what (CONV-3).
func (a *App) logConverted(tools int, from string, to convert.Format) {
	a.log.Debug(fmt.Sprintf("🔧 Converted %s from %s to %s format", words.Count(tools, "tool"), from, to.Label()))
}

// convertSource reads the tools from a document, or gathers those of the servers and the config.
func (a *App) convertSource(ctx context.Context, o convertOptions) (*convert.Source, error) {
	if o.file == "" {
		return a.gatherTools(ctx, o)
	}
	data, err := a.readInput(o.file)
	if err != nil {
		return nil, err
	}
	from, _ := convert.ParseFormat(o.from) // empty where none was given
	source, err := convert.Read(data, from)
	if err != nil {
		return nil, &usageError{err}
	}
	source.Tools = slices.DeleteFunc(source.Tools, func(tool convert.Tool) bool { return !definitionMatches(tool, o.patterns) })
	return source, nil
}

// readInput reads a file, or standard input.
func (a *App) readInput(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(a.Console.In)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, &usageError{err}
	}
	return data, nil
}

// definitionMatches reports whether a tool that no server was asked for matches one of
// the patterns, or there are none. As elsewhere, a server's tool has two names.
func definitionMatches(tool convert.Tool, patterns []string) bool {
	if len(patterns) == 0 {
		return true
	}
	known, err := exec.NewTool(tool.Definition)
	if err != nil {
		return false
	}
	if tool.Server != "" {
		known.Name = tool.Server + exec.Separator + known.Plain
	}
	return matches(known, patterns)
}

// gatherTools asks the servers for their tools.
func (a *App) gatherTools(ctx context.Context, o convertOptions) (*convert.Source, error) {
	box, err := a.toolbox(toolboxOptions{server: o.server})
	if err != nil {
		return nil, err
	}
	tools, err := a.openTools(ctx, box, toolFilter{servers: o.servers, patterns: o.patterns}, "convert")
	if err != nil {
		return nil, err
	}
	source := &convert.Source{Format: convert.MCP}
	for _, tool := range tools {
		source.Tools = append(source.Tools, convert.Tool{Server: tool.Server, Definition: tool.Definition})
	}
	return source, nil
}

// tellLosses tells what was lost: on lines, or all of it as one JSON array.
func (a *App) tellLosses(losses []convert.Loss, form string) error {
	if form == "json" {
		if losses == nil {
			losses = []convert.Loss{}
		}
		report, err := rawjson.Marshal(losses)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.live, "%s\n", report)
		return err
	}
	for _, loss := range losses {
		if loss.Severity == convert.Info && !concernsTool(loss) {
			a.log.Info(loss.String())
			continue
		}
		fmt.Fprintln(a.live, render.Safe(loss.String()))
	}
	return nil
}

// concernsTool says that a remark is for the user although nothing was lost: the
// provider may refuse what was kept, or what was left out is no tool.
func concernsTool(loss convert.Loss) bool {
	return loss.Kind == convert.Kept || loss.Kind == convert.Skipped
}

// plural counts things: "1 loss", "2 losses".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// lossFailure is the error of a conversion that lost too much: anything, where that
// was not allowed, else every tool there was.
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
		return fault.Usage(fmt.Sprintf("%s cannot hold everything: %s", conversion.Format, plural(lost, "loss", "losses")),
			"leave --strict out to go without, or choose a format that holds more")
	case skipped > 0 && len(conversion.Tools) == 0:
		return fault.Usage(fmt.Sprintf("no tool can be expressed as %s", conversion.Format),
			"choose a format that holds more: toolx convert --help")
	}
	return nil
}

// modelName is what a name that a model uses stands for.
type modelName struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
}

// writeNames writes the way back from a model's names to servers and tools.
func writeNames(file string, conversion *convert.Conversion) error {
	members := make([]rawjson.Member, 0, len(conversion.Tools))
	for _, tool := range conversion.Tools {
		value, err := rawjson.Marshal(modelName{tool.Server, tool.Plain})
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
	if err := os.WriteFile(file, out.Bytes(), fs.FileMode(0o644)); err != nil {
		return fault.Usage("--names: "+err.Error(), "name a file that can be written")
	}
	return nil
}

// printConversion prints the list of tools as the provider takes it.
func (a *App) printConversion(conversion *convert.Conversion, output string) error {
	if output != "jsonl" {
		return a.printDocument(conversion.Document(), output)
	}
	for _, tool := range conversion.Tools {
		if err := a.printDocument(tool.Tool, output); err != nil {
			return err
		}
	}
	return nil
}

// printDocument prints a JSON document: indented on a terminal, unless each is to stand on a line of its own.
func (a *App) printDocument(document []byte, output string) error {
	screen := a.outScreen()
	switch {
	case output == "yaml" && json.Valid(document):
		return render.YAML(a.Console.Out, document)
	case output == "jsonl":
		return render.JSONLine(a.Console.Out, document, screen)
	}
	return render.Document(a.Console.Out, document, screen)
}
