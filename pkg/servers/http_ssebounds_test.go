package servers

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestEventFieldsAreBounded proves that no id or name of an event is kept that is as large as
// a message, and that an event whose data line has no colon is one.
func TestEventFieldsAreBounded(t *testing.T) {
	long := strings.Repeat("x", maxField+1)
	reader := newSSEReader(strings.NewReader("id: 7\ndata\n\nid: "+long+"\nevent: "+long+"\ndata: a\n\n"), 1<<20)
	first, err := reader.next()
	if err != nil || first.data == nil || len(first.data) > 0 || reader.lastID != "7" {
		t.Errorf("%q, id %q, %v", first.data, reader.lastID, err)
	}
	second, err := reader.next()
	if err != nil || string(second.data) != "a" || len(second.name) != maxField || reader.lastID != "7" {
		t.Errorf("%q, %d bytes of name, %d of id, %v", second.data, len(second.name), len(reader.lastID), err)
	}
	if _, err := reader.next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
