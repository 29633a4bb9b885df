package person

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"toolx/cmd/streams"
	"toolx/pkg/console"
	"toolx/pkg/servers"
)

// TestNothingIsAskedAfterAnInterruption shows no form that waited for another one when the command was interrupted.
func TestNothingIsAskedAfterAnInterruption(t *testing.T) {
	var out, err bytes.Buffer
	c := console.New(strings.NewReader("Ada\n"), &out, &err)
	over := make(chan struct{})
	close(over)
	k := &Keyboard{Out: streams.New(c), In: c.In, Over: over}
	asked := &servers.Elicitation{Server: "booking", Schema: json.RawMessage(`{"properties":{"name":{"type":"string"}}}`)}
	if _, err := k.Elicit(t.Context(), asked, false); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if out.Len()+err.Len() > 0 {
		t.Errorf("shown: %q%q", &out, &err)
	}
}
