package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolx/docs"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/words"
)

// unknownVerb returns a usage error that suggests the verb that was meant.
func (a *App) unknownVerb(root *cobra.Command, name string) error {
	fix := "toolx --help shows every command; toolx call NAME runs a tool"
	root.SuggestionsMinimumDistance = 2
	if meant := a.verbForServer(name); meant != "" {
		fix = meant
	} else if meant := verbOfOthers(name); meant != "" {
		fix = meant
	} else if near := root.SuggestionsFor(name); len(near) > 0 {
		fix = "did you mean: toolx " + slices.MinFunc(near, func(a, b string) int {
			return cmp.Compare(levenshtein.ComputeDistance(name, a), levenshtein.ComputeDistance(name, b))
		})
	}
	return fault.Usage("unknown command "+quote(name), fix)
}

// verbForServer returns what can be done with a configured server, or a tool of one, that was
// given in the place of a verb; empty where name is neither.
func (a *App) verbForServer(name string) string {
	if a.begin() != nil {
		return ""
	}
	a.asksNobody = true
	a.log = slog.New(slog.DiscardHandler) // the unknown verb is all there is to say
	box, err := a.toolbox(toolboxOptions{lenient: true})
	if err != nil {
		return ""
	}
	servers := box.pool.Names()
	switch {
	case slices.Contains(servers, name):
		return (&exec.NotFoundError{Name: name, Servers: servers}).Hint()
	case exec.ServerOf(name, servers) != "":
		return "did you mean: " + exec.PasteLine("toolx", "call", name)
	}
	return ""
}

// verbOfOthers says what toolx has for a verb that other tools have, empty for any other word.
func verbOfOthers(name string) string {
	switch strings.ToLower(name) {
	case "run", "exec", "execute", "invoke", "call-tool", "tool":
		return "toolx call TOOL runs a tool"
	case "tools", "ls", "list-tools":
		return "toolx list lists the tools"
	case "servers", "server", "status":
		return "toolx list shows the servers with their tools, toolx ping asks each for a sign of life"
	case "inspect", "describe", "info":
		return "toolx show TOOL tells all about a tool, toolx tui browses them, toolx doctor examines servers"
	case "get", "read":
		return "toolx show TOOL, toolx prompts get PROMPT or toolx resources read URI"
	case "add", "remove", "rm", "install", "config", "configure", "init":
		return "servers stand in a config file: toolx help config tells how; toolx doctor checks it"
	case "validate", "check", "lint", "test", "debug":
		return "toolx doctor examines servers and the config"
	case "login", "logout":
		return "toolx auth " + strings.ToLower(name) + " SERVER"
	case "start":
		return "toolx serve serves the config's tools; servers are started when they are needed"
	case "chat":
		return "toolx ask QUESTION lets a model answer, calling tools"
	case "resource", "prompt":
		return "did you mean: toolx " + strings.ToLower(name) + "s"
	}
	return ""
}

// flagError tells of a flag that is none, or has a value that it cannot have.
func flagError(cmd *cobra.Command, err error) error {
	all := cmd.CommandPath() + " --help shows every flag"
	var missing *pflag.NotExistError
	var valueless *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &missing):
		if near := nearFlag(cmd.Flags(), missing); near != "" {
			all = "did you mean: " + near + "; " + all
		} else if name := missing.GetSpecifiedName(); cmd.Name() == "call" && len(name) > 1 {
			all = "an argument of the tool is written " + name + "=value; " + all
		}
	case errors.As(err, &valueless) && valueless.GetFlag() != nil:
		name, _ := pflag.UnquoteUsage(valueless.GetFlag())
		return fault.Usage(flagName(valueless.GetFlag())+" has no value",
			flagName(valueless.GetFlag())+" "+name+"; "+all)
	case errors.As(err, &invalid) && invalid.GetFlag() != nil:
		return invalidValue(invalid, all)
	}
	return fault.Usage(err.Error(), all)
}

func flagName(flag *pflag.Flag) string { return "--" + flag.Name }

// nearFlag is the flag that a misspelt one most likely means, empty where there is none.
func nearFlag(flags *pflag.FlagSet, missing *pflag.NotExistError) string {
	name := missing.GetSpecifiedName()
	if whole := strings.TrimLeft(missing.GetSpecifiedShortnames(), "-"); whole != "" { // -json is j, s, o, n
		name, _, _ = strings.Cut(whole, "=")
	}
	if len(name) == 1 {
		if short := flags.ShorthandLookup(name); short != nil {
			return "-" + name
		}
		return ""
	}
	var known []string
	flags.VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			known = append(known, flag.Name)
		}
	})
	if near := words.Nearest(name, known); near != "" {
		return "--" + near
	}
	return ""
}

// invalidValue says what a flag takes instead of what it was given.
func invalidValue(invalid *pflag.InvalidValueError, all string) error {
	flag := invalid.GetFlag()
	told := &fault.UsageError{Fix: all}
	var unit *config.UnitError
	switch kind := flag.Value.Type(); {
	case errors.As(invalid, &unit):
		told.Message = flagName(flag) + ": " + unit.Text
		if unit.Fix != "" {
			told.Fix = unit.Fix
		}
	case kind == "bool":
		told.Message = fmt.Sprintf("%s takes true or false; got %s", flagName(flag), quote(invalid.GetValue()))
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		told.Message = fmt.Sprintf("%s takes a whole number; got %s", flagName(flag), quote(invalid.GetValue()))
	default:
		told.Message = fmt.Sprintf("%s %s: %v", flagName(flag), quote(invalid.GetValue()), errors.Unwrap(invalid))
	}
	return told
}

// newHelpCommand is "toolx help": the help of a verb, or a page that is about none.
func newHelpCommand(app *App) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|TOPIC]",
		Short: "Help about any command, or a page: " + strings.Join(docs.Topics(), ", "),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if page := docs.Page(args[0]); page != "" {
					_, err := io.WriteString(app.Console.Out, page)
					return err
				}
			}
			found, rest, err := cmd.Root().Find(args)
			if err != nil || found == cmd.Root() && len(args) > 0 || len(rest) > 0 && found.HasSubCommands() {
				return app.unknownVerb(cmd.Root(), strings.Join(args, " "))
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, verb := range cmd.Root().Commands() {
				if verb.IsAvailableCommand() && strings.HasPrefix(verb.Name(), typed) {
					names = append(names, verb.Name())
				}
			}
			for _, topic := range docs.Topics() {
				if strings.HasPrefix(topic, typed) {
					names = append(names, topic)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}
