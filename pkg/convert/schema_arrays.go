package convert

import (
	"encoding/json"
	"strconv"
	"strings"

	"toolx/pkg/rawjson"
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
	if !p.itemsNeeded || o.has("items") && !isTrue(o.get("items")) {
		return
	}
	for _, kind := range typesOf(o) {
		if kind == "array" {
			o.set("items", json.RawMessage("{}"))
			f.tell(at, Info, "changed", "missing items to items of any kind")
		}
	}
}

// prefixItems says the tuples of older drafts, an array under items, as 2020-12 does.
func (f *fitter) prefixItems(o *object, at place) {
	if literal(o.get("items")) != "array" {
		return
	}
	rest := o.drop("additionalItems")
	if len(o.listOf("items")) == 0 || o.has("prefixItems") {
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
	tuple := distinct(o.listOf("prefixItems"))
	if isFalse(o.get("items")) {
		o.drop("items")
		if length := len(o.listOf("prefixItems")); !o.has("maxItems") {
			o.set("maxItems", json.RawMessage(strconv.Itoa(length)))
		}
	}
	if len(tuple) == 0 {
		return
	}
	f.moved(o, at, "prefixItems", "in this order: "+strings.Join(names(o.listOf("prefixItems")), ", "), true)
	o.drop("prefixItems")
	if rest := o.get("items"); rest != nil && !isTrue(rest) && !containsJSON(tuple, rest) {
		tuple = append(tuple, rest)
	}
	if len(tuple) == 1 {
		o.set("items", tuple[0])
		return
	}
	o.set("items", rawjson.Object([]rawjson.Member{rawjson.NewMember("anyOf", rawjson.Array(tuple))}))
}

// names calls each schema by its title or its type.
func names(list []json.RawMessage) []string {
	called := make([]string, len(list))
	for i, text := range list {
		called[i] = nameOf(text)
	}
	return called
}

func nameOf(text json.RawMessage) string {
	o, ok := parseObject(text)
	if !ok {
		return "any"
	}
	if title := o.stringOf("title"); title != "" {
		return title
	}
	if types := typesOf(o); len(types) > 0 {
		return strings.Join(types, " or ")
	}
	if ref := o.stringOf("$ref"); ref != "" {
		return ref[strings.LastIndexByte(ref, '/')+1:]
	}
	return "any"
}
