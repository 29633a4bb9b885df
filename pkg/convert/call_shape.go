package convert

import (
	"cmp"
	"encoding/json"
	"errors"
)

// callShape is one way in which providers write a call.
type callShape struct {
	is   func(fields members) bool
	read func(fields members) (ToolCall, Format)
}

func ofType(name string) func(members) bool {
	return func(fields members) bool { return fields.text("type") == name }
}

func holds(member string) func(members) bool {
	return func(fields members) bool { return fields.isObject(member) }
}

// within reads a call that stands in a member.
func within(member string, read func(members) (ToolCall, Format)) func(members) (ToolCall, Format) {
	return func(fields members) (ToolCall, Format) {
		call, _ := fields.object(member)
		return read(call)
	}
}

// shapedAs reads a call with a name member, and its id and arguments in the given members.
func shapedAs(format Format, id, arguments string) func(members) (ToolCall, Format) {
	return func(fields members) (ToolCall, Format) {
		return newCall(fields.text(id), fields.text("name"), fields.get(arguments)), format
	}
}

// unreadableCall stands for an entry among the calls of a model's message that is a call in no format: the model waits
// for its result all the same.
func unreadableCall(fields members) ToolCall {
	function, _ := fields.object("function")
	return failedCall(fields.text("id"), cmp.Or(function.text("name"), fields.text("name")),
		errors.New("the tool call has no function with a name and arguments"))
}

// failedCall returns a call that cannot be made.
func failedCall(id, name string, err error) ToolCall {
	return ToolCall{ID: id, Name: name, Arguments: json.RawMessage("{}"), Err: err}
}
