package form

// mentioned are the members of an object that its schema speaks of without declaring
// them: what must be there in some case, and what a condition looks at. Of parts it
// looks at the conditions alone, of what stands aside at everything.
func (r *reader) mentioned(parts, aside []*node) []member {
	m := &mentions{reader: r, seen: make(map[*node]bool)}
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
	reader *reader
	seen   map[*node]bool
	found  []member
}

// look takes what a schema says, and what it refers to. Of a test only the names are of
// use: what it asks of a value is no demand.
func (m *mentions) look(n *node, test bool) {
	if n == nil || m.seen[n] || len(m.seen) >= maxMentioning {
		return
	}
	m.seen[n] = true
	for _, p := range n.get("properties").all() {
		if test {
			p.node = newNode("{}")
		}
		m.found = append(m.found, p)
	}
	m.found = append(m.found, namesIn(n.get("required"))...)
	m.depend(n)
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if reference := n.get(keyword); reference != nil {
			m.look(m.reader.root.at(reference.text()), test)
		}
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		for _, entry := range n.get(keyword).list() {
			m.look(entry, test)
		}
	}
	m.conditions(n)
}

// conditions takes what applies in some cases only.
func (m *mentions) conditions(n *node) {
	for _, condition := range conditional(n) {
		m.look(condition, false)
	}
	m.look(n.get("if"), true)
}

// depend takes the members that need others, and those that are needed.
func (m *mentions) depend(n *node) {
	for _, keyword := range []string{"dependentRequired", "dependentSchemas", "dependencies"} {
		for _, p := range n.get(keyword).all() {
			m.found = append(m.found, member{p.name, p.key, newNode("{}")})
			m.found = append(m.found, namesIn(p.node)...)
		}
	}
}

// namesIn are members of any value, by a list of their names.
func namesIn(list *node) []member {
	var found []member
	for _, entry := range list.list() {
		if name := entry.text(); name != "" {
			found = append(found, member{name, entry.raw, newNode("{}")})
		}
	}
	return found
}
