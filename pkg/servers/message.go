package servers

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// message is one JSON-RPC message; its parts are slices of raw.
type message struct {
	raw     json.RawMessage
	version json.RawMessage // "jsonrpc"
	id      json.RawMessage // nil where absent
	method  string
	params  json.RawMessage
	result  json.RawMessage
	err     json.RawMessage
}

// messageKind is what a message is by its members.
type messageKind int

const (
	notMessage messageKind = iota
	kindRequest
	kindNotification
	kindReply
)

// parseMessage reads a JSON object's JSON-RPC members without copying its values:
// a reply can be tens of megabytes. ok is false where raw is not a JSON object.
func parseMessage(raw []byte) (m message, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) {
		return message{}, false
	}
	m.raw = raw
	members(raw, func(key string, value json.RawMessage) {
		switch key {
		case "jsonrpc":
			m.version = value
		case "id":
			m.id = value
		case "method":
			// A method that is not a string leaves the message without one.
			_ = json.Unmarshal(value, &m.method)
		case "params":
			m.params = value
		case "result":
			m.result = value
		case "error":
			m.err = value
		}
	})
	return m, true
}

// kind tells what the message is. Whether "jsonrpc" is right is another question.
func (m message) kind() messageKind {
	switch {
	case m.method != "" && m.id != nil:
		return kindRequest
	case m.method != "":
		return kindNotification
	case m.id != nil && (m.result != nil || m.err != nil || m.versioned()):
		return kindReply // with neither result nor error it still answers its request
	case m.versioned() && (m.result != nil || m.err != nil):
		return kindReply // without an id, where JSON-RPC asks for null at least
	}
	return notMessage
}

// versioned says whether the message carries "jsonrpc": "2.0".
func (m message) versioned() bool { return string(m.version) == `"2.0"` }

// members calls yield for each member of a JSON object that is known to be valid,
// with the value as a slice of object.
func members(object []byte, yield func(key string, value json.RawMessage)) {
	i := skipSpace(object, 1)
	for i < len(object) && object[i] == '"' {
		keyEnd := skipValue(object, i)
		var key string
		// The object is valid, so its keys are.
		_ = json.Unmarshal(object[i:keyEnd], &key)
		valueStart := skipSpace(object, skipSpace(object, keyEnd)+1)
		valueEnd := skipValue(object, valueStart)
		yield(key, object[valueStart:valueEnd:valueEnd])
		i = skipSpace(object, valueEnd)
		if i < len(object) && object[i] == ',' {
			i = skipSpace(object, i+1)
		}
	}
}

// elements calls yield for each element of a JSON array that is known to be valid.
func elements(array []byte, yield func(json.RawMessage)) {
	i := skipSpace(array, 1)
	for i < len(array) && array[i] != ']' {
		end := skipValue(array, i)
		yield(array[i:end:end])
		i = skipSpace(array, end)
		if i < len(array) && array[i] == ',' {
			i = skipSpace(array, i+1)
		}
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skipValue returns the index behind the value that begins at i in valid JSON.
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // the end of the container around a scalar
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// skipString returns the index behind the string that begins at i.
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return i
}

// requestID reads a reply's id as the number that toolx sent. exact is false
// where it came back as another JSON type ("1", 1.0); ok is false where it is no
// such number at all.
func requestID(raw json.RawMessage) (id int64, exact, ok bool) {
	if id, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return id, true, true
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		id, err := strconv.ParseInt(text, 10, 64)
		return id, false, err == nil
	}
	var number float64
	if json.Unmarshal(raw, &number) == nil && number == float64(int64(number)) {
		return int64(number), false, true
	}
	return 0, false, false
}
