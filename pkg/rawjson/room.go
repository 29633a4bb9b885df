package rawjson

import "slices"

const (
	// largeText is the size in bytes from which the room of a text grows eightfold.
	largeText = 1 << 20
	// lastChunk is the size in bytes of what may have been read beyond a limit.
	lastChunk = 64 << 10
)

// Room returns text with room for size more bytes, for a text of limit bytes at most. A message may be tens of
// megabytes: its room grows fast, since a copy takes memory, and room that is not written to takes none.
func Room(text []byte, size int, limit int64) []byte {
	need := len(text) + size
	if need <= cap(text) {
		return text
	}
	if need <= largeText {
		return slices.Grow(text, size)
	}
	room := max(int64(need), min(8*int64(need), limit+lastChunk))
	return append(make([]byte, 0, room), text...)
}
