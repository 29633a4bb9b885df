// Package rules reads tables of rules that recognize a text by regular expressions, such as why a server failed and
// who printed a line.
package rules

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Rule is a block of a table.
type Rule struct {
	ID, Group string
	// match is what the text must have, unless what it must not have, and beside what a line around it must have; nil
	// for nothing. Each is compiled when it is first needed, since few rules of a table are.
	match, unless, beside func() *regexp.Regexp
	values                map[string][]string
}

// Name returns the rule's id with its group: "docker/tty-flag".
func (r *Rule) Name() string { return r.Group + "/" + r.ID }

// Get returns the value of a key; empty if the rule has none.
func (r *Rule) Get(key string) string {
	if all := r.values[key]; len(all) > 0 {
		return all[0]
	}
	return ""
}

// All returns the values of a key.
func (r *Rule) All(key string) []string { return r.values[key] }

// Read reads a table of rules: blocks of "key: value" lines below headings such as "== docker", which name their group.
// Several lines of match are alternatives. A table is part of the program, so that a broken one is a panic.
func Read(text string) []*Rule {
	var all []*Rule
	group := ""
	for block := range strings.SplitSeq(text, "\n\n") {
		if name, found := strings.CutPrefix(strings.TrimSpace(block), "== "); found {
			group = name
			continue
		}
		r := &Rule{Group: group, values: make(map[string][]string)}
		for line := range strings.Lines(block) {
			if key, value, found := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); found && key[0] != '#' {
				r.values[key] = append(r.values[key], value)
			}
		}
		if r.ID = r.Get("id"); r.ID == "" { // a comment
			continue
		}
		r.match = sync.OnceValue(func() *regexp.Regexp { return r.Expression("match") })
		r.unless = sync.OnceValue(func() *regexp.Regexp { return r.Expression("unless") })
		r.beside = sync.OnceValue(func() *regexp.Regexp { return r.Expression("beside") })
		all = append(all, r)
	}
	return all
}

// Expression returns the regular expression of a key; nil if the rule has none. What the alternatives of match have in
// common stands in start and end: the engine is slow to see that each of several alternatives is anchored.
func (r *Rule) Expression(key string) *regexp.Regexp {
	all := r.All(key)
	if len(all) == 0 {
		return nil
	}
	text := "(?:" + strings.Join(all, ")|(?:") + ")"
	if key == "match" {
		text = r.Get("start") + "(?:" + text + ")" + r.Get("end")
	}
	return regexp.MustCompile(text)
}

// Find reports whether the rule recognizes a text, and returns the groups of its expressions that are not empty. around
// are the lines around the text.
func (r *Rule) Find(text string, around []string) (groups []string, ok bool) {
	if r.match() == nil || r.Excludes(text) {
		return nil, false
	}
	found := r.match().FindStringSubmatch(text)
	if found == nil {
		return nil, false
	}
	groups = found[1:]
	if beside := r.beside(); beside != nil {
		at := slices.IndexFunc(around, beside.MatchString)
		if at < 0 {
			return nil, false
		}
		groups = append(groups, beside.FindStringSubmatch(around[at])[1:]...)
	}
	return slices.DeleteFunc(groups, func(group string) bool { return group == "" }), true
}

// Excludes reports whether a text has what the rule is not about.
func (r *Rule) Excludes(text string) bool { return r.unless() != nil && r.unless().MatchString(text) }
