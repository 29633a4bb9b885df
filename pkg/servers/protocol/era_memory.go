package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"toolx/pkg/state"
)

// way is how a session over HTTP begins.
type way string

// The ways, from the newest.
const (
	wayUnknown way = ""
	wayModern  way = "modern" // server/discover
	wayLegacy  way = "legacy" // initialize, over streamable HTTP
	wayOld     way = "sse"    // initialize, over the older HTTP with SSE
)

// eraMemory is a file that knows which way led to a session, so that the next start
// need not find out again. It is a shortcut and no more: what cannot be read or written
// is not known, and a way that leads nowhere any more is found out again.
type eraMemory struct {
	path string // empty: nothing is remembered
}

// remembered is what the file has of an address. Addresses may have secrets, so their hashes stand for them.
type remembered struct {
	Way way       `json:"way"`
	At  time.Time `json:"at"`
}

// The limits of what is remembered: a server may have become a newer one since.
const (
	eraLasts = 24 * time.Hour
	mostEras = 200
	maxEras  = 1 << 20 // bytes of the file that is read
)

func eraKey(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:12])
}

func (e eraMemory) read() map[string]remembered {
	known := make(map[string]remembered)
	if e.path == "" {
		return known
	}
	text, err := state.Read(e.path, maxEras)
	if err != nil || json.Unmarshal(text, &known) != nil {
		return make(map[string]remembered)
	}
	for key, one := range known {
		if age := time.Since(one.At); age > eraLasts || age < 0 {
			delete(known, key)
		}
	}
	return known
}

// recall returns the way that led to an address before.
func (e eraMemory) recall(address string) way { return e.read()[eraKey(address)].Way }

// remember keeps the way to an address; wayUnknown forgets it. Of two processes that
// write at the same time, one is not heard, and that is no loss.
func (e eraMemory) remember(address string, found way) {
	known := e.read()
	key := eraKey(address)
	if e.path == "" || known[key].Way == found {
		return
	}
	if delete(known, key); found != wayUnknown && len(known) < mostEras {
		known[key] = remembered{found, time.Now().UTC().Truncate(time.Second)}
	}
	if text, err := json.Marshal(known); err == nil {
		_ = state.Replace(e.path, text) // the next start finds out again
	}
}
