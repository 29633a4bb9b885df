package doctor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
)

// answeredQuestions are the names of the raw questions that every server answers with a reply.
func answeredQuestions() []string { return []string{askedInitialize, askedPing, askedList} }

func contentType() Check {
	return Check{
		ID: "content-type", Severity: Error, Group: GroupHTTP, Need: NeedHTTP,
		Title: "an answer is neither JSON nor a stream of events",
		Ask: func(e *Evidence) []Finding {
			for _, name := range answeredQuestions() {
				reply := e.reply(name)
				if reply == nil || reply.Status != http.StatusOK {
					continue
				}
				if kind := reply.mediaType(); kind != "application/json" && kind != "text/event-stream" {
					return sole(Finding{Where: rawWhere(name), Evidence: cut("Content-Type: " + cmp.Or(kind, "none") + titleOf(reply.Body))})
				}
			}
			return nil
		},
		Page: Page{
			Why:    "Clients choose by Content-Type how to read an answer. HTML means a login page, a proxy's page or another application at that address.",
			Bad:    "HTTP/1.1 200 OK\nContent-Type: text/html",
			Good:   "HTTP/1.1 200 OK\nContent-Type: application/json",
			Fix:    []string{"in the server: send Content-Type: application/json, or text/event-stream", "from outside: see whether the url is that of the MCP endpoint, and whether a login stands before it"},
			Breaks: []string{"all clients"},
			Source: httpSource + ", Sending Messages to the Server: MUST return text/event-stream or application/json",
		},
	}
}

var titlePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`) })

// titleOf is the title of a page, with a comma before it; empty where there is none.
func titleOf(body []byte) string {
	title := titlePattern().FindSubmatch(body)
	if title == nil {
		return ""
	}
	return ", a page with the title " + strings.Join(strings.Fields(string(title[1])), " ")
}

func bodyLimit() Check {
	return Check{
		ID: "body-limit", Severity: Warning, Group: GroupHTTP, Need: NeedHTTP,
		Title: "an answer is larger than clients take",
		Ask:   func(e *Evidence) []Finding { return e.tooLarge(false) },
		Page: Page{
			Why: "Clients and the proxies before them have limits, and a model pays for every byte: 4 MiB of tools are a million tokens. The largest list of 209 real " +
				"servers had 1.03 MB.",
			Bad:    "HTTP/1.1 200 OK\nContent-Length: 90000000",
			Good:   "{\"tools\": […], \"nextCursor\": \"2\"}",
			Fix:    []string{"in the server: answer lists in pages (nextCursor), offer fewer tools, shorten what they say"},
			Source: "MCP 2025-11-25, server/utilities/pagination",
		},
	}
}

func gzipBomb() Check {
	return Check{
		ID: "gzip-bomb", Severity: Warning, Group: GroupHTTP, Need: NeedHTTP,
		Title: "an answer unpacks to more than clients take",
		Ask:   func(e *Evidence) []Finding { return e.tooLarge(true) },
		Page: Page{
			Why:    "A small answer that unpacks to a huge one ends a client that sets no limit: it has no memory left.",
			Bad:    "HTTP/1.1 200 OK\nContent-Encoding: gzip   # 10 kB that unpack to 10 GB",
			Good:   "HTTP/1.1 200 OK\nContent-Encoding: gzip   # 10 kB that unpack to 100 kB",
			Fix:    []string{"in the server: answer lists in pages (nextCursor), cut long results", "elsewhere: do not trust this server"},
			Source: "CWE-409",
		},
	}
}

// tooLarge finds the first answer of which no end was read, packed by gzip or as it is.
func (e *Evidence) tooLarge(packed bool) []Finding {
	for _, name := range answeredQuestions() {
		if reply := e.reply(name); reply != nil && reply.Over && reply.Unpacked == packed {
			return sole(Finding{Where: rawWhere(name), Evidence: "more than " + exec.Bytes(maxRawBody)})
		}
	}
	return nil
}

func sseFormat() Check {
	return Check{
		ID: "sse-format", Severity: Error, Group: GroupHTTP, Need: NeedHTTP,
		Title: "an event of a stream is not as clients read it",
		Ask: func(e *Evidence) []Finding {
			for _, name := range answeredQuestions() {
				if reply := e.reply(name); reply != nil {
					for i, event := range reply.Events {
						if fault := event.fault(); fault != "" {
							return sole(Finding{Where: rawWhere(name), Evidence: fmt.Sprintf("event %d %s", i+1, cut(fault))})
						}
					}
				}
			}
			return nil
		},
		Page: Page{
			Why:    "Each message is an event of its own: lines of data with one message of JSON, and an empty line that ends it. What is not is dropped without a word, and the client waits for its answer.",
			Bad:    "event: result\ndata: {\"jsonrpc\": \"2.0\", …",
			Good:   "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n",
			Fix:    []string{"in the server: write \"event: message\", \"data: \" and the message on one line, and an empty line"},
			Breaks: []string{"all clients drop events of other names, and events that do not end"},
			Source: "WHATWG HTML, server-sent events; " + httpSource,
		},
	}
}

// fault says what is wrong with an event that should carry a message, empty where
// nothing is. One with empty data carries an id alone, and is well (2025-11-25).
func (e HTTPEvent) fault() string {
	data := e.data()
	switch {
	case e.Data == nil:
		return "has no data: event: " + e.Name
	case len(data) == 0:
		return ""
	case e.Name != "" && e.Name != "message":
		return "has another name than message: event: " + e.Name
	case !json.Valid(data):
		return "is no JSON: " + string(data)
	case e.Open:
		return "does not end: the stream ends without an empty line behind it"
	}
	return ""
}

func sseNoFinal() Check {
	return Check{
		ID: "sse-no-final", Severity: Error, Group: GroupHTTP, Need: NeedHTTP, After: []string{"sse-format"},
		Title: "a stream ends without the reply",
		Ask: func(e *Evidence) []Finding {
			for _, name := range answeredQuestions() {
				reply := e.reply(name)
				if reply == nil || reply.Status != http.StatusOK || reply.mediaType() != "text/event-stream" {
					continue
				}
				if reply.Ended && reply.message() == nil {
					return sole(Finding{Where: rawWhere(name), Evidence: fmt.Sprintf("the stream ended after %d bytes and %d events, none of them the reply", len(reply.Body), len(reply.Events))})
				}
			}
			return nil
		},
		Page: Page{
			Why:    "The client still waits for its answer when the stream is over. Some ask again, others wait until their time is up.",
			Bad:    "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",…}\n\n(end)",
			Good:   "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n(end)",
			Fix:    []string{"in the server: send the reply before the stream is closed"},
			Breaks: []string{"all clients wait, or report a lost connection"},
			Source: httpSource + ", Sending Messages to the Server: the stream SHOULD eventually include the response",
		},
	}
}

// endpointEvent is the first event of the older HTTP with SSE, false where there is none.
func (e *Evidence) endpointEvent() (HTTPEvent, bool) {
	reply := e.reply(askedOldStream)
	if reply == nil || len(reply.Events) == 0 || reply.Events[0].Name != "endpoint" {
		return HTTPEvent{}, false
	}
	return reply.Events[0], true
}

func legacySSE() Check {
	return Check{
		ID: "legacy-sse", Severity: Warning, Group: GroupHTTP, Need: NeedHTTP,
		Title: "speaks only HTTP with SSE of 2024-11-05",
		Ask: func(e *Evidence) []Finding {
			if _, is := e.endpointEvent(); !is {
				return nil
			}
			return sole(Finding{Where: rawWhere("GET"), Evidence: "POST: " + e.reply(askedInitialize).status() + "; GET begins with event: endpoint"})
		},
		Page: Page{
			Why:    "That transport was replaced in 2025-03-26. Clients drop it one after the other, and no message gets through a connection that breaks.",
			Bad:    "GET /sse\nevent: endpoint\ndata: /messages?id=1",
			Good:   "POST /mcp",
			Fix:    []string{"in the server: serve streamable HTTP, beside the older transport if need be"},
			Breaks: []string{"clients that know streamable HTTP alone"},
			Source: "MCP 2025-11-25, basic/transports, Backwards Compatibility",
		},
	}
}

func sseEndpointOffsite() Check {
	return Check{
		ID: "sse-endpoint-offsite", Severity: Error, Group: GroupHTTP, Need: NeedHTTP,
		Title: "the endpoint event leads to another origin",
		Ask: func(e *Evidence) []Finding {
			event, is := e.endpointEvent()
			if !is {
				return nil
			}
			at := e.reply(askedOldStream).URL
			to, err := url.Parse(string(event.data()))
			if err == nil && sameOrigin(at, at.ResolveReference(to)) {
				return nil
			}
			return sole(Finding{Where: rawWhere("GET"), Evidence: cut("event: endpoint, data: " + string(event.data()))})
		},
		Page: Page{
			Why:    "Clients send all messages there, and with them the access token. Another origin must not get it.",
			Bad:    "event: endpoint\ndata: https://elsewhere.example/messages",
			Good:   "event: endpoint\ndata: /messages?id=1",
			Fix:    []string{"in the server: name a path of its own; behind a proxy, do not make an address of the inner host"},
			Breaks: []string{"clients of the TypeScript and Python SDKs refuse it"},
			Source: "MCP 2024-11-05, basic/transports, HTTP with SSE; CWE-918",
		},
	}
}

// sameOrigin says whether two addresses are of one scheme, host and port.
func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host) }

func keepalive() Check {
	return Check{
		ID: "keepalive", Severity: Info, Group: GroupHTTP, Need: NeedHTTP,
		Title: "no connection is used twice",
		Ask: func(e *Evidence) []Finding {
			const few = 4
			exchanges := EventsOf[servers.HTTPExchange](e.Clean)
			for _, x := range exchanges {
				if x.Reused {
					return nil
				}
			}
			if len(exchanges) < few {
				return nil
			}
			return sole(Finding{Where: &Where{Run: "clean"}, Evidence: fmt.Sprintf("%d requests, each on a connection of its own, %s", len(exchanges), exchanges[0].Proto)})
		},
		Page: Page{
			Why:    "A new connection for each request costs a round trip, and two or three with TLS.",
			Bad:    "Connection: close",
			Good:   "Connection: keep-alive",
			Fix:    []string{"in the server, or what stands before it: keep connections open"},
			Source: "RFC 9112, 9.3",
		},
	}
}
