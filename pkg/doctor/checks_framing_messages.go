package doctor

import "fmt"

// messageChecks are about messages that are there, but not on a line of their own.
func messageChecks() []Check {
	const good = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{…}}\\n"
	return []Check{
		framing(idPrefix, Error, "text stands on a message's line, ahead of it", Page{
			Why:    "The line is no JSON, so that the message on it is lost: the request that it answers waits until its time is up. It comes from a print without a newline, or from two writers that share stdout.",
			Bad:    "INFO ready {\"jsonrpc\":\"2.0\",\"id\":1,…}",
			Good:   good,
			Fix:    []string{fixWholeLines, fixNewest},
			Breaks: []string{goEnds, othersWait},
			Source: newlineRule + "; python-sdk#924",
		}, askGlued(idPrefix), idContentLength, idSSE, idUTF16),
		framing(idSuffix, Error, "something stands on a message's line, behind it", Page{
			Why:    "One line holds a message and more: text, or a second message. Clients parse the whole line and lose all of it.",
			Bad:    "{\"jsonrpc\":\"2.0\",\"id\":1,…}RAM GUARDIAN: memory at 42%",
			Good:   good,
			Fix:    []string{fixWholeLines, fixNewest},
			Breaks: []string{goEnds, othersWait},
			Source: newlineRule + "; lean-ctx#348",
		}, askGlued(idSuffix), idContentLength, idSSE, idUTF16),
		framing(idPretty, Error, "a message is spread over several lines", Page{
			Why:    "Each line is read as a message by itself, and none is one. The answer is lost, and its request waits until its time is up.",
			Bad:    "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1\n}",
			Good:   good,
			Fix:    []string{"in the server: JSON.stringify(message) without an indent; json.dumps(message) without indent=", fixNewest},
			Source: newlineRule,
		}, askStream(idPretty, itself)),
		framing(idNoNewline, Error, "a message has no newline at its end", Page{
			Why:    "Clients wait for the newline that ends the message. It is complete, and never seen.",
			Bad:    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{…}}",
			Good:   good,
			Fix:    []string{"in the server: write the message and \\n in one write, and flush", fixNewest},
			Source: newlineRule,
		}, askStream(idNoNewline, func(p *pile) string {
			frame := frameOn(p.first.run, p.first.Line)
			return fmt.Sprintf("%s, %d bytes, and nothing after it", answeredBy(p.first.run, frame), len(frame))
		}), idCROnly, idContentLength),
		framing(idHuge, Warning, "a message is very large", Page{
			Why:    "The TypeScript SDK gives a session up that has more than 10 MiB on one line, and the Go SDK one with more than 16 MiB; both say only that the connection closed. Long before, a model's context is full.",
			Bad:    "tools/list: one line of 12 MiB",
			Good:   "tools/list in pages, results with a limit and a cursor",
			Fix:    []string{"in the server: page lists (nextCursor), and cut or page results", "from outside: ask the tool for less (limit, page, path)"},
			Breaks: []string{"over 10 MiB: " + limitsOfSDKs},
			Source: "TypeScript SDK 1.32 STDIO_DEFAULT_MAX_BUFFER_SIZE 10 MiB; Go SDK 1.8.0 DefaultMaxLineLength 16 MiB",
		}, askHuge),
	}
}

// harmlessChecks are about what every client tolerates.
func harmlessChecks() []Check {
	return []Check{
		framing(idCRLF, Info, "lines end in CR LF", Page{
			Why:    "JSON takes the carriage return for a blank, so that the clients tried here do not mind. Some strict readers do.",
			Bad:    "{\"jsonrpc\":\"2.0\",…}\\r\\n",
			Good:   "{\"jsonrpc\":\"2.0\",…}\\n",
			Fix:    []string{`in the server (Windows, text mode): Python TextIOWrapper(sys.stdout.buffer, newline=""); C _setmode(_fileno(stdout), _O_BINARY)`},
			Source: newlineRule + "; python-sdk#2433, unreal-mcp#41",
		}, askStream(idCRLF, func(*pile) string { return "the line ends in CR LF (0d 0a)" }), idCROnly, idContentLength),
		framing(idBlank, Info, "blank lines stand on stdout", Page{
			Why:    "An empty line is no message. The clients tried here pass over it; the TypeScript SDK writes \"Unexpected end of JSON input\" into its log for each.",
			Bad:    "\\n{\"jsonrpc\":\"2.0\",…}\\n\\n",
			Good:   "{\"jsonrpc\":\"2.0\",…}\\n",
			Fix:    []string{"in the server: one newline behind each message, and none elsewhere"},
			Source: newlineRule,
		}, askStream(idBlank, func(*pile) string { return "a blank line" }), idContentLength, idSSE),
	}
}
