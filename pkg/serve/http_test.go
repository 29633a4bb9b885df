package serve

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"toolx/pkg/exec"
)

// Headers are read before the token is asked for, so they are bounded for everybody.
func TestHeadersAreBounded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	log := slog.New(slog.DiscardHandler)
	endpoint, err := New(ctx, "test", &exec.Executor{}, nil).Listen(HTTPOptions{Address: "0"}, 1<<20, log)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- endpoint.Serve(ctx) }()
	for size, want := range map[int]int{
		maxHeader / 2: http.StatusUnauthorized, 2 * maxHeader: http.StatusRequestHeaderFieldsTooLarge,
	} {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint.URL(), strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Long", strings.Repeat("x", size))
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%d bytes: %s, want %d", size, answer.Status, want)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
