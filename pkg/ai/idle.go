package ai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// errIdle says that a server was silent for too long.
var errIdle = errors.New("nothing came for too long")

// idleTransport gives a request up when nothing comes for so long: no response, or
// no further bytes of its stream.
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
		// A 101 hands the connection over: its body is the connection itself, whose reads
		// no context ends.
		_ = response.Body.Close()
		response.Body = http.NoBody
	}
	response.Body = &idleBody{ReadCloser: response.Body, ctx: ctx, cancel: cancel, timer: timer, idle: t.idle}
	return response, nil
}

// idleBody restarts the clock with every read.
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

// idleError is errIdle where that is what ended the context, else err.
func idleError(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errIdle) {
		return errIdle
	}
	return err
}
