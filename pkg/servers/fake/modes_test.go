package fake

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// shape is what a mode leaves when it gets the usual exchange and then the end of
// stdin. Every row asks for something that the good server does not do.
type shape struct {
	mode   string
	args   []string // flags
	stdin  string   // instead of the usual exchange
	start  string   // how stdout begins; empty means with the right replies to initialize and tools/list
	end    string   // how stdout ends; empty means with the right answer to the call
	has    string   // somewhere in stdout
	stderr string   // somewhere in stderr; empty means that there is nothing
	code   int
	check  func(stdout string) error
}

// Marks in a row's start or end.
const (
	nothing  = "\x00nothing"  // stdout is empty
	anything = "\x00anything" // no matter
)

func TestModes(t *testing.T) {
	t.Parallel()
	for _, row := range shapes() {
		t.Run(strings.Join(append([]string{row.mode}, row.args...), " "), func(t *testing.T) {
			t.Parallel()
			row.verify(t, row.run(t))
		})
	}
}

// TestModesThatStay proves that a process outlives its stdin: the watchdog has to
// end it. All run at the same time, since each takes as long as its lifetime.
func TestModesThatStay(t *testing.T) {
	t.Parallel()
	rows := stayingShapes()
	waits := make([]func() ended, len(rows))
	for i, row := range rows {
		args := append(row.args, "--lifetime", "3s", row.mode)
		waits[i] = launch(t, exchange, args...)
	}
	for i, row := range rows {
		t.Run(row.mode, func(t *testing.T) {
			row.code = exitLifetime
			row.verify(t, waits[i]())
		})
	}
}

func (row shape) run(t *testing.T) ended {
	t.Helper()
	if row.stdin == "" {
		row.stdin = exchange
	}
	return run(t, row.stdin, append(row.args, row.mode)...)
}

func (row shape) verify(t *testing.T, got ended) {
	t.Helper()
	if got.code != row.code {
		t.Errorf("exit code %d, want %d", got.code, row.code)
	}
	if (row.stderr == "") != (got.stderr == "") || !strings.Contains(got.stderr, row.stderr) {
		t.Errorf("stderr %.200q, want %q", got.stderr, row.stderr)
	}
	if row.start == "" {
		row.start = okInit + okList
	}
	if row.end == "" {
		row.end = okCall
	}
	switch {
	case row.start == nothing && got.stdout != "":
		t.Errorf("stdout %.200q, want nothing", got.stdout)
	case row.start != nothing && row.start != anything && !strings.HasPrefix(got.stdout, row.start):
		t.Errorf("stdout begins %.200q, want %.200q", got.stdout, row.start)
	case row.start != nothing && row.end != anything && !strings.HasSuffix(got.stdout, row.end):
		t.Errorf("stdout ends %q, want %q", got.stdout[max(0, len(got.stdout)-300):], row.end)
	case !strings.Contains(got.stdout, row.has):
		t.Errorf("stdout %.2000q lacks %q", got.stdout, row.has)
	}
	if row.check != nil {
		if err := row.check(got.stdout); err != nil {
			t.Error(err)
		}
	}
}

// TestEveryModeIsTested fails when a mode has neither a row nor a test of its own.
func TestEveryModeIsTested(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{}
	for _, row := range append(shapes(), stayingShapes()...) {
		tested[row.mode] = true
	}
	// These need a conversation, a signal or several starts: fake_test.go has them.
	for _, name := range []string{
		"good", "endless-line", "flaky-start", "grandchild", "grandchild-setsid", "slow-start", "ignore-sigterm",
		"sigsegv-early", "sigsegv", "sigkill", "server-requests", "server-requests-early",
		"stateless-only", "dual-era", "discover-empty",
		"features", "elicit", "elicit-url", "sample", "input-required",
		"pages", "pages-stop", "cursor-empty", "cursor-null", "cursor-loop", "cursor-cycle", "cursor-endless",
		"cursor-grows", "pages-huge", "pages-wide", "tasks", "stateful",
	} {
		tested[name] = true
	}
	for _, m := range Modes() {
		if !tested[m.Name] {
			t.Errorf("no test proves what mode %s does: add a row here, and to pkg/servers/misbehave_test.go", m.Name)
		}
		delete(tested, m.Name)
	}
	for name := range tested {
		t.Errorf("mode %s is tested and does not exist", name)
	}
}

func shapes() []shape {
	var rows []shape
	for _, some := range [][]shape{
		pollutionShapes(), framingShapes(), volumeShapes(), processShapes(), rpcShapes(),
		handshakeShapes(), listShapes(), schemaShapes(), contentShapes(), untrustedShapes(), combinedShapes(),
	} {
		rows = append(rows, some...)
	}
	return rows
}

func pollutionShapes() []shape {
	var rows []shape
	for suffix, text := range map[string]string{"": plainText, "-ansi": ansiText, "-json": jsonText} {
		line := text + "\n"
		rows = append(
			rows,
			shape{mode: "banner" + suffix, start: line + okInit},
			shape{mode: "log-between" + suffix, start: okInit + line + okList, end: line + okCall},
			shape{mode: "log-inside" + suffix, end: anything, check: splitCall(line)},
			shape{mode: "log-after" + suffix, start: okInit + line + okList, end: okCall + line},
		)
	}
	return append(
		rows,
		shape{mode: "banner", args: []string{"--text", "hello"}, start: "hello\n" + okInit},
		shape{mode: "log-late", end: okCall + "Shutting down\n"},
		shape{mode: "json-logs", start: jsonText + "\n" + jsonText + "\n" + okInit, end: jsonText + "\n" + okCall},
		shape{mode: "json-scalars", start: "42\n\"text\"\nnull\ntrue\n[1,2]\n2026-11-20 08:00:00 ready\n" + okInit},
		shape{mode: "rpc-not-mcp", start: `{"jsonrpc":"2.0","method":"log","params":["ready"]}` + "\n" + okInit},
		shape{mode: "echo-back", start: `{"id":1,"jsonrpc":"2.0","method":"initialize"`, end: anything},
	)
}

// splitCall wants the answer to the call in two halves, with line between them.
func splitCall(line string) func(string) error {
	return func(stdout string) error {
		if !strings.HasSuffix(strings.Replace(stdout, "\n"+line, "", 1), okCall) || strings.HasSuffix(stdout, okCall) {
			return fmt.Errorf("the frame is not split by %q: %.300q", line, stdout)
		}
		return nil
	}
}

func framingShapes() []shape {
	const glued = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"fake","data":"glued"}}`
	initBody := strings.TrimSuffix(okInit, "\n")
	callBody := strings.TrimSuffix(okCall, "\n")
	return []shape{
		{mode: "inline-prefix", start: "INFO ready " + okInit, end: "INFO ready " + okCall},
		{mode: "inline-suffix", start: initBody + " INFO done\n", end: callBody + " INFO done\n"},
		{mode: "two-on-line", start: glued + okInit, end: glued + okCall},
		{mode: "no-newline", start: initBody + `{"jsonrpc"`, end: callBody},
		{mode: "no-newline-call", end: "\n" + callBody},
		{mode: "no-newline-exit", end: "\n" + callBody},
		{mode: "coalesced", start: anything, has: `"data":"two"}}` + "\n" + `{"jsonrpc":"2.0","id":1,`},
		{mode: "crlf", start: initBody + "\r\n{", end: callBody + "\r\n"},
		{mode: "cr-only", start: initBody + "\r{", end: callBody + "\r"},
		{mode: "blank-lines", start: "\n \n" + initBody + "\n\r\n\n", end: callBody + "\n\r\n\n"},
		{mode: "pretty", start: "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n", end: "    ]\n  }\n}\n"},
		{mode: "content-length", start: fmt.Sprintf("Content-Length: %d\r\n\r\n%sContent-Length: ", len(initBody), initBody), end: callBody},
		{mode: "sse-framing", start: "event: message\ndata: " + initBody + "\n\n", end: "data: " + callBody + "\n\n"},
		{mode: "batch", start: "[" + initBody + "]\n", end: "[" + callBody + "]\n"},
		{mode: "bom", start: "\ufeff" + okInit + okList},
		{mode: "bom-each", start: "\ufeff" + okInit + "\ufeff" + okList, end: "\ufeff" + okCall},
		{mode: "invalid-utf8", start: anything, end: "\"\xff\xfehi\"}]}}\n", check: invalidUTF8},
		{mode: "raw-control", start: anything, end: "\"\x1b[31mhi\"}]}}\n"},
		{mode: "nul-bytes", start: "\x00\x00" + okInit, end: "\x00\x00" + okCall},
		{mode: "utf16", start: "\xff\xfe{\x00", end: anything, check: decodesAsUTF16},
	}
}

func invalidUTF8(stdout string) error {
	if utf8.ValidString(stdout) {
		return fmt.Errorf("valid UTF-8")
	}
	return nil
}

func decodesAsUTF16(stdout string) error {
	var units []uint16
	for i := 2; i+1 < len(stdout); i += 2 {
		units = append(units, binary.LittleEndian.Uint16([]byte(stdout[i:])))
	}
	text := string(utf16.Decode(units))
	if !strings.HasPrefix(text, okInit+okList) || !strings.HasSuffix(text, okCall) {
		return fmt.Errorf("decodes as %.300q", text)
	}
	return nil
}

func volumeShapes() []shape {
	return []shape{
		{mode: "huge-line", args: []string{"--bytes", "200000"}, end: `"}]}}` + "\n", check: longestLine(200_000)},
		{mode: "huge-text-line", args: []string{"--bytes", "200000"}, check: longestLine(200_000)},
		{mode: "text-flood", start: "flood line 1 of 50000\nflood line 2 of 50000\n", has: "flood line 50000 of 50000\n" + okInit},
		{mode: "text-flood-call", args: []string{"--count", "3000"}, end: "flood line 3000 of 3000\n" + okCall},
		{mode: "stderr-flood", stderr: "flood line 50000 of 50000\n"},
		{mode: "stderr-huge-line", args: []string{"--bytes", "100000"}, stderr: strings.Repeat("e", 100_000) + "\n"},
		{
			mode: "blocks-flood", args: []string{"--count", "1001"}, end: `{"type":"text","text":"a block"},{"type":"text","text":"the last block"}]}}` + "\n",
			check: func(stdout string) error {
				if n := strings.Count(stdout, "a block"); n != 1001 {
					return fmt.Errorf("%d blocks, want 1001", n)
				}
				return nil
			},
		},
		{mode: "instructions-huge", args: []string{"--bytes", "20"}, start: anything, has: `"instructions":"0123456789abcdefghij"}}` + "\n"},
		{mode: "elicit-flood", args: []string{"--count", "3"}, has: `"id":"flood-3","method":"elicitation/create"`},
		{mode: "elicit-huge", args: []string{"--count", "1"}, has: `"p39999":{`},
		{mode: "resources-huge", stdin: `{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"cursor":"1"}}` + "\n", start: anything, end: anything, has: `"uri":"test://1/2999"`},
		{mode: "notification-flood", end: `"data":"message 10000"}}` + "\n" + okCall},
	}
}

func longestLine(size int) func(string) error {
	return func(stdout string) error {
		for line := range strings.Lines(stdout) {
			if len(line) > size {
				return nil
			}
		}
		return fmt.Errorf("no line of %d bytes", size)
	}
}

func processShapes() []shape {
	return []shape{
		{mode: "exit0-early", start: nothing},
		{mode: "exit1-stderr", start: nothing, stderr: "MQTT_URL", code: 1},
		{mode: "exit1-stderr", args: []string{"--code", "78"}, start: nothing, stderr: "MQTT_URL", code: 78},
		{mode: "usage-stdout", start: "Usage: ", end: "start the server\n", code: 1},
		{mode: "exit-in-handshake", start: nothing, stderr: "cannot go on with initialize", code: 3},
		{mode: "exit-after-init", start: okInit, end: okInit, code: 3},
		{mode: "exit-after-list", end: "]}}\n", code: 3},
		{mode: "exit-mid-call", end: "]}}\n", stderr: "cannot go on with tools/call", code: 3},
		{mode: "exit-half-line", end: okCall[:len(okCall)/2], code: 3},
		{mode: "silent", start: nothing},
		{mode: "silent-after-init", start: okInit, end: okInit},
		{mode: "silent-call", end: "]}}\n"},
		{mode: "stdout-closed", start: nothing},
		{mode: "stdout-closed-call", end: "]}}\n"},
		{mode: "slow-call", args: []string{"--wait", "1ms"}},
		{mode: "slow-exit", args: []string{"--wait", "1ms"}},
		{mode: "exit-code-on-close", code: 1},
		{mode: "log-on-close", stderr: "flood line 1000 of 1000\n"},
		{mode: "tty-prompt", start: promptText, end: promptText},
		{mode: "full-screen", start: screenText, end: screenText},
		{mode: "http-mode", start: httpText + "\n", end: httpText + "\n"},
	}
}

// stayingShapes are the modes whose processes do not end by themselves.
func stayingShapes() []shape {
	return []shape{
		{mode: "stdin-unread", start: nothing},
		{mode: "stdin-stalled", end: "]}}\n"},
		{mode: "stdin-closed", start: nothing},
		{mode: "stdin-closed-later", end: "]}}\n"},
		{mode: "ignore-eof"},
		{mode: "slow-exit", args: []string{"--wait", "1h"}},
		{mode: "hold", start: nothing},
	}
}

func rpcShapes() []shape {
	const content = `{"content":[{"type":"text","text":"hi"}]}`
	call := func(rest string) string { return "\n" + `{"jsonrpc":"2.0","id":3` + rest + "}\n" }
	return []shape{
		{mode: "rpc-version", end: "\n" + `{"jsonrpc":"1.0","id":3,"result":` + content + "}\n"},
		{mode: "rpc-missing", end: "\n" + `{"id":3,"result":` + content + "}\n"},
		{mode: "rpc-missing", args: []string{"--on", "all"}, start: `{"id":1,"result":`, end: anything},
		{mode: "both", end: call(`,"result":` + content + `,"error":{"code":-32603,"message":"both"}`)},
		{mode: "error-null", end: call(`,"result":` + content + `,"error":null`)},
		{mode: "neither", end: call("")},
		{mode: "error-string", end: call(`,"error":"it broke"`)},
		{mode: "error-code-str", end: call(`,"error":{"code":"E_BROKE","message":"it broke"}`)},
		{mode: "error-no-message", end: call(`,"error":{"code":-32000}`)},
		{mode: "result-array", end: call(`,"result":[]`)},
		{mode: "result-null", end: call(`,"result":null`)},
		{mode: "result-string", end: call(`,"result":"done"`)},
		{mode: "dup-keys", end: call(`,"result":` + content + `,"result":{"content":[{"type":"text","text":"second"}]}`)},
		{mode: "deep-json", end: strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}}\n"},
		{mode: "big-numbers", end: anything, has: `"long":123456789012345678901234567890`},
		{mode: "lone-surrogate", end: anything, has: `half \ud800 pair`},
		{mode: "id-string", end: `"id":"3","result":` + content + "}\n"},
		{mode: "id-float", end: `"id":3.0,"result":` + content + "}\n"},
		{mode: "id-null", end: `"id":null,"result":` + content + "}\n"},
		{mode: "id-missing", end: "\n" + `{"jsonrpc":"2.0","result":` + content + "}\n"},
		{mode: "id-unknown", end: `"id":987654321,"result":` + content + "}\n"},
		{mode: "id-stray", end: `"id":987654321,"result":{"content":[{"type":"text","text":"stray"}]}}` + "\n" + okCall},
		{mode: "id-dup", end: okCall + okCall},
		{mode: "late-reply", end: "]}}\n"},
		{
			mode: "late-reply", end: `"id":3,"result":{"content":[{"type":"text","text":"late"}]}}` + "\n",
			stdin:  exchange + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}` + "\n",
			stderr: "cancelled 3\n",
		},
		{mode: "id-collision", end: `{"jsonrpc":"2.0","id":3,"method":"ping"}` + "\n", stderr: "asked ping: no answer"},
		{mode: "server-requests-burst", end: `{"jsonrpc":"2.0","id":"burst-1000","method":"ping"}` + "\n" + okCall},
		{mode: "elicit-first", end: `,"url":"https://login.example/start?x=1","elicitationId":"e1"}]}}}` + "\n"},
		{mode: "tools-change", end: okCall + `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n"},
		{mode: "tools-swap", end: okCall + `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n"},
		{mode: "tools-by-client", start: okInit + `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n" + okList},
		{mode: "tools-renamed", start: okInit, has: `"name":"tool29_v0"`, end: okCall},
		{mode: "tools-after-list", start: okInit + `{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}` + "\n", end: anything},
		{mode: "tools-after-roots", start: okInit + `{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}` + "\n", end: anything},
		{mode: "list-changed-storm", start: okInit + strings.Repeat(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`+"\n", 100) + okList},
		{mode: "progress-bad", end: `"progress":9,"total":10}}` + "\n", has: `{"progressToken":"unknown","progress":7,"total":10}}` + "\n" + okCall},
	}
}

func handshakeShapes() []shape {
	const discover = `{"jsonrpc":"2.0","id":0,"method":"server/discover"}` + "\n"
	return []shape{
		{mode: "version-missing", start: `{"jsonrpc":"2.0","id":1,"result":{"capabilities":`},
		{mode: "version-type", start: `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":20251125,`},
		{mode: "version-future", start: `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2099-01-01",`},
		{mode: "version-old", start: `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05",`},
		{mode: "serverinfo-missing", start: `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}` + "\n"},
		{mode: "init-error", start: `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"not authenticated`},
		{mode: "undeclared-tools", start: strings.Replace(okInit, `{"tools":{"listChanged":true},"logging":{}}`, `{}`, 1) + okList},
		{mode: "declared-absent", start: okInit + `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,`},
		{mode: "list-error", start: okInit + `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,`},
		{mode: "ready-result", start: `{"jsonrpc":"2.0","id":null,"result":{"status":"ready"}}` + "\n" + okInit},
		{mode: "notification-result", start: okInit + `{"jsonrpc":"2.0","result":null}` + "\n" + `{"jsonrpc":"2.0","id":2,`},
		{mode: "notification-error", start: okInit + `{"jsonrpc":"2.0","error":{"code":-32601,`},
		{mode: "echo-half", start: okInit, has: "\"params\":{\"na█\n"},
		{mode: "discover-kills"},
		{mode: "discover-kills", stdin: discover + exchange, start: nothing, stderr: "cannot go on with server/discover", code: 1},
		{mode: "first-must-be-init"},
		{mode: "first-must-be-init", stdin: discover + exchange, start: nothing, stderr: "cannot go on with server/discover", code: 1},
		{mode: "discover-silent", stdin: discover + exchange},
	}
}

func listShapes() []shape {
	return []shape{
		{mode: "tools-empty", start: okInit + `{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}` + "\n", end: anything},
		{mode: "tools-null", start: okInit + `{"jsonrpc":"2.0","id":2,"result":{"tools":null}}` + "\n"},
		{mode: "tools-object", start: okInit + `{"jsonrpc":"2.0","id":2,"result":{"tools":{"echo":`},
		{mode: "tools-mixed", start: okInit + `{"jsonrpc":"2.0","id":2,"result":{"tools":[null,"echo",7,{"name":"echo",`},
		{mode: "tools-nameless", args: []string{"--count", "2"}, has: `{"inputSchema":{"type":"object"}},{"inputSchema":{"type":"object"}}`},
		{mode: "tool-no-name", has: `{"description":"nameless",`},
		{mode: "tool-bad-names", has: `"name":"with/slash"`},
		{mode: "tools-dup", check: occurs(`"name":"twice"`, 2)},
		{mode: "tools-1k", check: occurs(`"description":"One of many."`, 1000)},
		{mode: "tools-10k", check: occurs(`"description":"One of many."`, 10_000)},
		{mode: "tools-10k", args: []string{"--count", "7"}, check: occurs(`"description":"One of many."`, 7)},
		{mode: "tools-100k", check: longestLine(400_000)},
	}
}

func occurs(part string, times int) func(string) error {
	return func(stdout string) error {
		if got := strings.Count(stdout, part); got != times {
			return fmt.Errorf("%q occurs %d times, want %d", part, got, times)
		}
		return nil
	}
}

func schemaShapes() []shape {
	var rows []shape
	for mode, part := range map[string]string{
		"schema-missing":          `"description":"Its schema: no inputSchema."}`,
		"schema-null":             `"inputSchema":null}`,
		"schema-string":           `"inputSchema":"object"}`,
		"schema-true":             `"inputSchema":true}`,
		"schema-type-array":       `"inputSchema":{"type":"array"`,
		"schema-no-type":          `"inputSchema":{"properties":`,
		"schema-bad-kw":           `{"value":{"type":5}}`,
		"schema-dialect":          `"$schema":"https://example.invalid/dialect"`,
		"schema-draft4":           `"exclusiveMinimum":true`,
		"schema-draft7":           `#/definitions/v`,
		"schema-ref-dangling":     `"$ref":"#/$defs/nowhere"`,
		"schema-ref-http":         `"$ref":"http://127.0.0.1:9/schema.json"`,
		"schema-ref-file":         `"$ref":"file:///etc/passwd"`,
		"schema-ref-loop":         `"inputSchema":{"$ref":"#"}}`,
		"schema-ref-mutual":       `"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}`,
		"schema-deep":             strings.Repeat(`}}`, 500),
		"schema-combos":           `"l27":{"anyOf":[{"$ref":"#/$defs/l28"},{"$ref":"#/$defs/l28"}]}`,
		"schema-regex":            `(?=.*\\d)`,
		"schema-slow-regex":       `(a+)+$`,
		"schema-bad-regex":        `"pattern":"([a-z"`,
		"schema-proto":            `"__proto__"`,
		"schema-root-oneof":       `"oneOf":[`,
		"schema-required-unknown": `"required":["other"]`,
	} {
		rows = append(rows, shape{mode: mode, has: part, check: validList})
		// The tool is there and answers with what it got.
		rows = append(rows, shape{
			mode: mode, stdin: callOf(mode, `{"value": "x"}`), start: anything,
			end: `{"content":[{"type":"text","text":"{\"value\": \"x\"}"}]}}` + "\n",
		})
	}
	return rows
}

func callOf(tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + "}}\n"
}

// validList wants the list to be JSON all the same: the fault is in the schema.
func validList(stdout string) error {
	for line := range strings.Lines(stdout) {
		if !json.Valid([]byte(line)) {
			return fmt.Errorf("not JSON: %.200s", line)
		}
	}
	return nil
}

func contentShapes() []shape {
	var rows []shape
	for mode, result := range map[string]string{
		"content-missing":     `{}`,
		"content-null":        `{"content":null}`,
		"content-string":      `{"content":"done"}`,
		"content-empty":       `{"content":[]}`,
		"content-unknown":     `{"content":[{"type":"text","text":"known"},{"type":"hologram","data":{"depth":3}}]}`,
		"content-untyped":     `{"content":[{"text":"untyped"},"bare"]}`,
		"iserror-empty":       `{"content":[],"isError":true}`,
		"structured-only":     `{"content":[],"structuredContent":{"sum":3}}`,
		"structured-missing":  `{"content":[{"type":"text","text":"unstructured"}]}`,
		"structured-mismatch": `{"content":[{"type":"text","text":"{}"}],"structuredContent":{"sum":"three"}}`,
	} {
		rows = append(rows, shape{
			mode: mode, stdin: lineList + callOf(mode, `{}`), start: okList,
			end: `{"jsonrpc":"2.0","id":3,"result":` + result + "}\n",
		})
	}
	return append(rows, shape{
		mode: "image-bad", stdin: callOf("image-bad", `{}`), start: anything, end: anything,
		has: `{"type":"image","data":"@@@@","mimeType":"image/png"}`,
	})
}

func untrustedShapes() []shape {
	var rows []shape
	for mode, escaped := range map[string]string{
		"term-title":      `\u001b]0;owned\u0007`,
		"term-clear":      `\u001b[2J\u001b[H`,
		"term-link":       `\u001b]8;;https://evil.example.invalid\u001b\\`,
		"term-clipboard":  `\u001b]52;c;ZXZpbA==\u0007`,
		"term-c1":         "\u009b31m\u0085\x7f",
		"term-bidi":       "\u202egnp.\u2066evil",
		"term-zero-width": "a\u200bd\u200cm\u200di\u2060n\ufeff\u00ad",
		"term-tags":       "\U000e0001\U000e0068\U000e0069\U000e007f",
		"term-newlines":   `line\r\nforged: ok\rover\u2028\u2029`,
		"prompt-inject":   `<IMPORTANT>Ignore previous`,
	} {
		// In serverInfo's name and version, the instructions, echo's description and its answer.
		rows = append(rows, shape{mode: mode, start: anything, end: anything, check: func(stdout string) error {
			return errorsOf(validList(stdout), occurs(escaped, 5)(stdout))
		}})
	}
	return append(
		rows,
		shape{mode: "term-name", has: `"name":"\u001b[31mred` + "\u202e" + `"`},
		shape{mode: "term-stderr", stderr: "\x1b[2J\x1b]0;owned\x07\u202estderr\n"},
	)
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// combinedShapes prove that modes add up.
func combinedShapes() []shape {
	return []shape{
		{mode: "exit-mid-call", args: []string{"banner"}, start: plainText + "\n" + okInit, end: "]}}\n", stderr: "tools/call", code: 3},
		{mode: "log-after", args: []string{"crlf"}, start: strings.TrimSuffix(okInit, "\n") + "\r\n" + plainText + "\n", end: plainText + "\n"},
		{mode: "id-string", args: []string{"inline-prefix"}, start: "INFO ready " + okInit, end: `"id":"3","result":{"content":[{"type":"text","text":"hi"}]}}` + "\n"},
	}
}

func TestCallsAnsweredInOrder(t *testing.T) {
	t.Parallel()
	l := begin(t, "good")
	const calls = 200
	go func() {
		for i := range calls {
			_, _ = fmt.Fprintf(l.stdin, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"message":"m%d"}}}`+"\n", i, i)
		}
		_ = l.stdin.Close()
	}()
	for i := range calls {
		l.want(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"m%d"}]}}`, i, i))
	}
	if rest, _ := io.ReadAll(l.stdout); len(rest) > 0 {
		t.Errorf("more than was asked for: %q", rest)
	}
}
