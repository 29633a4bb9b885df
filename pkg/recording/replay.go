package recording

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"toolx/pkg/rawjson"
	"toolx/pkg/servers/wire"
)

// Replay answers messages of a client as the server of a recording did. It is not safe for concurrent use.
type Replay struct {
	pairs   Pairs
	clients map[wire.Head]*client
	same    map[string]*turns   // by method and parameters
	asked   map[string][]*turns // by method, in order
	held    map[string]held     // by the id of the server's request that the client has not answered yet
	// Servers are the names of the servers in the recording.
	Servers []string
	// Mask masks the secrets in a message as the recording has them: a request with a secret is found by the rest.
	Mask func(message []byte) []byte
}

// client has what the client of one process has asked so far.
type client struct {
	waiting map[*Request]*turn
	named   map[string]*turn // by the id and the progress token of the request
	last    *turn
}

// turn is a message of the client, with what the server sent then: the response, notifications, and own requests.
type turn struct {
	asked   *Request
	answers [][]byte
}

// turns are equal messages of the client, in order.
type turns struct {
	params string // without _meta, in one form
	list   []*turn
}

// held is what the server sent after an own request, once the client had answered that.
type held struct {
	answers [][]byte
	message wire.Message // of the client
}

// Take adds an event of the recording.
func (r *Replay) Take(event wire.Event) {
	if r.clients == nil {
		r.clients = make(map[wire.Head]*client)
		r.same, r.asked, r.held = make(map[string]*turns), make(map[string][]*turns), make(map[string]held)
	}
	if !slices.Contains(r.Servers, event.From()) && event.From() != "" {
		r.Servers = append(r.Servers, event.From())
	}
	c := r.clients[event.Source()]
	if _, isStart := event.(wire.ProcessStarted); isStart || c == nil {
		c = &client{waiting: make(map[*Request]*turn), named: make(map[string]*turn)}
		r.clients[event.Source()] = c
	}
	request, answers := r.pairs.Take(event)
	switch {
	case request == nil, answers && request.FromServer:
	case answers:
		r.add(c.waiting[request], request.Response)
		delete(c.waiting, request)
	case request.FromServer:
		token, subscription := namesIn(request.Message)
		r.add(cmp.Or(c.named["token "+string(token)], c.named["id "+string(subscription)], c.last), request.Message)
	default:
		c.last = &turn{asked: request}
		if request.ID != nil {
			c.waiting[request] = c.last
			c.named["id "+string(request.ID)] = c.last
			if token, _ := namesIn(request.Message); token != nil {
				c.named["token "+string(token)] = c.last
			}
		}
	}
}

// add adds a message of the server to the turn that it belongs to, nil if there is none.
func (r *Replay) add(one *turn, message []byte) {
	if one == nil {
		return
	}
	if one.answers == nil {
		method, params := one.asked.Method, paramsOf(one.asked.Method, r.Mask(one.asked.Message))
		equal := r.same[method+params]
		if equal == nil {
			equal = &turns{params: params}
			r.same[method+params] = equal
			r.asked[method] = append(r.asked[method], equal)
		}
		equal.list = append(equal.list, one)
	}
	one.answers = append(one.answers, message)
}

// Answer returns what the recorded server sent after a message: notifications, requests, and the response with the id
// of the message. After a request, it sends the rest once the client has answered. Messages match by method and
// parameters without "_meta"; an initialize request matches any other, since each client names itself. Equal messages
// get their answers in order, and the last one again and again. missed says which request the recording does not have,
// and which of it is closest.
func (r *Replay) Answer(message []byte) (answers [][]byte, missed string) {
	m, ok := wire.Parse(message)
	switch {
	case !ok:
		return [][]byte{failure([]byte("null"), -32700, "not a JSON-RPC message")}, ""
	case m.Method == "":
		rest := r.held[m.AnswerID()]
		delete(r.held, m.AnswerID())
		return r.play(rest), ""
	}
	params := paramsOf(m.Method, r.Mask(message))
	if equal := r.same[m.Method+params]; equal != nil {
		one := equal.list[0]
		if len(equal.list) > 1 {
			equal.list = equal.list[1:]
		}
		return r.play(held{one.answers, m}), ""
	}
	switch {
	case m.ID == nil:
		return nil, ""
	case m.Method == "ping": // clients send it whenever they like
		return [][]byte{rawjson.Build("jsonrpc", "2.0", "id", m.ID, "result", rawjson.Build())}, ""
	}
	missed = strings.TrimSuffix("the recording has no "+m.Method+" with "+params, " with ")
	if near := r.nearest(m.Method, params); near != "" {
		missed += "; the closest has " + near
	}
	return [][]byte{failure(m.ID, -32602, missed)}, missed
}

// play returns the recorded messages up to a request, and holds the others until it is answered.
func (r *Replay) play(rest held) (played [][]byte) {
	for at, answer := range rest.answers {
		switch m := wire.Read(answer); {
		case m.Method == "":
			answer = rawjson.With(answer, "id", rest.message.ID)
		case m.ID == nil:
			if answer = readdressed(answer, rest.message); answer == nil {
				continue
			}
		default:
			r.held[m.AnswerID()] = held{rest.answers[at+1:], rest.message}
			return append(played, answer)
		}
		played = append(played, answer)
	}
	return played
}

// nearest returns the recorded parameters of a method that have the most members with the same value; "" if it was not
// requested.
func (r *Replay) nearest(method, params string) (nearest string) {
	best := -1
	wanted := leaves("", []byte(params), nil)
	for _, one := range r.asked[method] {
		same := 0
		for _, leaf := range leaves("", []byte(one.params), nil) {
			if slices.Contains(wanted, leaf) {
				same++
			}
		}
		if same > best {
			nearest, best = one.params, same
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

// paramsOf returns the parameters of a message by which it is found: without "_meta", sorted and compact.
func paramsOf(method string, message []byte) string {
	if method == "initialize" {
		return ""
	}
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

const subscriptionID = "io.modelcontextprotocol/subscriptionId"

// namesIn returns by what a message names a request, nil if it does not: the progress token of the request, which has
// it in "_meta", or its id.
func namesIn(message []byte) (token, subscription json.RawMessage) {
	params := rawjson.Get(message, "params")
	meta := rawjson.Get(params, "_meta")
	if token = rawjson.Get(params, "progressToken"); token == nil {
		token = rawjson.Get(meta, "progressToken")
	}
	return token, rawjson.Get(meta, subscriptionID)
}

// readdressed returns a notification for the request that a message is: with its progress token and id. It returns nil
// for progress that the request does not ask for.
func readdressed(notice []byte, message wire.Message) []byte {
	token, subscription := namesIn(notice)
	params := rawjson.Get(notice, "params")
	switch {
	case token != nil:
		if token, _ = namesIn(message.Raw); token == nil {
			return nil
		}
		params = rawjson.With(params, "progressToken", token)
	case subscription != nil && message.ID != nil:
		params = rawjson.With(params, "_meta", rawjson.With(rawjson.Get(params, "_meta"), subscriptionID, message.ID))
	default:
		return notice
	}
	return rawjson.With(notice, "params", params)
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
