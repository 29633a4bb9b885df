package config

import (
	"errors"
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

func TestAuthThatCannotWork(t *testing.T) {
	for _, test := range []struct{ name, entry, want string }{
		{"no id", "url: https://a\n    auth: {grant: client_credentials, clientSecret: abcd}", "client_credentials needs a clientId"},
		{"no secret", "url: https://a\n    auth: {grant: client_credentials, clientId: a}", "client_credentials needs a clientSecret"},
		{"a secret of nobody", "url: https://a\n    auth: {clientSecret: abcd}", "a clientSecret needs a clientId"},
		{"a program", "command: a\n    auth: {clientId: a}", "auth needs a url"},
		{"another grant", "url: https://a\n    auth: {grant: password}", "unknown value 'password'"},
		{"a port that is none", "url: https://a\n    auth: {redirectPort: 70000}", "the most is 65535"},
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
	loaded, err := loadText(t, "toolx.yaml", "servers:\n  remote:\n    url: https://a\n    auth: {clientId: a, clientSecret: \"${NOT_SET}\"}\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loaded.Servers[0].Resolve(nil); err == nil || !strings.Contains(err.Error(), "NOT_SET (auth.clientSecret") {
		t.Errorf("error %v", err)
	}
}
