package listing

import (
	"encoding/json"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// Contract returns the members of a tool that models and users rely on, as one object for a baseline.
func Contract(definition json.RawMessage) json.RawMessage {
	members := evidence.Members(definition)
	var kept []rawjson.Member
	for _, name := range []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"} {
		if value, ok := members[name]; ok {
			kept = append(kept, rawjson.NewMember(name, value))
		}
	}
	return rawjson.Object(kept)
}

// Changes returns the differences between the promises of a tool. Pointers are relative to the tool.
func Changes(before, now json.RawMessage) []jsonschema.Difference {
	was, is := evidence.Members(before), evidence.Members(now)
	var all []jsonschema.Difference
	for _, name := range []string{"title", "description"} {
		all = append(all, edited("/"+name, name, was[name], is[name])...)
	}
	const input, output = "inputSchema", "outputSchema"
	compare := func(name string, use jsonschema.Use) {
		before, now := jsonschema.Parse(was[name]), jsonschema.Parse(is[name])
		all = append(all, jsonschema.Compare(before, now, "/"+name, use)...)
	}
	compare(input, jsonschema.Written)
	switch at := "/" + output; {
	case was[output] == nil && is[output] != nil:
		all = append(all, jsonschema.Difference{Pointer: at, Effect: jsonschema.Added, Text: output + " is new"})
	case was[output] != nil && is[output] == nil:
		all = append(all, jsonschema.Difference{Pointer: at, Effect: jsonschema.Breaking, Text: output + " is gone"})
	default:
		compare(output, jsonschema.Read)
	}
	hintsBefore, hintsNow := evidence.Members(was["annotations"]), evidence.Members(is["annotations"])
	for _, name := range []string{"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
		all = append(all, edited("/annotations/"+name, name, hintsBefore[name], hintsNow[name])...)
	}
	return all
}

// edited compares two values and returns their difference, if any.
func edited(pointer, name string, before, now json.RawMessage) []jsonschema.Difference {
	text := jsonschema.DescribeChange(before, now)
	if text == "" {
		return nil
	}
	return []jsonschema.Difference{{Pointer: pointer, Effect: jsonschema.Edited, Text: name + " " + text}}
}
