package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// coldCallHTTP is one whole call over HTTP on loopback to toolx serve, in old and new revisions. The server keeps
// running.
func (b *bencher) coldCallHTTP() error {
	url, stop, err := b.serve()
	if err != nil {
		return err
	}
	defer stop()
	call := []string{b.toolx, "call", "echo", "--arg", "message=hi", "--url", url}
	if _, err := b.compare(b.runs, command{"floor", []string{b.floor, "echo", arguments, url}},
		command{"cold call, HTTP", call}); err != nil {
		return err
	}
	_, err = b.compare(b.runs, command{"floor", []string{b.floor, "echo", arguments, "legacy", url}},
		command{"cold call, HTTP 2025-11-25", append(call, "--protocol", "legacy")})
	return err
}

// serve starts a server over HTTP with the tool echo.
func (b *bencher) serve() (url string, stop func(), err error) {
	config := filepath.Join(b.folder, "serve.yaml")
	err = os.WriteFile(config, []byte(`
tools:
  - name: echo
    parameters: {type: object, properties: {message: {type: string}}, required: [message]}
    implementation: {type: mock, mock_response: hi}
`), 0o600)
	if err != nil {
		return "", nil, err
	}
	cmd := b.command([]string{b.toolx, "serve", config, "--http", "0", "--no-token"})
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // the error says that it was killed
	}
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if url = regexp.MustCompile(`http://\S+`).FindString(line); url == "" {
		stop()
		return "", nil, fmt.Errorf("toolx serve: %q, %w", line, err)
	}
	return url, stop, nil
}

// The pings of one round, and the rounds; each round goes through both servers.
const (
	pingsPerRound = 500
	pingRounds    = 8
)

// proxy measures the latency of toolx proxy: pings, one after the other, to a server through it, and to the same server
// directly.
func (b *bencher) proxy() error {
	direct, err := b.startPinger(b.faker, "good")
	if err != nil {
		return err
	}
	defer direct.stop()
	proxied, err := b.startPinger(b.toolx, "proxy", "--", b.faker, "good")
	if err != nil {
		return err
	}
	defer proxied.stop()
	for round := range pingRounds + 1 {
		for _, p := range []*pinger{direct, proxied} {
			if err := p.ping(pingsPerRound); err != nil {
				return err
			}
			if round == 0 { // it warms up
				p.took = p.took[:0]
			}
		}
	}
	for _, p := range []*pinger{direct, proxied} {
		slices.Sort(p.took)
	}
	added := proxied.percentile(50) - direct.percentile(50)
	b.note("proxy: %.1f µs a message added to pings of %.1f µs (bound 100 µs); 99%%: %.1f µs and %.1f µs", added/2,
		direct.percentile(50), proxied.percentile(99), direct.percentile(99))
	return nil
}

// pinger is a server to ping, and the time of each ping.
type pinger struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	took   []time.Duration
}

func (b *bencher) startPinger(args ...string) (*pinger, error) {
	p := &pinger{cmd: b.command(args)}
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.stdout = bufio.NewReader(stdout)
	return p, p.cmd.Start()
}

// ping makes round trips, one after the other.
func (p *pinger) ping(times int) error {
	for range times {
		begin := time.Now()
		if _, err := io.WriteString(p.stdin, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
			return err
		}
		if _, err := p.stdout.ReadSlice('\n'); err != nil {
			return err
		}
		p.took = append(p.took, time.Since(begin))
	}
	return nil
}

// percentile returns a percentile of the sorted times in µs.
func (p *pinger) percentile(n int) float64 {
	return float64(p.took[len(p.took)*n/100]) / float64(time.Microsecond)
}

func (p *pinger) stop() {
	_ = p.stdin.Close()
	_ = p.cmd.Wait() // only the times matter
}
