package jsonschema

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Repair changes arguments, a JSON object, until the schema accepts them, guided by its problems; it returns the best
// attempt if it fails.
func (s *Schema) Repair(ctx context.Context, arguments json.RawMessage) json.RawMessage {
	value, err := rawjson.Decode(arguments)
	object, ok := value.(map[string]any)
	if err != nil || !ok {
		return arguments
	}
	var order []string
	for m := range rawjson.Each(arguments) {
		order = append(order, m.Name)
	}
	result, _ := newExampleMaker(s.document, 0, newBudget(ctx, maxExampleSteps)).settle(s, object, order)
	return result
}

// settle changes an object until the schema accepts it, guided by its problems. So it satisfies conditions (if, then,
// dependentRequired) that no single part of the schema shows. Members are written in order, new ones after them. valid
// is false if no further change helps; raw is then the last attempt.
func (m *exampleMaker) settle(schema *Schema, object map[string]any, order []string) (raw json.RawMessage, valid bool) {
	const rounds = 6
	for range rounds {
		raw = written(object, unique(append(slices.Clone(order), slices.Sorted(maps.Keys(object))...)))
		found, _ := schema.judge(m.effort.budget, raw)
		if len(found.Problems)+len(found.Unknown) == 0 {
			return raw, m.effort.budget.err == nil
		}
		if m.effort.spent() || !m.repair(object, found.Problems) {
			break
		}
	}
	return raw, false
}

// written returns an object as JSON, with its members in the given order.
func written(object map[string]any, names []string) json.RawMessage {
	var list []rawjson.Member
	for _, name := range names {
		value, ok := object[name]
		if !ok {
			continue
		}
		if raw, err := rawjson.Marshal(value); err == nil {
			list = append(list, rawjson.NewMember(name, raw))
		}
	}
	return rawjson.Object(list)
}

// repair changes the values with problems, and reports whether it changed anything.
func (m *exampleMaker) repair(object map[string]any, problems []Problem) (changed bool) {
	for _, problem := range problems[:min(len(problems), words.MaxNamed)] {
		last := len(problem.Location) - 1
		if last < 0 || m.effort.spent() {
			continue
		}
		switch parent := valueAt(object, problem.Location[:last]).(type) {
		case map[string]any:
			changed = m.repairMember(parent, problem) || changed
		case []any:
			changed = m.repairElement(parent, problem) || changed
		}
	}
	return changed
}

// repairElement replaces an element of an array by an example.
func (m *exampleMaker) repairElement(parent []any, problem Problem) bool {
	at, err := strconv.Atoi(problem.Location[len(problem.Location)-1])
	schema, known := m.document.at(problem.Location)
	if err != nil || at < 0 || at >= len(parent) || !known {
		return false
	}
	parent[at] = m.make(schema, len(problem.Location))
	return true
}

func (m *exampleMaker) repairMember(parent map[string]any, problem Problem) bool {
	last := len(problem.Location) - 1
	name := problem.Location[last]
	switch problem.Reason {
	case ReasonForbidden:
		_, had := parent[name]
		delete(parent, name)
		return had
	case ReasonEnum:
		if len(problem.Options) == 0 {
			return false
		}
		value, err := rawjson.Decode([]byte(problem.Options[m.branch%len(problem.Options)]))
		parent[name] = value
		return err == nil
	}
	// Unlike in the first attempt, conditions on the name count as well.
	around, _ := m.document.at(problem.Location[:last])
	schema, _ := around.Property(name)
	if all := around.Branches().named(name); len(all) > 0 {
		schema = join("allOf", all)
	}
	parent[name] = m.make(schema, len(problem.Location))
	return true
}
