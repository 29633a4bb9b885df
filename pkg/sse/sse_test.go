package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
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
		{"too long a line", "data: " + strings.Repeat("x", 200) + "\n\n", nil, "", ErrTooLarge},
		{"too many lines", strings.Repeat("data: xxxxxxxxxx\n", 20), nil, "", ErrTooLarge},
		{"a line without end", strings.Repeat("x", 200), nil, "", ErrTooLarge},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, r := range []io.Reader{
				strings.NewReader(test.text), iotest.OneByteReader(strings.NewReader(test.text)),
			} {
				events := NewReader(r, 100)
				got, err := collectEvents(events)
				if strings.Join(got, "|") != strings.Join(test.want, "|") || !errors.Is(err, test.err) ||
					events.LastID != test.lastID {
					t.Errorf("%q, id %q, %v", got, events.LastID, err)
				}
			}
		})
	}
}

func collectEvents(events *Reader) (got []string, err error) {
	for {
		event, err := events.Next()
		if err != nil {
			return got, err
		}
		got = append(got, event.Name+"="+string(event.Data))
	}
}

// FuzzEvents proves that no stream makes an event beyond the limit, or never ends.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("id: 1\nretry: 5\ndata: a\ndata: b\n\nevent: x\r\ndata:\r\n\r\n"))
	f.Add([]byte("\ufeff:\n\n\n\ndata\n\n"))
	f.Add([]byte("data: a\rdata: b\r\n\rdata:\n\r"))
	f.Fuzz(func(t *testing.T, text []byte) {
		const limit = 64
		events := NewReader(bytes.NewReader(text), limit)
		for n := 0; ; n++ {
			event, err := events.Next()
			if err != nil {
				return
			}
			if len(event.Data) > limit+16 || n > len(text) {
				t.Fatalf("%d bytes in event %d", len(event.Data), n)
			}
		}
	})
}

// TestLineEndsWaitForNothing proves that an event whose lines end in CR alone is there before anything follows it.
func TestLineEndsWaitForNothing(t *testing.T) {
	from, to := io.Pipe()
	defer func() { _ = from.Close() }()
	go func() { _, _ = io.WriteString(to, "data: a\r\r") }()
	if event, err := NewReader(from, 100).Next(); err != nil || string(event.Data) != "a" {
		t.Errorf("%q, %v", event.Data, err)
	}
}

// TestEventFieldsAreBounded proves that no id or name of an event is kept that is as large as
// a message, and that an event whose data line has no colon is one.
func TestEventFieldsAreBounded(t *testing.T) {
	long := strings.Repeat("x", maxField+1)
	reader := NewReader(strings.NewReader("id: 7\ndata\n\nid: "+long+"\nevent: "+long+"\ndata: a\n\n"), 1<<20)
	first, err := reader.Next()
	if err != nil || first.Data == nil || len(first.Data) > 0 || reader.LastID != "7" {
		t.Errorf("%q, id %q, %v", first.Data, reader.LastID, err)
	}
	second, err := reader.Next()
	if err != nil || string(second.Data) != "a" || len(second.Name) != maxField || reader.LastID != "7" {
		t.Errorf("%q, %d bytes of name, %d of id, %v", second.Data, len(second.Name), len(reader.LastID), err)
	}
	if _, err := reader.Next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
