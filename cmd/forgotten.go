package cmd

import (
	"cmp"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolx/pkg/catalog"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
)

// misplaced says where a word belongs that stands among a verb's own arguments; empty where that is right.
type misplaced string

const (
	inCommand misplaced = "program" // after --, and the rest with it
	inScript  misplaced = "file"    // the same, perhaps after an interpreter
	inURL     misplaced = "address" // after --url
	inConfig  misplaced = "config"  // after --config
)

// misplacedAs says what a word is that no tool has for its name.
func misplacedAs(word string) misplaced {
	if strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://") {
		return inURL
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

// launchless reports whether a verb takes a server's command after --, and the command line gives neither that nor an
// address. Words of a question may be anything.
func (a *App) launchless(cmd *cobra.Command) bool {
	given := func(arg string) bool { return arg == "--" || arg == "--url" || strings.HasPrefix(arg, "--url=") }
	return cmd != nil && strings.Contains(cmd.Use, "-- COMMAND") && !slices.ContainsFunc(a.args, given) &&
		!strings.Contains(cmd.Use, "QUESTION")
}

// fromToolCall is the flag with which a call's first argument is a file.
const fromToolCall = "from-tool-call"

// takesFile reports whether the first argument of a verb may be a file.
func takesFile(cmd *cobra.Command) bool {
	return strings.Contains(cmd.Use, "[FILE") || cmd.Flags().Changed(fromToolCall)
}

// ownWords returns what stands in a verb's usage for the arguments that it needs before a server's command.
func ownWords(cmd *cobra.Command) (own []string) {
	if cmd.Flags().Changed(fromToolCall) {
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

// forgottenError says that a word of a command line is a server's command or address, since -- or --url was forgotten.
type forgottenError struct {
	*fault.UsageError
	word string
}

// Unwrap returns the usage error.
func (e *forgottenError) Unwrap() error { return e.UsageError }

// Next returns the corrected command.
func (e *forgottenError) Next() string {
	command, _, _ := strings.Cut(e.Fix, "; ")
	return command
}

// forgotten returns the error of a command line whose own arguments have a server's command or address; nil where they
// have none. exact reports whether something has a word for its whole name, which is then meant.
func (a *App) forgotten(cmd *cobra.Command, exact func(word string) bool) *forgottenError {
	if !a.launchless(cmd) {
		return nil
	}
	given, own := cmd.Flags().Args(), ownWords(cmd)
	wrong := make([]misplaced, len(given))
	for i, word := range given {
		switch as := misplacedAs(word); {
		case as == "", exact(word), as == inURL && strings.Contains(cmd.Use, "URL"):
		case (as == inScript || as == inConfig) && i == 0 && takesFile(cmd):
		default:
			wrong[i] = as
		}
	}
	for i, as := range wrong {
		if i < len(own) && as != "" {
			later := slices.ContainsFunc(wrong[i+1:], func(w misplaced) bool { return w == inCommand || w == inURL })
			needed := own[i] == "URI" || own[i] == "REF" || len(given) <= len(own) && own[i] == "NAME"
			if later || needed {
				continue
			}
		}
		if as != "" {
			return &forgottenError{fault.Usage(as.problem(given[i]), a.corrected(cmd, i, as)), given[i]}
		}
	}
	return nil
}

// problem says what is wrong with a word.
func (m misplaced) problem(word string) string {
	switch m {
	case inURL:
		return "'" + word + "' is an address, and --url is missing before it"
	case inConfig:
		return "'" + word + "' is a file, and --config is missing before it"
	case inScript:
		return "'" + word + "' is a file, and a server's command follows --"
	}
	return "'" + word + "' is a program, and a server's command follows --"
}

// corrected returns the command line with the word of a place among its own arguments, and what follows it, where they
// belong.
func (a *App) corrected(cmd *cobra.Command, place int, as misplaced) string {
	path := strings.Fields(cmd.CommandPath())
	given, own := cmd.Flags().Args(), ownWords(cmd)
	at := a.indexOf(append(slices.Clone(path[1:]), given[:place+1]...))
	before, rest := slices.Clone(a.args[:at]), slices.Clone(a.args[at:])
	if !cmd.HasParent() {
		before = append(before, "list")
	}
	missing := own[min(place, len(own)):]
	before = append(before, missing...)
	line := func(words ...[]string) string {
		return exec.PasteLine(slices.Concat(append([][]string{{path[0]}}, words...)...)...)
	}
	switch as {
	case inURL:
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

// ownSwitch reports whether a word is a switch of this verb alone, such as --json: at the end of a line it is hardly
// meant for the server.
func ownSwitch(cmd *cobra.Command, word string) bool {
	name, long := strings.CutPrefix(word, "--")
	flag := cmd.LocalNonPersistentFlags().Lookup(name)
	return long && flag != nil && flag.Value.Type() == "bool"
}

// indexOf returns where in the arguments of toolx the last of words stands, which stand there in this order, with flags
// between them.
func (a *App) indexOf(words []string) int {
	at := -1
	for _, word := range words {
		if next := slices.Index(a.args[at+1:], word); next >= 0 {
			at += 1 + next
		}
	}
	return max(at, 0)
}

// rightly returns err, or why it came about if a server's command stands in the wrong place. It keeps the names that
// are similar to one that nothing has.
func (a *App) rightly(err error) error {
	var reported *reportedError
	var told *forgottenError
	var usage *fault.UsageError
	kind := fault.KindOf(err)
	switch {
	case err == nil, errors.As(err, &reported), errors.As(err, &told), !a.launchless(a.cmd):
		return err
	case kind == fault.KindNotFound, errors.As(err, &usage) && usage.Server != "":
	case kind != fault.KindUsage, !a.hasSpareWords():
		return err // the only argument of a verb that needs one is not wrong because a program has its name
	}
	forgotten := a.forgotten(a.cmd, a.keptNames())
	if forgotten == nil {
		return err
	}
	var missing *exec.NotFoundError
	if errors.As(err, &missing) && (len(missing.Near) > 0 || len(missing.Candidates) > 0) {
		return &failure{err, kind, fault.HintOf(err) + "; as a program: " + forgotten.Fix}
	}
	return forgotten
}

// hasSpareWords reports whether a command line has more words than its verb needs.
func (a *App) hasSpareWords() bool {
	assigns := func(word string) bool { return strings.Contains(word, "=") }
	return len(slices.DeleteFunc(slices.Clone(a.cmd.Flags().Args()), assigns)) > len(ownWords(a.cmd))
}

// keptNames returns what reports whether a server, a tool of toolx's own or one in a catalogue has a name.
func (a *App) keptNames() func(name string) bool {
	log := a.log
	a.log = slog.New(slog.DiscardHandler) // the verb has said what there is to say about the config
	defer func() { a.log = log }()
	known, _ := a.offline(nil)
	if known == nil {
		known = &offline{App: a, config: &config.Config{}}
	}
	local := known.local()
	return func(name string) bool {
		if _, err := local.Find(name); err == nil {
			return true
		}
		return slices.ContainsFunc(known.config.Servers, func(server *config.Server) bool {
			return server.Name == name || known.store.Read(server.Identity()).List(catalog.Tools).Find(name) != nil
		})
	}
}

// checkPatterns returns the error of a pattern that is a server's command, whose -- was forgotten, unless it is a whole
// name: that of a registered tool, of what exact knows, or where that is nil, of what the catalogues have. Then nothing
// is said if one is missing.
func (b *toolbox) checkPatterns(filter toolFilter, kind catalog.Kind, exact func(name string) bool) error {
	if len(filter.patterns) == 0 || b.adHoc {
		return nil
	}
	if exact == nil {
		var lists []*catalog.List
		for _, name := range b.pool.Names() {
			list := catalogStore().Read(b.server(name).Identity()).List(kind)
			if list == nil {
				return nil
			}
			lists = append(lists, list)
		}
		exact = func(name string) bool {
			return slices.ContainsFunc(lists, func(list *catalog.List) bool { return list.Find(name) != nil })
		}
	}
	forgotten := b.forgotten(b.cmd, func(word string) bool {
		_, err := b.registry.Find(word)
		var missing *exec.NotFoundError
		unknown := errors.As(err, &missing) && len(missing.Candidates) == 0
		return !slices.Contains(filter.patterns, word) || !unknown || exact(word)
	})
	if forgotten == nil {
		return nil
	}
	if !strings.ContainsAny(forgotten.word, `/\:`) {
		forgotten.Fix += "; as a part of names: " + exec.PasteLine("*"+forgotten.word+"*")
	}
	return forgotten
}

// unknownFlag explains a flag that toolx does not have: it is misspelt, an argument of the tool, or an option of a
// server whose -- was forgotten.
func (a *App) unknownFlag(cmd *cobra.Command, missing *pflag.NotExistError) string {
	all := cmd.CommandPath() + " --help shows every flag"
	if near := nearFlag(cmd.Flags(), missing); near != "" {
		return "did you mean: " + a.withFlag(missing, near) + "; " + all
	}
	given, own := cmd.Flags().Args(), ownWords(cmd)
	if a.launchless(cmd) && len(given) > len(own) && !strings.Contains(given[len(own)], "=") {
		return "a server's command follows --: " + a.corrected(cmd, len(own), inCommand) + "; " + all
	}
	switch name := missing.GetSpecifiedName(); {
	case cmd.Name() != "call" || len(name) < 2:
	case len(given) == 0:
		return "an argument of the tool is written " + name + "=value; " + all
	default:
		return "arguments of a tool have no dashes: " + a.asArguments(cmd) + "; " + all
	}
	return all
}

// withFlag returns the command line with another flag in the place of one that does not exist.
func (a *App) withFlag(missing *pflag.NotExistError, near string) string {
	wrong := cmp.Or(missing.GetSpecifiedShortnames(), missing.GetSpecifiedName())
	line := []string{"toolx"}
	for _, arg := range a.args {
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

// asArguments returns the command line with k=v in the place of each --k v that is no flag.
func (a *App) asArguments(cmd *cobra.Command) string {
	line := []string{"toolx"}
	for i := 0; i < len(a.args); i++ {
		name, value, set := strings.Cut(strings.TrimPrefix(a.args[i], "--"), "=")
		if !strings.HasPrefix(a.args[i], "--") || cmd.Flags().Lookup(name) != nil {
			line = append(line, a.args[i])
			continue
		}
		switch {
		case set:
		case i+1 < len(a.args) && !strings.HasPrefix(a.args[i+1], "-"):
			i++
			value = a.args[i]
		default:
			value = "true"
		}
		line = append(line, name+"="+value)
	}
	return exec.PasteLine(line...)
}
