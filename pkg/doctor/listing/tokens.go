package listing

import (
	"cmp"
	"encoding/json"
	"slices"

	"toolx/pkg/contract"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
)

// Limits above which tools crowd a model's context window.
const (
	ManyTokens     = 10_000 // of a whole server
	TooManyTokens  = 20_000 // of a whole server, where it becomes a warning
	ManyToolTokens = 2_000  // of one tool
	ManyTools      = 40     // Cursor's limit, over all servers
)

// Cost is a tool with its token count.
type Cost struct {
	D      *Definition
	Tokens int
}

// costs are the token counts of a listing.
type costs struct {
	list  []Cost
	total int
}

// Costs returns the token counts of all tools, largest first, and their sum. They are cached.
func Costs(e *evidence.Evidence) (list []Cost, total int) {
	all := evidence.Once(&e.Kept, func() (all costs) {
		for _, d := range Read(e).Tools {
			one := Cost{d, contract.Tokens(d.Raw)}
			all.list = append(all.list, one)
			all.total += one.Tokens
		}
		slices.SortStableFunc(all.list, func(a, b Cost) int { return cmp.Compare(b.Tokens, a.Tokens) })
		return all
	})
	return all.list, all.total
}

// Tools returns snapshots of the tools of all servers that list any.
func Tools(fleet *evidence.Fleet) contract.Set {
	set := make(contract.Set)
	for _, e := range fleet.Servers {
		var definitions []json.RawMessage
		for _, tool := range Read(e).Tools {
			definitions = append(definitions, tool.Raw)
		}
		if len(definitions) > 0 {
			set[e.Server.Name] = &contract.Snapshot{}
			set[e.Server.Name].Add(contract.Tool, contract.NewDefinitions(contract.Tool, definitions))
		}
	}
	return set
}

// LengthSeverity returns the severity of findings about long definitions: info unless a server's definitions together
// take too many tokens.
func LengthSeverity(e *evidence.Evidence) check.Severity {
	if _, total := Costs(e); total < TooManyTokens {
		return check.Info
	}
	return check.Warning
}
