package cause

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolx/pkg/rules"
	"toolx/pkg/words"
)

// prefixes are the words before a quoted line, by kind.
var prefixes = map[Kind]string{
	Argument:   "an argument is missing: ",
	Subcommand: "a sub-command is missing: ",
	Login:      "a login is missing: ",
	Config:     "its configuration is missing: ",
	Backend:    "a service that it depends on cannot be reached: ",
	Program:    "a program that it runs is missing: ",
	Addon:      "a native module does not load: ",
	Package:    "the package is broken: ",
	Runtime:    "it does not run on this Node: ",
}

// matchRules returns the cause of the first rule that text matches, or nil. line is the line to quote.
func matchRules(o *output, list []*rules.Rule, text, line string) *Cause {
	for _, r := range list {
		groups, found := r.Find(text, o.all)
		if !found {
			continue
		}
		thing, kind := bare(strings.Join(groups, ":")), Kind(r.Get("kind"))
		c := &Cause{Rule: r.Name(), Kind: kind, Line: line, What: prefixes[kind] + quoted(line)}
		if what := r.Get("what"); what != "" {
			if thing == "" {
				what = strings.TrimSuffix(what, ": %s")
			}
			said := strings.ReplaceAll(what, "%s", words.Shorten(thing, longest))
			c.What = strings.Join(strings.Fields(said), " ")
			if r.Get("sentence") == "" { // otherwise it quotes code, which keeps its colon
				c.What = strings.TrimSuffix(c.What, ":")
			}
		}
		for _, fix := range r.All("fix") {
			c.Fixes = append(c.Fixes, strings.ReplaceAll(fix, "%s", thing))
		}
		completeCause(o, c, thing, text)
		return c
	}
	return nil
}

// completeCause adds the details of a kind to the cause of a rule; thing is what the rule found in text.
func completeCause(o *output, c *Cause, thing, text string) {
	switch c.Kind {
	case Runtime:
		requireNode(o, c, thing)
	case Addon:
		module := cmp.Or(thing, o.module())
		if module != "" {
			c.What = "the native module " + module + " does not load: " + quoted(c.Line)
		}
		c.Fixes = addonFixes(o, module)
	case Subcommand:
		if wantsAnyCommand(o) {
			c.Kind, c.What = Argument, prefixes[Argument]+quoted(c.Line)
		}
	case Argument:
		if library := o.library(); library != "" {
			c.Kind, c.What = Said, quoted(c.Line)
			c.Fixes = []string{"check which args or env value the server gives to " + library + ": it may be missing"}
			return
		}
		flags := missingFlags(o, c.Line, text)
		isGiven := func(flag string) bool {
			name, _, _ := strings.Cut(flag, " ")
			return slices.ContainsFunc(o.Args, func(arg string) bool {
				return arg == name || strings.HasPrefix(arg, name+"=")
			})
		}
		if len(flags) > 0 && !slices.ContainsFunc(flags, func(flag string) bool { return !isGiven(flag) }) {
			c.Kind, c.What = Value, quoted(c.Line)
			c.Fixes = []string{"see the server's --help: args already contain " + strings.Join(flags, ", ")}
			return
		}
		if len(flags) > 0 {
			separator := ", "
			if otherFlag().MatchString(c.Line) {
				separator = " or "
			}
			c.Fixes = append([]string{"add to args of this server: " + strings.Join(flags, separator)}, c.Fixes...)
		}
		if found := orVariable().FindStringSubmatch(c.Line); found != nil && !hasValue(o.Environ, found[1]) {
			c.Fixes = append(c.Fixes, "or set "+found[1]+" in env of this server")
		}
	case Login:
		if flags := o.listedFlags(); len(flags) > 0 {
			c.Fixes = append(c.Fixes, "give the credentials in args of this server: "+strings.Join(flags, ", "))
		}
	case Package:
		if found := ownFile().FindStringSubmatch(c.Line); found != nil && found[1] == found[2] {
			c.Fixes = []string{
				"use another version of the package: this one was published without one of its files",
				"report it to the package's author",
			}
		}
	case Program:
		if c.What == thing+" is not installed" && strings.ContainsAny(thing, `/\`) {
			c.What = thing + " does not exist"
			c.Fixes = []string{"correct the path, or install the program that it names"}
		}
	case Config:
		file := configFile().FindString(text)
		switch {
		case file != "" && configMade().MatchString(text):
			c.What = "its configuration has to be filled in: " + file
			c.Fixes = []string{"fill in " + file + ", which it has just created"}
		case file != "" && len(c.Fixes) == 0:
			c.Fixes = append(c.Fixes, "create "+file+", or give the server another path")
		}
	}
}

//go:embed rules.txt
var rulesText string

// ruleTables are the rules of rules.txt: for the main line, for the main sentence, and for any line of the output.
type ruleTables struct {
	line, sentence []*rules.Rule
	anywhere       []anywhereRule
}

// anywhereRule is a rule for any line of an output. The main sentence must match sentence, unless that is nil.
type anywhereRule struct {
	*rules.Rule
	sentence *regexp.Regexp
}

// tables returns the rules.
var tables = sync.OnceValue(func() ruleTables {
	line, rest, _ := strings.Cut(rulesText, "\n== sentence\n")
	sentence, anywhere, _ := strings.Cut(rest, "\n== anywhere\n")
	all := ruleTables{line: rules.Read(line), sentence: rules.Read(sentence)}
	for _, r := range rules.Read(anywhere) {
		all.anywhere = append(all.anywhere, anywhereRule{r, r.Expression("sentence")})
	}
	return all
})
