package cmd

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"toolx/pkg/words"
)

// maxWarnings is how many warnings about one server are told that differ by more than numbers.
const maxWarnings = 50

// repeats logs warnings of which a server can cause any number. Of those that differ by
// numbers alone the first is told; the others are counted, and the count is told when it
// is 100, 1,000 and so on, and at the end. With -v every one is logged.
type repeats struct {
	log *slog.Logger

	mu        sync.Mutex
	kinds     map[warningKind]*repeated
	order     []*repeated
	different map[string]int // by server
}

// warningKind is what equal warnings have in common.
type warningKind struct{ server, text string }

// repeated is a warning that was told, and how many like it were not.
type repeated struct {
	text       string // how the count ends
	level      slog.Level
	more, told int
}

func newRepeats(log *slog.Logger) *repeats {
	return &repeats{log: log, kinds: make(map[warningKind]*repeated), different: make(map[string]int)}
}

// warn logs a warning about a server.
func (r *repeats) warn(level slog.Level, server, text string, attrs ...slog.Attr) {
	r.warnOf(warningKind{server, withoutNumbers(text)}, level, text, attrs...)
}

// warnOf is warn with what makes warnings equal.
func (r *repeats) warnOf(kind warningKind, level slog.Level, text string, attrs ...slog.Attr) {
	told, count := r.add(kind, level, text)
	if !told {
		level = min(level, slog.LevelInfo)
	}
	r.log.LogAttrs(context.Background(), level, text, attrs...)
	if count != nil {
		count()
	}
}

// add counts a warning. It reports whether it is to be told, and returns what tells of
// those before it, nil where it is not the time.
func (r *repeats) add(kind warningKind, level slog.Level, text string) (tell bool, count func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.kinds[kind]
	if one == nil {
		if r.different[kind.server] >= maxWarnings {
			kind.text = "" // which stands for all others
			text = fmt.Sprintf("of another kind about server %q; -v shows each", kind.server)
			one = r.kinds[kind]
		}
		if one == nil {
			one = &repeated{text: "like it: " + words.Clip(text, 100), level: level}
			r.kinds[kind], r.order = one, append(r.order, one)
			r.different[kind.server]++
			if kind.text != "" {
				return true, nil
			}
			one.text = text
		}
	}
	one.more++
	if one.more < 100 || !isPowerOfTen(one.more) {
		return false, nil
	}
	one.told = one.more
	words := fmt.Sprintf("… and so far %d more %s", one.more, one.text)
	return false, func() { r.log.Log(context.Background(), one.level, words) }
}

// end tells the counts that were not told yet.
func (r *repeats) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.order {
		if one.more > one.told {
			r.log.Log(context.Background(), one.level, fmt.Sprintf("… and %d more %s", one.more, one.text))
			one.told = one.more
		}
	}
}

func isPowerOfTen(n int) bool {
	for n%10 == 0 && n > 0 {
		n /= 10
	}
	return n == 1
}

// withoutNumbers is a text with a sign in the place of each number.
func withoutNumbers(text string) string {
	var plain strings.Builder
	number := false
	for i := range len(text) {
		digit := text[i] >= '0' && text[i] <= '9'
		switch {
		case !digit:
			plain.WriteByte(text[i])
		case !number:
			plain.WriteByte('#')
		}
		number = digit
	}
	return plain.String()
}
