package stdio

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolx/pkg/config"
)

// TestQuotedAnswerAtTheLimit proves that a doubtful answer is better than none: it is taken when the limit of its
// request passes before the answer on a line of its own has come.
func TestQuotedAnswerAtTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link := New(Options{Server: "s", Launch: &config.Resolved{}, MaxMessage: 1 << 20})
		link.Process = &Process{}
		in, out := io.Pipe()
		go link.stdout.Read(in)
		answer := func(prefix string) {
			sent := <-link.writes
			if _, err := io.WriteString(out, prefix+`{"jsonrpc":"2.0","id":`+sent.ID+`,"result":{}}`+"\n"); err != nil {
				t.Error(err)
			}
		}
		for _, prefix := range []string{"", "DEBUG page says: "} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			go answer(prefix)
			if m, err := link.RoundTrip(ctx, "tools/call", nil, nil); err != nil || string(m.Result) != "{}" {
				t.Errorf("behind %q: got %s, %v", prefix, m.Result, err)
			}
			cancel()
		}
		_ = out.Close()
		synctest.Wait()
	})
}

// TestRefusedRequestIsAnswered proves that the server of a refused request is told.
func TestRefusedRequestIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link := New(Options{Server: "s", Launch: &config.Resolved{}, MaxMessage: 1 << 20})
		link.Process = &Process{}
		in, out := io.Pipe()
		go link.stdout.Read(in)
		if _, err := io.WriteString(out, `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"} sent`+"\n"); err != nil {
			t.Fatal(err)
		}
		if answer := string((<-link.writes).Bytes); !strings.Contains(answer, `"id":1`) || !strings.Contains(answer, "-32600") {
			t.Errorf("the answer is %s", answer)
		}
		_ = out.Close()
		synctest.Wait()
	})
}
