package auth

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain doubles as a toolx that makes one call with what is kept, when it is told to.
func TestMain(m *testing.M) {
	if os.Getenv("AUTH_TEST_URL") == "" {
		os.Exit(m.Run())
	}
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n') //nolint:errcheck // only waits
	transport := Transport(http.DefaultTransport, Options{
		Server: "remote", URL: os.Getenv("AUTH_TEST_URL"), Store: NewStore(os.Getenv("AUTH_TEST_DIR"), false),
	})
	resp, err := (&http.Client{Transport: transport}).Post(os.Getenv("AUTH_TEST_URL"), "text/plain",
		strings.NewReader("body"))
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()
	fmt.Println(resp.Status)
}

// Processes that find the same expired token renew it once: the authorization server of the world ends a login whose
// refresh token is used twice.
func TestProcessesThatRefreshAtOnce(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	options := w.options()
	options.Store = NewStore(dir, false)
	w.lifetime = 1 // expired at once, within the leeway
	if _, err := Login(t.Context(), http.DefaultTransport, options); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	w.lifetime = 3600
	w.mu.Unlock()
	var starts []io.WriteCloser
	var answers []*bufio.Reader
	for range 4 {
		start, answer := another(t, w.url(), dir)
		starts, answers = append(starts, start), append(answers, answer)
	}
	for _, answer := range answers {
		wantLine(t, answer, "ready\n")
	}
	for _, start := range starts {
		if _, err := io.WriteString(start, "\n"); err != nil {
			t.Fatal(err)
		}
	}
	for _, answer := range answers {
		wantLine(t, answer, "200 OK\n")
	}
	if len(w.tokens) != 2 {
		t.Errorf("%d tokens were asked for, want the login's and one more", len(w.tokens))
	}
	w.confessed = nil // the other processes knew their tokens themselves
}

// another returns a process that calls when it is given a line.
func another(t *testing.T, url, dir string) (io.WriteCloser, *bufio.Reader) {
	t.Helper()
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), "AUTH_TEST_URL="+url, "AUTH_TEST_DIR="+dir)
	process.Stderr = os.Stderr
	in, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = process.Wait() })
	t.Cleanup(func() { in.Close() })
	return in, bufio.NewReader(out)
}

func wantLine(t *testing.T, from *bufio.Reader, want string) {
	t.Helper()
	if line, err := from.ReadString('\n'); line != want {
		t.Errorf("a process said %q, %v, want %q", line, err, want)
	}
}
