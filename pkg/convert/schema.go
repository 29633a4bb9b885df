package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/words"
)

// The limits that keep a schema's refs from growing without end.
const (
	// maxOpen is how often a definition may stand inside itself before it is cut.
	maxOpen = 2
	// maxNodes is how many schemas may be walked before further refs are cut: refs that double at each step grow
	// exponentially.
	maxNodes = 4000
	// maxBytes bounds what refs bring in, as a single definition may be large.
	maxBytes = 1 << 21
	// maxShaped bounds the schemas that are looked at to find out what others mean; the rest mean anything.
	maxShaped = 500_000
	// maxDepth is how deep schemas may nest: far deeper than any tool's.
	maxDepth = 256
	// maxWalks is how often a schema is walked until it stays as it is.
	maxWalks = 8
)

// fitted is an input schema made to fit a target.
type fitted struct {
	schema json.RawMessage
	// hint says in words what the root lost, for the tool's description, to which it is added after a space; empty if
	// nothing was.
	hint string
	// losses lack the format and the tool, which the caller knows.
	losses []Loss
}

// fit makes an input schema fit a format. A missing schema is that of a tool without parameters. The error says why the
// format cannot express it.
//
// A schema that needs no change comes out byte for byte.
func fit(schema json.RawMessage, to Format) (fitted, error) {
	text, err := readSchema(schema)
	if err != nil {
		return fitted{}, err
	}
	target := recordOf(to)
	p := &target.schema
	if p.untouched {
		return fitted{schema: text}, nil
	}
	f := &fitter{recorded: make(map[Loss]bool)}
	out := f.settle(text, p)
	if f.err == nil && p.check != nil {
		f.err = p.check(jsonschema.NewNode(out))
	}
	if f.err != nil {
		return fitted{}, f.err
	}
	if target.llama {
		for _, limit := range jsonschema.Parse(out).Tree("").GrammarLimits() {
			detail := limit.Text + ", which llama.cpp cannot make a grammar of,"
			f.recordLoss(place{path: limit.At.PropertyPath()}, Info, Kept, detail)
		}
	}
	return fitted{schema: out, hint: parenthesis(f.hints), losses: f.losses}, nil
}

// settle walks a schema until a walk changes nothing. One walk is enough for all but schemas that contradict
// themselves, where one fix may require another.
func (f *fitter) settle(text json.RawMessage, p *profile) json.RawMessage {
	for range maxWalks {
		f.document = jsonschema.Parse(text)
		f.used, f.nodes, f.bytes, f.budget = make(map[string]bool), 0, 0, maxShaped
		given := f.document.Root()
		text = f.node(given, place{profile: p, root: true}).Bytes()
		if f.err != nil || bytes.Equal(text, given.Raw()) {
			break
		}
	}
	return text
}

// readSchema takes what stands for an input schema in a tool definition.
func readSchema(schema json.RawMessage) (json.RawMessage, error) {
	empty := json.RawMessage(emptySchema)
	if len(schema) == 0 {
		return empty, nil
	}
	if len(schema) > jsonschema.MaxSize {
		return nil, fmt.Errorf("its input schema has %d bytes, and %d are the limit", len(schema), jsonschema.MaxSize)
	}
	if !json.Valid(schema) {
		return nil, errors.New("its input schema is not valid JSON")
	}
	switch value := jsonschema.NewNode(schema); {
	case value.IsObject():
		return schema, nil
	case value.Is("null"), value.Is("true"):
		return empty, nil
	}
	return nil, fmt.Errorf("its input schema is not an object but %s", words.Shorten(string(schema), words.MaxGiven))
}

// fitter is one run of fit. What a schema means (its kinds, values, nullability and properties) it reads from shapes.
// What it writes it makes of text: a shape keeps neither the order of members nor those that are unknown, and every
// keyword that is changed or dropped is a loss to be told.
type fitter struct {
	document *jsonschema.Document // the schema as this walk began, into which refs point
	budget   int                  // how many schemas shapes may still look at
	used     map[string]bool      // the definitions that kept refs name
	nodes    int
	bytes    int
	hints    []string // of the root
	losses   []Loss
	recorded map[Loss]bool
	err      error // the first reason to refuse the schema
}

// shape returns what a schema means, while there is budget.
func (f *fitter) shape(schema *node) *jsonschema.Shape {
	if f.budget < 0 {
		return &jsonschema.Shape{}
	}
	shape := schema.Shape()
	f.budget -= 1 + shape.LookedAt()
	return shape
}

// place is where in the fitted schema the walk is.
type place struct {
	profile *profile
	path    string // of the property, for losses
	root    bool
	depth   int
	// open are the refs through which the walk came here.
	open []string
	// inline reports whether a ref must be replaced even where the target knows refs.
	inline bool
}

// property returns the place of a property of this object.
func (at place) property(name string) place {
	if at.path == "" {
		return at.below(name)
	}
	return at.below("." + name)
}

// below returns the place of a schema inside this one, of the same instance or a part.
func (at place) below(step string) place {
	at.path += step
	at.root, at.inline = false, false
	at.depth++
	return at
}

// recordLoss records what was done to the schema at a place, once.
func (f *fitter) recordLoss(at place, severity Severity, kind, detail string) {
	loss := Loss{Path: at.path, Severity: severity, Kind: kind, Detail: detail}
	if !f.recorded[loss] {
		f.recorded[loss] = true
		f.losses = append(f.losses, loss)
	}
}

// dropLossesAfter drops all but the first losses.
func (f *fitter) dropLossesAfter(count int) {
	for _, loss := range f.losses[count:] {
		delete(f.recorded, loss)
	}
	f.losses = f.losses[:count]
}

// refuse ends the conversion: the target cannot express the schema.
func (f *fitter) refuse(at place, format string, args ...any) {
	if f.err != nil {
		return
	}
	reason := fmt.Sprintf(format, args...)
	if at.path != "" {
		reason = strings.TrimPrefix(at.path, ".") + ": " + reason
	}
	f.err = errors.New(reason)
}

// node fits one schema and all below it.
func (f *fitter) node(schema *node, at place) *node {
	f.nodes++
	if at.depth > maxDepth {
		f.refuse(place{}, "its input schema nests more than %d levels deep", maxDepth)
	}
	if f.err != nil || isBoolean(schema) && !at.profile.restricted() {
		return schema
	}
	o := f.flat(schema, &at)
	if o == nil {
		o = f.never(at)
	}
	f.root(o, &at)
	f.conditionals(o, &at)
	f.unions(o, &at)
	for _, pass := range f.passes() {
		pass(o, at)
	}
	return o.node
}

// passes change one schema, in this order, once all that it refers to is in it. Each leaves alone what the profile
// keeps.
func (f *fitter) passes() []func(*object, place) {
	return []func(*object, place){
		f.constants,
		f.types,
		f.arrays,
		f.objects,
		f.keys,
		f.filter,
		f.describe,
		f.children,
		f.strict,
		f.spell,
	}
}

// flat reads a schema and brings in what it refers to: its refs, where they do not stay, and its allOf. It gives nil
// for the schema that admits nothing.
func (f *fitter) flat(schema *node, at *place) *object {
	o, ok := parseObject(schema)
	switch {
	case ok:
	case schema.Is("false"):
		return nil
	default:
		if !schema.Is("true") {
			f.recordLoss(*at, Lossy, "changed", "an invalid schema to one that accepts any value")
		}
		return &object{node: f.document.Fragment(json.RawMessage("{}")).Clone()}
	}
	f.tidy(o, *at)
	f.deref(o, at)
	f.mergeAllOf(o, at)
	return o
}

// never stands for a schema that admits nothing, where the target cannot say so.
func (f *fitter) never(at place) *object {
	f.recordLoss(at, Lossy, "changed", "the schema false to one that accepts any value")
	return &object{node: f.document.Fragment(json.RawMessage("{}")).Clone()}
}
