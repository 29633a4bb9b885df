package config

import (
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// translation turns an entry of a client's file into an entry with toolx's own keys and the client's positions. It
// leaves out keys that do not affect how the server is started or reached.
type translation struct {
	client  *Client
	project bool // the file is a project's
	entry   node
}

// translate returns the entry with toolx's own keys; false if only the client can start or reach that server. own maps
// the client's keys to toolx's.
func (c *Client) translate(given *node, own map[string]string, project bool) (*node, bool) {
	if given.kind != kindMap {
		return given, true // the schema reports the error
	}
	t := translation{client: c, project: project, entry: node{kind: kindMap, origin: given.origin, flaws: given.flaws}}
	for _, m := range given.members {
		if m.value.kind != kindNull {
			t.read(own[m.key], m)
		}
	}
	t.address(given, own)
	if c.variable == bracedVariable {
		t.entry = *t.entry.withVariables()
	}
	reached := t.entry.indexOf("command") >= 0 || t.entry.indexOf("url") >= 0
	switch {
	case given.namesInternal():
		return nil, false
	case !reached && c.extensions:
		return nil, false
	case !reached && len(given.members) == 1 && given.indexOf("enabled") == 0:
		return nil, false // it only enables an entry defined elsewhere
	}
	if t.entry.indexOf("url") < 0 {
		t.drop("auth")
	}
	return &t.entry, true
}

// bracedVariable is how opencode and its forks refer to a variable.
const bracedVariable = "{env:%s}"

// withVariables returns a copy of n in which {env:NAME} is ${NAME}.
func (n *node) withVariables() *node {
	copied := *n
	copied.items, copied.members = slices.Clone(n.items), slices.Clone(n.members)
	if n.kind == kindText {
		copied.text = bracedVariables().ReplaceAllString(n.text, "$${$1}")
	}
	for i, item := range n.items {
		copied.items[i] = item.withVariables()
	}
	for i, m := range n.members {
		copied.members[i].value = m.value.withVariables()
	}
	return &copied
}

var bracedVariables = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)
})

// namesInternal reports whether the entry is a built-in part of the client instead of a server.
func (n *node) namesInternal() bool {
	kind, _ := n.get("type")
	internal := []string{"builtin", "platform", "frontend", "inline_python"}
	return kind.value != nil && slices.Contains(internal, kind.value.text)
}

// read reads one member of the entry; name is toolx's own key for it.
func (t *translation) read(name string, m member) {
	switch name {
	case "args", "cwd", "headersCommand":
		t.put(name, m, m.value)
	case "env", "headers":
		t.merge(name, m, m.value)
	case "command":
		t.command(m)
	case "envFile":
		t.envFile(m)
	case "headerVariables":
		t.headersOfVariables(m)
	case "bearerVariable":
		t.bearer(m)
	case "type":
		t.transport(m)
	case "timeout", "startTimeout":
		t.time(name, m)
	case "allow", "deny", "env_vars":
		t.names(name, m)
	case "enabled", "disabled":
		if m.value.kind == kindBool {
			t.put(name, m, m.value)
		}
	case "auth":
		t.auth(m)
	}
}

// put adds a member to the entry with the position of m, unless there is one of that name or the value is empty.
func (t *translation) put(name string, m member, value *node) {
	empty := value.kind == kindNull || value.kind == kindText && value.text == ""
	if !empty && t.entry.indexOf(name) < 0 {
		t.entry.members = append(t.entry.members, member{key: name, origin: m.origin, value: value})
	}
}

func (t *translation) drop(name string) {
	t.entry.members = slices.DeleteFunc(t.entry.members, func(m member) bool { return m.key == name })
}

// merge adds the members of a mapping to the entry's mapping of that name; earlier ones win. It ignores null.
func (t *translation) merge(name string, m member, value *node) {
	i := t.entry.indexOf(name)
	if value.kind != kindMap || i >= 0 && t.entry.members[i].value.kind != kindMap {
		t.put(name, m, value)
		return
	}
	all := &node{kind: kindMap, origin: value.origin, flaws: value.flaws}
	if i >= 0 {
		all = t.entry.members[i].value
	} else {
		t.entry.members = append(t.entry.members, member{key: name, origin: m.origin, value: all})
	}
	for _, one := range value.members {
		if one.value.kind != kindNull && all.indexOf(one.key) < 0 {
			all.members = append(all.members, one)
		}
	}
}

// command reads the program. Older versions of Zed have a mapping with the program and its arguments.
func (t *translation) command(m member) {
	if m.value.kind != kindMap {
		t.put("command", m, m.value)
		return
	}
	for _, part := range m.value.members {
		switch part.key {
		case "path":
			t.put("command", part, part.value)
		case "args":
			t.put("args", part, part.value)
		case "env":
			t.merge("env", part, part.value)
		}
	}
}

// address reads the url. If there are several keys, the client's own wins over those of others.
func (t *translation) address(given *node, own map[string]string) {
	names := []string{t.client.key("url"), "httpUrl", "url"}
	for _, m := range given.members {
		if own[m.key] == "url" {
			names = append(names, m.key)
		}
	}
	for _, name := range names {
		m, found := given.get(name)
		if name == "" || !found || m.value.kind == kindText && m.value.text == "" {
			continue
		}
		t.put("url", m, m.value)
		if name == t.client.key("sseURL") {
			t.put("type", m, textNode(TransportSSE, m.value.origin))
		}
		return
	}
}

// envFile makes a path in the project's folder relative to it, so that the user's consent covers the file's content.
func (t *translation) envFile(m member) {
	value := *m.value
	if rest, found := strings.CutPrefix(value.text, "${workspaceFolder}/"); found && t.project {
		value.text = filepath.FromSlash(rest)
	}
	t.put("envFile", m, &value)
}

// headersOfVariables reads headers that are given as names of variables.
func (t *translation) headersOfVariables(m member) {
	headers := &node{kind: kindMap, origin: m.value.origin}
	for _, header := range m.value.members {
		if header.value.kind == kindText && header.value.text != "" {
			header.value = textNode("${"+header.value.text+"}", header.value.origin)
			headers.members = append(headers.members, header)
		}
	}
	t.merge("headers", m, headers)
}

// bearer reads the name of the variable that holds a token.
func (t *translation) bearer(m member) {
	if m.value.kind != kindText || m.value.text == "" {
		return
	}
	token := textNode("Bearer ${"+m.value.text+"}", m.value.origin)
	t.merge("headers", m, &node{
		kind: kindMap, origin: m.value.origin,
		members: []member{{key: "Authorization", origin: m.origin, value: token}},
	})
}

// transport reads a way to reach the server, under any of the names that clients give it.
func (t *translation) transport(m member) {
	value := m.value
	if i := slices.Index(t.client.ways[:], value.text); i >= 0 && value.text != "" {
		value = textNode([...]string{TransportStdio, TransportHTTP, TransportSSE}[i], value.origin)
	}
	switch strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(value.text)) {
	case "stdio", "local":
		value = textNode(TransportStdio, value.origin)
	case "http", "remote", "streamablehttp", "httpstream":
		value = textNode(TransportHTTP, value.origin)
	case "sse":
		value = textNode(TransportSSE, value.origin)
	}
	t.put("type", m, value)
}

// time reads a number, text with a unit, or a mapping of times. It ignores numbers that are not positive, which clients
// treat as no limit or as their default. The unit is the key's, or else the client's.
func (t *translation) time(name string, m member) {
	unit := t.client.unit
	switch {
	case strings.HasSuffix(m.key, "_sec"):
		unit = time.Second
	case strings.HasSuffix(m.key, "_ms"):
		unit = time.Millisecond
	}
	if request, found := m.value.get("request"); found {
		m = request
	}
	count, err := strconv.ParseFloat(m.value.text, 64)
	switch {
	case m.value.kind != kindNumber && m.value.kind != kindText:
		return
	case err != nil: // "30s"
		if _, err := parseDuration(m.value.text); err == nil {
			t.put(name, m, m.value)
		}
		return
	case unit == 0 && count <= mostSeconds:
		unit = time.Second
	case unit == 0:
		unit = time.Millisecond
	}
	if exact := count * float64(unit); exact >= 1 && exact < float64(math.MaxInt64/2) {
		t.put(name, m, textNode(unitText(time.Duration(exact)), m.value.origin))
	}
}

// names reads a list of names of tools or variables. It ignores other values, and items that are not text.
func (t *translation) names(name string, m member) {
	if m.value.kind != kindList || name == "allow" && len(m.value.items) == 0 && t.client.emptyAllowsAll {
		return
	}
	list := *m.value
	list.items = slices.DeleteFunc(slices.Clone(list.items), func(item *node) bool { return item.kind != kindText })
	t.put(name, m, &list)
}

// auth reads the client that is registered with the authorization server.
func (t *translation) auth(m member) {
	names := map[string]string{
		"clientid": "clientId", "clientsecret": "clientSecret", "scopes": "scopes", "scope": "scopes",
		"callbackport": "redirectPort",
	}
	auth := &node{kind: kindMap, origin: m.value.origin}
	for _, part := range m.value.members {
		name := names[strings.ToLower(strings.ReplaceAll(part.key, "_", ""))]
		if name == "" || auth.indexOf(name) >= 0 || part.value.kind == kindText && part.value.text == "" {
			continue
		}
		if name == "scopes" && part.value.kind == kindText {
			list := &node{kind: kindList, origin: part.value.origin}
			for _, scope := range strings.Fields(part.value.text) {
				list.items = append(list.items, textNode(scope, part.value.origin))
			}
			part.value = list
		}
		part.key = name
		auth.members = append(auth.members, part)
	}
	if len(auth.members) > 0 {
		t.put("auth", m, auth)
	}
}

func textNode(text string, origin Origin) *node {
	return &node{kind: kindText, text: text, written: text, origin: origin}
}
