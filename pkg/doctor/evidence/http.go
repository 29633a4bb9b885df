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

// EndpointEvent is the first event of the older HTTP with SSE, false where there is none.
func (e *Evidence) EndpointEvent() (HTTPEvent, bool) {
	reply := e.Reply(AskedOldStream)
	if reply == nil || len(reply.Events) == 0 || reply.Events[0].Name != "endpoint" {
		return HTTPEvent{}, false
	}
	return reply.Events[0], true
}

// HTTPEvidence is what raw exchanges over HTTP have shown of a server.
type HTTPEvidence struct {
	// Replies are the answers to the doctor's questions, by the names of them below; a
	// question that was not asked has none.
	Replies map[string]*HTTPReply
	// TLS is what the server offers below HTTP, nil where there is no TLS to look at.
	TLS *TLSLook
	// Exposed says by which address other machines can reach a server whose url is of
	// this one; empty where they cannot, or where that is not known.
	Exposed string
	// Login is what is wrong with the documents by which clients log in.
	Login []auth.Fault
}

// OverHTTP reports whether the server is reached by HTTP.
func (e *Evidence) OverHTTP() bool {
	return e.Launch != nil && e.Launch.URL != "" || e.Launch == nil && e.Server.URL != ""
}

// Reply is the answer to a raw question, nil where there is none.
func (e *Evidence) Reply(name string) *HTTPReply {
	if e.HTTP == nil {
		return nil
	}
	return e.HTTP.Replies[name]
}

// AgreedRaw reports whether the raw handshake came to a session.
func (e *Evidence) AgreedRaw() bool { return e.Reply(AskedInitialize).Result() != nil }

// RevisionRaw is the revision that the raw handshake agreed on, empty where none.
func (e *Evidence) RevisionRaw() string {
	return rawjson.Unquote(MemberAt(e.Reply(AskedInitialize).Result(), "protocolVersion"))
}

// Unreached reports whether there was no answer by HTTP at all.
func (e *Evidence) Unreached() bool {
	return !slices.ContainsFunc(EventsOf[wire.HTTPExchange](e.Clean),
		func(x wire.HTTPExchange) bool { return x.Status != 0 })
}

// RawID is the id of every raw request: each is alone in its exchange.
const RawID = 1

// TLSLook is what a server offers that speaks TLS, trusted or not.
type TLSLook struct {
	// State is the handshake with the newest version that the server has.
	State tls.ConnectionState
	// Older is a version below 1.2 that the server takes as well, zero for none.
	Older uint16
}

// HostPort is where connections to an address go.
func HostPort(address *url.URL) string {
	port := "80"
	if address.Scheme == "https" {
		port = "443"
	}
	return net.JoinHostPort(address.Hostname(), cmp.Or(address.Port(), port))
}

// HasCredentials reports whether requests were sent with something to get in by.
func (e *Evidence) HasCredentials() bool {
	return len(e.Launch.Headers) > 0 || len(e.Launch.HeadersCommand) > 0 ||
		slices.ContainsFunc(EventsOf[wire.HTTPExchange](e.Clean),
			func(x wire.HTTPExchange) bool { return x.Sent.Get("Authorization") != "" })
}

// Refusal is the header with which the server asked for a login: of a 401, or of any
// answer that says where its metadata is; nil where there is none.
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

// OwnExchanges are those of the clean run with the server itself. What gets access tokens
// asks authorization servers too, which may refuse as well.
func (e *Evidence) OwnExchanges() []wire.HTTPExchange {
	own := PlainURL(e.Launch.URL)
	return slices.DeleteFunc(EventsOf[wire.HTTPExchange](e.Clean), func(x wire.HTTPExchange) bool {
		return x.URL != own && x.Request == 0 // a redirect leads requests elsewhere
	})
}

// Challenges are the ways to get access that a refusal names, of which each may have a
// header of its own (RFC 9110, 11.6.1).
func Challenges(header http.Header) string {
	return strings.Join(header.Values("WWW-Authenticate"), ", ")
}

// HTTPReply is the answer of one raw exchange.
type HTTPReply struct {
	Verb   string
	URL    *url.URL
	Status int
	Header http.Header
	// Body is its beginning, of a stream too; empty of a GET's stream that is silent.
	Body []byte
	// Events are those of a stream, up to the one with the reply.
	Events []HTTPEvent
	// Ended reports whether the body came to its end, rather than the doctor's waiting.
	Ended bool
	// Over reports whether the body is larger than maxRawBody, Unpacked that it came as gzip.
	Over, Unpacked bool
	// Took is the time until its head was there. Held says that it came only when the
	// session was ended, though it had been asked for long before.
	Took time.Duration
	Held bool
	TLS  *tls.ConnectionState // nil of plain HTTP
	Sent json.RawMessage      // the message that was posted, nil where none was
}

// HTTPEvent is one event of a stream, as its lines say.
type HTTPEvent struct {
	Name string // empty where no line gives one
	Data [][]byte
	Open bool // the stream ended without the empty line that ends an event
}

// MaxRawBody is how many bytes of an answer are read: a raw question's is small, but for a list of tools.
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

// Text is the whole data of an event.
func (e HTTPEvent) Text() []byte { return bytes.Join(e.Data, []byte("\n")) }

// HasReply reports whether an event carries the reply to a raw request.
func HasReply(event HTTPEvent) bool {
	head := ReadHead(event.Text())
	return PlainID(head.ID) == strconv.Itoa(RawID) && head.Method == ""
}

// MediaType is what the answer says that it is, without parameters.
func (r *HTTPReply) MediaType() string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return strings.TrimSpace(r.Header.Get("Content-Type"))
	}
	return kind
}

// Message is the JSON-RPC message that the answer carries as its reply, nil where none.
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

// Result is the result of the reply, nil where there is none.
func (r *HTTPReply) Result() json.RawMessage {
	if r == nil || r.Status != http.StatusOK {
		return nil
	}
	return ReadHead(r.Message()).Result
}

// Asked returns what it is the answer to: the method of MCP, or the verb where nothing was posted.
func (r *HTTPReply) Asked() string { return cmp.Or(ReadHead(r.Sent).Method, r.Verb) }

// Words are the answer in a few words: its status, and what it begins with, most bytes of its body.
func (r *HTTPReply) Words(most int) string {
	text := r.StatusText()
	if body := strings.Join(strings.Fields(string(r.Body[:min(len(r.Body), most)])), " "); body != "" {
		text += ": " + body
	}
	return text
}

// StatusText is the answer's status in words.
func (r *HTTPReply) StatusText() string {
	return "HTTP " + strings.TrimSpace(strconv.Itoa(r.Status)+" "+http.StatusText(r.Status))
}

// PlainURL is an address without its password.
func PlainURL(text string) string {
	address, err := url.Parse(text)
	if err != nil {
		return "" // which the checks of the config say
	}
	return address.Redacted()
}
