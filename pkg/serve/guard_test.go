package serve

import "testing"

// TestGuardReadsStrictly proves that a header that no client sends names neither this machine nor an allowed host.
func TestGuardReadsStrictly(t *testing.T) {
	g := &guard{hosts: []string{"tools.example"}}
	for header, want := range map[string]bool{
		"localhost": true, "LOCALHOST.:80": true, "127.0.0.1:80": true, "[::1]": true, "[::1]:80": true,
		"tools.example:8080": true, "[::1": false, "::1]": false, "[localhost]": false, "[[::1]]": false,
		"localhost:80:90": false, "localhost:evil": false, "localhost/evil": false, "evil@localhost": false,
		"[tools.example]": false, "localhost?": false, "localhost#": false, "": false,
	} {
		if g.allowsHost(header) != want {
			t.Errorf("Host: %s is served: %t", header, !want)
		}
	}
	for origin, want := range map[string]bool{
		"http://localhost": true, "https://localhost:80": true, "http://[::1]:80": true, "http://127.0.0.1": true,
		"http://localhost:80/evil": false, "http://localhost/": false, "http://evil@localhost": false,
		"http://localhost?x": false, "http://localhost#x": false, "http://[::1": false, "localhost": false,
		"http://localhost:80:90": false, "http:localhost": false, "http://[localhost]": false,
	} {
		if g.allowsOrigin(origin) != want {
			t.Errorf("Origin: %s is welcome: %t", origin, !want)
		}
	}
}
