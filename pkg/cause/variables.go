package cause

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// missingVariables returns the cause of a sentence about variables without a value, named there or in other lines; nil
// if it is not about any.
func missingVariables(o *output) *Cause {
	line, head := o.reason, o.lines[o.head]
	if c := triedVariables(o); c != nil {
		return c
	}
	if keyMissing().MatchString(line) && !oauthFile().MatchString(line) { // another line may name it
		if c := unsetVariables(o, o.context); c != nil {
			return c
		}
	}
	if !beforeVariables().MatchString(line) && !reportsNoConnection(line) {
		where := o.similarSentences()
		switch {
		case strings.HasSuffix(head.text, ":"), head.member: // a list follows, or other members
			where = o.context
		case strings.Contains(strings.ToLower(line), "environment variables"): // a list may be anywhere
			where = line + "\n" + strings.Join(o.all, "\n")
		}
		if c := unsetVariables(o, where); c != nil {
			return c
		}
		if c := namedVariable(o); c != nil {
			return c
		}
	}
	if missesVariables().MatchString(line) { // a JSON log has their names in other members
		return unsetVariables(o, head.raw)
	}
	return nil
}

// similarSentences returns the main sentence and the following ones that also report a missing variable.
func (o *output) similarSentences() string {
	text := o.reason
	if !missesFirst().MatchString(text) {
		return text
	}
	for _, l := range o.lines[o.head+1:] {
		if !missesFirst().MatchString(l.text) {
			break
		}
		text += "\n" + l.text
	}
	return text
}

// unsetVariables returns the cause of a text that reports environment variables as missing; nil if it does not.
func unsetVariables(o *output, text string) *Cause {
	if c := listedVariables(o, text); c != nil {
		return c
	}
	return unsetCause(o, missing(text, o.Environ, false), text)
}

// namedVariable returns the cause of a sentence that names an unset variable, in any words and language: a failing
// server names what is missing. Nil if it names none.
func namedVariable(o *output) *Cause {
	line := o.reason
	if refusesValue().MatchString(line) || malformedPart().MatchString(line) {
		return nil
	}
	return unsetCause(o, missing(line, o.Environ, true), line)
}

// unsetPaths returns the cause of a multi-line JSON text whose paths are variables, as zod prints it; nil if there are
// none.
func unsetPaths(o *output) *Cause {
	if !o.lines[o.head].member {
		return nil
	}
	var names []string
	for i := range o.lines[:len(o.lines)-1] {
		if !strings.HasPrefix(o.lines[i].text, `"path"`) {
			continue
		}
		name := strings.Trim(o.lines[i+1].text, `", `)
		if isVariableName(name) && !hasValue(o.Environ, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return unsetCause(o, [][]string{names}, "")
}

// unsetInCode returns the cause of an error about an undefined value, if the printed source code reads an unset
// variable; nil otherwise.
func unsetInCode(o *output) *Cause {
	line := o.reason
	if !usesNothing().MatchString(line) {
		return nil
	}
	for i, text := range o.all {
		found := readsVariable().FindStringSubmatch(text)
		if excerptLine().MatchString(text) && (i+1 == len(o.all) || !caret().MatchString(o.all[i+1])) {
			continue // the error is in a later line
		}
		if found == nil || found[2]+found[4] != "" || hasValue(o.Environ, found[1]+found[3]) {
			continue
		}
		return unsetCause(o, [][]string{{found[1] + found[3]}}, "")
	}
	if found := parsedUndefined().FindStringSubmatch(line); found != nil && isVariableName(found[1]) &&
		!hasValue(o.Environ, found[1]) {
		return unsetCause(o, [][]string{{found[1]}}, "")
	}
	if member := unreadMember().FindStringSubmatch(line); member != nil {
		return unsetConstant(o, "."+member[1])
	}
	return nil
}

// unsetConstant returns the cause of an error about a member of an undefined value, if the source line above the caret
// reads it from a constant named like a variable, as in const { API_KEY } = process.env; nil otherwise.
func unsetConstant(o *output, member string) *Cause {
	for i, text := range o.all {
		if i+1 == len(o.all) || !caret().MatchString(o.all[i+1]) {
			continue
		}
		for at, name := range capitals(text) {
			if isVariableName(name) && strings.HasPrefix(text[at+len(name):], member) && !hasValue(o.Environ, name) {
				return unsetCause(o, [][]string{{name}}, "")
			}
		}
	}
	return nil
}

// requiredVariables returns the cause of a help text that lists required variables, if they have no value; nil if it
// does not.
func requiredVariables(o *output) *Cause {
	at := slices.IndexFunc(o.all, requiredHeading().MatchString)
	if at < 0 {
		return nil
	}
	var names []string
	for _, text := range o.all[at+1:] {
		found := listedVariable().FindStringSubmatch(text)
		if found == nil {
			break
		}
		if name := cmp.Or(found[1], found[2]); !hasValue(o.Environ, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return unsetCause(o, [][]string{names}, "")
}

// unsetCause returns the cause of groups of missing variables, nil for none; text reports them.
func unsetCause(o *output, groups [][]string, text string) *Cause {
	if len(groups) == 0 {
		return nil
	}
	sentences := make([]string, len(groups))
	for i, group := range groups {
		sentences[i] = strings.Join(group, ", ")
		if len(groups) > 1 {
			sentences[i] = group[0]
			if len(group) > 1 {
				sentences[i] += " with " + strings.Join(group[1:], " and ")
			}
		}
	}
	all := sentences[0]
	switch {
	case len(groups) > 2:
		all = "one of " + strings.Join(sentences, ", ")
	case len(groups) == 2:
		all = strings.Join(sentences, " or ")
	}
	return unsetCauseWith(o, groups, all, all, text)
}

// unsetCauseWith returns the cause of groups of missing variables; all and sentence name them in a fix and in the
// title.
func unsetCauseWith(o *output, groups [][]string, all, sentence, text string) *Cause {
	c := &Cause{Kind: Variable, Variables: groups}
	switch {
	case len(groups) > 1:
		c.What = sentence + " must be set"
	case len(groups[0]) > 1:
		c.What = all + " are not set"
	default:
		c.What = all + " is not set"
	}
	first := groups[0][0]
	c.Fixes = []string{
		fmt.Sprintf("add %s to env of this server", all),
		fmt.Sprintf(`for example env: {%s: "${%s}"}, and export it`, first, first),
	}
	flags := flagsIn(text)
	if len(flags) == 0 && len(groups) == 1 {
		flags = flagsIn(o.context)
	}
	if len(flags) > 0 {
		c.Fixes = append(c.Fixes, "or pass it as an argument: "+strings.Join(flags, ", "))
	}
	at := -1
	for i, l := range o.lines {
		if strings.Contains(l.text, first) && (at < 0 || o.lines[at].weight == silent && l.weight > silent) {
			at = i
		}
	}
	if at >= 0 {
		c.Line = o.sentence(at)
	}
	return c
}

// hasValue reports whether an environment gives a variable a value.
func hasValue(environ []string, name string) bool { return valueOf(environ, name) != "" }

// valueOf returns the value of a variable; the last setting wins, as in os/exec.
func valueOf(environ []string, name string) string {
	value := ""
	for _, pair := range environ {
		key, content, found := strings.Cut(pair, "=")
		if found && (key == name || runtime.GOOS == "windows" && strings.EqualFold(key, name)) {
			value = content
		}
	}
	return value
}
