//go:build unix

package cmd_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolx/pkg/ai/fake"
)

// TestConfirmOnTerminal asks a person before a destructive tool runs, and takes nothing but a yes for one.
func TestConfirmOnTerminal(t *testing.T) {
	t.Parallel()
	const (
		erase = `{"message":{"role":"assistant","content":"I will.","tool_calls":[{"function":{"name":"erase","arguments":{"all":true}}}]},"done":true,"done_reason":"stop"}`
		says  = `{"message":{"role":"assistant","content":"Well\u001b[2J."},"done":true,"done_reason":"stop"}`
	)
	config := filepath.Join(t.TempDir(), "toolx.yaml")
	text := "defaults: {slow: none}\n" +
		"tools: [{name: erase, annotations: {destructiveHint: true}, implementation: {type: mock, mock_response: gone}}]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]string{
		"y\n": `"content":"gone"`, "yes\n": `"content":"gone"`,
		"\n": "the user did not allow erase", "no\n": "the user did not allow erase",
		"x\n": "the user did not allow erase",
	} {
		told := ""
		server := httptest.NewServer(&fake.Player{
			Answers: []string{erase, says},
			Asked:   func(request fake.Request) { told = string(request.Body) },
		})
		term := onTerminal(t, []string{"OLLAMA_HOST=" + server.URL, "TERM=dumb"}, "ask", "erase it", "--config", config,
			"--tools", "erase")
		term.await(`run erase \{"all":true\}\? It is marked as destructive\. \[y/N\] `)
		if _, err := term.master.WriteString(answer); err != nil {
			t.Fatal(err)
		}
		written := term.end(0)
		server.Close()
		if !strings.Contains(told, want) {
			t.Errorf("after %q the model is told %s, want %s", answer, told, want)
		}
		// The model's text is as little trusted as a server's.
		if !strings.Contains(written, "I will.\r\n") || !strings.HasSuffix(written, `Well\x1b[2J.`+"\r\n") {
			t.Errorf("the screen shows %q", written)
		}
	}
}

// TestAskForwardsQuestions asks a person what a server wants to know while a model calls
// its tool, on the terminal and between the model's own questions.
func TestAskForwardsQuestions(t *testing.T) {
	t.Parallel()
	const (
		echo = `{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"server__echo","arguments":{"message":"hi"}}}]},"done":true}`
		says = `{"message":{"role":"assistant","content":"Well."},"done":true,"done_reason":"stop"}`
	)
	for _, mode := range []string{"elicit", "input-required"} {
		server := httptest.NewServer(&fake.Player{Answers: []string{echo, says}})
		w := openProgram(t, 200, 40, "env", "OLLAMA_HOST="+server.URL, buildToolx(t), "ask", "hello", "-v", "--",
			"fakeserver", "--pids", "PIDS", mode)
		w.await("the server asks", "│ Who are you?", "ctrl+s send")
		w.press("Ada\t36\tada@example.com", "\x13")
		w.told(0, "Well.")
		server.Close()
	}

	// Where questions to the model are typed, nobody is asked.
	server := httptest.NewServer(&fake.Player{Answers: []string{echo, says}})
	defer server.Close()
	term := onTerminal(t, []string{"OLLAMA_HOST=" + server.URL, "NO_COLOR=1"}, "ask", "--follow", "-v", "--",
		"fakeserver", "elicit")
	if _, err := term.master.WriteString("hello\n"); err != nil {
		t.Fatal(err)
	}
	term.await(`-32601`)
	term.await(`Well\.`)
	if _, err := term.master.WriteString("\x04"); err != nil {
		t.Fatal(err)
	}
	term.end(0)
}

// TestInterruptedConfirmation ends toolx while it waits for a person.
func TestInterruptedConfirmation(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(&fake.Player{Answers: []string{
		`{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"erase","arguments":{}}}]},"done":true}`,
	}})
	defer server.Close()
	config := filepath.Join(t.TempDir(), "toolx.yaml")
	text := "tools: [{name: erase, annotations: {destructiveHint: true}, implementation: {type: mock, mock_response: " +
		"gone}}]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	term := onTerminal(t, []string{"OLLAMA_HOST=" + server.URL}, "ask", "erase it", "--config", config)
	term.await(`\[y/N\]`)
	if _, err := term.master.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	term.end(130)
}
