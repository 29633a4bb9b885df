package servers

import (
	"strings"
	"testing"

	"toolx/pkg/servers/diagnose"
)

// What npx fetches is not silent for a lack of arguments.
func TestHintOfFetchingCommand(t *testing.T) {
	for program, want := range map[string]string{
		"/usr/bin/npx": "/usr/bin/npx may still be downloading the server",
		"uvx":          "uvx may still be downloading the server",
		"node":         "check whether it needs an argument for MCP on stdio",
	} {
		err := &ConnectError{Last: &diagnose.Failure{
			Ending: diagnose.EndingSilent, Waiting: "initialize", Command: []string{program},
		}}
		if got := err.Hint(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", program, got)
		}
	}
}
