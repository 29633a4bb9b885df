//go:build unix

package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestModelResultsOnTerminal indents the message for the model on a terminal, and
// shows control sequences in a server's text as escapes of JSON.
func TestModelResultsOnTerminal(t *testing.T) {
	message := filepath.Join(t.TempDir(), "message.json")
	const call = `{"id":"call_1","type":"function","function":{"name":"echo","arguments":"{\"message\":\"hi\"}"}}`
	if err := os.WriteFile(message, []byte(call), 0o600); err != nil {
		t.Fatal(err)
	}
	shown := onTerminal(t, nil, "call", "--from-tool-call", message, "--", "fakeserver", "term-title").end(0)
	for _, want := range []string{"[\r\n  {\r\n    \"role\": \"tool\",\r\n", `"content": "\u001b]0;owned\u0007hi"`} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in\n%q", want, shown)
		}
	}
}
