package convert

import (
	"cmp"
	"encoding/json"
	"errors"
)

// callShape recognizes and reads one form of calls.
type callShape struct {
	is   func(fields *node) bool
	read func(fields *node) (ToolCall, Format)
}

func ofType(name string) func(*node) bool {
	return func(fields *node) bool { return fields.Get("type").Text() == name }
}

func holds(member string) func(*node) bool {
	return func(fields *node) bool { return fields.Get(member).IsObject() }
}

// within returns a function that reads a call in a member.
func within(member string, read func(*node) (ToolCall, Format)) func(*node) (ToolCall, Format) {
	return func(fields *node) (ToolCall, Format) { return read(fields.Get(member)) }
}

// shapedAs returns a function that reads a call with the given members for id and arguments.
func shapedAs(format Format, id, arguments string) func(*node) (ToolCall, Format) {
	return func(fields *node) (ToolCall, Format) {
		return newCall(fields.Get(id).Text(), fields.Get("name").Text(), fields.Value(arguments)), format
	}
}

// unreadableCall returns a failed call for an entry that is not a call in any format, because the model expects a
// result.
func unreadableCall(fields *node) ToolCall {
	name := cmp.Or(fields.Get("function").Get("name").Text(), fields.Get("name").Text())
	return failedCall(fields.Get("id").Text(), name,
		errors.New("the tool call has no function with a name and arguments"))
}

// failedCall returns a call that cannot be made.
func failedCall(id, name string, err error) ToolCall {
	return ToolCall{ID: id, Name: name, Arguments: json.RawMessage("{}"), Err: err}
}
