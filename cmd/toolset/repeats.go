package toolset

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"sync"

	"toolx/pkg/words"
)

// maxWarnings is how many different warnings about one server are logged.
const maxWarnings = 50

// repeats logs warnings of which a server can cause any number. Of warnings that differ only in numbers, it logs the
// first and counts the others; it logs the count at 100, 1,000 and so on, and at the end. With -v it logs every one.
type repeats struct {
	log     *slog.Logger
	numbers *regexp.Regexp

	mu        sync.Mutex
	kinds     map[warningKind]*repeated
	order     []*repeated
	different map[string]int // by server
}

// warningKind identifies equal warnings.
type warningKind struct{ server, text string }

// repeated is a warning that was logged, and the number of equal ones that were not.
type repeated struct {
	text  string // the end of a line with the count
	level slog.Level
	more  int
	told  int // the last logged count
	next  int // the count to log next
}

func newRepeats(log *slog.Logger) *repeats {
	return &repeats{
		log: log, numbers: regexp.MustCompile(`[0-9]+`),
		kinds: make(map[warningKind]*repeated), different: make(map[string]int),
	}
}

// warn logs a warning about a server.
func (r *repeats) warn(level slog.Level, server, text string, attrs ...slog.Attr) {
	r.warnOf(warningKind{server, r.numbers.ReplaceAllString(text, "#")}, level, text, attrs...)
}

// warnOf is warn for a kind that the caller knows.
func (r *repeats) warnOf(kind warningKind, level slog.Level, text string, attrs ...slog.Attr) {
	first, count := r.add(kind, level, text)
	shown := level
	if !first {
		shown = min(level, slog.LevelInfo)
	}
	r.log.LogAttrs(context.Background(), shown, text, attrs...)
	if count != "" {
		r.log.Log(context.Background(), level, count)
	}
}

// add counts a warning. It reports whether the warning is the first of its kind, and returns a line with the count so
// far, empty if it is not time for one.
func (r *repeats) add(kind warningKind, level slog.Level, text string) (first bool, count string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kinds[kind] == nil && r.different[kind.server] < maxWarnings {
		r.begin(kind, level, "like it: "+words.Clip(text, 100))
		return true, ""
	}
	if r.kinds[kind] == nil {
		kind.text = "" // all others together
	}
	if r.kinds[kind] == nil {
		r.begin(kind, level, fmt.Sprintf("of other kinds about server %q; -v shows each", kind.server))
	}
	one := r.kinds[kind]
	one.more++
	if one.more < one.next {
		return false, ""
	}
	one.told, one.next = one.more, 10*one.next
	return false, fmt.Sprintf("… and so far %d more %s", one.more, one.text)
}

// begin starts to count a kind of warning. The caller holds the lock.
func (r *repeats) begin(kind warningKind, level slog.Level, text string) {
	one := &repeated{text: text, level: level, next: 100}
	r.kinds[kind], r.order = one, append(r.order, one)
	r.different[kind.server]++
}

// end logs the counts that were not logged yet.
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
