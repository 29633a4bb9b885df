package fake

import (
	"context"
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
		answer, err := s.askClient(ctx, id, one)
		if err != nil {
			s.say("asked " + one.method + ": no answer")
			return false
		}
		s.say("asked " + one.method + ": " + answerText(answer))
	}
	return true
}

// askClient sends the client a request under an id of raw JSON, and returns its answer.
func (s *server) askClient(ctx context.Context, id string, request ask) (*message, error) {
	answered := make(chan *message, 1)
	s.mu.Lock()
	s.answers[id] = answered
	s.mu.Unlock()
	params := ""
	if request.params != "" {
		params = `,"params":` + request.params
	}
	s.write([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":` + quote(request.method) + params + "}\n"))
	select {
	case answer := <-answered:
		return answer, nil
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

// acceptAnswer passes a response of the client to the request that waits for it.
func (s *server) acceptAnswer(m *message, line []byte) {
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
