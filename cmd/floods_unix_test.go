//go:build unix

package cmd_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestListsStaySmall follows a list of resources without end, up to its limit of 64 MiB.
func TestListsStaySmall(t *testing.T) {
	t.Parallel()
	long(t)
	for _, flags := range [][]string{{}, {"--json"}} {
		peak := filepath.Join(t.TempDir(), "peak")
		// A busy machine takes more than the usual 30 s.
		args := append([]string{peak, buildToolx(t), "resources", "list", "--timeout", "none"}, flags...)
		cmd := exec.Command(measured(t), append(args, "--", "fakeserver", "resources-huge")...)
		var stderr strings.Builder
		listed := &finder{text: "test://0/2999"}
		cmd.Stdout, cmd.Stderr, cmd.Dir = listed, &stderr, emptyFolder(t)
		if err := cmd.Run(); err != nil || !listed.found ||
			!strings.Contains(stderr.String(), "over the limit of 64.0 MiB") {
			t.Errorf("%q: %v, %d bytes; %s", flags, err, listed.size, stderr.String())
		}
		if size := peakOf(t, peak); size > 256<<20 {
			t.Errorf("%q: %d MiB at its largest", flags, size>>20)
		}
	}
}

// finder is a writer that searches what is written for a text, and keeps nothing else of it.
type finder struct {
	text  string
	found bool
	size  int // of all that was written, in bytes
	kept  []byte
}

func (f *finder) Write(p []byte) (int, error) {
	f.size += len(p)
	f.kept = append(f.kept, p...)
	f.found = f.found || bytes.Contains(f.kept, []byte(f.text))
	f.kept = append(f.kept[:0], f.kept[max(0, len(f.kept)-len(f.text)):]...)
	return len(p), nil
}

// TestListOfWideToolsStaysSmall lists tools whose schemas together are 16 MiB: what is parsed of one is not kept.
func TestListOfWideToolsStaysSmall(t *testing.T) {
	t.Parallel()
	long(t)
	peak := filepath.Join(t.TempDir(), "peak")
	cmd := exec.Command(measured(t), peak, buildToolx(t), "list", "wide")
	var stderr strings.Builder
	cmd.Stderr, cmd.Dir = &stderr, emptyFolder(t)
	cmd.Env = append(os.Environ(), homeVariables(t.TempDir())...)
	config := "servers: {wide: {command: fakeserver, args: [pages-wide], maxMessage: 16MiB}}\n"
	if err := os.WriteFile(filepath.Join(cmd.Dir, "toolx.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	listed, err := cmd.Output()
	if err != nil || !strings.Contains(string(listed), "p99?: any") ||
		!strings.Contains(stderr.String(), "over the limit of 16.0 MiB") {
		t.Errorf("%v, %d bytes; %s", err, len(listed), stderr.String())
	}
	if size := peakOf(t, peak); size > 128<<20 {
		t.Errorf("%d MiB at its largest", size>>20)
	}
}

// TestTerminalStaysSmall floods a person at the terminal with questions: toolx stays below
// 256 MiB, and what was not asked when the call ended is not asked any more.
func TestTerminalStaysSmall(t *testing.T) {
	t.Parallel()
	long(t)
	for _, mode := range []string{"elicit-flood", "elicit-huge"} {
		peak := filepath.Join(t.TempDir(), "peak")
		term := programOnTerminal(t, emptyFolder(t), nil, measured(t), peak, buildToolx(t),
			"call", "echo", "message=hi", "--", "fakeserver", mode)
		written := term.end(0)
		if !strings.Contains(written, "hi\r\n") {
			t.Errorf("%s: no answer:\n%q", mode, written)
		}
		if asked := strings.Count(written, "Who are you?"); asked > 50 { // of the 100 that waited
			t.Errorf("%s: asked %d times after the call", mode, asked)
		}
		if size := peakOf(t, peak); size > 256<<20 {
			t.Errorf("%s: %d MiB at its largest", mode, size>>20)
		}
	}
}

// TestProxiesKeepOneCopy passes results of 50 MB through proxies: at its largest, toolx takes less than twice as much
// more than with small results.
func TestProxiesKeepOneCopy(t *testing.T) {
	t.Parallel()
	long(t)
	const large = 50_000_000
	for _, form := range []string{"stdio", "known length", "unknown length", "events"} {
		small := proxied(t, form, 1)
		if more := proxied(t, form, large) - small; more > 2*large {
			t.Errorf("%s: %d MB more than the %d MB with small results", form, more/1e6, small/1e6)
		}
	}
}

// proxied passes results of a size through toolx proxy, and returns its memory at its largest.
func proxied(t *testing.T, form string, size int) int64 {
	t.Helper()
	server := []string{"--", "fakeserver", "--bytes", strconv.Itoa(size), "huge-line"}
	if form != "stdio" {
		site := httptest.NewServer(largeResults(form, size))
		defer site.Close()
		server = []string{site.URL}
	}
	peak := filepath.Join(t.TempDir(), "peak")
	cmd := exec.CommandContext(t.Context(), measured(t), append([]string{peak, buildToolx(t), "proxy"}, server...)...)
	cmd.Dir, cmd.Env = emptyFolder(t), append(os.Environ(), homeVariables(t.TempDir())...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(stdout)
	const call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"big","arguments":{}}}`
	for _, request := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
			`"clientInfo":{"name":"c","version":"1"}}}`, call, call, call,
	} {
		if _, err := io.WriteString(stdin, request+"\n"); err != nil {
			t.Fatal(err)
		}
		length, err := 0, bufio.ErrBufferFull
		for errors.Is(err, bufio.ErrBufferFull) {
			var part []byte
			part, err = answers.ReadSlice('\n')
			length += len(part)
		}
		if err != nil || request == call && length < size {
			t.Fatalf("%s: an answer of %d bytes, %v", form, length, err)
		}
	}
	_ = stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	return peakOf(t, peak)
}

// largeResults is a server over HTTP whose results have a size.
func largeResults(form string, size int) http.Handler {
	const begin, end = `{"content":[{"type":"text","text":"`, `"}]}`
	results := map[string]string{
		"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`,
		"tools/call": begin + strings.Repeat("x", size) + end,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			ID     json.RawMessage
			Method string
		}
		if json.NewDecoder(r.Body).Decode(&request) != nil || request.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		parts := []string{`{"jsonrpc":"2.0","id":`, string(request.ID), `,"result":`, results[request.Method], "}"}
		if results[request.Method] == "" {
			parts[2], parts[3] = `,"error":`, `{"code":-32601,"message":"Method not found"}`
		}
		w.Header().Set("Content-Type", "application/json")
		switch form {
		case "known length":
			w.Header().Set("Content-Length", strconv.Itoa(len(strings.Join(parts, ""))))
		case "events":
			w.Header().Set("Content-Type", "text/event-stream")
			parts = append(append([]string{"data: "}, parts...), "\n\n")
		}
		for _, part := range parts {
			_, _ = io.WriteString(w, part)
		}
	})
}
