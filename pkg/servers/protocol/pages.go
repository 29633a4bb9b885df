package protocol

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	mcphttp "toolx/pkg/servers/http"
	"toolx/pkg/words"
)

// The bounds of a list, besides the size of all its pages: a server that always has another
// page never ends, and what toolx keeps of an element can be much more than its bytes.
const (
	maxPages    = 1000
	maxElements = 100_000
)

// maxQuotedList is how many bytes are looked at of what stands in the place of a list.
const maxQuotedList = 1 << 10

// pager follows a list from page to page.
type pager struct {
	requester *requester
	method    string
	// cursor leads to the next page; nil asks for the first one.
	cursor json.RawMessage

	pages, elements int
	bytes           int64 // of all pages, and of the cursors that were sent
	seen            map[[sha256.Size]byte]bool
	terms           terms // of the pages together
}

func (r *requester) newPager(method string) *pager {
	return &pager{requester: r, method: method, seen: make(map[[sha256.Size]byte]bool)}
}

// take takes a page and returns the elements of its named member, byte for byte, and whether
// another page is to be asked for. A list that goes on beyond the bounds ends there, with a
// warning. The error says what is wrong with the page.
func (p *pager) take(result json.RawMessage, member string) (elements []json.RawMessage, more bool, err error) {
	if !rawjson.IsObject(result) {
		return nil, false, errors.New("the result is not an object")
	}
	list, next := rawjson.Get(result, member), rawjson.Get(result, "nextCursor")
	isArray := len(list) > 0 && list[0] == '['
	if !isArray && list != nil && string(list) != "null" { // an empty list, as many servers write it
		return nil, false, fmt.Errorf("%s is not an array: %s", member,
			mcphttp.Shortened(string(list[:min(len(list), maxQuotedList)])))
	}
	elements, beyond := rawjson.FirstElements(list, maxElements-p.elements)
	if p.pages++; p.pages == 1 {
		p.terms = termsOf(result)
	} else {
		p.terms = p.terms.and(termsOf(result))
	}
	p.elements += len(elements)
	p.bytes += int64(len(result))
	if beyond {
		p.stop("has more than %d elements in %s", maxElements, p.method)
		return elements, false, nil
	}
	if next == nil || string(next) == "null" { // an empty string is a cursor
		return elements, false, nil
	}
	p.bytes += int64(len(next))
	digest := sha256.Sum256(next)
	limit := p.requester.maxMessage
	switch {
	case p.seen[digest]:
		p.stop("repeats the cursor %s of %s", mcphttp.Shortened(string(next)), p.method)
	case p.bytes >= limit:
		p.stop("has pages of %s that are over the limit of %s for one list (maxMessage in the config raises it)",
			p.method, exec.Bytes(limit))
	case p.elements >= maxElements:
		p.stop("has more than %d elements in %s", maxElements, p.method)
	case p.pages >= maxPages:
		p.stop("has more than %d pages of %s", maxPages, p.method)
	default:
		p.seen[digest] = true
		p.cursor = next
		return elements, true, nil
	}
	return elements, false, nil
}

// unfinishedError says that a list was still going on when its limit passed.
type unfinishedError struct {
	method string
	pages  int
	err    error
}

func (e *unfinishedError) Error() string {
	return fmt.Sprintf("%s gave %s, and there is another one", e.method, words.Count(e.pages, "page"))
}

// Unwrap returns the context's error.
func (e *unfinishedError) Unwrap() error { return e.err }

// Detail returns the text that exec.TimeoutError adds.
func (e *unfinishedError) Detail() string { return e.Error() }

// stop warns of a list that is not followed to its end, so that it is not kept for later either.
func (p *pager) stop(format string, values ...any) {
	p.terms = terms{}
	why := fmt.Sprintf(format, values...)
	p.requester.notice(slog.LevelWarn, fmt.Sprintf("server %q %s; toolx stopped there", p.requester.Name, why))
}
