package http

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"toolx/pkg/servers/rpc"
	"toolx/pkg/sse"
)

// TestStreamsAreNotPolled proves that a server which asks for it is not asked again at once.
func TestStreamsAreNotPolled(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": resumeDelay, "retry: 1\n\n": 250 * time.Millisecond, "retry: 249\n\n": 250 * time.Millisecond,
		"retry: 300\n\n": 300 * time.Millisecond, "retry: 0\n\n": resumeDelay, "retry: 999999\n\n": resumeMost,
	} {
		events := sse.NewReader(strings.NewReader(text), 1<<10)
		_, _ = events.Next() // io.EOF: there is no event
		if got := pauseBefore(rpc.RetryPolicy{Delay: 2 * time.Second}, events); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestGoErrorsAreWorded proves that no error of Go's libraries is shown as it is.
func TestGoErrorsAreWorded(t *testing.T) {
	for after, want := range map[string]string{
		"7200": "it asks to wait 2h0m0s", "2147483647": "it asks to wait more than a day",
		"Fri, 31 Dec 9999 23:59:59 GMT": "it asks to wait more than a day",
	} {
		failed := &Error{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {after}}}
		if got := failed.Error(); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", after, got, want)
		}
	}
	for _, location := range []string{"http://[::1", "http://a b", "%zz"} {
		site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusFound)
		}))
		address, err := url.Parse(site.URL)
		if err != nil {
			t.Fatal(err)
		}
		response, err := site.Client().Get(site.URL)
		if err == nil {
			_ = response.Body.Close()
			t.Fatalf("%s: %s", location, response.Status)
		}
		want := address.Host + " redirects to an invalid address (Location header)"
		if got := networkWords(err, address); got != want {
			t.Errorf("%s: %q, want %q", location, got, want)
		}
		site.Close()
	}
}
