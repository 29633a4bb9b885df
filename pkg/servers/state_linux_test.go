package servers

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestSilentServerIsLookedAt has a server that waits for a program: the first line of the error has it.
func TestSilentServerIsLookedAt(t *testing.T) {
	for limit := 500 * time.Millisecond; ; limit *= 2 { // a busy machine starts the program late
		s := newStage(t, limit)
		s.dial.launch.Command, s.dial.launch.Args = "sh", []string{"-c", "sleep 60 </dev/null & wait"}
		err := s.open()
		var failure *Failure
		if !errors.As(err, &failure) || failure.Ending != EndingSilent {
			t.Fatalf("opening gives %v, want no answer", err)
		}
		if strings.HasSuffix(err.Error(), "; it runs sleep 60") {
			return
		}
		if limit > time.Minute {
			t.Fatalf("%v does not name the program", err)
		}
	}
}
