package http

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// tap sends one request and reports the exchange. It stands below everything that may send a request of its own.
type tap struct {
	server string
	bus    *exec.Bus
	next   http.RoundTripper
}

func (w *tap) RoundTrip(request *http.Request) (*http.Response, error) {
	event := wire.HTTPExchange{
		Head: wire.Now(w.server), Verb: request.Method,
		URL: request.URL.Redacted(), Sent: request.Header.Clone(),
	}
	// What gets access tokens sends requests of its own on behalf of the posted one.
	out, ok := request.Context().Value(postedKey{}).(*posted)
	if ok && out.waiting != nil && request.ContentLength == int64(len(out.Bytes)) {
		event.Request = out.waiting.ID
	}
	traced := httptrace.WithClientTrace(request.Context(), &httptrace.ClientTrace{
		GotConn: func(got httptrace.GotConnInfo) { event.Reused = got.Reused },
	})
	began := time.Now()
	response, err := w.next.RoundTrip(request.WithContext(traced))
	event.Took, event.Err = time.Since(began), err
	if response != nil {
		event.Status, event.Received, event.Proto = response.StatusCode, response.Header.Clone(), response.Proto
	}
	w.bus.Emit(event)
	return response, err
}

// exchange posts a message and waits for what it is due: its reply, or that it was taken. header may be nil.
func (t *Transport) exchange(ctx context.Context, out *posted, header http.Header) error {
	own, release := t.detached(ctx)
	own = httptrace.WithClientTrace(context.WithValue(own, postedKey{}, out), &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { out.written.Store(true) },
	})
	request, err := t.newPost(own, out)
	if err != nil {
		release(0)
		return err
	}
	for name, values := range header {
		request.Header[name] = values
	}
	t.NoteSent(out.Frame)
	response, err := t.client.Do(request) //nolint:bodyclose // take closes it
	if err != nil {
		release(0)
		return noAnswer(request, errors.Unwrap(err)) // of the *url.Error
	}
	if response.Request != nil {
		request.URL = response.Request.URL // another one after a redirect
	}
	return (&answer{t, request, response, out, release}).take()
}

// newPost makes the request that posts a message.
func (t *Transport) newPost(ctx context.Context, out *posted) (*http.Request, error) {
	address, accept := t.address, "application/json, text/event-stream"
	if stream := t.oldStream(); stream != nil {
		address, accept = stream.endpoint.Load(), ""
	}
	if address == nil {
		return nil, errors.New("the server has not sent its endpoint yet")
	}
	request, err := t.newRequest(ctx, http.MethodPost, address, out.Bytes)
	if err != nil {
		return nil, err
	}
	if out.begins() { // perhaps in place of a session that the server has forgotten
		request.Header.Del(mcp.HeaderSessionID)
		request.Header.Del(mcp.HeaderProtocolVersion)
	}
	request.Header.Set("Content-Type", "application/json")
	if accept != "" {
		request.Header.Set("Accept", accept)
	}
	return request, nil
}

// detached gives an exchange a context that ends with ctx until the reply is there,
// and may then live a little longer: release says how long.
func (t *Transport) detached(ctx context.Context) (own context.Context, release func(time.Duration)) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	stopLife := context.AfterFunc(t.life, cancel)
	return own, func(linger time.Duration) {
		stop()
		end := func() {
			stopLife()
			cancel()
		}
		if linger > 0 {
			time.AfterFunc(linger, end)
			return
		}
		end()
	}
}

// answer is what came back for a message.
type answer struct {
	*Transport
	request  *http.Request
	response *http.Response
	out      *posted
	release  func(linger time.Duration) // see detached
}

// take takes the answer. The error is an *Error, an *exec.MalformedError, or the context's.
func (a *answer) take() error {
	response, out := a.response, a.out
	if response.StatusCode >= 300 || response.StatusCode < 200 {
		defer a.release(0)
		defer response.Body.Close()
		return a.takeRefusal()
	}
	if out.begins() {
		a.stateMu.Lock()
		a.session = response.Header.Get(mcp.HeaderSessionID)
		a.stateMu.Unlock()
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	stream := a.oldStream()
	switch {
	case out.waiting == nil:
		// Whatever stands there, nothing is due; a little of it is read so that the connection can be used again.
		_, _ = io.CopyN(io.Discard, response.Body, maxErrorBody)
		_ = response.Body.Close()
		a.release(0)
		return nil
	case stream != nil:
		_ = response.Body.Close()
		defer a.release(0)
		return stream.await(a.request.Context(), out)
	case packing(response) != "":
		defer a.release(0)
		defer response.Body.Close()
		failed := a.unusable(a.request, response, []byte{})
		failed.Wrong = fmt.Sprintf("a response with content encoding %q, which was not requested", packing(response))
		return failed
	case kind == "text/event-stream":
		return a.takeStream()
	}
	defer a.release(0)
	defer response.Body.Close()
	if kind != "application/json" && response.StatusCode != http.StatusAccepted {
		return a.unusable(a.request, response, nil)
	}
	body, err := readCapped(response.Body, response.ContentLength, a.max)
	if errors.Is(err, errTooLarge) {
		return rpc.Malformed(out.waiting.Frame.Method, diagnose.TooLarge("it", a.max)).Err
	}
	if err != nil {
		broken := a.unusable(a.request, response, body)
		broken.Err = err
		return broken
	}
	return a.takeBody(body)
}

// packing returns the encoding of an answer that toolx does not decode, empty where there is none.
func packing(response *http.Response) string {
	encoding := response.Header.Get("Content-Encoding")
	if strings.EqualFold(encoding, "identity") {
		return ""
	}
	return encoding
}

// takeBody takes the one message of a body, or the several of a batch (2025-03-26).
func (a *answer) takeBody(body []byte) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return rpc.Malformed(a.out.waiting.Frame.Method, fmt.Errorf("the server responded with HTTP %s and no message",
			statusWords(a.response.StatusCode))).Err
	}
	if !a.takeText(body) {
		failed := a.unusable(a.request, a.response, body)
		failed.Wrong = wrongWithJSON(body)
		return failed
	}
	return a.settled()
}

// largeBody is the size in bytes from which a body is not read by a decoder, which would make copies of it.
const largeBody = 1 << 20

// wrongWithJSON says why a body that should be a message of JSON-RPC is none.
func wrongWithJSON(body []byte) string {
	body = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(body), []byte(wire.BOM)))
	var syntax *json.SyntaxError
	if len(body) > largeBody {
		if err := json.Unmarshal(body, &struct{}{}); errors.As(err, &syntax) {
			return fmt.Sprintf("invalid JSON at byte %d (%v): %q", syntax.Offset, syntax,
				headline(body[:largeBody]))
		}
		return fmt.Sprintf("JSON that is not a JSON-RPC message: %q", Shortened(string(body[:largeBody])))
	}
	in := json.NewDecoder(bytes.NewReader(body))
	var whole json.RawMessage
	switch err := in.Decode(&whole); {
	case errors.Is(err, io.EOF):
		return "nothing"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Sprintf("JSON that is truncated after %s", words.Count(len(body), "byte"))
	case errors.As(err, &syntax):
		return fmt.Sprintf("invalid JSON at byte %d (%v): %q", syntax.Offset, syntax, headline(body))
	case in.InputOffset() < int64(len(body)):
		return fmt.Sprintf("text after the message, which ends at byte %d of %d: %q",
			in.InputOffset(), len(body), Shortened(string(body[in.InputOffset():])))
	}
	return fmt.Sprintf("JSON that is not a JSON-RPC message: %q", Shortened(string(body)))
}

// begins reports whether the message begins a session.
func (o *posted) begins() bool {
	return o.waiting != nil && o.waiting.Frame.Method == string(mcp.MethodInitialize)
}

// settled collects the reply; that there is none is an error, since no other answer will come.
func (a *answer) settled() error {
	if a.out.collect() {
		return nil
	}
	detail := cmp.Or(a.DetailOf(a.out.waiting), "the response has other messages, but not the reply")
	return rpc.Malformed(a.out.waiting.Frame.Method, errors.New(detail)).Err
}

// collect takes the reply if it is there.
func (o *posted) collect() bool {
	select {
	case r := <-o.waiting.Reply:
		o.got = &r
		return true
	default:
		return false
	}
}

// takeText takes a message, or an array of them, and reports whether it was that.
func (t *Transport) takeText(text []byte) bool {
	if rest, marked := bytes.CutPrefix(bytes.TrimSpace(text), []byte(wire.BOM)); marked {
		t.Odd(wire.ClassBOM, wire.Message{Raw: text}, 0, true)
		text = rest
	}
	if m, ok := wire.Parse(text); ok && m.Kind() != wire.KindNone {
		t.TakeMessage(m, 0)
		return true
	}
	var batch []json.RawMessage
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) && json.Unmarshal(text, &batch) == nil && len(batch) > 0 {
		for _, one := range batch {
			if m, ok := wire.Parse(one); ok && m.Kind() != wire.KindNone {
				t.TakeMessage(m, 0)
			} else {
				t.Odd(wire.ClassNotRPC, wire.Message{Raw: one}, 0, false)
			}
		}
		return true
	}
	return false
}

// takeRefusal makes an error of an answer with an HTTP error, unless it carries the
// reply: servers say an unknown method with 404 and other JSON-RPC errors with 400 or
// 500. What comes from a gateway is about the server, and not about the message.
func (a *answer) takeRefusal() error {
	request, response, out := a.request, a.response, a.out
	body, _ := readCapped(response.Body, 0, min(a.max, maxErrorBody)) // what there is of it says enough
	failed := a.unusable(request, response, body)
	m, ok := wire.Parse(bytes.TrimPrefix(body, []byte(wire.BOM)))
	if !ok || m.Err == nil || out.waiting == nil || !m.Versioned() &&
		string(m.ID) != strconv.FormatInt(out.waiting.ID, 10) {
		// An "error" alone is none of JSON-RPC: interfaces of all kinds say it so.
		failed.Expired = expires(request, failed, -1, said(failed.Body))
		return failed
	}
	details := rpc.ErrorDetails(m.Err)
	failed.Expired = expires(request, failed, details.Code, details.Message)
	switch {
	case failed.Expired, failed.Kind() == fault.KindAuth, response.StatusCode == http.StatusTooManyRequests,
		response.StatusCode > http.StatusNotImplemented:
		return failed
	case !isNumber(m.ID):
		// It is about this message: there is no other. Some servers make up an id for it.
		m.ID = json.RawMessage(strconv.FormatInt(out.waiting.ID, 10))
	}
	a.TakeMessage(m, 0)
	return a.settled()
}

// isNumber reports whether an id is one that toolx may have sent.
func isNumber(id json.RawMessage) bool {
	_, _, ok := wire.RequestID(id)
	return ok
}

// expires reports whether an answer means that the server does not know the session any more. By the specification that
// is 404; servers made from the SDKs' examples send 400 and say so in words.
func expires(request *http.Request, failed *Error, code int, words string) bool {
	if request.Header.Get(mcp.HeaderSessionID) == "" {
		return false
	}
	switch failed.Status {
	case http.StatusNotFound:
		return code != mcp.METHOD_NOT_FOUND
	case http.StatusBadRequest:
		return strings.Contains(strings.ToLower(words), "session")
	}
	return false
}

// unusable returns the error for an answer that carries no message; body is what was read of it, nil where nothing was.
func (t *Transport) unusable(request *http.Request, response *http.Response, body []byte) *Error {
	if body == nil {
		body, _ = readCapped(response.Body, 0, maxErrorBody) // what there is of it says enough
	}
	if packing(response) != "" {
		body = nil // it cannot be read
	}
	return &Error{
		Verb: request.Method, URL: request.URL, Status: response.StatusCode, Bare: t.bare(response),
		Header: response.Header, Body: bytes.Clone(body[:min(len(body), maxErrorBody)]),
	}
}

// bare reports whether nothing was sent that could say who asks: no authorization, and no header of the user's.
func (t *Transport) bare(response *http.Response) bool {
	sent := response.Request // what was sent in the end
	return sent != nil && sent.Header.Get("Authorization") == "" && len(*t.next.headers.Load()) == 0
}

// noAnswer returns the error for an exchange without an answer.
func noAnswer(request *http.Request, err error) error {
	var already *Error
	if errors.As(err, &already) {
		return err
	}
	return &Error{Verb: request.Method, URL: request.URL, Err: err}
}
