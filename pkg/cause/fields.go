package cause

import (
	"slices"
	"strings"

	"toolx/pkg/words"
)

// fieldFault matches what validators say of one value, such as zod's format and flatten, printed as JSON or as Node
// prints an object: "MODE: { _errors: [ 'Required' ] }", {"mode":["Required"]}.
var fieldFault = expression(`(\w+)["']?: ?(?:\{ ?["']?_errors["']?: ?)?\[ ?(?:'([^']+)'|"((?:[^"\\]|\\.)+)"),? ?\]`)

// lineFault matches what validators say of one value that is missing, on a line of its own:
// "github.TOKEN: Invalid input: expected string, received undefined".
var lineFault = expression(
	`^[-*• ]*(?:[\w-]+\.)*(\w+): ((?:Invalid input: )?[Ee]xpected \w+, received (?:undefined|null|NaN)|Required)$`)

// zodFault matches zod's words for people about one value that is missing: "✖ Invalid input: expected string, received
// undefined → at API_KEY", and pydantic's: "api_key Field required [type=missing, …".
var zodFault = expression(`((?:Invalid input: )?[Ee]xpected \w+, received undefined|Required) → at (?:[\w-]+\.)*(\w+)|` +
	`\b(\w+) (Field required) \[type=missing`)

// invalidFields returns the cause of an output that finds fault with values by their names; nil if it does not.
// Variables without a value are missing; anything else is said in the validator's words.
func (s *saying) invalidFields(environ []string) *Cause {
	const most = 3
	var variables, faults []string
	text := strings.Join(strings.Fields(strings.Join(s.all, " ")), " ")
	found := fieldFault().FindAllStringSubmatch(text, -1)
	for _, line := range s.all {
		if match := lineFault().FindStringSubmatch(strings.TrimSpace(line)); match != nil {
			found = append(found, append(match, ""))
		}
	}
	for _, match := range zodFault().FindAllStringSubmatch(text, -1) {
		name := match[2] + strings.ToUpper(match[3]) // pydantic reads variables for fields in small letters
		found = append(found, []string{match[0], name, match[1] + match[4], ""})
	}
	for _, one := range found {
		name, message := one[1], one[2]+unescaped(one[3])
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
