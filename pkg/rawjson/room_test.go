package rawjson

import "testing"

// TestRoom proves that a text keeps its bytes when its room grows, and that the room keeps to the limit.
func TestRoom(t *testing.T) {
	const limit = 20 << 20
	chunk := make([]byte, 32<<10)
	var text []byte
	grown := 0
	for len(text) < limit {
		roomy := Room(text, len(chunk), limit)
		if cap(roomy) != cap(text) {
			grown++
		}
		text = append(roomy, chunk...)
		text[len(text)-1] = byte(len(text) >> 15)
		if cap(text) > limit+lastChunk {
			t.Fatalf("room for %d bytes", cap(text))
		}
	}
	for at := len(chunk); at <= len(text); at += len(chunk) {
		if text[at-1] != byte(at>>15) {
			t.Fatalf("byte %d is lost", at)
		}
	}
	if grown > 20 { // most of them up to 1 MiB
		t.Errorf("the room grew %d times", grown)
	}
	if room := cap(Room(text, limit, limit)); room < 2*limit {
		t.Errorf("room for %d bytes, and %d are to be added", room, limit)
	}
}
