package timeline

import (
	"strings"
	"testing"

	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
)

// A ring holds to its bounds, keeps the newest rows in their order, and counts what
// it drops.
func TestRing(t *testing.T) {
	for name, test := range map[string]struct {
		rows, size  int
		drops, kept int
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
		var r ring
		for i := range test.rows {
			r.push(&row{number: i, weight: test.size})
		}
		if r.drops != test.drops || r.count != test.kept || r.bytes != test.kept*test.size {
			t.Errorf("%s: dropped %d, kept %d, %d bytes", name, r.drops, r.count, r.bytes)
		}
		for i := range r.count {
			if got := r.at(i).number; got != r.drops+i {
				t.Fatalf("%s: row %d is %d", name, r.drops+i, got)
			}
		}
	}
}

// Rows of different weights are taken away as they were added.
func TestRingBytes(t *testing.T) {
	var r ring
	for i := range 3 * maxRows {
		r.push(&row{weight: i * 37 % maxText})
		if r.bytes > maxBytes || r.count > maxRows {
			t.Fatalf("%d rows, %d bytes", r.count, r.bytes)
		}
	}
	sum := 0
	for i := range r.count {
		sum += r.at(i).weight
	}
	if sum != r.bytes {
		t.Errorf("%d bytes are counted, %d are there", r.bytes, sum)
	}
}

// One text takes no more than its bound, wherever it comes from, and every ring holds
// to the bound of all.
func TestMemoryIsBounded(t *testing.T) {
	huge := strings.Repeat("x", 256<<10)
	message := []byte(`{"id":1,"method":"` + huge + `","params":{"name":"` + huge + `"}}`)
	w := newTimeline()
	for range 100 {
		take(w,
			stderrLine(0, "a", huge), wire.NewFrameReceived(after(0).At, "a", 0, message),
			wire.PollutedLine{Head: wire.Head{Server: "a"}, Class: wire.ClassText, Text: []byte(huge)},
			wire.LogMessage{Head: wire.Head{Server: "a"}, Level: huge, Logger: huge, Data: message},
			exec.Notice{Text: huge}, finished(0, huge[:100], string(message), 1, nil),
		)
	}
	for of, r := range w.rows.rings {
		if r.bytes > maxBytes {
			t.Errorf("%v holds %d bytes", of, r.bytes)
		}
	}
	for r := range w.rows.ring(shelf{"a", streamWire}).backward() {
		m := r.message
		if m != nil && (len(r.text) > maxFrame || len(m.method) > maxName || len(m.summary) > 3*maxName) {
			t.Errorf("a frame keeps %d bytes, %d of its method", len(r.text), len(m.method))
		}
	}
}
