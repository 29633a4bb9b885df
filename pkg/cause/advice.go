package cause

import (
	"cmp"
	"slices"
	"strings"

	"toolx/pkg/words"
)

// addAdvice completes a cause with what the server itself says about what to do, and where in its code it failed.
func addAdvice(o *output, c *Cause) {
	if c.Kind == Said {
		c.told = kindOfQuote(o, c.Line)
	}
	c.Fixes = append(c.Fixes, advice(o, c)...)
	if c.Kind == Login || c.Kind == Program { // variables may do in its place
		if unset := unsetVariables(o, c.Line); unset != nil {
			c.Fixes = append(c.Fixes, unset.Fixes[0])
		}
	}
	c.nameFolder(o.Folder)
	c.Place = o.place()
	see := "in the server: see " + c.Place + ", where the error comes from"
	switch {
	case c.Place == "":
	case c.Kind == Package: // it is somebody's own, and not installed
		c.Fixes = slices.Insert(c.Fixes, 0, see)
	case c.Kind == Said, c.Kind == Other && languageError().MatchString(c.Line):
		c.Fixes = append(c.Fixes, see)
	}
	c.Fixes = slices.Compact(c.Fixes)
}

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
func advice(o *output, c *Cause) []string {
	const most, following = 3, 14
	head := o.head
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
	for i := head + 1; i < min(len(o.lines), head+following) && len(fixes) < most; i++ {
		l := o.lines[i]
		describes := c.Line != "" && c.Line == o.usage && !orders().MatchString(l.text) // what the program is for
		if l.help || l.text == "" || describes || genericError().MatchString(l.text) {
			continue
		}
		if advises().MatchString(l.text) {
			text := o.sentence(i)
			add(text)
			if i+1 < len(o.lines) && strings.HasSuffix(text, o.lines[i+1].text) {
				i++ // the sentence ends with that line
			}
		}
	}
	switch sub := subcommand(o); {
	case c.Kind == Subcommand && sub != "":
		fixes = append([]string{"give the sub-command in args of this server: " + sub}, fixes...)
	case o.usage != "" && slices.Contains([]Kind{Subcommand, Argument, Variable}, c.Kind):
		switch {
		case c.Kind != Subcommand || len(c.Fixes)+len(fixes) > 0:
		case commandGroup(o) != "":
			fixes = []string{"see whether one of its sub-commands starts the server (it may be no MCP server): " +
				commandGroup(o) + " --help"}
		case slices.ContainsFunc(o.all, commandsHeading().MatchString):
			fixes = []string{"see on its page what to start: none of the sub-commands that it prints sounds like a " +
				"server's, and it may be no MCP server"}
		default:
			fixes = generalFixes(c.Kind, c.Line)
		}
		fixes = append(fixes, usageFix(o))
	}
	if len(c.Fixes)+len(fixes) > 0 || c.Kind == Files || c.Kind == Busy {
		return fixes
	}
	if c.Kind == Said && o.path(head) != "" {
		return []string{"give the server a value for " + o.path(head) + ", in args or env"}
	}
	if fixes = generalFixes(c.Kind, c.Line); fixes == nil {
		fixes = quoteFixes(o, c.Line)
	}
	if c.Kind == Said && o.usage != "" {
		fixes = append(fixes, usageFix(o))
	}
	return fixes
}

// quoteFixes are for a line from which no rule knows what to do.
func quoteFixes(o *output, line string) []string {
	const where = " in args or env of this server: "
	said := wordsOf(line)
	if mistake().MatchString(said) {
		if o.place() != "" {
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
