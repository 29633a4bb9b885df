//go:build unix

package attack_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// clients attack toolx serve --http.
func clients(t *testing.T, p programs) []outcome {
	folder := t.TempDir()
	config := filepath.Join(folder, "served.yaml")
	text := "tools:\n  - {name: lamp, implementation: {type: mock, mock_response: on}}\n" +
		"  - {name: search, implementation: {type: builtin}}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	outcomes := []outcome{}
	for _, one := range []struct {
		name string
		do   func(t *testing.T, address, token string) []string
	}{
		{"clients without a token", withoutToken},
		{"files outside the served folder", reachOut},
		{"20,000 sessions that never end", manySessions},
		{"eight unfinished bodies of 60 MiB", unfinishedBodies},
		{"100 connections that say nothing", silentConnections},
		{"500 unfinished headers of 900 kB, without a token", unfinishedHeaders},
	} {
		outcomes = append(outcomes, p.served(t, config, "serve: "+one.name, one.do))
	}
	return outcomes
}

// served starts a server, lets do attack it, and looks at what that cost.
func (p programs) served(t *testing.T, config, name string,
	do func(t *testing.T, address, token string) []string) outcome {
	t.Helper()
	cmd := exec.Command(p.toolx(), "serve", config, "--http", "127.0.0.1:0")
	cmd.Dir, cmd.Env = filepath.Dir(config), p.environment()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait() //nolint:errcheck // it is killed
	defer cmd.Process.Kill()
	address, token := announced(t, stderr)
	result := outcome{name: name, failing: do(t, address, token)}
	if answer, err := post(address, token, "", ping); err != nil || answer.StatusCode != http.StatusOK {
		result.failing = append(result.failing, fmt.Sprintf("nobody else is answered afterwards: %v, %v", answer, err))
	}
	result.peak, result.took = highWater(cmd.Process.Pid), time.Since(began)
	if result.peak > mostMemory {
		result.failing = append(result.failing, fmt.Sprintf("%d MiB at the peak", result.peak>>20))
	}
	for _, failure := range result.failing {
		t.Errorf("%s: %s", name, failure)
	}
	return result
}

// announced reads the address and the token that toolx serve prints.
func announced(t *testing.T, stderr io.Reader) (address, token string) {
	t.Helper()
	lines := bufio.NewScanner(stderr)
	for address == "" || token == "" {
		if !lines.Scan() {
			t.Fatal("toolx serve printed no address and token")
		}
		if found := regexp.MustCompile(`http://\S+?/mcp`).FindString(lines.Text()); found != "" {
			address = found
		}
		if found := regexp.MustCompile(`Bearer ([A-Za-z0-9]{20,})`).FindStringSubmatch(lines.Text()); found != nil {
			token = found[1]
		}
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }() // what it says later
	return address, token
}

const ping = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// post sends one message; its answer's body is read and closed.
func post(address, token, session, message string) (*http.Response, error) {
	request, err := http.NewRequest(http.MethodPost, address, strings.NewReader(message))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if session != "" {
		request.Header.Set("Mcp-Session-Id", session)
	}
	client := &http.Client{Timeout: mostTime}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, err
}

func withoutToken(_ *testing.T, address, token string) (failing []string) {
	for _, wrong := range []string{"", "x", token + "x", token[1:], strings.ToLower(token)} {
		if wrong == token {
			continue
		}
		if answer, err := post(address, wrong, "", ping); err != nil || answer.StatusCode != http.StatusUnauthorized {
			failing = append(failing, fmt.Sprintf("the token %q: %v, %v", wrong, answer, err))
		}
	}
	return failing
}

func reachOut(_ *testing.T, address, token string) (failing []string) {
	answer, err := post(address, token, "", ping)
	if err != nil {
		return []string{err.Error()}
	}
	session := answer.Header.Get("Mcp-Session-Id")
	for _, path := range []string{"/etc", "/etc/passwd", "..", "/proc/self/root/etc", "/root/.ssh"} {
		message := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"root","path":%q,"hidden":true}}}`, path)
		answer, err := post(address, token, session, message)
		if err != nil {
			return append(failing, err.Error())
		}
		if body, _ := io.ReadAll(answer.Body); !bytes.Contains(body, []byte(`"isError":true`)) {
			failing = append(failing, fmt.Sprintf("%s: %s", path, last(string(body))))
		}
	}
	return failing
}

func manySessions(_ *testing.T, address, token string) (failing []string) {
	for range 20_000 {
		if _, err := post(address, token, "", ping); err != nil {
			return []string{err.Error()}
		}
	}
	return nil
}

func unfinishedBodies(t *testing.T, address, token string) []string {
	host := strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/mcp")
	chunk := bytes.Repeat([]byte(" "), 1<<20)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			conn, err := net.Dial("tcp", host)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { conn.Close() })
			fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
				"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n", host, token, 60<<20)
			_ = conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
			for range 59 {
				if _, err := conn.Write(chunk); err != nil {
					return // it waits for its turn, or is refused
				}
			}
		})
	}
	wait.Wait()
	return nil
}

func silentConnections(t *testing.T, address, _ string) []string {
	host := strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/mcp")
	for range 100 {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			return []string{err.Error()}
		}
		t.Cleanup(func() { conn.Close() })
	}
	return nil
}

// unfinishedHeaders sends more headers than any client has, and never their end. A connection
// that is closed before all of them are sent is an answer too.
func unfinishedHeaders(t *testing.T, address, _ string) []string {
	host := strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/mcp")
	headers := []byte("POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("a", 900_000))
	for range 500 {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			return []string{err.Error()}
		}
		t.Cleanup(func() { conn.Close() })
		_, _ = conn.Write(headers)
	}
	return nil
}

// highWater is the most memory that a process has had, in bytes; zero where the system does
// not tell.
func highWater(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		return 0
	}
	var size int64
	_, _ = fmt.Sscan(string(found[1]), &size) // it is digits
	return size << 10
}
