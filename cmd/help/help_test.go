package help

import (
	"strings"
	"testing"

	"toolx/cmd/cmdtest"
	"toolx/cmd/streams"
	"toolx/docs"
)

// TestPagesOnATerminal looks for marks of Markdown, which only a pipe gets.
func TestPagesOnATerminal(t *testing.T) {
	console, _, _ := cmdtest.Buffered("")
	for _, topic := range docs.Topics() {
		page := docs.Page(topic)
		if got := shown(streams.New(console), page); got != page {
			t.Errorf("%s: a pipe gets\n%s", topic, got)
		}
		console.OutTTY = true
		got := shown(streams.New(console), page)
		console.OutTTY = false
		for _, mark := range []string{"```", "](", "\n# ", "\n## ", "| ---"} {
			if strings.Contains(got, mark) {
				t.Errorf("%s: %q in\n%s", topic, mark, got)
			}
		}
	}
}
