package proxy

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"toolx/pkg/exec"
	"toolx/pkg/servers/stdio"
	"toolx/pkg/servers/wire"
)

const (
	ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	pong = `{"jsonrpc":"2.0","id":1,"result":{}}`
)

// passed is what a client reads of a stdout that comes in chunks of the given size, and what is told of the rest.
func passed(stdout []byte, size int) (out string, told []wire.PollutedLine) {
	var buffer bytes.Buffer
	bus := &exec.Bus{}
	bus.Subscribe(func(event exec.Event) {
		if line, is := event.(wire.PollutedLine); is {
			told = append(told, line)
		}
	})
	p := newProxy("server", Options{Out: &buffer, Bus: bus, MaxMessage: 1 << 20})
	p.process = &stdio.Process{Started: time.Now()}
	p.stdout.Read(&chunks{stdout, size})
	return buffer.String(), told
}

// chunks is a reader that gives at most size bytes at a time.
type chunks struct {
	rest []byte
	size int
}

func (c *chunks) Read(b []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(c.size, len(b))], c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// TestProxyPasses holds what becomes of bytes.
func TestProxyPasses(t *testing.T) {
	const both = ping + "\n" + pong + "\n"
	for _, test := range []struct {
		name, stdout, want string
		told               int
	}{
		{"blanks in and around a message", " { \"jsonrpc\" : \"2.0\",\t\"method\":\"x\" } \n", "{ \"jsonrpc\" : \"2.0\",\t\"method\":\"x\" }\n", 0},
		{"no newline at the end", ping + "\n" + pong, both, 1},
		{"nothing but glue", ping + pong, both, 1},
		{"CR LF", ping + "\r\n" + pong + "\r\n", both, 2},
		{"CR alone", ping + "\r" + pong + "\r", both, 2},
		{"a carriage return between values", "{\"jsonrpc\":\"2.0\",\r\"method\":\"x\"}\n", `{"jsonrpc":"2.0","method":"x"}` + "\n", 0},
		{"a batch", "[" + ping + ", " + pong + "]\n", both, 1},
		{"a large batch", "[" + strings.Repeat(ping+",", 999) + ping + "]\n", strings.Repeat(ping+"\n", 1000), 1},
		{"many messages on a line", strings.Repeat(ping, 1000) + "\n", strings.Repeat(ping+"\n", 1000), 999},
		{"a log record with a method", `{"level":30,"method":"GET","url":"/x"}` + "\n" + pong + "\n", pong + "\n", 1},
		{"an answer without a version", `{"id":1,"result":{}}` + "\n", `{"id":1,"result":{}}` + "\n", 0},
		{"a broken answer", `{"jsonrpc":"2.0","id":1,"result":` + "\n" + pong + "\n", pong + "\n", 1},
		{"text that quotes a request", "got: " + ping + " ok\n", "", 1},
		{"text before an answer", "sent: " + pong + " ok\n", pong + "\n", 2},
		{"an answer with an answer inside", `{"jsonrpc":"2.0","id":1,"result":{"x":` + pong + "}}\n", `{"jsonrpc":"2.0","id":1,"result":{"x":` + pong + "}}\n", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if testing.Short() && len(test.stdout) > 10_000 {
				t.Skip("-short leaves out large input")
			}
			for _, size := range []int{1, 7, len(test.stdout)} {
				out, told := passed([]byte(test.stdout), size)
				if out != test.want {
					t.Errorf("in chunks of %d: %.300q, want %.300q", size, out, test.want)
				}
				if size == len(test.stdout) && len(told) != test.told {
					t.Errorf("told %d times, want %d", len(told), test.told)
				}
			}
		})
	}
}

// FuzzProxy proves that whatever a server writes, in whatever chunks, a client reads
// whole lines of valid JSON, each an object.
func FuzzProxy(f *testing.F) {
	for _, seed := range []string{
		ping + "\n" + pong + "\n", "text\n" + pong, "{\n\"jsonrpc\":\"2.0\",\n\"method\":\"a\\nb\"\n}\n",
		wire.BOM + pong + "\r\n",
		"[" + ping + "]\n", ping[:9] + "\nlog\n" + ping[9:] + "\n", "{\"jsonrpc\":\"2.0\",\r\"method\":\"\xff\x01\"}\n",
		ping + pong,
	} {
		f.Add([]byte(seed), 3)
	}
	f.Fuzz(func(t *testing.T, stdout []byte, size int) {
		out, _ := passed(stdout, 1+max(0, size)%80)
		if out != "" && !strings.HasSuffix(out, "\n") {
			t.Fatalf("%q does not end in a newline", out)
		}
		for line := range strings.Lines(out) {
			content := strings.TrimSuffix(line, "\n")
			if !json.Valid([]byte(content)) || content[0] != '{' || strings.ContainsAny(content, "\r\n") ||
				!utf8.ValidString(content) {
				t.Fatalf("%q reached the client", line)
			}
		}
	})
}
