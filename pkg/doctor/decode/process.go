package decode

import (
	"fmt"
	"path"
	"strings"

	"toolx/pkg/doctor/culprit"
)

// schemaDecoders know messages about JSON that is no message, or no tool.
func schemaDecoders() []decoder {
	const (
		title = "the server wrote JSON to stdout that is not JSON-RPC"
		stood = "a JSON value without \"jsonrpc\": \"2.0\", most likely the record of a logger"
	)
	record := Diagnosis{
		Title: title, Stood: stood, Culprit: &culprit.Culprit{Name: "a logger that writes JSON (pino, winston)", Confidence: culprit.Likely},
		Fix: []string{"in the server: " + culprit.PinoStderr}, Checks: []string{"stdout-json-not-rpc", "rpc-version", "rpc-shape"},
	}
	return []decoder{
		{pattern: `(?s)"path":\s*\[\s*"tools",\s*\d+,\s*"(?:inputSchema|outputSchema)"|inputSchema.{0,60}(?:Required|expected object|invalid_literal)`, explain: always(Diagnosis{
			Title: "a tool has no usable schema", Stood: "an answer to tools/list with a tool whose inputSchema is missing or is no object; the client gives the whole list up",
			Fix: []string{`in the server: "inputSchema": {"type": "object"} for tools without parameters`}, Checks: []string{"input-schema-missing", "input-schema-type"},
		})},
		{pattern: `expected "2\.0"|Unrecognized key\(s\)|invalid_union|invalid message version tag|\binstance of JSONRPC\w+ \[type=model_type|\d validation errors for JSONRPCMessage`, explain: func(m []string) Diagnosis {
			return always(record)(m)
		}},
		{pattern: `1 validation error for JSONRPCMessage`, explain: func([]string) Diagnosis { return textLine("") }},
		{pattern: `UnicodeEncodeError: 'charmap' codec`, explain: func(m []string) Diagnosis {
			d := Diagnosis{Title: "the server died of a character that its code page lacks", Stood: "nothing: print() of an emoji or a check mark failed on Windows", Checks: []string{"exit-before-handshake", "stderr-exception"}}
			fixed := d.by(culprit.Recognise([]byte(m[0]), culprit.Context{}))
			return fixed
		}},
		{pattern: `ReadBuffer exceeded maximum size|token too long|MaxLineLength|line too long|message too large`, explain: always(Diagnosis{
			Title: "a message is over the client's limit", Stood: "one line of more than 10 MiB (TypeScript SDK), 16 MiB (Go SDK) or 64 KiB (bufio.Scanner)",
			Fix: []string{"in the server: page lists, cut or page results; send files as links"}, Checks: []string{"stdout-huge-line"},
		})},
	}
}

// launchDecoders know messages about servers that could not be started.
func launchDecoders() []decoder {
	return []decoder{
		{pattern: `spawn (\S+) ENOENT|exec: "([^"]+)": executable file not found|(\S+): command not found|\bsh: (?:line )?(?:\d+: )?(\S+): not found|'([^']+)' is not recognized as an internal|\(os error 2\)`, explain: programNotFound},
		{pattern: `spawn (?:\S+ )?EACCES|permission denied`, explain: always(Diagnosis{
			Title: "the program may not be run", Stood: "nothing: the file is not executable, or is a folder",
			Fix: []string{"chmod +x FILE, or start it through its interpreter (node FILE, python FILE)"}, Checks: []string{"command-not-executable"},
		})},
		{pattern: `ENOEXEC|[Ee]xec format error`, explain: always(Diagnosis{
			Title: "the program is not for this machine", Stood: "nothing: a file for another processor or system, or a script without #!",
			Fix: []string{"install the build for this platform; give a script its first line (#!/usr/bin/env node)"}, Checks: []string{"exec-format"},
		})},
		{pattern: `Cannot find (?:module|package) '([^']+)'|ERR_MODULE_NOT_FOUND|No module named '?([\w.]+)'?`, explain: always(Diagnosis{
			Title: "the server lacks one of its modules", Stood: "nothing on stdout: the program died before it spoke",
			Fix: []string{"install the server anew (npm ci, uv sync); look at cwd and at the path in its args"}, Checks: []string{"exit-before-handshake"},
		})},
		{pattern: `\b(?:401|Unauthorized|invalid_token)\b`, explain: always(Diagnosis{
			Title: "the server wants authentication", Stood: "HTTP 401 in place of an answer",
			Fix: []string{"give a token as headers: {Authorization: \"Bearer ${TOKEN}\"}"}, Checks: []string{"auth-challenge"},
		})},
		{pattern: `ECONNREFUSED|[Cc]onnection refused`, explain: always(Diagnosis{
			Title: "nothing listens at the address", Stood: "no connection: the server, or a service that it needs, is not running there",
			Fix: []string{"start what listens there; look at host and port in the config"}, Checks: []string{"exit-before-handshake", "env-missing", "connect"},
		})},
		{pattern: `(?i)unsupported protocol version|protocol version.{0,40}not supported`, explain: always(Diagnosis{
			Title: "client and server speak different revisions", Stood: "an answer to initialize with a protocolVersion that the client does not know",
			Fix: []string{"update the older of the two; toolx: --protocol 2025-11-25"}, Checks: []string{"protocol-version-unsupported", "protocol-version-missing"},
		})},
	}
}

// programNotFound names the program that was not found.
func programNotFound(m []string) Diagnosis {
	program := strings.TrimSuffix(strings.Join(m[1:], ""), ":")
	d := Diagnosis{
		Title: "the program was not found", Stood: "nothing: the client could not start the server",
		Culprit: &culprit.Culprit{Name: "the PATH of a desktop application, which is shorter than the shell's", Confidence: culprit.Likely},
		Checks:  []string{"command-not-found", "command-path-differs", "windows-cmd-shim"},
	}
	if program == "" {
		d.Fix = []string{"give the program's full path as the command (which PROGRAM shows it)"}
		return d
	}
	d.Stood = fmt.Sprintf("nothing: the client found no program %q", program)
	d.Fix = []string{fmt.Sprintf("give the full path as the command (which %s shows it), or set PATH in this server's env", program)}
	if base := path.Base(strings.ReplaceAll(program, `\`, "/")); base == "npx" || base == "npm" {
		d.Fix = append(d.Fix, "on Windows: command cmd, args /c npx …")
	}
	return d
}

// endingDecoders know messages about sessions that ended or never began. They are
// the vaguest, and asked last.
func endingDecoders() []decoder {
	return []decoder{
		{pattern: `(?i)-32001|request timed out|context deadline exceeded|timed out (?:waiting|awaiting|after)|timeout.{0,30}initialize`, explain: always(Diagnosis{
			Title: "no answer came in time", Stood: "no message that answers: nothing at all, a message that could not be read (glued text, no newline, spread over lines), or a server that speaks HTTP, asks a question or keeps its output in a buffer",
			Fix: []string{
				"give it time once: npx and uvx download at the first start",
				"is there a flag for stdio (--stdio, --transport stdio)? Python: add PYTHONUNBUFFERED=1 to this server's env; npx: add -y",
			},
			Checks: []string{"handshake-timeout", "stdout-http-mode", "stdout-partial-text", "output-buffered", "stdout-inline-prefix", "stdout-no-newline", "slow-start"},
		})},
		{pattern: `(?i)EPIPE|broken pipe`, explain: always(Diagnosis{
			Title: "the server stopped reading", Stood: "nothing more: it had ended, or closed its stdin, when the client wrote",
			Fix: []string{"look at the end of its stderr (toolx call shows it)"}, Checks: []string{"exit-before-handshake", "exit-during-request", "stdin-closed"},
		})},
		{pattern: `(?i)-32000|connection closed|transport closed|server disconnected|process exited|client is closing|server exited|unexpected EOF|: EOF\b`, explain: always(Diagnosis{
			Title: "the server ended, or the client ended it", Stood: "the end of stdout: the program died (a missing variable, module or sub-command; the reason is on its stderr), or a strict client hung up at the first line that is no message",
			Fix: []string{
				"read the server's stderr: the reason is mostly its last line; a missing variable goes into env",
				"where stderr is quiet: look for text on stdout",
			},
			Checks: []string{"exit-before-handshake", "env-missing", "stdout-usage-text", "stdout-pollution", "discover-breaks-server", "stdout-huge-line"},
		})},
		{pattern: `(?i)-32601|method not found`, explain: always(Diagnosis{
			Title: "the server does not know the method", Stood: "an answer with error -32601: a capability that is not there, or a client of a newer revision (server/discover)",
			Fix: []string{"update the server; a client may go on without"}, Checks: []string{"era", "capability-false"},
		})},
	}
}
