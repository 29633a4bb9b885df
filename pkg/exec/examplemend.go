package exec

import (
	"encoding/json"
	"strconv"
	"time"

	"toolx/pkg/rawjson"
)

// settle changes an object until the schema accepts it, by what the schema says is
// wrong: so it meets conditions (if, then, dependentRequired) that no single part of
// the schema shows. order gives the names of the object in the order to write them.
// valid is false where no further change helps; raw is then the last try.
func (m *exampleMaker) settle(schema *Schema, object map[string]any, order func() []string) (raw json.RawMessage, valid bool) {
	const rounds = 6
	for range rounds {
		raw = written(object, order())
		problems, unknown := schema.Validate(raw)
		if len(problems)+len(unknown) == 0 {
			return raw, true
		}
		if time.Now().After(m.effort.until) || !m.mend(object, problems) {
			break
		}
	}
	return raw, false
}

// written is an object as JSON, in an order that a map has not.
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

// mend takes up problems one by one, and says whether it changed anything.
func (m *exampleMaker) mend(object map[string]any, problems []Problem) (changed bool) {
	for _, problem := range problems[:min(len(problems), maxNamed)] {
		last := len(problem.location) - 1
		if last < 0 || m.effort.spent() {
			continue
		}
		switch parent := valueAt(object, problem.location[:last]).(type) {
		case map[string]any:
			changed = m.mendMember(parent, problem) || changed
		case []any:
			changed = m.mendElement(parent, problem) || changed
		}
	}
	return changed
}

// mendElement puts an example in the place of an element of an array.
func (m *exampleMaker) mendElement(parent []any, problem Problem) bool {
	at, err := strconv.Atoi(problem.location[len(problem.location)-1])
	schema, known := m.document.at(problem.location)
	if err != nil || at < 0 || at >= len(parent) || !known {
		return false
	}
	parent[at] = m.make(schema, len(problem.location))
	return true
}

func (m *exampleMaker) mendMember(parent map[string]any, problem Problem) bool {
	last := len(problem.location) - 1
	name := problem.location[last]
	switch problem.Reason {
	case ReasonForbidden:
		_, had := parent[name]
		delete(parent, name)
		return had
	case ReasonEnum:
		if len(problem.Options) == 0 {
			return false
		}
		value, err := decode([]byte(problem.Options[m.branch%len(problem.Options)]))
		parent[name] = value
		return err == nil
	}
	// What a condition says of the name counts as well, unlike in a first try.
	around, _ := m.document.at(problem.location[:last])
	schema, _ := m.document.property(around, name)
	if all := propertiesNamed(m.document.branches(around), name); len(all) > 0 {
		schema = join("allOf", all)
	}
	parent[name] = m.make(schema, len(problem.location))
	return true
}
