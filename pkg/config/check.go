package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"toolx/pkg/words"
)

// checkServer checks that there is exactly one way to reach the server.
func (d *decoder) checkServer(v value, s *Server) {
	if v.kind != kindMap {
		return
	}
	command, url, auth := v.has("command"), v.says("url", "serverUrl", "httpUrl"), v.has("auth")
	switch {
	case !command && !url:
		d.problem(v, misspelt(v), "the server has neither command nor url")
	case command && url:
		d.problem(v, "keep one of them", "the server has both command and url")
	case auth && !url:
		d.problem(v, "remove auth, or give a url", "auth needs a url, and the server has a command")
	case url && s.Transport == TransportStdio:
		d.problem(v, "remove type, or give a command", "type stdio needs a command, and the server has a url")
	case command && s.Transport != "" && s.Transport != TransportStdio:
		d.problem(v, "remove type, or give a url", "type %s needs a url, and the server has a command", s.Transport)
	case unreachable(s.URL) != "":
		d.problem(v, "give an http:// or https:// address", "toolx cannot connect through %s", unreachable(s.URL))
	case s.ClientKey != "" && s.ClientCert == "":
		d.problem(v, "add clientCert: FILE, the certificate of that key", "a clientKey needs a clientCert")
	}
}

// unreachable names the transport of an address that only other clients can reach; empty for all others.
func unreachable(address string) string {
	scheme, _, _ := strings.Cut(address, ":")
	return map[string]string{
		"unix": "a Unix socket", "pipe": "a named pipe", "ws": "WebSocket", "wss": "WebSocket",
	}[strings.ToLower(scheme)]
}

// checkName rejects a name with invisible characters: it could look like another name, and shell completion prints it
// unchanged.
func (d *decoder) checkName(v value, name string) {
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
		d.problem(v, "use letters, digits and punctuation", "the name %q has invisible characters",
			name)
	}
}

// misspelt returns the fix for a server without command and url: rename a misspelt key, else add one.
func misspelt(v value) string {
	for _, m := range v.members {
		if near := words.Nearest(m.key, []string{"command", "url"}); near != "" {
			return fmt.Sprintf("write %s instead of '%s'", near, m.key)
		}
	}
	return "add command: (a program to start) or url: (an address to reach)"
}

// has reports whether v has a member of one of the names.
func (v value) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return v.indexOf(name) >= 0 })
}

// says reports whether v has a member of one of the names that is not an empty text.
func (v value) says(names ...string) bool {
	return slices.ContainsFunc(v.members, func(m member) bool {
		return slices.Contains(names, m.key) && (m.value.kind != kindText || m.value.text != "")
	})
}
