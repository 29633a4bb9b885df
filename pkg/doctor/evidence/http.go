package evidence

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolx/pkg/auth"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/wire"
)

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	address := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || address != nil && address.IsLoopback()
}

// EndpointEvent returns the first event of the older HTTP+SSE transport, or false.
func (e *Evidence) EndpointEvent() (HTTPEvent, bool) {
	reply := e.Reply(AskedOldStream)
	if reply == nil || len(reply.Events) == 0 || reply.Events[0].Name != "endpoint" {
		return HTTPEvent{}, false
	}
	return reply.Events[0], true
}

// HTTPEvidence is the evidence from raw requests to an HTTP server.
type HTTPEvidence struct {
	// Replies are the responses to raw requests, by the names in asked.go.
	Replies map[string]*HTTPReply
	// TLS is the server's TLS; nil without TLS.
	TLS *TLSInfo
	// Exposed describes how other machines can reach a server whose URL is a loopback address; empty if they cannot or
	// if unknown.
	Exposed string
	// Login lists faults in the documents that clients need to log in.
	Login []auth.Fault
}

// OverHTTP reports whether the server uses HTTP.
func (e *Evidence) OverHTTP() bool {
	return e.Launch != nil && e.Launch.URL != "" || e.Launch == nil && e.Server.URL != ""
}

// Reply returns the response to a raw request, or nil.
func (e *Evidence) Reply(name string) *HTTPReply {
	if e.HTTP == nil {
		return nil
	}
	return e.HTTP.Replies[name]
}

// RawSession reports whether the raw initialize request succeeded.
func (e *Evidence) RawSession() bool { return e.Reply(AskedInitialize).Result() != nil }

// RawRevision returns the revision that the raw initialize request negotiated, or nothing.
func (e *Evidence) RawRevision() string {
	return rawjson.Unquote(MemberAt(e.Reply(AskedInitialize).Result(), "protocolVersion"))
}

// Unreached reports whether no request got an HTTP response.
func (e *Evidence) Unreached() bool {
	return !slices.ContainsFunc(EventsOf[wire.HTTPExchange](e.Clean),
		func(x wire.HTTPExchange) bool { return x.Status != 0 })
}

// RawID is the id of every raw request.
const RawID = 1

// TLSInfo describes a server's TLS, trusted or not.
type TLSInfo struct {
	// State is that of a handshake with the server's newest version.
	State tls.ConnectionState
	// Older is a version below 1.2 that the server accepts too, or zero.
	Older uint16
}

// HostPort returns the host and port of an address.
func HostPort(address *url.URL) string {
	port := "80"
	if address.Scheme == "https" {
		port = "443"
	}
	return net.JoinHostPort(address.Hostname(), cmp.Or(address.Port(), port))
}

// HasCredentials reports whether requests had credentials.
func (e *Evidence) HasCredentials() bool {
	return len(e.Launch.Headers) > 0 || len(e.Launch.HeadersCommand) > 0 ||
		slices.ContainsFunc(EventsOf[wire.HTTPExchange](e.Clean),
			func(x wire.HTTPExchange) bool { return x.Sent.Get("Authorization") != "" })
}

// Refusal returns the header of the response that requires a login: a 401, or any response that names resource
// metadata; nil if there is none.
func (e *Evidence) Refusal() http.Header {
	asks := func(status int, header http.Header) bool {
		return status == http.StatusUnauthorized || strings.Contains(Challenges(header), "resource_metadata")
	}
	for _, x := range e.OwnExchanges() {
		if asks(x.Status, x.Received) {
			return x.Received
		}
	}
	for _, name := range []string{AskedInitialize, AskedPing, AskedList, AskedTool, AskedBare} {
		if reply := e.Reply(name); reply != nil && asks(reply.Status, reply.Header) {
			return reply.Header
		}
	}
	return nil
}

// OwnExchanges returns the clean run's exchanges with the server itself, as opposed to authorization servers.
func (e *Evidence) OwnExchanges() []wire.HTTPExchange {
	own := PlainURL(e.Launch.URL)
	return slices.DeleteFunc(EventsOf[wire.HTTPExchange](e.Clean), func(x wire.HTTPExchange) bool {
		return x.URL != own && x.Request == 0 // redirected requests have a Request id
	})
}

// Challenges joins the WWW-Authenticate headers, of which there may be several (RFC 9110, 11.6.1).
func Challenges(header http.Header) string {
	return strings.Join(header.Values("WWW-Authenticate"), ", ")
}

// HTTPReply is the response to one raw request.
type HTTPReply struct {
	Verb   string
	URL    *url.URL
	Status int
	Header http.Header
	// Body is the beginning of the body or stream.
	Body []byte
	// Events are the events of a stream up to the one with the response.
	Events []HTTPEvent
	// Ended reports whether the body was read to its end.
	Ended bool
	// Over reports whether the body exceeds MaxRawBody, Unpacked whether it was compressed.
	Over, Unpacked bool
	// Took is the time until its header arrived. Held reports that it arrived only after the session was deleted.
	Took time.Duration
	Held bool
	TLS  *tls.ConnectionState // nil for plain HTTP
	Sent json.RawMessage      // the posted message, or nil
}

// HTTPEvent is one server-sent event.
type HTTPEvent struct {
	Name string // empty if it has none
	Data [][]byte
	Open bool // the stream ended before the empty line that ends an event
}

// MaxRawBody is how many bytes of a response are read. Only lists of tools are large.
const MaxRawBody = 4 << 20

// AddLine adds a line of a stream to the event.
func (e *HTTPEvent) AddLine(line []byte) {
	field, content, _ := bytes.Cut(line, []byte(":"))
	content = bytes.TrimPrefix(content, []byte(" "))
	switch string(field) {
	case "event":
		e.Name = string(content)
	case "data":
		e.Data = append(e.Data, content)
	}
}

// Text returns the data of an event.
func (e HTTPEvent) Text() []byte { return bytes.Join(e.Data, []byte("\n")) }

// HasReply reports whether an event is the response to a raw request.
func HasReply(event HTTPEvent) bool {
	head := ReadHead(event.Text())
	return PlainID(head.ID) == strconv.Itoa(RawID) && head.Method == ""
}

// MediaType returns the Content-Type without parameters.
func (r *HTTPReply) MediaType() string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return strings.TrimSpace(r.Header.Get("Content-Type"))
	}
	return kind
}

// Message returns the JSON-RPC response in the body or stream, or nil.
func (r *HTTPReply) Message() json.RawMessage {
	if r == nil {
		return nil
	}
	for _, event := range r.Events {
		if HasReply(event) {
			return event.Text()
		}
	}
	if r.Events == nil && json.Valid(r.Body) && IsObject(r.Body) {
		return r.Body
	}
	return nil
}

// Result returns the result in the JSON-RPC response, or nil.
func (r *HTTPReply) Result() json.RawMessage {
	if r == nil || r.Status != http.StatusOK {
		return nil
	}
	return ReadHead(r.Message()).Result
}

// Asked returns the MCP method of the request, or the HTTP verb if nothing was posted.
func (r *HTTPReply) Asked() string { return cmp.Or(ReadHead(r.Sent).Method, r.Verb) }

// Words returns the status and the first most bytes of the body.
func (r *HTTPReply) Words(most int) string {
	text := r.StatusText()
	if body := strings.Join(strings.Fields(string(r.Body[:min(len(r.Body), most)])), " "); body != "" {
		text += ": " + body
	}
	return text
}

// StatusText returns the status, such as "HTTP 404 Not Found".
func (r *HTTPReply) StatusText() string {
	return "HTTP " + strings.TrimSpace(strconv.Itoa(r.Status)+" "+http.StatusText(r.Status))
}

// PlainURL returns an address without its password.
func PlainURL(text string) string {
	address, err := url.Parse(text)
	if err != nil {
		return "" // the config checks report it
	}
	return address.Redacted()
}
