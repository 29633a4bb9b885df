package cause

import "strings"

// listensForHTTP returns the cause of a server that says that it listens for HTTP; nil if it does not. A line with a whole URL
// says more than one with a port.
func listensForHTTP(o *output) *Cause {
	if !o.Alive && o.lines[o.head].weight >= hints {
		return nil
	}
	var best *Cause
	for i := range o.lines {
		text := o.sentence(i)
		address := Listens(text)
		worse := besideServer().MatchString(text)
		if address == "" || best != nil && (worse || !strings.Contains(text, address)) {
			continue
		}
		best = &Cause{
			Kind: HTTP, Line: text,
			What: "it listens for HTTP instead of reading its stdin: " + quoted(text),
			Fixes: []string{
				"add --stdio, or --transport stdio, to args of this server",
				"or use it over HTTP: url: " + address + " in place of command",
			},
		}
		if strings.Contains(text, address) && !worse {
			break
		}
	}
	return best
}

// besideServer matches what servers say of addresses that are not those at which they speak MCP.
var besideServer = expression(`(?i)health|metrics|dashboard|\bdocs\b|documentation|callback`)

// localHost matches hosts at which a server listens.
const localHost = `(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[[0-9a-f:]*\])`

var (
	listening = expression(`(?i)\b(?:listen(?:ing|s)?|running|serving|started|available|ready|active|` +
		`http (?:mode|transport)|endpoints?|local:|mcp:)(?:\b|\s).{0,80}?` +
		`(?:(https?://(?:` + localHost + `(?::\d{1,5})?|[a-z0-9.-]+:\d{1,5})(?:/[a-z0-9._/-]*)?)|` +
		`\b(?:port:? *|on :)(\d{2,5}\b(?:/[a-z0-9._/-]*)?)|\b(` + localHost + `:\d{2,5})\b)`)
	notListening = expression(`(?i)(?:\bnot|n't)(?: \w+){0,4} (?:listening|running|available|ready|active|started)\b`)
	// endpoint matches the address of an MCP server, as its path says in any language, and connects matches the words
	// and the settings ("sse: http://…") of those that speak to one.
	endpoint = expression(`https?://` + localHost + `(?::\d{1,5})?(?:/[\w-]+)*/(?:mcp|sse)\b`)
	connects = expression(`(?i)\b(?:connect\w*|proxy\w*|forward\w*|bridg\w*|fetch\w*|upstream|remote|` +
		`request\w*|error|failed|example|use|usage|set)\b|^\W*(?-i:[a-z]\w*): |--\w[\w-]*[ =]`)
	// speaksHTTP, speaksOther and otherProgram match words of those that listen at a port: of HTTP, another protocol,
	// and another program. A line with the name of another program is HTTP's only where mcpServer matches it: an MCP
	// server may be named after a database.
	speaksHTTP = expression(`(?i)\bhttps?\b|\bsse\b|\bmcp\b|\bserver\b|\bapi\b|\bweb\b|\bexpress\b|` +
		`\bfastify\b|streamable`)
	speaksOther  = expression(`(?i)\b(?:callback|amqp|mqtt|ssh|smtp|grpc|tcp|web ?sockets?|wss?|debugger|inspector)\b`)
	otherProgram = expression(`(?i)\b(?:postgres\w*|pg|mysql|mariadb|mongo\w*|redis|valkey|sqlite|database|db|kafka|` +
		`rabbitmq|neo4j|elastic\w*|qdrant|milvus|ollama|docker|browser|chrome)\b`)
	mcpServer = expression(`(?i)\bmcp[- ](?:\w+[- ])?server(?: is)? (?:listening|running|serving|started|` +
		`available|ready|active)\b`)
)

// Listens returns the URL at which a line says that a server listens for HTTP; empty if it does not. A port without a
// scheme is HTTP's only where the line has its words and not those of a database. The URL has only characters that are
// safe to repeat.
func Listens(text string) string {
	// Neither an address nor a port can be in most lines, of which a flood may have millions.
	if !strings.Contains(text, ":") && !strings.Contains(text, "ort") && !strings.Contains(text, "ORT") {
		return ""
	}
	found := listening().FindStringSubmatch(text)
	switch {
	case notListening().MatchString(text):
		return ""
	case found == nil && !connects().MatchString(text):
		return endpoint().FindString(text)
	case found == nil:
		return ""
	case found[1] != "":
		return found[1]
	case !speaksHTTP().MatchString(text), speaksOther().MatchString(text),
		otherProgram().MatchString(text) && !mcpServer().MatchString(text):
		return ""
	case found[2] != "":
		return "http://localhost:" + found[2]
	}
	return "http://" + found[3]
}
