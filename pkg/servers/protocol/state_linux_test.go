package protocol

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolx/pkg/servers/diagnose"
)

// TestSilentServerIsLookedAt has servers that do not answer, each for another reason: the first line of the error has
// it.
func TestSilentServerIsLookedAt(t *testing.T) {
	for script, want := range map[string]string{
		"sleep 60 </dev/null & wait":                       "failed to start: it runs sleep 60",
		"echo building the index >&2; while :; do :; done": "failed to start: it has used a full core for ",
		"all=$(cat)": "failed to start: it reads stdin until EOF",
		"while read -r line; do test \"$line\" = x; done": "failed to start: it read the request",
		"while read -r line; do : Content-Length; done":   "failed to start: it expects Content-Length framing, like language servers, instead of lines",
		"exec sleep 60": "failed to start: it does not read stdin and prints nothing",
		"echo waiting for the licence server >&2; exec sleep 60":      "failed to start: it does not read stdin; last output: waiting for the licence server",
		"echo '# of cat < /dev/stdin' >&2; lines=$(cat); exit $lines": "failed to start: it reads stdin until EOF; last output: # of cat < /dev/stdin",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			testLook(t, script, want)
		})
	}
}

func testLook(t *testing.T, script, want string) {
	path := filepath.Join(t.TempDir(), "server.sh")
	if err := os.WriteFile(path, []byte(script+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit := 500 * time.Millisecond; ; limit *= 2 { // a busy machine starts the program late
		s := newStage(t, limit)
		s.options.Launch.Command, s.options.Launch.Args = "sh", []string{path}
		err := s.open()
		var failure *diagnose.Failure
		if !errors.As(err, &failure) || failure.Ending != diagnose.EndingSilent {
			t.Fatalf("opening gives %v, want no answer", err)
		}
		if strings.Contains(err.Error(), want) {
			return
		}
		if limit > time.Minute {
			t.Fatalf("%v\nwant %s", err, want)
		}
	}
}
