package cmd

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
		"escapes":           strings.Repeat("e\x1b", 4*defaultMaxOutput),
		"escapes at an end": strings.Repeat("e", defaultMaxOutput/2) + strings.Repeat("\x1b", defaultMaxOutput),
		"lines":             strings.Repeat("e\n", 4*defaultMaxOutput),
	} {
		var out bytes.Buffer
		if err := render.Error(&out, shortError(errors.New(text), defaultMaxOutput), render.Screen{}); err != nil {
			t.Fatal(err)
		}
		if most := defaultMaxOutput + 100; out.Len() > most || out.Len() < defaultMaxOutput/4 {
			t.Errorf("%s: %d bytes, want at most %d", name, out.Len(), most)
		}
		if !strings.Contains(out.String(), " shown; --json prints all)") {
			t.Errorf("%s: nothing says that it was cut", name)
		}
	}
}
