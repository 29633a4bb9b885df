package streams

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"toolx/pkg/render"
)

// TestErrorsAreCutAsTheyAreShown bounds what stderr gets, not what a server sent.
func TestErrorsAreCutAsTheyAreShown(t *testing.T) {
	for name, text := range map[string]string{
		"escapes":           strings.Repeat("e\x1b", 4*DefaultMaxOutput),
		"escapes at an end": strings.Repeat("e", DefaultMaxOutput/2) + strings.Repeat("\x1b", DefaultMaxOutput),
		"lines":             strings.Repeat("e\n", 4*DefaultMaxOutput),
	} {
		var out bytes.Buffer
		if err := render.Error(&out, shortError(errors.New(text), DefaultMaxOutput), render.Screen{}); err != nil {
			t.Fatal(err)
		}
		if most := DefaultMaxOutput + 100; out.Len() > most || out.Len() < DefaultMaxOutput/4 {
			t.Errorf("%s: %d bytes, want at most %d", name, out.Len(), most)
		}
		if !strings.Contains(out.String(), " shown; --json prints all)") {
			t.Errorf("%s: nothing says that it was cut", name)
		}
	}
}
