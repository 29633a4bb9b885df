// Package mask hides secrets in toolx's own records: logs, traces, the execution log. It never changes requests or
// results.
//
// It recognises a secret in three ways: by the name that it is assigned to (Name), by its value if that came from a
// variable (Masker.Add), and by its shape if a service gives its tokens one (ghp_…, AKIA…, JWTs, private keys).
// Everything else is preserved byte for byte.
package mask

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Mask replaces a secret.
const Mask = "***"

// minLength is the length in bytes below which a value is not hidden, because short values are frequent.
const minLength = 4

// Masker hides secrets. The zero value is ready to use and has no values. So is a nil Masker, to which no values can be
// added. A Masker is safe for concurrent use.
type Masker struct {
	mu     sync.Mutex
	values map[string]bool
	finder atomic.Pointer[finder] // of values; nil until first needed
}

// finder hides a fixed set of values.
type finder struct {
	values   []string // longest first
	replacer *strings.Replacer
}

// New returns a Masker that hides values; see Add.
func New(values ...string) *Masker {
	m := new(Masker)
	m.Add(values...)
	return m
}

// Add hides these values from now on, as they are and in the forms in which they are sent: escaped in JSON, encoded in
// a URL, in base64. It ignores values shorter than minLength and the words true, false and null, because hiding them
// would hide half of every text.
func (m *Masker) Add(values ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		m.values = make(map[string]bool)
	}
	changed := false
	for _, value := range values {
		if len(value) < minLength || isLiteral(value) {
			continue
		}
		for _, form := range forms(value) {
			changed = changed || !m.values[form]
			m.values[form] = true
		}
	}
	if changed {
		m.finder.Store(nil)
	}
}

// find returns the finder of all values.
func (m *Masker) find() *finder {
	if f := m.finder.Load(); f != nil {
		return f
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	f := newFinder(m.values)
	m.finder.Store(f)
	return f
}

func isLiteral(value string) bool {
	return value == "true" || value == "false" || value == "null"
}

// newFinder sorts longer values first: of several values that begin at one place, a Replacer uses the first.
func newFinder(values map[string]bool) *finder {
	f := &finder{values: slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})}
	pairs := make([]string, 0, 2*len(f.values))
	for _, value := range f.values {
		pairs = append(pairs, value, Mask)
	}
	f.replacer = strings.NewReplacer(pairs...)
	return f
}

// fewValues is the number of values up to which searching each is faster than the Replacer.
const fewValues = 100

// in reports whether any value may be in text. Searching a few values is many times faster than the Replacer, which is
// only needed to replace them.
func (f *finder) in(text string) bool {
	if len(f.values) > fewValues {
		return true
	}
	return slices.ContainsFunc(f.values, func(value string) bool { return strings.Contains(text, value) })
}

// Text hides secrets in any text: a log line, a command line, a URL, a piece of JSON or YAML. Use JSON
// for JSON that must stay valid.
func (m *Masker) Text(text string) string {
	if len(text) < minLength {
		return text
	}
	return m.known(shapes(shortFlags(assignments(m.known(text), isStub)), nil))
}

// known hides registered values. A mask and its neighbours can form another value, hence the loop; it ends because
// every round makes text shorter.
func (m *Masker) known(text string) string {
	if m == nil {
		return text
	}
	finder := m.find()
	for finder.in(text) {
		replaced := finder.replacer.Replace(text)
		if replaced == text {
			break
		}
		text = replaced
	}
	return finder.cutOff(text)
}

// cut marks the place where text was shortened.
const cut = "…"

// cutOff hides the part of a value at a cut: its beginning before the mark, or its end after it.
func (f *finder) cutOff(text string) string {
	for from := 0; ; {
		at := strings.Index(text[from:], cut)
		if at < 0 {
			return text
		}
		before, after := text[:from+at], text[from+at+len(cut):]
		begun, ended := 0, 0
		for _, value := range f.values {
			begun = longest(begun, min(len(value)-1, len(before)), func(n int) bool {
				return strings.HasSuffix(before, value[:n])
			})
			ended = longest(ended, min(len(value)-1, len(after)), func(n int) bool {
				return strings.HasPrefix(after, value[len(value)-n:])
			})
		}
		if begun > 0 {
			before = before[:len(before)-begun] + Mask
		}
		if ended > 0 {
			after = Mask + after[ended:]
		}
		text, from = before+cut+after, len(before)+len(cut)
	}
}

// longest returns the greatest n up to most that fits, if it is at least minLength and more than least; else least.
func longest(least, most int, fits func(n int) bool) int {
	for n := most; n >= max(minLength, least+1); n-- {
		if fits(n) {
			return n
		}
	}
	return least
}

// Beginning is Text for a text without its end, which may have split a secret.
func (m *Masker) Beginning(text string) string { return strings.TrimSuffix(m.Text(text+cut), cut) }

// Attr hides secrets in an attribute of a log record, by its key and in its text. It has the type of
// slog.HandlerOptions.ReplaceAttr. Times, levels, numbers and booleans are unchanged.
func (m *Masker) Attr(_ []string, attr slog.Attr) slog.Attr {
	value := attr.Value.Resolve()
	kind := value.Kind()
	switch {
	case kind != slog.KindString && kind != slog.KindAny:
		return attr
	case Name(attr.Key):
		return slog.String(attr.Key, Mask)
	case kind == slog.KindString:
		return slog.String(attr.Key, m.Text(value.String()))
	}
	return slog.Any(attr.Key, m.any(value.Any()))
}

// any hides secrets in values of a log record that are neither text nor numbers.
func (m *Masker) any(value any) any {
	switch value := value.(type) {
	case slog.Level, *slog.Source:
		return value
	case error:
		return m.Text(value.Error())
	case []byte:
		return string(m.JSON(value))
	case json.Marshaler:
		if text, err := value.MarshalJSON(); err == nil {
			return string(m.JSON(text))
		}
	case fmt.Stringer:
		return m.Text(value.String())
	case []string:
		masked := make([]string, len(value))
		for i, text := range value {
			masked[i] = m.Text(text)
		}
		return masked
	}
	return value
}
