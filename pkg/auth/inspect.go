package auth

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"toolx/pkg/config"
)

// Fault is a problem with the documents in which clients read where and how to log in to a server.
type Fault struct {
	// URL is the document's address, or the first possible one if there is no document.
	URL string
	// Field is the member of the document; empty for the document as a whole.
	Field string
	// Problem describes the problem, and may quote the document.
	Problem string
	// Unsaid reports whether there is no document and no reference to one: a server whose tokens are issued by hand
	// needs none.
	Unsaid bool
	// ByHand reports whether clients must be registered by hand before they can log in. That is allowed, but excludes
	// clients without a setting for their id.
	ByHand bool
}

// inspectTime is how long each document may take.
const inspectTime = 3 * time.Second

// maxInspected limits the authorization servers of one resource that are inspected.
const maxInspected = 4

// Inspect reads the metadata of a server that has refused a request, as a client without a token does, and returns all
// problems: with the protected resource's document (RFC 9728), and with the document of each authorization server that
// it names, in either form (RFC 8414, OpenID Connect Discovery), by the rules of MCP's chapter on authorization. header
// is that of the refusal. It only requests these documents.
//
// It returns nil if there are no problems, if the server requires another kind of login than a bearer token, and if ctx
// ends first.
func Inspect(ctx context.Context, base http.RoundTripper, options Options, header http.Header) []Fault {
	asked := readChallenge(&http.Response{StatusCode: http.StatusUnauthorized, Header: header})
	c, err := newClient(base, options)
	if err != nil || asked == nil {
		return nil
	}
	c.exchangeTimeout = inspectTime
	i := &inspection{discovery: c.discovery}
	i.all(ctx, asked)
	if ctx.Err() != nil {
		return nil
	}
	return i.faults
}

// inspection reads documents and collects faults.
type inspection struct {
	*discovery
	faults []Fault
}

func (i *inspection) found(url, field, format string, args ...any) {
	i.faults = append(i.faults, Fault{URL: url, Field: field, Problem: fmt.Sprintf(format, args...)})
}

// all checks the documents in the order in which a client reads them.
func (i *inspection) all(ctx context.Context, asked *challenge) {
	place, resource, missing := i.resourceDocument(ctx, asked)
	if resource == nil {
		i.withoutResource(ctx, asked, place, missing)
		return
	}
	i.resourceFields(place, resource)
	for _, issuer := range issuersIn(resource) {
		if i.trusted(issuer) == nil { // otherwise already a fault
			i.issuer(ctx, issuer)
		}
	}
}

// document is a document with undecoded members: one with a wrong type must not hide others.
type document map[string]json.RawMessage

// resourceDocument reads the resource's document. If the server names one, it must exist; if it does not, the
// well-known addresses may still have it.
func (i *inspection) resourceDocument(
	ctx context.Context, asked *challenge,
) (place string, read document, missing string) {
	if asked.metadata != "" {
		read, missing = i.read(ctx, asked.metadata)
		if read != nil {
			return asked.metadata, read, ""
		}
		i.found(asked.metadata, "", "resource_metadata in WWW-Authenticate names this address: %s", missing)
	}
	return i.first(ctx, i.resourceMetadataPlaces())
}

// withoutResource checks a server without a document: until revision 2025-03-26 it was its own authorization server.
func (i *inspection) withoutResource(ctx context.Context, asked *challenge, place, missing string) {
	own := origin(i.address)
	at, server, _ := i.first(ctx, serverMetadataPlaces(own))
	switch {
	case server != nil:
		if asked.metadata == "" { // otherwise its absence is already a fault
			i.found(place, "", "there is none (%s), and clients of 2025-06-18 or later start there", missing)
		}
		i.issuerFields(own, at, server)
	case asked.metadata == "":
		i.faults = append(i.faults, Fault{URL: place, Unsaid: true, Problem: "there is none: " + missing})
	}
}

// resourceFields checks the resource's document (RFC 9728 2 and 3.3).
func (i *inspection) resourceFields(place string, read document) {
	switch resource, ok := textIn(read, "resource"); {
	case !ok:
		i.found(place, "resource", "is missing or not a string")
	case !i.covers(resource):
		i.found(place, "resource", "is %q, not the server's url %q", resource, i.resource())
	}
	issuers := issuersIn(read)
	if len(issuers) == 0 {
		i.found(place, "authorization_servers", "is missing or empty")
	}
	for _, issuer := range issuers {
		if err := i.trusted(issuer); err != nil {
			i.found(place, "authorization_servers", "%v", err)
		}
	}
}

// issuersIn returns the first authorization servers that a resource's document names.
func issuersIn(read document) []string {
	issuers, _ := listIn(read, "authorization_servers")
	return issuers[:min(len(issuers), maxInspected)]
}

// issuer checks the document of an authorization server.
func (i *inspection) issuer(ctx context.Context, issuer string) {
	place, read, missing := i.first(ctx, serverMetadataPlaces(issuer))
	if read == nil {
		i.found(place, "", "the authorization server %s has no metadata: %s", issuer, missing)
		return
	}
	i.issuerFields(issuer, place, read)
}

// issuerFields checks what every client needs from an authorization server (RFC 8414 2 and 3.3; MCP requires PKCE with
// S256, and that the document says so).
func (i *inspection) issuerFields(issuer, place string, read document) {
	switch said, ok := textIn(read, "issuer"); {
	case !ok:
		i.found(place, "issuer", "is missing or not a string")
	case !sameIssuer(said, issuer):
		i.found(place, "issuer", "is %q, not the requested issuer %q", said, issuer)
	}
	switch methods, ok := listIn(read, "code_challenge_methods_supported"); {
	case !ok:
		i.found(place, "code_challenge_methods_supported", "is missing: clients must treat that as no PKCE support")
	case !slices.Contains(methods, "S256"):
		i.found(place, "code_challenge_methods_supported", "has no S256: %s", strings.Join(methods, ", "))
	}
	if _, ok := listIn(read, "response_types_supported"); !ok {
		i.found(place, "response_types_supported", "is missing or not a list of strings")
	}
	required := []string{"token_endpoint"}
	grants, ok := listIn(read, "grant_types_supported")
	if !ok || slices.Contains(grants, config.GrantAuthorizationCode) {
		required = append(required, "authorization_endpoint")
		i.registration(place, read)
	}
	for _, field := range required {
		if _, ok := textIn(read, field); !ok {
			i.found(place, field, "is missing or not a string")
		}
	}
	for _, field := range []string{
		"authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint",
	} {
		if endpoint, ok := textIn(read, field); ok {
			if err := i.trusted(endpoint); err != nil {
				i.found(place, field, "%v", err)
			}
		}
	}
}

// registration checks how clients can register (MCP 2025-11-25, Client Registration Approaches): most clients have no
// id and need one of these two ways.
func (i *inspection) registration(place string, read document) {
	var documents bool
	_ = json.Unmarshal(read["client_id_metadata_document_supported"], &documents) // else false
	_, registers := textIn(read, "registration_endpoint")
	if registers || documents || i.options.Auth.ClientID != "" {
		return
	}
	i.faults = append(i.faults, Fault{
		URL: place, Field: "registration_endpoint", ByHand: true,
		Problem: "is missing, and client_id_metadata_document_supported is not true: " +
			"each client must be registered by hand",
	})
}

// first reads a document at the first of its addresses that has it. If none does, place is the first one, and missing
// describes all responses.
func (i *inspection) first(ctx context.Context, places []string) (place string, read document, missing string) {
	var answers []string
	for _, place := range places {
		read, missing := i.read(ctx, place)
		if read != nil {
			return place, read, ""
		}
		if len(answers) > 0 {
			missing = place + ": " + missing
		}
		answers = append(answers, missing)
	}
	if len(places) == 0 {
		return "", nil, "it is not an address"
	}
	return places[0], nil, strings.Join(answers, "; ")
}

// read reads one document; if there is none, missing is the reason.
func (i *inspection) read(ctx context.Context, place string) (read document, missing string) {
	if err := i.trusted(place); err != nil {
		return nil, err.Error()
	}
	missing, err := i.getJSON(ctx, place, &read)
	switch {
	case err != nil:
		return nil, metadataReason(err)
	case missing == "" && read == nil:
		return nil, "it is null"
	}
	return read, missing
}

// textIn returns a member that is a non-empty string.
func textIn(read document, name string) (text string, ok bool) {
	return text, json.Unmarshal(read[name], &text) == nil && text != ""
}

// listIn returns a member that is a list of strings.
func listIn(read document, name string) (list []string, ok bool) {
	return list, json.Unmarshal(read[name], &list) == nil && list != nil
}
