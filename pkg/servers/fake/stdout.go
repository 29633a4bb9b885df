package fake

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"unicode/utf16"
)

// What servers print where only frames belong, by kind.
const (
	plainText = "Starting fake MCP server"
	ansiText  = "\x1b[2m2026-11-20T08:00:00Z\x1b[0m \x1b[32m INFO\x1b[0m fake: ready"
	jsonText  = `{"level":"info","msg":"fake: ready"}`
)

// pollutionModes put lines that are no frames between the frames: three kinds of text in four places.
func pollutionModes() []mode {
	var modes []mode
	for _, kind := range []struct{ suffix, name, text string }{
		{"", "text", plainText}, {"-ansi", "coloured text", ansiText}, {"-json", "a JSON log record", jsonText},
	} {
		modes = append(
			modes,
			mode{
				"banner" + kind.suffix, kind.name + " before the first frame", scopeAll,
				start(func(s *server) { s.print(kind.text) }),
			},
			mode{
				"log-between" + kind.suffix, kind.name + " between frames: before each reply after the handshake",
				scopeLater, before(func(s *server, _ *reply) { s.print(kind.text) }),
			},
			mode{
				"log-inside" + kind.suffix, kind.name + " on a line of its own that splits a frame in two", methodCall,
				encode(func(s *server, line []byte) []byte { return splitBy(line, s.textOr(kind.text)) }),
			},
			mode{
				"log-after" + kind.suffix, kind.name + " after each reply", scopeAll,
				after(func(s *server, _ *reply) { s.print(kind.text) }),
			},
		)
	}
	return append(
		modes,
		mode{
			"log-late", "text after stdin has ended", scopeAll,
			end(func(s *server) { s.print("Shutting down") }),
		},
		mode{
			"json-logs", "a JSON log record at the start and before each reply", scopeAll,
			both(start(func(s *server) { s.print(jsonText) }), before(func(s *server, _ *reply) { s.print(jsonText) })),
		},
		mode{
			"json-scalars", "lines of JSON that are not objects, before each reply", scopeAll,
			before(func(s *server, _ *reply) {
				s.write([]byte("42\n\"text\"\nnull\ntrue\n[1,2]\n2026-11-20 08:00:00 ready\n"))
			}),
		},
		mode{
			"rpc-not-mcp", "valid JSON-RPC that is not MCP before each reply", scopeAll,
			before(func(s *server, _ *reply) { s.notify("log", `["ready"]`) }),
		},
		mode{
			"echo-half", "a call comes back in half before its answer, as a terminal's prompt draws what is typed",
			methodCall, before(func(s *server, r *reply) {
				s.write([]byte(`{"jsonrpc":"2.0","id":` + r.id + `,"method":"tools/call","params":{"na█` + "\n"))
			}),
		},
		mode{"echo-back", "every line of stdin comes back", scopeAll, intercept(echoBack)},
	)
}

// print writes a line of pollution.
func (s *server) print(text string) { s.write([]byte(s.textOr(text) + "\n")) }

func splitBy(line []byte, text string) []byte {
	half := len(line) / 2
	return fmt.Appendf(nil, "%s\n%s\n%s", line[:half], text, line[half:])
}

func echoBack(s *server, m *message) {
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "method": m.Method, "params": m.Params})
	if err != nil {
		s.die(1)
	}
	s.write(append(line, '\n'))
}

// glueModes put more than one frame, or more than a frame, on a line, or less.
func glueModes() []mode {
	return []mode{
		{"inline-prefix", "text glued before each frame", scopeAll, encode(func(s *server, line []byte) []byte {
			return append([]byte(s.textOr("INFO ready ")), line...)
		})},
		{"inline-suffix", "text glued to the end of each frame", scopeAll, encode(func(s *server, line []byte) []byte {
			return append(trimNewline(line), s.textOr(" INFO done")+"\n"...)
		})},
		{"two-on-line", "a notification and a reply on one line", scopeAll, framed(logNotification("glued") + "%s\n")},
		{"no-newline", "frames without a newline at the end; stays alive", scopeAll, framed("%s")},
		{"no-newline-call", "the answer to a call has no newline at its end; stays alive", methodCall, framed("%s")},
		{
			"no-newline-exit", "the answer to a call has no newline at its end; then exits", methodCall,
			both(
				framed("%s"),
				after(func(s *server, _ *reply) { s.die(s.codeOr(0)) }),
			),
		},
		{"coalesced", "log messages and the reply in one write, logging undeclared", scopeAll, both(
			func(s *server) { s.capabilities = `{"tools":{}}` },
			framed(logNotification("one")+"\n"+logNotification("two")+"\n%s\n"),
		)},
	}
}

func trimNewline(line []byte) []byte { return bytes.TrimSuffix(line, []byte("\n")) }

// framed writes each frame by a format, without the newline of its own.
func framed(format string) func(*server) {
	return encode(func(_ *server, line []byte) []byte { return fmt.Appendf(nil, format, trimNewline(line)) })
}

// logNotification is a log message as a frame without its newline.
func logNotification(text string) string {
	return string(trimNewline(notification("notifications/message", `{"level":"info","logger":"fake","data":`+quote(text)+`}`)))
}

// framingModes delimit frames in another way than by a newline.
func framingModes() []mode {
	return []mode{
		{"crlf", "CR LF ends each line", scopeAll, framed("%s\r\n")},
		{"cr-only", "CR ends each line", scopeAll, framed("%s\r")},
		{"blank-lines", "blank lines around each frame", scopeAll, framed("\n \n%s\n\r\n\n")},
		{"pretty", "frames that are indented over several lines", scopeAll, encode(pretty)},
		{"content-length", "frames of the Language Server Protocol", scopeAll, encode(func(_ *server, line []byte) []byte {
			body := trimNewline(line)
			return fmt.Appendf(nil, "Content-Length: %d\r\n\r\n%s", len(body), body)
		})},
		{"sse-framing", "frames as server-sent events", scopeAll, framed("event: message\ndata: %s\n\n")},
		{"batch", "each reply in an array of one", scopeAll, framed("[%s]\n")},
	}
}

func pretty(_ *server, line []byte) []byte {
	var out bytes.Buffer
	if json.Indent(&out, line, "", "  ") != nil {
		return line // a frame that another mode spoilt first stays as it is
	}
	return out.Bytes()
}

// encodingModes write bytes that are not the UTF-8 that the protocol asks for.
func encodingModes() []mode {
	return []mode{
		{"bom", "a byte order mark before the first frame", scopeAll, first(func(line []byte) []byte {
			return append([]byte("\xef\xbb\xbf"), line...)
		})},
		{"bom-each", "a byte order mark before each frame", scopeAll, framed("\xef\xbb\xbf%s\n")},
		{"invalid-utf8", "invalid UTF-8 inside a string", scopeAll, inString("\xff\xfe")},
		{"raw-control", "an escape character inside a string, not escaped", scopeAll, inString("\x1b[31m")},
		{"nul-bytes", "NUL bytes before each frame", scopeAll, framed("\x00\x00%s\n")},
		{
			"utf16", "UTF-16 with a byte order mark", scopeAll,
			both(
				encode(func(_ *server, line []byte) []byte { return littleEndian(string(line)) }),
				first(func(line []byte) []byte { return append([]byte("\xff\xfe"), line...) }),
			),
		},
	}
}

// first is encode for the first reply in its scope only.
func first(do func([]byte) []byte) func(*server) {
	return func(s *server) {
		done := false
		encode(func(_ *server, line []byte) []byte {
			if done {
				return line
			}
			done = true
			return do(line)
		})(s)
	}
}

// inString lays bytes into the last string that is a member's value.
func inString(raw string) func(*server) {
	return encode(func(_ *server, line []byte) []byte {
		at := bytes.LastIndex(line, []byte(`":"`))
		if at < 0 {
			return line
		}
		at += len(`":"`)
		return fmt.Appendf(nil, "%s%s%s", line[:at], raw, line[at:])
	})
}

func littleEndian(text string) []byte {
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return out
}

// volumeModes write more than a client may want to hold.
func volumeModes() []mode {
	const floodLines = 50_000
	return []mode{
		{"huge-line", "the answer to a call is one line of --bytes bytes", methodCall, intercept(hugeFrame)},
		{"huge-text-line", "a line of --bytes bytes that is not a frame, before the answer to a call", methodCall, before(func(s *server, _ *reply) {
			s.fill(s.bytes)
			s.write([]byte("\n"))
		})},
		{"endless-line", "a line without an end instead of the answer to a call, until stdout or stdin closes", methodCall, intercept(func(s *server, _ *message) {
			go func() {
				for {
					s.fill(1 << 20)
				}
			}()
		})},
		{"blocks-flood", "the answer to a call has 1,000,000 content blocks (--count)", methodCall, intercept(func(s *server, m *message) {
			s.write([]byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[`))
			s.floodOf(s.countOr(1_000_000), `{"type":"text","text":"a block"},`)
			s.write([]byte(`{"type":"text","text":"the last block"}]}}` + "\n"))
		})},
		{"instructions-huge", "instructions of --bytes bytes", methodInitialize, intercept(func(s *server, m *message) {
			s.write([]byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},` +
				`"serverInfo":{"name":"fake","version":"1.0.0"},"instructions":"`))
			s.fill(s.bytes)
			s.write([]byte(`"}}` + "\n"))
		})},
		{"text-flood", "50,000 lines on stdout before the first reply (--count)", methodInitialize, before(func(s *server, _ *reply) {
			s.flood(s.countOr(floodLines), s.write)
		})},
		{"text-flood-call", "50,000 lines on stdout before the answer to a call (--count)", methodCall, before(func(s *server, _ *reply) {
			s.flood(s.countOr(floodLines), s.write)
		})},
		{"stderr-flood", "50,000 lines on stderr before the first reply (--count)", methodInitialize, before(func(s *server, _ *reply) {
			s.flood(s.countOr(floodLines), func(data []byte) { _, _ = os.Stderr.Write(data) })
		})},
		{"stderr-huge-line", "a line of --bytes bytes on stderr before the first reply", methodInitialize, before(func(s *server, _ *reply) {
			for rest := s.bytes; rest > 0; rest -= 1 << 16 {
				s.writeStderr(strings.Repeat("e", min(rest, 1<<16)))
			}
			s.writeStderr("\n")
		})},
		{"notification-flood", "10,000 log messages before the answer to a call (--count)", methodCall, before(func(s *server, _ *reply) {
			for i := range s.countOr(10_000) {
				s.write([]byte(logNotification(fmt.Sprintf("message %d", i+1)) + "\n"))
			}
		})},
	}
}

// hugeFrame streams its frame, so that the fake itself stays small.
func hugeFrame(s *server, m *message) {
	s.write([]byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"type":"text","text":"`))
	s.fill(s.bytes)
	s.write([]byte("\"}]}}\n"))
}
