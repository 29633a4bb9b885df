// Package fake plays recorded answers of model providers over HTTP, for tests without a model or network. An answer is
// bytes, of any provider.
//
// An answer is text. Without more it is a body, sent with 200 and the type of stream that it looks like. It may begin
// with a status and headers, as HTTP has them, and end with a line that says what becomes of the connection:
//
//	HTTP/1.1 429 Too Many Requests
//	Retry-After: 2
//
//	{"error": "busy"}
//	!cut     the connection breaks
//	!hang    nothing more comes until the client goes away
package fake

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Request is a request that was made.
type Request struct {
	Path   string          `json:"path"`
	Query  string          `json:"query,omitempty"`
	Header http.Header     `json:"header"`
	Body   json.RawMessage `json:"body"`
}

// Player responds to each request with the next answer, and with 418 when none is left. It is safe for concurrent use.
type Player struct {
	// Answers are not changed after the first request.
	Answers []string
	// Asked, if not nil, receives each request before the response.
	Asked func(Request)
	// Hanging, if not nil, is called when an answer hangs: everything before was sent.
	Hanging func()

	mu   sync.Mutex
	next int
}

// ServeHTTP implements http.Handler.
func (p *Player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	answer, ok := p.answer(Request{Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header, Body: body})
	if !ok {
		http.Error(w, "there is no answer left", http.StatusTeapot)
		return
	}
	p.play(w, r, answer)
}

func (p *Player) answer(request Request) (answer string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Asked != nil {
		p.Asked(request)
	}
	if p.next == len(p.Answers) {
		return "", false
	}
	p.next++
	return p.Answers[p.next-1], true
}

// play sends an answer.
func (p *Player) play(w http.ResponseWriter, r *http.Request, answer string) {
	answer, cut := strings.CutSuffix(strings.TrimRight(answer, "\n"), "!cut")
	answer, hang := strings.CutSuffix(answer, "!hang")
	if !cut { // which may be in the middle of a line
		answer = strings.TrimRight(answer, "\n") + "\n\n"
	}
	status, body := http.StatusOK, answer
	if strings.HasPrefix(answer, "HTTP/") {
		response, err := http.ReadResponse(bufio.NewReader(strings.NewReader(answer)), r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusTeapot)
			return
		}
		defer func() { _ = response.Body.Close() }()
		rest, _ := io.ReadAll(response.Body)
		status, body = response.StatusCode, string(rest)
		for name, values := range response.Header {
			w.Header()[name] = values
		}
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", kindOf(body))
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
	_ = http.NewResponseController(w).Flush()
	switch {
	case cut:
		panic(http.ErrAbortHandler)
	case hang:
		if p.Hanging != nil {
			p.Hanging()
		}
		<-r.Context().Done()
	}
}

// kindOf returns the media type of a stream that looks like the body.
func kindOf(body string) string {
	if strings.HasPrefix(body, "{") {
		return "application/x-ndjson"
	}
	return "text/event-stream; charset=utf-8"
}
