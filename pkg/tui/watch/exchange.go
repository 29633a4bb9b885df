package watch

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"toolx/pkg/mask"
	"toolx/pkg/servers"
	"toolx/pkg/tui/pane"
)

// exchangeFrame returns the row of an HTTP exchange. The messages in it have rows of their own; this
// one holds the headers.
func exchangeFrame(e servers.HTTPExchange) *frame {
	head := exchangeWords(e)
	text := head + "\n" + headerLines("> ", e.Sent) + headerLines("< ", e.Received)
	return &frame{
		line: newLine(e.At, e.Server, text), kind: kindExchange, latency: e.Took,
		failed: e.Err != nil || e.Status >= http.StatusBadRequest,
	}
}

// exchangeWords describes an exchange on one line: POST https://example.com/mcp 200 HTTP/2.0.
func exchangeWords(e servers.HTTPExchange) string {
	words := []string{e.Verb, e.URL}
	if e.Status > 0 {
		words = append(words, fmt.Sprint(e.Status), e.Proto)
	}
	if e.Reused {
		words = append(words, "(connection used again)")
	}
	if e.Err != nil {
		words = append(words, e.Err.Error())
	}
	return strings.Join(words, " ")
}

// headerLines writes headers in the order of their names, with secrets masked by name.
func headerLines(prefix string, headers http.Header) string {
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		for _, value := range headers[name] {
			if mask.Name(name) {
				value = mask.Mask
			}
			fmt.Fprintf(&lines, "%s%s: %s\n", prefix, name, value)
		}
	}
	return lines.String()
}

func (t *wireTab) exchangeCells(f *frame, width int) (what, right string) {
	role := pane.Dim
	if f.failed {
		role = pane.Bad
	}
	head, _, _ := strings.Cut(f.text, "\n")
	what = t.theme.Paint(role, t.theme.Glyphs.Bullet+" "+t.safe(head, width))
	return what, t.theme.Paint(pane.Dim, pane.Duration(f.latency))
}
