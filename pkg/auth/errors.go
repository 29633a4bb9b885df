package auth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"toolx/pkg/fault"
)

// Error reports why there is no access to a server. It never quotes a token, a code or a secret.
type Error struct {
	// Server is the name of the server's entry.
	Server string
	// Problem is what happened, without the server's name.
	Problem string
	// Fix is the next step, usually a command; it may be empty.
	Fix string
	// Unreached reports whether an authorization server could not be reached: nothing was refused.
	Unreached bool
	// Missing reports whether a login is missing, so that a user can help by logging in.
	Missing bool
	// Misconfigured reports whether the config has an unusable value.
	Misconfigured bool
	// Cause is the underlying error; it may be nil.
	Cause error
}

func (e *Error) Error() string { return fmt.Sprintf("server '%s': %s", e.Server, e.Problem) }
func (e *Error) Unwrap() error { return e.Cause }

// NeedsLogin reports whether a login would help.
func (e *Error) NeedsLogin() bool { return e.Missing }

// Hint returns the next step.
func (e *Error) Hint() string { return e.Fix }

// Kind implements the interface that fault.KindOf looks for.
func (e *Error) Kind() fault.Kind {
	switch {
	case e.Unreached:
		return fault.KindConnect
	case e.Misconfigured:
		return fault.KindUsage
	}
	return fault.KindAuth
}

// interruptedError reports that the user gave up during authorization.
type interruptedError struct {
	text  string
	cause error
}

func (e *interruptedError) Error() string { return e.text }
func (e *interruptedError) Unwrap() error { return e.cause }

// Kind implements the interface that fault.KindOf looks for.
func (e *interruptedError) Kind() fault.Kind { return fault.KindInterrupted }

// interrupted returns the error for an interruption by the user; nil if ctx has not ended, or for another reason. what
// is the interrupted action.
func (s *settings) interrupted(ctx context.Context, what string) error {
	cause := context.Cause(ctx)
	if !errors.Is(cause, context.Canceled) {
		return nil
	}
	return &interruptedError{text: fmt.Sprintf("server '%s': %s was interrupted", s.options.Server, what), cause: cause}
}

// fail makes an Error of this client's server. If ctx has ended, the error says so: the user interrupted it, or a
// timeout expired.
func (s *settings) fail(ctx context.Context, cause error, fix, format string, args ...any) error {
	problem := fmt.Sprintf(format, args...)
	if given := s.interrupted(ctx, "authorization"); given != nil {
		return given
	}
	if ctx.Err() != nil {
		return fmt.Errorf("server '%s': %s: %w", s.options.Server, problem, context.Cause(ctx))
	}
	return &Error{
		Server:    s.options.Server,
		Problem:   problem,
		Fix:       fix,
		Unreached: unreached(cause),
		Cause:     cause,
	}
}

// unreached reports whether err is a network error. A malformed address is not one, although url.Parse has the same
// type of error for it.
func unreached(err error) bool {
	var network *url.Error
	return errors.As(err, &network) && network.Op != "parse" && !errors.Is(err, errRedirect)
}

// misconfigured returns the error for an unusable key or token in the config.
func (s *settings) misconfigured(format string, args ...any) error {
	return &Error{
		Server: s.options.Server, Problem: fmt.Sprintf(format, args...),
		Fix: "check auth in its entry", Misconfigured: true,
	}
}

// noToken returns the error for an authorization server that issued no token.
func (s *settings) noToken(ctx context.Context, issuer string, err error, fix string) error {
	var own *Error
	if errors.As(err, &own) {
		return own // the server was not asked
	}
	// "token: …" would be hidden as a secret.
	return s.fail(ctx, err, fix, "the authorization server %s issued no token, reason: %s", issuer, reason(err))
}

// needLogin returns the error if a login is required and no user can be asked.
func (s *settings) needLogin(why string, scopes []string) error {
	login := "toolx auth login " + s.options.Login
	for _, scope := range scopes {
		login += " --scope " + scope
	}
	return &Error{
		Server:  s.options.Server,
		Problem: why,
		Fix:     login + "\nor " + ownToken,
		Missing: len(scopes) == 0,
	}
}

// loginRefused returns the error if the server refuses a new login: logging in the same way again would not help.
func (s *settings) loginRefused(why string) error {
	return &Error{
		Server:  s.options.Server,
		Problem: why,
		Fix: "log in with another account: toolx auth logout " + s.options.Login + " first; toolx doctor shows which " +
			"tokens the server accepts\nor " + ownToken,
	}
}

// ownToken is the fix if a login cannot help.
const ownToken = "pass a token: -H 'Authorization: Bearer …', or headers: in the config"

// reason describes the error response of an authorization server, with the members of RFC 6749 5.2 if it has them. It
// never quotes the body, which may contain what was sent.
func reason(err error) string {
	var refused *oauth2.RetrieveError
	var network *url.Error
	var own *Error
	switch {
	case errors.As(err, &own):
		return own.Problem
	case errors.As(err, &refused) && refused.ErrorCode != "":
		return worded(refused.ErrorCode, refused.ErrorDescription)
	case errors.As(err, &refused):
		return "HTTP " + refused.Response.Status
	case errors.As(err, &network):
		return network.Err.Error()
	}
	// The body may follow the first colon.
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "oauth2: "), ": ")
	return text
}

// worded joins an error code and its description.
func worded(code, description string) string {
	if description == "" {
		return code
	}
	return code + " (" + description + ")"
}

// ended reports whether the authorization server permanently refuses to renew a token.
func ended(err error) bool {
	var refused *oauth2.RetrieveError
	return errors.As(err, &refused) && slices.Contains([]string{
		"invalid_grant", "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
		"invalid_target",
	}, refused.ErrorCode)
}
