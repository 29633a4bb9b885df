package doctor

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/exec"
)

// The costs beyond which tools crowd a model's context window.
const (
	manyTokens     = 10_000 // of a whole server
	manyToolTokens = 2_000  // of one tool
	manyTools      = 40     // Cursor's limit, over all servers
)

// bytesPerToken is what compact JSON of tool definitions comes to, measured with
// the tokenizer of Qwen3: 4.0 to 4.2 in every provider's format.
const bytesPerToken = 4.1

// tokens estimates what a definition costs in a model's context.
func tokens(definition json.RawMessage) int {
	var compact bytes.Buffer
	size := len(definition)
	if json.Compact(&compact, definition) == nil {
		size = compact.Len()
	}
	return int(float64(size)/bytesPerToken + 0.5)
}

// cost is a tool with its tokens.
type cost struct {
	d      *definition
	tokens int
}

// costs are all tools, the dearest first.
func costs(e *Evidence) (list []cost, total int) {
	for _, d := range e.survey().tools {
		one := cost{d, tokens(d.raw)}
		list = append(list, one)
		total += one.tokens
	}
	slices.SortStableFunc(list, func(a, b cost) int { return cmp.Compare(b.tokens, a.tokens) })
	return list, total
}

func askTokensTool(e *Evidence) []Finding {
	var found []Finding
	list, _ := costs(e)
	for _, one := range list {
		if one.tokens > manyToolTokens {
			found = append(found, one.d.finding("", fmt.Sprintf("about %s tokens (%s); over %s is much",
				grouped(one.tokens), exec.Bytes(int64(len(one.d.raw))), grouped(manyToolTokens))))
		}
	}
	return capped(found)
}

func askTokensTotal(e *Evidence) []Finding {
	list, total := costs(e)
	if len(list) == 0 {
		return nil
	}
	var dear []string
	for _, one := range list[:min(len(list), 5)] {
		dear = append(dear, fmt.Sprintf("%s %s", one.d.label(), grouped(one.tokens)))
	}
	f := Finding{
		Where: &Where{Run: "clean", Method: "tools/list", Pointer: "/tools"},
		Evidence: fmt.Sprintf("about %s tokens (%s) for %s; most: %s",
			grouped(total), exec.Bytes(int64(e.survey().size)), exec.Count(len(list), "tool"), strings.Join(dear, ", ")),
	}
	if unread := e.survey().unread; unread > 0 {
		f.Evidence += fmt.Sprintf("; toolx has read no more of the list, which has %s more", exec.Count(unread, "tool"))
	}
	switch {
	case total > manyTokens:
		f.Severity, f.Title = Warning, "the tools cost very many tokens"
	case len(list) > manyTools:
		f.Severity, f.Title = Warning, fmt.Sprintf("there are more than %d tools", manyTools)
	}
	return []Finding{f}
}

// grouped writes a number with commas: "12,300".
func grouped(n int) string {
	digits := fmt.Sprint(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
