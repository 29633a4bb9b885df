package doctor

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"toolx/pkg/doctor/evidence"
)

// exchange sends a request and reads as much of the response as the checks need.
func (p *httpProber) exchange(
	ctx context.Context, verb string, body []byte, headers map[string]string,
) (*evidence.HTTPReply, error) {
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
	reply := &evidence.HTTPReply{
		Verb: verb, URL: p.address, Status: response.StatusCode, Header: response.Header, Took: time.Since(began),
		TLS: response.TLS, Unpacked: response.Uncompressed, Sent: body,
	}
	switch {
	case reply.MediaType() != "text/event-stream" || reply.Status >= 300:
		var failed error
		reply.Body, failed = io.ReadAll(io.LimitReader(response.Body, evidence.MaxRawBody))
		ended(reply, failed == nil)
	case verb != http.MethodGet:
		readEvents(reply, response.Body, evidence.HasReply)
	case headers[evidence.SessionHeader] == "" && headers[evidence.VersionHeader] == "":
		readEvents(reply, response.Body, func(evidence.HTTPEvent) bool { return true })
	case !time.Now().Before(p.late):
		readEvents(reply, response.Body, func(evidence.HTTPEvent) bool { return false }) // read until it ends
	}
	return reply, nil
}

// readEvents reads a stream up to the awaited event.
func readEvents(r *evidence.HTTPReply, body io.Reader, awaited func(evidence.HTTPEvent) bool) {
	in := bufio.NewReader(io.LimitReader(body, evidence.MaxRawBody))
	event := evidence.HTTPEvent{}
	for {
		line, err := in.ReadBytes('\n')
		r.Body = append(r.Body, line...)
		text := bytes.TrimRight(line, "\r\n")
		if len(text) > 0 {
			event.AddLine(text)
			if err == nil {
				continue
			}
		}
		some := event.Name != "" || event.Data != nil // an empty line after a comment is not the end of an event
		if some {
			event.Open = err != nil
			r.Events = append(r.Events, event)
		}
		if err != nil {
			ended(r, errors.Is(err, io.EOF))
			return
		}
		if some && awaited(event) {
			return
		}
		event = evidence.HTTPEvent{}
	}
}

// ended sets Over and Ended after the last read.
func ended(r *evidence.HTTPReply, whole bool) {
	r.Over = len(r.Body) == evidence.MaxRawBody
	r.Ended = whole && !r.Over
}
