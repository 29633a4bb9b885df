package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"toolx/pkg/jsonschema"
	"toolx/pkg/words"
)

// Limits on schemas, which may grow when refs are expanded.
const (
	// maxOpen is how often a definition may be nested in itself before the expansion ends.
	maxOpen = 2
	// maxNodes is the number of schemas after which refs are no longer expanded, because they may grow exponentially.
	maxNodes = 4000
	// maxBytes limits the size of expanded refs.
	maxBytes = 1 << 21
	// maxShaped limits the schemas that are analysed; others count as any value.
	maxShaped = 500_000
	// maxDepth limits the nesting of schemas. No real tool comes close.
	maxDepth = 256
	// maxWalks limits how often a schema is walked until it no longer changes.
	maxWalks = 8
)

// fitted is an input schema for a target.
type fitted struct {
	schema json.RawMessage
	// hint describes what the root lost, for the tool's description. It may be empty.
	hint string
	// losses lack format and tool, which the caller sets.
	losses []Loss
}

// fit converts an input schema to a format. A missing schema means no parameters. The error is why the format cannot
// express the schema.
//
// A schema that needs no change is returned byte for byte.
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
	r := &report{recorded: make(map[Loss]bool)}
	out := settle(text, p, r)
	if r.err == nil && p.check != nil {
		r.err = p.check(jsonschema.NewNode(out))
	}
	if r.err != nil {
		return fitted{}, r.err
	}
	if target.llama {
		for _, limit := range jsonschema.Parse(out).Tree("").GrammarLimits() {
			detail := limit.Text + ", which llama.cpp cannot make a grammar of,"
			r.recordLoss(place{path: limit.At.PropertyPath()}, Info, Kept, detail)
		}
	}
	return fitted{schema: out, hint: parenthesis(r.hints), losses: r.losses}, nil
}

// settle walks a schema until it no longer changes. One walk is enough except for contradictory schemas, where one
// correction may require another.
func settle(text json.RawMessage, p *profile, r *report) json.RawMessage {
	for range maxWalks {
		document := jsonschema.Parse(text)
		given := document.Root()
		text = newWalker(document, r).node(given, place{profile: p, root: true}).Bytes()
		if r.err != nil || bytes.Equal(text, given.Raw()) {
			break
		}
	}
	return text
}

// readSchema checks and returns the input schema in a tool definition.
func readSchema(schema json.RawMessage) (json.RawMessage, error) {
	empty := json.RawMessage(emptySchema)
	if len(schema) == 0 {
		return empty, nil
	}
	if len(schema) > jsonschema.MaxSize {
		return nil, fmt.Errorf("its input schema has %d bytes; the limit is %d", len(schema), jsonschema.MaxSize)
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

// walker converts a schema and its subschemas in one walk. Its rules share a report, and get kinds, values, nullability
// and properties from shapes. They change JSON nodes instead of shapes, because shapes drop the order of members and
// unknown keywords, and every changed or dropped keyword must be reported.
type walker struct {
	*report
	refs       *references
	conditions *conditionRules
	unions     *unionRules
	types      *typeRules
	objects    *objectRules
	filter     *keywordFilter
}

func newWalker(document *jsonschema.Document, r *report) *walker {
	reader := &schemaReader{document: document, budget: maxShaped}
	refs := &references{report: r, schemaReader: reader, tidier: tidier{r}, used: make(map[string]bool)}
	types := &typeRules{r, reader}
	w := &walker{
		report: r, refs: refs, types: types,
		conditions: &conditionRules{r, reader, refs},
		unions:     &unionRules{r, reader, refs},
		objects:    &objectRules{r, reader, types},
	}
	w.filter = &keywordFilter{r, reader, w.node}
	return w
}

// place is the current place of the walk in the schema.
type place struct {
	profile *profile
	path    string // of the property, for losses
	root    bool
	depth   int
	// open are the expanded refs around this place.
	open []string
	// inline is set if a ref must be expanded even if the target supports refs.
	inline bool
}

// property returns the place of a property of this object.
func (at place) property(name string) place {
	if at.path == "" {
		return at.below(name)
	}
	return at.below("." + name)
}

// below returns the place of a subschema.
func (at place) below(step string) place {
	at.path += step
	at.root, at.inline = false, false
	at.depth++
	return at
}

// node converts one schema and its subschemas.
func (w *walker) node(schema *node, at place) *node {
	w.refs.nodes++
	if at.depth > maxDepth {
		w.refuse(place{}, "its input schema nests more than %d levels deep", maxDepth)
	}
	if w.err != nil || isBoolean(schema) && !at.profile.restricted() {
		return schema
	}
	o := w.refs.flat(schema, &at)
	if o == nil {
		o = w.refs.never(at)
	}
	w.root(o, &at)
	w.conditions.conditionals(o, &at)
	w.unions.unions(o, &at)
	for _, pass := range w.passes() {
		pass(o, at)
	}
	return o.node
}

// passes returns the changes to one schema in order. They run after refs and allOf are merged, and do not change what
// the profile supports.
func (w *walker) passes() []func(*object, place) {
	return []func(*object, place){
		w.types.constants,
		w.types.types,
		w.types.arrays,
		w.objects.objects,
		w.objects.keys,
		w.filter.filter,
		w.filter.describe,
		w.children,
		w.objects.strict,
		w.types.spell,
	}
}

// children converts the subschemas of this one.
func (w *walker) children(o *object, at place) {
	o.node = o.Map(func(_ int, m member) *node {
		switch held := jsonschema.Held(m.Name, m.Node); {
		case at.root && (m.Name == "$defs" || m.Name == "definitions"):
		case held == jsonschema.HoldsSchema && m.Node.IsObject():
			return w.node(m.Node, at.under(m.Name))
		case held == jsonschema.HoldsList:
			return w.list(m, at)
		case held == jsonschema.HoldsNamed:
			return w.named(m, at)
		}
		return m.Node
	}).Clone()
	if at.root {
		w.definitions(o, at)
	}
}

// definitions converts the definitions of the root, after all refs of the rest are known. If every schema must follow
// the target's rules, it drops those without a ref.
func (w *walker) definitions(o *object, at place) {
	if !o.Has("$defs", "definitions") {
		return
	}
	done := make(map[string]bool)
	for again := true; again && w.err == nil; {
		again = w.defined(o, at, "$defs", done)
		again = w.defined(o, at, "definitions", done) || again
	}
	if !at.profile.closed {
		return
	}
	for _, keyword := range []string{"$defs", "definitions"} {
		all := editable(o.Get(keyword))
		all.Keep(func(m member) bool { return done["#/"+keyword+"/"+m.Name] })
		if len(all.Members()) == 0 {
			o.Drop(keyword)
			continue
		}
		o.Set(keyword, all)
	}
}

// defined converts the definitions under a keyword that are needed and not done. It reports whether there were any,
// because they may need others.
func (w *walker) defined(o *object, at place, keyword string, done map[string]bool) (some bool) {
	all := o.Get(keyword)
	if !all.IsObject() {
		return false
	}
	o.Set(keyword, all.Map(func(_ int, m member) *node {
		ref := "#/" + keyword + "/" + m.Name
		if done[ref] || at.profile.closed && !w.refs.used[ref] {
			return m.Node
		}
		done[ref], some = true, true
		return w.node(m.Node, place{profile: at.profile, path: keyword + "." + m.Name, depth: at.depth + 1})
	}))
	return some
}

// under returns the place of the schema under a keyword.
func (at place) under(keyword string) place {
	switch keyword {
	case "items", "additionalItems", "contains", "unevaluatedItems":
		at = at.below("[]")
		if at.profile.elements != nil {
			at.profile = at.profile.elements
		}
	case "additionalProperties", "unevaluatedProperties", "patternProperties":
		at = at.below("{}")
	default:
		at = at.below("")
	}
	return at
}

func (w *walker) list(m member, at place) *node {
	return m.Node.Map(func(i int, one member) *node {
		where := at.under("items")
		if m.Name == "anyOf" || m.Name == "oneOf" || m.Name == "allOf" {
			where = at.below("|" + strconv.Itoa(i+1))
		}
		return w.node(one.Node, where)
	})
}

func (w *walker) named(m member, at place) *node {
	return m.Node.Map(func(_ int, one member) *node {
		where := at.under(m.Name)
		switch {
		case m.Name == "dependencies" && one.Node.IsArray():
			return one.Node
		case m.Name == "properties":
			where = at.property(one.Name)
		}
		return w.node(one.Node, where)
	})
}
