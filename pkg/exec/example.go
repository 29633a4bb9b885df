package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"
)

// errNoExample says that no example was found that the schema accepts.
var errNoExample = errors.New("no example could be made that fits the schema")

// Example makes an arguments object that a tool's schema accepts: the required
// parameters, with values from examples, default, const and enum where the
// schema has them, else ones made to fit. It is the basis of commands to paste.
//
// The example has been validated, unless the schema is broken and cannot judge.
// Where nothing fits, the error says so and the best try is returned with it.
func Example(schema json.RawMessage) (json.RawMessage, error) {
	document := newDocument(schema)
	compiled, err := CompileSchema(schema)
	broken := err != nil
	if broken {
		compiled = unchecked()
	}
	until := time.Now().Add(maxExampleTime)
	var first json.RawMessage
	// Each try takes other alternatives; the second also leaves the author's own
	// examples, which need not be right.
	const tries = 10
	for try := range tries {
		maker := newExampleMaker(document, max(0, try-1), until)
		maker.invent = try > 0
		object, ok := maker.make(document.root, 0).(map[string]any)
		if !ok {
			object = map[string]any{}
		}
		raw, valid := maker.settle(compiled, object, func() []string {
			return unique(append(document.required(document.root), slices.Sorted(maps.Keys(object))...))
		})
		if first == nil {
			first = raw
		}
		// Without a judge, one that had to be cut short is none.
		if valid && (!broken || !maker.effort.spent()) {
			return raw, nil
		}
		if time.Now().After(until) {
			break
		}
	}
	return first, errNoExample
}

// exampleMaker makes one example.
type exampleMaker struct {
	document *document
	branch   int  // which of several alternatives to take, and of several values
	invent   bool // pass over the schema's own examples and defaults
	effort   *effort
}

// effort is what is left for making one example. A schema can ask for any number of
// elements, each of any length.
type effort struct {
	schemas int // still to be looked at
	bytes   int // of text still to be made
	until   time.Time
}

const (
	// maxExampleTime bounds the search for an example, where to validate one is slow.
	maxExampleTime = time.Second
	// maxExampleSize is how many bytes of text one example has at most.
	maxExampleSize = 64 << 10
)

func newExampleMaker(document *document, branch int, until time.Time) *exampleMaker {
	return &exampleMaker{document: document, branch: branch, effort: &effort{schemas: branchLimit, bytes: maxExampleSize, until: until}}
}

// spent reports whether the example must be left as it is.
func (e *effort) spent() bool {
	return e.schemas < 0 || e.bytes < 0 || time.Now().After(e.until)
}

// exampleDepth bounds recursive schemas.
const exampleDepth = 12

func (m *exampleMaker) make(schema any, depth int) any {
	if m.effort.schemas--; m.effort.spent() {
		return nil
	}
	parts := m.parts(schema)
	if value, ok := m.listed(parts, depth > 0); ok {
		return value
	}
	allowed := anyKind
	for _, part := range parts {
		allowed &= ownKinds(part)
	}
	switch {
	case depth == 0:
		return m.object(parts, depth)
	case depth > exampleDepth && allowed.has(kindNull):
		return nil
	case allowed.has(kindString) && (allowed != anyKind || !impliesObject(parts)):
		return m.text(parts, m.branch)
	case allowed.has(kindInteger):
		return exampleNumber(parts, allowed.has(kindNumber), m.branch)
	case allowed.has(kindBoolean):
		return m.branch%2 == 0
	case allowed.has(kindObject):
		return m.object(parts, depth)
	case allowed.has(kindArray):
		return m.array(schema, parts, depth)
	}
	return nil
}

// impliesObject says that a schema without type speaks of an object.
func impliesObject(parts []map[string]any) bool {
	return slices.ContainsFunc(parts, func(part map[string]any) bool { return part["properties"] != nil })
}

// parts returns the schema's facets, with one alternative taken of each anyOf
// and oneOf in it, and that one's facets.
func (m *exampleMaker) parts(schema any) []map[string]any {
	var taken []map[string]any
	queue := []any{schema}
	seen := make(map[uintptr]bool)
	for len(queue) > 0 && len(taken) < branchLimit {
		for _, part := range m.document.facets(queue[0]) {
			if seen[identity(part)] {
				continue
			}
			seen[identity(part)] = true
			taken = append(taken, part)
			for _, keyword := range []string{"oneOf", "anyOf"} {
				if list, _ := part[keyword].([]any); len(list) > 0 {
					queue = append(queue, list[m.branch%len(list)])
				}
			}
		}
		queue = queue[1:]
	}
	return taken
}

// listed takes a value that the schema itself shows.
func (m *exampleMaker) listed(parts []map[string]any, authored bool) (any, bool) {
	for _, part := range parts {
		if authored && !m.invent {
			if examples, _ := part["examples"].([]any); len(examples) > 0 {
				return examples[0], true
			}
			for _, keyword := range []string{"example", "default"} {
				if value, ok := part[keyword]; ok && value != nil {
					return value, true
				}
			}
		}
		if values, ok := ownOptions(part); ok {
			return values[m.branch%len(values)], true
		}
	}
	return nil, false
}

// object makes an object of what all parts require.
func (m *exampleMaker) object(parts []map[string]any, depth int) any {
	made := make(map[string]any)
	whole := join("allOf", asAny(parts))
	for _, part := range parts {
		list, _ := part["required"].([]any)
		for _, entry := range list {
			if name, ok := entry.(string); ok && depth <= exampleDepth && !m.effort.spent() {
				m.addProperty(made, whole, name, depth)
			}
		}
	}
	for _, part := range parts {
		least, _ := wholeNumber(part["minProperties"])
		for _, name := range m.document.names(whole) {
			if len(made) >= least || m.effort.spent() {
				break
			}
			m.addProperty(made, whole, name, depth)
		}
		m.fill(made, parts, whole, min(least, branchLimit), depth)
	}
	return made
}

// fill adds members until there are so many, or names run out.
func (m *exampleMaker) fill(made map[string]any, parts []map[string]any, whole any, least, depth int) {
	for i, repeated := 1, 0; len(made) < least && repeated < maxNamed && !m.effort.spent(); i++ {
		name := m.memberName(parts, i)
		if _, ok := made[name]; ok {
			repeated++
			continue
		}
		m.addProperty(made, whole, name, depth)
	}
}

// memberName makes the i-th name of an object that lists none, by what the parts say
// of names.
func (m *exampleMaker) memberName(parts []map[string]any, i int) string {
	for _, part := range parts {
		if names, ok := part["propertyNames"]; ok {
			about := m.parts(names)
			namer := exampleMaker{document: m.document, branch: i - 1, invent: true, effort: m.effort}
			if value, ok := namer.listed(about, true); ok {
				name, _ := value.(string)
				return name
			}
			return m.text(about, i-1)
		}
	}
	for _, part := range parts {
		patterns, _ := part["patternProperties"].(map[string]any)
		if len(patterns) > 0 && part["additionalProperties"] == false {
			pattern := slices.Min(slices.Collect(maps.Keys(patterns)))
			return m.text([]map[string]any{{"pattern": pattern}}, i-1)
		}
	}
	return fmt.Sprintf("name%d", i)
}

func (m *exampleMaker) addProperty(made map[string]any, object any, name string, depth int) {
	if _, ok := made[name]; ok {
		return
	}
	schema, _ := m.document.property(object, name)
	made[name] = m.make(schema, depth+1)
}

func asAny(parts []map[string]any) []any {
	list := make([]any, len(parts))
	for i, part := range parts {
		list[i] = part
	}
	return list
}

// array makes as many elements as must be there; at least one where that is
// allowed, since an empty list shows nothing.
func (m *exampleMaker) array(schema any, parts []map[string]any, depth int) any {
	least, most, distinct := 1, branchLimit, false
	for _, part := range parts {
		if n, ok := wholeNumber(part["minItems"]); ok {
			least = max(least, n)
		}
		if n, ok := wholeNumber(part["maxItems"]); ok {
			most = min(most, n)
		}
		distinct = distinct || part["uniqueItems"] == true
	}
	made := []any{}
	for i := range min(least, most) {
		items, known := m.document.element(schema, i)
		for _, part := range parts {
			if contains, ok := part["contains"]; ok && !known {
				items = contains
			}
		}
		if depth > exampleDepth || m.effort.spent() {
			break
		}
		maker := *m
		if distinct && i > 0 {
			maker.branch, maker.invent = m.branch+i, true
		}
		made = append(made, maker.make(items, depth+1))
	}
	return made
}

// wholeNumber reads a keyword that counts.
func wholeNumber(value any) (int, bool) {
	number, ok := value.(json.Number)
	if !ok {
		return 0, false
	}
	n, err := number.Int64()
	return int(min(n, maxSteps)), err == nil && n >= 0
}

// exampleNumber makes a number within the bounds of all parts, the variant-th where
// several fit.
func exampleNumber(parts []map[string]any, fraction bool, variant int) any {
	var low, high, step *big.Rat
	one := big.NewRat(1, 1)
	for _, part := range parts {
		if n := rational(part["minimum"]); n != nil {
			if part["exclusiveMinimum"] == true {
				n.Add(n, one)
			}
			low = larger(low, n, 1)
		}
		if n := rational(part["exclusiveMinimum"]); n != nil {
			low = larger(low, n.Add(n, one), 1)
		}
		if n := rational(part["maximum"]); n != nil {
			if part["exclusiveMaximum"] == true {
				n.Sub(n, one)
			}
			high = larger(high, n, -1)
		}
		if n := rational(part["exclusiveMaximum"]); n != nil {
			high = larger(high, n.Sub(n, one), -1)
		}
		if n := rational(part["multipleOf"]); n != nil && n.Sign() > 0 {
			step = n
		}
	}
	value := pickNumber(low, high, step, fraction)
	if step == nil {
		step = one
	}
	other := new(big.Rat).Mul(step, big.NewRat(int64(variant), 1))
	if other.Add(other, value); high == nil || other.Cmp(high) <= 0 {
		value = other
	}
	return rationalJSON(value)
}

// pickNumber chooses 1 where it fits, else the nearest bound.
func pickNumber(low, high, step *big.Rat, fraction bool) *big.Rat {
	value := big.NewRat(1, 1)
	if step != nil {
		value.Set(step)
	}
	if low != nil && value.Cmp(low) < 0 {
		value.Set(low)
		if step == nil && !fraction {
			step = big.NewRat(1, 1)
		}
		if step != nil {
			value = ceil(low, step)
		}
	}
	if high != nil && value.Cmp(high) > 0 {
		value.Set(high)
		switch {
		case low != nil && low.Cmp(high) > 0:
			// Only a fraction lies between two open bounds.
			value.Quo(value.Add(low, high), big.NewRat(2, 1))
		case step != nil || !fraction:
			if step == nil {
				step = big.NewRat(1, 1)
			}
			negative := ceil(new(big.Rat).Neg(high), step)
			value.Neg(negative)
		}
	}
	return value
}

// ceil returns the smallest multiple of step that is not below value.
func ceil(value, step *big.Rat) *big.Rat {
	quotient := new(big.Rat).Quo(value, step)
	whole := new(big.Int).Div(quotient.Num(), quotient.Denom()) // rounds down
	if !quotient.IsInt() {
		whole.Add(whole, big.NewInt(1))
	}
	return new(big.Rat).Mul(new(big.Rat).SetInt(whole), step)
}

func rational(value any) *big.Rat {
	number, ok := value.(json.Number)
	if !ok {
		return nil
	}
	parsed, ok := new(big.Rat).SetString(number.String())
	if !ok {
		return nil
	}
	return parsed
}

// larger returns the larger of two numbers where sign is 1, the smaller where it
// is -1; a may be nil.
func larger(a, b *big.Rat, sign int) *big.Rat {
	if a == nil || b.Cmp(a)*sign > 0 {
		return b
	}
	return a
}

func rationalJSON(value *big.Rat) json.Number {
	if value.IsInt() {
		return json.Number(value.Num().String())
	}
	const digits = 12
	return json.Number(strings.TrimRight(value.FloatString(digits), "0"))
}
