package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// meta is the _meta of each request of the stateless revision.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
	`"io.modelcontextprotocol/clientInfo":{"name":"floor","version":"1"}}`

// callHTTP makes one call over HTTP: where is the address, with the word legacy before it for a revision with sessions.
func callHTTP(tool, arguments string, where []string) error {
	f := &floor{url: where[len(where)-1], header: http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
	}}
	if where[0] == "legacy" {
		return f.legacy(tool, arguments)
	}
	return f.modern(tool, arguments)
}

// floor is a client over HTTP, and the headers of its next request.
type floor struct {
	url    string
	header http.Header
	result answer
}

func (f *floor) modern(tool, arguments string) error {
	f.header.Set("MCP-Protocol-Version", "2026-07-28")
	for _, request := range []struct{ method, params string }{
		{"server/discover", ""},
		{"tools/list", ""},
		{"tools/call", `"name":"` + tool + `","arguments":` + arguments + `,`},
	} {
		f.header.Set("Mcp-Method", request.method)
		if request.params != "" {
			f.header.Set("Mcp-Name", tool)
		}
		if err := f.post(`{"jsonrpc":"2.0","id":1,"method":"` + request.method + `","params":{` + request.params + meta + `}}`); err != nil {
			return err
		}
	}
	f.result.print()
	return nil
}

func (f *floor) legacy(tool, arguments string) error {
	if err := f.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"floor","version":"1"}}}`); err != nil {
		return err
	}
	f.header.Set("MCP-Protocol-Version", "2025-11-25")
	if err := f.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
		return err
	}
	ctx, end := context.WithCancel(context.Background())
	var stream sync.WaitGroup
	listening := f.header.Clone()
	stream.Go(func() { f.listen(ctx, listening) })
	for _, request := range []string{
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`,
	} {
		if err := f.post(request); err != nil {
			end()
			return err
		}
	}
	f.result.print()
	end()
	stream.Wait()
	return f.send(http.MethodDelete, "")
}

// listen opens the stream of a session, until ctx ends.
func (f *floor) listen(ctx context.Context, header http.Header) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url, http.NoBody)
	if err != nil {
		return
	}
	request.Header = header
	if response, err := http.DefaultClient.Do(request); err == nil {
		<-ctx.Done()
		_ = response.Body.Close()
	}
}

func (f *floor) post(message string) error { return f.send(http.MethodPost, message) }

// send makes one exchange, and keeps the answer and the session.
func (f *floor) send(method, message string) error {
	request, err := http.NewRequest(method, f.url, strings.NewReader(message))
	if err != nil {
		return err
	}
	request.Header = f.header.Clone()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if session := response.Header.Get("Mcp-Session-Id"); session != "" {
		f.header.Set("Mcp-Session-Id", session)
	}
	switch {
	case response.StatusCode > 299:
		return fmt.Errorf("%s: %s", message, response.Status)
	case response.StatusCode == http.StatusAccepted || method == http.MethodDelete:
		return nil
	}
	return json.NewDecoder(response.Body).Decode(&f.result)
}
