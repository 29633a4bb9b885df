package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolx/pkg/contract"
	"toolx/pkg/fault"
	"toolx/pkg/words"
)

// field is one key that a mapping may have. Load reads struct fields with the tag config, and the fields below, which
// need more than their type. A test compares them with the published schema, which describes the same keys to editors
// and checks the shape of their values.
type field[T any] struct {
	name string
	// aka are other programs' names for it.
	aka  []string
	read func(d *decoder, v value, to *T)
}

// value is a node with its position, for messages.
type value struct {
	*node
	at   Origin
	path string
}

// fieldsOf returns the keys of a struct: more, and its fields with the tag config, which lists the key and other
// programs' names for it. The tag as is how to read a time (see decoder.time).
func fieldsOf[T any](more ...field[T]) []field[T] {
	for i := range reflect.TypeFor[T]().NumField() {
		f := reflect.TypeFor[T]().Field(i)
		names := strings.Split(f.Tag.Get("config"), ",")
		if names[0] == "" {
			continue
		}
		more = append(more, field[T]{names[0], names[1:], func(d *decoder, v value, to *T) {
			d.set(v, reflect.ValueOf(to).Elem().Field(i).Addr().Interface(), f.Tag.Get("as"))
		}})
	}
	return more
}

// set reads a value into the variable that to points to, by its type.
func (d *decoder) set(v value, to any, as string) {
	switch to := to.(type) {
	case *string:
		*to = v.string()
	case *bool:
		*to = v.bool()
	case *int:
		*to = d.whole(v)
	case **int:
		whole := d.whole(v)
		*to = &whole
	case *int64:
		*to = d.size(v)
	case **int64:
		size := d.size(v)
		*to = &size
	case *time.Duration:
		*to = d.time(v, as)
	case *[]string:
		*to = append(*to, v.texts()...)
	case *map[string]string:
		if *to == nil {
			*to = make(map[string]string, len(v.members))
		}
		maps.Copy(*to, v.textMap())
	case *json.RawMessage:
		*to = v.json()
	case *[]json.RawMessage:
		for _, item := range v.items {
			*to = append(*to, item.json())
		}
	case *Retry:
		decode(d, v, fieldsOf[Retry](), to)
	case *Implementation:
		decode(d, v, fieldsOf[Implementation](), to)
	case *Faults:
		decode(d, v, fieldsOf[Faults](), to)
	case **Provider:
		*to = &Provider{}
		decode(d, v, fieldsOf[Provider](), *to)
	default:
		panic(fmt.Sprintf("config: no value is read into %T", to))
	}
}

func rootFields() []field[document] {
	return []field[document]{
		{"$schema", nil, func(*decoder, value, *document) {}},
		{"servers", nil, (*decoder).servers},
		{"mcpServers", nil, (*decoder).servers},
		{"tools", nil, (*decoder).tools},
		{"defaults", nil, func(_ *decoder, v value, to *document) { to.defaults = v.node }},
		{"doctor", nil, func(_ *decoder, v value, to *document) { to.doctor = v.node }},
		{"budget", nil, func(d *decoder, v value, to *document) {
			decode(d, v, fieldsOf[contract.Budget](), &to.budget)
		}},
		{"roots", nil, func(d *decoder, v value, to *document) { to.roots = d.roots(v) }},
		{"imports", nil, func(d *decoder, v value, to *document) { to.imports = d.imports(v) }},
	}
}

func serverFields() []field[Server] {
	return fieldsOf(append(guardFields(), []field[Server]{
		{"type", []string{"transport", "transportType"}, func(d *decoder, v value, s *Server) { s.Transport = d.transport(v) }},
		{"command", nil, (*decoder).command},
		{"inheritEnv", nil, (*decoder).inheritEnv},
		{"headersCommand", []string{"headersHelper"}, func(d *decoder, v value, s *Server) { s.HeadersCommand = d.words(v) }},
		{"auth", nil, (*decoder).auth},
		{"normalize", nil, normalize},
		{"disabled", nil, func(_ *decoder, v value, s *Server) { s.Disabled = s.Disabled || v.bool() }},

		// The rest is for entries that were written for other clients.
		{"enabled", nil, func(_ *decoder, v value, s *Server) { s.Disabled = s.Disabled || v.kind == kindBool && !v.bool() }},
		{"env_vars", nil, func(_ *decoder, v value, s *Server) { s.InheritNames = append(s.InheritNames, v.texts()...) }},
		{"tool_timeout_sec", nil, func(d *decoder, v value, s *Server) { s.Timeout = d.counted(v, time.Second) }},
		{"startup_timeout_sec", nil, func(d *decoder, v value, s *Server) { s.StartTimeout = d.counted(v, time.Second) }},
		{"startup_timeout_ms", nil, func(d *decoder, v value, s *Server) { s.StartTimeout = d.counted(v, time.Millisecond) }},
		// toolx asks only because of confirm, and does not show these names and descriptions.
		{"autoApprove", []string{"alwaysAllow", "trust"}, func(*decoder, value, *Server) {}},
		{"description", []string{"name"}, func(*decoder, value, *Server) {}},
		{"source", []string{"gallery", "fromGalleryId"}, func(*decoder, value, *Server) {}},
	}...)...)
}

// command reads the program to start; some clients write a list with its arguments.
func (d *decoder) command(v value, s *Server) {
	parts := v.texts()
	if len(parts) == 0 {
		s.Command = v.string()
		return
	}
	s.Command, s.Args = parts[0], append(parts[1:], s.Args...)
}

func toolFields() []field[Tool] {
	return fieldsOf(field[Tool]{"lc_name", nil, func(_ *decoder, v value, t *Tool) {
		t.Aliases = append(t.Aliases, v.string())
	}})
}

func defaultsFields() []field[Defaults] {
	return fieldsOf(field[Defaults]{"log", nil, func(d *decoder, v value, to *Defaults) {
		to.Log.Off = v.kind == kindBool && !v.bool()
		decode(d, v, logFields(), &to.Log)
	}})
}

func logFields() []field[Log] {
	return []field[Log]{
		{"results", nil, func(_ *decoder, v value, to *Log) { to.NoResults = !v.bool() }},
	}
}

// document is the content of one file.
type document struct {
	servers  entries[*Server]
	tools    entries[*Tool]
	defaults *node
	doctor   *node
	budget   contract.Budget
	roots    []string // nil if the file does not set them
	imports  []string // ids of clients
}

// imports returns the clients whose servers the file adds to its own.
func (d *decoder) imports(v value) []string {
	var ids, known []string
	for _, client := range Clients() {
		known = append(known, client.ID)
	}
	for i, item := range v.items {
		switch {
		case item.kind != kindText: // the schema reports it
		case slices.Contains(known, item.text):
			ids = append(ids, item.text)
		default:
			fix := "write one of " + strings.Join(known, ", ")
			if near := words.Nearest(item.text, known); near != "" {
				fix = "did you mean " + near + "?"
			}
			at := value{item, item.origin, joinIndex(v.path, i)}
			d.problem(at, fix, "unknown client %s", at.shown())
		}
	}
	return ids
}

// roots returns the folders, which are relative to the file, and URIs. If none of them is valid, the list is empty, so
// that servers do not get more than the file allows.
func (d *decoder) roots(v value) []string {
	roots := []string{}
	for _, item := range v.items {
		if item.kind != kindText || item.text == "" {
			continue // the schema says so
		}
		root := item.text
		if !strings.HasPrefix(root, "file://") {
			root = absolute(root, d.dir)
		}
		roots = append(roots, root)
	}
	return roots
}

// entry is a server or a tool with its member and its path in the file.
type entry[T any] struct {
	value T
	node  member
	path  string
}

// entries are servers or tools in order, indexed by name.
type entries[T any] struct {
	list  []entry[T]
	index map[string]int
}

func (e *entries[T]) find(name string) (entry[T], bool) {
	i, found := e.index[name]
	if !found {
		return entry[T]{}, false
	}
	return e.list[i], true
}

// put appends the entry, or replaces the one of its name.
func (e *entries[T]) put(added entry[T]) {
	if i, found := e.index[added.node.key]; found {
		e.list[i] = added
		return
	}
	if e.index == nil {
		e.index = map[string]int{}
	}
	e.index[added.node.key] = len(e.list)
	e.list = append(e.list, added)
}

// decoder converts a file's nodes to the types of this package. It ignores values of the wrong kind, which the schema
// reports, and reports what the schema cannot report, or not as well.
type decoder struct {
	dir        string // of the file, absolute
	problems   []placed
	warnings   []Warning
	unreported int // warnings beyond mostRemarks
	// lenient ignores invalid times, because the file is shared with other clients, which allow other values.
	lenient bool
	// ignored are the paths of values that the schema need not report.
	ignored map[string]bool
}

// mostRemarks is how many problems of an entry, and how many problems or warnings of a file, are reported.
const mostRemarks = 50

// placed is a problem with the path of its value.
type placed struct {
	Problem
	path string
}

func (d *decoder) warn(at Origin, text string) {
	if len(d.warnings) >= mostRemarks {
		d.unreported++
		return
	}
	d.warnings = append(d.warnings, Warning{Origin: at, Text: text})
}

func (d *decoder) problem(v value, fix, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	d.problems = append(d.problems, placed{Problem{Origin: v.at, Text: problemText(v.path, text), Fix: fix}, v.path})
}

// decode reads the members of v into to, by the table.
func decode[T any](d *decoder, v value, fields []field[T], to *T) {
	given := map[string]member{}
	for _, m := range v.members {
		child := value{m.value, m.place(), joinKey(v.path, m.key)}
		i := slices.IndexFunc(fields, func(f field[T]) bool { return f.name == m.key || slices.Contains(f.aka, m.key) })
		if i < 0 {
			d.unknownKey(v, m, fieldNames(fields))
			continue
		}
		if first, found := given[fields[i].name]; found {
			if !m.value.same(first.value) && !agree(d, fields[i], value{first.value, child.at, child.path}, child) {
				child.at = m.origin
				d.problem(child, "keep one of the two", "'%s' and '%s' mean the same", first.key, m.key)
			}
			continue
		}
		given[fields[i].name] = m
		fields[i].read(d, child, to)
	}
}

// agree reports whether two values of one field have the same meaning, as do those of keys without effect.
func agree[T any](d *decoder, f field[T], a, b value) bool {
	var read [2]T
	for i, v := range []value{a, b} {
		scratch := &decoder{dir: d.dir}
		if f.read(scratch, v, &read[i]); len(scratch.problems) > 0 {
			return false
		}
	}
	return reflect.DeepEqual(read[0], read[1])
}

// fieldNames returns all keys that the table knows.
func fieldNames[T any](fields []field[T]) []string {
	var names []string
	for _, f := range fields {
		names = append(append(names, f.name), f.aka...)
	}
	return names
}

// unknownKey warns about an unknown key, which may be a typo or for another program.
func (d *decoder) unknownKey(parent value, m member, known []string) {
	if parent.path == "" && strings.HasPrefix(m.key, "x-") {
		return
	}
	text := fmt.Sprintf("unknown key '%s'", m.key)
	if parent.path != "" {
		text += " in " + parent.path
	}
	if parent.path == "" && slices.Contains(fieldNames(defaultsFields()), m.key) {
		text += fmt.Sprintf(", write defaults.%s", m.key)
	} else if near := words.Nearest(m.key, known); near != "" {
		text += fmt.Sprintf(", did you mean '%s'?", near)
	}
	d.warn(m.origin, text)
}

func (d *decoder) servers(v value, to *document) {
	fields := serverFields()
	for _, m := range v.members {
		child := value{m.value, m.origin, joinKey(v.path, m.key)}
		if m.key == "" {
			continue // the schema says so
		}
		if first, found := to.servers.find(m.key); found {
			// It is unclear which one applies, so neither is started.
			d.problem(child, "remove one of the two", "a server of this name is already defined at %s",
				first.node.origin)
			said := &d.problems[len(d.problems)-1]
			said.Duplicate, said.path = true, first.path
			continue
		}
		server := &Server{Name: m.key, Origin: m.origin, dir: d.dir, node: m.value}
		before := len(d.warnings)
		decode(d, child, fields, server)
		d.placeGuard(child, server)
		d.checkServer(child, server)
		d.checkName(child, m.key)
		for i := range d.warnings[before:] {
			d.warnings[before+i].Server = m.key
		}
		to.servers.put(entry[*Server]{server, m, child.path})
	}
}

// transport reads a way to reach a server, under any of the names that clients give it.
func (d *decoder) transport(v value) string {
	switch name := v.string(); name {
	case "":
		return "" // empty, or the schema reports its type
	case TransportStdio, TransportHTTP, TransportSSE:
		return name
	case "local":
		return TransportStdio
	case "remote", "streamable-http", "streamable_http", "streamableHttp":
		return TransportHTTP
	}
	d.problem(v, "write stdio, http or sse, or remove the key", "unsupported transport %s", v.shown())
	return ""
}

func normalize(_ *decoder, v value, s *Server) {
	switch v.kind {
	case kindBool:
		s.KeepNames = !v.bool()
	case kindMap:
		s.Normalize = map[string]map[string]string{}
		for _, m := range v.members {
			s.Normalize[m.key] = value{node: m.value}.textMap()
		}
	}
}

func (d *decoder) tools(v value, to *document) {
	fields := toolFields()
	for i, item := range v.items {
		child := value{item, item.origin, joinIndex(v.path, i)}
		tool := &Tool{Origin: item.origin}
		decode(d, child, fields, tool)
		if tool.Name == "" {
			continue // the schema says so
		}
		d.checkName(child, tool.Name)
		if first, found := to.tools.find(tool.Name); found {
			d.warn(tool.Origin, fmt.Sprintf( // REG-3
				"the tool '%s' replaces the one at %s", tool.Name, first.value.Origin,
			))
		}
		to.tools.put(entry[*Tool]{tool, member{tool.Name, item.origin, item}, child.path})
	}
}

// time reads a time: as "limit" it may be none, as "startTimeout" a number as other clients write it, and as "timeout"
// either.
func (d *decoder) time(v value, as string) time.Duration {
	none := v.kind == kindText && v.text == "none"
	number := v.kind == kindNumber || v.kind == kindText && allDigits(v.text)
	switch {
	case none && (as == "limit" || as == "timeout"):
		return Unlimited
	case number && (as == "startTimeout" || as == "timeout"):
		return d.bareNumber(v)
	case v.kind != kindText && v.kind != kindNumber:
		return 0
	}
	duration, err := parseDuration(v.written)
	d.unitProblem(v, err)
	return duration
}

func (d *decoder) unitProblem(v value, err error) {
	if err != nil {
		d.problem(v, fault.HintOf(err), "%v", err)
	}
}

// mostSeconds is the largest number without a unit that counts as seconds.
const mostSeconds = 1000

// bareNumber reads a time without a unit: small numbers count as seconds, large ones as milliseconds.
func (d *decoder) bareNumber(v value) time.Duration {
	unit := time.Second
	if count, err := strconv.ParseFloat(v.text, 64); err != nil || count > mostSeconds {
		unit = time.Millisecond
	}
	duration := d.counted(v, unit)
	if duration > 0 {
		d.warn(v.at, fmt.Sprintf("%s has no unit and is read as %s", v.path, unitText(duration)))
	}
	return duration
}

// counted reads a number of units. It must be above zero, because zero means no limit in some clients and no time in
// others.
func (d *decoder) counted(v value, unit time.Duration) time.Duration {
	if v.kind != kindNumber && v.kind != kindText {
		return 0 // the schema reports it
	}
	const longest = float64(math.MaxInt64 / 2)
	count, err := strconv.ParseFloat(v.text, 64)
	switch exact := count * float64(unit); {
	case d.lenient && (err != nil || exact > longest || exact < 1):
		d.warn(v.at, fmt.Sprintf("%s is not positive, and is ignored", v.path))
		d.ignored[v.path] = true
	case err != nil || exact > longest:
		d.problem(v, "use a time such as 30s, 500ms or 1m30s", "%s is not a time", v.shown())
	case exact < 1:
		d.problem(v, "write a time such as 30s, none for no limit, or remove the key", "%s is not a positive time",
			v.shown())
	default:
		return time.Duration(exact)
	}
	return 0
}

// size reads a number of bytes.
func (d *decoder) size(v value) int64 {
	if v.kind != kindText && v.kind != kindNumber {
		return 0
	}
	size, err := ParseSize(v.text)
	d.unitProblem(v, err)
	return size
}

// whole reads an integer; the schema has its limits.
func (d *decoder) whole(v value) int {
	if v.kind != kindNumber {
		return 0
	}
	whole, err := strconv.Atoi(v.text)
	if err != nil {
		d.problem(v, "", "%s is not a whole number in plain digits", v.text)
	}
	return whole
}

func (v value) string() string {
	if v.kind != kindText {
		return ""
	}
	return v.text
}

func (v value) bool() bool { return v.kind == kindBool && v.text == "true" }

// texts returns the items as written: an argument 012 is the text "012".
func (v value) texts() []string {
	var texts []string
	for _, item := range v.items {
		texts = append(texts, item.asText())
	}
	return texts
}

// words returns a command line: a list as it is, or text split at spaces. It rejects quotes in text, because no shell
// interprets them.
func (d *decoder) words(v value) []string {
	if v.kind != kindText {
		return v.texts()
	}
	if strings.ContainsAny(v.text, `'"`) {
		d.problem(v, "write a list, such as [sh, -c, '…']", "quotes have no effect, because it does not run in a shell")
	}
	return strings.Fields(v.text)
}

// asText returns the text of a text node, which may differ from the file's (see withVariables), and any other scalar as
// written.
func (n *node) asText() string {
	if n.kind == kindText {
		return n.text
	}
	return n.written
}

func (v value) textMap() map[string]string {
	texts := make(map[string]string, len(v.members))
	for _, m := range v.members {
		texts[m.key] = m.value.asText()
	}
	return texts
}
