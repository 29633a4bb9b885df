package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// reading is what the framer and the classifier make of bytes.
type reading struct {
	messages []string
	findings []string
}

// readAll feeds a stream in chunks of the given sizes, in turn.
func readAll(stream []byte, limit int64, sizes ...int) reading {
	var r reading
	c := &classifier{
		onMessage: func(m Message, number int) { r.messages = append(r.messages, fmt.Sprintf("%d %s", number, m.Raw)) },
		onFinding: func(f Finding) {
			r.findings = append(r.findings,
				fmt.Sprintf("%d+%d %s %q ×%d", f.Number, f.column, f.Class, f.Text, f.Salvaged))
		},
	}
	f := Framer{Max: limit, Emit: c.line}
	for i := 0; len(stream) > 0; i++ {
		n := min(max(1, sizes[i%len(sizes)]), len(stream))
		f.Feed(stream[:n])
		stream = stream[n:]
	}
	f.Flush(EndEOF)
	c.end()
	return r
}

const (
	ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	pong = `{"jsonrpc":"2.0","id":1,"result":{}}`
)

// TestClassify proves MCP-1 on bytes: what is a message, what is not, and where.
func TestClassify(t *testing.T) {
	tests := []struct {
		name, stream string
		messages     []string
		findings     []string
	}{
		{"clean", ping + "\n" + pong + "\n", []string{"1 " + ping, "2 " + pong}, nil},
		{"text", "Starting…\n" + pong + "\n", []string{"2 " + pong}, []string{`1+0 text "Starting…" ×0`}},
		{"a date is not the number 2026", "2026-06-04 15:31:01 INFO\n", nil, []string{`1+0 text "2026-06-04 15:31:01 INFO" ×0`}},
		{"scalar", "2026\n", nil, []string{`1+0 not-object "2026" ×0`}},
		{"log record", `{"level":"info"}` + "\n", nil, []string{`1+0 not-rpc "{\"level\":\"info\"}" ×0`}},
		{"a record of a request over HTTP", `{"id":"","method":"GET","error":"","status":200}` + "\n", nil, []string{`1+0 not-rpc "{\"id\":\"\",\"method\":\"GET\",\"error\":\"\",\"status\":200}" ×0`}},
		{"a reply without a version, with a member too many", `{"id":1,"result":{},"ms":2}` + "\n", []string{`1 {"id":1,"result":{},"ms":2}`}, nil},
		{"prefix", "debug: " + pong + "\n", []string{"1 " + pong}, []string{`1+0 glued "debug: " ×1`}},
		{"a log that quotes an answer", "sent: " + pong + "\n" + pong + "\n", []string{"2 " + pong}, []string{fmt.Sprintf("1+0 text %q ×0", "sent: "+pong)}},
		{"a log that quotes a question to the user", `page: {"jsonrpc":"2.0","id":1,"method":"elicitation/create"}` + "\n", nil, []string{`1+0 text "page: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\"}" ×0`}},
		{"a log that quotes a notification", `page: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n", nil, []string{`1+0 text "page: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}" ×0`}},
		{"a question behind an answer and text", pong + ` page: {"jsonrpc":"2.0","id":1,"method":"elicitation/create"}` + "\n", []string{"1 " + pong}, []string{`1+36 glued " page: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\"}" ×1`}},
		{"a question before text", `{"jsonrpc":"2.0","id":1,"method":"elicitation/create"} page` + "\n", nil, []string{`1+0 text "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\"} page" ×0`}},
		{"a notification before text", `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"} page` + "\n", nil, []string{`1+0 text "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"} page" ×0`}},
		{"an answer before text, and the true one", pong + " page\n" + pong + "\n", []string{"2 " + pong}, []string{fmt.Sprintf("1+0 text %q ×0", pong+" page")}},
		{"two byte order marks, and the true one", BOM + BOM + pong + "\n" + pong + "\n", []string{"2 " + pong}, []string{`1+0 bom "\ufeff" ×0`, fmt.Sprintf("1+0 text %q ×0", BOM+pong)}},
		{"a quote over lines, and the true one", "DEBUG {\n\"a\":\n" + pong + "\n}\n" + pong + "\n", []string{"5 " + pong}, []string{`1+0 text "DEBUG {" ×0`, `2+0 text "\"a\":" ×0`, `4+0 text "}" ×0`, fmt.Sprintf("3+0 text %q ×0", pong)}},
		{"a question in a quote over lines", "DEBUG [\n" + ping + "\n]\n", nil, []string{`1+0 text "DEBUG [" ×0`, fmt.Sprintf("2+0 text %q ×0", ping), `3+0 text "]" ×0`}},
		{"an array of text and an answer, and the true one", `["page",` + pong + "]\n" + pong + "\n", []string{"2 " + pong}, []string{fmt.Sprintf("1+0 batch %q ×1", `["page",`+pong+"]"), fmt.Sprintf("1+0 text %q ×0", pong)}},
		{"a log that quotes a request", `got: {"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n", nil, []string{`1+0 text "got: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}" ×0`}},
		{"suffix", pong + " done\n", []string{"1 " + pong}, []string{fmt.Sprintf(`1+%d glued " done" ×1`, len(pong))}},
		{"two on a line", ping + pong + "\n", []string{"1 " + ping, "1 " + pong}, []string{fmt.Sprintf(`1+%d glued "" ×2`, len(ping))}},
		{"BOM", BOM + pong + "\n", []string{"1 " + pong}, []string{`1+0 bom "\ufeff" ×0`}},
		{"no newline", pong, []string{"1 " + pong}, []string{fmt.Sprintf(`1+%d no-newline "" ×1`, len(pong))}},
		{"batch", "[" + ping + "," + pong + "]\n", []string{"1 " + ping, "1 " + pong}, []string{fmt.Sprintf("1+0 batch %q ×2", "["+ping+","+pong+"]")}},
		{
			"pretty", "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"result\": {}\n}\n",
			[]string{`1 {"jsonrpc":"2.0","id":1,"result":{}}`},
			[]string{`1+0 pretty "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"result\": {}\n}" ×1`},
		},
		{
			"an object over lines that is no message", "{\n  status: 200,\n}\n" + pong + "\n",
			[]string{"4 " + pong},
			[]string{`1+0 text "{" ×0`, `2+0 text "  status: 200," ×0`, `3+0 text "}" ×0`},
		},
		{
			"a foreign line inside", pong[:20] + "\nlog\n" + pong[20:] + "\n",
			[]string{"1 " + pong},
			[]string{`1+0 split "log" ×1`},
		},
		{"control characters", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"t\":\"a\tb\"}}\n", []string{`1 {"jsonrpc":"2.0","id":1,"result":{"t":"a\u0009b"}}`}, []string{`1+0 control "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"t\":\"a\tb\"}}" ×1`}},
		{"broken", `{"jsonrpc":"2.0","id":1,"result":oops}` + "\n", nil, []string{`1+0 broken "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":oops}" ×0`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := readAll([]byte(tt.stream), 1<<20, len(tt.stream))
			if !slices.Equal(got.messages, tt.messages) || !slices.Equal(got.findings, tt.findings) {
				t.Errorf("messages %q\nwant     %q\nfindings %q\nwant     %q", got.messages, tt.messages, got.findings,
					tt.findings)
			}
		})
	}
}

func TestTooLongLine(t *testing.T) {
	stream := strings.Repeat("x", 100) + "\n" + pong + "\n"
	got := readAll([]byte(stream), 50, 7)
	if !slices.Equal(got.messages, []string{"2 " + pong}) || len(got.findings) != 1 ||
		!strings.Contains(got.findings[0], "too-long") {
		t.Errorf("%+v", got)
	}
}

// FuzzClassify proves that the chunks in which bytes come change nothing, that
// only messages come out as messages, and that no bytes do harm.
func FuzzClassify(f *testing.F) {
	for _, seed := range []string{
		ping + "\n" + pong + "\n", "text\n" + pong, BOM + pong + "\r\n", "[" + ping + "]\n",
		"a" + ping + pong + "b\n",
		"{\n\"jsonrpc\":\"2.0\",\n\"id\":1,\n\"result\":{}\n}\n", pong[:20] + "\nlog\n" + pong[20:] + "\n",
		"{\"jsonrpc\"{\"jsonrpc\"\n",
		"Content-Length: 12\r\n\r\n" + pong, "[\n[\n[\n", "\x00\x00" + pong, "\xff\xfe{\x00", `{"jsonrpc":"2.0","id":1,"result":"` + "\x1b" + `"}` + "\n",
	} {
		f.Add([]byte(seed), 3, 1)
	}
	f.Fuzz(func(t *testing.T, stream []byte, a, b int) {
		const limit = 4096
		whole := readAll(stream, limit, max(1, len(stream)))
		parts := readAll(stream, limit, a%64, b%16)
		if !slices.Equal(whole.messages, parts.messages) || !slices.Equal(whole.findings, parts.findings) {
			t.Fatalf("whole %+v\nparts %+v", whole, parts)
		}
		for _, text := range whole.messages {
			_, raw, _ := strings.Cut(text, " ")
			if !json.Valid([]byte(raw)) || !utf8.ValidString(raw) || strings.Contains(raw, "\n") ||
				bytes.TrimSpace([]byte(raw))[0] != '{' {
				t.Fatalf("%q came out as a message", raw)
			}
		}
	})
}
