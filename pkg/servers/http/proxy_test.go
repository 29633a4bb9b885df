package http

import (
	"net/http"
	"net/url"
	"testing"

	"toolx/pkg/fault"
	"toolx/pkg/mask"
)

// TestProxyThatIsNone proves that a variable which names no proxy is an error for what it would be used for, and for
// nothing else. What Go reads by itself it reads once in a process: TestRemoteProcess proves that.
func TestProxyThatIsNone(t *testing.T) {
	for _, test := range []struct {
		noProxy, host string
		exempt        bool
	}{
		{"", "example.com", false},
		{"", "localhost", true},
		{"", "127.0.0.1", true},
		{"", "::1", true},
		{"*", "example.com", true},
		{"Example.com", "example.COM", true},
		{"example.com", "a.example.com", true},
		{"example.com", "anexample.com", false},
		{".example.com", "a.example.com", true},
		{"*.example.com", "a.example.com", true},
		{"a, example.com:8080", "example.com", true},
		{"10.0.0.0/8", "10.1.2.3", true},
		{"10.0.0.0/8", "example.com", false},
		{"10.1.2.3", "10.1.2.3", true},
		{",", "example.com", false},
	} {
		t.Setenv("HTTPS_PROXY", ":::bad")
		t.Setenv("NO_PROXY", test.noProxy)
		address := &url.URL{Scheme: "https", Host: test.host}
		if test.host == "::1" {
			address.Host = "[::1]"
		}
		proxy, err := environmentProxy(&http.Request{URL: address})
		if proxy != nil || (err == nil) != test.exempt {
			t.Errorf("NO_PROXY=%s: %s is reached by %v, %v", test.noProxy, test.host, proxy, err)
		}
		if err != nil && fault.KindOf(err) != fault.KindUsage {
			t.Errorf("%v is %s", err, fault.KindOf(err))
		}
	}
}

// TestProxyHintIsShown proves that nothing of the hint is taken for a secret.
func TestProxyHintIsShown(t *testing.T) {
	if shown := mask.New().Text("hint: " + proxyHint); shown != "hint: "+proxyHint {
		t.Error(shown)
	}
}
