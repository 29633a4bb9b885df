package cmd

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"

	"toolx/pkg/convert"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
)

// contextWindow is the window that a share of tokens is told of.
const contextWindow = 200_000

// tokenCost is what tools take of a model's context, estimated.
type tokenCost struct {
	Estimate bool       `json:"estimate"` // always true: no tokenizer was asked
	Total    int        `json:"total"`
	Share    float64    `json:"share"` // of contextWindow, from 0 to 1
	Window   int        `json:"window"`
	Tools    []toolCost `json:"tools"` // the dearest first
}

type toolCost struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// costOf estimates what the tools of a conversion take.
func costOf(conversion *convert.Conversion) tokenCost {
	cost := tokenCost{Estimate: true, Window: contextWindow, Tools: []toolCost{}}
	for _, tool := range conversion.Tools {
		tokens := convert.EstimateTokens(tool.Tool)
		cost.Total += tokens
		cost.Tools = append(cost.Tools, toolCost{tool.Name, tokens})
	}
	slices.SortStableFunc(cost.Tools, func(a, b toolCost) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Name, b.Name))
	})
	cost.Share = float64(cost.Total) / contextWindow
	return cost
}

// printTokens prints what each tool costs. In a pipe each tool is a line of two
// fields with a tab between them, tokens and name.
func (a *App) printTokens(conversion *convert.Conversion, output string) error {
	cost := costOf(conversion)
	if output != "" {
		document, err := rawjson.Marshal(cost)
		if err != nil {
			return err
		}
		return a.printDocument(document, output)
	}
	out := bufio.NewWriter(a.Console.Out)
	for _, tool := range cost.Tools {
		if a.Console.OutTTY {
			fmt.Fprintf(out, "%8s  %s\n", fmt.Sprintf("~%d", tool.Tokens), render.Safe(tool.Name))
		} else {
			fmt.Fprintf(out, "%d\t%s\n", tool.Tokens, render.Field(tool.Name, a.outScreen()))
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(a.live, "about %d tokens for %s (estimated): %.1f %% of a window of %d\n",
		cost.Total, plural(len(cost.Tools), "tool", "tools"), 100*cost.Share, contextWindow)
	return nil
}
