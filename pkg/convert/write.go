package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"unicode/utf8"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// Converted is one tool in the target's format.
type Converted struct {
	Tool   json.RawMessage // the element of the provider's list of tools, without spaces
	Name   string          // for the model
	Server string          // the server to call
	Plain  string          // the server's name for the tool
	Losses []Loss
}

// Conversion is a list of tools in the target's format.
type Conversion struct {
	Format  Format
	Tools   []Converted
	Skipped []Loss // tools that cannot be expressed; each is Fatal
	// Limits are losses of the whole list: more tools than the provider allows.
	Limits []Loss

	// losses are the losses of all tools in order.
	losses []Loss
}

// convert writes one tool under a free name (see freeName).
func convert(tool Tool, to Format, taken map[string]ModelTool, reserved map[string]bool) (*Converted, error) {
	target := recordOf(to)
	if target.format == "" || target.hidden {
		return nil, errFormat(string(to))
	}
	if !json.Valid(tool.Definition) {
		return nil, errors.New("its definition is not JSON")
	}
	tool, repaired := inUTF8(tool)
	definition := trusted(tool)
	found, err := commonFieldsOf(definition)
	if err != nil {
		return nil, err
	}
	made, err := fit(found.schema.Bytes(), to)
	if err != nil {
		return nil, err
	}
	plain := found.name
	if found.name, err = freeName(ModelTool{tool.Server, plain}, to, taken, reserved); err != nil {
		return nil, err
	}
	found.schema = valueOf(string(made.schema))
	found.description = withHint(found.description, made.hint)
	found.strict = carriesStrict(definition, to, made.schema)
	losses := slices.Concat(repaired, target.remarks(tool.Server, plain, found), made.losses,
		leftBehind(definition, to, found.strict))
	for i := range losses {
		losses[i].Format, losses[i].Tool = to, qualified(tool.Server, plain)
	}
	return &Converted{
		Tool:   json.RawMessage(compact(target.element(found, definition))),
		Name:   found.name,
		Server: tool.Server,
		Plain:  plain,
		Losses: losses,
	}, nil
}

// inUTF8 replaces bytes that are not UTF-8 (RFC 8259, 8.1) and unpaired surrogates, which JavaScript produces when it
// splits an emoji. Providers reject the whole request because of one.
func inUTF8(tool Tool) (Tool, []Loss) {
	var losses []Loss
	if !utf8.Valid(tool.Definition) {
		tool.Definition = bytes.ToValidUTF8(tool.Definition, []byte("\ufffd"))
		losses = append(losses, Loss{Severity: Lossy, Kind: "changed", Detail: "bytes that are not UTF-8 to \ufffd"})
	}
	if whole := withoutHalves(tool.Definition); !bytes.Equal(whole, tool.Definition) {
		tool.Definition = whole
		losses = append(losses, Loss{Severity: Lossy, Kind: "changed", Detail: "unpaired surrogates to \ufffd"})
	}
	return tool, losses
}

// element writes a tool as an element of the format's list.
func (r *record) element(e commonFields, definition *node) *node {
	if r.write != nil {
		return r.write(e, definition)
	}
	if r.exact {
		return r.layout.fill(nil, e)
	}
	return r.layout.fill(formFor(r.format, definition), e)
}

// remarks returns warnings about the name and the description.
func (r *record) remarks(server, plain string, e commonFields) []Loss {
	var losses []Loss
	if e.name != qualified(server, plain) {
		losses = append(losses, Loss{Severity: Info, Kind: renamed, Detail: e.name})
	}
	if long := utf8.RuneCountInString(e.description.Text()); r.longest > 0 && long > r.longest {
		detail := fmt.Sprintf("a description of %d characters, over the documented %d,", long, r.longest)
		losses = append(losses, Loss{Severity: Info, Kind: Kept, Detail: detail})
	}
	return losses
}

// withHint adds a hint to a description.
func withHint(description *node, hint string) *node {
	if hint == "" {
		return description
	}
	if text := description.Text(); text != "" {
		hint = text + " " + hint
	}
	return jsonschema.Quoted(hint)
}

// ConvertAll writes tools in a format. It skips and reports tools that cannot be expressed. If two tools would have the
// same name, one gets the name with a hash (see FitName): a tool without a server if its name is that of a server's
// tool, otherwise the later one. It skips duplicates.
func ConvertAll(tools []Tool, to Format) *Conversion {
	all := &Conversion{Format: to}
	reserved := reservedNames(tools)
	names := make(map[string]ModelTool, len(tools))
	for i, tool := range tools {
		converted, err := convert(tool, to, names, reserved)
		if err != nil {
			loss := Loss{Format: to, Tool: toolName(tool, i), Severity: Fatal, Kind: Skipped, Detail: err.Error()}
			all.Skipped, all.losses = append(all.Skipped, loss), append(all.losses, loss)
			continue
		}
		names[converted.Name] = ModelTool{converted.Server, converted.Plain}
		all.Tools = append(all.Tools, *converted)
		all.losses = append(all.losses, converted.Losses...)
	}
	if target := recordOf(to); target.most > 0 && len(all.Tools) > target.most {
		detail := fmt.Sprintf("%d tools; a request allows at most %d", len(all.Tools), target.most)
		all.Limits = []Loss{{Format: to, Severity: Lossy, Kind: Kept, Detail: detail}}
	}
	return all
}

// reservedNames returns the qualified names of servers' tools, which always refer to those tools.
func reservedNames(tools []Tool) map[string]bool {
	reserved := make(map[string]bool)
	for _, tool := range tools {
		if tool.Server != "" {
			reserved[qualified(tool.Server, rawjson.GetText(tool.Definition, nameMember))] = true
		}
	}
	return reserved
}

// freeName returns the fitted name of a tool, or the one with a hash if another tool has it.
func freeName(tool ModelTool, to Format, taken map[string]ModelTool, reserved map[string]bool) (string, error) {
	target := recordOf(to)
	fitted := FitName(tool.Server, tool.Plain, to)
	for _, name := range []string{fitted, target.names.hashed(tool.Server, tool.Plain)} {
		owner, isTaken := taken[name]
		switch {
		case isTaken && owner == tool:
			return "", errors.New("it is already in the list")
		case isTaken, tool.Server == "" && reserved[name]:
			continue
		}
		return name, nil
	}
	return "", fmt.Errorf("another tool has its name, %s", fitted)
}

// toolName returns a tool's qualified name, or its positionLabel.
func toolName(tool Tool, index int) string {
	if name := rawjson.GetText(tool.Definition, nameMember); name != "" {
		return qualified(tool.Server, name)
	}
	return positionLabel(index)
}

// Document returns the list of tools for a request: a JSON array ("[]" without tools), or the prompt text for Hermes
// (empty without tools).
func (c *Conversion) Document() []byte {
	elements := make([]json.RawMessage, len(c.Tools))
	for i, tool := range c.Tools {
		elements[i] = tool.Tool
	}
	if target := recordOf(c.Format); target.document != nil {
		return target.document(elements)
	}
	return rawjson.Array(elements)
}

// Losses returns all losses, including those of skipped tools, in the order of the tools, then those of the whole list.
func (c *Conversion) Losses() []Loss { return slices.Concat(c.losses, c.Limits) }

// escapes matches a JSON escape: a surrogate pair, an unpaired surrogate (group 1), or any other.
var escapes = sync.OnceValue(func() *regexp.Regexp {
	const high, low = `\\u[dD][89abAB][[:xdigit:]]{2}`, `\\u[dD][c-fC-F][[:xdigit:]]{2}`
	return regexp.MustCompile(high + low + `|(` + high + `|` + low + `)|\\.`)
})

// withoutHalves replaces escapes of unpaired surrogates with U+FFFD (RFC 8259, 8.2). text must be valid JSON.
func withoutHalves(text json.RawMessage) json.RawMessage {
	if !bytes.Contains(text, []byte(`\u`)) {
		return text
	}
	return escapes().ReplaceAllFunc(text, func(escape []byte) []byte {
		if escapes().FindSubmatch(escape)[1] != nil {
			return []byte(`\ufffd`)
		}
		return escape
	})
}

// EstimateTokens estimates the tokens of a tool or a list of tools, rounded up, from the length of compact JSON.
// Qwen3's tokenizer uses one token for 4.0 to 4.2 bytes; other models differ.
func EstimateTokens(tool []byte) int {
	const tenths = 41 // bytes for ten tokens
	return (10*len(rawjson.Compact(tool)) + tenths - 1) / tenths
}
