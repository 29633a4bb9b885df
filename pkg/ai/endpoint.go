package ai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"toolx/pkg/fault"
	"toolx/pkg/sse"
)

// defaultIdle is how long a server may be silent. A large model takes minutes to load, and as long to read a long
// prompt on a slow machine.
const defaultIdle = 10 * time.Minute

// shortestKey is the minimum length of a secret key, as in mask. Keys for local servers such as "x" or "-" are parts of
// many words.
const shortestKey = 4

// endpoint is the server that a provider's requests go to. Its methods return Failures.
type endpoint struct {
	provider, model string
	base            string // without a slash at its end, and without the query
	query           url.Values
	variable        string // of the key
	key             string // may be empty
	agent           string
	client          *http.Client
}

func newEndpoint(options Options, provider, model, base string) (*endpoint, error) {
	base, _, _ = strings.Cut(base, "#")      // fragments are for browsers
	base, query, _ := strings.Cut(base, "?") // which comes after the path of each request
	values, _ := url.ParseQuery(query)
	address, err := url.Parse(base)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return nil, &fault.UsageError{
			Message: fmt.Sprintf("the address %q of %s is not a URL", withoutUser(base), provider),
			Fix:     "--base-url " + recordOf(provider).address,
		}
	}
	variable, key, err := keyIn(options, recordOf(provider).keys)
	if err != nil {
		return nil, err
	}
	return &endpoint{
		provider: provider,
		model:    model,
		base:     strings.TrimRight(base, "/"),
		query:    values,
		variable: variable,
		key:      key,
		agent:    options.UserAgent,
		client: &http.Client{
			Transport: &idleTransport{idle: cmp.Or(options.Idle, defaultIdle)},
			// A redirected POST would lose its body, and the key must not reach another host.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// keyIn returns the key in the first of some variables that is set, and that variable; if none is, the first one. A
// header cannot have line breaks, such as from a file with more than the key.
func keyIn(options Options, variables []string) (variable, key string, err error) {
	for _, variable := range variables {
		key := strings.TrimSpace(options.Getenv(variable))
		if strings.ContainsFunc(key, unicode.IsControl) {
			return "", "", &fault.UsageError{
				Message: variable + " has a line break, or another control character",
				Fix:     "put the key alone into " + variable,
			}
		}
		if key != "" {
			return variable, key, nil
		}
	}
	return variables[0], "", nil
}

// withoutUser removes user and password from a text that may be a URL.
func withoutUser(text string) string {
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		return "…" + text[at:]
	}
	return text
}

// Name implements Provider.
func (e *endpoint) Name() string { return e.provider }

// Model implements Provider.
func (e *endpoint) Model() string { return e.model }

// shown returns the address for people.
func (e *endpoint) shown() string { return withoutUser(e.base) }

// local reports whether the server is on this machine or in a private network, where keys are rare.
func (e *endpoint) local() bool {
	address, err := url.Parse(e.base)
	if err != nil {
		return false
	}
	host := address.Hostname()
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsUnspecified()
	}
	return host == "localhost" || !strings.Contains(host, ".") || strings.HasSuffix(host, ".local") ||
		strings.HasSuffix(host, ".internal")
}

// post sends a body and returns the response whose stream is to be read. Any status but 200 is a Failure.
func (e *endpoint) post(
	ctx context.Context, path string, body []byte, header func(http.Header),
) (*http.Response, error) {
	address := e.base + path
	if len(e.query) > 0 {
		address += "?" + e.query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, e.unreachable(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if e.agent != "" {
		request.Header.Set("User-Agent", e.agent)
	}
	header(request.Header)
	response, err := e.client.Do(request)
	if err != nil {
		return nil, e.unreachable(err)
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		said, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10))
		return nil, e.refused(response.StatusCode, response.Header, said)
	}
	if mediaType(response.Header) == "text/html" { // of a proxy, or of another server
		response.Body.Close()
		return nil, e.failure(BadAddress, "", nil)
	}
	return response, nil
}

// maxWhole bounds an answer that is not streamed, and one event of a stream, in bytes.
const maxWhole = 64 << 20

// answer joins server-sent events, or reads an answer that is not streamed.
type answer interface {
	// read reads one event; done means that no more events follow.
	read(event []byte) (done bool, err error)
	// readWhole reads an answer that was not streamed.
	readWhole(whole []byte) error
	// stopped reports whether the model gave a reason for stopping. A server that then closes the connection has
	// finished, even without an end event.
	stopped() bool
}

// receive reads a response to the end of its answer.
func (e *endpoint) receive(response *http.Response, answer answer) error {
	if mediaType(response.Header) == "application/json" { // some servers never stream
		whole, err := io.ReadAll(io.LimitReader(response.Body, maxWhole+1))
		if err == nil && len(whole) > maxWhole {
			err = fmt.Errorf("the answer is larger than %d MiB", maxWhole>>20)
		}
		if err != nil {
			return e.broken("", err)
		}
		return answer.readWhole(whole)
	}
	events := sse.NewReader(response.Body, maxWhole)
	for {
		event, err := events.Next()
		switch {
		case err != nil && answer.stopped():
			return nil
		case err != nil:
			return e.cutShort(err)
		}
		if data := bytes.TrimSpace(event.Data); len(data) > 0 {
			if done, err := answer.read(data); done || err != nil {
				return err
			}
		}
	}
}

// failure returns a Failure of this server.
func (e *endpoint) failure(reason Reason, detail string, err error) *Failure {
	if len(e.key) >= shortestKey {
		detail = strings.ReplaceAll(detail, e.key, "***")
	}
	return &Failure{
		Provider: e.provider, Model: e.model, URL: e.shown(), Variable: e.variable,
		Reason: reason, Detail: detail, Err: err,
	}
}

// refused explains a response other than 200. Ollama and the others explain it in the body; a proxy's page does not.
func (e *endpoint) refused(status int, header http.Header, body []byte) *Failure {
	code, message := errorIn(body)
	if !json.Valid(body) && strings.HasPrefix(strings.TrimSpace(string(body)), "<") {
		message = "" // a page for people
	}
	reason := judge(status, code, message)
	if to := header.Get("Location"); to != "" && status < http.StatusBadRequest {
		message = "it redirects to " + withoutUser(to)
	}
	if status == http.StatusUnauthorized {
		message = "" // some quote parts of the key
	}
	if reason == KeyRefused && e.key == "" {
		reason = NoKey
	}
	failure := e.failure(reason, message, nil)
	failure.Status, failure.RetryAfter = status, retryAfter(header, time.Now())
	failure.retry = reason == Busy
	return failure
}

// unreachable explains why there is no response.
func (e *endpoint) unreachable(err error) *Failure {
	if errors.Is(err, errIdle) {
		return e.failure(Stalled, "", err)
	}
	var operation *net.OpError
	dialed := errors.As(err, &operation) && operation.Op == "dial"
	detail := ""
	if e.provider != Ollama || !dialed {
		detail = rootCause(err)
	}
	failure := e.failure(Unreachable, detail, cause(err))
	failure.retry = !dialed && !isTLS(err)
	return failure
}

// broken returns the failure of a stream that broke off.
func (e *endpoint) broken(detail string, err error) *Failure {
	if errors.Is(err, errIdle) {
		return e.failure(Stalled, "", err)
	}
	if err != nil {
		detail = rootCause(err)
	}
	return e.failure(Broken, detail, cause(err))
}

// cutShort returns the failure of a stream that err ended before the answer was complete.
func (e *endpoint) cutShort(err error) *Failure {
	if errors.Is(err, sse.ErrTooLarge) {
		return e.broken(fmt.Sprintf("an event is larger than %d MiB", maxWhole>>20), nil)
	}
	return e.broken("", err)
}

// inStream returns the failure for an error in the middle of a stream. A clear error means the same as in a response;
// otherwise the stream broke, because the request had been accepted.
func (e *endpoint) inStream(body []byte) *Failure {
	code, message := errorIn(body)
	status := statusIn(code)
	reason := judge(status, code, message)
	switch reason {
	case BadRequest, BadAddress:
		reason = Broken
	case KeyRefused:
		message = "" // some quote parts of the key
	}
	failure := e.failure(reason, message, nil)
	failure.Status = status
	failure.retry = reason == Busy
	return failure
}

// noAnswer returns the failure of a response without any part of an answer: some servers report an error as a success.
func (e *endpoint) noAnswer(body []byte) *Failure {
	message := ""
	if json.Valid(body) {
		_, message = errorIn(body)
	}
	return e.broken(cmp.Or(message, "the response has no answer"), nil)
}

// mediaType returns the type of a response's body.
func mediaType(header http.Header) string {
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	return kind
}

// cause returns the end of a context if err wraps it, so that fault.KindOf finds it; the errors of net/http are
// dropped, because they quote the URL.
func cause(err error) error {
	for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, end) {
			return end
		}
	}
	return nil
}

// rootCause returns what went wrong, without the URL that net/http puts before it.
func rootCause(err error) string {
	var address *url.Error
	if errors.As(err, &address) {
		err = address.Err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "the connection was closed"
	}
	return err.Error()
}

// isTLS reports whether TLS failed, which another attempt will not change.
func isTLS(err error) bool {
	text := err.Error()
	return strings.Contains(text, "tls: ") || strings.Contains(text, "x509: ") ||
		strings.Contains(text, "HTTP response to HTTPS")
}

// errIdle is the cause of a context that ended because the server was silent for too long.
var errIdle = errors.New("no data for too long")

// idleTransport cancels a request after a time without a response or without further bytes of its stream.
type idleTransport struct{ idle time.Duration }

// RoundTrip implements http.RoundTripper.
func (t *idleTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(request.Context())
	timer := time.AfterFunc(t.idle, func() { cancel(errIdle) })
	response, err := http.DefaultTransport.RoundTrip(request.WithContext(ctx))
	if err != nil {
		timer.Stop()
		err = idleError(ctx, err)
		cancel(nil)
		return nil, err
	}
	if response.StatusCode < http.StatusOK {
		// A 101 hands the connection over: its body is the connection itself, whose reads no context ends.
		_ = response.Body.Close()
		response.Body = http.NoBody
	}
	response.Body = &idleBody{ReadCloser: response.Body, ctx: ctx, cancel: cancel, timer: timer, idle: t.idle}
	return response, nil
}

// idleBody restarts the timer with every read.
type idleBody struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	idle   time.Duration
}

func (b *idleBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.timer.Reset(b.idle)
	if err != nil && !errors.Is(err, io.EOF) {
		err = idleError(b.ctx, err)
	}
	return n, err
}

func (b *idleBody) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}

// idleError returns errIdle if that ended the context, otherwise err.
func idleError(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errIdle) {
		return errIdle
	}
	return err
}
