package render

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// signature returns a tool as a function: its name, and its parameters with their types in the order of
// its JSON Schema, "?" after the optional ones:
//
//	control_zwave_device(deviceName: string, action: "on"|"off", level?: integer)
//
// It fits into width columns (0: no limit), without the last parameters if necessary. Name and schema
// are a server's and untrusted; the signature is safe for a terminal. An invalid schema gives a
// signature without parameters, one that is too large to be read "name(…)".
func signature(name string, schema *jsonschema.Document, width int) string {
	if schema.TooLarge() {
		return assemble(Safe(name), []string{"…"}, width)
	}
	return assemble(Safe(name), newTyper().signature(schema.Root(), 1), width)
}

// assemble joins the parameters that fit: "name(a, b, …)".
func assemble(name string, parameters []string, width int) string {
	whole := name + "(" + strings.Join(parameters, ", ") + ")"
	if width <= 0 || ansi.StringWidth(whole) <= width {
		return whole
	}
	room := width - ansi.StringWidth(name+"(…)")
	kept := 0
	for kept < len(parameters) {
		room -= ansi.StringWidth(parameters[kept]) + len(", ")
		if room < 0 {
			break
		}
		kept++
	}
	if kept == 0 {
		return Fit(name+"(…)", width)
	}
	return name + "(" + strings.Join(parameters[:kept], ", ") + ", …)"
}

// Limits that keep a signature a glance, and a hostile schema cheap.
const (
	maxDepth   = 3   // of objects within objects
	maxOptions = 6   // of an enum or union
	maxLiteral = 24  // columns of one option
	maxSteps   = 500 // subschemas that one signature looks at
)

// typer writes the types of one schema.
type typer struct {
	steps int
	open  []string // references that are being resolved, against cycles
}

func newTyper() *typer { return &typer{steps: maxSteps} }

// typeOf returns the type of one schema as it is written in a signature; safe.
func (t *typer) typeOf(n *jsonschema.Node, depth int) string {
	if t.steps--; t.steps < 0 {
		return "…"
	}
	enum, allOf := n.Get("enum").Elements(), n.Get("allOf").Elements()
	anyOf, oneOf := n.Get("anyOf").Elements(), n.Get("oneOf").Elements()
	switch constant := n.Get("const"); {
	case n.Is("false"):
		return "never"
	case n.Reference() != "":
		return t.reference(n, depth)
	case constant != nil:
		return literal(constant.Raw())
	case len(enum) > 0:
		return options(enum)
	case len(anyOf) > 0:
		return alternatives(t.each(anyOf, depth))
	case len(oneOf) > 0:
		return alternatives(t.each(oneOf, depth))
	case len(allOf) > 0 && n.Get("type") == nil && n.Get("properties") == nil:
		return strings.Join(unique(t.each(allOf, depth)), "&")
	}
	return t.named(n, depth)
}

// named writes a schema by its "type", or by what it would be without one.
func (t *typer) named(n *jsonschema.Node, depth int) string {
	names := typeNames(n)
	written := make([]string, 0, len(names))
	for _, name := range names {
		switch name {
		case "object":
			name = t.object(n, depth)
		case "array":
			name = t.array(n, depth)
		}
		written = append(written, Safe(name))
	}
	return alternatives(written)
}

// typeNames returns the members of "type"; without one, the type that the other keywords apply to.
func typeNames(n *jsonschema.Node) []string {
	if one := n.Get("type").Text(); one != "" {
		return []string{one}
	}
	if several := n.Get("type").Texts(); len(several) > 0 {
		return several
	}
	switch {
	case n.Get("properties") != nil || n.Get("additionalProperties") != nil:
		return []string{"object"}
	case n.Get("items") != nil || n.Get("prefixItems") != nil:
		return []string{"array"}
	}
	return []string{"any"}
}

func (t *typer) object(n *jsonschema.Node, depth int) string {
	switch extra := n.Get("additionalProperties"); {
	case len(n.Properties()) > 0 && depth < maxDepth:
		return "{" + strings.Join(t.signature(n, depth+1), ", ") + "}"
	case len(n.Properties()) > 0:
		return "{…}"
	case extra.IsObject():
		return "{[key]: " + t.typeOf(extra, depth+1) + "}"
	}
	return "object"
}

// signature returns "name: type" for each property.
func (t *typer) signature(n *jsonschema.Node, depth int) []string {
	var written []string
	for _, p := range n.Properties() {
		if t.steps <= 0 {
			return append(written, "…")
		}
		mark := "?"
		if p.Required {
			mark = ""
		}
		written = append(written, propertyName(p.Name)+mark+": "+t.typeOf(p.Node, depth))
	}
	return written
}

func (t *typer) array(n *jsonschema.Node, depth int) string {
	if tuple := n.Get("prefixItems").Elements(); len(tuple) > 0 {
		return "[" + strings.Join(t.each(tuple, depth+1), ", ") + "]"
	}
	element := t.typeOf(n.Get("items"), depth)
	if strings.ContainsAny(element, "|&") && !strings.HasPrefix(element, "{") {
		element = "(" + element + ")"
	}
	return element + "[]"
}

// each returns the types of several schemas.
func (t *typer) each(schemas []*jsonschema.Node, depth int) []string {
	written := make([]string, len(schemas))
	for i, one := range schemas {
		written[i] = t.typeOf(one, depth)
	}
	return written
}

// alternatives joins types, each once.
func alternatives(types []string) string {
	once := unique(types)
	if len(once) > maxOptions {
		once = append(once[:maxOptions:maxOptions], "…")
	}
	return strings.Join(once, "|")
}

// unique drops repetitions.
func unique(texts []string) []string {
	var once []string
	for _, one := range texts {
		if !slices.Contains(once, one) {
			once = append(once, one)
		}
	}
	return once
}

// reference writes the target of a reference. One that is inside itself, or leads out of the document
// (nothing is ever fetched), is written by its name.
func (t *typer) reference(n *jsonschema.Node, depth int) string {
	target, reference := n.Target(), n.Reference()
	if target == nil || slices.Contains(t.open, reference) || len(t.open) >= 16 {
		if name := jsonschema.ReferenceName(reference); name != "" {
			return Safe(Fit(name, maxLiteral))
		}
		return "{…}" // the whole document
	}
	t.open = append(t.open, reference)
	defer func() { t.open = t.open[:len(t.open)-1] }()
	return t.typeOf(target, depth)
}

// options writes the values of an enum.
func options(values []*jsonschema.Node) string {
	shown := values[:min(len(values), maxOptions)]
	written := make([]string, 0, len(shown)+1)
	for _, value := range shown {
		written = append(written, literal(value.Raw()))
	}
	if len(values) > len(shown) {
		written = append(written, "…")
	}
	return strings.Join(written, "|")
}

// literal writes a JSON value as it is, cut if it is long.
func literal(value json.RawMessage) string {
	text := compact(value)
	if ansi.StringWidth(text) <= maxLiteral {
		return text
	}
	if strings.HasPrefix(text, `"`) {
		return Fit(text, maxLiteral-1) + `"`
	}
	return Fit(text, maxLiteral)
}

// compact returns JSON on one line, safe for a terminal.
func compact(value json.RawMessage) string {
	return Safe(string(rawjson.Compact(value)))
}

// propertyName quotes a name that is not a plain word.
func propertyName(name string) string {
	plain := name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune(`"'(){}[]<>,:;?|&`, r)
	})
	if plain {
		return Safe(name)
	}
	return Safe(strconv.Quote(name))
}
