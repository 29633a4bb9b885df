package config

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestRemoteServer proves what an entry says of a server that is reached by HTTP: files and programs count from the
// config's folder, and arguments are expanded.
func TestRemoteServer(t *testing.T) {
	loaded, err := loadText(t, "toolx.yaml", `servers:
  remote:
    url: https://example.com/mcp
    headers: {X-Team: "${TEAM}"}
    headersCommand: [./token.sh, --api-key, "${KEY}"]
    caCert: ca.pem
    clientCert: /etc/client.pem
    clientKey: ${KEYFILE:-client.key}
  other: {url: "https://example.com/mcp", headersHelper: "get-token --for me"}
`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := loaded.Servers[0].Resolve([]string{"TEAM=blue-team", "KEY=hush-hush"})
	if err != nil {
		t.Fatal(err)
	}
	folder := loaded.Servers[0].dir
	want := []string{filepath.Join(folder, "token.sh"), "--api-key", "hush-hush"}
	if !reflect.DeepEqual(got.HeadersCommand, want) {
		t.Errorf("headersCommand %q, want %q", got.HeadersCommand, want)
	}
	if got.CACert != filepath.Join(folder, "ca.pem") || got.ClientCert != "/etc/client.pem" ||
		got.ClientKey != filepath.Join(folder, "client.key") {
		t.Errorf("files %q %q %q", got.CACert, got.ClientCert, got.ClientKey)
	}
	if !slices.Contains(got.Secrets, "hush-hush") || got.Headers["X-Team"] != "blue-team" {
		t.Errorf("secrets %q, headers %q", got.Secrets, got.Headers)
	}
	other, err := loaded.Servers[1].Resolve(nil)
	if want := []string{"get-token", "--for", "me"}; err != nil || !reflect.DeepEqual(other.HeadersCommand, want) {
		t.Errorf("a command in one text: %q, %v", other.HeadersCommand, err)
	}
}

// TestHeadersCommandWithQuotes proves that a command for a shell is not taken apart.
func TestHeadersCommandWithQuotes(t *testing.T) {
	_, err := loadText(t, "toolx.yaml", "servers: {a: {url: \"https://a\", headersCommand: \"sh -c 'echo X: y'\"}}")
	if err == nil || !strings.Contains(err.Error(), "headersCommand: quotes have no effect") {
		t.Errorf("%v", err)
	}
}

// TestClientKeyNeedsItsCertificate proves that half a pair is told where it stands.
func TestClientKeyNeedsItsCertificate(t *testing.T) {
	_, err := loadText(t, "toolx.yaml", "servers: {a: {url: \"https://a\", clientKey: k.pem}}")
	if err == nil || !strings.Contains(err.Error(), "a clientKey needs a clientCert") {
		t.Errorf("%v", err)
	}
}
