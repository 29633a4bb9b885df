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

func askContentType(e *Evidence) []Finding {
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

// tooLarge finds the first answer of which no end was read, packed by gzip or as it is.
func (e *Evidence) tooLarge(packed bool) []Finding {
	for _, name := range answeredQuestions() {
		if reply := e.reply(name); reply != nil && reply.Over && reply.Unpacked == packed {
			return sole(Finding{Where: rawWhere(name), Evidence: "more than " + exec.Bytes(maxRawBody)})
		}
	}
	return nil
}

func askSseFormat(e *Evidence) []Finding {
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

func askSseNoFinal(e *Evidence) []Finding {
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
}

// endpointEvent is the first event of the older HTTP with SSE, false where there is none.
func (e *Evidence) endpointEvent() (HTTPEvent, bool) {
	reply := e.reply(askedOldStream)
	if reply == nil || len(reply.Events) == 0 || reply.Events[0].Name != "endpoint" {
		return HTTPEvent{}, false
	}
	return reply.Events[0], true
}

func askLegacySSE(e *Evidence) []Finding {
	if _, is := e.endpointEvent(); !is {
		return nil
	}
	return sole(Finding{Where: rawWhere("GET"), Evidence: "POST: " + e.reply(askedInitialize).status() + "; GET begins with event: endpoint"})
}

func askSseEndpointOffsite(e *Evidence) []Finding {
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
}

// sameOrigin says whether two addresses are of one scheme, host and port.
func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host) }

func askKeepalive(e *Evidence) []Finding {
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
}
