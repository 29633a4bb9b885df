package http

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"time"

	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/wire"
	"toolx/pkg/sse"
)

// The times and limits of resuming a stream (MCP up to 2025-11-25, streamable HTTP, "Resumability and Redelivery").
const (
	resumeDelay  = time.Second            // unless the server asks for another (retry:)
	resumeLeast  = 250 * time.Millisecond // whatever the server asks for
	resumeMost   = 30 * time.Second
	resumeFutile = 3 // attempts in a row that bring nothing
)

// pauseBefore returns how long to wait before resuming a stream: at least resumeLeast, unless the user's own delay
// between attempts is shorter.
func pauseBefore(p rpc.RetryPolicy, events *sse.Reader) time.Duration {
	if events.Retry > 0 {
		return min(max(events.Retry, min(resumeLeast, p.Delay)), resumeMost)
	}
	return resumeDelay
}

// takeStream reads a stream of events until the reply has come. A stream that breaks before that is resumed where the
// revision allows it and the server gave its events ids.
func (a *answer) takeStream() error {
	body, ctx := a.response.Body, a.request.Context()
	events := sse.NewReader(body, a.max)
	for futile := 0; ; futile++ {
		seen := events.LastID
		err := a.awaitReply(ctx, events, body)
		if err == nil {
			return nil
		}
		givenUp := ctx.Err() != nil // then the stream may still be read
		if !givenUp && events.LastID != seen {
			futile = 0
		}
		if givenUp || errors.Is(err, sse.ErrTooLarge) ||
			events.LastID == "" || a.modern() || futile >= resumeFutile {
			err = a.brokenStream(err)
			a.release(0)
			return err
		}
		if body, err = a.resume(ctx, events); err != nil {
			a.release(0)
			return err
		}
	}
}

// awaitReply reads events until the reply has come, which may be on another stream. Then the stream gets a
// moment to end.
func (a *answer) awaitReply(ctx context.Context, events *sse.Reader, body io.ReadCloser) error {
	ended := make(chan struct{})
	var why error // set when ended is closed
	if !a.start(func() {
		why = a.pump(events)
		_ = body.Close()
		close(ended)
	}) {
		_ = body.Close()
		return context.Canceled
	}
	select {
	case r := <-a.out.waiting.Reply:
		a.out.got = &r
		a.release(lingerTime)
		wire.WaitFor(ctx, ended, lingerWait)
		return nil
	case <-ended:
		if a.out.collect() {
			a.release(0)
			return nil
		}
		return why
	case <-ctx.Done():
		// The context cuts off reading the body.
		return ctx.Err()
	}
}

// pump takes all messages of a stream and returns why it ended; io.EOF means that the server ended it.
func (t *Transport) pump(events *sse.Reader) error {
	for {
		event, err := events.Next()
		if err != nil {
			return err
		}
		t.takeEvent(event)
	}
}

// takeEvent takes the message of an event. Events with a name other than "message" are not messages; an event without
// data only carries an id.
func (t *Transport) takeEvent(event sse.Event) {
	if event.Name != "message" || len(event.Data) == 0 {
		return
	}
	if !t.takeText(event.Data) {
		t.Odd(wire.ClassNotRPC, wire.Message{Raw: event.Data}, 0, false)
		t.noteBrokenEvent(event.Data)
	}
}

// noteBrokenEvent notes an event without a message for the requests that wait: if one of them gets no reply, that event
// is the likely cause.
func (t *Transport) noteBrokenEvent(data []byte) {
	t.Suspect("an event of the server has " + wrongWithJSON(data))
}

// resume asks for the rest of a stream, after the last event.
func (t *Transport) resume(ctx context.Context, events *sse.Reader) (io.ReadCloser, error) {
	if !wire.Waited(ctx, pauseBefore(t.RetryPolicy, events)) {
		return nil, ctx.Err()
	}
	t.tell(slog.LevelInfo, "ended a stream before the reply; toolx requests the rest, after event %q",
		Shortened(events.LastID))
	response, err := t.get(ctx, events.LastID)
	if err != nil {
		return nil, err
	}
	events.Continue(response.Body)
	return response.Body, nil
}

// get asks for a stream of events: the rest of one after an event, or the standing one where lastID is empty. The error
// is an *Error, or the context's.
func (t *Transport) get(ctx context.Context, lastID string) (*http.Response, error) {
	request, err := t.newRequest(ctx, http.MethodGet, t.address, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("Cache-Control", "no-cache")
	if lastID != "" {
		request.Header.Set("Last-Event-ID", lastID)
	}
	response, err := t.next.RoundTrip(request)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, noAnswer(request, err)
	}
	return t.streamOf(request, response)
}

// streamOf refuses a response that is not a stream of events.
func (t *Transport) streamOf(request *http.Request, response *http.Response) (*http.Response, error) {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode == http.StatusOK && kind == "text/event-stream" {
		return response, nil
	}
	defer response.Body.Close()
	failed := t.unusable(request, response, nil)
	failed.Expired = expires(request, failed, -1, said(failed.Body))
	return nil, failed
}

// brokenStream returns the error for a stream that ended before the reply. A reply without a request is named as
// the likely cause.
func (a *answer) brokenStream(err error) error {
	if a.request.Context().Err() != nil {
		return a.request.Context().Err()
	}
	if errors.Is(err, sse.ErrTooLarge) {
		return rpc.Malformed(a.out.waiting.Frame.Method, diagnose.TooLarge("it", a.max)).Err
	}
	reason := "the server ended the stream before it"
	if !errors.Is(err, io.EOF) {
		reason = "the stream broke before it: " + networkWords(err, a.request.URL)
	}
	return rpc.Malformed(a.out.waiting.Frame.Method, &cutOffError{cmp.Or(a.DetailOf(a.out.waiting), reason)}).Err
}

// cutOffError says that a stream ended before the reply that it was opened for.
type cutOffError struct{ words string }

func (e *cutOffError) Error() string { return e.words }
