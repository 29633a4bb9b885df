package auth

import (
	"context"
	"errors"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// registered is toolx's registration at an authorization server.
type registered struct {
	id    string
	style oauth2.AuthStyle
	// issued is the secret from the registration.
	issued string
}

// preregistered returns the client from the config.
func (t *tokens) preregistered(found *site) *registered {
	known := &registered{id: t.options.Auth.ClientID, style: oauth2.AuthStyleInParams}
	if t.options.Auth.ClientSecret != "" {
		known.style = secretStyle(found.server.TokenEndpointAuthMethodsSupported)
	}
	return known
}

// secretStyle returns how a client's secret is sent. If the metadata says nothing it is client_secret_basic (RFC 8414
// 2).
func secretStyle(supported []string) oauth2.AuthStyle {
	if slices.Contains(supported, methodPost) && !slices.Contains(supported, methodBasic) {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// The methods of client authentication (RFC 7591 2).
const (
	methodNone  = "none"
	methodPost  = "client_secret_post"
	methodBasic = "client_secret_basic"
)

// register registers toolx at the authorization server, in the order of MCP's chapter on authorization: as the client
// in the config, with the address of a Client ID Metadata Document, or dynamically (RFC 7591).
func (t *tokens) register(ctx context.Context, found *site, redirect string) (*registered, error) {
	auth := t.options.Auth
	switch {
	case auth.ClientID != "":
		return t.preregistered(found), nil
	case auth.ClientMetadataURL != "" && found.server.ClientIDMetadataDocumentSupported:
		return &registered{id: auth.ClientMetadataURL, style: oauth2.AuthStyleInParams}, nil
	case found.server.RegistrationEndpoint != "":
		return t.registerDynamically(ctx, found, redirect)
	}
	return nil, t.fail(ctx, nil, registerFix,
		"the authorization server %s does not register clients automatically", found.server.Issuer)
}

const registerFix = "register toolx there (redirect: http://127.0.0.1/callback), " +
	"and write its id into the entry: auth: {clientId: …}"

func (t *tokens) registerDynamically(ctx context.Context, found *site, redirect string) (*registered, error) {
	wanted := &oauthex.ClientRegistrationMetadata{
		ClientName:              "toolx",
		SoftwareID:              "toolx",
		SoftwareVersion:         t.options.Version,
		RedirectURIs:            []string{redirect},
		GrantTypes:              []string{"authorization_code", "refresh_token"},
		ResponseTypes:           []string{"code"},
		TokenEndpointAuthMethod: registrationMethod(found.server.TokenEndpointAuthMethodsSupported),
		ApplicationType:         "native",
	}
	answer, err := oauthex.RegisterClient(ctx, found.server.RegistrationEndpoint, wanted, t.endpointClient())
	if err != nil {
		return nil, t.registrationFailure(ctx, found, err)
	}
	t.secret(answer.ClientSecret)
	known := &registered{id: answer.ClientID, issued: answer.ClientSecret, style: oauth2.AuthStyleInParams}
	method := answer.TokenEndpointAuthMethod
	if known.issued != "" && (method == methodBasic || method == "") {
		known.style = oauth2.AuthStyleInHeader
	}
	return known, nil
}

// registrationMethod asks to be a public client, as suits a program that anyone can copy, unless the server supports
// none.
func registrationMethod(supported []string) string {
	for _, method := range []string{methodNone, methodBasic, methodPost} {
		if slices.Contains(supported, method) {
			return method
		}
	}
	return methodNone
}

// registrationFailure returns why toolx was not registered.
func (t *tokens) registrationFailure(ctx context.Context, found *site, err error) error {
	if found.guessed {
		return t.fail(ctx, nil, ownToken+"\nor name its authorization server in the entry: auth: {issuer: …}",
			"it requires authorization (401) and names no authorization server")
	}
	why := reason(err)
	var refused *oauthex.ClientRegistrationError
	if errors.As(err, &refused) {
		why = worded(refused.ErrorCode, refused.ErrorDescription)
	}
	return t.fail(ctx, err, registerFix, "the authorization server %s does not register toolx: %s", found.server.Issuer,
		why)
}
