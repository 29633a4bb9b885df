// Package auth gets access tokens for MCP servers (OAuth 2.1, as MCP's chapter on
// authorization wants it) and puts them on requests: it finds the authorization
// server, makes toolx known there, lets a person log in or uses a client's secret,
// keeps what was given, renews it, and asks for more where a server wants more.
//
// It sits between an HTTP client and its http.RoundTripper and knows nothing of MCP's
// messages. Whoever uses it says how a person is reached, and where tokens are kept.
package auth
