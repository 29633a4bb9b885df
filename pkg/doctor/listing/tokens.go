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

// Limits above which tools crowd a model's context window.
const (
	ManyTokens     = 10_000 // of a whole server
	TooManyTokens  = 20_000 // of a whole server, where it becomes a warning
	ManyToolTokens = 2_000  // of one tool
	ManyTools      = 40     // Cursor's limit, over all servers
)

// bytesPerToken was measured on compact tool definitions with Qwen3's tokenizer: 4.0 to 4.2 in every provider's format.
const bytesPerToken = 4.1

// tokens estimates how many tokens a definition takes.
func tokens(definition json.RawMessage) int {
	var compact bytes.Buffer
	size := len(definition)
	if json.Compact(&compact, definition) == nil {
		size = compact.Len()
	}
	return int(float64(size)/bytesPerToken + 0.5)
}

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
			one := Cost{d, tokens(d.Raw)}
			all.list = append(all.list, one)
			all.total += one.Tokens
		}
		slices.SortStableFunc(all.list, func(a, b Cost) int { return cmp.Compare(b.Tokens, a.Tokens) })
		return all
	})
	return all.list, all.total
}

// LengthSeverity returns the severity of findings about long definitions: info unless a server's definitions together
// take too many tokens.
func LengthSeverity(e *evidence.Evidence) check.Severity {
	if _, total := Costs(e); total < TooManyTokens {
		return check.Info
	}
	return check.Warning
}

// Grouped formats a number with commas: "12,300".
func Grouped(n int) string {
	digits := fmt.Sprint(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
