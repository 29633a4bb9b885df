package person

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"toolx/cmd/streams"
	"toolx/pkg/console"
	"toolx/pkg/servers/protocol"
)

// askedName asks for one text.
var askedName = &protocol.Elicitation{
	Server: "booking", Schema: json.RawMessage(`{"properties":{"name":{"type":"string"}}}`),
}

// TestNothingIsAskedAfterAnInterruption shows no form that waited for another one when the command was interrupted.
func TestNothingIsAskedAfterAnInterruption(t *testing.T) {
	var out, err bytes.Buffer
	c := console.New(strings.NewReader("Ada\n"), &out, &err)
	over := make(chan struct{})
	close(over)
	k := &Keyboard{Out: streams.New(c), In: c.In, Over: over}
	if _, err := k.Elicit(t.Context(), askedName, false); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if out.Len()+err.Len() > 0 {
		t.Errorf("shown: %q%q", &out, &err)
	}
}

// TestFormAfterAReadThatGoesOn opens a form once the read of an earlier question, which no one waits for, has ended:
// two readers would share what is typed.
func TestFormAfterAReadThatGoesOn(t *testing.T) {
	var out, err bytes.Buffer
	in, typed := io.Pipe()
	c := console.New(in, &out, &err)
	k := &Keyboard{Out: streams.New(c), In: c.In}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Line(ended); !errors.Is(err, context.Canceled) {
		t.Fatalf("the error is %v", err)
	}
	go func() {
		_, _ = io.WriteString(typed, "late\n")
		_, _ = io.WriteString(typed, "\x04") // ctrl+d
	}()
	given, failed := k.Elicit(t.Context(), askedName, false)
	if failed != nil || given.Action != protocol.Cancel {
		t.Errorf("%+v, %v", given, failed)
	}
	if shown := err.String(); !strings.HasPrefix(shown, `server "booking" has a question: press Enter to see it`+"\n") {
		t.Errorf("shown: %q", shown)
	}
}
