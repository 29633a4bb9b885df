package http

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/textproto"
	"strings"
	"time"

	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/stdio"
)

// headersTime bounds a headersCommand.
const headersTime = 10 * time.Second

// GatherHeaders returns the headers of every request: those of the config, and over them those that its headersCommand
// prints. The error is a *Failure, or ctx's.
func (d Options) GatherHeaders(ctx context.Context) (map[string]string, error) {
	headers := maps.Clone(d.Launch.Headers)
	if len(d.Launch.HeadersCommand) == 0 {
		return headers, nil
	}
	printed, err := d.runHeadersCommand(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &diagnose.Failure{
			Server: d.Server.Name, Ending: diagnose.EndingNoHeaders, URL: d.Launch.URL,
			Reason: fmt.Errorf("headersCommand %s: %w", d.Launch.HeadersCommand[0], err),
		}
	}
	if headers == nil {
		headers = make(map[string]string)
	}
	for name, content := range printed {
		if d.Secret != nil {
			_, token, _ := strings.Cut(content, " ")
			d.Secret(content, token)
		}
		headers[name] = content
	}
	return headers, nil
}

// runHeadersCommand runs the program and reads what it prints.
func (d Options) runHeadersCommand(ctx context.Context) (map[string]string, error) {
	text, err := stdio.Output(ctx, headersTime, d.Launch.HeadersCommand, d.Launch.Cwd, d.Launch.Env)
	if err != nil {
		return nil, err
	}
	return parseHeaders([]byte(text))
}

// parseHeaders reads headers: an object of JSON, or lines such as "Name: content".
// Errors quote nothing of it, since it has secrets.
func parseHeaders(text []byte) (map[string]string, error) {
	text = bytes.TrimSpace(text)
	if bytes.HasPrefix(text, []byte("{")) {
		var headers map[string]string
		if json.Unmarshal(text, &headers) != nil {
			return nil, errors.New("its output is not a JSON object of strings")
		}
		return headers, checkHeaders(headers)
	}
	headers := make(map[string]string)
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, content, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("line %d of its output is not a header such as 'Authorization: Bearer …'", number)
		}
		headers[textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))] = strings.TrimSpace(content)
	}
	if len(headers) == 0 {
		return nil, errors.New("its output has no header")
	}
	return headers, checkHeaders(headers)
}

// checkHeaders refuses what net/http would refuse later, in words that quote nothing.
func checkHeaders(headers map[string]string) error {
	for name, content := range headers {
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == ':' }) {
			return errors.New("its output has a header without a valid name")
		}
		if strings.ContainsFunc(content, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return fmt.Errorf("the value of the header %s has control characters", name)
		}
	}
	return nil
}
