package config

import (
	"slices"
	"strings"
)

// Way returns how the server is reached: one of the Transport constants.
func (s *Server) Way() string {
	switch {
	case s.Transport != "":
		return s.Transport
	case s.URL != "":
		return TransportHTTP
	}
	return TransportStdio
}

// Target returns what the entry starts or reaches, as written: the program with its arguments, or the address alone.
func (s *Server) Target() []string {
	if s.URL != "" {
		return []string{s.URL}
	}
	if s.Command == "" {
		return nil
	}
	return append([]string{s.Command}, s.Args...)
}

// Setting is one value of an entry.
type Setting struct {
	// Path is its path in the entry: "args[1]", "env.TOKEN".
	Path string
	// Written is the text in the file. Value is the expanded text, or Written if expansion needs a keyring, a program,
	// a file or user input, or if a variable is not set.
	Written, Value string
	Origin         Origin
}

// Settings returns the values of the entry in order, and the secrets among them. It does not run programs, read files
// or prompt.
func (s *Server) Settings(environ []string) (settings []Setting, secrets []string) {
	secrets = s.Secrets()
	if s.node == nil {
		return nil, secrets
	}
	lookup := newEnvironment(environ)
	s.node.each("", func(path string, at Origin, n *node) bool {
		if n.kind == kindList || n.kind == kindMap {
			return true
		}
		setting := Setting{Path: path, Written: n.written, Value: n.written, Origin: at}
		if n.kind == kindText && strings.Contains(n.text, "${") && !asksElsewhere(n.text) {
			e := &expander{server: s, lookup: lookup.get}
			if value := e.expand(n.text, path); e.failure() == nil {
				setting.Value = value
				secrets = append(secrets, e.values...)
			}
		}
		settings = append(settings, setting)
		return false
	})
	own, headers := map[string]string{}, map[string]string{}
	var args []string
	address := s.URL
	for _, setting := range settings {
		switch key, name, _ := strings.Cut(setting.Path, "."); {
		case key == "env" || key == "environment":
			own[name] = setting.Value
		case key == "headers" || key == "http_headers":
			headers[name] = setting.Value
		case strings.HasPrefix(setting.Path, "args["):
			args = append(args, setting.Value)
		case key == "url":
			address = setting.Value
		}
	}
	secrets = slices.Concat(secrets, secretsOf(args, own, headers, address, nil))
	// A reference that was not expanded is not a secret.
	return settings, slices.DeleteFunc(secrets, func(secret string) bool { return strings.Contains(secret, "${") })
}

// asksElsewhere reports whether a text has a reference that the environment cannot resolve.
func asksElsewhere(text string) bool {
	for _, form := range references() {
		if !form.public && strings.Contains(text, "${"+form.name+":") {
			return true
		}
	}
	return false
}
