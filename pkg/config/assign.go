package config

import (
	"slices"
	"strings"
)

// assign attaches each problem to the entry that it breaks. It keeps the other problems and removes the values that
// they are about. flaws come from the parser, problems from later checks.
func (l *loaded) assign(file string, flaws []Problem, problems []placed) {
	owners := map[string]*[]Problem{}
	for _, e := range l.servers.list {
		owners[e.path] = &e.value.problems
	}
	for _, e := range l.tools.list {
		owners[e.path] = &e.value.problems
	}
	if len(flaws) > 0 {
		l.problems = l.assignFlaws(flaws)
	}
	wrong := map[string]bool{}
	for _, p := range problems {
		if owner, found := ownerOf(p.path, owners); found {
			*owner = append(*owner, p.Problem)
			continue
		}
		wrong[p.path] = true
		p.Text += l.consequence(p.path)
		l.problems = append(l.problems, p.Problem)
	}
	for _, owner := range owners {
		*owner = inOrder(file, *owner)
	}
	l.problems = inOrder(file, l.problems)
	l.removeWrong(wrong)
}

// assignFlaws attaches the parser's problems to the entries that contain them, also through an alias, and returns the
// others.
func (l *loaded) assignFlaws(flaws []Problem) []Problem {
	owned := map[Problem]bool{}
	give := func(m member, to *[]Problem) {
		take := func(flaw Problem) {
			owned[flaw] = true
			if !slices.Contains(*to, flaw) && len(*to) <= mostRemarks {
				*to = append(*to, flaw)
			}
		}
		m.value.eachFlaw(take)
		for _, flaw := range flaws {
			if flaw.Duplicate && flaw.first == m.origin {
				take(flaw) // it is unclear which of the two applies
			}
		}
	}
	for _, e := range l.servers.list {
		give(e.node, &e.value.problems)
	}
	for _, e := range l.tools.list {
		give(e.node, &e.value.problems)
	}
	return slices.DeleteFunc(slices.Clone(flaws), func(flaw Problem) bool { return owned[flaw] })
}

// ownerOf returns the problems of the entry at a path or around it: those of "servers.a" for "servers.a.env.TOKEN".
func ownerOf(path string, owners map[string]*[]Problem) (owner *[]Problem, found bool) {
	for end := len(path); end >= 0 && !found; end = strings.LastIndexAny(path[:end], ".[") {
		owner, found = owners[path[:end]]
	}
	return owner, found
}

// consequence returns what happens to a wrong value outside entries.
func (l *loaded) consequence(path string) string {
	switch {
	case beginsWithKey(path, "defaults.log"):
		return ", and counts as false"
	case strings.HasPrefix(path, "tools["):
		return ", so that the tool is left out"
	case beginsWithKey(path, "defaults"), beginsWithKey(path, "doctor"), beginsWithKey(path, "budget"),
		beginsWithKey(path, "roots"):
		return ", and is ignored"
	}
	return ""
}

// removeWrong removes wrong values before the file is merged with others. An invalid log setting disables the log,
// because logging could record private data.
func (l *loaded) removeWrong(wrong map[string]bool) {
	l.defaults = l.defaults.without("defaults", wrong)
	l.doctor = l.doctor.without("doctor", wrong)
	for path := range wrong {
		if !beginsWithKey(path, "defaults.log") {
			continue
		}
		off := member{key: "log", value: &node{kind: kindBool, text: "false", written: "false"}}
		defaults := &node{kind: kindMap, members: []member{off}}
		if l.defaults != nil {
			kept := slices.DeleteFunc(slices.Clone(l.defaults.members), func(m member) bool { return m.key == "log" })
			defaults = &node{kind: kindMap, origin: l.defaults.origin, members: append(kept, off)}
		}
		l.defaults = defaults
	}
}

// without returns the node without the values at wrong paths; nil if its own path is wrong.
func (n *node) without(path string, wrong map[string]bool) *node {
	if n == nil || wrong[path] {
		return nil
	}
	if n.kind != kindMap || len(wrong) == 0 {
		return n
	}
	kept := *n
	kept.members = nil
	for _, m := range n.members {
		if value := m.value.without(joinKey(path, m.key), wrong); value != nil {
			m.value = value
			kept.members = append(kept.members, m)
		}
	}
	return &kept
}
