package cause

import (
	"slices"
	"strings"

	"toolx/pkg/words"
)

// namedFault is a validator's message about one value.
type namedFault struct{ name, message string }

// namedFaults returns the validators' messages in an output about named values.
func namedFaults(o *output) []namedFault {
	var found []namedFault
	text := strings.Join(strings.Fields(strings.Join(o.all, " ")), " ")
	found = append(found, groupedFaults(text)...)
	for _, match := range memberFault().FindAllStringSubmatch(text, -1) {
		found = append(found, namedFault{match[1], unescaped(match[2])})
	}
	for i, line := range o.all {
		if match := pydanticFault().FindStringSubmatch(line); match != nil && match[2]+match[3] != "missing" && i > 0 &&
			fieldPath().MatchString(o.all[i-1]) {
			found = append(found, namedFault{o.all[i-1], match[1]})
		}
		if match := bracketFault().FindStringSubmatch(line); match != nil && i+1 < len(o.all) {
			found = append(found, namedFault{match[1], strings.TrimSpace(o.all[i+1])})
		}
		line = strings.TrimSpace(line)
		match := lineFault().FindStringSubmatch(line)
		if match == nil {
			match = variableFault().FindStringSubmatch(line)
		}
		if match != nil {
			found = append(found, namedFault{match[1], match[2]})
		}
	}
	for _, match := range listedFault().FindAllStringSubmatch(text, -1) {
		found = append(found, namedFault{match[1], match[2]})
	}
	for _, match := range zodFault().FindAllStringSubmatch(text, -1) {
		name := match[2] + strings.ToUpper(match[3]) // pydantic prints the names of variables in lower case
		found = append(found, namedFault{name, match[1] + match[4]})
	}
	return found
}

// groupedFaults returns the messages of a text about named values, with the name of the enclosing group. It reads the
// text once, so that many groups from an untrusted server stay cheap.
func groupedFaults(text string) (found []namedFault) {
	groups := fieldGroup().FindAllStringSubmatchIndex(text, -1)
	inside := make(map[int]string) // the name of the last group by the depth of its members
	depth, read := 0, 0
	readTo := func(at int) {
		depth += strings.Count(text[read:at], "{") - strings.Count(text[read:at], "}")
		read = at
	}
	for _, at := range fieldFault().FindAllStringSubmatchIndex(text, -1) {
		for ; len(groups) > 0 && groups[0][1] <= at[0]; groups = groups[1:] {
			readTo(groups[0][1])
			inside[depth] = text[groups[0][2]:groups[0][3]]
		}
		readTo(at[0])
		fault := namedFault{name: text[at[2]:at[3]]}
		if at[4] >= 0 {
			fault.message = text[at[4]:at[5]]
		} else {
			fault.message = unescaped(text[at[6]:at[7]])
		}
		if group := inside[depth]; group != "" && !isVariableName(fault.name) {
			fault.name = group + "." + fault.name
		}
		found = append(found, fault)
	}
	return found
}

// invalidFields returns the cause of an output that rejects values by name; nil if there are none. Variables without a
// value are missing; other messages are quoted.
func invalidFields(o *output) *Cause {
	if !wrongValue().MatchString(withoutNames(o.reason)) {
		return nil
	}
	const most = 3
	var variables, faults []string
	for _, one := range namedFaults(o) {
		fault := one.name + ": " + one.message
		if !wrongValue().MatchString(one.message) || slices.Contains(faults, fault) {
			continue
		}
		faults = append(faults, fault)
		if isVariableName(one.name) && !hasValue(o.Environ, one.name) {
			variables = append(variables, one.name)
		}
	}
	if len(faults) == 0 {
		return nil
	}
	said := strings.Join(faults[:min(len(faults), most)], "; ")
	if len(variables) > 0 {
		c := unsetCause(o, [][]string{variables}, "")
		c.Fixes = append(c.Fixes, "the server says: "+words.Shorten(said, maxText/2))
		return c
	}
	return &Cause{
		Kind: Said, Line: said, What: quoted(said),
		Fixes: []string{"correct in args or env of this server: " + words.Shorten(said, maxText/2)},
	}
}
