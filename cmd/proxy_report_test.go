package cmd

import (
	"bytes"
	"strings"
	"testing"

	"toolx/pkg/console"
	"toolx/pkg/servers"
)

// TestProxyReportOnATerminal proves that foreign text cannot act on a terminal, and
// stays as it is elsewhere.
func TestProxyReportOnATerminal(t *testing.T) {
	for tty, want := range map[bool]string{
		true:  "toolx proxy: \\x1b[2Jone\ntoolx proxy: two\ntoolx proxy: … and 2 B more\n",
		false: "toolx proxy: \x1b[2Jone\ntoolx proxy: two\ntoolx proxy: … and 2 B more\n",
	} {
		streams, _, stderr := console.Buffered("")
		streams.ErrTTY = tty
		report, err := newProxyReport(newApp(streams), "", 1)
		if err != nil {
			t.Fatal(err)
		}
		report.take(servers.PollutedLine{Class: servers.ClassText, Text: []byte("\x1b[2Jone\r\ntwo"), Size: 14})
		report.take(servers.PollutedLine{Class: servers.ClassGlued, Text: []byte("  "), Size: 2})
		report.close()
		if stderr.String() != want {
			t.Errorf("terminal %v: %q, want %q", tty, stderr, want)
		}
	}
}

// blockedWriter blocks until it is opened.
type blockedWriter struct {
	open chan struct{}
	bytes.Buffer
}

func (w *blockedWriter) Write(p []byte) (int, error) {
	<-w.open
	return w.Buffer.Write(p)
}

// TestStderrThatNobodyReads proves that a stderr which is not read costs lines, which
// are counted, and never stops the proxy.
func TestStderrThatNobodyReads(t *testing.T) {
	stderr := &blockedWriter{open: make(chan struct{})}
	q := newStderrQueue(stderr)
	const count = stderrQueueLength + 100
	for range count {
		_, _ = q.Write([]byte("line\n"))
	}
	close(stderr.open)
	for q.stuck { // until there is room
		_, _ = q.Write([]byte("line\n"))
	}
	q.close()
	_, _ = q.Write([]byte("too late\n"))
	text := stderr.String()
	if got := strings.Count(text, "line\n"); got < stderrQueueLength || got >= count || strings.Contains(text, "too late") {
		t.Errorf("%d lines were written", got)
	}
	if strings.Count(text, "toolx proxy: stderr was not read, lines dropped: ") != 1 {
		t.Errorf("what was dropped is not told: %.300q", text)
	}
}
