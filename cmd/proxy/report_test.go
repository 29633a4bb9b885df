package proxy

import (
	"testing"

	"toolx/cmd/cmdtest"
	"toolx/cmd/streams"
	"toolx/pkg/servers/wire"
)

// TestProxyReportOnATerminal proves that foreign text cannot act on a terminal, and stays as it is elsewhere.
func TestProxyReportOnATerminal(t *testing.T) {
	for tty, want := range map[bool]string{
		true:  "toolx proxy: \\x1b[2Jone\ntoolx proxy: two\ntoolx proxy: … and 2 B more\n",
		false: "toolx proxy: \x1b[2Jone\ntoolx proxy: two\ntoolx proxy: … and 2 B more\n",
	} {
		c, _, stderr := cmdtest.Buffered("")
		c.ErrTTY = tty
		report, err := newProxyReport(streams.New(c), "", 1)
		if err != nil {
			t.Fatal(err)
		}
		report.take(wire.PollutedLine{Class: wire.ClassText, Text: []byte("\x1b[2Jone\r\ntwo"), Size: 14})
		report.take(wire.PollutedLine{Class: wire.ClassGlued, Text: []byte("  "), Size: 2})
		report.close()
		if stderr.String() != want {
			t.Errorf("terminal %v: %q, want %q", tty, stderr, want)
		}
	}
}
