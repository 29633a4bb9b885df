package fake

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// ask is a request of the server to its client.
type ask struct{ method, params string }

// clientRequests are one of each kind that a legacy server may send, and one that no client knows.
func clientRequests() []ask {
	return []ask{
		{"ping", ""},
		{"roots/list", ""},
		{"sampling/createMessage", samplingParams},
		{methodElicit, `{"message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`},
		{"x-fake/unknown", `{}`},
	}
}

// askAll sends each request and waits for its answer before the next; what came is reported on stderr as "asked METHOD:
// ANSWER". It is false when the call was given up first.
func (s *server) askAll(ctx context.Context, m *message) bool {
	for i, one := range s.asks {
		id := fmt.Sprintf(`"fake-%d"`, i+1)
		if s.sameID {
			id = string(m.ID)
		}
		answered := make(chan *message, 1)
		s.mu.Lock()
		s.answers[id] = answered
		s.mu.Unlock()
		params := ""
		if one.params != "" {
			params = `,"params":` + one.params
		}
		s.write([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":` + quote(one.method) + params + "}\n"))
		select {
		case answer := <-answered:
			s.say("asked " + one.method + ": " + answerText(answer))
		case <-ctx.Done():
			s.say("asked " + one.method + ": no answer")
			return false
		}
	}
	return true
}

// askClient asks the client something in the middle of a request, and returns the result of its answer.
func (s *server) askClient(ctx context.Context, id, method, params string) (json.RawMessage, error) {
	answered := make(chan *message, 1)
	s.mu.Lock()
	s.answers[id] = answered
	s.mu.Unlock()
	s.write([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":` + quote(method) + `,"params":` + params + "}\n"))
	select {
	case answer := <-answered:
		return answer.Result, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// askUnanswered asks the user many times, and waits for no answer.
func (s *server) askUnanswered(count int, params string) {
	for i := range count {
		s.write([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":"flood-%d","method":%s,"params":%s}`, i+1, quote(methodElicit), params) + "\n"))
	}
}

func answerText(m *message) string {
	if len(m.Error) > 0 {
		return "error " + strings.TrimSpace(string(m.Error))
	}
	return "result " + strings.TrimSpace(string(m.Result))
}

// takeAnswer hands a response of the client to whoever asked.
func (s *server) takeAnswer(m *message, line []byte) {
	s.mu.Lock()
	answered := s.answers[string(m.ID)]
	delete(s.answers, string(m.ID))
	s.mu.Unlock()
	if answered == nil {
		s.say("unasked " + string(line))
		return
	}
	answered <- m
}
