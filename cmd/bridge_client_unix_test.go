//go:build unix

package cmd_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// proxyClient is an MCP client with a process of toolx proxy.
type proxyClient struct {
	t       *testing.T
	modern  bool   // it speaks 2026-07-28
	offers  string // its capabilities in that revision
	program *exec.Cmd
	in      io.WriteCloser
	lines   chan string // closed at the end
	came    []string    // what was taken of them
	stderr  string      // a file
	lastID  int
}

// startProxyClient starts a client with toolx proxy.
func startProxyClient(t *testing.T, modern bool, offers string, environ []string, args ...string) *proxyClient {
	t.Helper()
	c := &proxyClient{
		t: t, modern: modern, offers: offers,
		lines: make(chan string, 1000), stderr: filepath.Join(t.TempDir(), "stderr"),
		program: exec.Command(buildToolx(t), append([]string{"proxy"}, args...)...),
	}
	c.program.Dir, c.program.Env = emptyFolder(t), environ
	stderr, err := os.Create(c.stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	c.program.Stderr = stderr
	if c.in, err = c.program.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.program.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.lines)
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			c.lines <- line
		}
	}()
	t.Cleanup(func() {
		_ = c.program.Process.Kill()
		_ = c.program.Wait()
	})
	return c
}

// said returns what toolx has written to stderr.
func (c *proxyClient) said() string {
	text, _ := os.ReadFile(c.stderr)
	return string(text)
}

func (c *proxyClient) line(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, text+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// send sends a request and returns its id. members are those of its params.
func (c *proxyClient) send(method, members string) (id int) {
	c.t.Helper()
	c.lastID++
	if c.modern {
		if members != "" {
			members += ","
		}
		members += `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientInfo":{"name":"newer","version":"1"},` +
			`"io.modelcontextprotocol/clientCapabilities":` + c.offers + `}`
	}
	c.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, c.lastID, method, members))
	return c.lastID
}

// begin sends the first request; capabilities are those of an older client.
func (c *proxyClient) begin(capabilities string) (id int) {
	c.t.Helper()
	if c.modern {
		return c.send("server/discover", "")
	}
	return c.send("initialize", `"protocolVersion":"2025-11-25","capabilities":`+capabilities+
		`,"clientInfo":{"name":"older","version":"1"}`)
}

// initialized ends the handshake.
func (c *proxyClient) initialized() {
	c.t.Helper()
	if !c.modern {
		c.line(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
}

// next returns the next line.
func (c *proxyClient) next() string {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatalf("toolx has ended: %s", c.said())
		}
		c.came = append(c.came, line)
		return strings.TrimSpace(line)
	case <-time.After(40 * time.Second):
		c.t.Fatalf("toolx is silent: %s\nafter %s", c.said(), strings.Join(c.came, ""))
	}
	return ""
}

// end closes the client's side, and waits for the end of toolx.
func (c *proxyClient) end() {
	c.t.Helper()
	_ = c.in.Close()
	for line := range c.lines {
		c.came = append(c.came, line)
	}
	if err := c.program.Wait(); err != nil {
		c.t.Errorf("toolx ends with %v: %s", err, c.said())
	}
}
