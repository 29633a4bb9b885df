package wire

import "testing"

func TestKind(t *testing.T) {
	for text, want := range map[string]Kind{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                 KindRequest,
		`{"method":"ping","id":null}`:                              KindRequest,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`:   KindNotification,
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                     KindReply,
		`{"id":1,"error":{"code":1}}`:                              KindReply,
		`{"jsonrpc":"2.0","id":1}`:                                 KindReply, // it answers its request, with nothing
		`{"jsonrpc":"2.0","result":{}}`:                            KindReply,
		`{"result":{}}`:                                            KindNone,
		`{"jsonrpc":"2.0","method":7}`:                             KindNone,
		`{"id":"","method":"GET","status":200,"error":""}`:         KindNone, // a log of requests over HTTP
		`{"id":1,"method":"GET","status":200,"error":{"code":-1}}`: KindRequest,
		"\n{\"jsonrpc\":\"2.0\",\"method\":\"a/b\"}\r":             KindNotification,
	} {
		if m, ok := Parse([]byte(text)); !ok || m.Kind() != want {
			t.Errorf("%s is of kind %d, %t, want %d", text, m.Kind(), ok, want)
		}
	}
	for _, text := range []string{"", "[]", `"{}"`, `{"id":1`, "{}x", "null"} {
		if m, ok := Parse([]byte(text)); ok {
			t.Errorf("%q is a message: %+v", text, m)
		}
	}
}

func TestRead(t *testing.T) {
	m, _ := Parse([]byte(`{"jsonrpc":"2.0","id":"7","method":"a\u002fb","params":{"x":1},"other":true}`))
	if m.Method != "a/b" || string(m.ID) != `"7"` || string(m.Params) != `{"x":1}` || !m.Versioned() || !m.Foreign {
		t.Errorf("%+v", m)
	}
	for text, want := range map[string]struct{ null, failed bool }{
		`{"id":1,"result":{},"error":null}`: {null: true},
		`{"id":1,"error":null}`:             {failed: true}, // it has nothing else
		`{"id":1,"result":{},"error":{}}`:   {failed: true},
	} {
		if m, _ := Parse([]byte(text)); m.NullError != want.null || (m.Err != nil) != want.failed {
			t.Errorf("%s: %+v", text, m)
		}
	}
}

func TestRequestID(t *testing.T) {
	for text, want := range map[string]struct {
		id        int64
		exact, ok bool
	}{
		"7": {7, true, true}, `"7"`: {7, false, true}, "7.0": {7, false, true},
		"7.5": {}, `"x"`: {}, "null": {}, "{}": {},
	} {
		if id, exact, ok := RequestID([]byte(text)); id != want.id || exact != want.exact || ok != want.ok {
			t.Errorf("%s: %d, %t, %t", text, id, exact, ok)
		}
	}
}
