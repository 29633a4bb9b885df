package correct

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolx/cmd/cli"
	"toolx/cmd/toolset"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/words"
)

// UnknownVerb returns a usage error that suggests the intended verb.
func (c *Corrector) UnknownVerb(root *cobra.Command, name string) error {
	first, _, _ := strings.Cut(name, " ")
	if err := cli.RemovedError(first); err != nil {
		return err
	}
	fix := "toolx --help shows every command; toolx call NAME runs a tool"
	root.SuggestionsMinimumDistance = 2
	if meant := c.verbForServer(name); meant != "" {
		fix = meant
	} else if meant := verbOfOthers(name); meant != "" {
		fix = meant
	} else if near := root.SuggestionsFor(name); len(near) > 0 {
		fix = "did you mean: toolx " + slices.MinFunc(near, func(a, b string) int {
			return cmp.Compare(levenshtein.ComputeDistance(name, a), levenshtein.ComputeDistance(name, b))
		})
	} else if as := MisplacedAs(name); as != "" && as != inConfig {
		fix = c.corrected(root, 0, as)
	}
	return fault.Usage("unknown command "+strconv.Quote(name), fix)
}

// verbForServer returns a hint if name is a configured server or its tool instead of a verb, else empty.
func (c *Corrector) verbForServer(name string) string {
	if c.Tools.BeginQuietly() != nil {
		return ""
	}
	box, err := c.Tools.Open(toolset.Options{Lenient: true})
	if err != nil {
		return ""
	}
	servers := box.Pool.Names()
	switch {
	case slices.Contains(servers, name):
		return (&exec.NotFoundError{Name: name, Servers: servers}).Hint()
	case exec.ServerOf(name, servers) != "":
		return "did you mean: " + exec.PasteLine("toolx", "call", name)
	}
	return ""
}

// verbsOfOthers has toolx's equivalents of other programs' verbs.
var verbsOfOthers = []struct{ names, hint string }{
	{"run exec execute invoke call-tool tool", "toolx call TOOL runs a tool"},
	{"tools ls list-tools", "toolx list lists the tools"},
	{"find lookup grep", "toolx list PATTERN finds tools; with --cached it starts no server"},
	{"server status", "toolx servers shows the servers, toolx ping checks that they respond"},
	{"inspect describe info", "toolx show TOOL shows a tool, toolx tui browses them, toolx doctor examines servers"},
	{"get read", "toolx show TOOL, toolx prompts get PROMPT or toolx resources read URI"},
	{"add install", "toolx servers add NAME -- COMMAND… adds a server to the config"},
	{"remove rm uninstall", "toolx servers remove NAME removes a server from the config"},
	{"config configure setup", "toolx init creates a config, toolx servers edits it, toolx help config describes it"},
	{"validate check lint test debug", "toolx doctor examines servers and the config"},
	{"login", "toolx auth login SERVER"},
	{"logout", "toolx auth logout SERVER"},
	{"start", "servers start when they are needed; toolx session start SERVER keeps one running"},
	{"stop restart", "toolx session stop SERVER, or toolx session restart SERVER"},
	{"export import", "toolx servers export NAME --to CLIENT; imports in a config uses the servers of other clients"},
	{"log logs calls", "toolx history lists the logged calls"},
	{"chat", "toolx ask QUESTION lets a model answer, calling tools"},
	{"resource", "did you mean: toolx resources"},
	{"prompt", "did you mean: toolx prompts"},
}

// verbOfOthers returns toolx's equivalent of another program's verb, empty for any other word.
func verbOfOthers(name string) string {
	for _, other := range verbsOfOthers {
		if slices.Contains(strings.Fields(other.names), strings.ToLower(name)) {
			return other.hint
		}
	}
	return ""
}

// FlagError explains an unknown flag, or an invalid value of a flag.
func (c *Corrector) FlagError(cmd *cobra.Command, err error) error {
	all := cmd.CommandPath() + " --help shows every flag"
	var missing *pflag.NotExistError
	var valueless *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch given := cmd.Flags().Args(); {
	case !cmd.HasParent() && len(given) > 0:
		return c.UnknownVerb(cmd, given[0])
	case errors.As(err, &missing):
		verb := strings.TrimPrefix(cmd.CommandPath(), "toolx ")
		if err := cli.RemovedError(verb + " --" + missing.GetSpecifiedName()); err != nil {
			return err
		}
		all = c.unknownFlag(cmd, missing)
	case errors.As(err, &valueless) && valueless.GetFlag() != nil:
		flag := "--" + valueless.GetFlag().Name
		value, _ := pflag.UnquoteUsage(valueless.GetFlag())
		return fault.Usage(flag+" has no value", flag+" "+value+"; "+all)
	case errors.As(err, &invalid) && invalid.GetFlag() != nil:
		return invalidValue(invalid, all)
	}
	return fault.Usage(err.Error(), all)
}

// nearFlag returns the flag that the user probably misspelt, or empty.
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

// invalidValue returns an error with the values that a flag accepts.
func invalidValue(invalid *pflag.InvalidValueError, fix string) error {
	flag, value := "--"+invalid.GetFlag().Name, strconv.Quote(invalid.GetValue())
	var usage *fault.UsageError
	switch kind := invalid.GetFlag().Value.Type(); {
	case errors.As(invalid, &usage) && kind == "duration":
		return fault.Usage(flag+": "+usage.Message, cmp.Or(usage.Fix, fix))
	case errors.As(invalid, &usage):
		return usage
	case kind == "bool":
		return fault.Usage(flag+" takes true or false; got "+value, fix)
	case strings.HasPrefix(kind, "int"):
		return fault.Usage(flag+" takes a whole number; got "+value, fix)
	}
	return fault.Usage(fmt.Sprintf("%s %s: %v", flag, value, errors.Unwrap(invalid)), fix)
}
