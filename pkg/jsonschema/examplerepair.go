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

// Repair changes arguments, a JSON object, until the schema accepts them, by what it says is
// wrong with them; what it cannot repair it returns as its best try.
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

// settle changes an object until the schema accepts it, by what the schema says is wrong: so it meets conditions (if,
// then, dependentRequired) that no single part of the schema shows. Members are written in order, what else there is
// after them. valid is false where no further change helps; raw is then the last try.
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

// written returns an object as JSON, its members in the order of names.
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

// repair takes up problems one by one, and reports whether it changed anything.
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

// repairElement puts an example in the place of an element of an array.
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
	// What a condition says of the name counts as well, unlike in a first try.
	around, _ := m.document.at(problem.Location[:last])
	schema, _ := around.Property(name)
	if all := around.Branches().named(name); len(all) > 0 {
		schema = join("allOf", all)
	}
	parent[name] = m.make(schema, len(problem.Location))
	return true
}
