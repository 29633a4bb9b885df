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

// defaultLoginTime is how long a person has to log in.
const defaultLoginTime = 5 * time.Minute

// exchangeTime is how long an authorization server may take to answer.
const exchangeTime = 30 * time.Second

// Options say whose tokens are obtained, how, and where they are kept.
type Options struct {
	// Server is the name of the server's entry; Login is what to write after "toolx auth login" to log in to it, empty
	// if that is its name.
	Server string
	Login  string
	// URL is the server's address, with its variables expanded. Tokens go to its origin only.
	URL string
	// Headers are those of the entry; Login asks the server with them.
	Headers map[string]string
	// Auth is what the entry says; nil if it says nothing.
	Auth *config.Auth
	// Scopes are asked for beside those of Auth.
	Scopes []string

	// Store keeps tokens from one process to the next; nil keeps them in memory.
	Store *Store
	// Outward carries requests to authorization servers; nil means that below.
	Outward http.RoundTripper

	// Visit opens an address for the user, or prints it. If it is nil no user can be asked, and a server that requires
	// a login fails at once.
	Visit func(ctx context.Context, address string) error
	// Paste waits for the address that the browser ended at, for browsers that cannot reach this machine; wrong says
	// what is wrong with the previous one, nil for the first. If Paste is nil, only the browser can complete the login.
	Paste func(ctx context.Context, wrong error) (string, error)
	// LoginTime is how long that may take; zero means defaultLoginTime, less than zero that there is no limit.
	LoginTime time.Duration

	// Version is toolx's own, told to authorization servers.
	Version string
	// Secret receives every token, code and secret before it is used; it may be nil.
	Secret func(values ...string)
	// Notice takes remarks; it may be nil.
	Notice func(level slog.Level, text string)
}

// settings say whose tokens are obtained, and how.
type settings struct {
	options Options
	address *url.URL
	outward http.RoundTripper
	// exchangeTimeout bounds each exchange with an authorization server: it is short, and the clocks of a call may be
	// stopped.
	exchangeTimeout time.Duration
}

func (s *settings) grantType() string {
	return cmp.Or(s.options.Auth.Grant, config.GrantAuthorizationCode)
}

// resource returns the server's identifier where its metadata gives none: its address without fragment (RFC 8707 2).
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
