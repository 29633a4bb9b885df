package http

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
)

// eventFault returns what is wrong with an event that should contain a message, or nothing. An event with empty data
// contains only an id (2025-11-25).
func eventFault(e evidence.HTTPEvent) string {
	data := e.Text()
	switch {
	case e.Data == nil:
		return "has no data: event: " + e.Name
	case len(data) == 0:
		return ""
	case e.Name != "" && e.Name != "message":
		return "is not named message: event: " + e.Name
	case !json.Valid(data):
		return "is not JSON: " + string(data)
	case e.Open:
		return "does not end: the stream ends without an empty line after it"
	}
	return ""
}

func noFinalEvent(r *evidence.HTTPReply) string {
	if r.Status != http.StatusOK || r.MediaType() != "text/event-stream" || !r.Ended || r.Message() != nil {
		return ""
	}
	return fmt.Sprintf("the stream ended after %d bytes and %d events without the response", len(r.Body), len(r.Events))
}

func askLegacySSE(e *evidence.Evidence) []check.Finding {
	if _, is := e.EndpointEvent(); !is {
		return nil
	}
	posted := e.Reply(evidence.AskedInitialize).StatusText()
	return check.One(rawWhere("GET"), "POST: %s; GET begins with event: endpoint", posted)
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
	return check.One(rawWhere("GET"), "%s", evidence.Cut("event: endpoint, data: "+string(event.Text())))
}

// sameOrigin reports whether two addresses have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host) }

func askKeepalive(e *evidence.Evidence) []check.Finding {
	const few = 4
	exchanges := evidence.EventsOf[wire.HTTPExchange](e.Clean)
	reused := slices.ContainsFunc(exchanges, func(x wire.HTTPExchange) bool { return x.Reused })
	if reused || len(exchanges) < few {
		return nil
	}
	return check.One(&evidence.Where{Run: "clean"}, "%d requests, each on a new connection, %s",
		len(exchanges), exchanges[0].Proto)
}

// eachAnswer returns a check of the responses to raw requests that every server supports. The first remark is the
// finding.
func eachAnswer(remark func(*evidence.HTTPReply) string) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		for _, name := range []string{evidence.AskedInitialize, evidence.AskedPing, evidence.AskedList} {
			if reply := e.Reply(name); reply != nil {
				if text := remark(reply); text != "" {
					return check.One(rawWhere(name), "%s", evidence.Cut(text))
				}
			}
		}
		return nil
	}
}

// wrongType describes an unexpected Content-Type, with the title if it is a web page.
func wrongType(r *evidence.HTTPReply) string {
	kind := r.MediaType()
	if r.Status != http.StatusOK || kind == "application/json" || kind == "text/event-stream" {
		return ""
	}
	text := "Content-Type: " + cmp.Or(kind, "none")
	if title := regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`).FindSubmatch(r.Body); title != nil {
		text += ", a page with the title " + strings.Join(strings.Fields(string(title[1])), " ")
	}
	return text
}

// tooLarge finds a response that exceeds the limit.
func tooLarge(r *evidence.HTTPReply) string {
	if !r.Over || r.Unpacked {
		return ""
	}
	return "more than " + exec.Bytes(evidence.MaxRawBody)
}

// unpacksTooLarge finds a compressed response that exceeds the limit.
func unpacksTooLarge(r *evidence.HTTPReply) string {
	if !r.Over || !r.Unpacked {
		return ""
	}
	return "more than " + exec.Bytes(evidence.MaxRawBody)
}

func wrongEvent(r *evidence.HTTPReply) string {
	for i, event := range r.Events {
		if text := eventFault(event); text != "" {
			return fmt.Sprintf("event %d %s", i+1, text)
		}
	}
	return ""
}
