package http

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
)

// answeredQuestions are the names of the raw questions that every server answers with a reply.
func answeredQuestions() []string {
	return []string{evidence.AskedInitialize, evidence.AskedPing, evidence.AskedList}
}

func askContentType(e *evidence.Evidence) []check.Finding {
	for _, name := range answeredQuestions() {
		reply := e.Reply(name)
		if reply == nil || reply.Status != http.StatusOK {
			continue
		}
		if kind := reply.MediaType(); kind != "application/json" && kind != "text/event-stream" {
			return check.Sole(check.Finding{Where: rawWhere(name), Evidence: evidence.Cut("Content-Type: " + cmp.Or(kind, "none") + titleOf(reply.Body))})
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
func tooLarge(e *evidence.Evidence, packed bool) []check.Finding {
	for _, name := range answeredQuestions() {
		if reply := e.Reply(name); reply != nil && reply.Over && reply.Unpacked == packed {
			return check.Sole(check.Finding{Where: rawWhere(name), Evidence: "more than " + exec.Bytes(evidence.MaxRawBody)})
		}
	}
	return nil
}

func askSseFormat(e *evidence.Evidence) []check.Finding {
	for _, name := range answeredQuestions() {
		if reply := e.Reply(name); reply != nil {
			for i, event := range reply.Events {
				if fault := fault(event); fault != "" {
					return check.Sole(check.Finding{Where: rawWhere(name), Evidence: fmt.Sprintf("event %d %s", i+1, evidence.Cut(fault))})
				}
			}
		}
	}
	return nil
}

// fault says what is wrong with an event that should carry a message, empty where
// nothing is. One with empty data carries an id alone, and is well (2025-11-25).
func fault(e evidence.HTTPEvent) string {
	data := e.Text()
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

func askSseNoFinal(e *evidence.Evidence) []check.Finding {
	for _, name := range answeredQuestions() {
		reply := e.Reply(name)
		if reply == nil || reply.Status != http.StatusOK || reply.MediaType() != "text/event-stream" {
			continue
		}
		if reply.Ended && reply.Message() == nil {
			return check.Sole(check.Finding{Where: rawWhere(name), Evidence: fmt.Sprintf("the stream ended after %d bytes and %d events, none of them the reply", len(reply.Body), len(reply.Events))})
		}
	}
	return nil
}

func askLegacySSE(e *evidence.Evidence) []check.Finding {
	if _, is := e.EndpointEvent(); !is {
		return nil
	}
	return check.Sole(check.Finding{Where: rawWhere("GET"), Evidence: "POST: " + e.Reply(evidence.AskedInitialize).StatusText() + "; GET begins with event: endpoint"})
}

func askSseEndpointOffsite(e *evidence.Evidence) []check.Finding {
	event, is := e.EndpointEvent()
	if !is {
		return nil
	}
	at := e.Reply(evidence.AskedOldStream).URL
	to, err := url.Parse(string(event.Text()))
	if err == nil && sameOrigin(at, at.ResolveReference(to)) {
		return nil
	}
	return check.Sole(check.Finding{Where: rawWhere("GET"), Evidence: evidence.Cut("event: endpoint, data: " + string(event.Text()))})
}

// sameOrigin reports whether two addresses are of one scheme, host and port.
func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host) }

func askKeepalive(e *evidence.Evidence) []check.Finding {
	const few = 4
	exchanges := evidence.EventsOf[servers.HTTPExchange](e.Clean)
	for _, x := range exchanges {
		if x.Reused {
			return nil
		}
	}
	if len(exchanges) < few {
		return nil
	}
	return check.Sole(check.Finding{Where: &evidence.Where{Run: "clean"}, Evidence: fmt.Sprintf("%d requests, each on a connection of its own, %s", len(exchanges), exchanges[0].Proto)})
}
