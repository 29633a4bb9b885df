package watch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
)

// blob is a row of a weight.
type blob struct{ id, size int }

func (b blob) subject() string            { return "a" }
func (b blob) when() time.Time            { return time.Time{} }
func (b blob) weight() int                { return b.size }
func (b blob) contains(lower string) bool { return strings.Contains(fmt.Sprint(b.id), lower) }

// A ring holds to its bounds, keeps the newest rows in their order, and counts what
// it drops.
func TestRing(t *testing.T) {
	for name, test := range map[string]struct {
		rows, size  int
		first, kept int
	}{
		"empty":         {0, 1, 0, 0},
		"few":           {3, 1, 0, 3},
		"full":          {maxRows, 1, 0, maxRows},
		"one too many":  {maxRows + 1, 1, 1, maxRows},
		"around twice":  {2*maxRows + 7, 1, maxRows + 7, maxRows},
		"heavy":         {100, maxBytes / 10, 90, 10},
		"heavy and odd": {100, maxBytes/10 + 1, 91, 9},
		"too heavy":     {5, 2 * maxBytes, 4, 1}, // the newest is kept in any case
	} {
		var r ring[blob]
		for i := range test.rows {
			r.push(blob{i, test.size})
		}
		if r.first != test.first || r.count != test.kept || r.bytes != test.kept*test.size {
			t.Errorf("%s: first %d, kept %d, %d bytes", name, r.first, r.count, r.bytes)
		}
		for number := r.first; number < r.end(); number++ {
			if r.at(number).id != number {
				t.Fatalf("%s: row %d is %d", name, number, r.at(number).id)
			}
		}
	}
}

// Rows of different weights are taken away as they were added.
func TestRingBytes(t *testing.T) {
	var r ring[blob]
	for i := range 3 * maxRows {
		r.push(blob{i, i * 37 % maxText})
		if r.bytes > maxBytes || r.count > maxRows {
			t.Fatalf("%d rows, %d bytes", r.count, r.bytes)
		}
	}
	sum := 0
	for number := r.first; number < r.end(); number++ {
		sum += r.at(number).size
	}
	if sum != r.bytes {
		t.Errorf("%d bytes are counted, %d are there", r.bytes, sum)
	}
}

// One text takes no more than its bound, wherever it comes from, and every tab holds
// to the bound of all.
func TestMemoryIsBounded(t *testing.T) {
	huge := strings.Repeat("x", 256<<10)
	message := []byte(`{"id":1,"method":"` + huge + `","params":{"name":"` + huge + `"}}`)
	w := newWatch()
	for range 100 {
		take(w,
			stderrLine(0, "a", huge), wire.NewFrameReceived(after(0).At, "a", 0, message),
			wire.PollutedLine{Head: wire.Head{Server: "a"}, Class: wire.ClassText, Text: []byte(huge)},
			wire.LogMessage{Head: wire.Head{Server: "a"}, Level: huge, Logger: huge, Data: message},
			exec.Notice{Text: huge}, finished(0, huge[:100], string(message), 1, nil),
		)
	}
	for name, bytes := range map[string]int{
		"stderr": w.stderr.journal.all.bytes, "wire": w.wire.journal.all.bytes, "log": w.log.journal.all.bytes,
		"history": w.history.journal.all.bytes,
	} {
		if bytes > maxBytes {
			t.Errorf("%s holds %d bytes", name, bytes)
		}
	}
	if f := w.wire.journal.all.at(w.wire.journal.all.first); len(f.text) > maxText || len(f.head.method) > maxName {
		t.Errorf("a frame keeps %d bytes, %d of its method", len(f.text), len(f.head.method))
	}
}
