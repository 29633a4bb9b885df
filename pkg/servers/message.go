package servers

import (
	"bytes"
	"encoding/json"
	"strconv"

	"toolx/pkg/rawjson"
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
	// nullError reports that there was an "error": null beside the result. It counts as no error: libraries that write
	// every member of a reply send it.
	nullError bool
	// foreign reports that there are members that JSON-RPC does not define.
	foreign bool
	// quoted reports that the message shares its line with text. The text may be a log that quotes what anybody wrote,
	// so such a message is trusted less.
	quoted bool
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
	return membersOf(raw), true
}

// membersOf reads the members of an object that is known to be JSON.
func membersOf(raw []byte) (m message) {
	m.raw = raw
	for member := range rawjson.Each(raw) {
		switch member.Name {
		case "jsonrpc":
			m.version = member.Value
		case "id":
			m.id = member.Value
		case "method":
			// A method that is not a string leaves the message without one.
			_ = json.Unmarshal(member.Value, &m.method)
		case "params":
			m.params = member.Value
		case "result":
			m.result = member.Value
		case "error":
			m.err = member.Value
		default:
			m.foreign = true
		}
	}
	if m.result != nil && string(m.err) == "null" {
		m.err, m.nullError = nil, true
	}
	return m
}

// kind returns what the message is. Whether "jsonrpc" is right is another question; but an object that lacks it and has
// further members is a log of requests over HTTP ({"id":"","method":"GET","status":200,"error":""}), unless it has a
// result or an error of JSON-RPC.
func (m message) kind() messageKind {
	if m.version == nil && m.foreign && m.result == nil && !bytes.HasPrefix(m.err, []byte("{")) {
		return notMessage
	}
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

// versioned reports whether the message carries "jsonrpc": "2.0".
func (m message) versioned() bool { return string(m.version) == `"2.0"` }

// requestID reads a reply's id as the number that toolx sent. exact is false where it came back as another JSON type
// ("1", 1.0); ok is false where it is no such number at all.
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
