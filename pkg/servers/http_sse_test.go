package servers

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// TestEvents proves how a stream is cut into events (WHATWG HTML, server-sent events).
func TestEvents(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string // name=data
		lastID     string
		err        error
	}{
		{"nothing", "", nil, "", io.EOF},
		{"one", "data: a\n\n", []string{"message=a"}, "", io.EOF},
		{"several lines", "data: a\ndata:b\ndata\ndata:  c\n\n", []string{"message=a\nb\n\n c"}, "", io.EOF},
		{"a name", "event: endpoint\ndata: /x\n\ndata: y\n\n", []string{"endpoint=/x", "message=y"}, "", io.EOF},
		{"a name without data", "event: endpoint\n\ndata: y\n\n", []string{"message=y"}, "", io.EOF},
		{"remarks and other fields", ": hello\nfoo: bar\ndata: a\n\n", []string{"message=a"}, "", io.EOF},
		{"CR LF and a byte order mark", "\ufeffdata: a\r\n\r\n", []string{"message=a"}, "", io.EOF},
		{"CR alone", "\ufeffevent: x\rdata: a\rdata: b\r\rdata: c\r\r", []string{"x=a\nb", "message=c"}, "", io.EOF},
		{"ends of all kinds", "id: 1\rdata: a\r\ndata: b\n\rdata: c\n\r\nid: 2\r\n\r", []string{"message=a\nb", "message=c"}, "2", io.EOF},
		{"ids", "id: 1\ndata: a\n\nid: 2\n\n", []string{"message=a"}, "2", io.EOF},
		{"an id with NUL is none", "id: 1\x00\ndata: a\n\n", []string{"message=a"}, "", io.EOF},
		{"an unfinished id does not count", "id: 1\ndata: a\n\nid: 2\ndata: b", []string{"message=a", "message=b"}, "1", io.EOF},
		{"no end", "data: a", []string{"message=a"}, "", io.EOF},
		{"too long a line", "data: " + strings.Repeat("x", 200) + "\n\n", nil, "", errTooLarge},
		{"too many lines", strings.Repeat("data: xxxxxxxxxx\n", 20), nil, "", errTooLarge},
		{"a line without end", strings.Repeat("x", 200), nil, "", errTooLarge},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(test.text), iotest.OneByteReader(strings.NewReader(test.text))} {
				events := newSSEReader(r, 100)
				got, err := collectEvents(events)
				if strings.Join(got, "|") != strings.Join(test.want, "|") || !errors.Is(err, test.err) || events.lastID != test.lastID {
					t.Errorf("%q, id %q, %v", got, events.lastID, err)
				}
			}
		})
	}
}

func collectEvents(events *sseReader) (got []string, err error) {
	for {
		event, err := events.next()
		if err != nil {
			return got, err
		}
		got = append(got, event.name+"="+string(event.data))
	}
}

// FuzzEvents proves that no stream makes an event beyond the limit, or never ends.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("id: 1\nretry: 5\ndata: a\ndata: b\n\nevent: x\r\ndata:\r\n\r\n"))
	f.Add([]byte("\ufeff:\n\n\n\ndata\n\n"))
	f.Add([]byte("data: a\rdata: b\r\n\rdata:\n\r"))
	f.Fuzz(func(t *testing.T, text []byte) {
		const limit = 64
		events := newSSEReader(bytes.NewReader(text), limit)
		for n := 0; ; n++ {
			event, err := events.next()
			if err != nil {
				return
			}
			if len(event.data) > limit+16 || n > len(text) {
				t.Fatalf("%d bytes in event %d", len(event.data), n)
			}
		}
	})
}

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
		after, ok := (&HTTPError{Header: http.Header{"Retry-After": {text}}}).RetryAfter()
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
	if ahead := at(time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)); ahead < 59*time.Minute || ahead > time.Hour {
		t.Errorf("a time to come: %s", ahead)
	}
}

// TestLineEndsWaitForNothing proves that an event whose lines end in CR alone is there
// before anything follows it.
func TestLineEndsWaitForNothing(t *testing.T) {
	from, to := io.Pipe()
	defer func() { _ = from.Close() }()
	go func() { _, _ = io.WriteString(to, "data: a\r\r") }()
	if event, err := newSSEReader(from, 100).next(); err != nil || string(event.data) != "a" {
		t.Errorf("%q, %v", event.data, err)
	}
}

// TestWrongWithJSON proves what is said of a body that should be a message and is none.
func TestWrongWithJSON(t *testing.T) {
	for body, want := range map[string]string{
		" \n":          "nothing",
		"\ufeff":       "nothing",
		`{"id":`:       "JSON that is cut off after 6 bytes",
		"\ufeff[1,":    "JSON that is cut off after 3 bytes",
		"<p>Hello</p>": `what is not JSON, at byte 1 (invalid character '<' looking for beginning of value): "Hello"`,
		`{"a":1} x`:    `more than JSON: the message ends at byte 7 of 9, and behind it stands "x"`,
		"[]":           `JSON that is no message of JSON-RPC: "[]"`,
	} {
		if got := wrongWithJSON([]byte(body)); got != want {
			t.Errorf("%q: %s, want %s", body, got, want)
		}
	}
}
