package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/words"
)

// ready are the servers whose tools are known.
func ready(f *evidence.Fleet) []*evidence.Evidence {
	return slices.DeleteFunc(slices.Clone(f.Servers), func(e *evidence.Evidence) bool {
		_, listed := e.Tools()
		return !listed
	})
}

// askToolNameCollision makes one finding for each set of servers that share names.
func askToolNameCollision(fleet *evidence.Fleet) []check.Finding {
	owners := make(map[string][]string)
	var order []string
	for _, e := range ready(fleet) {
		for _, tool := range listing.Read(e).Tools {
			if tool.Name == "" || slices.Contains(owners[tool.Name], e.Server.Name) {
				continue
			}
			if len(owners[tool.Name]) == 0 {
				order = append(order, tool.Name)
			}
			owners[tool.Name] = append(owners[tool.Name], e.Server.Name)
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
		shared[group] = append(shared[group], evidence.Excerpt(name, evidence.MaxLabel))
	}
	var findings []check.Finding
	for _, group := range groups {
		names := shared[group]
		findings = append(findings, check.Finding{
			Title:    fmt.Sprintf("%s in several servers (%s)", sameNames(len(names)), evidence.Excerpt(group, evidence.MaxExcerpt)),
			Evidence: evidence.Listed(len(names), func(i int) string { return names[i] }),
			Where:    &evidence.Where{Method: "tools/list"},
		})
	}
	return check.Capped(findings)
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
	return []toolLimit{{listing.ManyTools, "Cursor"}, {128, "OpenAI"}, {512, "Gemini"}}
}

// askToolsAllServers counts what several servers have together; one alone is judged
// by its own checks.
func askToolsAllServers(fleet *evidence.Fleet) []check.Finding {
	ready := ready(fleet)
	if len(ready) < 2 {
		return nil
	}
	total := 0
	for _, e := range ready {
		total += listing.CountTools(e)
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
	return []check.Finding{{
		Title: fmt.Sprintf("%d tools in all, over %s", total, strings.Join(over, " and ")),
		Evidence: largest(ready, listing.CountTools, func(name string, n int) string {
			return name + " " + words.Count(n, "tool")
		}),
		Where: &evidence.Where{Method: "tools/list"},
	}}
}

func askTokensAllServers(fleet *evidence.Fleet) []check.Finding {
	ready := ready(fleet)
	if len(ready) < 2 {
		return nil
	}
	cost := func(e *evidence.Evidence) int {
		_, total := listing.Costs(e)
		return total
	}
	total := 0
	for _, e := range ready {
		total += cost(e)
	}
	finding := check.Finding{
		Title:    fmt.Sprintf("the tools of %d servers cost about %s tokens", len(ready), listing.Grouped(total)),
		Evidence: largest(ready, cost, func(name string, n int) string { return name + " " + listing.Grouped(n) }),
		Where:    &evidence.Where{Method: "tools/list"},
	}
	if total > listing.ManyTokens {
		finding.Severity = check.Warning
	}
	return []check.Finding{finding}
}

// largest lists servers by a number, the largest first.
func largest(list []*evidence.Evidence, number func(*evidence.Evidence) int, words func(name string, n int) string) string {
	sorted := slices.SortedStableFunc(slices.Values(list), func(a, b *evidence.Evidence) int { return cmp.Compare(number(b), number(a)) })
	return evidence.Listed(len(sorted), func(i int) string {
		return words(evidence.Excerpt(sorted[i].Server.Name, evidence.MaxLabel), number(sorted[i]))
	})
}
