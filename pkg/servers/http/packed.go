package http

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
)

// unpacked sends a request that may be answered in gzip, and decompresses the response. http.Transport would do so by
// itself, but reports a response that is not gzip as one that broke off. A request that asks for an encoding itself
// gets the response unchanged.
func unpacked(request *http.Request, send func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	if request.Header.Get("Accept-Encoding") != "" || request.Header.Get("Range") != "" ||
		request.Method == http.MethodHead {
		return send(request)
	}
	request = request.Clone(request.Context())
	request.Header.Set("Accept-Encoding", "gzip")
	response, err := send(request)
	if err != nil || !strings.EqualFold(response.Header.Get("Content-Encoding"), "gzip") {
		return response, err
	}
	response.Body = &packedBody{Closer: response.Body, raw: &endKeeper{in: response.Body}}
	response.Header.Del("Content-Encoding")
	response.Header.Del("Content-Length")
	response.ContentLength, response.Uncompressed = -1, true
	return response, nil
}

// packedBody decompresses a body. It starts at the first read: the server may send the beginning of the body later than
// the headers.
type packedBody struct {
	io.Closer
	raw  *endKeeper
	text *gzip.Reader // nil before
	err  error        // how it ended
}

// Read implements io.Reader. The error is the connection's, or a *packedError.
func (b *packedBody) Read(p []byte) (n int, err error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.text == nil {
		b.text, err = gzip.NewReader(b.raw)
	}
	if err == nil {
		n, err = b.text.Read(p)
	}
	switch {
	case err == nil || errors.Is(err, io.EOF):
	case b.raw.err != nil && !errors.Is(b.raw.err, io.EOF):
		err = b.raw.err
	default:
		err = &packedError{begun: b.text != nil}
	}
	b.err = err
	return n, err
}

// endKeeper records the error with which a reader ended.
type endKeeper struct {
	in  io.Reader
	err error
}

// Read implements io.Reader.
func (k *endKeeper) Read(p []byte) (int, error) {
	n, err := k.in.Read(p)
	if err != nil {
		k.err = err
	}
	return n, err
}

// packedError reports whether an answer is not what its Content-Encoding says.
type packedError struct{ begun bool }

func (e *packedError) Error() string {
	if e.begun {
		return "its gzip is damaged"
	}
	return "it is not gzip, although its Content-Encoding says so"
}
