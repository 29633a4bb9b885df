package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
)

// Signature shows a tool as a function: its name, and its parameters with their
// types in the order of its JSON Schema, "?" behind the optional ones:
//
//	control_zwave_device(deviceName: string, action: "on"|"off", level?: integer)
//
// It fits into width columns (0: no limit), leaving parameters out at the end if it
// must. Name and schema are a server's, hence untrusted; the signature is safe for a
// terminal. A schema that is none gives a signature without parameters.
func Signature(name string, schema json.RawMessage, width int) string {
	return assemble(Safe(name), parametersOf(schema), width)
}

// assemble joins what fits: "name(a, b, …)".
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
		return fit(name+"(…)", width)
	}
	return name + "(" + strings.Join(parameters[:kept], ", ") + ", …)"
}

// parametersOf gives "name: type" of each property.
func parametersOf(raw json.RawMessage) []string {
	types := newTyper(raw)
	return types.signature(types.resolve(types.root), 1)
}

// Limits that keep a signature a glance, and a hostile schema cheap.
const (
	maxDepth   = 3   // of objects within objects
	maxOptions = 6   // of an enum or union
	maxLiteral = 24  // columns of one option
	maxSteps   = 500 // subschemas that one signature looks at
)

// schema is what of a JSON Schema matters for a signature or a table. A member of
// an unexpected type is left empty.
type schema struct {
	Ref         string            `json:"$ref"`
	Dynamic     string            `json:"$dynamicRef"`
	Recursive   string            `json:"$recursiveRef"`
	Type        json.RawMessage   `json:"type"`
	Enum        []json.RawMessage `json:"enum"`
	Const       json.RawMessage   `json:"const"`
	Properties  json.RawMessage   `json:"properties"`
	Required    []string          `json:"required"`
	Additional  json.RawMessage   `json:"additionalProperties"`
	Items       json.RawMessage   `json:"items"`
	PrefixItems []json.RawMessage `json:"prefixItems"`
	AnyOf       []json.RawMessage `json:"anyOf"`
	OneOf       []json.RawMessage `json:"oneOf"`
	AllOf       []json.RawMessage `json:"allOf"`

	Description      string          `json:"description"`
	Default          json.RawMessage `json:"default"`
	Format           string          `json:"format"`
	Pattern          string          `json:"pattern"`
	Minimum          json.RawMessage `json:"minimum"`
	Maximum          json.RawMessage `json:"maximum"`
	ExclusiveMinimum json.RawMessage `json:"exclusiveMinimum"`
	ExclusiveMaximum json.RawMessage `json:"exclusiveMaximum"`
	MinLength        json.RawMessage `json:"minLength"`
	MaxLength        json.RawMessage `json:"maxLength"`
	MinItems         json.RawMessage `json:"minItems"`
	MaxItems         json.RawMessage `json:"maxItems"`
}

func parseSchema(raw json.RawMessage) schema {
	var s schema
	// Go goes on after a member of the wrong type, and anything else says nothing.
	_ = json.Unmarshal(raw, &s)
	s.Ref = cmp.Or(s.Ref, s.Dynamic, s.Recursive)
	return s
}

// typer writes types of one document, within which references are resolved.
type typer struct {
	root  json.RawMessage // whose references are pointers
	steps int
	open  []string // references that are being resolved, against cycles
}

func newTyper(schema json.RawMessage) *typer {
	return &typer{root: exec.LocalReferences(schema), steps: maxSteps}
}

// resolve follows references at the top of raw. A chain is as long as a few links
// or it is a cycle.
func (t *typer) resolve(raw json.RawMessage) schema {
	s := parseSchema(raw)
	for links := 0; s.Ref != "" && links < 8; links++ {
		target, ok := t.lookUp(s.Ref)
		if !ok {
			break
		}
		description := s.Description
		s = parseSchema(target)
		if description != "" {
			s.Description = description // what stands beside a reference is nearer
		}
	}
	return s
}

// typeOf gives the type of one schema as it is written in a signature; safe.
func (t *typer) typeOf(raw json.RawMessage, depth int) string {
	if t.steps--; t.steps < 0 {
		return "…"
	}
	switch string(bytes.TrimSpace(raw)) {
	case "", "true", "{}":
		return "any"
	case "false":
		return "never"
	}
	s := parseSchema(raw)
	switch {
	case s.Ref != "":
		return t.reference(s.Ref, depth)
	case len(s.Const) > 0:
		return literal(s.Const)
	case len(s.Enum) > 0:
		return options(s.Enum)
	case len(s.AnyOf) > 0:
		return t.union(s.AnyOf, depth)
	case len(s.OneOf) > 0:
		return t.union(s.OneOf, depth)
	case len(s.AllOf) > 0 && len(s.Type) == 0 && len(s.Properties) == 0:
		return t.join(s.AllOf, "&", depth)
	}
	return t.named(s, depth)
}

// named writes a schema by its "type", or by what it would be without one.
func (t *typer) named(s schema, depth int) string {
	names := typeNames(s)
	written := make([]string, 0, len(names))
	for _, name := range names {
		switch name {
		case "object":
			name = t.object(s, depth)
		case "array":
			name = t.array(s, depth)
		}
		written = append(written, Safe(name))
	}
	return alternatives(written)
}

// typeNames gives the members of "type"; without one, what the other keywords are
// about.
func typeNames(s schema) []string {
	var one string
	if json.Unmarshal(s.Type, &one) == nil && one != "" {
		return []string{one}
	}
	var several []string
	if json.Unmarshal(s.Type, &several) == nil && len(several) > 0 {
		return several
	}
	switch {
	case len(s.Properties) > 0 || len(s.Additional) > 0:
		return []string{"object"}
	case len(s.Items) > 0 || len(s.PrefixItems) > 0:
		return []string{"array"}
	}
	return []string{"any"}
}

func (t *typer) object(s schema, depth int) string {
	properties, _ := rawjson.Members(s.Properties)
	if len(properties) == 0 {
		extra := bytes.TrimSpace(s.Additional)
		if len(extra) > 0 && extra[0] == '{' {
			return "{[key]: " + t.typeOf(s.Additional, depth+1) + "}"
		}
		return "object"
	}
	if depth >= maxDepth {
		return "{…}"
	}
	return "{" + strings.Join(t.signature(s, depth+1), ", ") + "}"
}

// property is one property of an object.
type property struct {
	name     string
	schema   json.RawMessage
	required bool
}

// properties gives an object's properties in the schema's order, with those of its
// allOf behind them.
func (t *typer) properties(s schema) []property {
	required, known := make(map[string]bool), make(map[string]bool)
	for _, name := range s.Required {
		required[name] = true
	}
	var all []property
	for m := range rawjson.Each(s.Properties) {
		known[m.Name] = true
		all = append(all, property{m.Name, m.Value, required[m.Name]})
	}
	for _, part := range s.AllOf {
		if t.steps--; t.steps < 0 {
			break
		}
		for _, p := range t.properties(t.resolve(part)) {
			if !known[p.name] {
				known[p.name] = true
				p.required = p.required || required[p.name]
				all = append(all, p)
			}
		}
	}
	return all
}

// signature gives "name: type" for each property.
func (t *typer) signature(s schema, depth int) []string {
	var written []string
	for _, p := range t.properties(s) {
		if t.steps <= 0 {
			return append(written, "…")
		}
		mark := "?"
		if p.required {
			mark = ""
		}
		written = append(written, propertyName(p.name)+mark+": "+t.typeOf(p.schema, depth))
	}
	return written
}

func (t *typer) array(s schema, depth int) string {
	if len(s.PrefixItems) > 0 {
		written := make([]string, len(s.PrefixItems))
		for i, item := range s.PrefixItems {
			written[i] = t.typeOf(item, depth+1)
		}
		return "[" + strings.Join(written, ", ") + "]"
	}
	element := t.typeOf(s.Items, depth)
	if strings.ContainsAny(element, "|&") && !strings.HasPrefix(element, "{") {
		element = "(" + element + ")"
	}
	return element + "[]"
}

func (t *typer) union(alternativeSchemas []json.RawMessage, depth int) string {
	written := make([]string, 0, len(alternativeSchemas))
	for _, alternative := range alternativeSchemas {
		written = append(written, t.typeOf(alternative, depth))
	}
	return alternatives(written)
}

func (t *typer) join(parts []json.RawMessage, sign string, depth int) string {
	written := make([]string, 0, len(parts))
	for _, part := range parts {
		if text := t.typeOf(part, depth); !slices.Contains(written, text) {
			written = append(written, text)
		}
	}
	return strings.Join(written, sign)
}

// alternatives joins types that may stand for one another, each once.
func alternatives(types []string) string {
	var once []string
	for _, one := range types {
		if !slices.Contains(once, one) {
			once = append(once, one)
		}
	}
	if len(once) > maxOptions {
		once = append(once[:maxOptions:maxOptions], "…")
	}
	return strings.Join(once, "|")
}

// reference writes what ref points to; one that is inside itself, or leads out of
// the document (nothing is ever fetched), by its name.
func (t *typer) reference(ref string, depth int) string {
	target, ok := t.lookUp(ref)
	if !ok || slices.Contains(t.open, ref) || len(t.open) >= 16 {
		return refName(ref)
	}
	t.open = append(t.open, ref)
	defer func() { t.open = t.open[:len(t.open)-1] }()
	return t.typeOf(target, depth)
}

// lookUp follows a JSON Pointer (RFC 6901) within the document.
func (t *typer) lookUp(ref string) (json.RawMessage, bool) {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok || pointer != "" && pointer[0] != '/' {
		return nil, false
	}
	if decoded, err := url.PathUnescape(pointer); err == nil {
		pointer = decoded
	}
	return rawjson.Find(t.root, pointer)
}

// refName is the last part of a reference: "Node" of "#/$defs/Node".
func refName(ref string) string {
	name := ref[strings.LastIndexAny(ref, "/#")+1:]
	if name == "" {
		return "{…}" // the whole document
	}
	return Safe(fit(name, maxLiteral))
}

// options writes the values of an enum.
func options(values []json.RawMessage) string {
	shown := values[:min(len(values), maxOptions)]
	written := make([]string, 0, len(shown)+1)
	for _, value := range shown {
		written = append(written, literal(value))
	}
	if len(values) > len(shown) {
		written = append(written, "…")
	}
	return strings.Join(written, "|")
}

// literal writes a JSON value as it is, cut where it is long.
func literal(value json.RawMessage) string {
	text := compact(value)
	if ansi.StringWidth(text) <= maxLiteral {
		return text
	}
	if strings.HasPrefix(text, `"`) {
		return fit(text, maxLiteral-1) + `"`
	}
	return fit(text, maxLiteral)
}

// compact gives JSON on one line, safe for a terminal.
func compact(value json.RawMessage) string {
	var out bytes.Buffer
	if json.Compact(&out, value) != nil {
		return Safe(string(value))
	}
	return Safe(out.String())
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
