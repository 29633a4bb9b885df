package servers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
)

// oldStream is the one stream of the older HTTP with SSE (2024-11-05): everything
// that the server sends comes on it, and requests are posted to the address that its
// first event names.
type oldStream struct {
	cancel context.CancelFunc
	toSDK  *io.PipeWriter
	// ended is closed when the stream has ended, for the reason in err.
	ended chan struct{}
	err   error
}

// unbounded stands for no limit where the SDK wants one: toolx's own clocks bound
// what it waits for.
const unbounded = 100 * 365 * 24 * time.Hour

func (t *remote) oldStream() *oldStream {
	t.sdkMu.Lock()
	defer t.sdkMu.Unlock()
	return t.stream
}

// fallBack goes over to the older HTTP with SSE: it opens the stream and waits for
// its first event. The error is a *Failure, or the context's.
func (t *remote) fallBack(ctx context.Context) error {
	life, cancel := context.WithCancel(t.life)
	sdk, err := transport.NewSSE(t.address.String(),
		transport.WithHTTPClient(t.client), transport.WithSSELogger(silence()),
		transport.WithEndpointTimeout(unbounded), transport.WithResponseTimeout(unbounded))
	if err != nil {
		cancel()
		return t.explain("", err)
	}
	stream := &oldStream{cancel: cancel, ended: make(chan struct{})}
	t.sdkMu.Lock()
	t.sdk, t.stream, t.version = sdk, stream, ""
	t.sdkMu.Unlock()

	stop := context.AfterFunc(ctx, cancel)
	err = sdk.Start(life) // the stream lives as long as its context
	if stop() && err == nil {
		return nil
	}
	cancel()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case closed(stream.ended):
		return t.explain(http.MethodGet, stream.err)
	}
	return t.explain(http.MethodGet, err)
}

// openOld opens the stream for the SDK, which gets to see of it the address for
// requests and that replies are there.
func (t *remote) openOld(request *http.Request) (*http.Response, error) {
	stream := t.oldStream()
	if stream == nil {
		return nil, errors.New("toolx opens streams by itself")
	}
	response, err := t.next.RoundTrip(request)
	if err != nil {
		return nil, t.noAnswer(request, err)
	}
	if redirects(response) {
		return response, nil
	}
	if response, err = t.streamOf(request, response); err != nil {
		return nil, err
	}
	seen := *response
	body, toSDK := io.Pipe()
	stream.toSDK, seen.Body = toSDK, body
	events := newSSEReader(response.Body, t.max)
	if !t.start(func() {
		err := t.pumpOld(stream, events, request.URL)
		_ = response.Body.Close()
		_ = toSDK.CloseWithError(err)
		t.lose(stream, err)
	}) {
		_ = response.Body.Close()
		return nil, context.Canceled
	}
	return &seen, nil
}

// pumpOld takes everything that comes on the stream and returns why it ended.
func (t *remote) pumpOld(stream *oldStream, events *sseReader, address *url.URL) error {
	for {
		event, err := events.next()
		if err != nil {
			return err
		}
		if event.name != "endpoint" {
			t.takeEvent(event)
			continue
		}
		text := strings.TrimSpace(string(event.data))
		endpoint, err := address.Parse(text)
		if err != nil || text == "" {
			return fmt.Errorf("the server's endpoint event holds no address: %q", shortened(text))
		}
		if !sameOrigin(address, endpoint) {
			return fmt.Errorf("the server's endpoint event names another origin: %s", endpoint.Redacted())
		}
		if _, err := fmt.Fprintf(stream.toSDK, "event: endpoint\ndata: %s\n\n", endpoint); err != nil {
			return err
		}
	}
}

// lose ends what depends on a stream that has ended: without it no reply can come.
func (t *remote) lose(stream *oldStream, err error) {
	stream.err = err
	if t.agreed(stream) && t.life.Err() == nil {
		failure := t.newFailure(EndingGone)
		failure.Reason = errors.New("it ended the stream of events")
		if !errors.Is(err, io.EOF) {
			failure.Reason = errors.New("the stream of events broke: " + networkWords(err, t.address))
		}
		t.fail(failure)
	}
	close(stream.ended)
	stream.cancel()
}

// agreed says whether the handshake on the stream has got as far as an agreed
// revision: until then its end only fails the attempt.
func (t *remote) agreed(stream *oldStream) bool {
	t.sdkMu.Lock()
	defer t.sdkMu.Unlock()
	return t.stream == stream && t.version != ""
}

// awaitOld waits for the reply to a message that the server has taken, and lets the
// SDK know of it on its stream.
func (t *remote) awaitOld(ctx context.Context, out *posted) error {
	stream := t.oldStream()
	select {
	case r := <-out.waiting.reply:
		out.got = &r
	case <-stream.ended:
		if !out.collect() {
			return malformed(out.waiting.method, errors.New("the server ended the stream of events before it")).err
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	if _, err := io.WriteString(stream.toSDK, "event: message\ndata: "+emptyReply(out.waiting.id)+"\n\n"); err != nil {
		out.abort() // the stream has ended since, and the SDK cannot be told on it
	}
	return nil
}
