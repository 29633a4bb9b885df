package http

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestWordsOfAnAnswer proves what is quoted of an answer that is of no use.
func TestWordsOfAnAnswer(t *testing.T) {
	for body, want := range map[string]string{
		"":                                   "",
		"  \n":                               "",
		"plain words":                        "plain words",
		"one\ntwo":                           "one",
		"<b>bold</b>":                        "bold",
		"<title>\n Bad  gateway</title><p>x": "Bad gateway",
		`{"error":"broken"}`:                 "broken",
		`{"error":{"code":1,"message":"m"}}`: "m",
		`{"detail":[1,2]}`:                   `{"detail":[1,2]}`,
		`{"error":`:                          `{"error":`,
		`[]`:                                 `[]`,
		strings.Repeat("é", 200):             strings.Repeat("é", 120) + "…",
	} {
		if got := said([]byte(body)); got != want {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
	}
}

// TestRetryAfter proves both forms of the header (RFC 9110, 10.2.3).
func TestRetryAfter(t *testing.T) {
	at := func(text string) time.Duration {
		after, ok := (&Error{Header: http.Header{"Retry-After": {text}}}).RetryAfter()
		if !ok {
			return -1
		}
		return after
	}
	if at("120") != 2*time.Minute || at("soon") != -1 || at("-1") != -1 || at("") != -1 || at("99999999999") != -1 {
		t.Error("seconds")
	}
	if at(time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)) != 0 {
		t.Error("a time that is past")
	}
	ahead := at(time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
	if ahead < 59*time.Minute || ahead > time.Hour {
		t.Errorf("a time to come: %s", ahead)
	}
}

// TestWrongWithJSON proves what is said of a body that should be a message and is none.
func TestWrongWithJSON(t *testing.T) {
	for body, want := range map[string]string{
		" \n":          "nothing",
		"\ufeff":       "nothing",
		`{"id":`:       "JSON that is truncated after 6 bytes",
		"\ufeff[1,":    "JSON that is truncated after 3 bytes",
		"<p>Hello</p>": `invalid JSON at byte 1 (invalid character '<' looking for beginning of value): "Hello"`,
		`{"a":1} x`:    `text after the message, which ends at byte 7 of 9: "x"`,
		"[]":           `JSON that is not a JSON-RPC message: "[]"`,
	} {
		if got := wrongWithJSON([]byte(body)); got != want {
			t.Errorf("%q: %s, want %s", body, got, want)
		}
	}
}

// TestRefusedHost: a guard against DNS rebinding refuses the host's name, whatever status it gives.
func TestRefusedHost(t *testing.T) {
	address, err := url.Parse("http://shop.example:80/mcp")
	if err != nil {
		t.Fatal(err)
	}
	for body, test := range map[string]struct {
		status int
		want   bool
	}{
		"Invalid Host header":                    {http.StatusMisdirectedRequest, true},
		`{"error":"Invalid Host: shop.example"}`: {http.StatusForbidden, true},
		"Host shop.example is not allowed":       {http.StatusBadRequest, true},
		"the host of the party is not available": {http.StatusForbidden, false},
	} {
		failed := &Error{Status: test.status, Body: []byte(body), URL: address}
		if got := strings.Contains(failed.Hint(), "allowed hosts"); got != test.want {
			t.Errorf("%d %s: %q", test.status, body, failed.Hint())
		}
	}
	sent := &Error{Status: http.StatusUnauthorized, URL: address}
	if hint := sent.Hint(); strings.Contains(hint, "-H") || hint == "" {
		t.Errorf("of credentials that were sent: %q", hint)
	}
}
