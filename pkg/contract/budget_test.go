package contract

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestBudget(t *testing.T) {
	set := make(Set)
	for server, lengths := range map[string][]int{"files": {410, 41, 82, 41}, "mail": {820, 123, 41}, "none": nil} {
		definitions := make(Definitions)
		for i, length := range lengths { // 4.1 bytes a token
			definitions[fmt.Sprintf("t%d", i)] = json.RawMessage(`"` + strings.Repeat("x", length-2) + `"`)
		}
		set[server] = &Snapshot{}
		set[server].Add(Tool, definitions)
	}
	for _, test := range []struct {
		budget Budget
		want   []string
	}{
		{Budget{}, nil},
		{Budget{Tokens: 380, ServerTokens: 240, ToolTokens: 200, Tools: 7, ResultSize: 1}, nil},
		{Budget{Tokens: 379}, []string{"the total has 380 tokens, the limit is 379"}},
		{Budget{ServerTokens: 239}, []string{`server "mail" has 240 tokens, the limit is 239`}},
		{Budget{ServerTokens: 100}, []string{
			`server "files" has 140 tokens, the limit is 100`, `server "mail" has 240 tokens, the limit is 100`,
		}},
		{Budget{ToolTokens: 50}, []string{`tool "t0" has 200 tokens, the limit is 50`}},
		{Budget{Tools: 6}.Or(Budget{Tools: 1, ToolTokens: 1000}), []string{"the total has 7 tools, the limit is 6"}},
	} {
		over := test.budget.Check(set)
		switch {
		case over == nil && test.want == nil:
		case over == nil || !slices.Equal(over.Exceeded, test.want):
			t.Errorf("%+v: %v, want %q", test.budget, over, test.want)
		case over.Tools[0].Server != "mail" || !slices.Equal(over.Details()[len(test.want):],
			[]string{"most expensive: t0 200, t0 100, t1 30, t2 20, t1 10"}):
			t.Errorf("%+v: %q", test.budget, over.Details())
		}
	}
}
