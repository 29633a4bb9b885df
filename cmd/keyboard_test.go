package cmd

import (
	"context"
	"errors"
	"testing"
)

// TestNothingIsAskedAfterAnInterruption shows no form that waited for another one when the command was interrupted.
func TestNothingIsAskedAfterAnInterruption(t *testing.T) {
	streams, out, err := buffered("Ada\n")
	k := newApp(streams).keyboard
	over := make(chan struct{})
	k.over = over
	close(over)
	asked := elicitationOf(`{"properties":{"name":{"type":"string"}}}`)
	if _, err := k.elicit(t.Context(), asked, false); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if out.Len()+err.Len() > 0 {
		t.Errorf("shown: %q%q", out, err)
	}
}
