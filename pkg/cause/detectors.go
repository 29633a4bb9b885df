package cause

import "strings"

// detector finds one sort of cause in an output.
type detector struct {
	id   string
	find func(*saying) *Cause
}

// first returns what the first detector finds, with its id as the rule where no rule has one; nil if none finds
// anything.
func (s *saying) first(detectors func() []detector) *Cause {
	for _, d := range detectors() {
		if c := d.find(s); c != nil {
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
		{"login-address", (*saying).login},
		{"debugger", (*saying).debugged},
		{"top-level-await", (*saying).unsettled},
		{"signal", (*saying).signalled},
	}
}

// fromHead returns the detectors of an output with a line that says why, in the order of how much they explain.
func fromHead() []detector {
	return []detector{
		{"listens-for-http", (*saying).listens},
		{"unset-value", (*saying).usedUnset},
		{"rules", (*saying).lineRules},
		{"network", func(s *saying) *Cause { return s.network(s.reason, s.reason) }},
		{"other-language", (*saying).otherLanguage},
		{"newer-python", (*saying).newerPython},
		{"refused-value", (*saying).refusedValue},
		{"refused-fields", (*saying).invalidFields},
		{"variables", (*saying).lacksVariables},
		{"unreadable-code", (*saying).unreadableCode},
		{"sentence", (*saying).certain},
		{"other-lines", (*saying).otherLines},
		{"sentence", func(s *saying) *Cause { return s.first(fromSentence) }},
		{"service", (*saying).service},
		{"node-engine", (*saying).oldEngine},
		{"variables-behind", (*saying).variablesBehind},
		{"rules", (*saying).rulesBehind},
		{"usage", (*saying).usageCause},
		{"data-file", (*saying).ofDataFile},
		{"missing-argument", (*saying).lacksArgument},
	}
}

// fromSentence returns the detectors of the sentence that says why.
func fromSentence() []detector {
	return []detector{
		{"unset-paths", (*saying).unsetPaths},
		{"unconnected", (*saying).unconnected},
		{"rules", (*saying).sentenceRules},
	}
}

// lineRules returns the cause that a rule of any line knows of the sentence.
func (s *saying) lineRules() *Cause {
	line, _ := readRules()
	return s.applied(line, s.reason, s.reason)
}

// sentenceRules returns the cause that a rule of the sentence knows. A parser names the file that it could not read,
// and a list the variables that would do in the place of a file.
func (s *saying) sentenceRules() *Cause {
	_, sentence := readRules()
	c := s.applied(sentence, s.reason, s.reason)
	if c == nil || c.Kind != Config {
		return c
	}
	if required := s.requiredVariables(); required != nil {
		return required
	}
	if strings.HasPrefix(c.What, "its configuration is ") {
		if file := s.ofDataFile(); file != nil {
			return file
		}
	}
	return c
}

// certain returns the cause of the sentence, but for one that another line may say more of: why something cannot be
// reached.
func (s *saying) certain() *Cause {
	if c := s.first(fromSentence); c != nil && c.Kind != Backend {
		return c
	}
	return nil
}

// otherLines returns the cause that a rule knows of the first lines that may say why; nil if there is none.
func (s *saying) otherLines() *Cause {
	list, _ := readRules()
	tried := 0
	for i, l := range s.lines {
		if l.weight < hints || tried == maxTried {
			continue
		}
		tried++
		line := s.sentence(i)
		if c := s.applied(list, l.text, line); c != nil {
			return c
		}
		if c := s.network(l.text, line); c != nil {
			return c
		}
	}
	return nil
}

// unreadableCode returns the cause of an error of the language that says that Node cannot read the program.
func (s *saying) unreadableCode() *Cause {
	if !unreadable().MatchString(s.reason) {
		return nil
	}
	return s.engine()
}

// oldEngine returns the cause of any error of the language on a Node that the package is not for. Where a file is
// missing, that says more.
func (s *saying) oldEngine() *Cause {
	if lacksFile().MatchString(s.reason) {
		return nil
	}
	return s.engine()
}

// variablesBehind returns the cause of variables that the lines behind the sentence miss. Where a file is missing, they
// are only another way.
func (s *saying) variablesBehind() *Cause {
	if lacksFile().MatchString(s.reason) {
		return nil
	}
	return s.variables(s.behind)
}

// rulesBehind returns the cause that a rule of the sentence knows of the lines behind it.
func (s *saying) rulesBehind() *Cause {
	_, sentence := readRules()
	return s.applied(sentence, s.behind, s.reason)
}

// lacksArgument returns the cause of a sentence that misses something beside a usage text.
func (s *saying) lacksArgument() *Cause {
	words := wordsOf(s.reason)
	if s.usage == "" || !lacks().MatchString(words) || wrongWord().MatchString(words) ||
		malformed().MatchString(words) {
		return nil
	}
	return &Cause{Kind: Argument, What: leads[Argument] + quoted(s.reason), Line: s.reason}
}
