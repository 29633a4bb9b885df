package jsonschema

// mentioned returns the members of an object that its schema speaks of without declaring them: what must be there in
// some case, and what a condition looks at. Of parts it looks at the conditions alone, of what stands aside at
// everything.
func mentioned(parts, aside []*Node) []Member {
	m := &mentions{seen: make(map[*Node]bool)}
	for _, part := range parts {
		m.depend(part)
		m.conditions(part)
	}
	for _, alternative := range aside {
		m.look(alternative, false)
	}
	return m.found
}

// mentions gathers members from schemas of one and the same object.
type mentions struct {
	seen  map[*Node]bool
	found []Member
}

// look takes what a schema says, and what it refers to. Of a test only the names are of
// use: what it asks of a value is no demand.
func (m *mentions) look(n *Node, test bool) {
	if n == nil || m.seen[n] || len(m.seen) >= maxMentioning {
		return
	}
	m.seen[n] = true
	for _, p := range n.Get("properties").Members() {
		if test {
			p.Node = &Node{}
		}
		m.found = append(m.found, p)
	}
	m.found = append(m.found, namesIn(n.Get("required"))...)
	m.depend(n)
	for _, keyword := range referenceKeywords() {
		if reference := n.Get(keyword); reference != nil {
			m.look(n.doc.Resolve(reference.Text()), test)
		}
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		for _, entry := range n.Get(keyword).Elements() {
			m.look(entry, test)
		}
	}
	m.conditions(n)
}

// conditions takes what applies in some cases only.
func (m *mentions) conditions(n *Node) {
	for _, condition := range conditions(n) {
		m.look(condition, false)
	}
	m.look(n.Get("if"), true)
}

// depend takes the members that need others, and those that are needed.
func (m *mentions) depend(n *Node) {
	for _, keyword := range []string{"dependentRequired", "dependentSchemas", "dependencies"} {
		for _, p := range n.Get(keyword).Members() {
			m.found = append(m.found, Member{p.Name, p.Key, &Node{}})
			m.found = append(m.found, namesIn(p.Node)...)
		}
	}
}

// namesIn are members of any value, by a list of their names.
func namesIn(list *Node) []Member {
	var found []Member
	for _, entry := range list.Elements() {
		if name := entry.Text(); name != "" {
			found = append(found, Member{name, entry.raw, &Node{}})
		}
	}
	return found
}
