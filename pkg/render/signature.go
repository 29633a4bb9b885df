package render

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// signature returns a tool's signature: its name, and its parameters with their types in the order of its JSON Schema,
// with "?" after optional ones:
//
//	control_zwave_device(deviceName: string, action: "on"|"off", level?: integer)
//
// It fits into width columns (0: no limit), if necessary without the last parameters. Name and schema are untrusted;
// the signature is safe for a terminal. For an invalid schema it has no parameters, for one that is too large it is
// "name(…)".
func signature(name string, schema *jsonschema.Document, width int) string {
	if schema.TooLarge() {
		return assemble(Safe(name), []string{"…"}, width)
	}
	return assemble(Safe(name), newTyper().fields(schema.Arguments(), 1), width)
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

// Limits that keep a signature short, and a hostile schema cheap.
const (
	maxDepth   = 3   // of objects within objects
	maxOptions = 6   // of an enum or union
	maxLiteral = 24  // columns of one option
	maxOpen    = 16  // references within references
	maxSteps   = 500 // subschemas that one signature writes

	schemasPerStep = 20 // that are examined for the shape of one
)

// typer writes the types of one schema.
type typer struct {
	steps int
	open  []*jsonschema.Node // targets of references that are being written, against cycles
}

func newTyper() *typer { return &typer{steps: maxSteps} }

// shape returns the shape of one schema, and counts its cost.
func (t *typer) shape(n *jsonschema.Node) *jsonschema.Shape { return t.count(n.Shape()) }

func (t *typer) count(s *jsonschema.Shape) *jsonschema.Shape {
	t.steps -= 1 + s.LookedAt()/schemasPerStep
	return s
}

// nodeType returns the type of one schema for a signature; it is safe.
func (t *typer) nodeType(n *jsonschema.Node, depth int) string {
	if t.steps < 0 {
		return "…"
	}
	return t.typeOf(t.shape(n), depth)
}

// typeOf returns the type of a shape. For one inside itself, or of a schema outside the document (nothing is ever
// fetched), it is the name of the reference.
func (t *typer) typeOf(s *jsonschema.Shape, depth int) string {
	if !s.Known || s.Target != nil && (slices.Contains(t.open, s.Target) || len(t.open) >= maxOpen) {
		if s.Name == "" {
			return "{…}" // the whole document
		}
		return Safe(Fit(s.Name, maxLiteral))
	}
	if s.Target != nil {
		t.open = append(t.open, s.Target)
		defer func() { t.open = t.open[:len(t.open)-1] }()
	}
	written := t.plainType(s, depth)
	if s.Nullable && s.Kind != jsonschema.ShapeJSON {
		written += "|null"
	}
	return written
}

// plainType returns the type of a shape without null.
func (t *typer) plainType(s *jsonschema.Shape, depth int) string {
	switch s.Kind {
	case jsonschema.ShapeText:
		return "string"
	case jsonschema.ShapeNumber:
		if s.Whole {
			return "integer"
		}
		return "number"
	case jsonschema.ShapeBool:
		return "boolean"
	case jsonschema.ShapeEnum:
		return options(s.Options)
	case jsonschema.ShapeObject:
		return t.object(s, depth)
	case jsonschema.ShapeArray:
		return t.array(s, depth)
	}
	switch {
	case s.Why == jsonschema.NoValue:
		return "never"
	case s.Tuple != nil:
		return "[" + strings.Join(words.Texts(s.Tuple, func(n *jsonschema.Node) string {
			return t.nodeType(n, depth+1)
		}), ", ") + "]"
	case len(s.Alternatives) > 0:
		return t.variant(s.Alternatives, depth)
	case len(s.Unknown) > 0:
		return alternatives(words.Texts(s.Unknown, Safe))
	}
	return "any"
}

func (t *typer) object(s *jsonschema.Shape, depth int) string {
	switch {
	case len(s.Properties) > 0 && depth < maxDepth:
		return "{" + strings.Join(t.fields(s, depth+1), ", ") + "}"
	case len(s.Properties) > 0:
		return "{…}"
	case s.Additional != nil:
		return "{[key]: " + t.nodeType(s.Additional, depth+1) + "}"
	}
	return "object"
}

// fields returns "name: type" for each property.
func (t *typer) fields(s *jsonschema.Shape, depth int) []string {
	var written []string
	for _, p := range t.count(s).Fields() {
		if t.steps <= 0 {
			return append(written, "…")
		}
		mark := "?"
		if p.Required {
			mark = ""
		}
		written = append(written, propertyName(p.Name)+mark+": "+t.nodeType(p.Node, depth))
	}
	return written
}

func (t *typer) array(s *jsonschema.Shape, depth int) string {
	if t.steps < 0 {
		return "…"
	}
	items := t.shape(s.Items)
	element := t.typeOf(items, depth)
	if strings.Contains(element, "|") && (items.Kind != jsonschema.ShapeObject || items.Nullable) {
		element = "(" + element + ")"
	}
	return element + "[]"
}

// variant returns the first alternatives.
func (t *typer) variant(list []jsonschema.Alternative, depth int) string {
	var written []string
	for _, a := range list {
		if len(written) > maxOptions || t.steps < 0 {
			written = append(written, "…")
			break
		}
		if one := t.typeOf(t.count(a.Shape()), depth); !slices.Contains(written, one) {
			written = append(written, one)
		}
	}
	return alternatives(written)
}

// alternatives joins types, or the values of an enum.
func alternatives(types []string) string {
	if len(types) > maxOptions {
		types = append(types[:maxOptions:maxOptions], "…")
	}
	return strings.Join(types, "|")
}

// options returns the values of an enum.
func options(values []jsonschema.Option) string {
	written := words.Texts(values[:min(len(values), maxOptions+1)], func(o jsonschema.Option) string {
		return literal(o.Raw)
	})
	return alternatives(written)
}

// literal returns a JSON value, cut if it is long.
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

// propertyName returns a name, quoted if it is not a plain word.
func propertyName(name string) string {
	plain := name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune(`"'(){}[]<>,:;?|&`, r)
	})
	if plain {
		return Safe(name)
	}
	return Safe(strconv.Quote(name))
}
