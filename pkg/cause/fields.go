package cause

import (
	"slices"
	"strings"

	"toolx/pkg/words"
)

// fieldFault matches what validators say of one value, such as zod's format and flatten, printed as JSON or as Node
// prints an object: "MODE: { _errors: [ 'Required' ] }", {"mode":["Required"]}.
var fieldFault = expression(`(\w+)["']?: ?(?:\{ ?["']?_errors["']?: ?)?\[ ?(?:'([^']+)'|"((?:[^"\\]|\\.)+)"),? ?\]`)

// invalidFields returns the cause of an output that finds fault with values by their names; nil if it does not.
// Variables without a value are missing; anything else is said in the validator's words.
func (s *saying) invalidFields(environ []string) *Cause {
	const most = 3
	var variables, faults []string
	text := strings.Join(strings.Fields(strings.Join(s.all, " ")), " ")
	for _, found := range fieldFault().FindAllStringSubmatch(text, -1) {
		name, message := found[1], found[2]+unescaped(found[3])
		fault := name + ": " + message
		if !wrongValue().MatchString(message) || slices.Contains(faults, fault) {
			continue
		}
		faults = append(faults, fault)
		if isVariableName(name) && !hasValue(environ, name) {
			variables = append(variables, name)
		}
	}
	if len(faults) == 0 {
		return nil
	}
	said := strings.Join(faults[:min(len(faults), most)], "; ")
	if len(variables) > 0 {
		c := s.unsetCause([][]string{variables}, "")
		c.Fixes = append(c.Fixes, "the server says: "+words.Shorten(said, maxText/2))
		return c
	}
	return &Cause{
		Kind: Said, Line: said, What: quoted(said),
		Fixes: []string{"correct in args or env of this server: " + words.Shorten(said, maxText/2)},
	}
}
