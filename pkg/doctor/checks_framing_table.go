package doctor

import "fmt"

// What mends most of this group.
const (
	fixWholeLines = "in the server: write each message with its newline in one write, under one lock; let nothing else write to stdout"
	fixNewest     = "from outside: look for a newer version of the server, and tell its author"
)

// modeChecks are about programs that do not speak MCP on stdio at all.
func modeChecks() []Check {
	return []Check{
		framing(idHTTP, Error, "server listens for HTTP instead of speaking on stdio", Page{
			Why:    "The server was started as a stdio server and opened a port instead. It never reads stdin, so every client waits until its time is up.",
			Bad:    "fake MCP server listening on http://localhost:3000/mcp",
			Good:   `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",…}}`,
			Fix:    []string{"in the server: make stdio the mode when stdin is no terminal", "from outside: add --stdio (or --transport stdio) to this server's args"},
			Breaks: []string{"every stdio client waits for the handshake until its time is up"},
			Source: stdioClause + "; seen in figma-developer-mcp, server-map, server-pdf",
		}, askHTTP),
		framing(idUsage, Error, "server prints its help and exits", Page{
			Why:    "The command line lacks what makes the program a server: a sub-command or a flag. It prints how it wants to be started, and ends.",
			Bad:    "Usage: fake-mcp <command> [options]",
			Good:   `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",…}}`,
			Fix:    []string{"in the server: write help to stderr when no one asked for it", "from outside: add the sub-command or flag that starts the server, as the help names it (mcp, start, serve, --stdio), to this server's args"},
			Breaks: []string{"every client: the connection closes before the handshake (-32000)"},
			Source: stdioClause + "; seen in lark-mcp, launchdarkly/mcp-server#82",
		}, askPilesWith(idUsage)),
		framing(idEcho, Error, "requests come back unchanged", Page{
			Why:    "What is written to stdin comes out of stdout as it was. The program is no MCP server: something like cat, or a terminal's echo, stands in its place.",
			Bad:    `{"jsonrpc":"2.0","id":1,"method":"initialize",…}   (our own request, on the server's stdout)`,
			Good:   `{"jsonrpc":"2.0","id":1,"result":{…}}`,
			Fix:    []string{"in the server: answer requests instead of copying them", "from outside: look at this server's command: is it the right program, and no terminal (docker run without -t, ssh -T)?"},
			Breaks: []string{"Go SDK, TypeScript SDK and mcp-go wait for the handshake until their time is up"},
			Source: stdioClause,
		}, askEcho),
		framing(idFlood, Error, "server floods stdout", Page{
			Why:    "A client must read every byte before it sees its answer. At this rate it is busy with nothing else, and one that keeps lines for its log runs out of memory.",
			Bad:    "100,000 lines of log, then the answer",
			Good:   "the answer",
			Fix:    []string{"in the server: write logs to stderr, at a level that fits", "from outside: look for a setting that makes the server quiet"},
			Source: stdioClause,
		}, askFlood),
	}
}

// askPilesWith is askPiles for findings that the page's own fixes suit better than
// their writer's.
func askPilesWith(id string) func(*Evidence, Page) []Finding {
	return func(e *Evidence, page Page) []Finding {
		p := onePile(e, id)
		if p == nil {
			return nil
		}
		return []Finding{{Where: p.where(), Evidence: itself(p), Notes: p.notes(), Breaks: page.Breaks, Fix: page.Fix}}
	}
}

// streamChecks are about streams that are written in another way than MCP says.
func streamChecks() []Check {
	return append(encodingChecks(),
		framing(idContentLength, Error, "messages have Content-Length headers", Page{
			Why:    "The server frames messages as the Language Server Protocol does. MCP parts them by newlines alone, so a client reads a header that is no message, and a message that never ends.",
			Bad:    "Content-Length: 38\\r\\n\\r\\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
			Good:   "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\\n",
			Fix:    []string{"in the server: write the message and a newline, no header", fixNewest},
			Breaks: []string{goEnds, othersWait},
			Source: newlineRule + "; lean-ctx#348, hippo-memory#13",
		}, askStream(idContentLength, itself)),
		framing(idSSE, Error, "messages are framed as server-sent events", Page{
			Why:    "The lines event: and data: belong to MCP over HTTP. On stdio a message stands on a line by itself.",
			Bad:    "event: message\\ndata: {\"jsonrpc\":\"2.0\",…}\\n\\n",
			Good:   "{\"jsonrpc\":\"2.0\",…}\\n",
			Fix:    []string{"in the server: use the SDK's stdio transport", "from outside: is there a flag that chooses the transport (--stdio, --transport stdio)?"},
			Breaks: []string{goEnds, othersWait},
			Source: newlineRule,
		}, askStream(idSSE, itself)),
		framing(idCROnly, Error, "messages end in CR without LF", Page{
			Why:    "A carriage return is no newline. A client that waits for one never sees the message end.",
			Bad:    "{\"jsonrpc\":\"2.0\",…}\\r",
			Good:   "{\"jsonrpc\":\"2.0\",…}\\n",
			Fix:    []string{"in the server: end each message with \\n", fixNewest},
			Breaks: []string{othersWait, goReads},
			Source: newlineRule,
		}, askStream(idCROnly, func(*pile) string { return "a message ends in CR (0d) and no LF" })),
		framing(idPartial, Error, "server asks a question on stdout", Page{
			Why:    "Text without a newline stood on stdout when the time was up: mostly a question that waits for a person's answer. Nobody sees it, and a client's stdin is no keyboard.",
			Bad:    "Ok to proceed? (y) ",
			Good:   "(nothing: a program asks only when stdin is a terminal)",
			Fix:    []string{"in the server: do not ask when stdin is no terminal", "from outside: add -y (npx), --yes or --no-input to this server's args, or answer it once in a terminal"},
			Breaks: []string{"every client waits for the handshake until its time is up"},
			Source: stdioClause + "; npx asks so on first use",
		}, askPartial, idHTTP, idUTF16, idContentLength),
	)
}

// encodingChecks are about bytes that are not plain UTF-8.
func encodingChecks() []Check {
	return []Check{
		framing(idUTF16, Error, "stdout is UTF-16", Page{
			Why:    "Every second byte is zero. No client takes such text for JSON. PowerShell 5 writes so when it passes a program's output on.",
			Bad:    `ff fe 7b 00 22 00 6a 00 …`,
			Good:   `7b 22 6a 73 …`,
			Fix:    []string{"in the server: write UTF-8; in PowerShell $OutputEncoding = [Console]::OutputEncoding = [Text.UTF8Encoding]::new($false)", "from outside: start the program itself, not through a script of PowerShell"},
			Breaks: []string{goEnds, othersWait},
			Source: encodingRule,
		}, askStream(idUTF16, func(p *pile) string {
			return fmt.Sprintf("it begins with the bytes % x", p.first.Text[:min(len(p.first.Text), 16)])
		})),
		framing(idBOM, Error, "a byte order mark stands before a message", Page{
			Why:    "The bytes ef bb bf before the first brace are no JSON. They cannot be seen in an editor, so that the error message of a client looks absurd.",
			Bad:    `\ufeff{"jsonrpc":"2.0",…}`,
			Good:   `{"jsonrpc":"2.0",…}`,
			Fix:    []string{"in the server: write UTF-8 without a byte order mark (.NET: new UTF8Encoding(false))", "from outside: start the program itself, not through a script that writes one"},
			Source: encodingRule + "; every client tried here breaks",
		}, askStream(idBOM, func(*pile) string { return "the bytes ef bb bf stand before the message" }), idUTF16),
		framing(idInvalidUTF8, Error, "a message has bytes that are not UTF-8", Page{
			Why:    "Text in another encoding (Latin-1, a Windows code page, raw bytes of a file) was put into a string as it was. Clients replace the bytes, or give the message up.",
			Bad:    `{"text":"caf\xe9"}`,
			Good:   `{"text":"café"}`,
			Fix:    []string{"in the server: decode text to Unicode before it is put into a message; send bytes as base64", "from outside: add PYTHONUTF8=1 (Python) or LANG=C.UTF-8 to this server's env"},
			Source: encodingRule,
		}, askStream(idInvalidUTF8, invalidBytes)),
		framing(idNUL, Error, "stdout has NUL bytes", Page{
			Why:    "A zero byte is no part of JSON outside a string, and of no text at all. It comes from binary data, or from buffers that are written longer than they are filled. On a message's line it is why the message is lost; in text on lines of its own it is a note, for that is stdout-pollution whatever it holds.",
			Bad:    `\x00\x00{"jsonrpc":"2.0",…}`,
			Good:   `{"jsonrpc":"2.0",…}`,
			Fix:    []string{"in the server: write as many bytes as the message has", fixNewest},
			Breaks: []string{goEnds, othersWait},
			Source: stdioClause,
		}, askBytes(idNUL, hasNUL), idUTF16),
	}
}

// invalidBytes shows where the bytes begin that are not UTF-8.
func invalidBytes(p *pile) string {
	at := p.first.Column
	if at >= len(p.first.Text) {
		return fmt.Sprintf("the first such byte is byte %d of the line", at)
	}
	return fmt.Sprintf("from byte %d of the line: % x", at, p.first.Text[at:min(len(p.first.Text), at+8)])
}

// pollutionChecks are about text that stands on lines of its own.
func pollutionChecks() []Check {
	const good = `{"jsonrpc":"2.0","id":1,"result":{…}}   (and the text on stderr)`
	fix := []string{"in the server: write everything that is not a message to stderr", "from outside: look for a setting that makes the server quiet", "work-around: start it through toolx proxy"}
	fails, silent := strictEnd+"; "+claudeShows, silentDrop
	return []Check{
		framing(idPollution, Error, "server writes text to stdout before its first answer", Page{
			Why:  "stdout carries messages only. Strict clients end the session at the first line that is none; tolerant ones hide it, so that the author never notices. One server of ten does this.",
			Bad:  "[dotenv@17.2.3] injecting env (0) from .env\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{…}}",
			Good: good, Fix: fix, Breaks: []string{fails, silent},
			Source: stdioClause + "; brave-search-mcp-server#32, todoist-mcp#305, postman-mcp-server#154, claude-mem#396, mcp-server-excel#636",
		}, askPiles(idPollution), idFlood),
		framing(idBetween, Error, "server writes text to stdout between its answers", Page{
			Why:  "The session works until the server has something to say; then a strict client ends it in the middle of the work, with an error that names no tool.",
			Bad:  "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{…}}\nResponse status: 200",
			Good: good, Fix: fix, Breaks: []string{fails, silent},
			Source: stdioClause + "; siyuan_mcp_server#6",
		}, askPiles(idBetween), idFlood),
		framing(idShutdown, Warning, "server writes text to stdout when it ends", Page{
			Why:  "Nothing is lost any more, but clients that are still reading log an error at each end, and the same print may run at other times.",
			Bad:  "Shutting down",
			Good: "(the text on stderr)", Fix: fix, Breaks: []string{fails, silent},
			Source: stdioClause,
		}, askPiles(idShutdown), idFlood),
		framing(idNotRPC, Error, "server writes JSON to stdout that is not JSON-RPC", Page{
			Why:    "It parses, and still is no message: mostly the records of a logger that writes JSON. Clients that check report an error of their schema, which names everything but the logger.",
			Bad:    `{"level":"info","msg":"ready"}`,
			Good:   `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"ready"}}   (or on stderr)`,
			Fix:    []string{"in the server: give the logger stderr: pino(opts, pino.destination(2))", "work-around: start it through toolx proxy"},
			Breaks: []string{goEnds, claudeShows, silentDrop},
			Source: stdioClause + "; kud/mcp-jenkins#6, Trello-Desktop-MCP#7",
		}, askPiles(idNotRPC), idFlood),
		framing(idANSI, Error, "server writes terminal control codes to stdout", Page{
			Why:    "Colours are for terminals, and stdout is none here. Inside a message they make it no JSON. In text on lines of its own, which is stdout-pollution whatever it holds, they are a note: they hide what was written from people who read a log.",
			Bad:    `{"jsonrpc":"2.0","id":1,"result":{"text":"\x1b[32mready\x1b[0m"}}   (raw bytes)`,
			Good:   `{"jsonrpc":"2.0","id":1,"result":{"text":"\u001b[32mready\u001b[0m"}}`,
			Fix:    []string{"in the server: colour only when the stream is a terminal; escape control characters in JSON (any JSON library does)", "from outside: add NO_COLOR=1 and FORCE_COLOR=0 to this server's env"},
			Breaks: []string{goEnds, othersWait},
			Source: stdioClause,
		}, askBytes(idANSI, hasEscapes), idUTF16),
	}
}
