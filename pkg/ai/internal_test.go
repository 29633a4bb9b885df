package ai

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"toolx/pkg/sse"
)

// TestOllamaHost takes every form that OLLAMA_HOST may have.
func TestOllamaHost(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "http://127.0.0.1:11434",
		"localhost":                 "http://localhost:11434",
		"1.2.3.4":                   "http://1.2.3.4:11434",
		"1.2.3.4:5":                 "http://1.2.3.4:5",
		":8080":                     "http://127.0.0.1:8080",
		"0.0.0.0":                   "http://127.0.0.1:11434",
		"0.0.0.0:80":                "http://127.0.0.1:80",
		"[::]:11435":                "http://127.0.0.1:11435",
		"::1":                       "http://[::1]:11434",
		"[::1]":                     "http://[::1]:11434",
		"[::1]:5":                   "http://[::1]:5",
		"http://lan":                "http://lan:80",
		"https://lan":               "https://lan:443",
		"https://lan:9/ollama/":     "https://lan:9/ollama",
		"lan:9/ollama":              "http://lan:9/ollama",
		`"quoted:9"`:                "http://quoted:9",
		"ollama.com":                "https://ollama.com:443",
		"http://localhost:11434/v1": "http://localhost:11434",
		"http://lan:1/api":          "http://lan:1",
		"http://lan:1/api?key=x/y":  "http://lan:1?key=x/y",
		"http://lan:1/#top":         "http://lan:1",
		"https://me:a@b@lan/ollama": "https://me:a@b@lan:443/ollama",
		"me:secret@[::1]:5":         "http://me:secret@[::1]:5",
	} {
		if got, err := ollamaURL(text); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"host:99999", "host:x", ":0"} {
		if got, err := ollamaURL(text); err == nil {
			t.Errorf("%q: %q, want an error", text, got)
		}
	}
}

// TestFragments joins pieces of messages.
func TestFragments(t *testing.T) {
	for _, test := range []struct {
		name, want string
		pieces     []string
	}{
		{"text as it is written", `{"content":"a\u00e4\ud83d\ude00/\/"}`, []string{`{"content":"a\u00e4\ud83d"}`, `{"content":"\ude00/\/"}`}},
		{"numbers keep their digits", `{"n":1.50}`, []string{`{"n":1}`, `{"n":1.50}`}},
		{"null says nothing", `{"content":"a","x":null}`, []string{`{"content":"a"}`, `{"content":null,"x":null}`}},
		{"ids come whole", `{"role":"assistant","id":"a"}`, []string{`{"role":"assistant","id":"a"}`, `{"role":"assistant","id":"b"}`}},
		{
			"calls by index, which is no part of them",
			`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"g","arguments":"12"}}]}`,
			[]string{
				`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}`,
				`{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"1"}}]}`,
				`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}},{"index":1,"function":{"arguments":"2"}}]}`,
			},
		},
		{
			"calls without an index",
			`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"12"}},{"function":{"name":"g"}}]}`,
			[]string{
				`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"1"}}]}`,
				`{"tool_calls":[{"function":{"arguments":"2"}}]}`,
				`{"tool_calls":[{"function":{"name":"g"}}]}`,
			},
		},
		{
			"calls that share an index",
			`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"1"}},{"id":"b","function":{"name":"f","arguments":"23"}}]}`,
			[]string{
				`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"1"}},{"index":0,"id":"b","function":{"name":"f","arguments":"2"}}]}`,
				`{"tool_calls":[{"index":0,"function":{"arguments":"3"}}]}`,
			},
		},
		{
			"calls that share an index and have no ids",
			`{"tool_calls":[{"function":{"name":"f","arguments":"1"}},{"function":{"name":"g","arguments":"2"}}]}`,
			[]string{
				`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"1"}}]}`,
				`{"tool_calls":[{"index":0,"function":{"name":"g","arguments":"2"}}]}`,
			},
		},
		{
			"calls whose index is null",
			`{"tool_calls":[{"id":"a"},{"id":"b"}]}`,
			[]string{`{"tool_calls":[{"index":null,"id":"a"}]}`, `{"tool_calls":[{"index":null,"id":"b"}]}`},
		},
		{
			"other elements keep theirs",
			`{"reasoning_details":[{"index":0,"text":"ab"}]}`,
			[]string{
				`{"reasoning_details":[{"index":0,"text":"a"}]}`,
				`{"reasoning_details":[{"index":0,"text":"b"}]}`,
			},
		},
		{
			"content in parts",
			`{"content":[{"type":"text","text":"a"},{"type":"thinking","thinking":"b"},{"type":"text","text":"c"}]}`,
			[]string{`{"content":"a"}`, `{"content":[{"type":"thinking","thinking":"b"}]}`, `{"content":"c"}`},
		},
		{"an empty beginning", `{"content":[{"type":"text","text":"a"}]}`, []string{`{"content":""}`, `{"content":[{"type":"text","text":"a"}]}`}},
	} {
		joined := &fragment{}
		for _, piece := range test.pieces {
			joined.merge("", json.RawMessage(piece))
		}
		if got := string(joined.json()); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// FuzzFragments holds what is joined of any JSON to be JSON.
func FuzzFragments(f *testing.F) {
	f.Add(`{"a":"b","tool_calls":[{"index":0}]}`, `{"a":["c"],"tool_calls":[{"function":{"name":""}}]}`)
	f.Add(`[1,{"index":2,"x":"y"}]`, `"z"`)
	f.Fuzz(func(t *testing.T, first, second string) {
		if !json.Valid([]byte(first)) || !json.Valid([]byte(second)) {
			return
		}
		joined := &fragment{}
		joined.merge("", json.RawMessage(first))
		joined.merge("", json.RawMessage(second))
		if got := joined.json(); !json.Valid(got) {
			t.Errorf("%s and %s make %s", first, second, got)
		}
	})
}

// TestSaidError finds what is wrong in every form that providers say it in.
func TestSaidError(t *testing.T) {
	for body, want := range map[string][2]string{
		`{"error":"model 'x' not found"}`:                                                                  {"", "model 'x' not found"},
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`:                      {"overloaded_error", "Overloaded"},
		`{"error":{"message":"no","type":"t","code":"c"}}`:                                                 {"t c", "no"},
		`{"object":"error","message":"gone","code":404}`:                                                   {"404", "gone"},
		`{"detail":"Not Found"}`:                                                                           {"", "Not Found"},
		`{"detail":[{"type":"missing","loc":["body","tools",0],"msg":"Field required"}]}`:                  {"", "body.tools.0: Field required"},
		`{"object":"error","message":{"detail":[{"msg":"Extra inputs","loc":["body"]}]},"type":"invalid"}`: {"invalid", "body: Extra inputs"},
		`[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]`:              {"400", "API key not valid."},
		`[]`:                   {"", ""},
		`{"message":null}`:     {"", ""},
		`{"detail":{"a":"b"}}`: {"", ""},
		"Service down\nmore":   {"", "Service down"},
	} {
		if code, message := errorIn([]byte(body)); code != want[0] || message != want[1] {
			t.Errorf("%s: %q, %q; want %q", body, code, message, want)
		}
	}
}

// TestRetryAfter reads all forms of the header.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "0": 0, "-1": 0, "x": 0, "3": 3 * time.Second, "0.5": 500 * time.Millisecond,
		"Fri, 20 Nov 2026 10:00:09 GMT": 9 * time.Second, "Fri, 20 Nov 2026 09:00:00 GMT": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {value}}, now); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

// TestOllamaContext asks for a larger context only where tools would be cut off, in steps, and with room for an answer.
func TestOllamaContext(t *testing.T) {
	for tokens, want := range map[int]int{0: 0, 2500: 0, 2501: 8192, 4000: 8192, 4300: 16384, 1 << 30: 1 << 15} {
		if got := ollamaContext(tokens); got != want {
			t.Errorf("%d tokens: %d, want %d", tokens, got, want)
		}
	}
}

// TestEventTooLarge proves that an event over the limit is told as that.
func TestEventTooLarge(t *testing.T) {
	if failure := (&endpoint{provider: OpenAI}).cutShort(sse.ErrTooLarge); failure.Reason != Broken ||
		failure.Detail != "an event is larger than 64 MiB" {
		t.Errorf("%+v", failure)
	}
}
