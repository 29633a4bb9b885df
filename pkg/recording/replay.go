package recording

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"toolx/pkg/rawjson"
	"toolx/pkg/servers/wire"
)

// Replay answers requests as the server of a recording did. It is not safe for concurrent use.
type Replay struct {
	pairs    Pairs
	answered map[string][]*replayed // by method, in order
	waiting  map[*Request]*replayed
	// Servers are the names of the servers in the recording.
	Servers []string
}

// replayed is a recorded request with its response, and the notifications that the server sent before that.
type replayed struct {
	request *Request
	params  string // without _meta, in one form
	notices [][]byte
	used    bool
}

// Take adds an event of the recording.
func (r *Replay) Take(event wire.Event) {
	if r.waiting == nil {
		r.waiting, r.answered = make(map[*Request]*replayed), make(map[string][]*replayed)
	}
	if !slices.Contains(r.Servers, event.From()) && event.From() != "" {
		r.Servers = append(r.Servers, event.From())
	}
	if _, isStart := event.(wire.ProcessStarted); isStart {
		clear(r.waiting)
	}
	request, answers := r.pairs.Take(event)
	switch {
	case request == nil:
	case answers && !request.FromServer:
		one := r.waiting[request]
		delete(r.waiting, request)
		r.answered[request.Method] = append(r.answered[request.Method], one)
	case !answers && !request.FromServer && request.ID != nil:
		r.waiting[request] = &replayed{request: request, params: paramsOf(request.Message)}
	case request.FromServer && request.ID == nil:
		for _, one := range r.waiting {
			one.notices = append(one.notices, request.Message)
		}
	}
}

// Answer returns what the recorded server sent in response to a message: notifications, then the response with the id
// of the message; nothing for a notification. Requests match by method and parameters without "_meta"; an initialize
// request matches any other, since each client names itself. Equal requests get their responses in order, and the last
// one again and again. missed says which request the recording does not have, and which of it is closest.
func (r *Replay) Answer(message []byte) (answers [][]byte, missed string) {
	m, ok := wire.Parse(message)
	if !ok {
		return [][]byte{failure([]byte("null"), -32700, "not a JSON-RPC message")}, ""
	}
	if m.Method == "" || m.ID == nil {
		return nil, ""
	}
	params := paramsOf(message)
	if one := r.find(m.Method, params); one != nil {
		one.used = true
		for _, notice := range one.notices {
			if notice = withToken(notice, message); notice != nil {
				answers = append(answers, notice)
			}
		}
		return append(answers, replaced(one.request.Response, "id", m.ID)), ""
	}
	if m.Method == "ping" { // clients send it whenever they like
		return [][]byte{rawjson.Build("jsonrpc", "2.0", "id", m.ID, "result", rawjson.Build())}, ""
	}
	missed = "the recording has no " + m.Method + " with " + params
	if near := r.nearest(m.Method, params); near != nil {
		missed += "; the closest has " + near.params
	}
	return [][]byte{failure(m.ID, -32602, missed)}, missed
}

// find returns the first unused recorded request that matches, or the last one that does.
func (r *Replay) find(method, params string) (found *replayed) {
	for _, one := range r.answered[method] {
		if method == "initialize" || one.params == params {
			if found = one; !one.used {
				return one
			}
		}
	}
	return found
}

// nearest returns the recorded request of a method that has the most members with the same value; nil if there is none.
func (r *Replay) nearest(method, params string) (nearest *replayed) {
	best := -1
	wanted := leaves("", []byte(params), nil)
	for _, one := range r.answered[method] {
		same := 0
		for _, leaf := range leaves("", []byte(one.params), nil) {
			if slices.Contains(wanted, leaf) {
				same++
			}
		}
		if same > best {
			nearest, best = one, same
		}
	}
	return nearest
}

// leaves appends the values in JSON that are no objects, with their paths.
func leaves(path string, value []byte, found []string) []string {
	if !rawjson.IsObject(value) {
		return append(found, path+"="+string(value))
	}
	for member := range rawjson.Each(value) {
		found = leaves(path+"."+member.Name, member.Value, found)
	}
	return found
}

// paramsOf returns a request's parameters without "_meta", sorted and compact.
func paramsOf(message []byte) string {
	var kept []rawjson.Member
	for member := range rawjson.Each(rawjson.Get(message, "params")) {
		if member.Name != "_meta" {
			kept = append(kept, member)
		}
	}
	value, err := rawjson.Decode(rawjson.Object(kept))
	if err != nil {
		return string(rawjson.Object(kept))
	}
	sorted, err := rawjson.Marshal(value) // sorts the members of objects
	if err != nil {
		return string(rawjson.Object(kept))
	}
	return strings.TrimSpace(string(sorted))
}

// withToken returns a notification for the request that a message is: progress gets the token of the request. It
// returns nil for progress that the request does not ask for.
func withToken(notice, message []byte) []byte {
	params := rawjson.Get(notice, "params")
	if rawjson.Get(params, "progressToken") == nil {
		return notice
	}
	token := rawjson.Get(rawjson.Get(rawjson.Get(message, "params"), "_meta"), "progressToken")
	if token == nil {
		return nil
	}
	return replaced(notice, "params", replaced(params, "progressToken", token))
}

// replaced returns an object with another value of a member.
func replaced(object []byte, name string, value []byte) []byte {
	var members []rawjson.Member
	for member := range rawjson.Each(object) {
		if member.Name == name {
			member = rawjson.NewMember(name, value)
		}
		members = append(members, member)
	}
	return rawjson.Object(members)
}

// failure returns an error response.
func failure(id []byte, code int, text string) []byte {
	fault := rawjson.Build("code", code, "message", text)
	return rawjson.Build("jsonrpc", "2.0", "id", rawjson.Compact(id), "error", fault)
}

// Serve answers the messages of in, one a line, on out, until in ends. warn reports what the recording does not have.
func (r *Replay) Serve(in io.Reader, out io.Writer, warn func(text string)) error {
	lines := bufio.NewReader(in)
	for {
		line, tooLong, err := readLine(lines)
		if len(bytes.TrimSpace(line)) > 0 || tooLong {
			answers, missed := r.Answer(line)
			if missed != "" {
				warn(missed)
			}
			for _, answer := range answers {
				if _, err := fmt.Fprintf(out, "%s\n", answer); err != nil {
					return err
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
