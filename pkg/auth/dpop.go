package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// A token can be bound to a key (DPoP, RFC 9449): each request must then also be signed, so that a stolen token is
// useless. toolx does this if the server requires it, with a key for each grant.

// nonceHeader is the header in which both servers send the nonce for the next proof.
const nonceHeader = "DPoP-Nonce"

// bindingKey makes the key for a grant, in the form that a Store keeps.
func bindingKey() (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(der), nil
}

var errBindingKey = errors.New("the key that the token is bound to is damaged")

func readBindingKey(text string) (*ecdsa.PrivateKey, error) {
	der, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, errBindingKey
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	key, is := parsed.(*ecdsa.PrivateKey)
	if err != nil || !is || key.Curve != elliptic.P256() {
		return nil, errBindingKey
	}
	return key, nil
}

// prove adds the proof that the sender of req has the key (RFC 9449 4.2). token is the request's token, empty at a
// token endpoint; nonce is the one that the server requires, if any.
func prove(req *http.Request, keyText, token, nonce string) error {
	key, err := readBindingKey(keyText)
	if err != nil {
		return err
	}
	public, err := key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		return errBindingKey
	}
	claims := jwt.MapClaims{"jti": rand.Text(), "htm": req.Method, "htu": target(req.URL), "iat": time.Now().Unix()}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		claims["ath"] = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	if nonce != "" {
		claims["nonce"] = nonce
	}
	proof := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
	proof.Header["typ"] = "dpop+jwt"
	half := (len(public) - 1) / 2
	proof.Header["jwk"] = map[string]string{
		"kty": "EC", "crv": "P-256",
		"x": base64.RawURLEncoding.EncodeToString(public[1 : 1+half]),
		"y": base64.RawURLEncoding.EncodeToString(public[1+half:]),
	}
	signed, err := proof.SignedString(key)
	if err != nil {
		return errBindingKey
	}
	req.Header.Set("DPoP", signed)
	return nil
}

// target returns the address in a proof: without query and fragment.
func target(address *url.URL) string {
	plain := *address
	plain.RawQuery, plain.Fragment, plain.RawFragment, plain.User, plain.ForceQuery = "", "", "", nil, false
	return plain.String()
}

// prover adds proofs to requests to a token endpoint.
type prover struct {
	base  http.RoundTripper
	key   string
	nonce string
}

// RoundTrip implements http.RoundTripper.
func (p *prover) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	if err := prove(req, p.key, "", p.nonce); err != nil {
		return nil, err
	}
	return p.base.RoundTrip(req)
}

// wantedNonce returns the nonce that a token endpoint requires, if it refused a proof without it (RFC 9449 8);
// otherwise empty.
func wantedNonce(err error) string {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) || refused.ErrorCode != "use_dpop_nonce" || refused.Response == nil {
		return ""
	}
	return refused.Response.Header.Get(nonceHeader)
}

// sendBound sends a request with a token that is bound to a key, and again if the server requires another nonce (RFC
// 9449 9).
func (c *client) sendBound(copies func() *http.Request, grant *Grant) (*http.Response, error) {
	for again := false; ; again = true {
		req := copies()
		if err := prove(req, grant.secrets.Key, grant.secrets.Access, c.now().nonce); err != nil {
			return nil, c.needLogin(err.Error(), nil)
		}
		req.Header.Set("Authorization", "DPoP "+grant.secrets.Access)
		resp, err := c.base.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		if told := resp.Header.Get(nonceHeader); told != "" {
			c.note(func(s *clientState) { s.nonce = told })
		}
		if again || !wantsNonce(resp) {
			return resp, nil
		}
		drain(resp)
	}
}

// wantsNonce reports whether a server refuses a request only because of the nonce in its proof.
func wantsNonce(resp *http.Response) bool {
	if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get(nonceHeader) == "" {
		return false
	}
	offered, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	return err == nil && slices.ContainsFunc(offered, func(one oauthex.Challenge) bool {
		return strings.EqualFold(one.Scheme, "dpop") && one.Params["error"] == "use_dpop_nonce"
	})
}
