package decode

import (
	"slices"
	"strings"
	"testing"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
)

// TestDecode explains what clients say. The messages of Node, Go and pydantic were
// made by their parsers from the line beside them.
func TestDecode(t *testing.T) {
	for _, test := range []struct {
		message string
		stood   string // part of Observed
		culprit string // part of the name, empty: none
		fix     string // part of the fixes
		check   string // among Checks
	}{
		// [dotenv@17.2.3] injecting env
		{`Unexpected token 'd', "[dotenv@17."... is not valid JSON`, `"[dotenv@17."`, "dotenv 17", "DOTENV_CONFIG_QUIET=true", "stdout-pollution"},
		{`MCP error: \"Unexpected token 'd', \"[dotenv@17.\"... is not valid JSON\"`, "[dotenv@17.", "dotenv 17", "quiet: true", "stdout-pollution"},
		// llama.cpp's grammars
		{`{"error":{"code":400,"message":"Failed to initialize samplers: failed to parse grammar","type":"invalid_request_error"}}`, "look-around", "", "convert --format openai", "schema-grammar"},
		{`parse: error parsing grammar: number of repetitions exceeds sane defaults, please reduce the number of repetitions`, "maxLength", "", "newer versions", "schema-grammar"},
		{"400 JSON schema conversion failed:\nPattern must start with '^' and end with '$'", "pattern", "", "[0-9]", "schema-grammar"},
		{`Unexpected token d in JSON at position 1`, `"d"`, "dotenv 17", "quiet: true", "stdout-pollution"},
		{`invalid character 'd' looking for beginning of value`, "dotenv@17", "dotenv 17", "quiet: true", "stdout-pollution"},
		// 2026-06-04 15:31
		{`Unexpected non-whitespace character after JSON at position 4`, "2026-06-04", "logger", "stderrLevels", "stdout-pollution"},
		{`position 4`, "2026-06-04", "logger", "sys.stderr", "stdout-pollution"},
		{`invalid character '-' after top-level value`, "2026-06-04", "logger", "sys.stderr", "stdout-pollution"},
		{`trailing characters at line 1 column 5`, "2026-06-04", "logger", "sys.stderr", "stdout-pollution"},
		// [2025-09-15] INFO
		{`Expected ',' or ']' after array element in JSON at position 5`, "[2026-06-04", "logger", "sys.stderr", "stdout-pollution"},
		{`invalid character '-' after array element`, "[2026-06-04", "logger", "sys.stderr", "stdout-pollution"},
		{"expected `,` or `]` at line 1 column 6", "[2026-06-04", "logger", "sys.stderr", "stdout-pollution"},
		{`Unexpected number in JSON at position 2`, "[2026-06-04", "logger", "sys.stderr", "stdout-pollution"},
		// ESC [32m
		{"Unexpected token '\x1b', \"\x1b[32m[Nest] \"... is not valid JSON", "[Nest]", "NestJS", "logger: false", "stdout-pollution"},
		{"Unexpected token '\x1b'", "escape sequence", "colours", "NO_COLOR=1", "stdout-ansi"},
		{`invalid character '\x1b' looking for beginning of value`, "escape sequence", "colours", "NO_COLOR=1", "stdout-ansi"},
		// a byte order mark
		{"Unexpected token '\ufeff', \"\ufeff{\"jsonrpc\"... is not valid JSON", "ef bb bf", "byte order mark", "UTF8Encoding(false)", "stdout-bom"},
		{`invalid character 'ï' looking for beginning of value`, "ef bb bf", "byte order mark", "without a byte order mark", "stdout-bom"},
		// emoji, symbols
		{"Unexpected token '\ufffd', \"\ufffd\ufffd{\x00\"\x00j\x00s\x00\"... is not valid JSON", "ff fe", "PowerShell", "UTF-8", "stdout-utf16"},
		{"Unexpected token '\ufffd'", "emoji", "start-up message", "console.error", "stdout-pollution"},
		{`invalid character 'ð'`, "emoji", "start-up message", "console.error", "stdout-pollution"},
		{`invalid character 'â' looking for beginning of value`, "◇", "dotenv 17", "DOTENV_CONFIG_QUIET=true", "stdout-pollution"},
		{`Unexpected token '◇', "◇ injecte"... is not valid JSON`, "◇ injecte", "dotenv 17", "quiet: true", "stdout-pollution"},
		{`invalid character 'ÿ' looking for beginning of value`, "ff fe", "PowerShell", "UTF-8", "stdout-utf16"},
		{`UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte`, "ff fe", "PowerShell", "UTF-8", "stdout-utf16"},
		{`UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe9 in position 10`, "0xe9", "", "PYTHONUTF8=1", "stdout-invalid-utf8"},
		// other beginnings
		{`Unexpected token '<', "<!DOCTYPE "... is not valid JSON`, "<!DOCTYPE", "HTML", "stderr", "stdout-pollution"},
		{`invalid character '<' looking for beginning of value`, "<", "HTML", "stderr", "stdout-pollution"},
		{`Unexpected token '>', "> pkg@1.0."... is not valid JSON`, "> pkg@1.0.", "npm's banner", "npm run --silent", "stdout-pollution"},
		{`invalid character '>' looking for beginning of value`, ">", "npm's banner", "npm run --silent", "stdout-pollution"},
		{`Unexpected token 'C', "Content-Length: 172" is not valid JSON`, "Content-Length", "Language Server", "newline", "stdout-content-length"},
		{`Unexpected token 'i', "info: Micr"... is not valid JSON`, "info: Micr", ".NET", "LogToStandardErrorThreshold", "stdout-pollution"},
		{`Unexpected token 'U', "Usage: x ["... is not valid JSON`, "Usage", "help text", "sub-command", "stdout-usage-text"},
		{`Unexpected token 'N', "Need to in"... is not valid JSON`, "Need to in", "npx", "-y", "stdout-partial-text"},
		{`Unexpected token 'S', "Starting f"... is not valid JSON`, "Starting f", "start-up message", "stderr", "stdout-pollution"},
		{`Unexpected token 'S', ..."x Shops r"... is not valid JSON`, "Shops", "a print", "stderr", "stdout-pollution"},
		{`invalid character 'p' in literal null (expecting 'u')`, "npm", "npm", "node <path>", "stdout-pollution"},
		{`invalid character 'i' in literal false (expecting 'l')`, "fail:", ".NET", "LogToStandardErrorThreshold", "stdout-pollution"},
		{`invalid character 'Q' looking for beginning of value`, `"Q"`, "", "stderr", "stdout-pollution"},
		{`JSON Parse error: Unexpected identifier "dotenv"`, "dotenv", "a print", "stderr", "stdout-pollution"},
		// a message and more, or half of one
		{`Unexpected non-whitespace character after JSON at position 173`, "173 bytes", "", "one write", "stdout-inline-suffix"},
		{`invalid character 'R' after top-level value`, `"R"`, "", "one write", "stdout-inline-suffix"},
		{`invalid trailing data at the end of stream`, "CR LF", "", "one write", "stdout-inline-suffix"},
		{`trailing characters at line 1 column 174`, "173 bytes", "", "one write", "stdout-inline-suffix"},
		{`Unterminated string in JSON at position 38`, "beginning of a message", "", "one write", "stdout-pollution-between"},
		{`invalid character '\n' in string literal`, "beginning of a message", "", "one write", "stdout-pollution-between"},
		{`Bad control character in string literal in JSON at position 163`, "control character", "by hand", "JSON library", "stdout-ansi"},
		{`Unexpected end of JSON input`, "empty line", "", "one newline", "stdout-blank-lines"},
		{`unexpected end of JSON input`, "empty line", "", "one newline", "stdout-blank-lines"},
		{`EOF while parsing a value at line 1 column 0`, "empty line", "", "one newline", "stdout-blank-lines"},
		{`Expected property name or '}' in JSON at position 1`, "printed for people", "console.log of an object", "without an indent", "stdout-pretty-json"},
		{`key must be a string at line 1 column 3`, "printed for people", "console.log of an object", "without an indent", "stdout-pretty-json"},
		{`1 validation error for JSONRPCMessage Invalid JSON: expected value at line 1 column 1 [type=json_invalid]`, "begins with a letter", "", "NO_COLOR=1", "stdout-pollution"},
		{`Invalid JSON: expected value at line 1 column 2`, "[dotenv@17", "", "DOTENV_CONFIG_QUIET", "stdout-pollution"},
		// JSON that is no message, tools that are none
		{`Invalid literal value, expected "2.0"`, "logger", "logger that writes JSON", "pino.destination(2)", "stdout-json-not-rpc"},
		{`Unrecognized key(s) in object: 'level', 'msg'`, "logger", "logger that writes JSON", "pino.destination(2)", "stdout-json-not-rpc"},
		{`invalid message version tag ""; expected "2.0"`, "logger", "logger that writes JSON", "pino.destination(2)", "stdout-json-not-rpc"},
		{`pydantic_core._pydantic_core.ValidationError: 1 validation error for JSONRPCMessage`, "not JSON", "", "stderr", "stdout-pollution"},
		{`5 validation errors for JSONRPCMessage`, "logger", "logger that writes JSON", "pino.destination(2)", "stdout-json-not-rpc"},
		{`"path": [ "tools", 3, "inputSchema", "type" ]`, "tools/list", "", `"type": "object"`, "input-schema-missing"},
		{`tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`, "root", "", "property", "input-schema-root-combinator"},
		// what the APIs of models say of tools
		{`invalid_function_parameters`, "not a valid JSON Schema", "", "type object", "schema-invalid"},
		{`tool_use_failed`, "Groq", "", "simple schemas", "schema-untyped"},
		{`invalid_request_error`, "most often", "", "names", "schema-invalid"},
		{`{"type":"error","error":{"type":"invalid_request_error","message":"tools.0.custom.input_schema.type: Field required"}}`, "not of type object", "", `"type": "object"`, "input-schema-type"},
		{`invalid_request_error: tools.12: something new`, "from 0", "", "the number", "schema-invalid"},
		{`tools.0.custom.input_schema.type: Field required`, "not of type object", "", `"type": "object"`, "input-schema-type"},
		{`tools.4.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12`, "not a valid JSON Schema", "", "type object", "schema-invalid"},
		{`tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`, "name", "", "at most 64", "tool-name-chars"},
		{`tools.0.custom.name: String should match pattern`, "name", "", "at most 64", "tool-name-chars"},
		{`tools.17.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`, "parameter", "", "letters", "param-name-chars"},
		{`tools: Tool names must be unique.`, "one name", "", "of its own", "tool-duplicate"},
		{`GenerateContentRequest.tools[0].function_declarations[0].parameters.properties: should be non-empty for OBJECT type`, "describes no properties", "", "properties", "schema-untyped"},
		{`GenerateContentRequest.tools[0].function_declarations[80].parameters.properties[data].required: only allowed for OBJECT type`, "contradicts", "", "type", "schema-untyped"},
		{`Invalid JSON payload received. Unknown name "additionalProperties" at 'tools[0].function_declarations[8].parameters': Cannot find field.`, `"additionalProperties"`, "", "leave", "schema-unknown-keyword"},
		{`Invalid schema for function 'list_pods': In context=('properties', 'x'), array schema missing items.`, "array without items", "", "items", "schema-untyped"},
		{`Invalid schema for function 'a.b': schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`, "not of type object", "", "properties", "input-schema-type"},
		{`Invalid schema for function 'x': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.`, "root", "", "property", "input-schema-root-combinator"},
		{`Invalid schema for function 'x': 'object' is not of type 'object', 'boolean'.`, `the tool "x"`, "", "plain schema", "schema-invalid"},
		{`Invalid schema for function 'x': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Extra required key 'a' supplied.`, "requires a property", "", "required", "schema-required-unknown"},
		{`Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`, "name", "", "at most 64", "tool-name-chars"},
		{`Invalid 'tools[3].function.name': string too long. Expected a string with maximum length 64, but got a string with length 70 instead.`, "name", "", "shorter", "tool-name-length"},
		{`Invalid 'tools[3].function.description': string too long. Expected a string with maximum length 1024`, "description", "", "few sentences", "tool-description-long"},
		{`Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 200 instead.`, "more than 128 tools", "", "turn off", "tools-all-servers"},
		{`ReadBuffer exceeded maximum size of 10485760 bytes`, "10 MiB", "", "page", "stdout-huge-line"},
		// what happened instead
		{`spawn npx ENOENT`, `"npx"`, "PATH", "which npx", "command-not-found"},
		{`exec: "uvx": executable file not found in $PATH`, `"uvx"`, "PATH", "which uvx", "command-not-found"},
		{`spawn ./server EACCES`, "not executable", "", "chmod +x", "command-not-executable"},
		{`exec format error`, "another processor", "", "this platform", "exec-format"},
		{`Error: Cannot find module '/srv/dist/index.js'`, "died before", "", "npm ci", "exit-before-handshake"},
		{`UnicodeEncodeError: 'charmap' codec can't encode character '\u2713'`, "Windows", "code page", "PYTHONUTF8=1", "exit-before-handshake"},
		{`MCP error -32000: Connection closed`, "end of stdout", "", "stderr", "exit-before-handshake"},
		{`Server disconnected. For troubleshooting guidance, please visit our debugging documentation`, "end of stdout", "", "stderr", "env-missing"},
		{`connection closed: calling "initialize": client is closing: EOF`, "end of stdout", "", "stderr", "exit-before-handshake"},
		{`MCP error -32001: Request timed out`, "no answer", "", "--stdio", "handshake-timeout"},
		{`calling "tools/call": context deadline exceeded`, "no answer", "", "PYTHONUNBUFFERED", "output-buffered"},
		{`write EPIPE`, "stopped", "", "stderr", "stdin-closed"},
		{`connect ECONNREFUSED 127.0.0.1:3000`, "no connection", "", "host and port", "exit-before-handshake"},
		// over HTTP; most are of the TypeScript SDK's client
		{`Error POSTing to endpoint: {"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`, "started again", "", "again", "session-unknown-404"},
		{`MCP error -32001: Session not found`, "does not know the client's session", "", "--url URL", "session-unknown-404"},
		{`Not Acceptable: Client must accept both application/json and text/event-stream`, "HTTP 406", "", "Accept: application/json, text/event-stream", "accept-strict"},
		{`SSE error: Non-200 status code (404)`, "without such a page", "", "/sse", "legacy-sse"},
		{`Error POSTing to endpoint: <pre>Cannot POST /</pre>`, "without such a page", "", "/mcp", "status-unexpected"},
		{`Unexpected content type: text/html`, "a page", "", "in front of", "content-type"},
		{`Endpoint origin does not match connection origin: http://inner:3000`, "another host", "", "proxy", "sse-endpoint-offsite"},
		{`Protected resource http://localhost:3000 does not match expected http://127.0.0.1:3000/mcp (or origin)`, "/.well-known/", "", "issuer", "auth-metadata"},
		{`Incompatible auth server: does not support code challenge method S256`, "S256", "", "issuer", "auth-metadata"},
		{`metadata issuer "http://a" does not match issuer URL "http://b"`, "another address", "", "outside", "auth-metadata"},
		{`TypeError: fetch failed: self-signed certificate in certificate chain`, "unknown authority", "", "NODE_EXTRA_CA_CERTS", "tls-cert"},
		{`write EPROTO 140:error:1408F10B:SSL routines:ssl3_get_record:wrong version number`, "plain HTTP", "", "http://", "tls-handshake"},
		{`fetch failed: getaddrinfo ENOTFOUND mcp.example.com`, "no address", "", "VPN", "dns"},
		{`Access to fetch at 'http://localhost:3000/mcp' from origin 'http://localhost:5173' has been blocked by CORS policy`, "page's origin", "", "expose Mcp-Session-Id", "cors-reflects"},
		{`Invalid Host header: host.docker.internal`, "HTTP 403", "", "allowedHosts", "origin-not-checked"},
		{`SSE stream disconnected: TypeError: terminated: Body Timeout Error`, "was silent", "", "X-Accel-Buffering", "sse-buffered"},
		{`Unexpected token '<', "<!DOCTYPE "... is not valid JSON`, "<!DOCTYPE", "HTML", "check it", "content-type"},
		{`Incompatible auth server: does not support dynamic client registration`, "registration_endpoint", "", "clientId", "auth-metadata"},
		{`Error POSTing to endpoint (HTTP 404): Not Found`, "without such a page", "", "/mcp", "status-unexpected"},
		{`Error POSTing to endpoint (HTTP 502): <html>`, "HTTP 500", "", "proxy", "status-unexpected"},
		{`error decoding response body: expected value at line 1 column 1`, "a body of HTTP", "", "url", "content-type"},
		{`{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}`, "before initialize", "", "again", "session-lost"},
		{`Error: socket hang up`, "connection was lost", "", "log", "connect"},
		// what clients say in words of their own
		{`Failed to validate request: Received request before initialization was complete`, "before initialize", "", "again", "request-before-init"},
		{`MCP error -32602: Invalid request parameters`, "before initialize", "", "again", "request-before-init"},
		{`Error: spawn C:\Program Files\nodejs\npx.cmd EINVAL`, "npx.cmd", "", "cmd, args /c", "windows-cmd-shim"},
		{`spawn EACCES`, "not executable", "", "chmod +x", "command-not-executable"},
		{`/bin/sh: 1: uvx: not found`, `"uvx"`, "PATH", "which uvx", "command-not-found"},
		{`the input device is not a TTY`, "terminal", "", "without -t", "docker-flags"},
		{`Error: listen EADDRINUSE: address already in use :::3000`, "port", "", "PORT", "exit-before-handshake"},
		{`No such tool available: mcp__lamp__dim`, "without it", "", "toolx list", "tools-empty"},
		{`Could not attach to MCP server filesystem`, "anything", "", "mcp-server-NAME.log", "exit-before-handshake"},
		{`Client closed`, "anything", "", "MCP Logs", "command-not-found"},
		{`Failed to reconnect to lamp.`, "anything", "", "--debug", "connect"},
		{`MCP error -32603: Internal error`, "-32603", "", "stderr", "stderr-exception"},
		{`Input should be a valid dictionary or instance of JSONRPCNotification [type=model_type, input_value='Starting', input_type=str]`, "logger", "logger that writes JSON", "pino.destination(2)", "stdout-json-not-rpc"},
		{`Invalid schema for function 'x': schema must have type 'object' and not have 'oneOf'`, "root", "", "property", "input-schema-root-combinator"},
		{`TypeError: fetch failed`, "no connection", "", "ENOTFOUND", "connect"},
		{`MCP error -32601: Method not found`, "-32601", "", "update", "capability-false"},
	} {
		t.Run(test.message, func(t *testing.T) {
			d, ok := Decode(test.message)
			if !ok {
				t.Fatal("not known")
			}
			if !strings.Contains(d.Observed+d.Title, test.stood) {
				t.Errorf("stood %q (%s), want %q", d.Observed, d.Title, test.stood)
			}
			switch {
			case test.culprit == "" && d.Culprit != nil:
				t.Errorf("culprit %+v, want none", d.Culprit)
			case test.culprit != "" && (d.Culprit == nil || !strings.Contains(d.Culprit.Name, test.culprit)):
				t.Errorf("culprit %+v, want %q", d.Culprit, test.culprit)
			}
			if fixes := strings.Join(d.Fix, "\n"); !strings.Contains(fixes, test.fix) {
				t.Errorf("fix %q, want %q", fixes, test.fix)
			}
			if !slices.Contains(d.Checks, test.check) {
				t.Errorf("checks %q, want %q", d.Checks, test.check)
			}
		})
	}
}

// TestDecodePage explains a page of messages of clients, grouped by what they mean. A message about a client's config
// file is never blamed on the server.
func TestDecodePage(t *testing.T) {
	for title, messages := range map[string][]string{
		"the client's config file is not valid": {
			"Could not load app settings: there was an error reading or parsing claude_desktop_config.json",
			`claude_desktop_config.json: Unexpected token '}', ..."}, } }" is not valid JSON`,
			"Failed to parse .vscode/mcp.json: Expected comma or closing brace at line 4 column 3",
			"JSON error in .cursor/mcp.json: Unexpected token ] in JSON at position 101",
			"Error loading config.toml: TOML parse error at line 3, column 9",
			"Error in /home/ada/.gemini/settings.json: Expected double-quoted property name in JSON at position 12",
			"Invalid MCP configuration: mcpServers.api: Does not adhere to MCP server configuration schema",
			"mcp_config.json: invalid character '}' looking for beginning of object key string",
		},
		"a result lacks structuredContent": {
			"MCP error -32600: Tool forecast has an output schema but did not return structured content",
			"Tool forecast has an output schema but no structured content was returned",
			"Output validation error: outputSchema defined but no structured output returned",
		},
		"structuredContent does not match the tool's outputSchema": {
			"MCP error -32602: Structured content does not match the tool's output schema: data/pushed must be boolean",
			"Invalid structured content returned by tool push: 'pushed' is a required property",
			"Failed to validate structured content: Error: data must have required property 'pushed'",
		},
		"a tool has an array parameter without items": {
			"Failed to validate tool mcp_list: Error: tool parameters array type must have items",
		},
		"the name of the server and the tool is too long": {
			"Tool search is filtered out: combined server and tool name length exceeds 60",
			"Combined server and tool name length (66) exceeds 60",
			"name exceeds the maximum of 60 characters, and is not offered",
		},
		"a tool's name has characters that the client refuses": {
			`Tool name "get.item" is invalid: tool names may only contain [a-z0-9_-]`,
			"Invalid tool name 'get item'",
		},
		"the model cannot call tools": {
			"registry.ollama.ai/library/gemma3:latest does not support tools",
			`{"error":{"message":"llama2 does not support tools","type":"api_error"}}`,
		},
		"a tool's schema has no usable required array": {
			"Invalid schema for function 'list': None is not of type 'array'",
			`schema at $.parameters: null is not of type "array"`,
		},
	} {
		for _, message := range messages {
			if d, known := Decode(message); !known || d.Title != title {
				t.Errorf("%s\ngot  %q\nwant %q", message, d.Title, title)
			}
		}
	}
}

// TestDecodeUnknown says so where it does not know a message.
func TestDecodeUnknown(t *testing.T) {
	for _, message := range []string{"", "hello", "the weather is fine", "stdout-pollution"} {
		if d, ok := Decode(message); ok {
			t.Errorf("%q: %+v", message, d)
		}
	}
}

// TestDecodeTwice gives the same answer each time: diagnoses share nothing.
func TestDecodeTwice(t *testing.T) {
	first, _ := Decode("spawn npx EACCES")
	first.Fix[0] = "changed"
	if second, _ := Decode("spawn npx EACCES"); second.Fix[0] == "changed" || len(second.Fix) != len(first.Fix) {
		t.Errorf("second: %q", second.Fix)
	}
}

// TestDecodedChecks leads to pages that exist, and to a server at an address where the first check is about those.
func TestDecodedChecks(t *testing.T) {
	for _, one := range entries() {
		d := one.diagnose([]string{"", "x"})
		for _, id := range d.Checks {
			if _, known := doctor.Find(id); !known {
				t.Errorf("%s leads to %s, which is no check", one.pattern, id)
			}
		}
		if len(d.Checks) == 0 { // of the client or the model alone: no check of a server finds it
			continue
		}
		first, _ := doctor.Find(d.Checks[0])
		if http := first.Group == check.GroupHTTP; http != d.http {
			t.Errorf("%s: over http is %v, the group of %s says %v", one.pattern, d.http, d.Checks[0], http)
		}
	}
}

// FuzzDecode gives any message: an answer is complete and bounded, or there is none.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`Unexpected token 'd', "[dotenv@17."... is not valid JSON`, "position 4", "invalid character 'ð'", `invalid character '\x1b' looking for beginning of value`,
		"Unexpected token '\ufeff', \"\ufeff{\"... is not valid JSON", "spawn npx ENOENT",
		"MCP error -32000: Connection closed", "position 99999999999999999999",
		"SSE error: Non-200 status code (404)",
		`invalid character 'p' in literal null (expecting 'u')`, "trailing characters at line 1 column 174", `Unexpected token '"', """ is not valid JSON`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, message string) {
		d, ok := Decode(message)
		if !ok {
			return
		}
		if d.Title == "" || d.Observed == "" || len(d.Fix) < 2 || len(d.Checks) == 0 {
			t.Errorf("%q: %+v", message, d)
		}
		if len(d.Observed) > 4*maxDecoded+1000 {
			t.Errorf("%q: what stood has %d bytes", message, len(d.Observed))
		}
	})
}

// TestTypicalCharacters: each character that is typical of a culprit has a line of that culprit to show.
func TestTypicalCharacters(t *testing.T) {
	for _, one := range entries() {
		for _, r := range one.typical {
			if d := plainLetter(r); d.Culprit == nil || !strings.Contains(d.Observed, ": most often ") {
				t.Errorf("%q: %+v", r, d)
			}
		}
	}
}
