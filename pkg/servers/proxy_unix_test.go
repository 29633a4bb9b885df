//go:build unix

package servers

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/proxy"
	"toolx/pkg/servers/serverstest"
	"toolx/pkg/servers/wire"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// shell is a server written in sh.
func shell(script string) *config.Server {
	return &config.Server{Name: "shell", Command: "sh", Args: []string{"-c", script}}
}

// TestProxyPassesSignalsOn proves that signals reach the server's processes, and that
// its death by one is told as shells tell it.
func TestProxyPassesSignalsOn(t *testing.T) {
	for _, test := range []struct {
		server *config.Server
		signal syscall.Signal
		code   int
	}{
		{fakeEntry(t, "good"), syscall.SIGINT, 130},
		{fakeEntry(t, "good"), syscall.SIGTERM, 143},
		{fakeEntry(t, "good"), syscall.SIGHUP, 129},
		{fakeEntry(t, "grandchild"), syscall.SIGTERM, 143},
		{shell(`trap 'exit 9' TERM; echo '` + ping + `'; sleep 600 & wait`), syscall.SIGTERM, 9},
	} {
		t.Run(test.signal.String(), func(t *testing.T) {
			t.Parallel()
			signals := make(chan os.Signal, 1)
			p := newProxied(t, test.server, func(o *proxy.Options) { o.Signals = signals })
			if test.server.Name == "fake" {
				p.handshake()
			} else {
				p.next()
			}
			signals <- test.signal
			p.end(test.code)
			gone(t, serverstest.Of[wire.ProcessStarted](p.events)[0].PID)
		})
	}
}

// TestProxyLeavesSignalsToTheServer proves that a server which ignores a signal lives on, as it would without a proxy.
func TestProxyLeavesSignalsToTheServer(t *testing.T) {
	t.Parallel()
	signals := make(chan os.Signal) // it is taken when it is sent
	p := newProxied(t, fakeEntry(t, "ignore-sigterm"), func(o *proxy.Options) { o.Signals = signals })
	p.handshake()
	signals <- syscall.SIGTERM
	p.request("ping", "{}")
	p.in.Close()
	p.end(0)
}

// TestProxyTellsSignals proves the exit code of a server that dies by a signal.
func TestProxyTellsSignals(t *testing.T) {
	for mode, code := range map[string]int{"sigsegv": 139, "sigkill": 137} {
		p := newProxied(t, fakeEntry(t, "--on", "initialize", mode), nil)
		p.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
		p.end(code)
	}
}

// TestProxyMeetsAClosedClient proves that a client which no longer reads is gone,
// though it holds standard input open: the server is ended.
func TestProxyMeetsAClosedClient(t *testing.T) {
	for _, test := range []struct {
		modes []string
		code  int
	}{{[]string{"good"}, 0}, {[]string{"ignore-eof"}, 143}} {
		p := newProxied(t, fakeEntry(t, test.modes...), nil)
		p.handshake()
		p.out.Close()
		p.send(`{"jsonrpc":"2.0","id":9,"method":"ping"}`)
		<-p.ended
		if p.code != test.code || !errors.Is(p.err, syscall.EPIPE) {
			t.Errorf("%v: ended with %d, %v; want %d and a broken pipe", test.modes, p.code, p.err, test.code)
		}
	}
}

// TestProxyLetsTheServerFinish proves that a server which goes on answering after
// stdin's end is not ended for taking its time.
func TestProxyLetsTheServerFinish(t *testing.T) {
	t.Parallel()
	p := newProxied(t, shell(`cat >/dev/null; for i in 1 2 3 4 5; do sleep 0.6; echo '`+ping+`'; done; exit 4`), nil)
	p.in.Close()
	for range 5 {
		p.next()
	}
	p.end(4)
}

// TestProxyPassesALineAtOnce proves that a message waits neither for what follows it nor, where it is whole, for its
// newline: the server writes on when the client has answered.
func TestProxyPassesALineAtOnce(t *testing.T) {
	t.Parallel()
	p := newProxied(t, shell(`printf '%s\n{"json' '`+ping+`'; read answer; printf 'rpc":"2.0","id":2,"method":"ping"}'; read answer; echo`), nil)
	p.next()
	p.send("go on")
	if m := p.next(); string(m.ID) != "2" {
		t.Errorf("the second message is %+v", m)
	}
	p.send("go on")
	p.end(0)
}

// TestProxyMeetsAServerThatDoesNotRead proves that a server which closes its stdin is told of,
// and that its client's end is still noticed.
func TestProxyMeetsAServerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	p := newProxied(t, shell(`trap 'exit 7' TERM; exec <&-; echo '`+ping+`'; while :; do sleep 0.1; done`), nil)
	p.next()
	p.send("anybody there?")
	p.in.Close()
	<-p.ended
	notices := serverstest.Of[exec.Notice](p.events)
	if len(notices) != 1 || !strings.Contains(notices[0].Text, "closed its stdin") || p.code != 7 {
		t.Errorf("ended with %d; told %+v", p.code, notices)
	}
}

// TestProxyWaitsForTheServer proves that a server which does not read holds its client up: nothing is kept in between.
func TestProxyWaitsForTheServer(t *testing.T) {
	t.Parallel()
	p := newProxied(t, fakeEntry(t, "stdin-stalled"), nil)
	p.handshake()
	p.request("tools/list", "{}")
	if err := p.in.SetWriteDeadline(time.Now().Add(serverstest.Brief)); err != nil {
		t.Fatal(err)
	}
	const size = 16 << 20
	n, err := p.in.Write(make([]byte, size))
	if !errors.Is(err, os.ErrDeadlineExceeded) || n > 1<<20 {
		t.Errorf("%d of %d bytes were taken, %v", n, size, err)
	}
}
