package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/exec"
)

// ready are the servers whose tools are known.
func (f *Fleet) ready() []*Evidence {
	return slices.DeleteFunc(slices.Clone(f.Servers), func(e *Evidence) bool {
		_, listed := e.Tools()
		return !listed
	})
}

// askToolNameCollision makes one finding for each set of servers that share names.
func askToolNameCollision(fleet *Fleet) []Finding {
	owners := make(map[string][]string)
	var order []string
	for _, e := range fleet.ready() {
		for _, tool := range e.survey().tools {
			if tool.name == "" || slices.Contains(owners[tool.name], e.Server.Name) {
				continue
			}
			if len(owners[tool.name]) == 0 {
				order = append(order, tool.name)
			}
			owners[tool.name] = append(owners[tool.name], e.Server.Name)
		}
	}
	shared := make(map[string][]string)
	var groups []string
	for _, name := range order {
		if len(owners[name]) < 2 {
			continue
		}
		group := strings.Join(owners[name], ", ")
		if len(shared[group]) == 0 {
			groups = append(groups, group)
		}
		shared[group] = append(shared[group], excerpt(name, maxLabel))
	}
	var findings []Finding
	for _, group := range groups {
		names := shared[group]
		findings = append(findings, Finding{
			Title:    fmt.Sprintf("%s in several servers (%s)", sameNames(len(names)), excerpt(group, maxExcerpt)),
			Evidence: listed(len(names), func(i int) string { return names[i] }),
			Where:    &Where{Method: "tools/list"},
		})
	}
	return capped(findings)
}

func sameNames(n int) string {
	if n == 1 {
		return "one tool name is"
	}
	return fmt.Sprintf("%d tool names are", n)
}

// toolLimit is how many tools a client or an API takes at most.
type toolLimit struct {
	most int
	who  string
}

func toolLimits() []toolLimit {
	return []toolLimit{{manyTools, "Cursor"}, {128, "OpenAI"}, {512, "Gemini"}}
}

// askToolsAllServers counts what several servers have together; one alone is judged
// by its own checks.
func askToolsAllServers(fleet *Fleet) []Finding {
	ready := fleet.ready()
	if len(ready) < 2 {
		return nil
	}
	total := 0
	for _, e := range ready {
		total += e.countTools()
	}
	var over []string
	for _, limit := range toolLimits() {
		if total > limit.most {
			over = append(over, fmt.Sprintf("%s's limit of %d", limit.who, limit.most))
		}
	}
	if len(over) == 0 {
		return nil
	}
	return []Finding{{
		Title: fmt.Sprintf("%d tools in all, over %s", total, strings.Join(over, " and ")),
		Evidence: largest(ready, func(e *Evidence) int { return e.countTools() }, func(name string, n int) string {
			return name + " " + exec.Count(n, "tool")
		}),
		Where: &Where{Method: "tools/list"},
	}}
}

func askTokensAllServers(fleet *Fleet) []Finding {
	ready := fleet.ready()
	if len(ready) < 2 {
		return nil
	}
	cost := func(e *Evidence) int {
		_, total := costs(e)
		return total
	}
	total := 0
	for _, e := range ready {
		total += cost(e)
	}
	finding := Finding{
		Title:    fmt.Sprintf("the tools of %d servers cost about %s tokens", len(ready), grouped(total)),
		Evidence: largest(ready, cost, func(name string, n int) string { return name + " " + grouped(n) }),
		Where:    &Where{Method: "tools/list"},
	}
	if total > manyTokens {
		finding.Severity = Warning
	}
	return []Finding{finding}
}

// largest lists servers by a number, the largest first.
func largest(list []*Evidence, number func(*Evidence) int, words func(name string, n int) string) string {
	sorted := slices.SortedStableFunc(slices.Values(list), func(a, b *Evidence) int { return cmp.Compare(number(b), number(a)) })
	return listed(len(sorted), func(i int) string {
		return words(excerpt(sorted[i].Server.Name, maxLabel), number(sorted[i]))
	})
}
