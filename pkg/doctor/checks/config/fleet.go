package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/exec"
	"toolx/pkg/words"
)

// ready returns the servers whose tools are known.
func ready(f *evidence.Fleet) []*evidence.Evidence {
	return slices.DeleteFunc(slices.Clone(f.Servers), func(e *evidence.Evidence) bool {
		_, listed := e.Tools()
		return !listed
	})
}

// askToolNameCollision returns one finding for each set of servers with common tool names.
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
		shared[group] = append(shared[group], evidence.Label(name))
	}
	var findings []check.Finding
	for _, group := range groups {
		names := shared[group]
		f := check.At(&evidence.Where{Method: "tools/list"}, "%s", evidence.Listed(names))
		f.Title = fmt.Sprintf("one tool name is used by several servers (%s)", evidence.Cut(group))
		if len(names) > 1 {
			f.Title = fmt.Sprintf("%d tool names are used by several servers (%s)", len(names), evidence.Cut(group))
		}
		findings = append(findings, f)
	}
	return check.Capped(findings)
}

// askToolsAllServers counts the tools of several servers. Other checks cover a single server.
func askToolsAllServers(fleet *evidence.Fleet) []check.Finding {
	total, list := largest(fleet, listing.CountTools, func(n int) string { return words.Count(n, "tool") })
	var over []string
	for _, limit := range []struct {
		most int
		who  string
	}{{listing.ManyTools, "Cursor"}, {128, "OpenAI"}, {512, "Gemini"}} {
		if total > limit.most {
			over = append(over, fmt.Sprintf("%s's limit of %d", limit.who, limit.most))
		}
	}
	if list == "" || len(over) == 0 {
		return nil
	}
	f := check.At(&evidence.Where{Method: "tools/list"}, "%s", list)
	f.Title = fmt.Sprintf("%d tools in all, over %s", total, strings.Join(over, " and "))
	return []check.Finding{f}
}

func askTokensAllServers(fleet *evidence.Fleet) []check.Finding {
	cost := func(e *evidence.Evidence) int {
		_, total := listing.Costs(e)
		return total
	}
	total, list := largest(fleet, cost, words.Grouped)
	if list == "" {
		return nil
	}
	f := check.At(&evidence.Where{Method: "tools/list"}, "%s", list)
	f.Title = fmt.Sprintf("tools of %d servers use about %s tokens", len(ready(fleet)), words.Grouped(total))
	if total > listing.ManyTokens {
		f.Severity = check.Warning
	}
	return []check.Finding{f}
}

// askOverBudget compares tools, and results of calls, with the limits of the user.
func askOverBudget(fleet *evidence.Fleet) []check.Finding {
	var findings []check.Finding
	if over := fleet.Budget.Check(listing.Tools(fleet)); over != nil {
		f := check.At(&evidence.Where{Method: "tools/list"}, "%s", over.Exceeded[0])
		f.Notes = over.Details()[1:]
		findings = append(findings, f)
	}
	for _, e := range fleet.Servers {
		for _, call := range e.Calls {
			if size, limit := int64(len(call.Result.Raw)), fleet.Budget.ResultSize; limit != 0 && size > limit {
				f := check.At(&evidence.Where{Method: "tools/call", Tool: call.Tool},
					"%s, the limit is %s", exec.Bytes(size), exec.Bytes(limit))
				f.Server, f.Title = e.Server.Name, "result is larger than the budget allows"
				f.Fix = []string{"return less, or in pages", "raise resultSize under budget"}
				findings = append(findings, f)
			}
		}
	}
	return check.Capped(findings)
}

// largest lists servers by a number in descending order, with the total. The list is empty if there are fewer than two.
func largest(
	fleet *evidence.Fleet, number func(*evidence.Evidence) int, shown func(int) string,
) (total int, list string) {
	ready := ready(fleet)
	if len(ready) < 2 {
		return 0, ""
	}
	for _, e := range ready {
		total += number(e)
	}
	slices.SortStableFunc(ready, func(a, b *evidence.Evidence) int { return cmp.Compare(number(b), number(a)) })
	return total, evidence.ListedFunc(ready, func(e *evidence.Evidence) string {
		return evidence.Label(e.Server.Name) + " " + shown(number(e))
	})
}
