package convert

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// arrays fits tuples and missing items to the target.
func (f *fitter) arrays(o *object, at place) {
	p := at.profile
	if p.tuples != keepTuples {
		f.prefixItems(o, at)
	}
	if p.tuples == listTuples {
		f.tupleToList(o, at)
	}
	if !p.itemsNeeded || o.has("items") && !isTrue(o.value("items")) {
		return
	}
	if slices.Contains(typesOf(o), "array") {
		o.set("items", json.RawMessage("{}"))
		f.tell(at, Info, "changed", "missing items to items of any kind")
	}
}

// prefixItems says the tuples of older drafts, an array under items, as 2020-12 does.
func (f *fitter) prefixItems(o *object, at place) {
	if literal(o.value("items")) != "array" {
		return
	}
	rest := o.drop("additionalItems")
	if len(o.list("items")) == 0 || o.has("prefixItems") {
		o.drop("items")
	} else {
		o.rename("items", "prefixItems")
	}
	if rest != nil {
		o.set("items", rest)
	}
	f.tell(at, Info, "changed", "array of items to prefixItems")
}

// tupleToList says a tuple as a list of what any of its places takes.
func (f *fitter) tupleToList(o *object, at place) {
	tuple := distinct(o.list("prefixItems"))
	if isFalse(o.value("items")) {
		o.drop("items")
		if length := len(o.list("prefixItems")); !o.has("maxItems") {
			o.set("maxItems", json.RawMessage(strconv.Itoa(length)))
		}
	}
	if len(tuple) == 0 {
		return
	}
	var names []string
	for _, text := range o.list("prefixItems") {
		names = append(names, nameOf(text))
	}
	f.moved(o, at, "prefixItems", "in this order: "+strings.Join(names, ", "), true)
	o.drop("prefixItems")
	if rest := o.value("items"); rest != nil && !isTrue(rest) && !containsJSON(tuple, rest) {
		tuple = append(tuple, rest)
	}
	o.set("items", combined("anyOf", tuple...))
}

// nameOf returns a schema's title, or its types.
func nameOf(text json.RawMessage) string {
	o, ok := parseObject(text)
	if !ok {
		return "any"
	}
	if title := o.text("title"); title != "" {
		return title
	}
	if types := typesOf(o); len(types) > 0 {
		return strings.Join(types, " or ")
	}
	if ref := o.text("$ref"); ref != "" {
		return ref[strings.LastIndexByte(ref, '/')+1:]
	}
	return "any"
}
