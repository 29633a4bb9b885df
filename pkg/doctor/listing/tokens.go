package listing

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
)

// The costs beyond which tools crowd a model's context window.
const (
	ManyTokens     = 10_000 // of a whole server
	TooManyTokens  = 20_000 // from here on it is a fault
	ManyToolTokens = 2_000  // of one tool
	ManyTools      = 40     // Cursor's limit, over all servers
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

// Cost is a tool with its tokens.
type Cost struct {
	D      *Definition
	Tokens int
}

// costs are those of a whole listing.
type costs struct {
	list  []Cost
	total int
}

// Costs returns what each tool costs, the dearest first, and the sum. They are worked out once.
func Costs(e *evidence.Evidence) (list []Cost, total int) {
	all := evidence.Once(&e.Kept, func() (all costs) {
		for _, d := range Read(e).Tools {
			one := Cost{d, tokens(d.Raw)}
			all.list = append(all.list, one)
			all.total += one.Tokens
		}
		slices.SortStableFunc(all.list, func(a, b Cost) int { return cmp.Compare(b.Tokens, a.Tokens) })
		return all
	})
	return all.list, all.total
}

// LengthSeverity returns how much it matters that definitions of a server are long: it is a note unless all together
// crowd a model's context.
func LengthSeverity(e *evidence.Evidence) check.Severity {
	if _, total := Costs(e); total < TooManyTokens {
		return check.Info
	}
	return check.Warning
}

// Grouped writes a number with commas: "12,300".
func Grouped(n int) string {
	digits := fmt.Sprint(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
