package jsonschema

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// errNoExample means that no example was found that fits the schema.
var errNoExample = errors.New("no example could be made that fits the schema")

// Example makes arguments that the schema accepts: the required parameters, with values from examples, default, const
// and enum if the schema has them, otherwise generated ones. Commands to paste are based on it.
//
// The example has been validated, unless the schema is broken. If none fits, the best attempt is returned with an
// error, which wraps ErrSteps if the search took too many steps, or is that of ctx if that ended first.
func (d *Document) Example(ctx context.Context) (json.RawMessage, error) {
	schema := d.Schema(ctx)
	_, broken := d.Compile(ctx)
	budget := newBudget(ctx, maxExampleSteps)
	var first json.RawMessage
	// Each attempt uses other alternatives; the second also ignores the author's own examples, which may be wrong.
	const tries = 10
	for try := range tries {
		maker := newExampleMaker(d, max(0, try-1), budget)
		maker.invent = try > 0
		object, ok := maker.make(d.root, 0).(map[string]any)
		if !ok {
			object = map[string]any{}
		}
		raw, valid := maker.settle(schema, object, d.root.Facets().Required())
		if first == nil {
			first = raw
		}
		// Without validation, an unfinished example does not count.
		if valid && (broken == nil || !maker.effort.spent()) {
			return raw, nil
		}
		if budget.err != nil {
			break
		}
	}
	return first, cmp.Or(ctx.Err(), errors.Join(errNoExample, budget.err))
}

// exampleMaker makes one example.
type exampleMaker struct {
	document *Document
	branch   int  // which of several alternatives, and of several values
	invent   bool // ignore the schema's own examples and defaults
	effort   *effort
}

// effort is the remaining budget for one example. A schema can require any number of elements of any length.
type effort struct {
	schemas int // that may still be read
	bytes   int // of text that may still be generated
	budget  *budget
	matcher *matcher // of the patterns of texts
}

const (
	// maxExampleSteps bounds the search for an example, with all validation for it.
	maxExampleSteps = maxSteps
	// maxExampleSize bounds the text of one example, in bytes.
	maxExampleSize = 64 << 10
)

func newExampleMaker(document *Document, branch int, budget *budget) *exampleMaker {
	limits := &effort{schemas: branchLimit, bytes: maxExampleSize, budget: budget, matcher: newMatcher()}
	return &exampleMaker{document: document, branch: branch, effort: limits}
}

// spent reports whether work must stop.
func (e *effort) spent() bool {
	return e.schemas < 0 || e.bytes < 0 || e.budget.err != nil
}

// look spends the steps for reading schemas; spent reports the end.
func (e *effort) look(parts Parts) { _ = e.budget.spend(1 + len(parts)/itemsPerStep) }

// exampleDepth bounds recursive schemas.
const exampleDepth = 12

func (m *exampleMaker) make(schema *Node, depth int) any {
	if m.effort.schemas--; m.effort.spent() {
		return nil
	}
	parts := m.parts(schema)
	m.effort.look(parts)
	if value, ok := m.listed(parts, depth > 0); ok {
		return value
	}
	allowed := AnyKind
	for _, part := range parts {
		allowed &= ownKinds(part)
	}
	if allowed == AnyKind && parts.impliedKinds() == Object {
		allowed = Object
	}
	switch {
	case depth == 0:
		return m.object(parts, depth)
	case depth > exampleDepth && allowed.Has(Null):
		return nil
	case allowed.Has(String):
		return m.text(parts, m.branch)
	case allowed.Has(Integer):
		return exampleNumber(parts, allowed.Has(Fraction), m.branch)
	case allowed.Has(Boolean):
		return m.branch%2 == 0
	case allowed.Has(Object):
		return m.object(parts, depth)
	case allowed.Has(Array):
		return m.array(schema, parts, depth)
	}
	return nil
}

// parts returns the schema's facets, with one alternative of each anyOf and oneOf in it, and that one's facets.
func (m *exampleMaker) parts(schema *Node) Parts {
	return collect(schema, func(part *Node) []*Node {
		next := conjuncts(part)
		for _, keyword := range combinations() {
			if list := part.Get(keyword).Elements(); len(list) > 0 {
				next = append(next, list[m.branch%len(list)])
			}
		}
		return next
	})
}

// listed returns a value from the schema itself.
func (m *exampleMaker) listed(parts Parts, authored bool) (any, bool) {
	for _, part := range parts {
		if authored && !m.invent {
			if examples := part.Get("examples").Elements(); len(examples) > 0 {
				return examples[0].value(), true
			}
			for _, keyword := range []string{"example", "default"} {
				if value := part.Get(keyword); value.present() {
					return value.value(), true
				}
			}
		}
		if values := ownOptions(part); len(values) > 0 {
			return values[m.branch%len(values)].value(), true
		}
	}
	return nil, false
}

// object makes an object with everything that the parts require.
func (m *exampleMaker) object(parts Parts, depth int) any {
	made := make(map[string]any)
	if len(parts) == 0 {
		return made
	}
	whole := join("allOf", parts)
	for _, part := range parts {
		for _, name := range part.Get("required").Texts() {
			if depth <= exampleDepth && !m.effort.spent() {
				m.effort.look(parts)
				m.addProperty(made, whole, name, depth)
			}
		}
	}
	for _, part := range parts {
		least, _ := wholeNumber(part.Get("minProperties"))
		if len(made) >= least || m.effort.spent() {
			continue
		}
		for _, name := range newNames(whole.Branches().Names()).sorted {
			if len(made) >= least || m.effort.spent() {
				break
			}
			m.effort.look(parts)
			m.addProperty(made, whole, name, depth)
		}
		m.fill(made, parts, whole, min(least, branchLimit), depth)
	}
	return made
}

// fill adds members up to a number, or until there are no more names.
func (m *exampleMaker) fill(made map[string]any, parts Parts, whole *Node, least, depth int) {
	for i, repeated := 1, 0; len(made) < least && repeated < words.MaxNamed && !m.effort.spent(); i++ {
		name := m.memberName(parts, i)
		if _, ok := made[name]; ok {
			repeated++
			continue
		}
		m.addProperty(made, whole, name, depth)
	}
}

// memberName makes the i-th name for an object without declared names, by the rules for names.
func (m *exampleMaker) memberName(parts Parts, i int) string {
	if names := parts.first("propertyNames"); names != nil {
		about := m.parts(names)
		namer := exampleMaker{document: m.document, branch: i - 1, invent: true, effort: m.effort}
		if value, ok := namer.listed(about, true); ok {
			name, _ := value.(string)
			return name
		}
		return m.text(about, i-1)
	}
	for _, part := range parts {
		if patterns := part.Get("patternProperties").Members(); len(patterns) > 0 &&
			part.Get("additionalProperties").Is("false") {
			about := Build("pattern", patterns[0].Name)
			return m.text(Parts{about}, i-1)
		}
	}
	return fmt.Sprintf("name%d", i)
}

func (m *exampleMaker) addProperty(made map[string]any, object *Node, name string, depth int) {
	if _, ok := made[name]; ok {
		return
	}
	schema, _ := object.Property(name)
	made[name] = m.make(schema, depth+1)
}

// array makes as many elements as required; at least one if allowed, because an empty list shows nothing.
func (m *exampleMaker) array(schema *Node, parts Parts, depth int) any {
	least, most, distinct := 1, branchLimit, false
	for _, part := range parts {
		if n, ok := wholeNumber(part.Get("minItems")); ok {
			least = max(least, n)
		}
		if n, ok := wholeNumber(part.Get("maxItems")); ok {
			most = min(most, n)
		}
		distinct = distinct || part.Get("uniqueItems").Is("true")
	}
	made := []any{}
	for i := range min(least, most) {
		items, known := schema.Element(i)
		if !known {
			items = parts.first("contains")
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

// wholeNumber reads the value of a keyword that is a count.
func wholeNumber(value *Node) (int, bool) {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(value.Raw())), 10, 64)
	return int(min(n, maxSteps)), err == nil && n >= 0
}

// exampleNumber makes a number within the bounds of all parts, the variant-th if several fit.
func exampleNumber(parts Parts, fraction bool, variant int) any {
	var low, high, step *big.Rat
	one := big.NewRat(1, 1)
	for _, part := range parts {
		if n := rational(part.Get("minimum")); n != nil {
			if part.Get("exclusiveMinimum").Is("true") {
				n.Add(n, one)
			}
			low = larger(low, n, 1)
		}
		if n := rational(part.Get("exclusiveMinimum")); n != nil {
			low = larger(low, n.Add(n, one), 1)
		}
		if n := rational(part.Get("maximum")); n != nil {
			if part.Get("exclusiveMaximum").Is("true") {
				n.Sub(n, one)
			}
			high = larger(high, n, -1)
		}
		if n := rational(part.Get("exclusiveMaximum")); n != nil {
			high = larger(high, n.Sub(n, one), -1)
		}
		if n := rational(part.Get("multipleOf")); n != nil && n.Sign() > 0 {
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

// pickNumber returns 1 if it fits, otherwise the nearest bound.
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
			// Only a fraction fits between two exclusive bounds.
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

func rational(value *Node) *big.Rat {
	number := string(bytes.TrimSpace(value.Raw()))
	if !rawjson.IsNumber(number) || rawjson.CheckNumber(number) != nil {
		return nil
	}
	parsed, _ := new(big.Rat).SetString(number)
	return parsed
}

// larger returns the larger of two numbers if sign is 1, the smaller if it is -1; a may be nil.
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
