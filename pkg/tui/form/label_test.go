package form

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// A field whose name could not be seen has its name in quotes.
func TestBlankNames(t *testing.T) {
	f := newForm(`{"type":"object","required":[""],"properties":{"":{"type":"string"},"  ":{"type":"string"},"\u00a0":{"type":"integer"},"plain":{"type":"string"}}}`)
	f.Focus(true)
	drawn := ansi.Strip(f.Render(60, 10))
	for _, want := range []string{`""*`, `"  " `, `"\u00a0" `, "plain ", `"": text`} {
		if !strings.Contains(drawn, want) {
			t.Errorf("%s is not in\n%s", want, drawn)
		}
	}
}
