package cause

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"toolx/pkg/words"
)

// usageCause returns the cause of a server that printed its usage; nil if it did not, or if it failed otherwise.
func usageCause(o *output) *Cause {
	if o.head >= 0 && o.lines[o.head].weight >= hints {
		return nil
	}
	if c := requiredVariables(o); c != nil {
		return c
	}
	sub := subcommand(o)
	if o.usage == "" && sub == "" {
		return nil
	}
	if found := assigned().FindStringSubmatch(o.usage); found != nil && !hasValue(o.Environ, found[1]) {
		return unsetCause(o, [][]string{{found[1]}}, "")
	}
	switch {
	case sub != "":
		return &Cause{Kind: Subcommand, Line: cmp.Or(o.usage, sub), What: "a sub-command is missing: " + sub}
	case commandWord().MatchString(o.usage) && !wantsAnyCommand(o):
		return &Cause{Kind: Subcommand, Line: o.usage, What: "a sub-command is missing: " + quoted(o.usage)}
	case wantedArgument().MatchString(o.usage):
		return &Cause{Kind: Argument, Line: o.usage, What: "an argument is missing: " + quoted(o.usage)}
	}
	return nil
}

// wantsAnyCommand reports whether the usage asks for a command of the user's choice, such as another program.
func wantsAnyCommand(o *output) bool {
	return strings.Contains(o.usage, "-- <command>") || slices.ContainsFunc(o.all, positionals().MatchString)
}

// maxIndent is the largest indentation of a sub-command in a list.
const maxIndent = 8

// subcommand returns the command line that starts the server according to its output; empty if there is none.
func subcommand(o *output) string {
	for _, l := range o.lines {
		if found := startLine().FindStringSubmatch(l.text); found != nil && !ofClient().MatchString(found[2]) {
			return cmp.Or(found[1], found[2])
		}
	}
	program, listed, started := programOf(o.usage), "", ""
	for _, l := range o.lines {
		if found := example().FindStringSubmatch(l.text); found != nil && l.help && starts(found[1], program) {
			command, does, _ := strings.Cut(found[1], "  ") // a description follows
			command, _, _ = strings.Cut(command, " [")      // and its options
			command = strings.TrimSpace(command)
			if !strings.HasSuffix(command, " start") || aboutServer().MatchString(command+does) {
				return command
			}
			started = cmp.Or(started, command)
			continue
		}
		own := program[strings.LastIndex(program, " ")+1:]                               // without npx before it
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
		listed = choice().FindString(braces().FindString(o.usage))
	}
	command := started
	if listed != "" {
		command = strings.TrimSpace(program + " " + listed)
	}
	if strings.HasSuffix(command, "start") && !slices.ContainsFunc(o.all, aboutServer().MatchString) {
		return "" // it may start anything
	}
	return command
}

// commandGroup returns a sub-command with sub-commands for the server, after its program; empty if the output lists
// none.
func commandGroup(o *output) string {
	for _, l := range o.lines {
		if found := groupCommand().FindStringSubmatch(l.text); found != nil && l.help {
			return strings.TrimSpace(programOf(o.usage) + " " + found[1])
		}
	}
	return ""
}

// starts reports whether a command line begins with a program or a launcher; an unknown program matches anything.
func starts(line, program string) bool {
	first, _, _ := strings.Cut(line, " ")
	return program == "" || path.Base(first) == path.Base(program) || runsPrograms().MatchString(first)
}

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

// usageFix returns the program's usage.
func usageFix(o *output) string {
	return "its usage: " + words.Shorten(usageWord().ReplaceAllString(bare(o.usage), ""), 200)
}
