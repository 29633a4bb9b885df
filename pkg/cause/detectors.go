package cause

import "strings"

// detector finds one sort of cause in an output.
type detector struct {
	id   string
	find func(*output) *Cause
}

// first returns what the first detector finds, with its id as the rule where no rule has one; nil if none finds
// anything.
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
		{"login-address", waitsForLogin},
		{"debugger", waitsForDebugger},
		{"top-level-await", unsettledModule},
		{"signal", signalCause},
	}
}

// fromHead returns the detectors of an output with a line that says why, in the order of how much they explain.
func fromHead() []detector {
	return []detector{
		{"listens-for-http", listensForHTTP},
		{"unset-value", usedUnset},
		{"rules", lineRules},
		{"network", func(o *output) *Cause { return networkCause(o, o.reason, o.reason) }},
		{"other-language", otherLanguage},
		{"newer-python", newerPython},
		{"refused-value", refusedValue},
		{"refused-fields", invalidFields},
		{"variables", missingVariables},
		{"unreadable-code", unreadableCode},
		{"sentence", sentenceCause},
		{"other-lines", otherLines},
		{"sentence", func(o *output) *Cause { return first(o, fromSentence()) }},
		{"service", unreachableService},
		{"node-engine", oldEngine},
		{"variables-behind", followingVariables},
		{"rules", followingRules},
		{"usage", usageCause},
		{"data-file", invalidDataFile},
		{"missing-argument", missingArgument},
	}
}

// fromSentence returns the detectors of the sentence that says why.
func fromSentence() []detector {
	return []detector{
		{"unset-paths", unsetPaths},
		{"unconnected", unconnected},
		{"rules", sentenceRules},
	}
}

// lineRules returns the cause that a rule of any line knows of the sentence.
func lineRules(o *output) *Cause {
	line, _ := readRules()
	return matchRules(o, line, o.reason, o.reason)
}

// sentenceRules returns the cause that a rule of the sentence knows. A parser names the file that it could not read,
// and a list the variables that would do in the place of a file.
func sentenceRules(o *output) *Cause {
	_, sentence := readRules()
	c := matchRules(o, sentence, o.reason, o.reason)
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

// sentenceCause returns the cause of the sentence, but for one that another line may say more of: why something cannot be
// reached.
func sentenceCause(o *output) *Cause {
	if c := first(o, fromSentence()); c != nil && c.Kind != Backend {
		return c
	}
	return nil
}

// otherLines returns the cause that a rule knows of the first lines that may say why; nil if there is none.
func otherLines(o *output) *Cause {
	list, _ := readRules()
	tried := 0
	for i, l := range o.lines {
		if l.weight < hints || tried == maxTried {
			continue
		}
		tried++
		line := o.sentence(i)
		if c := matchRules(o, list, l.text, line); c != nil {
			return c
		}
		if c := networkCause(o, l.text, line); c != nil {
			return c
		}
	}
	return nil
}

// unreadableCode returns the cause of an error of the language that says that Node cannot read the program.
func unreadableCode(o *output) *Cause {
	if !unreadable().MatchString(o.reason) {
		return nil
	}
	return wrongEngine(o)
}

// oldEngine returns the cause of any error of the language on a Node that the package is not for. Where a file is
// missing, that says more.
func oldEngine(o *output) *Cause {
	if lacksFile().MatchString(o.reason) {
		return nil
	}
	return wrongEngine(o)
}

// followingVariables returns the cause of variables that the lines behind the sentence miss. Where a file is missing, they
// are only another way.
func followingVariables(o *output) *Cause {
	if lacksFile().MatchString(o.reason) {
		return nil
	}
	return unsetVariables(o, o.behind)
}

// followingRules returns the cause that a rule of the sentence knows of the lines behind it.
func followingRules(o *output) *Cause {
	_, sentence := readRules()
	return matchRules(o, sentence, o.behind, o.reason)
}

// missingArgument returns the cause of a sentence that misses something beside a usage text.
func missingArgument(o *output) *Cause {
	words := wordsOf(o.reason)
	if o.usage == "" || !lacks().MatchString(words) || wrongWord().MatchString(words) ||
		malformed().MatchString(words) {
		return nil
	}
	return &Cause{Kind: Argument, What: leads[Argument] + quoted(o.reason), Line: o.reason}
}
