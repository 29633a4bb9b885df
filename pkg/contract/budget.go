package contract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/words"
)

// Budget limits what tools cost a model. Zero means no limit.
type Budget struct {
	Tokens       int   `config:"tokens"` // of the tools of all servers
	ServerTokens int   `config:"serverTokens"`
	ToolTokens   int   `config:"toolTokens"`
	Tools        int   `config:"tools"`      // of all servers
	ResultSize   int64 `config:"resultSize"` // bytes of a call's result
}

// Or returns the budget with the limits of other where it has none.
func (b Budget) Or(other Budget) Budget {
	return Budget{
		cmp.Or(b.Tokens, other.Tokens), cmp.Or(b.ServerTokens, other.ServerTokens),
		cmp.Or(b.ToolTokens, other.ToolTokens), cmp.Or(b.Tools, other.Tools), cmp.Or(b.ResultSize, other.ResultSize),
	}
}

// Overrun is the error about tools that exceed a budget.
type Overrun struct {
	Exceeded []string `json:"exceeded"` // a sentence for each limit
	Tools    []Cost   `json:"tools"`    // the most expensive ones
}

// Cost is the cost of a tool.
type Cost struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
	Tokens int    `json:"tokens"`
}

// Check returns by how much the tools of servers exceed the budget, nil if they do not.
func (b Budget) Check(servers Set) *Overrun {
	var over Overrun
	var costs []Cost
	exceeds := func(count, limit int, noun, format string, args ...any) {
		if limit != 0 && count > limit {
			over.Exceeded = append(over.Exceeded, fmt.Sprintf("%s has %s %s, the limit is %s",
				fmt.Sprintf(format, args...), words.Grouped(count), noun, words.Grouped(limit)))
		}
	}
	total := 0
	for _, name := range servers.Names() {
		tokens := servers[name].Tokens()
		total += tokens
		exceeds(tokens, b.ServerTokens, "tokens", "server %q", name)
		for tool, definition := range servers[name].Lists[Tool] {
			costs = append(costs, Cost{name, tool, Tokens(definition)})
		}
	}
	slices.SortFunc(costs, func(x, y Cost) int {
		return cmp.Or(cmp.Compare(y.Tokens, x.Tokens), cmp.Compare(x.Server, y.Server), cmp.Compare(x.Tool, y.Tool))
	})
	exceeds(total, b.Tokens, "tokens", "the total")
	exceeds(len(costs), b.Tools, "tools", "the total")
	if len(costs) > 0 { // the others are among the most expensive ones, or cheaper
		exceeds(costs[0].Tokens, b.ToolTokens, "tokens", "tool %q", costs[0].Tool)
	}
	if len(over.Exceeded) == 0 {
		return nil
	}
	over.Tools = costs[:min(5, len(costs))]
	return &over
}

func (o *Overrun) Error() string { return "tools are over budget" }

// Details says which limits are exceeded, one a line, and lists the most expensive tools.
func (o *Overrun) Details() []string {
	cost := func(c Cost) string { return c.Tool + " " + words.Grouped(c.Tokens) }
	return append(slices.Clone(o.Exceeded), "most expensive: "+strings.Join(words.Texts(o.Tools, cost), ", "))
}
