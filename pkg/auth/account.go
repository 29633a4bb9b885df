package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/state"
)

// Status describes a stored login.
type Status struct {
	Issuer    string    `json:"issuer"`
	Grant     string    `json:"grant"`
	ClientID  string    `json:"client_id"`
	Scopes    []string  `json:"scopes,omitempty"`
	Expires   time.Time `json:"expires,omitzero"`
	Renewable bool      `json:"renewable"`
	// Keyring reports whether the tokens are in the system keyring instead of a file.
	Keyring bool `json:"keyring"`
}

// Usable reports whether the login has not expired, or can be renewed.
func (s *Status) Usable() bool {
	return s.Renewable || s.Expires.IsZero() || time.Now().Before(s.Expires)
}

func (g *Grant) status() *Status {
	return &Status{
		Issuer: g.Issuer, Grant: g.Type, ClientID: g.ClientID, Scopes: g.Scopes,
		Expires: g.Expiry, Renewable: g.Renewable, Keyring: g.Keyring,
	}
}

// ErrOpen reports that a server requires no login.
var ErrOpen = errors.New("the server requires no login")

// Login obtains and stores a new grant, even if one is stored. The error is ErrOpen if the server neither refuses a
// request nor announces where to log in.
func Login(ctx context.Context, base http.RoundTripper, options Options) (*Status, error) {
	c, err := newClient(base, options)
	if err != nil {
		return nil, err
	}
	if options.Store == nil {
		return nil, c.fail(ctx, nil, "set HOME or XDG_STATE_HOME", "there is no folder to store a login in")
	}
	asked, err := c.findChallenge(ctx)
	if err != nil {
		return nil, err
	}
	// Do not start a login in a browser if its result cannot be stored.
	if err := state.Writable(options.Store.dir); err != nil {
		return nil, c.fail(ctx, nil, options.Store.fix(), "a login cannot be stored: %v", err)
	}
	grant, err := c.newGrant(ctx, nil, asked)
	if err != nil {
		return nil, err
	}
	if err := c.try(ctx, grant); err != nil {
		return nil, err
	}
	c.save(ctx, grant)
	if grant.unsaved {
		return nil, c.fail(ctx, nil, "", "the login succeeded but cannot be stored")
	}
	return c.kept(ctx)
}

// LoginOnce is Login for a process that other processes may start along with: one of them asks the user, and the others
// use its login. A login that failed in a browser is not repeated by the processes that had started by then: LoginOnce
// returns the cause, until a login succeeds. started is when this process started.
//
// options.Visit only opens a browser. show gets the address of the login page and whether a browser has opened it, and
// an empty address while another process asks the user.
func LoginOnce(
	ctx context.Context, base http.RoundTripper, options Options, started time.Time,
	show func(address string, opened bool),
) error {
	c, err := newClient(base, options)
	if err != nil {
		return err
	}
	open, opened := options.Visit, false
	options.Visit = func(ctx context.Context, address string) error {
		opened = open(ctx, address) == nil
		show(address, opened)
		return nil
	}
	if options.Store == nil {
		_, err := Login(ctx, base, options)
		return err
	}
	unlock, err := options.Store.lockLogin(ctx, options.URL, func() { show("", true) })
	if err != nil {
		return c.fail(ctx, nil, options.Store.fix(), "a login cannot be stored: %v", err)
	}
	defer unlock()
	if stored, err := c.load(ctx); err == nil && stored != nil && !stored.expired() {
		if _, asked, err := c.ping(ctx, stored); err == nil && asked == nil {
			return nil
		}
	}
	if problem := options.Store.failure(options.URL, started); problem != "" {
		return c.fail(ctx, nil, "toolx auth login "+options.Login, "%s", problem)
	}
	_, err = Login(ctx, base, options)
	if failed := (*Error)(nil); opened && errors.As(err, &failed) {
		options.Store.noteFailure(options.URL, failed.Problem)
	}
	return err
}

// try returns an error for a grant that has already expired, or whose token the server refuses. It accepts the grant if
// the server cannot be reached.
func (c *client) try(ctx context.Context, grant *Grant) error {
	if !grant.status().Usable() {
		return c.fail(ctx, nil, "", "the authorization server %s issued a token that has already expired", grant.Issuer)
	}
	c.keep(grant)
	_, asked, err := c.ping(ctx, grant)
	switch {
	case ctx.Err() != nil:
		return err
	case err == nil && asked != nil && !asked.stepUp:
		return c.stillRefused(asked, grant)
	}
	return nil
}

// findChallenge returns the server's challenge. Some servers accept every connection and refuse only some tools; then
// the metadata announces where to log in. The error is ErrOpen if there is neither.
func (c *client) findChallenge(ctx context.Context) (*challenge, error) {
	status, asked, err := c.ping(ctx, nil)
	if err != nil || asked != nil {
		return asked, err
	}
	asked = &challenge{}
	resource, err := c.discovery.resourceMetadata(ctx, asked)
	switch {
	case err != nil:
		return nil, err
	case resource != nil || c.options.Auth.Issuer != "":
		return asked, nil
	case status == http.StatusNotFound || status >= http.StatusInternalServerError:
		words := strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
		return nil, c.fail(ctx, &url.Error{Op: "Post", URL: c.options.URL, Err: errors.New(words)},
			"is its url right?", "it responds with HTTP %s and does not say how to log in", words)
	}
	return nil, ErrOpen
}

// Kept returns the status of a server's stored login; nil if there is none.
func Kept(ctx context.Context, options Options) (*Status, error) {
	c, err := newClient(nil, options)
	if err != nil {
		return nil, err
	}
	if err := c.tokens.checkConfig(); err != nil {
		return nil, err
	}
	return c.kept(ctx)
}

// checkConfig reports problems with files of the config before they are needed.
func (t *tokens) checkConfig() error {
	if t.options.Auth.Signs() {
		if _, err := t.privateKey(); err != nil {
			return err
		}
	}
	if t.grantType() == config.GrantJWTBearer {
		if _, err := t.identityToken(); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) kept(ctx context.Context) (*Status, error) {
	grant, err := c.load(ctx)
	if err != nil || grant == nil {
		return nil, err
	}
	return grant.status(), nil
}

var errSilent = errors.New("no answer")

// ping sends a ping, with the token of a grant if that is not nil, and returns the HTTP status and the server's
// challenge, nil if there is none. Every server supports a ping, and it has no effects.
func (c *client) ping(ctx context.Context, grant *Grant) (int, *challenge, error) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	ctx, cancel := context.WithTimeoutCause(ctx, c.exchangeTimeout, errSilent)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.options.URL, strings.NewReader(ping))
	if err != nil {
		return 0, nil, c.fail(ctx, nil, "", "its url is not an address")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for name, content := range c.options.Headers {
		req.Header.Set(name, content)
	}
	copies, err := repeatable(req)
	if err != nil {
		return 0, nil, err
	}
	resp, err := c.send(copies, grant)
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		return 0, nil, &Error{
			Server:  c.options.Server,
			Problem: fmt.Sprintf("no response within %s", c.exchangeTimeout), Unreached: true,
		}
	}
	if err != nil {
		return 0, nil, c.fail(ctx, &url.Error{Op: "Post", URL: c.options.URL, Err: err}, "", "it cannot be reached: %v",
			err)
	}
	defer resp.Body.Close()
	return resp.StatusCode, readChallenge(resp), nil
}

// Logout ends the logins of a server: it revokes them at the authorization server if possible (RFC 7009), and removes
// the stored tokens. It returns the number of logins.
func Logout(ctx context.Context, base http.RoundTripper, options Options) (int, error) {
	c, err := newClient(base, options)
	if err != nil {
		return 0, err
	}
	if options.Store == nil {
		return 0, nil
	}
	if err := state.Sweep(options.Store.dir); err != nil {
		return 0, c.fail(ctx, nil, options.Store.fix(), "tokens left by a killed toolx cannot be removed: %v",
			err)
	}
	kept, unread := options.Store.read(options.URL)
	if kept == nil && unread == nil {
		return 0, nil
	}
	unlock, err := options.Store.lock(ctx, options.URL)
	if err != nil {
		return 0, c.fail(ctx, nil, options.Store.fix(), "its login cannot be removed: %v", err)
	}
	defer unlock()
	issuers := c.options.Store.issuers(c.options.URL)
	for _, issuer := range issuers {
		grant, err := c.options.Store.load(ctx, c.options.URL, issuer)
		if err == nil && grant != nil {
			err = c.tokens.revoke(ctx, grant)
		}
		if err != nil {
			c.notice(slog.LevelWarn, "the authorization server "+issuer+" was not notified of the logout: "+reason(err))
		}
	}
	if err := c.options.Store.remove(ctx, c.options.URL); err != nil {
		return 0, c.fail(ctx, nil, options.Store.fix(), "its login cannot be removed: %v", err)
	}
	if unread != nil {
		c.notice(slog.LevelWarn,
			"its login was removed unread, so the authorization server was not notified: "+unread.Error())
		return 1, nil
	}
	return len(issuers), nil
}
