package cause

import (
	"cmp"
	"slices"
	"strings"

	"toolx/pkg/words"
)

// addAdvice adds the server's own advice and the place in its code where it failed to a cause.
func addAdvice(o *output, c *Cause) {
	if c.Kind == Said {
		c.lineKind = kindOfQuote(o, c.Line)
	}
	c.Fixes = append(c.Fixes, advice(o, c)...)
	if c.Kind == Login || c.Kind == Program { // setting variables may be an alternative
		if unset := unsetVariables(o, c.Line); unset != nil {
			c.Fixes = append(c.Fixes, unset.Fixes[0])
		}
	}
	c.nameFolder(o.Folder)
	c.Place = o.place()
	see := "in the server: see " + c.Place + ", where the error comes from"
	switch {
	case c.Place == "":
	case c.Kind == Package: // the user's own package, not an installed one
		c.Fixes = slices.Insert(c.Fixes, 0, see)
	case c.Kind == Said, c.Kind == Other && languageError().MatchString(c.Line):
		c.Fixes = append(c.Fixes, see)
	}
	c.Fixes = slices.Compact(c.Fixes)
}

// advice returns the server's own advice: the lines after the main line that say what to do, its usage, and how it is
// started.
func advice(o *output, c *Cause) []string {
	const most, following = 3, 14
	head := o.head
	var fixes []string
	add := func(text string) {
		short := words.Shorten(text, 200)
		known := slices.ContainsFunc(fixes, func(fix string) bool { return strings.Contains(fix, short) })
		if !known && text != c.Line && strings.Contains(text, " ") { // a single word is the rest of a sentence
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
		describes := c.Line != "" && c.Line == o.usage && !orders().MatchString(l.text) // it describes the program
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
			fixes = []string{"check whether one of its sub-commands starts the server (it may not be an MCP server): " +
				commandGroup(o) + " --help"}
		case slices.ContainsFunc(o.all, commandsHeading().MatchString):
			fixes = []string{"check its documentation for what to start: none of the sub-commands that it lists " +
				"looks like a server's, so it may not be an MCP server"}
		default:
			fixes = generalFixes(c.Kind, c.Line)
		}
		fixes = append(fixes, usageFix(o))
	}
	if len(c.Fixes)+len(fixes) > 0 || c.Kind == Files || c.Kind == Busy {
		return fixes
	}
	if c.Kind == Said && o.path(head) != "" {
		return []string{"set " + o.path(head) + " in args or env of this server"}
	}
	if fixes = generalFixes(c.Kind, c.Line); fixes == nil {
		fixes = quoteFixes(o, c.Line)
	}
	if c.Kind == Said && o.usage != "" {
		fixes = append(fixes, usageFix(o))
	}
	return fixes
}

// quoteFixes returns fixes for a line that no rule matches.
func quoteFixes(o *output, line string) []string {
	const where = " in args or env of this server: "
	said := withoutNames(line)
	if mistake().MatchString(said) {
		if o.place() != "" {
			return nil // the place is a sufficient hint
		}
		return []string{
			"use another version of the server or of its runtime: this is a bug in its code",
			"report it to the server's author",
		}
	}
	var verb string
	switch {
	case unknownWord().MatchString(line):
		word := cmp.Or(unknownWord().FindStringSubmatch(line)[1:]...)
		return []string{"correct " + word + " in args of this server, or remove it: its --help lists what it supports"}
	case lacksValue().MatchString(said) && !malformedPart().MatchString(said):
		verb = "set what it asks for"
	case lacksFile().MatchString(line):
		return []string{"create it, or correct its path"}
	case badText().MatchString(said) && !flag().MatchString(line) && !isVariableName(capital(line)):
		return nil // the text comes from elsewhere
	case wrongValue().MatchString(said):
		verb = "correct it"
	default:
		return nil
	}
	return []string{verb + where + words.Shorten(bare(line), 200)}
}

// generalFixes returns the fixes of a kind, for a cause without advice from the server.
func generalFixes(kind Kind, line string) []string {
	switch kind {
	case Argument:
		return []string{"add the argument to args of this server"}
	case Subcommand:
		return []string{"add the sub-command that starts the MCP server to args, such as serve, start or mcp"}
	case Login:
		if configFile().MatchString(line) {
			return []string{"put the credentials where the line says; the server's documentation says how to get them"}
		}
		return []string{"log in as the server's documentation says, in a terminal, as the user who runs the client"}
	case Config:
		return []string{"create the file that the message names, or give the server its path"}
	}
	return nil
}
