// Package correct finds the intended command line if the typed one is wrong.
package correct

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolx/cmd/cli"
	"toolx/cmd/exit"
	"toolx/cmd/stores"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/catalog"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
)

// Corrector finds the intended command line if the typed one is wrong.
type Corrector struct {
	Out   *streams.Streams
	Line  *cli.CommandLine
	Tools *toolset.Opener
	Cmd   *cobra.Command // the command that runs
}

// misplaced is where a word among a verb's own arguments belongs; empty if it is in the right place.
type misplaced string

// Where a word can belong.
const (
	inCommand misplaced = "program" // after --, and the rest with it
	inScript  misplaced = "file"    // the same, perhaps after an interpreter
	InURL     misplaced = "address" // after --url
	inConfig  misplaced = "config"  // after --config
)

// MisplacedAs returns where a word that is not a tool's name belongs.
func MisplacedAs(word string) misplaced {
	if strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://") {
		return InURL
	}
	if word == "" || strings.ContainsAny(word, "=*?[") || strings.HasPrefix(word, "-") {
		return ""
	}
	if cmdline.LookupIn("", os.Environ()).Find(word).Runnable {
		return inCommand
	}
	info, err := os.Stat(word)
	switch {
	case err != nil || !info.Mode().IsRegular():
		return ""
	case slices.Contains([]string{".json", ".yaml", ".yml", ".toml"}, filepath.Ext(word)):
		return inConfig
	}
	return inScript
}

// launchless reports whether a verb takes a server's command after --, and the command line has neither a command nor
// an address. The words of a question and the sides of a diff are exempt.
func (c *Corrector) launchless(cmd *cobra.Command) bool {
	given := func(arg string) bool { return arg == "--" || arg == "--url" || strings.HasPrefix(arg, "--url=") }
	return cmd != nil && strings.Contains(cmd.Use, "-- COMMAND") && !slices.ContainsFunc(c.Line.Args, given) &&
		!strings.Contains(cmd.Use, "QUESTION") && !strings.Contains(cmd.Use, "BEFORE")
}

// FromToolCall is the flag that makes the first argument of call a file.
const FromToolCall = "from-tool-call"

// takesFile reports whether the first argument of a verb may be a file.
func takesFile(cmd *cobra.Command) bool {
	return strings.Contains(cmd.Use, "[FILE") || cmd.Flags().Changed(FromToolCall)
}

// ownWords returns the placeholders in a verb's usage for the arguments before a server's command.
func ownWords(cmd *cobra.Command) (own []string) {
	if cmd.Flags().Changed(FromToolCall) {
		return nil
	}
	for _, field := range strings.Fields(cmd.Use)[1:] {
		if strings.ContainsAny(field[:1], "[(|-") {
			break
		}
		field, _, _ = strings.Cut(strings.TrimSuffix(field, "…"), "|")
		if field != "SERVER" { // which the command replaces
			own = append(own, field)
		}
	}
	return own
}

// ForgottenError reports that a word is a server's command or address, because the user forgot -- or --url.
type ForgottenError struct {
	*fault.UsageError
	word string
}

// NewForgotten returns the error for a word in the wrong place; fix is the corrected command.
func NewForgotten(word, problem, fix string) *ForgottenError {
	return &ForgottenError{fault.Usage(problem, fix), word}
}

// Unwrap returns the usage error.
func (e *ForgottenError) Unwrap() error { return e.UsageError }

// Next returns the corrected command.
func (e *ForgottenError) Next() string {
	command, _, _ := strings.Cut(e.Fix, "; ")
	return command
}

// forgotten returns an error if a server's command or address is among the verb's own arguments, else nil. exact
// reports whether a word is the full name of something, which the user then meant.
func (c *Corrector) forgotten(cmd *cobra.Command, exact func(word string) bool) *ForgottenError {
	if !c.launchless(cmd) {
		return nil
	}
	given, own := cmd.Flags().Args(), ownWords(cmd)
	wrong := make([]misplaced, len(given))
	for i, word := range given {
		switch as := MisplacedAs(word); {
		case as == "", exact(word), as == InURL && strings.Contains(cmd.Use, "URL"):
		case (as == inScript || as == inConfig) && i == 0 && takesFile(cmd):
		default:
			wrong[i] = as
		}
	}
	for i, as := range wrong {
		if i < len(own) && as != "" {
			later := slices.ContainsFunc(wrong[i+1:], func(w misplaced) bool { return w == inCommand || w == InURL })
			needed := own[i] == "URI" || own[i] == "REF" || len(given) <= len(own) && own[i] == "NAME"
			if later || needed {
				continue
			}
		}
		if as != "" {
			return NewForgotten(given[i], as.problem(given[i]), c.corrected(cmd, i, as))
		}
	}
	return nil
}

// problem describes what is wrong with a word.
func (m misplaced) problem(word string) string {
	switch m {
	case InURL:
		return "'" + word + "' is an address: put --url before it"
	case inConfig:
		return "'" + word + "' is a file: put --config before it"
	case inScript:
		return "'" + word + "' is a file: put -- before a server's command"
	}
	return "'" + word + "' is a program: put -- before a server's command"
}

// corrected returns the command line after moving a word among its own arguments, and the words after it, to where they
// belong.
func (c *Corrector) corrected(cmd *cobra.Command, place int, as misplaced) string {
	path := strings.Fields(cmd.CommandPath())
	given, own := cmd.Flags().Args(), ownWords(cmd)
	at := c.indexOf(append(slices.Clone(path[1:]), given[:place+1]...))
	before, rest := slices.Clone(c.Line.Args[:at]), slices.Clone(c.Line.Args[at:])
	if !cmd.HasParent() {
		before = append(before, "list")
	}
	missing := own[min(place, len(own)):]
	before = append(before, missing...)
	line := func(words ...[]string) string {
		return exec.PasteLine(slices.Concat(append([][]string{{path[0]}}, words...)...)...)
	}
	switch as {
	case InURL:
		return line(before, []string{"--url"}, rest)
	case inConfig:
		return line(before, []string{"--config"}, rest)
	case inScript:
		if info, err := os.Stat(rest[0]); err == nil && info.Mode()&0o111 == 0 {
			if interpreter := cmdline.InterpreterOf(rest[0]); interpreter != "" {
				rest = append([]string{interpreter}, rest...)
			}
		}
		if !strings.ContainsAny(rest[0], `/\`) && rest[0] == given[place] {
			rest[0] = "./" + rest[0]
		}
	}
	if flag := cmd.Flags().Lookup("as"); flag != nil && !flag.Changed { // a session of a command needs a name
		before = append(before, "--as", "NAME")
	}
	var ours []string
	for len(rest) > 1 && ownSwitch(cmd, rest[len(rest)-1]) {
		ours, rest = append(ours, rest[len(rest)-1]), rest[:len(rest)-1]
	}
	slices.Reverse(ours)
	corrected := line(before, ours, []string{"--"}, rest)
	if slices.Contains(missing, "TOOL") {
		corrected += "; its tools: " + exec.PasteLine(append([]string{"toolx", "list", "--"}, rest...)...)
	}
	return corrected
}

// ownSwitch reports whether a word is a switch of this verb, such as --json: at the end of a line it is probably not
// meant for the server.
func ownSwitch(cmd *cobra.Command, word string) bool {
	name, long := strings.CutPrefix(word, "--")
	flag := cmd.LocalNonPersistentFlags().Lookup(name)
	return long && flag != nil && flag.Value.Type() == "bool"
}

// indexOf returns the index of the last of words in toolx's arguments, where they occur in this order with flags
// between them.
func (c *Corrector) indexOf(words []string) int {
	at := -1
	for _, word := range words {
		if next := slices.Index(c.Line.Args[at+1:], word); next >= 0 {
			at += 1 + next
		}
	}
	return max(at, 0)
}

// explainForgotten returns err, or its reason if a server's command is in the wrong place. It keeps suggestions of
// similar names.
func (c *Corrector) explainForgotten(err error) error {
	var reported *exit.ReportedError
	var told *ForgottenError
	var usage *fault.UsageError
	kind := fault.KindOf(err)
	switch {
	case err == nil, errors.As(err, &reported), errors.As(err, &told), !c.launchless(c.Cmd):
		return err
	case kind == fault.KindNotFound, errors.As(err, &usage) && usage.Server != "":
	case kind != fault.KindUsage, !c.hasSpareWords():
		return err // the only argument of a verb that needs one is not wrong because a program has its name
	}
	forgotten := c.forgotten(c.Cmd, c.keptNames())
	if forgotten == nil {
		return err
	}
	var missing *exec.NotFoundError
	if errors.As(err, &missing) && (len(missing.Near) > 0 || len(missing.Candidates) > 0) {
		return exit.Fail(err, kind, fault.HintOf(err)+"; as a program: "+forgotten.Fix)
	}
	return forgotten
}

// hasSpareWords reports whether a command line has more words than its verb needs.
func (c *Corrector) hasSpareWords() bool {
	assigns := func(word string) bool { return strings.Contains(word, "=") }
	return len(slices.DeleteFunc(slices.Clone(c.Cmd.Flags().Args()), assigns)) > len(ownWords(c.Cmd))
}

// keptNames returns a function that reports whether a server, one of toolx's own tools or a tool in a catalogue has a
// name.
func (c *Corrector) keptNames() func(name string) bool {
	log := c.Out.Log
	c.Out.Log = slog.New(slog.DiscardHandler) // the verb has reported the problems of the config
	defer func() { c.Out.Log = log }()
	known, _ := c.Tools.Offline(nil)
	if known == nil {
		known = &toolset.Offline{Opener: c.Tools, Config: &config.Config{}}
	}
	local := known.Local()
	return func(name string) bool {
		if _, err := local.Find(name); err == nil {
			return true
		}
		return slices.ContainsFunc(known.Config.Servers, func(server *config.Server) bool {
			return server.Name == name || known.Store.Read(server.Identity()).List(catalog.Tools).Find(name) != nil
		})
	}
}

// CheckPatterns returns an error if a pattern is a server's command without its --. A pattern that is a full name is
// fine: the name of a registered tool, a name that exact accepts, or if exact is nil, a name in a catalogue.
func (c *Corrector) CheckPatterns(
	b *toolset.Set, filter toolset.Filter, kind catalog.Kind, exact func(name string) bool,
) error {
	if len(filter.Patterns) == 0 || b.AdHoc {
		return nil
	}
	if exact == nil {
		var lists []*catalog.List
		for _, name := range b.Pool.Names() {
			list := stores.Catalog().Read(b.Server(name).Identity()).List(kind)
			if list == nil {
				return nil
			}
			lists = append(lists, list)
		}
		exact = func(name string) bool {
			return slices.ContainsFunc(lists, func(list *catalog.List) bool { return list.Find(name) != nil })
		}
	}
	forgotten := c.forgotten(c.Cmd, func(word string) bool {
		_, err := b.Registry.Find(word)
		var missing *exec.NotFoundError
		unknown := errors.As(err, &missing) && len(missing.Candidates) == 0
		return !slices.Contains(filter.Patterns, word) || !unknown || exact(word)
	})
	if forgotten == nil {
		return nil
	}
	if !strings.ContainsAny(forgotten.word, `/\:`) {
		forgotten.Fix += "; as a part of names: " + exec.PasteLine("*"+forgotten.word+"*")
	}
	return forgotten
}

// unknownFlag explains an unknown flag: it is misspelt, an argument of the tool, or an option of a server whose -- was
// forgotten.
func (c *Corrector) unknownFlag(cmd *cobra.Command, missing *pflag.NotExistError) string {
	all := cmd.CommandPath() + " --help shows every flag"
	if near := nearFlag(cmd.Flags(), missing); near != "" {
		return "did you mean: " + c.withFlag(missing, near) + "; " + all
	}
	given, own := cmd.Flags().Args(), ownWords(cmd)
	if c.launchless(cmd) && len(given) > len(own) && !strings.Contains(given[len(own)], "=") {
		return "put -- before a server's command: " + c.corrected(cmd, len(own), inCommand) + "; " + all
	}
	switch name := missing.GetSpecifiedName(); {
	case cmd.Name() != "call" || len(name) < 2:
	case len(given) == 0:
		return "an argument of the tool is written " + name + "=value; " + all
	default:
		return "arguments of a tool have no dashes: " + c.asArguments(cmd) + "; " + all
	}
	return all
}

// withFlag returns the command line with near instead of the unknown flag.
func (c *Corrector) withFlag(missing *pflag.NotExistError, near string) string {
	wrong := cmp.Or(missing.GetSpecifiedShortnames(), missing.GetSpecifiedName())
	line := []string{"toolx"}
	for _, arg := range c.Line.Args {
		name, value, set := strings.Cut(arg, "=")
		if strings.TrimLeft(name, "-") == wrong && strings.HasPrefix(name, "-") {
			if arg = near; set {
				arg += "=" + value
			}
		}
		line = append(line, arg)
	}
	return exec.PasteLine(line...)
}

// asArguments returns the command line with k=v instead of each --k v that is not a flag.
func (c *Corrector) asArguments(cmd *cobra.Command) string {
	line := []string{"toolx"}
	for i := 0; i < len(c.Line.Args); i++ {
		name, value, set := strings.Cut(strings.TrimPrefix(c.Line.Args[i], "--"), "=")
		if !strings.HasPrefix(c.Line.Args[i], "--") || cmd.Flags().Lookup(name) != nil {
			line = append(line, c.Line.Args[i])
			continue
		}
		switch {
		case set:
		case i+1 < len(c.Line.Args) && !strings.HasPrefix(c.Line.Args[i+1], "-"):
			i++
			value = c.Line.Args[i]
		default:
			value = "true"
		}
		line = append(line, name+"="+value)
	}
	return exec.PasteLine(line...)
}

// Explain adds a hint to the error for an unknown server: which other client has a server of that name, with a command
// to paste. Only in this case, toolx reads the files of all clients.
func (c *Corrector) Explain(err error, args []string) error {
	err = c.explainForgotten(err)
	var missing *exec.NotFoundError
	var usage *fault.UsageError
	var reported *exit.ReportedError
	name := ""
	switch {
	case errors.As(err, &reported): // including this hint
	case errors.As(err, &missing):
		name = missing.UnknownServer
	case errors.As(err, &usage):
		name = usage.Server
	}
	if name == "" || strings.Contains(name, ":") {
		return err
	}
	var found []string
	for _, file := range config.ReadClients(config.Options{}, config.Clients()...) {
		for _, server := range file.Servers {
			if server.Plain() == name && !slices.Contains(found, server.Name) {
				found = append(found, server.Name)
			}
		}
	}
	if len(found) == 0 {
		return err
	}
	shown := found[0]
	if len(found) > 1 {
		shown = strings.Join(found[:len(found)-1], ", ") + " and " + found[len(found)-1]
	}
	line := []string{"toolx"}
	for _, arg := range args {
		if arg == name || strings.HasPrefix(arg, name+exec.Separator) {
			arg = strings.TrimSuffix(found[0], name) + arg
		}
		line = append(line, arg)
	}
	hint := fmt.Sprintf("another client has it (%s): %s", shown, exec.PasteLine(line...))
	return exit.Fail(err, cmp.Or(fault.KindOf(err), fault.KindNotFound), hint)
}
