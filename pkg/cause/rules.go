package cause

import (
	"cmp"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"toolx/pkg/rules"
	"toolx/pkg/words"
)

// leads are the words before a quoted line, by kind.
var leads = map[Kind]string{
	Argument:   "an argument is missing: ",
	Subcommand: "a sub-command is missing: ",
	Login:      "a login is missing: ",
	Config:     "its configuration is missing: ",
	Backend:    "what it depends on cannot be reached: ",
	Program:    "a program that it runs is missing: ",
	Addon:      "a native module does not load: ",
	Package:    "the package is broken: ",
	Runtime:    "it does not run on this Node: ",
}

// applied returns the cause of the first rule that text matches, or nil. line is the line to quote.
func (s *saying) applied(list []*rules.Rule, text, line string) *Cause {
	for _, r := range list {
		groups, found := r.Find(text, s.all)
		if !found {
			continue
		}
		thing, kind := bare(strings.Join(groups, ":")), Kind(r.Get("kind"))
		c := &Cause{Rule: r.Name(), Kind: kind, Line: line, What: leads[kind] + quoted(line)}
		if what := r.Get("what"); what != "" {
			said := strings.ReplaceAll(what, "%s", words.Shorten(thing, longest))
			c.What = strings.TrimSuffix(strings.Join(strings.Fields(said), " "), ":")
		}
		for _, fix := range r.All("fix") {
			c.Fixes = append(c.Fixes, strings.ReplaceAll(fix, "%s", thing))
		}
		s.complete(c, thing, text)
		return c
	}
	return nil
}

// complete adds to the cause of a rule what depends on its kind: thing is what the rule found in text.
func (s *saying) complete(c *Cause, thing, text string) {
	switch c.Kind {
	case Runtime:
		s.blameNode(c, thing)
	case Addon:
		module := cmp.Or(thing, s.module())
		if module != "" {
			c.What = "the native module " + module + " does not load: " + quoted(c.Line)
		}
		c.Fixes = s.addonFixes(module)
	case Subcommand:
		if s.wantsAny() {
			c.Kind, c.What = Argument, leads[Argument]+quoted(c.Line)
		}
	case Argument:
		if library := s.library(); library != "" {
			c.Kind, c.What = Said, quoted(c.Line)
			c.Fixes = []string{"see which value of args or env the server gives to " + library + ": it may be missing"}
			return
		}
		flags := s.missingFlags(c.Line, text)
		isGiven := func(flag string) bool {
			name, _, _ := strings.Cut(flag, " ")
			return slices.ContainsFunc(s.Args, func(arg string) bool {
				return arg == name || strings.HasPrefix(arg, name+"=")
			})
		}
		if len(flags) > 0 && !slices.ContainsFunc(flags, func(flag string) bool { return !isGiven(flag) }) {
			c.Kind, c.What = Value, quoted(c.Line)
			c.Fixes = []string{"see the server's --help: it is given " + strings.Join(flags, ", ")}
			return
		}
		if len(flags) > 0 {
			separator := ", "
			if otherFlag().MatchString(c.Line) {
				separator = " or "
			}
			c.Fixes = append([]string{"add to args of this server: " + strings.Join(flags, separator)}, c.Fixes...)
		}
		if found := orVariable().FindStringSubmatch(c.Line); found != nil && !hasValue(s.Environ, found[1]) {
			c.Fixes = append(c.Fixes, "or set "+found[1]+" in env of this server")
		}
	case Login:
		if flags := s.listedFlags(); len(flags) > 0 {
			c.Fixes = append(c.Fixes, "give the credentials in args of this server: "+strings.Join(flags, ", "))
		}
	case Package:
		if found := ownFile().FindStringSubmatch(c.Line); found != nil && found[1] == found[2] {
			c.Fixes = []string{
				"use another version of the package: this one was published without a file of its own",
				"tell the package's author",
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
			c.Fixes = []string{"fill in " + file + ", which it has just made"}
		case file != "" && len(c.Fixes) == 0:
			c.Fixes = append(c.Fixes, "create "+file+", or give the server another path")
		}
	}
}

// missingFlags returns the flags that a sentence about a missing argument names: in the text that a rule matched, in
// what follows, or in the line, as the argument's name.
func (s *saying) missingFlags(line, text string) []string {
	if flags := flagsIn(text); len(flags) > 0 {
		return flags
	}
	if flags := flagsIn(s.behind); len(flags) > 0 {
		return flags
	}
	if found := namedArgument().FindStringSubmatch(line); found != nil {
		return found[1:]
	}
	return nil
}

// listedFlags returns the first flags that lines of the output begin with, outside of a usage text.
func (s *saying) listedFlags() []string {
	var flags []string
	for _, l := range s.lines {
		if strings.HasPrefix(l.text, "--") && !l.help {
			flags = append(flags, l.text)
		}
	}
	return flagsIn(strings.Join(flags, "\n"))
}

var (
	// ownFile matches a file of a package that another file of a package imports.
	ownFile = expression(`node_modules/((?:@[\w.-]+/)?[\w.-]+)/[^' ]+\.\w+' imported from ` +
		`\S*node_modules/((?:@[\w.-]+/)?[\w.-]+)/`)
	// orVariable matches a variable that may be set in place of an argument.
	orVariable = expression(`\bor (?:the |set )?([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b`)
	// positionals matches the heading of arguments without a name in yargs' help.
	positionals = expression(`^Positionals:$`)
	// namedArgument matches an argument that is named in quotes.
	namedArgument = expression(`(?i)argument:? ['"<]*([\w-]+)`)
	configFile    = expression(`[\w~./\\:-]*[\w-]\.(?:json|ya?ml|toml|ini|env|conf)\b`)
	// configMade matches what a program says that has written a config file for want of one.
	configMade = expression(`(?i)\bconfig\w*(?: file)?\b.{0,20}\b(?:created|generated|written)|` +
		`\b(?:created|generated|wrote) (?:\w+ ){0,3}config`)
)

// modulePath matches the path of a native module in a package, or of the file that requires it.
var modulePath = expression(`.*node_modules/((?:@[\w.-]+/)?[\w.-]+)/[^'"\n]*\.node\b|` +
	`^(?:- |\s+at .*\()\S*node_modules/((?:@[\w.-]+/)?[\w.-]+)/|` +
	`deno/npm/[^/]+/((?:@[\w.-]+/)?[\w.-]+)/[\d.]+[^'"\n]*\.node\b`)

// module returns the name of the native module that the output names; empty if it does not.
func (s *saying) module() string {
	for _, text := range s.all {
		if found := modulePath().FindStringSubmatch(text); found != nil {
			return cmp.Or(found[1:]...)
		}
	}
	return ""
}

// blameNode completes a cause of Node's version: feature is the version that the line names, or what is missing.
func (s *saying) blameNode(c *Cause, feature string) {
	wanted := feature
	if !digit().MatchString(feature) {
		wanted = cmp.Or(s.Engines, nodeFeatures[feature])
	}
	on := "this Node"
	if s.Node != "" {
		on = "Node " + s.Node
	}
	c.What = fmt.Sprintf("it does not run on %s: %s", on, quoted(c.Line))
	c.Fixes = []string{nodeFix(wanted, s.Node)}
}

var digit = expression(`^\d`)

// nodeFeatures has the first version of Node with a global, an export or an error's remedy (nodejs.org/api).
var nodeFeatures = map[string]string{
	"File": "20", "CustomEvent": "20", "crypto": "20", "WebSocket": "22", "navigator": "22", "fetch": "18",
	"Headers": "18", "Request": "18", "Response": "18", "FormData": "18", "structuredClone": "18", "Iterator": "22",
	"ReadableStream": "18", "WritableStream": "18", "TransformStream": "18", "Blob": "18", "BroadcastChannel": "18",
	"CloseEvent": "23", "EventSource": "25", "Float16Array": "24", "CompressionStream": "18", "Storage": "25",
	"parseEnv": "20.12", "styleText": "20.12", "enableCompileCache": "22.8", "registerHooks": "22.15",
	"stripTypeScriptTypes": "22.13", "findPackageJSON": "22.14", "glob": "22", "globSync": "22", "parseArgs": "18.3",
	"getCallSites": "22.9", "isBuiltin": "18.6", "availableParallelism": "18.14", "openAsBlob": "20",
	"markAsUncloneable": "22.10", "getBuiltinModule": "22.3", "withResolvers": "22", "fromAsync": "22",
	"groupBy": "22", "toSorted": "20", "toReversed": "20", "toSpliced": "20", "isWellFormed": "20", "union": "22",
	"intersection": "22", "difference": "22", "escape": "24", "loadEnvFile": "20.12", "hasOwn": "18", "any": "20.3",
	"sqlite": "22.5", "sea": "20.12", "isSubsetOf": "22", "symmetricDifference": "22", "try": "24",
	"ERR_REQUIRE_ESM": "20.19", "toWellFormed": "20", "findLast": "18", "findLastIndex": "18", "at": "18", "with": "20",
}

// languageError matches errors that the version of the language explains.
var languageError = expression(`(?:Type|Reference|Syntax)Error\b|ERR_\w+`)

//go:embed rules.txt
var rulesText string

// readRules returns the rules of rules.txt: those for any line, and those for the sentence that says why.
var readRules = sync.OnceValues(func() (line, sentence []*rules.Rule) {
	plain, said, _ := strings.Cut(rulesText, "\n== sentence\n")
	return rules.Read(plain), rules.Read(said)
})

// systemPackage matches names of packages that hold a module for one system: "sharp-linux-x64".
var systemPackage = expression(`[-.](?:linux|darwin|win32)-`)

func (s *saying) addonFixes(name string) []string {
	if systemPackage().MatchString(name) {
		return []string{
			"install " + name + ", an optional dependency: npm install without --omit=optional, and without a lock " +
				"file or a node_modules of another system",
		}
	}
	if fixes := s.unbuiltFixes(name); name != "" && fixes != nil {
		return fixes
	}
	return []string{
		strings.TrimSpace("build it again with the Node that runs the server: npm rebuild " + name),
		strings.TrimSpace("if its install script did not run (--ignore-scripts, and npm 12 by itself), allow that " +
			"first: npm install-scripts approve " + name),
	}
}

// unbuiltFixes returns what to do about a native module that a launcher has installed without its script, as newer ones
// do; nil if none has.
func (s *saying) unbuiltFixes(name string) []string {
	output := strings.Join(s.all, "\n")
	switch folder := npxFolder().FindString(output); {
	case folder != "":
		return []string{
			"npm 12 runs no install scripts by itself: delete " + folder + ", and add --allow-scripts=" + name +
				" to args of this server, before the package",
			"or build it with the Node that runs the server: npm rebuild " + name + " in that folder",
		}
	case pnpmFolder().MatchString(output):
		return []string{
			"pnpm runs no install scripts by itself: add --allow-build=" + name + " to args of pnpm dlx, before the " +
				"package; in a project pnpm approve-builds",
		}
	case denoFolder().MatchString(output):
		return []string{
			"Deno runs no install scripts by itself: add --node-modules-dir=auto --allow-scripts=npm:" + name +
				" to args of deno run, before the program, in an empty folder (cwd)",
		}
	}
	return nil
}

var (
	// npxFolder matches the folder of npm's cache in which npx installs a package.
	npxFolder = expression(`(?:/|[A-Za-z]:\\)[^\s'"]*[\\/]_npx[\\/][0-9a-f]+`)
	// pnpmFolder and denoFolder match where pnpm and Deno install packages.
	pnpmFolder = expression(`node_modules[\\/]\.pnpm[\\/]`)
	denoFolder = expression(`[\\/]deno[\\/]npm[\\/]|node_modules[\\/]\.deno[\\/]`)
)

// flag matches a flag of a command line with its value.
var flag = expression(`(?:^|[\s\x60'"(\[,:])(--[a-zA-Z][\w-]*(?:[= ]?(?:<[^>\s]+>|\[[^\]\s]+\]))?|-[a-z][\w-]+|` +
	`-\w, --[a-zA-Z][\w-]*(?: <[^>]+>)?)`)

// namedFlag matches a flag that is named without its hyphens; yargs calls flags arguments, and lists them after a
// colon.
var namedFlag = expression(`(?i)required (?:(?:flag|option)(?:s|\(s\))?:?|` +
	`arguments?:) \(?[\x60'"]?([a-z][\w-]*(?:, [a-z][\w-]*)*)`)

// otherFlag matches a sentence of flags of which one is enough: "one of --stdio, --http", "--stdio or --http".
var otherFlag = expression(`(?i)\b(?:one of|any of|either)\b.*?[\s\x60'"(\[]--?[a-z]|` +
	`--?[a-z][\w-]*[\x60'"]?,? or [\x60'"]?--?[a-z]`)

// beingMissed matches the word after "required arguments" that is no name of one.
var beingMissed = expression(`(?i)^(?:is|are|was|were|not|missing|for)$`)

// flagsIn returns the first flags that a text names.
func flagsIn(text string) []string {
	const most = 4
	var flags []string
	for _, found := range flag().FindAllStringSubmatch(text, -1) {
		name := found[1]
		switch {
		case strings.HasPrefix(name, "--help"), strings.HasPrefix(name, "--version"), slices.Contains(flags, name):
		case len(flags) < most:
			flags = append(flags, name)
		}
	}
	found := namedFlag().FindStringSubmatch(text)
	if found != nil && len(flags) == 0 && !beingMissed().MatchString(found[1]) {
		names := strings.Split(found[1], ", ")
		for _, name := range names[:min(len(names), most)] {
			flags = append(flags, "--"+name)
		}
	}
	return flags
}

var (
	// startLine is a line of the output that says how the server is started: "Run 'x mcp' to start the MCP server".
	startLine = expression(`(?i)\brun:? [\x60'"]([^\x60'"]+)[\x60'"] to (?:start|run|launch)|` +
		`\b(?:expected|did you mean|run|use|try|start|launch)\b.*[\x60'"]((?:[\w@/.-]+ )?(?:mcp|serve|server|` +
		`start|stdio|run)(?: \w+)?)[\x60'"]`)
	// serverCommand is a sub-command in a list that is about the server itself.
	serverCommand = expression(`^((?:serve|server|start|stdio|mcp[:-]\w+|(?:serve|server|start|run)[:-]mcp|` +
		`mcp (?:serve|start|run|stdio))(?: (?:start|serve|run|stdio|mcp))?)` +
		`\b(?:\|[\w:-]+)?(?:\s{2,}|\s*$|\s+\[|, )|^(mcp|` +
		`run)(?:\|[\w:-]+)?(?: \[[^\]]*\])*\s{2,}.*(?i:\b(?:start|run|serve|launch)\b|` +
		`\b(?:mcp|model context protocol) server\b(?:$|[.,:(]| (?:over|on|for|with|mode|operations)\b))`)
	// example is a command line among examples.
	example = expression(`^(?:[$>]\s*)?([\w@/.-]+ (?:\w+ )?(?:mcp start|mcp serve|mcp|serve|server|start|` +
		`stdio)(?:\s+[^\sa-z].*|\s{2,}.*)?)$`)
	// wanted is an argument that a usage line asks for.
	wantedArgument = expression(`<[^<>]+>|\b[A-Z]{3,}[A-Z_]*\b`)
	commandWord    = expression(`(?i)[<\[](?:sub)?commands?[>\]]|\bCOMMAND\b`)
)

// manages matches what follows a sub-command that has others: "server  Daemon lifecycle (start/stop/status)".
var manages = expression(`(?i)\s{2,}.*(?:\bstart *[/|,] *stop\b|\blifecycle\b|\bmanage)`)

// ofClient matches commands of clients that keep servers in their configs: "claude mcp add".
var ofClient = expression(`\bmcp (?:add|remove|list|get|login)\b`)

// maxIndent is how far a list of sub-commands is indented at most; what each does goes on further to the right.
const maxIndent = 8

// subcommand returns how the output says that the server is started; empty if it does not.
func (s *saying) subcommand() string {
	for _, l := range s.lines {
		if found := startLine().FindStringSubmatch(l.text); found != nil && !ofClient().MatchString(found[2]) {
			return cmp.Or(found[1], found[2])
		}
	}
	program, listed, started := programOf(s.usage), "", ""
	for _, l := range s.lines {
		if found := example().FindStringSubmatch(l.text); found != nil && l.help && starts(found[1], program) {
			command, does, _ := strings.Cut(found[1], "  ") // what it does follows
			command, _, _ = strings.Cut(command, " [")      // and what may be given to it
			command = strings.TrimSpace(command)
			if !strings.HasSuffix(command, " start") || aboutServer().MatchString(command+does) {
				return command
			}
			started = cmp.Or(started, command)
			continue
		}
		own := program[strings.LastIndex(program, " ")+1:]                               // npx may stand before it
		found := serverCommand().FindStringSubmatch(strings.TrimPrefix(l.text, own+" ")) // yargs repeats it
		indent := len(l.raw) - len(strings.TrimLeft(l.raw, " "))
		if found == nil || !l.help || manages().MatchString(l.text) || indent > maxIndent {
			continue
		}
		if name := cmp.Or(found[1], found[2]); listed == "" || strings.Contains(name, "mcp") {
			listed = name
		}
	}
	if listed == "" {
		listed = choice().FindString(braces().FindString(s.usage))
	}
	command := started
	if listed != "" {
		command = strings.TrimSpace(program + " " + listed)
	}
	if strings.HasSuffix(command, "start") && !slices.ContainsFunc(s.all, aboutServer().MatchString) {
		return "" // what it starts may be anything
	}
	return command
}

// aboutServer matches what a sub-command that starts the server says of itself.
var aboutServer = expression(`(?i)\b(?:mcp|server|stdio)\b`)

// commandGroup returns the sub-command that is about the server and has others, with its program; empty if the output
// lists none.
func (s *saying) commandGroup() string {
	for _, l := range s.lines {
		if found := groupCommand().FindStringSubmatch(l.text); found != nil && l.help {
			return strings.TrimSpace(programOf(s.usage) + " " + found[1])
		}
	}
	return ""
}

// groupCommand matches a sub-command in a list, such as "mcp  Manage the MCP server".
var groupCommand = expression(`^(mcp|server)\s{2,}\S`)

// starts reports whether a command line begins with a program or with what runs programs; a program that is not known
// may be any.
func starts(line, program string) bool {
	first, _, _ := strings.Cut(line, " ")
	return program == "" || path.Base(first) == path.Base(program) || runsPrograms().MatchString(first)
}

var runsPrograms = expression(`^(?:npx|bunx|uvx|pipx|node|bun|deno|python\d?|docker)$`)

var (
	// braces matches a list of sub-commands in a usage line: {serve,index,version}.
	braces = expression(`\{[\w,|-]+\}`)
	choice = expression(`\b(?:mcp|serve|server|start|stdio)\b`)
)

// programOf returns the program that a usage line begins with; empty if there is none.
func programOf(usage string) string {
	fields := strings.Fields(usage)
	fields = slices.DeleteFunc(fields, func(field string) bool { return field == "$" })
	if len(fields) > 1 && strings.HasPrefix(strings.ToLower(fields[0]), "usage") && !strings.HasPrefix(fields[1], "[") {
		if len(fields) > 2 && runsPrograms().MatchString(fields[1]) && !strings.HasPrefix(fields[2], "-") {
			return fields[1] + " " + fields[2]
		}
		return fields[1]
	}
	if len(fields) == 2 && commandWord().MatchString(fields[1]) {
		return fields[0]
	}
	return ""
}

// usageCause returns the cause of a server that printed its usage; nil if it did not, or if it says that something
// else is wrong.
func (s *saying) usageCause() *Cause {
	if s.head >= 0 && s.lines[s.head].weight >= hints {
		return nil
	}
	if c := s.requiredVariables(); c != nil {
		return c
	}
	sub := s.subcommand()
	if s.usage == "" && sub == "" {
		return nil
	}
	if found := assigned().FindStringSubmatch(s.usage); found != nil && !hasValue(s.Environ, found[1]) {
		return s.unsetCause([][]string{{found[1]}}, "")
	}
	switch {
	case sub != "":
		return &Cause{Kind: Subcommand, Line: cmp.Or(s.usage, sub), What: "a sub-command is missing: " + sub}
	case commandWord().MatchString(s.usage) && !s.wantsAny():
		return &Cause{Kind: Subcommand, Line: s.usage, What: "a sub-command is missing: " + quoted(s.usage)}
	case wantedArgument().MatchString(s.usage):
		return &Cause{Kind: Argument, Line: s.usage, What: "an argument is missing: " + quoted(s.usage)}
	}
	return nil
}

// assigned matches a variable in a usage line: "Usage: API_KEY=xxx server".
var assigned = expression(`(?i:usage: +)([A-Z][A-Z0-9]*_[A-Z0-9_]+)=\S`)

// wantsAny reports whether the command that the usage wants is none of the program's own, but the user's, such as
// another program.
func (s *saying) wantsAny() bool {
	return strings.Contains(s.usage, "-- <command>") || slices.ContainsFunc(s.all, positionals().MatchString)
}

// commandsHeading matches the heading of a list of sub-commands.
var commandsHeading = expression(`(?i)^\s*(?:available |sub-?)?commands:?\s*$`)

// advises matches a line in which the server says what to do.
var advises = expression(`(?i)^(?:\d+[.)] |[-*•] )?(?:please\b|to sign in\b|run\b|set\b|use\b|install\b|` +
	`configure\b|provide\b|pass\b|try\b|either\b|did you mean|to (?:fix|start|use|run|get)\b|export\b|add\b|` +
	`create\b|make sure\b|ensure\b|or (?:run|set|pass|use)\b|command line argument|environment variable|` +
	`upgrade\b|you (?:can|must|need)\b|example:)|\b(?:please \S+|run [\x60'"]\S+|with:$|directly with)\b|` +
	`[.!] (?:Run:?|Start (?:the|it)) \S|, copy \S+ to \S|: (?:npm|npx|pnpm|yarn|pipx?|uvx?|brew) \S|` +
	`\x60(?:npx (?:-y )?)?[\w@./-]+ (?:configure|setup|init|login|auth)\b`)

// orders matches a line of advice that tells somebody to do something: "Create and run MCP servers" only describes a
// program.
var orders = expression(`(?i)^(?:please|you (?:can|must|need)|or\b|to )|(?i:\b(?:set|export)) [A-Z][A-Z0-9]*_|[\x60'"]\w`)

// otherWay matches a line about a missing variable that names a command or a login in its place.
var otherWay = expression(`(?i)\brun:? [\x60'"]?\w|\b(?:log|sign)[ -]?in\b|\bauthenticate\b`)

// advice returns what the server itself says about what to do: lines after the one that says why, its usage and how
// it is started.
func (s *saying) advice(c *Cause) []string {
	const most, following = 3, 14
	head := s.head
	var fixes []string
	add := func(text string) {
		short := words.Shorten(text, 200)
		known := slices.ContainsFunc(fixes, func(fix string) bool { return strings.Contains(fix, short) })
		if !known && text != c.Line && strings.Contains(text, " ") { // one word is the rest of a sentence
			fixes = append(fixes, "the server says: "+short)
		}
	}
	if c.Kind == Variable && otherWay().MatchString(c.Line) {
		fixes = append(fixes, "the server says: "+words.Shorten(bare(c.Line), 200))
	}
	said := bare(c.Line)
	if at := advises().FindStringIndex(said); at != nil && head >= 0 && c.Kind != Variable && len(c.Fixes) == 0 {
		fixes = append(fixes, "do what it says: "+words.Shorten(strings.TrimLeft(said[at[0]:], " .,!:"), 200))
	}
	for i := head + 1; i < min(len(s.lines), head+following) && len(fixes) < most; i++ {
		l := s.lines[i]
		describes := c.Line != "" && c.Line == s.usage && !orders().MatchString(l.text) // what the program is for
		if l.help || l.text == "" || describes || genericError().MatchString(l.text) {
			continue
		}
		if advises().MatchString(l.text) {
			text := s.sentence(i)
			add(text)
			if i+1 < len(s.lines) && strings.HasSuffix(text, s.lines[i+1].text) {
				i++ // the sentence ends with that line
			}
		}
	}
	switch sub := s.subcommand(); {
	case c.Kind == Subcommand && sub != "":
		fixes = append([]string{"give the sub-command in args of this server: " + sub}, fixes...)
	case s.usage != "" && slices.Contains([]Kind{Subcommand, Argument, Variable}, c.Kind):
		switch {
		case c.Kind != Subcommand || len(c.Fixes)+len(fixes) > 0:
		case s.commandGroup() != "":
			fixes = []string{"see whether one of its sub-commands starts the server (it may be no MCP server): " +
				s.commandGroup() + " --help"}
		case slices.ContainsFunc(s.all, commandsHeading().MatchString):
			fixes = []string{"see on its page what to start: none of the sub-commands that it prints sounds like a " +
				"server's, and it may be no MCP server"}
		default:
			fixes = generalFixes(c.Kind, c.Line)
		}
		fixes = append(fixes, s.usageFix())
	}
	if len(c.Fixes)+len(fixes) > 0 || c.Kind == Files || c.Kind == Busy {
		return fixes
	}
	if c.Kind == Said && s.path(head) != "" {
		return []string{"give the server a value for " + s.path(head) + ", in args or env"}
	}
	if fixes = generalFixes(c.Kind, c.Line); fixes == nil {
		fixes = s.saidFixes(c.Line)
	}
	if c.Kind == Said && s.usage != "" {
		fixes = append(fixes, s.usageFix())
	}
	return fixes
}

// usageFix tells the program's usage.
func (s *saying) usageFix() string {
	return "its usage: " + words.Shorten(usageWord().ReplaceAllString(bare(s.usage), ""), 200)
}

// usageWord matches the word that a usage line begins with.
var usageWord = expression(`^(?i:usage): *`)

// saidFixes are for a line from which no rule knows what to do.
func (s *saying) saidFixes(line string) []string {
	const where = " in args or env of this server: "
	said := wordsOf(line)
	if mistake().MatchString(said) {
		if s.place() != "" {
			return nil // the place is hint enough
		}
		return []string{
			"use another version of the server, or of what runs it: this is a fault in its own code",
			"tell the server's author",
		}
	}
	var verb string
	switch {
	case unknownWord().MatchString(line):
		word := cmp.Or(unknownWord().FindStringSubmatch(line)[1:]...)
		return []string{"correct " + word + " in args of this server, or take it out: its --help lists what it knows"}
	case lacksValue().MatchString(said) && !malformedPart().MatchString(said):
		verb = "give what it asks for"
	case lacksFile().MatchString(line):
		return []string{"create it, or correct its path"}
	case badText().MatchString(said) && !flag().MatchString(line) && !isVariableName(capital(line)):
		return nil // of a text that it read somewhere
	case wrongValue().MatchString(said):
		verb = "correct it"
	default:
		return nil
	}
	return []string{verb + where + words.Shorten(bare(line), 200)}
}

var (
	// unknownWord matches a refusal of an argument, which is one of its groups.
	unknownWord = expression(`(?i)(?:\b(?:unknown|unrecognized|unexpected|invalid|no such) ` +
		`(?:option|flag|argument|command)s?|flag provided but not defined|no command registered for)` +
		`(?::? ['"\x60]?(--?\w[\w-]*)|:? ['"\x60]([\w-]+)['"\x60]|: ([\w-]+)$)`)
	// lacksValue matches words about a value that the server was not given.
	lacksValue = expression(`(?i)\b(?:is|are) required\b|\brequired? .*\bvariables?\b|\bmissing\b|` +
		`\bno .*\bconfigured\b|\b(?:empty|undefined)$`)
	// lacksFile matches words about a file or a folder that is not there.
	lacksFile = expression(`(?i)[ (](?:[~.]?/|[a-z]:\\)\S+: no such file or directory|` +
		`(?:不存在|找不到|見つかりません)|(?:file|path|dir)=\S+ (?:was )?not found|` +
		`\b(?:not found|no such file or directory|does not exist|not accessible)\b.*['"\x60 ](?:[~.]?/|` +
		`[A-Za-z]:[\\/])\S|\b(?:file|folder|path|director(?:y|ies))\b.* (?:not found|does not exist|` +
		`(?:is|are) (?:not )?accessible)`)
)

// wrongValue matches words about a value that the server was given, or not, or that was refused elsewhere.
var wrongValue = expression(`(?i)\b(?:invalid|wrong|required?|validation (?:errors?|failed)|must|empty|expected|` +
	`parsing environment|not (?:allowed|permitted|a (?:directory|valid)|in \S.{0,30} format)|` +
	`unexpected value|illegal|malformed|` +
	`unknown|missing|bad|should be|unsupported|not supported|please (?:provide|set|specify)|` +
	`no [\w -]{2,30}(?:specified|given|provided|supplied|configured)|status code 40[013])\b`)

// mistake matches errors of the program itself, which no value in args or env corrects.
var mistake = expression(`^panic: runtime error|\bwrong number of arguments \(given|` +
	`\b(?:Name|Attribute|Reference|UnboundLocal)Error: |` +
	`\bTypeError: .*(?:\b(?:positional|keyword) argument|argument to be|must be of type|` +
	`not (?:a function|callable)|undefined|` +
	`null|None)`)

// generalFixes are for a cause whose line the server says nothing more about.
func generalFixes(kind Kind, line string) []string {
	switch kind {
	case Argument:
		return []string{"add the argument to args of this server"}
	case Subcommand:
		return []string{"add the sub-command that starts the MCP server to args, such as serve, start or mcp"}
	case Login:
		if configFile().MatchString(line) {
			return []string{"put the credentials where the line says: the server's page tells where they come from"}
		}
		return []string{"log in as the server's page says, in a terminal and as the user that runs the client"}
	case Config:
		return []string{"create the file that the line names, or give the server its path"}
	}
	return nil
}
