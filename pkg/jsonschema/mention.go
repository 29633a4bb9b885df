package jsonschema

// mentioned returns the members of an object that its schema speaks of without declaring them: what must be there in
// some case, and what a condition looks at. It reads the conditions of the parts, and all of the alternatives aside.
func (s *Shape) mentioned() []Member {
	m := &mentions{shape: s, seen: make(map[*Node]bool)}
	for _, part := range s.Parts {
		m.takeDependencies(part)
		m.takeConditions(part)
	}
	for _, alternative := range s.aside {
		m.take(alternative, false)
	}
	return m.found
}

// mentions gathers members from schemas of one and the same object.
type mentions struct {
	shape *Shape
	seen  map[*Node]bool
	found []Member
}

// take takes what a schema says, and what applies together with it. Of a test it takes only the names: what a test asks
// of a value is no demand.
func (m *mentions) take(schema *Node, test bool) {
	for _, part := range m.shape.take(schema, (*Node).Branches) {
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
		m.takeDependencies(part)
		m.take(part.Get("if"), true)
	}
}

// takeConditions takes what applies in some cases only.
func (m *mentions) takeConditions(part *Node) {
	for _, condition := range conditions(part) {
		m.take(condition, false)
	}
	m.take(part.Get("if"), true)
}

// takeDependencies takes the members that need others, and those that are needed.
func (m *mentions) takeDependencies(part *Node) {
	for _, keyword := range []string{"dependentRequired", "dependentSchemas", "dependencies"} {
		for _, p := range part.Get(keyword).Members() {
			m.found = append(append(m.found, Member{p.Name, p.Key, &Node{}}), namesIn(p.Node)...)
		}
	}
}

// namesIn returns members of any value, by a list of their names.
func namesIn(list *Node) []Member {
	var found []Member
	for _, entry := range list.Elements() {
		if name := entry.Text(); name != "" {
			found = append(found, Member{name, entry.raw, &Node{}})
		}
	}
	return found
}
