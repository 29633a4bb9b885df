//go:build unix

package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestConfirmCallOnTerminal asks a person before a call that needs confirmation, and takes nothing but a yes for one.
func TestConfirmCallOnTerminal(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "toolx.yaml")
	text := "defaults: {slow: none}\n" +
		"tools: [{name: erase, annotations: {destructiveHint: true}, implementation: {type: mock, mock_response: gone}}]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		answer, want string
		code         int
	}{
		{"y\n", "\r\ngone\r\n", 0},
		{"yes\n", "\r\ngone\r\n", 0},
		{"no\n", "; the answer was no", 2},
		{"\n", "; the answer was no", 2},
		{"\x03", "interrupted", 130},
	} {
		term := onTerminal(t, []string{"TERM=dumb"}, "call", "erase", "all:=true", "--config", config,
			"--confirm", "always")
		term.await(`call erase \{"all":true\}\? Every call must be confirmed \(confirm: always, --confirm\)\. \[y/N\] `)
		if _, err := term.master.WriteString(test.answer); err != nil {
			t.Fatal(err)
		}
		if written := term.end(test.code); !strings.Contains(written, test.want) {
			t.Errorf("after %q the screen shows %q", test.answer, written)
		}
	}
}

// TestSecretOnTerminal asks for a secret without showing it.
func TestSecretOnTerminal(t *testing.T) {
	t.Parallel()
	term := onTerminal(t, []string{"TERM=dumb", "TOOLX_KEYRING=off"}, "secret", "set", "github")
	term.await(`secret github \(it is not shown\): `)
	if _, err := term.master.WriteString("hunter22\n"); err != nil {
		t.Fatal(err)
	}
	if written := term.end(0); strings.Contains(written, "hunter22") || !strings.Contains(written, "stored in ") {
		t.Errorf("the screen shows %q", written)
	}
	term = onTerminal(t, []string{"TERM=dumb", "TOOLX_KEYRING=off"}, "secret", "set", "github")
	term.await(`secret github \(it is not shown\): `)
	if _, err := term.master.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	term.end(130)
}
