package serve

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/words"
)

// guard decides which requests toolx serve --http accepts. Every web page that the user opens can reach a server on
// this machine, with cross-origin requests or a host name that resolves to 127.0.0.1 (2025-11-25 basic/transports,
// "Security Warning").
type guard struct {
	hosts   []string // allowed besides addresses and localhost
	origins []string // allowed besides those of this machine
	token   string   // empty: clients need none
	warn    func(text string)
	next    http.Handler

	mu     sync.Mutex
	warned map[string]bool // texts of past warnings
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	origins := r.Header.Values("Origin")
	switch {
	case !g.allowsHost(r.Host):
		g.refuse(w, http.StatusForbidden, notAllowed("host", cmp.Or(hostName(r.Host), r.Host)))
	case len(origins) > 1 || len(origins) == 1 && !g.allowsOrigin(origins[0]):
		g.refuse(w, http.StatusForbidden, notAllowed("origin", origins[0]))
	case len(origins) == 1 && g.answerPreflight(w, r, origins[0]):
	case !g.authorized(r.Header.Get("Authorization")):
		w.Header().Set("WWW-Authenticate", `Bearer realm="toolx serve"`)
		const text = "rejected a request without the right token (Authorization: Bearer …)"
		g.refuse(w, http.StatusUnauthorized, text)
	case r.URL.Path != endpointPath:
		http.Error(w, "toolx serves MCP at "+endpointPath, http.StatusNotFound)
	default:
		g.next.ServeHTTP(w, r)
	}
}

// allowsHost reports whether a Host header names this server. It rejects other names, which could resolve to this
// machine for an attack; addresses cannot.
func (g *guard) allowsHost(header string) bool {
	host := hostName(header)
	if host == "localhost" {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host != "" && slices.ContainsFunc(g.hosts, func(name string) bool { return strings.EqualFold(name, host) })
}

// hostName returns the name or address in a Host header, without brackets, port and the root's dot, in lower case. It
// is empty for an invalid header (RFC 9110, 7.2).
func hostName(header string) string {
	address, err := url.Parse("http://" + header)
	if err != nil || address.Host != header {
		return ""
	}
	host := address.Hostname()
	if _, err := netip.ParseAddr(host); err != nil && strings.ContainsAny(host, ":[]") {
		return ""
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// allowsOrigin reports whether pages of an origin may send requests: those on this machine, and those that the user
// allows.
func (g *guard) allowsOrigin(origin string) bool {
	named := func(name string) bool { return strings.EqualFold(strings.TrimSuffix(name, "/"), origin) }
	if slices.ContainsFunc(g.origins, named) {
		return true
	}
	scheme, place, _ := strings.Cut(origin, "://")
	if scheme != "http" && scheme != "https" {
		return false
	}
	host := hostName(place) // an origin ends with the port
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

// answerPreflight lets a page of an allowed origin read responses, and handles a browser's preflight request, which has
// no token (the Fetch standard, "CORS protocol"). It reports whether it wrote the response.
func (g *guard) answerPreflight(w http.ResponseWriter, r *http.Request, origin string) bool {
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate")
	header.Add("Vary", "Origin")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	header.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	header.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
	header.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// authorized reports whether an Authorization header has the token. The comparison takes constant time, so it reveals
// neither the token nor its length.
func (g *guard) authorized(authorization string) bool {
	if g.token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(authorization, " ")
	given, want := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(g.token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(given[:], want[:]) == 1
}

// refuse responds with an error and warns the user, who may want to allow the request. It warns once per text, because
// pages retry.
func (g *guard) refuse(w http.ResponseWriter, status int, text string) {
	writeError(w, status, nil, mcp.INVALID_REQUEST, text)
	const most = 100
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.warned[text] || len(g.warned) >= most {
		return
	}
	if g.warned == nil {
		g.warned = map[string]bool{}
	}
	g.warned[text] = true
	g.warn("refused: " + text)
}

// notAllowed returns the error for a host or an origin, with the flag that allows it.
func notAllowed(what, name string) string {
	quoted := strconv.Quote(words.Clip(name, maxErrorText))
	return fmt.Sprintf("%s %s is not served (toolx serve --allow-%s %s)", what, quoted, what, plainWord(name))
}

// plainWord returns text as an argument to type, or an ellipsis if it would need quotes.
func plainWord(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:/_"
	if text == "" || len(text) > 100 || strings.Trim(text, plain) != "" || strings.HasPrefix(text, "-") {
		return "…"
	}
	return text
}

// writeError writes a JSON-RPC error as a whole response; id is nil without a request.
func writeError(w http.ResponseWriter, status int, id json.RawMessage, code int, text string) {
	writeAnswer(w, status, errorAnswer(id, code, text))
}

// writeAnswer writes a JSON-RPC message as a whole response.
func writeAnswer(w http.ResponseWriter, status int, answer any) {
	line := encodeAnswer(answer)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", fmt.Sprint(len(line)))
	w.WriteHeader(status)
	_, _ = w.Write(line)
}
