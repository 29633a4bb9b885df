package contract

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Change is one difference between two snapshots.
type Change struct {
	Kind    Kind              `json:"kind"`
	Name    string            `json:"name,omitempty"`    // of the tool, prompt, resource, template or capability
	Pointer string            `json:"pointer,omitempty"` // in its definition; empty for all of it
	Effect  jsonschema.Effect `json:"effect"`
	Text    string            `json:"text"`
	// Before and After are the values, if they were compared as a whole; nil where one is missing.
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	// Hidden has the characters of After that show nothing and are not in Before.
	Hidden []string `json:"hidden,omitempty"`
}

// The texts of changes of whole definitions.
const (
	added   = "is new"
	removed = "was removed"
)

// Added reports whether the whole definition is new.
func (c Change) Added() bool { return c.Pointer == "" && c.Text == added }

// Removed reports whether the whole definition is gone.
func (c Change) Removed() bool { return c.Pointer == "" && c.Text == removed }

// Compare returns the changes from one snapshot to another, of the parts that both have.
func Compare(before, after *Snapshot) []Change {
	all := []Change{}
	if before.About != nil && after.About != nil {
		all = append(all, compareAbout(before.About, after.About)...)
	}
	for _, of := range lists() {
		was, known := before.Lists[of.kind]
		if is, alsoKnown := after.Lists[of.kind]; known && alsoKnown {
			all = append(all, CompareDefinitions(of.kind, was, is)...)
		}
	}
	return all
}

// CompareSets compares the snapshots of several servers, sorted by name. If there is one on each side, their names do
// not matter.
func CompareSets(before, after Set) []Difference {
	if len(before) == 1 && len(after) == 1 {
		for name, was := range before {
			for _, is := range after {
				return []Difference{compareServers(name, was, is)}
			}
		}
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(names)
	var all []Difference
	for _, name := range slices.Compact(names) {
		all = append(all, compareServers(name, before[name], after[name]))
	}
	return all
}

// compareServers compares two snapshots, one of which may be nil.
func compareServers(name string, before, after *Snapshot) Difference {
	switch {
	case before == nil:
		return Difference{Server: name, Changes: []Change{{Kind: Server, Effect: jsonschema.Compatible, Text: added}}}
	case after == nil:
		return Difference{Server: name, Changes: []Change{{Kind: Server, Effect: jsonschema.Breaking, Text: removed}}}
	}
	d := Difference{Server: name, Changes: Compare(before, after)}
	if before.Lists[Tool] != nil && after.Lists[Tool] != nil {
		d.Tokens = &TokenChange{before.Tokens(), after.Tokens()}
	}
	return d
}

// CompareDefinitions returns the changes of a list, sorted by name and then by effect, the worst first.
func CompareDefinitions(kind Kind, before, after Definitions) []Change {
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(names)
	var all []Change
	for _, name := range slices.Compact(names) {
		was, had := before[name]
		is, has := after[name]
		switch {
		case !had:
			all = append(all, Change{Kind: kind, Name: name, Effect: jsonschema.Compatible, Text: added})
		case !has:
			all = append(all, Change{Kind: kind, Name: name, Effect: jsonschema.Breaking, Text: removed})
		default:
			c := comparison{kind: kind, name: name}
			c.definitions(was, is)
			worstFirst := func(a, b Change) int { return cmp.Compare(b.Effect, a.Effect) }
			slices.SortStableFunc(c.list, worstFirst)
			all = append(all, c.list...)
		}
	}
	return all
}

// comparison collects the changes of one definition.
type comparison struct {
	kind Kind
	name string
	list []Change
}

func (c *comparison) add(pointer string, effect jsonschema.Effect, format string, args ...any) {
	c.list = append(c.list, Change{
		Kind: c.kind, Name: c.name, Pointer: pointer, Effect: effect, Text: fmt.Sprintf(format, args...),
	})
}

// value adds the change of a value that is compared as a whole, if it changed.
func (c *comparison) value(pointer, name string, effect jsonschema.Effect, before, after json.RawMessage) {
	if text := jsonschema.DescribeChange(before, after); text != "" {
		c.difference(jsonschema.Difference{
			Pointer: pointer, Effect: effect, Text: strings.TrimPrefix(name+" "+text, " "), Before: before, Now: after,
		})
	}
}

func (c *comparison) difference(d jsonschema.Difference) {
	c.list = append(c.list, Change{
		Kind: c.kind, Name: c.name, Pointer: d.Pointer, Effect: d.Effect, Text: d.Text,
		Before: d.Before, After: d.Now, Hidden: newlyHidden(d.Before, d.Now),
	})
}

func compareAbout(before, after *About) []Change {
	protocol := comparison{kind: Protocol}
	effect := jsonschema.Compatible
	if after.Protocol < before.Protocol { // revisions are dates
		effect = jsonschema.Breaking
	}
	protocol.value("", "", effect, rawjson.Quote(before.Protocol), rawjson.Quote(after.Protocol))
	server := comparison{kind: Server}
	if before.Name != "" && after.Name != "" {
		server.value("/name", "name", jsonschema.Cosmetic, rawjson.Quote(before.Name), rawjson.Quote(after.Name))
		version, later := rawjson.Quote(before.Version), rawjson.Quote(after.Version)
		server.value("/version", "version", jsonschema.Cosmetic, version, later)
	}
	instructions := comparison{kind: Instructions}
	instructions.value("", "", jsonschema.Cosmetic, text(before.Instructions), text(after.Instructions))
	capabilities := comparison{kind: Capability}
	capabilities.capabilities("", before.Capabilities, after.Capabilities)
	return slices.Concat(server.list, protocol.list, capabilities.list, instructions.list)
}

// text returns a text as JSON, nil for an empty one.
func text(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return rawjson.Quote(text)
}

// capabilities compares declarations: an object declares a capability, and so does true.
func (c *comparison) capabilities(path string, before, after json.RawMessage) {
	for _, member := range merged(before, after) {
		c.name = strings.TrimPrefix(path+"."+member.name, ".")
		switch had, has := declares(member.before), declares(member.after); {
		case had && !has:
			c.add("", jsonschema.Breaking, removed)
		case has && !had:
			c.add("", jsonschema.Compatible, added)
		case opens(member.before, '{') && opens(member.after, '{'):
			c.capabilities(c.name, member.before, member.after)
		default:
			c.value("", "", jsonschema.Compatible, member.before, member.after)
		}
	}
}

func declares(value json.RawMessage) bool {
	return value != nil && string(value) != "false" && string(value) != "null"
}

// definitions compares two definitions member by member.
func (c *comparison) definitions(before, after json.RawMessage) {
	for _, member := range merged(before, after) {
		place := rawjson.Pointer(member.name)
		switch {
		case c.kind == Tool && member.name == "inputSchema":
			c.schemas(place, member, jsonschema.Written)
		case c.kind == Tool && member.name == "outputSchema":
			c.output(place, member)
		case c.kind == Tool && member.name == "annotations" && isObject(member.before) && isObject(member.after):
			for _, hint := range merged(member.before, member.after) {
				c.value(place+rawjson.Pointer(hint.name), hint.name, effectOfHint(hint), hint.before, hint.after)
			}
		case c.kind == Tool && member.name == "execution":
			c.value(place, "execution", effectOfExecution(member), member.before, member.after)
		case c.kind == Prompt && member.name == "arguments":
			c.arguments(member.before, member.after)
		case c.kind == Resource && member.name == "annotations":
			c.value(place, "annotations", jsonschema.Cosmetic, untimed(member.before), untimed(member.after))
		case c.kind == Resource && member.name == "size": // of the content
		case member.name == "mimeType" && member.before != nil && member.after != nil:
			c.value(place, "mimeType", jsonschema.Breaking, member.before, member.after)
		case member.before == nil && !describes(member.name):
			c.value(place, member.name, jsonschema.Compatible, nil, member.after)
		default:
			c.value(place, member.name, jsonschema.Cosmetic, member.before, member.after)
		}
	}
}

// isObject reports whether a value is an object, or missing.
func isObject(value json.RawMessage) bool { return value == nil || opens(value, '{') }

// describes reports whether a member is text about a definition.
func describes(member string) bool { return member == "title" || member == "description" }

func (c *comparison) schemas(place string, m members, use jsonschema.Use) {
	for _, d := range jsonschema.Compare(jsonschema.Parse(m.before), jsonschema.Parse(m.after), place, use) {
		c.difference(d)
	}
}

func (c *comparison) output(place string, m members) {
	switch {
	case m.before == nil:
		c.add(place, jsonschema.Compatible, "outputSchema is new")
	case m.after == nil:
		c.add(place, jsonschema.Breaking, "outputSchema is gone")
	default:
		c.schemas(place, m, jsonschema.Read)
	}
}

// effectOfHint returns the effect of a changed annotation of a tool. Clients that ask less for a tool that promises to
// change little rely on the promise.
func effectOfHint(hint members) jsonschema.Effect {
	var promises, unsaid string // what promises something, and what a missing value means (MCP, ToolAnnotations)
	switch hint.name {
	case "readOnlyHint", "idempotentHint":
		promises, unsaid = "true", "false"
	case "destructiveHint", "openWorldHint":
		promises, unsaid = "false", "true"
	default:
		return jsonschema.Cosmetic
	}
	value := func(raw json.RawMessage) string {
		if raw == nil {
			return unsaid
		}
		return string(raw)
	}
	if value(hint.before) == promises && value(hint.after) != promises {
		return jsonschema.Breaking
	}
	return jsonschema.Cosmetic
}

// effectOfExecution returns the effect of a changed "execution": a tool that can no longer be called in one of the two
// ways, as a task or not, breaks who calls it so.
func effectOfExecution(m members) jsonschema.Effect {
	ways := func(raw json.RawMessage) (plain, task bool) {
		support := rawjson.GetText(raw, "taskSupport")
		return support != "required", support == "required" || support == "optional"
	}
	plainBefore, taskBefore := ways(m.before)
	plainAfter, taskAfter := ways(m.after)
	switch {
	case plainBefore && !plainAfter || taskBefore && !taskAfter:
		return jsonschema.Breaking
	case plainBefore == plainAfter && taskBefore == taskAfter: // such as "forbidden", which is the default
		return jsonschema.Cosmetic
	}
	return jsonschema.Compatible
}

// arguments compares the arguments of a prompt.
func (c *comparison) arguments(before, after json.RawMessage) {
	was, is := argumentsOf(before), argumentsOf(after)
	names := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(is))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		place := "/arguments" + rawjson.Pointer(name)
		old, had := was[name]
		lately, has := is[name]
		required := string(rawjson.Get(lately, "required")) == "true"
		shown := words.Clip(name, words.MaxGiven)
		switch wasRequired := string(rawjson.Get(old, "required")) == "true"; {
		case !has:
			c.add(place, jsonschema.Breaking, "the argument %s was removed", shown)
			continue
		case !had && required:
			c.add(place, jsonschema.Breaking, "the new argument %s is required", shown)
			continue
		case !had:
			c.add(place, jsonschema.Compatible, "the argument %s is new", shown)
			continue
		case required && !wasRequired:
			c.add(place, jsonschema.Breaking, "the argument %s is required now", shown)
		case wasRequired && !required:
			c.add(place, jsonschema.Compatible, "the argument %s is no longer required", shown)
		}
		for _, member := range merged(old, lately) {
			if member.name != "required" {
				at := place + rawjson.Pointer(member.name)
				c.value(at, member.name, jsonschema.Cosmetic, member.before, member.after)
			}
		}
	}
}

// argumentsOf returns the arguments of a prompt by name.
func argumentsOf(raw json.RawMessage) Definitions {
	elements, _ := rawjson.Elements(raw)
	all := make(Definitions, len(elements))
	for _, element := range elements {
		all[rawjson.GetText(element, "name")] = element
	}
	return all
}

// untimed returns annotations without the time of the last change, which is of the content. It returns nil for nothing
// else.
func untimed(annotations json.RawMessage) json.RawMessage {
	kept, _ := rawjson.Members(annotations)
	kept = slices.DeleteFunc(kept, func(m rawjson.Member) bool { return m.Name == "lastModified" })
	if len(kept) == 0 {
		return nil
	}
	return rawjson.Object(kept)
}

// members are the values of one member of two objects; nil where it is missing.
type members struct {
	name          string
	before, after json.RawMessage
}

// merged returns the members of two objects, sorted by name. Of several with one name the last counts.
func merged(before, after json.RawMessage) []members {
	all := make(map[string]members)
	for m := range rawjson.Each(before) {
		all[m.Name] = members{name: m.Name, before: m.Value}
	}
	for m := range rawjson.Each(after) {
		all[m.Name] = members{m.Name, all[m.Name].before, m.Value}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b members) int { return strings.Compare(a.name, b.name) })
}

func opens(value json.RawMessage, sign byte) bool { return len(value) > 0 && value[0] == sign }

// mostHidden bounds how many hidden characters are named.
const mostHidden = 20

// newlyHidden names the characters of a text that show nothing and are not in the earlier text.
func newlyHidden(before, after json.RawMessage) []string {
	if !rawjson.IsString(after) {
		return nil
	}
	var found []string
	old := rawjson.Unquote(before)
	for _, r := range rawjson.Unquote(after) {
		space := r == '\n' || r == '\r' || r == '\t'
		named := fmt.Sprintf("U+%04X", r)
		if hides := !space && words.Invisible(r) || unicode.Is(unicode.Variation_Selector, r) && r > 0xffff; hides &&
			!strings.ContainsRune(old, r) && !slices.Contains(found, named) && len(found) < mostHidden {
			found = append(found, named)
		}
	}
	return found
}
