package config

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestAuthIsReadExpandedAndMasked(t *testing.T) {
	loaded, err := loadText(t, "toolx.yaml", `servers:
  remote:
    url: https://example.com/mcp
    auth:
      grant: client_credentials
      clientId: ${ID}
      client_secret: sentinel-${TAIL}
      clientMetadataUrl: https://example.com/client.json
      scopes: [read, "${MORE:-write}"]
      issuer: https://login.example.com
      redirectPort: 7777
`)
	if err != nil {
		t.Fatal(err)
	}
	if len(loaded.Warnings) > 0 {
		t.Errorf("warnings: %v", loaded.Warnings)
	}
	resolved, err := loaded.Servers[0].Resolve([]string{"ID=client", "TAIL=secret"})
	if err != nil {
		t.Fatal(err)
	}
	want := &Auth{
		Grant: GrantClientCredentials, ClientID: "client", ClientSecret: "sentinel-secret",
		ClientMetadataURL: "https://example.com/client.json", Scopes: []string{"read", "write"},
		Issuer: "https://login.example.com", RedirectPort: 7777,
	}
	if !reflect.DeepEqual(resolved.Auth, want) {
		t.Errorf("auth is %+v, want %+v", resolved.Auth, want)
	}
	if !slices.Contains(resolved.Secrets, "sentinel-secret") {
		t.Errorf("the client's secret is not masked: %q", resolved.Secrets)
	}
	if loaded.Servers[0].Auth.ClientID != "${ID}" {
		t.Error("resolving changed the entry")
	}
}

// A private key is a secret in all the ways in which it can be written, and its file is found beside the config.
func TestAuthWithAPrivateKey(t *testing.T) {
	loaded, err := loadText(t, "toolx.yaml", `servers:
  remote: {url: "https://a", auth: {grant: client_credentials, clientId: a, privateKey: "${KEY}", keyId: "k-${N}", assertionAudience: "https://${N}"}}
  filed: {url: "https://a", auth: {clientId: a, privateKeyFile: "${N}.pem"}}
  vouched: {url: "https://a", auth: {grant: jwt_bearer, identityToken: "${VOUCHED}", identityProvider: {issuer: "https://${VOUCHED}", clientId: c, clientSecret: hush-hush}}}
  projected: {url: "https://a", auth: {grant: jwt_bearer, identityTokenFile: "${N}.jwt"}}
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"-----BEGIN PRIVATE KEY-----\nfirst/line\nsecond+line\n-----END PRIVATE KEY-----\n", `-----BEGIN PRIVATE KEY-----\nfirst/line\nsecond+line\n-----END PRIVATE KEY-----`} {
		resolved, err := loaded.Servers[0].Resolve([]string{"KEY=" + key, "N=7"})
		if err != nil {
			t.Fatal(err)
		}
		if auth := resolved.Auth; auth.PrivateKey != key || auth.KeyID != "k-7" ||
			auth.AssertionAudience != "https://7" {
			t.Errorf("auth is %+v", auth)
		}
		for _, secret := range []string{key, "first/line", "second+line"} {
			if !slices.Contains(resolved.Secrets, secret) {
				t.Errorf("%q is not masked: %q", secret, resolved.Secrets)
			}
		}
	}
	resolved, err := loaded.Servers[1].Resolve([]string{"N=7"})
	if err != nil {
		t.Fatal(err)
	}
	if path := resolved.Auth.PrivateKeyFile; !filepath.IsAbs(path) || filepath.Base(path) != "7.pem" {
		t.Errorf("the key is in %s", path)
	}
	if resolved, err = loaded.Servers[2].Resolve([]string{"VOUCHED=e30.e30.x"}); err != nil ||
		!slices.Contains(resolved.Secrets, "e30.e30.x") ||
		!slices.Contains(resolved.Secrets, "hush-hush") || resolved.Auth.Provider.Issuer != "https://e30.e30.x" {
		t.Errorf("the identity token is not masked, or its provider lost: %+v, %v", resolved.Auth.Provider, err)
	}
	if resolved, err = loaded.Servers[3].Resolve([]string{"N=7"}); err != nil ||
		!filepath.IsAbs(resolved.Auth.IdentityTokenFile) {
		t.Errorf("the identity token is in %q, %v", resolved.Auth.IdentityTokenFile, err)
	}
}

func TestAuthThatCannotWork(t *testing.T) {
	for _, test := range []struct{ name, entry, want string }{
		{"no id", "url: https://a\n    auth: {grant: client_credentials, clientSecret: abcd}", "client_credentials needs a clientId"},
		{"no secret", "url: https://a\n    auth: {grant: client_credentials, clientId: a}", "client_credentials needs a clientSecret"},
		{"a key of nobody", "url: https://a\n    auth: {privateKey: abcd}", "a private key needs a clientId"},
		{"a key twice", "url: https://a\n    auth: {clientId: a, privateKey: abcd, privateKeyFile: f}", "both privateKey and privateKeyFile are set"},
		{"a key and a secret", "url: https://a\n    auth: {clientId: a, privateKeyFile: f, clientSecret: abcd}", "both clientSecret and a private key are set"},
		{"the id of no key", "url: https://a\n    auth: {clientId: a, keyId: k}", "need a private key"},
		{"nobody vouches", "url: https://a\n    auth: {grant: jwt_bearer}", "needs either an identityTokenFile or an identityToken"},
		{"two vouch", "url: https://a\n    auth: {grant: jwt_bearer, identityToken: abcd, identityTokenFile: f}", "needs either"},
		{"an identity token of no grant", "url: https://a\n    auth: {identityToken: abcd}", "need the grant jwt_bearer"},
		{"half a provider", "url: https://a\n    auth: {grant: jwt_bearer, identityToken: abcd, identityProvider: {issuer: \"https://b\"}}", "needs an issuer and a clientId"},
		{"a secret of nobody", "url: https://a\n    auth: {clientSecret: abcd}", "a clientSecret needs a clientId"},
		{"a program", "command: a\n    auth: {clientId: a}", "auth needs a url"},
		{"another grant", "url: https://a\n    auth: {grant: password}", "unknown value 'password'"},
		{"a port that is none", "url: https://a\n    auth: {redirectPort: 70000}", "the maximum is 65535"},
		{"no mapping", "url: https://a\n    auth: yes please", "expected a mapping"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := loadText(t, "toolx.yaml", "servers:\n  remote:\n    "+test.entry+"\n")
			var wrong *Error
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// An unset variable of auth is told as those of other keys are.
func TestAuthWithAnUnsetVariable(t *testing.T) {
	loaded, err := loadText(t, "toolx.yaml",
		"servers:\n  remote:\n    url: https://a\n    auth: {clientId: a, clientSecret: \"${NOT_SET}\"}\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loaded.Servers[0].Resolve(nil); err == nil ||
		!strings.Contains(err.Error(), "NOT_SET (auth.clientSecret") {
		t.Errorf("error %v", err)
	}
}
