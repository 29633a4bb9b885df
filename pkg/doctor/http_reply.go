package doctor

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// HTTPReply is the answer of one raw exchange.
type HTTPReply struct {
	Verb   string
	URL    *url.URL
	Status int
	Header http.Header
	// Body is its beginning, of a stream too; empty of a GET's stream that is silent.
	Body []byte
	// Events are those of a stream, up to the one with the reply.
	Events []HTTPEvent
	// Ended says that the body came to its end, rather than the doctor's waiting.
	Ended bool
	// Over says that the body is larger than maxRawBody, Unpacked that it came as gzip.
	Over, Unpacked bool
	// Took is the time until its head was there. Held says that it came only when the
	// session was ended, though it had been asked for long before.
	Took time.Duration
	Held bool
	TLS  *tls.ConnectionState // nil of plain HTTP

	sent rawQuestion
}

// rawQuestion is what an answer is the answer to.
type rawQuestion struct {
	headers map[string]string
	body    []byte
}

// HTTPEvent is one event of a stream, as its lines say.
type HTTPEvent struct {
	Name string // empty where no line gives one
	Data [][]byte
	Open bool // the stream ended without the empty line that ends an event
}

// maxRawBody is how many bytes of an answer are read: a raw question's is small, but
// for a list of tools.
const maxRawBody = 4 << 20

// exchange makes one exchange and reads the answer as far as it matters.
func (p *httpProber) exchange(ctx context.Context, verb string, body []byte, headers map[string]string) (*HTTPReply, error) {
	request, err := http.NewRequestWithContext(ctx, verb, p.address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, content := range headers {
		switch {
		case name == "Host":
			request.Host = content
		case content != "":
			request.Header.Set(name, content)
		}
	}
	began := time.Now()
	response, err := p.raw.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	reply := &HTTPReply{
		Verb: verb, URL: p.address, Status: response.StatusCode, Header: response.Header, Took: time.Since(began), TLS: response.TLS,
		Unpacked: response.Uncompressed, sent: rawQuestion{headers: headers, body: body},
	}
	switch {
	case reply.mediaType() != "text/event-stream" || reply.Status >= 300:
		var failed error
		reply.Body, failed = io.ReadAll(io.LimitReader(response.Body, maxRawBody))
		reply.ended(failed == nil)
	case verb != http.MethodGet:
		reply.readEvents(response.Body, hasReply)
	case headers[sessionHeader] == "" && headers[versionHeader] == "":
		reply.readEvents(response.Body, func(HTTPEvent) bool { return true })
	case !time.Now().Before(p.late):
		reply.readEvents(response.Body, func(HTTPEvent) bool { return false }) // to see whether it ends
	}
	return reply, nil
}

// readEvents reads a stream up to the event that is waited for.
func (r *HTTPReply) readEvents(body io.Reader, awaited func(HTTPEvent) bool) {
	in := bufio.NewReader(io.LimitReader(body, maxRawBody))
	event := HTTPEvent{}
	for {
		line, err := in.ReadBytes('\n')
		r.Body = append(r.Body, line...)
		text := bytes.TrimRight(line, "\r\n")
		if len(text) > 0 {
			event.take(text)
			if err == nil {
				continue
			}
		}
		some := event.Name != "" || event.Data != nil // an empty line behind a comment ends no event
		if some {
			event.Open = err != nil
			r.Events = append(r.Events, event)
		}
		if err != nil {
			r.ended(errors.Is(err, io.EOF))
			return
		}
		if some && awaited(event) {
			return
		}
		event = HTTPEvent{}
	}
}

// ended notes that nothing more was read, and whether the body came to its own end.
func (r *HTTPReply) ended(whole bool) {
	r.Over = len(r.Body) == maxRawBody
	r.Ended = whole && !r.Over
}

// take takes a line of a stream into the event.
func (e *HTTPEvent) take(line []byte) {
	field, content, _ := bytes.Cut(line, []byte(":"))
	content = bytes.TrimPrefix(content, []byte(" "))
	switch string(field) {
	case "event":
		e.Name = string(content)
	case "data":
		e.Data = append(e.Data, content)
	}
}

// data is the whole data of an event.
func (e HTTPEvent) data() []byte { return bytes.Join(e.Data, []byte("\n")) }

// hasReply says whether an event carries the reply to a raw request.
func hasReply(event HTTPEvent) bool {
	head := readHead(event.data())
	return plainID(head.id) == strconv.Itoa(rawID) && head.method == ""
}

// mediaType is what the answer says that it is, without parameters.
func (r *HTTPReply) mediaType() string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return strings.TrimSpace(r.Header.Get("Content-Type"))
	}
	return kind
}

// message is the JSON-RPC message that the answer carries as its reply, nil where none.
func (r *HTTPReply) message() json.RawMessage {
	if r == nil {
		return nil
	}
	for _, event := range r.Events {
		if hasReply(event) {
			return event.data()
		}
	}
	if r.Events == nil && json.Valid(r.Body) && isObject(r.Body) {
		return r.Body
	}
	return nil
}

// result is the result of the reply, nil where there is none.
func (r *HTTPReply) result() json.RawMessage {
	if r == nil || r.Status != http.StatusOK {
		return nil
	}
	return readHead(r.message()).result
}

// asked is what it is the answer to: the method of MCP, or the verb where nothing was
// posted.
func (r *HTTPReply) asked() string { return cmp.Or(readHead(r.sent.body).method, r.Verb) }

// words are the answer in a few words: its status, and what it begins with, most bytes of
// its body.
func (r *HTTPReply) words(most int) string {
	text := r.status()
	if body := strings.Join(strings.Fields(string(r.Body[:min(len(r.Body), most)])), " "); body != "" {
		text += ": " + body
	}
	return text
}

// status is the answer's status in words.
func (r *HTTPReply) status() string {
	return "HTTP " + strings.TrimSpace(strconv.Itoa(r.Status)+" "+http.StatusText(r.Status))
}

// maxQuoted is how many bytes of a body are quoted.
const maxQuoted = 200
