package jsonschema

// mentioned returns the members of an object that its schema mentions without declaring them: required in some case, or
// checked by a condition. It reads the conditions of the parts, and all of the alternatives aside.
func (s *Shape) mentioned() []Member {
	m := &mentions{shape: s, seen: make(map[*Node]bool)}
	for _, part := range s.Parts {
		m.addDependencies(part)
		m.addConditions(part)
	}
	for _, alternative := range s.aside {
		m.add(alternative, false)
	}
	return m.found
}

// mentions collects members from schemas of one object.
type mentions struct {
	shape *Shape
	seen  map[*Node]bool
	found []Member
}

// add adds what a schema says, and what applies together with it. From a test it adds only the names: the test's rules
// for a value do not restrict it.
func (m *mentions) add(schema *Node, test bool) {
	for _, part := range m.shape.look(schema, (*Node).Branches) {
		if m.seen[part] {
			continue
		}
		m.seen[part] = true
		for _, p := range part.Get("properties").Members() {
			if test {
				p.Node = &Node{}
			}
			m.found = append(m.found, p)
		}
		m.found = append(m.found, namesIn(part.Get("required"))...)
		m.addDependencies(part)
		m.add(part.Get("if"), true)
	}
}

// addConditions adds what applies in some cases only.
func (m *mentions) addConditions(part *Node) {
	for _, condition := range conditions(part) {
		m.add(condition, false)
	}
	m.add(part.Get("if"), true)
}

// addDependencies adds the members that need others, and those that are needed.
func (m *mentions) addDependencies(part *Node) {
	for _, keyword := range []string{"dependentRequired", "dependentSchemas", "dependencies"} {
		for _, p := range part.Get(keyword).Members() {
			m.found = append(append(m.found, Member{p.Name, p.Key, &Node{}}), namesIn(p.Node)...)
		}
	}
}

// namesIn returns members of any value from a list of names.
func namesIn(list *Node) []Member {
	var found []Member
	for _, entry := range list.Elements() {
		if name := entry.Text(); name != "" {
			found = append(found, Member{name, entry.raw, &Node{}})
		}
	}
	return found
}
