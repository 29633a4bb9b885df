package cmd

import (
	"strings"
	"testing"

	"toolx/cmd/streams"
)

// TestVersion runs a command with a struct literal and buffers, as CONTRIBUTING.md shows.
func TestVersion(t *testing.T) {
	console, out, _ := buffered("")
	err := runVersion(t.Context(), versionOptions{Out: streams.New(console), json: true})
	if err != nil || !strings.HasPrefix(out.String(), `{"version":`) {
		t.Errorf("%v: %s", err, out)
	}
}
