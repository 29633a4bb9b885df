package convert

import (
	"fmt"
	"strings"
)

// Severity says what a conversion's change means for the one who calls the tool.
type Severity string

// The severities, the mildest first.
const (
	Info  Severity = "info"  // said in another way, or nothing that a model would see
	Lossy Severity = "lossy" // the target cannot hold it
	Fatal Severity = "error" // the tool cannot be expressed, and was left out
)

// Loss is one change that a conversion made to a tool because of its target.
type Loss struct {
	Format   Format   `json:"format"` // the target; the source for a tool that could not be read
	Tool     string   `json:"tool"`   // by its qualified name: server__tool; "#2" for the second, where it has no name
	Path     string   `json:"path"`   // of the property, such as "filter.items[].size"; empty for the tool itself
	Severity Severity `json:"severity"`
	// Kind is what was done: "dropped", "changed", "moved", "cut", "renamed", "skipped", or "kept" in spite of a limit.
	Kind   string `json:"kind"`
	Detail string `json:"detail"` // to what: a keyword, or a short clause
}

// The kinds of losses that matter even if nothing is lost: a provider may refuse what was kept, or an entry that is not
// a tool was left out.
const (
	Kept    = "kept"
	Skipped = "skipped"
)

// Other kinds of losses that concern a tool as a whole.
const (
	dropped = "dropped"
	renamed = "renamed"
)

// String returns the loss on one line: "gemini: dropped exclusiveMinimum at fetch.max_length".
func (l Loss) String() string {
	text := l.sentence()
	if l.Format == "" {
		return text
	}
	return fmt.Sprintf("%s: %s", l.Format, text)
}

func (l Loss) sentence() string {
	place := strings.Trim(l.Tool+"."+l.Path, ".")
	switch {
	case l.Kind == Skipped && place != "":
		return fmt.Sprintf("skipped %s: %s", place, l.Detail)
	case l.Kind == renamed:
		return fmt.Sprintf("renamed %s to %s", place, l.Detail)
	case place == "":
		return l.Kind + " " + l.Detail
	}
	return fmt.Sprintf("%s %s at %s", l.Kind, l.Detail, place)
}
