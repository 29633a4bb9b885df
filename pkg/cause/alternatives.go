package cause

import (
	"slices"
	"strings"
)

// listed returns what a list of variables requires: for each item its groups, one of which is needed. all reports
// whether every item is needed. It returns nil for a text without such a list, and if all items have the same name.
func listed(text string, environ []string) (items [][][]string, all bool) {
	heading, joined, several := "", false, false
	for line := range strings.Lines(text) {
		found := requirement().FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if found == nil || !isVariableName(capital(found[2])) ||
			strings.Contains(strings.ToLower(found[3]), "optional") {
			if len(items) == 0 {
				heading += line
			}
			continue
		}
		groups := missing("missing: "+found[2], environ, false)
		alternative := joined || found[1] != ""
		joined = orEnds().MatchString(found[2]) || orEnds().MatchString(found[3])
		several = several || len(groups) > 1 || len(groups) == 1 && len(groups[0]) > 1 || alternative
		switch last := len(items) - 1; {
		case alternative && last >= 0 && (len(groups) == 0 || len(items[last]) == 0):
			items[last] = nil // one of the alternatives has a value
		case alternative && last >= 0:
			items[last] = append(items[last], groups...)
		default:
			items = append(items, groups)
		}
	}
	if all = !oneOfAll().MatchString(heading); !several && all || len(items) < 2 {
		return nil, true
	}
	return items, all
}

// capital returns the first word of a text in capitals.
func capital(text string) string {
	for _, name := range capitals(text) {
		return name
	}
	return ""
}

// listedVariables returns the cause of a text that lists required variables; nil if it lists none, or if they have
// values.
func listedVariables(o *output, text string) *Cause {
	items, all := listed(o.printed(text), o.Environ)
	if items == nil {
		return nil
	}
	var open [][][]string
	for _, groups := range items {
		switch {
		case len(groups) > 0:
			open = append(open, groups)
		case !all: // one of the alternatives has all its values
			return nil
		}
	}
	if len(open) == 0 {
		return nil
	}
	if !all {
		return unsetCause(o, slices.Concat(open...), text)
	}
	const most = 12 // combinations
	product, phrases := [][]string{nil}, []string(nil)
	for _, groups := range open {
		var next [][]string
		for _, before := range product {
			for _, group := range groups {
				next = append(next, append(slices.Clone(before), group...))
			}
		}
		product = next[:min(len(next), most)]
		phrases = append(phrases, anyOf(groups))
	}
	return unsetCauseWith(o, product, strings.Join(phrases, ", "), strings.Join(phrases, ", and "), text)
}

// printed returns a text with its lines as they were printed, including list markers.
func (o *output) printed(text string) string {
	lines := strings.Split(text, "\n")
	for i, text := range lines {
		if at := slices.IndexFunc(o.lines, func(l line) bool { return l.text == text }); at >= 0 {
			lines[i] = o.lines[at].raw
		}
	}
	return strings.Join(lines, "\n")
}

// anyOf writes groups of names, one of which is needed, as text: "A_PAT or (A_USER and A_PASS)".
func anyOf(groups [][]string) string {
	parts := make([]string, len(groups))
	for i, group := range groups {
		parts[i] = strings.Join(group, " and ")
		if len(group) > 1 && len(groups) > 1 {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	return strings.Join(parts, " or ")
}

// triedVariables returns the cause of a program that tried several variables in turn and found none set; nil
// otherwise.
func triedVariables(o *output) *Cause {
	var groups [][]string
	tries := false // a line of this run names the next variable
	for _, l := range o.lines {
		next := triesNext().FindStringIndex(l.text)
		parts := []string{l.text}
		if next != nil { // "A is not set, trying B"
			parts = []string{l.text[:next[0]], l.text[next[1]:]}
		}
		named := false
		for _, part := range parts {
			var names []string
			for _, name := range capitals(part) {
				if isVariableName(name) && !hasValue(o.Environ, name) {
					names = append(names, name)
				}
			}
			named = named || len(names) > 0
			known := func(group []string) bool { return slices.Equal(group, names) }
			if len(names) > 0 && (next != nil || notThere().MatchString(l.text)) &&
				!slices.ContainsFunc(groups, known) {
				groups = append(groups, names)
			}
		}
		switch tries = tries || named && next != nil; {
		case named || next != nil || l.text == "":
		case tries && len(groups) > 1:
			return unsetCause(o, groups, "")
		default:
			groups, tries = nil, false
		}
	}
	if !tries || len(groups) < 2 {
		return nil
	}
	return unsetCause(o, groups, "")
}
