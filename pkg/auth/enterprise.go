package auth

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// vouchedBy lets the identity provider of the config make of an identity token one that is
// for the authorization server of grant alone (RFC 8693, MCP's extension for
// enterprise-managed authorization). So the enterprise decides who may use which server.
//
// The error is an *Error, or ctx's; either way the authorization server was not asked.
func (c *client) vouchedBy(ctx context.Context, grant *Grant, identity string) (string, error) {
	provider := c.options.Auth.Provider
	endpoint, err := c.providerEndpoint(ctx, provider.Issuer)
	if err != nil {
		return "", err
	}
	creds := &oauthex.ClientCredentials{ClientID: provider.ClientID}
	if provider.ClientSecret != "" {
		c.secret(provider.ClientSecret)
		creds.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: provider.ClientSecret}
	}
	got, err := oauthex.ExchangeToken(ctx, endpoint, &oauthex.TokenExchangeRequest{
		RequestedTokenType: oauthex.TokenTypeIDJAG,
		Audience:           grant.Issuer,
		Resource:           grant.Resource,
		Scope:              grant.Scopes,
		SubjectToken:       identity,
		SubjectTokenType:   oauthex.TokenTypeIDToken,
	}, creds, c.endpointClient())
	if err != nil {
		return "", c.fail(ctx, err, "check the identity token, and identityProvider in its entry",
			"the identity provider %s does not vouch: %s", provider.Issuer, reason(err))
	}
	c.secret(got.AccessToken)
	if kind, _ := got.Extra("issued_token_type").(string); kind != oauthex.TokenTypeIDJAG {
		return "", c.fail(ctx, nil, "", "the identity provider %s gives a token of another type than was asked for", provider.Issuer)
	}
	return got.AccessToken, nil
}

// providerEndpoint finds where an identity provider gives tokens. Its metadata is not that of
// an authorization server for MCP: it need not know PKCE.
func (c *client) providerEndpoint(ctx context.Context, issuer string) (string, error) {
	var wrong error
	for _, place := range serverMetadataPlaces(issuer) {
		var read struct {
			Issuer        string `json:"issuer"`
			TokenEndpoint string `json:"token_endpoint"`
		}
		if err := c.trusted(place); err != nil {
			return "", c.misconfigured("its identityProvider: %v", err)
		}
		missing, err := c.getJSON(ctx, place, &read)
		switch {
		case err != nil:
			wrong = err
		case missing != "": // it may be in another place
		case !sameIssuer(read.Issuer, issuer):
			wrong = fmt.Errorf("its metadata is of another one, %q", read.Issuer)
		default:
			if wrong = c.trusted(read.TokenEndpoint); wrong == nil {
				return read.TokenEndpoint, nil
			}
		}
	}
	if wrong == nil {
		return "", c.fail(ctx, nil, "", "the identity provider %s has no metadata", issuer)
	}
	return "", c.fail(ctx, wrong, "", "the identity provider %s: %s", issuer, metadataReason(wrong))
}
