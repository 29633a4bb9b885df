package evidence

import (
	"testing"

	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
)

// An answer with a null id may be that to a line of garbage: the session takes it for that to the only request
// which waits, and the doctor does not.
func TestAnswerWithoutAnIDIsNobodys(t *testing.T) {
	for frame, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":5,"result":{}}`:                                        true,
		`{"jsonrpc":"2.0","id":"5","result":{}}`:                                      true,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`: false,
		`{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}`:           false,
	} {
		exchanges := ExchangesOf([]exec.Event{
			wire.FrameSent{ID: "5", Method: "ping", Bytes: []byte(`{"jsonrpc":"2.0","id":5,"method":"ping"}`)},
			wire.FrameReceived{ID: "5", Bytes: []byte(frame)},
		})
		if len(exchanges) != 1 || (exchanges[0].Frame != nil) != want {
			t.Errorf("%s: %+v", frame, exchanges)
		}
	}
}
