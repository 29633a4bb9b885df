package decode

// clientDecoders know what clients, and what they start, say in words of their own. Most
// come with a number that means many things (-32000, -32602), so they are asked before it.
func clientDecoders() []decoder {
	return []decoder{
		{pattern: `error decoding response body`, explain: always(Diagnosis{ // reqwest, below the Rust SDK's client
			Title: "the answer of the address is not JSON", Stood: "a body of HTTP that is a page, empty, or cut off",
			Fix:    []string{"look at the url, and at what stands before the server", "in the server: send Content-Type: application/json, or text/event-stream, and a body that fits"},
			Checks: []string{"content-type", "status-unexpected"},
		})},
		{pattern: `(?i)\breceived request before initialization|\bserver not initialized\b|-32602:? invalid request parameters`, explain: always(Diagnosis{
			Title:  "the server was asked before the handshake",
			Stood:  "a request before initialize was done: the client did not wait for its answer, or went on with a server that had been started again, or that is another instance behind the same address",
			Fix:    []string{"start the client anew: it begins with initialize then", "in the client: send requests when initialize is answered and notifications/initialized is sent"},
			Checks: []string{"request-before-init", "session-lost"},
		})},
		{pattern: `does not support dynamic client registration|[Dd]ynamic [Cc]lient [Rr]egistration (?:is )?not (?:supported|available)`, explain: always(Diagnosis{
			Title: "the authorization server does not register clients by itself", Stood: "its metadata, without registration_endpoint",
			Fix: []string{
				"from outside: register a client there by hand, and give its id to the client (toolx: clientId under auth in the server's entry)",
				"in the authorization server: offer registration_endpoint (RFC 7591), or take Client ID Metadata Documents",
			},
			Checks: []string{"auth-metadata", "auth-challenge"},
		})},
		{pattern: `\(HTTP 40[45]\)`, explain: noSuchPage},
		{pattern: `\(HTTP 5\d\d\)|Non-200 status code \(5\d\d\)|\b(?:502 Bad Gateway|503 Service Unavailable|504 Gateway Time-?out)\b`, explain: always(Diagnosis{
			Title: "the server failed, or a proxy before it found none", Stood: "HTTP 500 to 599 in place of an answer: 502, 503 and 504 are mostly a proxy's own",
			Fix:    []string{"read the log of the server, and that of what stands before it", "in the proxy: see whether the server behind it runs, and where it looks for it"},
			Checks: []string{"status-unexpected"},
		})},
		{pattern: `spawn (?:.{1,200} )?EINVAL`, explain: always(Diagnosis{
			Title: "Windows does not start a .cmd file as a program", Stood: "nothing: npx, npm and the like are scripts there (npx.cmd), and Node starts those by a shell alone",
			Fix: []string{"from outside: command cmd, args /c npx …", "in the client: a newer version of it, which does that by itself"}, Checks: []string{"windows-cmd-shim"},
		})},
		{pattern: `input device is not a TTY|cannot attach stdin to a TTY`, explain: always(Diagnosis{
			Title: "docker run was asked for a terminal", Stood: "nothing on stdout: -t needs a terminal, and a client gives pipes",
			Fix: []string{"from outside: docker run -i --rm IMAGE, without -t"}, Checks: []string{"docker-flags"},
		})},
		{pattern: `EADDRINUSE|[Aa]ddress already in use`, explain: always(Diagnosis{
			Title: "another program has the server's port", Stood: "nothing on stdout: the server listens on a port as well, which is taken, most often by the same server of another client or of a session before",
			Fix:    []string{"from outside: end the other one, or give this one another port (mostly PORT in its env)", "in the server: open no port in stdio mode, or go on without it"},
			Checks: []string{"exit-before-handshake", "ignores-stdin-close", "orphan-grandchild"},
		})},
		{pattern: `No such tool available|(?i)\bunknown tool:? \S|tool \S+ (?:was )?not found`, explain: always(Diagnosis{
			Title: "the client asked for a tool that the server does not have", Stood: "a list of tools without it: the list is empty or failed, it has changed since, or the name was cut or got another prefix on the way",
			Fix:    []string{"start the client anew, so that it lists the tools again; toolx list -- COMMAND shows their names", "in the server: send notifications/tools/list_changed when they change"},
			Checks: []string{"capability-false", "tools-empty", "list-unstable", "tool-name-length"},
		})},
	}
}

// helplessDecoders know what says no more than that there is no session. They are asked
// after all that says more.
func helplessDecoders() []decoder {
	return []decoder{
		{pattern: `(?i)\bsocket hang up\b|\bECONNRESET\b|connection reset by peer`, explain: always(Diagnosis{
			Title: "the connection was lost", Stood: "a connection that was taken, and closed before the answer was there",
			Fix: []string{"read the log of the server, and that of what stands before it: it ended, or gave the request up"}, Checks: []string{"connect", "sse-no-final", "exit-during-request"},
		})},
		{pattern: `(?i)-32603\b`, explain: always(Diagnosis{
			Title: "the server failed at the request", Stood: "an answer with error -32603: something in the server went wrong that it did not expect",
			Fix: []string{"read its stderr, where the cause stands in most cases (toolx call shows it)", "in the server: answer what a tool cannot do with isError and a message"}, Checks: []string{"stderr-exception", "iserror-misuse"},
		})},
		{pattern: `(?i)could not attach to MCP server|\bclient closed\b|failed to (?:re)?connect to |MCP server .{0,80}failed to (?:start|connect)|failed to (?:create|start|initialize) (?:MCP )?client`, explain: always(Diagnosis{
			Title: "the client came to no session", Stood: "anything: the program did not start, or ended, or wrote what is no message; or the address did not answer",
			Fix: []string{
				"read the client's log, which has the cause: Claude Desktop has mcp-server-NAME.log, Claude Code starts with --debug, Cursor has MCP Logs under Output",
			},
			Checks: []string{"exit-before-handshake", "env-missing", "command-not-found", "stdout-pollution", "handshake-timeout", "connect"},
		})},
	}
}
