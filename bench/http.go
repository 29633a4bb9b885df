package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// coldCallHTTP is one whole call over HTTP on loopback, on toolx serve, in both eras. The server runs all the while.
func (b *bencher) coldCallHTTP() error {
	url, stop, err := b.serve()
	if err != nil {
		return err
	}
	defer stop()
	const arguments = `{"message":"hi"}`
	call := []string{b.toolx, "call", "echo", "--arg", "message=hi", "--url", url}
	got, err := b.measure(
		command{"floor call, HTTP", []string{b.floor, "echo", arguments, url}},
		command{"toolx call, HTTP", call},
		command{"floor, session", []string{b.floor, "echo", arguments, "legacy", url}},
		command{"toolx, session", append(call, "--protocol", "legacy")},
	)
	if err != nil {
		return err
	}
	got.print(0)
	fmt.Printf("  wall   %5.2f times the floor in 2026-07-28, %.2f in 2025-11-25   (bound 2.00)\n",
		ratio(got[1].wall, got[0].wall), ratio(got[3].wall, got[2].wall))
	fmt.Printf("  cpu    %5.2f times the floor in 2026-07-28, %.2f in 2025-11-25\n",
		ratio(got[1].cpu, got[0].cpu), ratio(got[3].cpu, got[2].cpu))
	return nil
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
		_ = cmd.Wait() // killed, as it was to be
	}
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if url = regexp.MustCompile(`http://\S+`).FindString(line); url == "" {
		stop()
		return "", nil, fmt.Errorf("toolx serve: %q, %w", line, err)
	}
	return url, stop, nil
}
