package auth

import (
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// challenge is what a server asks for when it refuses a request.
type challenge struct {
	// metadata is the address of the protected resource's metadata; empty if the server does not tell it (RFC 9728
	// 5.1).
	metadata string
	// scopes are those that the request needs.
	scopes []string
	// stepUp says that the token is good and its scopes are not enough (RFC 6750 3.1).
	stepUp bool
	// bound says that the server takes only tokens that are bound to a key (RFC 9449 7.1).
	bound bool
	// bare says that the server refused without a word about how to get in.
	bare bool
	// said is the reason in the server's own words; empty if it gave none (RFC 6750 3).
	said string
}

// because returns a problem with the server's own reason behind it, where it gave one.
func (a *challenge) because(problem string) string {
	if a.said == "" {
		return problem
	}
	return problem + ": " + a.said
}

// readChallenge reads a response. It is nil if the response is no refusal, or one that a token does not help against.
func readChallenge(resp *http.Response) *challenge {
	if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return nil
	}
	offered, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		offered = nil // nothing that can be read was said
	}
	asked := &challenge{bare: len(offered) == 0}
	at := slices.IndexFunc(offered, func(c oauthex.Challenge) bool { return c.Scheme == "bearer" })
	if at < 0 {
		at = slices.IndexFunc(offered, func(c oauthex.Challenge) bool { return c.Scheme == "dpop" })
		asked.bound = at >= 0
	}
	if at >= 0 {
		asked.metadata = offered[at].Params["resource_metadata"]
		asked.scopes = strings.Fields(offered[at].Params["scope"])
		asked.said = offered[at].Params["error_description"]
		asked.stepUp = resp.StatusCode == http.StatusForbidden && offered[at].Params["error"] == "insufficient_scope"
	}
	switch {
	case resp.StatusCode == http.StatusForbidden && !asked.stepUp:
		return nil // forbidden whatever the token
	case at < 0 && !asked.bare:
		return nil // Basic, Negotiate: another way to log in
	}
	return asked
}

// union returns the scopes of all lists, each once, in their order.
func union(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		for _, scope := range list {
			if !slices.Contains(all, scope) {
				all = append(all, scope)
			}
		}
	}
	return all
}

// without returns the scopes of list that are not among the others.
func without(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(scope string) bool { return slices.Contains(others, scope) })
}

// quoted is scopes as messages name them.
func quoted(scopes []string) string { return "'" + strings.Join(scopes, " ") + "'" }
