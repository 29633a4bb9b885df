package cmd

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"

	"toolx/pkg/convert"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// contextWindow is the window of tokens that a share is of.
const contextWindow = 200_000

// tokenCost is an estimate of what tools take of a model's context.
type tokenCost struct {
	Estimate bool       `json:"estimate"` // always true: no tokenizer was asked
	Total    int        `json:"total"`
	Share    float64    `json:"share"` // of contextWindow, from 0 to 1
	Window   int        `json:"window"`
	Tools    []toolCost `json:"tools"` // the most expensive first
}

type toolCost struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// costOf estimates the cost of the tools of a conversion.
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
func (o *output) printTokens(conversion *convert.Conversion, form string) error {
	cost := costOf(conversion)
	if form != "" {
		document, err := rawjson.Marshal(cost)
		if err != nil {
			return err
		}
		return o.printDocument(document, form)
	}
	out := bufio.NewWriter(o.Console.Out)
	for _, tool := range cost.Tools {
		if o.Console.OutTTY {
			fmt.Fprintf(out, "%8s  %s\n", fmt.Sprintf("~%d", tool.Tokens), render.Safe(tool.Name))
		} else {
			fmt.Fprintf(out, "%d\t%s\n", tool.Tokens, render.Field(tool.Name, o.outScreen()))
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	o.say("about %d tokens for %s (estimated): %.1f %% of a window of %d",
		cost.Total, words.Count(len(cost.Tools), "tool"), 100*cost.Share, contextWindow)
	return nil
}
