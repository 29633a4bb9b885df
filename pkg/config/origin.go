package config

import (
	"strconv"
	"strings"
)

// Origin says where the value at path was written: the last file that gave it. Paths are those of messages:
// "servers.zwave.args[0]", "defaults.timeout", `servers["my server"].env.TOKEN`; a tool is found by its number in
// Config.Tools or its name ("tools[0]", "tools.weather.timeout"). Scalars have the place of the value, mappings and
// lists that of their key. It is false if no file gives a value at path.
func (c *Config) Origin(path string) (Origin, bool) {
	return originAt(c.root, path)
}

// originAt walks from n along path.
func originAt(n *node, path string) (Origin, bool) {
	var origin Origin
	for path != "" {
		if n == nil {
			return Origin{}, false
		}
		var found bool
		if origin, n, path, found = step(n, strings.TrimPrefix(path, ".")); !found {
			return Origin{}, false
		}
	}
	return origin, origin.File != ""
}

// step goes one key or index down and returns what is left of the path.
func step(n *node, path string) (origin Origin, child *node, rest string, found bool) {
	if strings.HasPrefix(path, "[") {
		key, after, ok := bracketed(path)
		if !ok {
			return Origin{}, nil, "", false
		}
		if i, err := strconv.Atoi(key); err == nil && n.kind == kindList && 0 <= i && i < len(n.items) {
			return n.items[i].origin, n.items[i], after, true
		}
		m, found := n.get(key)
		if !found {
			return Origin{}, nil, "", false
		}
		return m.place(), m.value, after, true
	}
	var best member
	for _, m := range children(n) {
		// A key may itself hold a dot: the longest one wins.
		if len(m.key) > len(best.key) && beginsWithKey(path, m.key) {
			best, found = m, true
		}
	}
	if !found {
		return Origin{}, nil, "", false
	}
	return best.place(), best.value, path[len(best.key):], true
}

// children returns the members of a mapping, or the items of a list by their names.
func children(n *node) []member {
	if n.kind != kindList {
		return n.members
	}
	var named []member
	for _, item := range n.items {
		if name, found := item.get("name"); found {
			named = append(named, member{key: name.value.text, origin: item.origin, value: item})
		}
	}
	return named
}

func beginsWithKey(path, key string) bool {
	rest, found := strings.CutPrefix(path, key)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// bracketed splits `["a key"]rest` or "[0]rest".
func bracketed(path string) (key, rest string, ok bool) {
	path = path[1:]
	if quoted, err := strconv.QuotedPrefix(path); err == nil {
		key, _ = strconv.Unquote(quoted) // a quoted prefix is one that unquotes
		rest, ok = strings.CutPrefix(path[len(quoted):], "]")
		return key, rest, ok
	}
	return strings.Cut(path, "]")
}

// Place says where a value of the entry stands: its path as messages write it, and its origin, that of the entry where
// nothing nearer is known. Steps lead from the entry to the value: keys as string, indexes as int. An entry from the
// command line has no file, and paths of its own ("args[0]").
func (s *Server) Place(steps ...any) (path string, origin Origin) {
	for _, step := range steps {
		switch step := step.(type) {
		case int:
			path = joinIndex(path, step)
		case string:
			path = joinKey(path, step)
		}
	}
	origin = s.origin(path)
	if s.literal {
		return path, origin
	}
	whole := joinKey("servers", s.Name)
	switch {
	case path == "":
		return whole, origin
	case path[0] == '[':
		return whole + path, origin
	}
	return whole + "." + path, origin
}
