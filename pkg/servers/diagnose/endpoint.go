package diagnose

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"toolx/pkg/servers/wire"
)

// probeTime bounds a request to a port at which a silent server listens.
const probeTime = time.Second

// Endpoint returns the URL of the first address that responds as MCP over HTTP; empty if none does.
func Endpoint(sockets []string) string {
	const most = 3
	for _, socket := range sockets[:min(len(sockets), most)] {
		host, port, err := net.SplitHostPort(withoutProcess(socket))
		if err != nil {
			continue
		}
		if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
			host = "localhost"
		}
		for _, path := range []string{"/mcp", "/", "/sse"} {
			url := "http://" + net.JoinHostPort(host, port) + path
			ofMCP, err := speaksMCP(url)
			if ofMCP {
				return url
			}
			if err != nil {
				break // it does not speak HTTP
			}
		}
	}
	return ""
}

// speaksMCP reports whether a URL responds as MCP: with a JSON-RPC message, or with the stream of the older HTTP with
// SSE. The error reports that there is no response.
func speaksMCP(url string) (ofMCP bool, err error) {
	const most = 64 << 10
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	method, body := http.MethodPost, io.Reader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+
		`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"toolx","version":"0"}}}`))
	if strings.HasSuffix(url, "/sse") {
		method, body = http.MethodGet, nil
	}
	request, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return false, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	transport := &http.Transport{DisableKeepAlives: true} // no proxy
	response, err := transport.RoundTrip(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	read := make([]byte, 0, most)
	for len(read) < most {
		n, err := response.Body.Read(read[len(read):most])
		read = read[:len(read)+n]
		if hasMessage(read) || method == http.MethodGet && bytes.HasPrefix(read, []byte("event: endpoint")) {
			return true, nil
		}
		if err != nil {
			break
		}
	}
	return false, nil
}

// hasMessage reports whether a response body has a JSON-RPC message, as a whole or as the data of an event.
func hasMessage(body []byte) bool {
	for line := range bytes.Lines(body) {
		line = bytes.TrimPrefix(line, []byte("data:"))
		if m, ok := wire.Parse(line); ok && m.Versioned() && m.Kind() != wire.KindNone {
			return true
		}
	}
	m, ok := wire.Parse(body)
	return ok && m.Versioned() && m.Kind() != wire.KindNone
}
