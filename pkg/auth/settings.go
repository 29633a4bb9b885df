package auth

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"toolx/pkg/config"
)

// defaultLoginTime is how long the user has to log in.
const defaultLoginTime = 5 * time.Minute

// exchangeTime is how long an authorization server may take to respond.
const exchangeTime = 30 * time.Second

// Options are the server to get tokens for, how to get them, and where to keep them.
type Options struct {
	// Server is the name of the server's entry. Login is what follows "toolx auth login" to log in to it; empty for
	// that name.
	Server string
	Login  string
	// URL is the server's address, with its variables expanded. Tokens go to its origin only.
	URL string
	// Headers are the entry's; Login sends them to the server.
	Headers map[string]string
	// Auth is the entry's auth; it may be nil.
	Auth *config.Auth
	// Scopes are requested in addition to those of Auth.
	Scopes []string

	// Store keeps tokens between processes; nil keeps them in memory.
	Store *Store
	// Outward sends requests to authorization servers; nil means the transport below.
	Outward http.RoundTripper

	// Visit opens or prints an address for the user. If it is nil, there is no user, and requests to servers that
	// require a login fail immediately.
	Visit func(ctx context.Context, address string) error
	// Paste reads the address that the browser ended at, for browsers that cannot reach this machine; wrong is the
	// problem with the previous one, or nil. If Paste is nil, only the browser can complete the login.
	Paste func(ctx context.Context, wrong error) (string, error)
	// LoginTime is how long a login may take; zero means defaultLoginTime, less than zero no limit.
	LoginTime time.Duration

	// Version is toolx's version, for authorization servers.
	Version string
	// Secret receives every token, code and secret before it is used; it may be nil.
	Secret func(values ...string)
	// Notice receives remarks; it may be nil.
	Notice func(level slog.Level, text string)
}

// settings are Options with derived values.
type settings struct {
	options Options
	address *url.URL
	outward http.RoundTripper
	// exchangeTimeout bounds each exchange with an authorization server, because the deadline of a call may be
	// suspended.
	exchangeTimeout time.Duration
}

func (s *settings) grantType() string {
	return cmp.Or(s.options.Auth.Grant, config.GrantAuthorizationCode)
}

// resource returns the server's identifier if its metadata has none: its address without fragment (RFC 8707 2).
func (s *settings) resource() string {
	plain := *s.address
	plain.Fragment, plain.RawFragment, plain.User = "", "", nil
	return plain.String()
}

func (s *settings) secret(values ...string) {
	values = slices.DeleteFunc(values, func(value string) bool { return value == "" })
	if s.options.Secret != nil && len(values) > 0 {
		s.options.Secret(values...)
	}
}

func (s *settings) notice(level slog.Level, text string) {
	if s.options.Notice != nil {
		s.options.Notice(level, "server '"+s.options.Server+"': "+text)
	}
}
