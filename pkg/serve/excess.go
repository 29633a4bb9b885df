package serve

import (
	"encoding/json"
	"fmt"
	"strconv"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Limits for data that the SDK copies several times, apart from a call's arguments.
const (
	maxPart   = 128 << 10 // bytes of an id or a method, or of parameters without the arguments of a call
	maxValues = 200_000   // values in a message: in memory, each takes a hundred bytes and more
)

// excessOf returns which part of a message exceeds a limit; excess is empty for a normal message. It reads the message
// without copying it. id is nil if it is too long itself.
func excessOf(message []byte) (id json.RawMessage, excess string) {
	if !fewValues(message) {
		excess = fmt.Sprintf("the message has more than %d values", maxValues)
	}
	for m := range rawjson.Each(message) {
		size := len(m.Value)
		switch {
		case m.Name == "result" || m.Name == "error": // of a response, which the SDK drops
			continue
		case m.Name == "params":
			size -= argumentsSize(m.Value)
		case m.Name == "id" && size <= maxPart:
			id = m.Value
		}
		if size > maxPart {
			name := strconv.Quote(words.Clip(m.Name, maxErrorText))
			excess = name + " has more than " + exec.Bytes(maxPart)
		}
	}
	return id, excess
}

// argumentsSize returns how many bytes of a request's parameters are the arguments of a call.
func argumentsSize(params []byte) (size int) {
	for m := range rawjson.Each(params) {
		if m.Name == "arguments" {
			size += len(m.Value)
		}
	}
	return size
}

// fewValues reports whether a message has at most maxValues values.
func fewValues(message []byte) bool {
	values := 0
	for at := 0; at < len(message) && values <= maxValues; at++ {
		switch message[at] {
		case '"':
			at = rawjson.StringEnd(message, at) - 1
		case '{', '[', ',':
			values++
		}
	}
	return values <= maxValues
}
