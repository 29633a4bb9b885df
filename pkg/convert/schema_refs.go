package convert

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/words"
)

// references merges refs and the branches of allOf into a schema.
type references struct {
	*report
	*schemaReader
	tidier tidier
	used   map[string]bool // the definitions of kept refs
	nodes  int             // schemas walked
	bytes  int             // added by refs
}

// flat reads a schema, expands its ref unless it is kept, and merges allOf. It returns nil for a schema that allows no
// value.
func (r *references) flat(schema *node, at *place) *object {
	o, ok := parseObject(schema)
	switch {
	case ok:
	case schema.Is("false"):
		return nil
	default:
		if !schema.Is("true") {
			r.recordLoss(*at, Lossy, "changed", "an invalid schema to one that allows any value")
		}
		return &object{node: r.document.Fragment(json.RawMessage("{}")).Clone()}
	}
	r.tidier.tidy(o, *at)
	r.deref(o, at)
	r.mergeAllOf(o, at)
	return o
}

// never replaces a schema that allows no value, which the target cannot express.
func (r *references) never(at place) *object {
	r.recordLoss(at, Lossy, "changed", "the schema false to one that accepts any value")
	return &object{node: r.document.Fragment(json.RawMessage("{}")).Clone()}
}

// deref replaces a schema's ref with its definition, merged with the keywords next to it (JSON Schema 2020-12,
// 8.2.3.1). It keeps a ref that the target supports.
func (r *references) deref(o *object, at *place) {
	for {
		keyword, ref, ok := refOf(o)
		if !ok {
			return
		}
		target, found := r.resolve(ref)
		if found && keyword == "$ref" && r.keepsRef(ref, *at) && !needsMerging(o, *at) {
			r.use(ref)
			return
		}
		o.Drop(keyword)
		r.expand(o, at, ref, target, found)
	}
}

// use records that a definition is needed.
func (r *references) use(ref string) {
	if decoded, err := url.PathUnescape(ref); err == nil {
		ref = decoded
	}
	r.used[strings.ReplaceAll(strings.ReplaceAll(ref, "~1", "/"), "~0", "~")] = true
}

// refOf returns the keyword and value of a ref. In a single document, dynamic and recursive refs have the same targets
// as $ref.
func refOf(o *object) (keyword, ref string, ok bool) {
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if o.Has(keyword) {
			return keyword, o.Get(keyword).Text(), true
		}
	}
	return "", "", false
}

// keepsRef reports whether a ref may be kept. Only refs to definitions are, because the conversion may change other
// places and some providers reject other refs.
func (r *references) keepsRef(ref string, at place) bool {
	if !at.profile.refs || at.root || at.inline {
		return false
	}
	for _, prefix := range []string{"#/$defs/", "#/definitions/"} {
		if name, ok := strings.CutPrefix(ref, prefix); ok {
			return !strings.Contains(name, "/")
		}
	}
	return ref == "#"
}

// needsMerging reports whether a ref that must be the only keyword has others that restrict more than the type.
func needsMerging(o *object, at place) bool {
	return at.profile.closed && slices.ContainsFunc(o.Members(), func(m member) bool {
		return isRestriction(m.Name) && !slices.Contains([]string{"$ref", "type", "nullable"}, m.Name)
	})
}

// expand merges the definition of a ref into its schema, within the limits on recursion and size.
func (r *references) expand(o *object, at *place, ref string, target *node, found bool) {
	if !found {
		r.recordLoss(*at, Lossy, "dropped", "$ref to "+words.Shorten(ref, words.MaxGiven))
		return
	}
	r.bytes += len(target.Bytes())
	switch {
	case opened(at.open, ref) >= maxOpen:
		r.cut(o, *at, target, "recursion")
		return
	case r.nodes > maxNodes || r.bytes > maxBytes:
		r.cut(o, *at, target, "refs, which grow too large")
		return
	}
	at.open = append(slices.Clip(at.open), ref)
	named, ok := parseObject(target)
	if !ok {
		if target.Is("false") {
			r.recordLoss(*at, Lossy, "changed", "the schema false to one that accepts any value")
		}
		return
	}
	r.tidier.tidy(named, *at)
	dropIdentity(named)
	r.recordLoss(*at, Info, "changed", "$ref to its definition")
	r.mergeReported(o, named, *at)
}

// dropIdentity removes keywords that must not be copied.
func dropIdentity(named *object) {
	for _, keyword := range []string{
		"$defs", "definitions", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema",
	} {
		if keyword != "id" || named.Get("id").IsString() {
			named.Drop(keyword)
		}
	}
}

func opened(open []string, ref string) int {
	count := 0
	for _, one := range open {
		if one == ref {
			count++
		}
	}
	return count
}

// cut ends an expansion and keeps only the type and description of the definition.
func (r *references) cut(o *object, at place, target *node, why string) {
	r.recordLoss(at, Lossy, "cut", why)
	if kinds := r.shape(target).Implied(); kinds != jsonschema.AnyKind && !o.Has("type") {
		o.Set("type", quoteTypes(kinds.Names()))
	}
	const most = 1000 // limits growth
	if text := target.Get("description").Text(); text != "" && len(text) <= most && !o.Has("description") {
		o.Set("description", target.Get("description"))
	}
}

// schemasIn returns the schemas under a keyword.
func schemasIn(m member) []*node {
	switch jsonschema.Held(m.Name, m.Node) {
	case jsonschema.HoldsSchema:
		return []*node{m.Node}
	case jsonschema.HoldsList:
		return m.Node.Elements()
	case jsonschema.HoldsNamed:
		var list []*node
		for _, inner := range m.Node.Members() {
			list = append(list, inner.Node)
		}
		return list
	}
	return nil
}
