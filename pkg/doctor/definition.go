package doctor

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"toolx/pkg/rawjson"
)

// maxSurveyed is how many definitions of a listing the checks of tools read. No client
// takes a hundredth of it, and what is read of one takes many times its size in memory.
const maxSurveyed = 10_000

// survey is what the checks of tools read out of a listing, once.
type survey struct {
	tools  []*definition
	size   int // bytes of the definitions that were read
	unread int // definitions beyond maxSurveyed
}

// definition is one entry of tools/list that is an object.
type definition struct {
	index int // in the whole listing, from 0
	raw   json.RawMessage
	name  string // empty where it has none, or none that is text
	// members are the object's own; of a name given twice the last one counts.
	members map[string]json.RawMessage
	// input and output are nil where the schema is missing or not an object.
	input, output *schemaTree
}

// survey reads the definitions of the clean run, once.
func (e *Evidence) survey() *survey {
	return once(&e.kept, func() *survey {
		all := &survey{}
		raw, _ := e.Tools()
		if more := len(raw) - maxSurveyed; more > 0 {
			all.unread, raw = more, raw[:maxSurveyed]
		}
		for i, one := range raw {
			all.size += len(one)
			if d := readDefinition(i, one); d != nil {
				all.tools = append(all.tools, d)
			}
		}
		return all
	})
}

// countTools is how many tools the server lists, those that are not read included.
func (e *Evidence) countTools() int { return len(e.survey().tools) + e.survey().unread }

// readDefinition returns nil for what is no object.
func readDefinition(index int, raw json.RawMessage) *definition {
	list, ok := rawjson.Members(raw)
	if !ok {
		return nil
	}
	d := &definition{index: index, raw: raw, members: make(map[string]json.RawMessage, len(list))}
	for _, member := range list {
		d.members[member.Name] = member.Value
	}
	d.name = d.text("name")
	d.input = readSchema("/inputSchema", d.members["inputSchema"])
	d.output = readSchema("/outputSchema", d.members["outputSchema"])
	return d
}

// text is a member that is a string, empty where it is not.
func (d *definition) text(name string) string {
	if value := d.members[name]; rawjson.IsString(value) {
		return rawjson.Unquote(value)
	}
	return ""
}

// schemas are those of the two schemas that are objects.
func (d *definition) schemas() []*schemaTree {
	var trees []*schemaTree
	for _, tree := range []*schemaTree{d.input, d.output} {
		if tree != nil {
			trees = append(trees, tree)
		}
	}
	return trees
}

// where is the place of a finding in the definition; pointer counts from the tool,
// or from the answer to tools/list where the tool has no name to be found by.
func (d *definition) where(pointer string) *Where {
	if d.name == "" {
		pointer = fmt.Sprintf("/tools/%d", d.index) + pointer
	}
	return &Where{Run: "clean", Method: "tools/list", Tool: d.name, Pointer: excerpt(pointer, maxPointer)}
}

// label names the tool in a sentence.
func (d *definition) label() string {
	if d.name == "" {
		return fmt.Sprintf("tool %d", d.index)
	}
	return excerpt(d.name, maxLabel)
}

// finding is about a place in the definition.
func (d *definition) finding(pointer, evidence string) Finding {
	return Finding{Where: d.where(pointer), Evidence: evidence}
}

// The bounds of what findings show.
const (
	maxExcerpt = 80  // bytes of a text from the server
	maxLabel   = 40  // bytes of a name inside a sentence
	maxPointer = 400 // bytes: names come from the server, and all below repeats them
	maxAlike   = 10  // findings of one check, before the rest is only counted
)

// excerpt cuts text to at most limit bytes, at a character's border; what is left
// out is marked.
func excerpt(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const mark = "…"
	end := max(limit-len(mark), 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}

// excerptJSON is a value on one line, cut.
func excerptJSON(value []byte) string {
	if len(value) > 4*maxExcerpt {
		value = value[:4*maxExcerpt]
	}
	return excerpt(string(bytes.Join(bytes.Fields(value), []byte(" "))), maxExcerpt)
}

// capped keeps the first findings of many that are alike, and says how many more
// there are: a server with a thousand tools makes the same mistake a thousand times.
func capped(findings []Finding) []Finding {
	if len(findings) <= maxAlike {
		return findings
	}
	rest := findings[maxAlike:]
	worst := slices.MaxFunc(rest, func(a, b Finding) int { return cmp.Compare(rankOrOwn(a), rankOrOwn(b)) })
	more := Finding{Severity: worst.Severity, Where: rest[0].Where, Title: worst.Title}
	more.Evidence = fmt.Sprintf("and %d more: %s", len(rest), listed(len(rest), func(i int) string {
		return placeName(rest[i].Where)
	}))
	return append(findings[:maxAlike:maxAlike], more)
}

// rankOrOwn orders severities; none given is the check's own, and no less.
func rankOrOwn(f Finding) int {
	if f.Severity == "" {
		return Error.rank()
	}
	return f.Severity.rank()
}

// placeName is a place in a few words: "tool /inputSchema".
func placeName(where *Where) string {
	if where == nil {
		return "?"
	}
	return strings.TrimSpace(excerpt(where.Tool, maxLabel) + " " + where.Pointer)
}

// listed joins the first of n things for a sentence: "a, b, c and 4 more".
func listed(n int, name func(int) string) string {
	const shown = 5
	var names []string
	for i := range min(n, shown) {
		names = append(names, name(i))
	}
	text := strings.Join(names, ", ")
	if n > shown {
		text += fmt.Sprintf(" and %d more", n-shown)
	}
	return text
}
