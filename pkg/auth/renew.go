package auth

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/fault"
)

// usable reports whether a stored grant still matches the config.
func (c *client) usable(grant *Grant) bool {
	auth := c.options.Auth
	return grant.Type == c.grantType() &&
		(auth.ClientID == "" || auth.ClientID == grant.ClientID) &&
		(auth.Issuer == "" || sameIssuer(auth.Issuer, grant.Issuer))
}

// load reads the stored grant; nil if there is no usable one.
func (c *client) load(ctx context.Context) (*Grant, error) {
	if c.options.Store == nil {
		return nil, nil
	}
	grant, err := c.options.Store.load(ctx, c.options.URL, c.options.Auth.Issuer)
	if err != nil {
		return nil, c.fail(ctx, err, "toolx auth login "+c.options.Login+" replaces it, where it can be written",
			"its login cannot be read: %v", err)
	}
	if grant == nil || !c.usable(grant) {
		return nil, nil
	}
	c.secret(grant.secrets.Access, grant.secrets.Refresh, grant.secrets.Client, grant.secrets.Key)
	return grant, nil
}

// save stores a grant for other processes. If that fails, only this process has it.
func (c *client) save(ctx context.Context, grant *Grant) {
	if c.options.Store == nil {
		return
	}
	if err := c.options.Store.save(ctx, c.options.URL, grant); err != nil {
		grant.unsaved = true
		c.notice(slog.LevelWarn, "the login cannot be stored: "+err.Error())
	}
}

// renew renews a grant without the user: with what another process has stored, the refresh token (RFC 6749 6) or the
// client secret. It returns nil if the server must be asked again.
//
// One process does this at a time, because a second use of a refresh token often ends the login. After waiting for the
// lock, it reads the store again.
func (c *client) renew(ctx context.Context, old *Grant) (*Grant, error) {
	unlock, err := c.lock(ctx)
	if err != nil && old.Type != config.GrantAuthorizationCode && ctx.Err() == nil {
		return c.renewAlone(ctx, old)
	}
	if err != nil {
		return nil, err
	}
	defer unlock()
	now := old
	if c.options.Store != nil && !old.unsaved {
		if now, err = c.load(ctx); err != nil {
			return nil, err
		}
	}
	if now == nil {
		c.keep(nil) // logged out meanwhile
		return nil, nil
	}
	if now.secrets.Access != old.secrets.Access && !now.expired() {
		c.keep(now)
		return now, nil
	}
	return c.renewAlone(ctx, now)
}

// renewAlone renews a grant under the lock, or without it if the credential is reusable.
func (c *client) renewAlone(ctx context.Context, now *Grant) (*Grant, error) {
	renewed, err := c.tokens.refresh(ctx, now)
	switch {
	case errors.Is(err, errNoRefresh), ended(err):
		c.end(ctx, now, reason(err))
		return nil, nil
	case fault.KindOf(err) == fault.KindUsage:
		return nil, err // there is no credential to renew it with
	case err != nil:
		return nil, c.fail(ctx, err, "toolx auth login "+c.options.Login, "its token cannot be renewed: %s",
			reason(err))
	}
	c.keep(renewed)
	c.save(ctx, renewed)
	return renewed, nil
}

// end records that a grant is no longer valid, so that it is not renewed again.
func (c *client) end(ctx context.Context, grant *Grant, why string) {
	c.notice(slog.LevelInfo, "the login is no longer valid: "+why)
	c.keep(nil)
	c.note(func(s *clientState) { s.ended = why })
	if grant.secrets.Refresh != "" {
		dead := *grant
		dead.secrets.Refresh, dead.Renewable, dead.Expiry = "", false, time.Now() // it may have been revoked before
		c.save(ctx, &dead)
	}
}

// lock acquires the store's lock; without a store nothing is shared.
func (c *client) lock(ctx context.Context) (unlock func(), err error) {
	if c.options.Store == nil {
		return func() {}, nil
	}
	unlock, err = c.options.Store.lock(ctx, c.options.URL)
	if err != nil {
		return nil, c.fail(ctx, nil, c.options.Store.fix(),
			"its login cannot be renewed, because a new token cannot be stored: %v", err)
	}
	return unlock, nil
}
