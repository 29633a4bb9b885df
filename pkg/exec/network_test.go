package exec

import (
	"strings"
	"testing"

	"toolx/pkg/fault"
)

// A tool's own failure that tells of a network gets a hint that names the address and the cause (EXEC-9).
func TestNetworkHint(t *testing.T) {
	tests := []struct{ text, subject, cause string }{
		{"connect ECONNREFUSED 127.0.0.1:1883", "127.0.0.1:1883", "nothing accepts connections"},
		{"Error: connect ECONNREFUSED ::1:5432\n    at TCPConnectWrap.afterConnect", "::1:5432", "nothing accepts connections"},
		{`Post "http://api.local:8080/v1/x": dial tcp 10.1.2.3:8080: connect: connection refused`, "10.1.2.3:8080", "nothing accepts connections"},
		{"dial tcp [::1]:6379: connect: connection refused", "[::1]:6379", "nothing accepts connections"},
		{
			"HTTPConnectionPool(host='localhost', port=8123): Max retries exceeded (Caused by NewConnectionError('[Errno 111] Connection refused'))",
			"localhost:8123", "nothing accepts connections",
		},
		{"Cannot connect to host homeassistant.local:8123 ssl:default [Connect call failed; Connection refused]", "homeassistant.local:8123", "nothing accepts connections"},
		{"[Errno 111] Connection refused", "a service behind the server", "nothing accepts connections"},
		{"getaddrinfo ENOTFOUND api.exmaple.com", "api.exmaple.com", "name cannot be resolved"},
		{"request to https://api.exmaple.com/x failed, reason: getaddrinfo EAI_AGAIN api.exmaple.com", "api.exmaple.com", "name cannot be resolved"},
		{"dial tcp: lookup db.internal on 127.0.0.53:53: no such host", "db.internal", "name cannot be resolved"},
		{"<urlopen error [Errno -2] Name or service not known>", "a service behind the server", "name cannot be resolved"},
		{"connect EHOSTUNREACH 192.168.7.7:443", "192.168.7.7:443", "no route"},
		{"connect ETIMEDOUT 203.0.113.7:443", "203.0.113.7:443", "did not respond in time"},
		{`Get "https://203.0.113.7/": dial tcp 203.0.113.7:443: i/o timeout`, "203.0.113.7:443", "did not respond in time"},
		{"read ECONNRESET", "a service behind the server", "closed the connection"},
		{"Connection refused (broker.local:1883)", "broker.local:1883", "nothing accepts connections"},
	}
	for _, test := range tests {
		hint := fault.HintOf(&ToolError{Message: test.text})
		if !strings.Contains(hint, test.subject+" is unavailable") || !strings.Contains(hint, test.cause) {
			t.Errorf("%s\ngives %q, want %s and %s", test.text, hint, test.subject, test.cause)
		}
	}
	for _, text := range []string{
		"", "no such city: Berln", "refused: you may not delete", "the order at 10:30 was refused",
		"MYECONNREFUSEDX", "the request timed out",
	} {
		if hint := fault.HintOf(&ToolError{Message: text}); hint != "" {
			t.Errorf("%q gives %q", text, hint)
		}
	}
}
