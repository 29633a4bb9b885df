package cause

import (
	"regexp"
	"slices"
	"strings"

	"toolx/pkg/rules"
)

// detector finds one kind of cause in an output.
type detector struct {
	id   string
	find func(*output) *Cause
}

// first returns the first cause that a detector finds, with the detector's id if no rule has set one; nil if there is
// none.
func first(o *output, detectors []detector) *Cause {
	for _, d := range detectors {
		if c := d.find(o); c != nil {
			if c.Rule == "" {
				c.Rule = d.id
			}
			return c
		}
	}
	return nil
}

// fromAll returns the detectors that look at the output as a whole.
func fromAll() []detector {
	return []detector{
		{"rules", func(o *output) *Cause { return anywhereRules(o, false) }},
		{"signal", signalCause},
	}
}

// fromHead returns the detectors of an output with a main line, most specific first.
func fromHead() []detector {
	return []detector{
		{"listens-for-http", listensForHTTP},
		{"unset-value", unsetInCode},
		{"rules", func(o *output) *Cause { return matchRules(o, tables().line, o.reason, o.reason) }},
		{"network", func(o *output) *Cause { return networkCause(o, o.reason, o.reason) }},
		{"rules", func(o *output) *Cause { return anywhereRules(o, true) }},
		{"refused-value", refusedValue},
		{"refused-fields", invalidFields},
		{"variables", missingVariables},
		{"unreadable-code", when(unreadable, wrongEngine)},
		{"sentence", sentenceCause},
		{"other-lines", otherLines},
		{"sentence", func(o *output) *Cause { return first(o, fromSentence()) }},
		{"service", unreachableService},
		// A missing file explains more than an old Node does, and variables are then only an alternative.
		{"node-engine", unless(lacksFile, wrongEngine)},
		{"variables-behind", unless(lacksFile, func(o *output) *Cause { return unsetVariables(o, o.context) })},
		{"rules", func(o *output) *Cause { return matchRules(o, tables().sentence, o.context, o.reason) }},
		{"usage", usageCause},
		{"data-file", invalidDataFile},
		{"missing-argument", missingArgument},
	}
}

// fromSentence returns the detectors of the main sentence.
func fromSentence() []detector {
	return []detector{
		{"unset-paths", unsetPaths},
		{"unconnected", noConnection},
		{"rules", sentenceRules},
	}
}

// when returns a detector that runs only if an expression matches the main sentence.
func when(says func() *regexp.Regexp, find func(*output) *Cause) func(*output) *Cause {
	return func(o *output) *Cause {
		if !says().MatchString(o.reason) {
			return nil
		}
		return find(o)
	}
}

// unless returns a detector that runs only if an expression does not match the main sentence.
func unless(says func() *regexp.Regexp, find func(*output) *Cause) func(*output) *Cause {
	return func(o *output) *Cause {
		if says().MatchString(o.reason) {
			return nil
		}
		return find(o)
	}
}

// anywhereRules returns the cause that a rule finds in any line of the output. withSentence selects the rules that
// require a main sentence, which their cause quotes, or those that do not.
func anywhereRules(o *output, withSentence bool) *Cause {
	for _, r := range tables().anywhere {
		if alive := r.Get("alive"); alive != "" && (alive == "yes") != o.Alive || (r.sentence != nil) != withSentence ||
			withSentence && !r.sentence.MatchString(o.reason) {
			continue
		}
		other := func(text string) bool {
			_, same := r.Find(text, o.all)
			return !same && strings.TrimSpace(text) != ""
		}
		if r.Get("alone") != "" && slices.ContainsFunc(o.all, other) {
			continue
		}
		for _, text := range o.all {
			line := text
			if withSentence {
				line = o.reason
			}
			if c := matchRules(o, []*rules.Rule{r.Rule}, text, line); c != nil {
				return c
			}
		}
	}
	return nil
}

// sentenceRules returns the cause that a rule finds in the main sentence. For a configuration, a list of required
// variables or the file that a parser names says more.
func sentenceRules(o *output) *Cause {
	c := matchRules(o, tables().sentence, o.reason, o.reason)
	if c == nil || c.Kind != Config {
		return c
	}
	if required := requiredVariables(o); required != nil {
		return required
	}
	if strings.HasPrefix(c.What, "its configuration is ") {
		if file := invalidDataFile(o); file != nil {
			return file
		}
	}
	return c
}

// sentenceCause returns the cause of the main sentence, except an unreachable service: another line may explain it.
func sentenceCause(o *output) *Cause {
	if c := first(o, fromSentence()); c != nil && c.Kind != Backend {
		return c
	}
	return nil
}

// otherLines returns the cause that a rule finds in the first lines that read as errors; nil if there is none.
func otherLines(o *output) *Cause {
	tried := 0
	for i, l := range o.lines {
		if l.weight < hints || tried == maxTried {
			continue
		}
		tried++
		line := o.sentence(i)
		if c := matchRules(o, tables().line, l.text, line); c != nil {
			return c
		}
		if c := networkCause(o, l.text, line); c != nil {
			return c
		}
	}
	return nil
}

// missingArgument returns the cause of a sentence that reports something as missing, next to a usage text.
func missingArgument(o *output) *Cause {
	words := withoutNames(o.reason)
	if o.usage == "" || !lacks().MatchString(words) || wrongWord().MatchString(words) ||
		malformed().MatchString(words) {
		return nil
	}
	return &Cause{Kind: Argument, What: prefixes[Argument] + quoted(o.reason), Line: o.reason}
}
