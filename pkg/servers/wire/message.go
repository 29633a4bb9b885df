// Package wire is what toolx and a server send each other, over any transport: frames, the classified lines of a
// stdout, message heads and events. It starts no process and opens no connection.
package wire

import (
	"bytes"
	"encoding/json"
	"strconv"

	"toolx/pkg/rawjson"
)

// Message is one JSON-RPC message; its parts are slices of Raw.
type Message struct {
	Raw     json.RawMessage
	Version json.RawMessage // "jsonrpc"
	ID      json.RawMessage // nil where absent
	Method  string
	Params  json.RawMessage
	Result  json.RawMessage
	Err     json.RawMessage
	// NullError reports that there was an "error": null beside the result. It counts as no error: libraries that write
	// every member of a reply send it.
	NullError bool
	// Foreign reports that there are members that JSON-RPC does not define.
	Foreign bool
	id      [2]int // where ID begins and ends in Raw
	// Quoted reports that the message shares its line with text. The text may be a log that quotes any text,
	// so such a message is trusted less.
	Quoted bool
}

// Kind is what a message is by its members.
type Kind int

// The kinds of messages.
const (
	KindNone Kind = iota // no message
	KindRequest
	KindNotification
	KindReply
)

// Parse reads a JSON object's JSON-RPC members without copying its values:
// a reply can be tens of megabytes. ok is false where raw is not a JSON object.
func Parse(raw []byte) (m Message, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) {
		return Message{}, false
	}
	return Read(raw), true
}

// Read reads the members of an object that is known to be JSON.
func Read(raw []byte) (m Message) {
	m.Raw = raw
	for at, member := range rawjson.EachAt(raw) {
		switch member.Name {
		case "jsonrpc":
			m.Version = member.Value
		case "id":
			m.ID, m.id = member.Value, [2]int{at.Value, at.Value + len(member.Value)}
		case "method":
			if rawjson.IsString(member.Value) { // else the message has none
				m.Method = rawjson.Unquote(member.Value)
			}
		case "params":
			m.Params = member.Value
		case "result":
			m.Result = member.Value
		case "error":
			m.Err = member.Value
		default:
			m.Foreign = true
		}
	}
	if m.Result != nil && string(m.Err) == "null" {
		m.Err, m.NullError = nil, true
	}
	return m
}

// Kind returns what the message is. Whether "jsonrpc" is right is another question; but an object that lacks it and has
// further members is a log of requests over HTTP ({"id":"","method":"GET","status":200,"error":""}), unless it has a
// result or an error of JSON-RPC.
func (m Message) Kind() Kind {
	if m.Version == nil && m.Foreign && m.Result == nil && !bytes.HasPrefix(m.Err, []byte("{")) {
		return KindNone
	}
	switch {
	case m.Method != "" && m.ID != nil:
		return KindRequest
	case m.Method != "":
		return KindNotification
	case m.ID != nil && (m.Result != nil || m.Err != nil || m.Versioned()):
		return KindReply // with neither result nor error it still answers its request
	case m.Versioned() && (m.Result != nil || m.Err != nil):
		return KindReply // without an id, where JSON-RPC asks for null at least
	}
	return KindNone
}

// AroundID returns what to write before and after another id, which takes the place of the message's own. It copies
// nothing, unless the message has no id.
func (m Message) AroundID() (before, after []byte) {
	if m.id[1] == 0 {
		return []byte(`{"id":`), append([]byte(","), m.Raw[1:]...)
	}
	return m.Raw[:m.id[0]], m.Raw[m.id[1]:]
}

// Versioned reports whether the message carries "jsonrpc": "2.0".
func (m Message) Versioned() bool { return string(m.Version) == `"2.0"` }

// RequestID reads a reply's id as the number that toolx sent. exact is false where it came back as another JSON type
// ("1", 1.0); ok is false where it is no such number at all.
func RequestID(raw json.RawMessage) (id int64, exact, ok bool) {
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
