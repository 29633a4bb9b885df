// Package auth gets access tokens for MCP servers (OAuth 2.1, as in MCP's chapter on authorization) and adds them to
// requests. It finds the authorization server, registers toolx there, lets the user log in or uses a client secret,
// stores the tokens, renews them, and asks for more scopes when a server requires them.
//
// It wraps an http.RoundTripper and is independent of MCP's messages. Its callers decide how to reach the user and
// where to store tokens.
package auth
