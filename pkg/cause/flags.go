package cause

import (
	"slices"
	"strings"
)

// missingFlags returns the flags that a sentence about a missing argument names: in the matched text, in the lines
// after it, or as the name of the argument.
func missingFlags(o *output, line, text string) []string {
	if flags := flagsIn(text); len(flags) > 0 {
		return flags
	}
	if flags := flagsIn(o.context); len(flags) > 0 {
		return flags
	}
	if found := namedArgument().FindStringSubmatch(line); found != nil {
		return found[1:]
	}
	return nil
}

// listedFlags returns the first flags at the start of output lines outside a usage text.
func (o *output) listedFlags() []string {
	var flags []string
	for _, l := range o.lines {
		if strings.HasPrefix(l.text, "--") && !l.help {
			flags = append(flags, l.text)
		}
	}
	return flagsIn(strings.Join(flags, "\n"))
}

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
