package config

// merge lays files over each other: a server or a tool replaces the earlier one
// of its name, whole and in its place; defaults are laid over key by key.
type merge struct {
	servers  entries[*Server]
	tools    entries[*Tool]
	defaults Defaults
	doctor   Doctor
	shadowed []Shadowed
	aliases  map[string]Origin // of tools
	roots    []string
	// tree is the defaults of all files, doctorTree what they say of the doctor, for
	// Config.Origin.
	tree, doctorTree node
}

// add lays one file over what came before.
func (m *merge) add(file document) {
	for _, e := range file.servers.list {
		if earlier, found := m.servers.find(e.node.key); found {
			m.shadowed = append(m.shadowed, Shadowed{
				Server: e.node.key, Origin: earlier.value.Origin, By: e.value.Origin, project: e.value.project,
			})
		}
		m.servers.put(e)
	}
	for _, e := range file.tools.list {
		shadowed := Shadowed{Tool: e.node.key, By: e.value.Origin, project: e.value.project}
		if earlier, found := m.tools.find(e.node.key); found {
			shadowed.Origin = earlier.value.Origin
			m.shadowed = append(m.shadowed, shadowed)
		} else if origin, found := m.aliases[e.node.key]; found { // a name goes before an alias
			shadowed.Origin = origin
			m.shadowed = append(m.shadowed, shadowed)
		}
	}
	for _, e := range file.tools.list {
		m.tools.put(e)
		for _, alias := range e.value.Aliases {
			if m.aliases == nil {
				m.aliases = make(map[string]Origin)
			}
			m.aliases[alias] = e.value.Origin
		}
	}
	if file.roots != nil {
		m.roots = file.roots
	}
	if file.defaults != nil {
		decode(&decoder{}, value{node: file.defaults, path: "defaults"}, defaultsFields(), &m.defaults)
		layOver(&m.tree, file.defaults)
	}
	if file.doctor != nil {
		decode(&decoder{}, value{node: file.doctor, path: "doctor"}, doctorFields(), &m.doctor)
		layOver(&m.doctorTree, file.doctor)
	}
}

// into gives config what the files say together.
func (m *merge) into(config *Config) {
	servers, tools := &node{kind: kindMap}, &node{kind: kindList}
	for _, e := range m.servers.list {
		config.Servers = append(config.Servers, e.value)
		servers.members = append(servers.members, e.node)
	}
	for _, e := range m.tools.list {
		config.Tools = append(config.Tools, e.value)
		tools.items = append(tools.items, e.node.value)
	}
	config.Defaults, config.Doctor, config.Shadowed = m.defaults, m.doctor, m.shadowed
	config.Roots = m.roots
	config.root = &node{kind: kindMap, members: []member{
		{key: "servers", value: servers},
		{key: "mcpServers", value: servers},
		{key: "tools", value: tools},
		{key: "defaults", value: &m.tree},
		{key: "doctor", value: &m.doctorTree},
	}}
}

// layOver lays the members of from over those of to, mapping by mapping. Nodes
// of files are shared and stay as they are: what changes is copied.
func layOver(to, from *node) {
	to.kind = kindMap
	for _, m := range from.members {
		i := to.indexOf(m.key)
		if i < 0 {
			to.members = append(to.members, m)
			continue
		}
		if earlier := to.members[i].value; m.value.kind == kindMap && earlier.kind == kindMap {
			both := &node{members: append([]member(nil), earlier.members...), origin: m.value.origin}
			layOver(both, m.value)
			m.value = both
		}
		to.members[i] = m
	}
}
