package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/sse"
)

// oldStream is the one stream of the older HTTP with SSE (2024-11-05). Everything that the server sends comes on it,
// and requests are posted to the address that its first event names.
type oldStream struct {
	*Transport
	cancel context.CancelFunc
	// endpoint is where messages are posted, nil until ready is closed.
	endpoint atomic.Pointer[url.URL]
	ready    chan struct{}
	// ended is closed when the stream has ended; err is why.
	ended chan struct{}
	err   error
}

func (t *Transport) oldStream() *oldStream {
	t.stateMu.Lock()
	defer t.stateMu.Unlock()
	return t.stream
}

// FallBack switches to the older HTTP with SSE: it opens the stream and waits for its first event. The error is a
// *Failure, or the context's.
func (t *Transport) FallBack(ctx context.Context) error {
	life, cancel := context.WithCancel(t.life)
	stream := &oldStream{Transport: t, cancel: cancel, ready: make(chan struct{}), ended: make(chan struct{})}
	t.Reset()
	t.stateMu.Lock()
	t.stream = stream
	t.stateMu.Unlock()

	stop := context.AfterFunc(ctx, cancel)
	err := stream.open(life)
	if err == nil {
		select {
		case <-stream.ready:
			if stop() {
				return nil
			}
		case <-stream.ended:
			err = stream.err
		case <-ctx.Done():
		}
	}
	cancel()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return t.explain(http.MethodGet, err)
}

// open opens the stream, which lives as long as ctx, and starts reading it.
func (s *oldStream) open(ctx context.Context) error {
	request, err := s.newRequest(ctx, http.MethodGet, s.address, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("Cache-Control", "no-cache")
	response, err := s.client.Do(request)
	if err != nil {
		return noAnswer(request, errors.Unwrap(err)) // of the *url.Error
	}
	if response.Request != nil {
		request.URL = response.Request.URL // another one after a redirect
	}
	if response, err = s.streamOf(request, response); err != nil {
		return err
	}
	events := sse.NewReader(response.Body, s.max)
	if !s.start(func() {
		err := s.pump(events, request.URL)
		_ = response.Body.Close()
		s.lose(err)
	}) {
		_ = response.Body.Close()
		return context.Canceled
	}
	return nil
}

// pump takes every message that comes on the stream and returns why it ended.
func (s *oldStream) pump(events *sse.Reader, address *url.URL) error {
	for {
		event, err := events.Next()
		if err != nil {
			return err
		}
		if event.Name != "endpoint" {
			s.takeEvent(event)
			continue
		}
		text := strings.TrimSpace(string(event.Data))
		endpoint, err := address.Parse(text)
		if err != nil || text == "" {
			return fmt.Errorf("the server's endpoint event has no address: %q", Shortened(text))
		}
		if !sameOrigin(address, endpoint) {
			return fmt.Errorf("the server's endpoint event has another origin: %s", endpoint.Redacted())
		}
		if s.endpoint.Swap(endpoint) == nil {
			close(s.ready)
		}
	}
}

// lose ends what depends on a stream that has ended: no reply can come without it.
func (s *oldStream) lose(err error) {
	s.err = err
	if s.agreed() && s.life.Err() == nil {
		failure := s.NewFailure(diagnose.EndingGone)
		failure.Reason = errors.New("it ended the event stream")
		if !errors.Is(err, io.EOF) {
			failure.Reason = errors.New("the event stream broke: " + networkWords(err, s.address))
		}
		s.Fail(failure)
	}
	close(s.ended)
	s.cancel()
}

// agreed reports whether the handshake on the stream has got as far as an agreed revision: until then its end only
// fails the attempt.
func (s *oldStream) agreed() bool {
	s.stateMu.Lock()
	defer s.stateMu.Unlock()
	return s.stream == s && s.version != ""
}

// await waits for the reply to a message that the server has accepted.
func (s *oldStream) await(ctx context.Context, out *posted) error {
	select {
	case r := <-out.waiting.Reply:
		out.got = &r
	case <-s.ended:
		if !out.collect() {
			return rpc.Malformed(out.waiting.Frame.Method,
				errors.New("the server ended the event stream before it")).Err
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
