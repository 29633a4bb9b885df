package jsonschema

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Limits of one schema and of one validation. A schema comes from a server and may be hostile, or generated: twenty
// levels of {"allOf": [next, next]} require a million checks of one value.
const (
	maxCompileWork = 2e9     // nanoseconds, estimated before compiling
	maxSteps       = 100_000 // schema objects applied to values, at least
	stepsPerValue  = 10      // more, for each value to check
	itemsPerStep   = 20      // names, elements or listed values that are looked at
	bytesPerStep   = 2000    // of text that is read
	stepsOfTimeout = maxSteps / 10
)

// MaxSize bounds the schemas that are read, in bytes: in memory they can be a hundred times larger.
const MaxSize = 1 << 20

// schemaURL is the address of a schema without $id. Nothing is ever loaded from it.
const schemaURL = "toolx:///schema.json"

// Schema is a compiled input schema. It is safe for concurrent use.
type Schema struct {
	document *Document
	remarks  []string
	size     int // schema objects, for the depth that validation can reach

	mu       sync.Mutex // guards meter, and with it the compiled schema
	meter    *meter
	compiled *jsonschema.Schema // nil where everything is valid
}

// meter spends the budget of one validation, and panics with stopped when it is used up: nothing else stops the
// validator.
type meter struct {
	budget *budget // nil while nothing is counted
	// unmatched are the patterns that took too long on a text, in order, each once.
	unmatched []string
	// deny makes those patterns count as not matching; otherwise they match.
	deny bool
}

// stopped is the value with which a meter panics.
type stopped struct{ err error }

// start starts counting on a budget.
func (m *meter) start(budget *budget) { m.budget, m.unmatched = budget, nil }

// giveUp records that a pattern takes too long on a text, and returns the result to continue with; a nil meter records
// nothing.
func (m *meter) giveUp(pattern string) (matched bool) {
	if m == nil {
		return true
	}
	if pattern = words.Shorten(pattern, words.MaxGiven); !slices.Contains(m.unmatched, pattern) {
		m.unmatched = append(m.unmatched, pattern)
	}
	return !m.deny
}

// spend counts steps; a nil or unstarted meter does not count.
func (m *meter) spend(steps int) {
	if m == nil || m.budget == nil {
		return
	}
	if err := m.budget.spend(steps); err != nil {
		panic(stopped{err})
	}
}

// compileDocument compiles a JSON Schema (VAL-1): drafts 4, 6, 7, 2019-09 and 2020-12 by its $schema, and 2020-12
// without one, as MCP specifies. An empty text is no schema: every argument is valid and none is unknown.
//
// An error means that the schema is broken (VAL-3): it is not a schema, its dialect is unknown, it refers to another
// document (none is ever fetched), or it is too large or too deep. Formats are annotations in every dialect: servers
// disagree about them, and the server has the last word.
func compileDocument(document *Document) (schema *Schema, err error) {
	if len(bytes.TrimSpace(document.raw)) == 0 {
		return unchecked(), nil
	}
	doc, err := readSchema(document.raw)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cause := recover(); cause != nil {
			schema, err = nil, fmt.Errorf("the schema cannot be compiled: %v", cause)
		}
	}()
	if err := checkCompileWork(doc); err != nil {
		return nil, err
	}
	schema = &Schema{document: document, meter: &meter{}}
	return schema, schema.compile(doc)
}

// unchecked returns the schema for tools without one, or with a broken one: it only requires a JSON object.
func unchecked() *Schema { return &Schema{document: Parse(nil)} }

// readSchema decodes the text of a schema.
func readSchema(raw json.RawMessage) (any, error) {
	if len(raw) > MaxSize {
		return nil, fmt.Errorf("it has %d bytes; the limit of a schema is %d", len(raw), MaxSize)
	}
	if err := rawjson.Check(raw); err != nil {
		return nil, err
	}
	doc, err := rawjson.Decode(raw)
	if err != nil {
		return nil, err
	}
	switch doc.(type) {
	case map[string]any, bool:
		return doc, nil
	}
	return nil, fmt.Errorf("a schema is an object or a boolean, not %s", DescribeKind(doc))
}

func (s *Schema) compile(doc any) error {
	engine := &patterns{meter: s.meter}
	s.meter.start(newBudget(context.Background(), maxSteps)) // the meta-schema has patterns too
	doc = looseEnums(doc)
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	compiler.UseRegexpEngine(engine.compile)
	if err := compiler.AddResource(schemaURL, doc); err != nil {
		return err
	}
	compiled, err := compiler.Compile(schemaURL)
	if err != nil {
		return compileError(doc, err)
	}
	graph := schemaGraph{seen: make(map[*jsonschema.Schema]bool)}
	graph.add(compiled)
	for _, pointer := range dynamicAnchors(doc, "", nil) {
		// A subschema in an invalid place cannot be reached either.
		if anchored, err := compiler.Compile(schemaURL + "#" + pointer); err == nil {
			graph.add(anchored)
		}
	}
	s.size = graph.walk(s.meter)
	s.compiled = compiled
	for _, pattern := range engine.ignored {
		s.remarks = append(s.remarks, fmt.Sprintf("the schema's pattern %s cannot be read and is not checked", pattern))
	}
	return nil
}

// looseEnums returns a schema of draft 6 or 7 with enums as these drafts allow them: an enum SHOULD have an element,
// and SHOULD NOT repeat one (draft-wright-json-schema-validation-01 §6.23, draft-handrews-json-schema-validation-01
// §6.1.2). The compiler's meta-schemas require both, as draft 4 does.
func looseEnums(doc any) any {
	top, _ := doc.(map[string]any)
	dialect, _ := top["$schema"].(string)
	for _, draft := range []string{"json-schema.org/draft-06/", "json-schema.org/draft-07/"} {
		if strings.Contains(dialect, draft) {
			return looseEnumsIn(doc, false)
		}
	}
	return doc
}

// looseEnumsIn copies a part of a schema. With named, the members of an object are schemas by name, not keywords.
func looseEnumsIn(part any, named bool) any {
	switch part := part.(type) {
	case map[string]any:
		copied := make(map[string]any, len(part))
		for name, member := range part {
			values, listed := member.([]any)
			switch {
			case named:
				copied[name] = looseEnumsIn(member, false)
			case name == "enum" && listed && len(values) > 0:
				copied[name] = distinct(values)
			case name == "enum" && listed, name == "const", name == "default", name == "examples":
				copied[name] = member
			default:
				copied[name] = looseEnumsIn(member, slices.Contains(schemasByName, name))
			}
		}
		if values, listed := part["enum"].([]any); listed && len(values) == 0 && !named {
			delete(copied, "enum")
			copied["not"] = true // with no values listed, nothing is valid
		}
		return copied
	case []any:
		copied := make([]any, len(part))
		for i, element := range part {
			copied[i] = looseEnumsIn(element, false)
		}
		return copied
	}
	return part
}

// schemasByName are the keywords whose members are schemas under names that the author chose.
var schemasByName = []string{"properties", "patternProperties", "definitions", "dependencies"}

// distinct returns values without repetitions.
func distinct(values []any) []any {
	seen := make(map[string]bool)
	return slices.DeleteFunc(slices.Clone(values), func(value any) bool {
		text, err := json.Marshal(value)
		known := err == nil && seen[string(text)]
		seen[string(text)] = true
		return known
	})
}

// noLoader never fetches: a schema from a server must not make toolx read files or open connections (VAL-3).
type noLoader struct{}

var errExternal = errors.New("schemas are never fetched")

func (noLoader) Load(string) (any, error) { return nil, errExternal }

// compileError describes a broken schema in one line.
func compileError(doc any, err error) error {
	var external *jsonschema.LoadURLError
	if errors.As(err, &external) {
		if top, ok := doc.(map[string]any); ok {
			if dialect, _ := top["$schema"].(string); strings.HasPrefix(dialect, external.URL) {
				return fmt.Errorf("unknown dialect %q", dialect)
			}
		}
		return fmt.Errorf("it refers to %s, and schemas are never fetched",
			strings.TrimPrefix(external.URL, "toolx:///"))
	}
	var invalid *jsonschema.SchemaValidationError
	if errors.As(err, &invalid) {
		var cause *jsonschema.ValidationError
		if errors.As(invalid.Err, &cause) {
			return metaError(doc, cause)
		}
	}
	return errors.New(strings.ReplaceAll(err.Error(), schemaURL, ""))
}

// SchemaError says that a schema does not fit the meta-schema of its dialect.
type SchemaError struct {
	// Pointer is the JSON pointer to the error, from the schema.
	Pointer string
	text    string
}

// Error returns the problem in one line: "'#/properties/level/type' must be …".
func (e *SchemaError) Error() string { return e.text }

// metaError returns the first leaf of the meta-schema's errors.
func metaError(doc any, err *jsonschema.ValidationError) error {
	for len(err.Causes) > 0 {
		err = err.Causes[0]
	}
	where := "#"
	if len(err.InstanceLocation) > 0 {
		where += "/" + strings.Join(err.InstanceLocation, "/")
	}
	leaf := problemOf(err, given(valueAt(doc, err.InstanceLocation)))
	leaf.Path = where
	return &SchemaError{Pointer: rawjson.Pointer(err.InstanceLocation...), text: leaf.String()}
}

// schemaGraph has every compiled schema that validation can reach.
type schemaGraph struct {
	seen  map[*jsonschema.Schema]bool
	queue []*jsonschema.Schema // not walked yet
}

func (g *schemaGraph) add(schemas ...*jsonschema.Schema) {
	for _, schema := range schemas {
		if schema != nil && !g.seen[schema] {
			g.seen[schema] = true
			g.queue = append(g.queue, schema)
		}
	}
}

// walk makes every schema count its uses and returns the number of schemas. The validator checks the format before it
// continues with a schema's parts, so this is the one place where a step can be counted before it leads to others; what
// comes before (type, const, enum) leads to none. Real formats are not asserted, so nothing is lost.
func (g *schemaGraph) walk(meter *meter) int {
	unevaluated := false
	for len(g.queue) > 0 {
		schema := g.queue[0]
		g.queue = g.queue[1:]
		unevaluated = unevaluated || schema.UnevaluatedProperties != nil || schema.UnevaluatedItems != nil
		g.addParts(schema)
	}
	for schema := range g.seen {
		cost := newCost(schema, unevaluated)
		schema.Format = &jsonschema.Format{Name: "toolx-step", Validate: func(value any) error {
			meter.spend(cost.of(value))
			return nil
		}}
	}
	return len(g.seen)
}

// cost is the cost of applying a schema to a value, without its parts. It includes the values that the parts list,
// because the value is compared with them before the parts can count.
type cost struct {
	schema *jsonschema.Schema
	rounds int // how often the names or indexes of a value are read
	listed int // names and values that are compared with any value
	items  int // values that are compared with each element of an array
}

func newCost(schema *jsonschema.Schema, unevaluated bool) *cost {
	c := &cost{schema: schema, rounds: 1, listed: len(schema.Required), items: enumerated(schema.Items2020)}
	parts := partsInPlace(schema)
	if unevaluated { // each part builds a set of all names or indexes
		c.rounds += len(parts)
	}
	for _, part := range parts {
		c.listed += enumerated(part)
	}
	if items, is := schema.Items.(*jsonschema.Schema); is {
		c.items += enumerated(items)
	}
	c.items += enumerated(schema.Contains)
	return c
}

// enumerated returns how many values a schema lists.
func enumerated(schema *jsonschema.Schema) int {
	if schema == nil || schema.Enum == nil {
		return 0
	}
	return len(schema.Enum.Values)
}

// of returns the cost for a value, in steps.
func (c *cost) of(value any) int {
	listed := c.listed
	switch value := value.(type) {
	case map[string]any:
		listed += c.rounds * len(value)
		for name := range value {
			listed += enumerated(c.schema.Properties[name])
		}
	case []any:
		listed += (c.rounds + c.items) * len(value)
	case string:
		return 1 + listed/itemsPerStep + len(value)/bytesPerStep
	}
	return 1 + listed/itemsPerStep
}

// partsInPlace returns the schemas that a schema applies to the same value.
func partsInPlace(s *jsonschema.Schema) []*jsonschema.Schema {
	parts := slices.Concat(s.AllOf, s.AnyOf, s.OneOf,
		[]*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else})
	if s.DynamicRef != nil {
		parts = append(parts, s.DynamicRef.Ref)
	}
	for _, part := range s.DependentSchemas {
		parts = append(parts, part)
	}
	for _, part := range s.Dependencies {
		if schema, is := part.(*jsonschema.Schema); is {
			parts = append(parts, schema)
		}
	}
	return slices.DeleteFunc(parts, func(part *jsonschema.Schema) bool { return part == nil })
}

// addParts adds the schemas that a schema applies to a value, its parts and its annotations.
func (g *schemaGraph) addParts(s *jsonschema.Schema) {
	g.add(partsInPlace(s)...)
	g.add(s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema)
	g.add(s.PrefixItems...)
	for _, part := range s.Properties {
		g.add(part)
	}
	for _, part := range s.PatternProperties {
		g.add(part)
	}
	g.addAny(s.AdditionalProperties)
	g.addAny(s.Items)
	g.addAny(s.AdditionalItems)
}

// addAny adds a schema, a list of schemas or a boolean.
func (g *schemaGraph) addAny(part any) {
	switch part := part.(type) {
	case *jsonschema.Schema:
		g.add(part)
	case []*jsonschema.Schema:
		g.add(part...)
	}
}

// dynamicAnchors returns the JSON pointers of all objects with a $dynamicAnchor. Validation can reach them by paths
// that the compiled schema does not show.
func dynamicAnchors(value any, pointer string, found []string) []string {
	switch value := value.(type) {
	case map[string]any:
		if _, ok := value["$dynamicAnchor"]; ok {
			found = append(found, pointer)
		}
		for name, part := range value {
			found = dynamicAnchors(part, pointer+"/"+escapePointer(name), found)
		}
	case []any:
		for i, part := range value {
			found = dynamicAnchors(part, fmt.Sprintf("%s/%d", pointer, i), found)
		}
	}
	return found
}
