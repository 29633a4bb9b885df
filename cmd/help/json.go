package help

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolx/cmd/build"
	"toolx/cmd/exit"
	"toolx/cmd/streams"
	"toolx/docs"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
)

// helpDocument is what "toolx help --json" prints.
type helpDocument struct {
	Version   string         `json:"version"`
	Verbs     []verbHelp     `json:"verbs"`
	Flags     []flagHelp     `json:"flags,omitempty"` // of every verb
	ExitCodes []exit.Meaning `json:"exit_codes,omitempty"`
	Kinds     []exit.Kind    `json:"kinds,omitempty"`
	Topics    []string       `json:"topics,omitempty"`
}

type verbHelp struct {
	Name      string            `json:"name"` // with its parents: "session start"
	Usage     string            `json:"usage"`
	Short     string            `json:"short"`
	Long      string            `json:"long,omitempty"`
	Examples  []string          `json:"examples,omitempty"`
	ExitCodes map[string]string `json:"exit_codes,omitempty"`
	Flags     []flagHelp        `json:"flags,omitempty"` // without the common flags
}

type flagHelp struct {
	Name    string `json:"name"`
	Short   string `json:"short,omitempty"`
	Type    string `json:"type"`
	Value   string `json:"value,omitempty"` // the placeholder of its value
	Default string `json:"default,omitempty"`
	Usage   string `json:"usage"`
}

// printJSON prints the help as JSON: all verbs in brief, or one verb and its subcommands in full.
func printJSON(out *streams.Streams, of *cobra.Command) error {
	document := helpDocument{Version: build.Version(), Verbs: helpOfVerbs(of, of.HasParent())}
	if !of.HasParent() {
		document.Flags, document.Topics = flagsHelp(of.PersistentFlags()), docs.Topics()
		document.Kinds, document.ExitCodes = exit.Kinds, exit.Codes()
	}
	text, err := rawjson.Marshal(document)
	if err != nil {
		return err
	}
	return render.Document(out.Console.Out, text, out.OutScreen())
}

// helpOfVerbs returns the help of a verb, if it does something without a subcommand, and of its subcommands, by name.
// full adds explanations and examples.
func helpOfVerbs(verb *cobra.Command, full bool) []verbHelp {
	var all []verbHelp
	if verb.HasParent() && !verb.Hidden && verb.Runnable() {
		one := verbHelp{
			Name:      strings.TrimPrefix(verb.CommandPath(), "toolx "),
			Usage:     strings.TrimSuffix(verb.UseLine(), " [flags]"),
			Short:     verb.Short,
			ExitCodes: exitCodesIn(verb.Long),
			Flags:     flagsHelp(verb.LocalNonPersistentFlags()),
		}
		if full {
			one.Long, one.Examples = verb.Long, examplesOf(verb.Example)
		}
		all = append(all, one)
	}
	for _, below := range verb.Commands() {
		if !below.Hidden {
			all = append(all, helpOfVerbs(below, full)...)
		}
	}
	return all
}

func examplesOf(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// exitCodesIn returns the exit codes in the help of a verb with their meanings: "Exit codes: 0 success, 2 wrong usage."
func exitCodesIn(long string) map[string]string {
	_, text, found := strings.Cut(long, "Exit codes: ")
	if !found {
		return nil
	}
	text, _, _ = strings.Cut(text, "\n\n")
	text = strings.TrimSuffix(strings.Join(strings.Fields(text), " "), ".")
	code := regexp.MustCompile(`(?:^|[,;.] (?:\S+: )?)(\d+) `) // not in a variable: it would be compiled at each start
	codes := make(map[string]string)
	starts := code.FindAllStringSubmatchIndex(text, -1)
	for i, start := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		meaning, _, _ := strings.Cut(text[start[1]:end], ". ")
		codes[text[start[2]:start[3]]] = meaning
	}
	return codes
}

func flagsHelp(flags *pflag.FlagSet) []flagHelp {
	var all []flagHelp
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(flag)
		one := flagHelp{
			Name: flag.Name, Short: flag.Shorthand, Type: flag.Value.Type(), Value: value,
			Default: flag.DefValue, Usage: usage,
		}
		if one.Default == "false" || one.Default == "[]" {
			one.Default = ""
		}
		all = append(all, one)
	})
	return all
}
