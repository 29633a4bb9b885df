// Package auth gets access tokens for MCP servers (OAuth 2.1, as in MCP's chapter on authorization) and adds them to
// requests. It finds the authorization server, registers toolx there, lets a person log in or uses a client's secret,
// stores the tokens, renews them, and asks for more scopes when a server requires them.
//
// It wraps an http.RoundTripper and knows nothing of MCP's messages. Its callers decide how a person is reached and
// where tokens are stored.
package auth
