package timeline

import (
	"cmp"
	"iter"
	"slices"

	"toolx/pkg/servers/wire"
)

// The bounds of what is kept, of each kind of row of each server: a server that prints without end displaces neither
// its own frames nor the rows of others.
const (
	maxRows   = 10_000
	maxBytes  = 16 << 20
	maxText   = 64 << 10 // bytes of one line
	maxFrame  = 4 << 20  // bytes of one frame
	rowWeight = 300      // approximate bytes that a row takes besides its text
)

// ring keeps the newest rows within the bounds. The zero value is empty.
type ring struct {
	slots []*row
	start int // the slot of the oldest row
	count int
	bytes int
	drops int // how many rows were dropped
}

// at returns a row, counted from the oldest.
func (r *ring) at(i int) *row { return r.slots[(r.start+i)%len(r.slots)] }

// backward iterates over the rows, the newest first.
func (r *ring) backward() iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for i := r.count - 1; i >= 0; i-- {
			if !yield(r.at(i)) {
				return
			}
		}
	}
}

// push adds a row and drops old ones beyond the bounds.
func (r *ring) push(one *row) {
	for r.count > 0 && (r.count >= maxRows || r.bytes+one.weight > maxBytes) {
		r.drop()
	}
	if r.count == len(r.slots) {
		slots := make([]*row, min(maxRows, max(64, 2*r.count)))
		for i := range r.count {
			slots[i] = r.at(i)
		}
		r.slots, r.start = slots, 0
	}
	r.slots[(r.start+r.count)%len(r.slots)] = one
	r.count++
	r.bytes += one.weight
}

func (r *ring) drop() {
	one := r.slots[r.start]
	one.gone = true
	r.bytes -= one.weight
	r.slots[r.start] = nil // for the garbage collector
	r.start = (r.start + 1) % len(r.slots)
	r.count--
	r.drops++
}

// shelf names a ring. The calls of all servers share one.
type shelf struct {
	server string
	stream stream
}

// store keeps the rows.
type store struct {
	rings map[shelf]*ring
	peers map[wire.Head]*peer // by their source
	next  int                 // number of the next row
	drops int                 // counts dropped rows
	added int                 // counts added calls
	stats stats
	// recorded reports whether the rows are those of a recording.
	recorded bool
}

func (s *store) add(one *row) {
	one.number = s.next
	s.next++
	s.put(one)
}

func (s *store) put(one *row) {
	r := s.ring(shelf{one.server, one.stream()})
	before := r.drops
	r.push(one)
	s.drops += r.drops - before
}

// ring returns a ring, which it makes if there is none.
func (s *store) ring(of shelf) *ring {
	if of.stream == streamCalls {
		of.server = ""
	}
	if s.rings == nil {
		s.rings = make(map[shelf]*ring)
	}
	if s.rings[of] == nil {
		s.rings[of] = &ring{}
	}
	return s.rings[of]
}

func (s *store) calls() *ring { return s.ring(shelf{stream: streamCalls}) }

// servers returns the names of the servers that have rows.
func (s *store) servers() map[string]bool {
	names := make(map[string]bool)
	for of := range s.rings {
		if of.server != "" {
			names[of.server] = true
		}
	}
	return names
}

// since returns the rows of a choice from a number on, in order.
func (s *store) since(number int, c choice) []*row {
	var rows []*row
	for of, r := range s.rings {
		if !c.looksAt(of) {
			continue
		}
		for one := range r.backward() {
			if one.number < number {
				break
			}
			if c.lets(one) {
				rows = append(rows, one)
			}
		}
	}
	slices.SortFunc(rows, func(a, b *row) int { return cmp.Compare(a.number, b.number) })
	return rows
}

// dropped returns how many rows are missing at the beginning of a choice.
func (s *store) dropped(c choice) int {
	n := 0
	for of, r := range s.rings {
		if c.looksAt(of) && r.drops > 0 && r.at(0).at.After(c.from) {
			n += r.drops
		}
	}
	return n
}
