package ai

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"toolx/pkg/fault"
)

// ollamaURL makes an address of what OLLAMA_HOST may hold: nothing, a host, an IP
// address of either kind, a port (":8080"), each with or without a scheme, a port
// and a path. The default port follows the scheme, as it does for Ollama itself.
// A query stays at the end, and a user and a password, which a proxy in front of it
// may want, before the host. An address that a server listens on ("0.0.0.0") is called on this machine.
func ollamaURL(text string) (string, error) {
	text = strings.TrimSpace(strings.Trim(strings.TrimSpace(text), `"'`))
	text, _, _ = strings.Cut(text, "#") // a fragment is for browsers
	scheme, rest, hasScheme := strings.Cut(text, "://")
	port := "11434"
	switch {
	case !hasScheme && text == "ollama.com":
		scheme, rest, port = "https", text, "443"
	case !hasScheme:
		scheme, rest = "http", text
	case scheme == "http":
		port = "80"
	case scheme == "https":
		port = "443"
	}
	rest, query, hasQuery := strings.Cut(rest, "?")
	rest, path, _ := strings.Cut(rest, "/")
	user := ""
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		user, rest = rest[:at+1], rest[at+1:]
	}
	host, given, err := net.SplitHostPort(rest)
	if err != nil {
		host, given = strings.Trim(rest, "[]"), ""
	}
	if given != "" {
		if number, err := strconv.ParseUint(given, 10, 16); err != nil || number == 0 {
			return "", &fault.UsageError{
				Message: fmt.Sprintf("the port %q of Ollama's address is none", given),
				Fix:     "OLLAMA_HOST=127.0.0.1:11434",
			}
		}
		port = given
	}
	switch host {
	case "", "0.0.0.0", "::":
		host = "127.0.0.1"
	}
	base := scheme + "://" + user + net.JoinHostPort(host, port)
	// The addresses of the two interfaces that Ollama has are often given whole.
	path = strings.Trim(path, "/")
	path = strings.TrimSuffix(strings.TrimSuffix(path, "v1"), "api")
	if path = strings.Trim(path, "/"); path != "" {
		base += "/" + path
	}
	if hasQuery {
		base += "?" + query
	}
	return base, nil
}
