package auth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	system "github.com/zalando/go-keyring"

	"toolx/pkg/keyring"
)

// withKeyring gives the test a keyring, in memory.
func withKeyring(t *testing.T) {
	t.Helper()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent") // the real one is never asked
	system.MockInit()
}

// With a keyring no secret is in a file.
func TestKeyring(t *testing.T) {
	withKeyring(t)
	w := newWorld(t)
	w.method = methodBasic // a secret of the client as well
	dir := t.TempDir()
	options := w.options()
	options.Store = NewStore(dir, true)
	status, err := Login(t.Context(), http.DefaultTransport, options)
	if err != nil || !status.Keyring {
		t.Fatalf("status %+v, %v", status, err)
	}
	wantNoSecret(t, dir)
	w.expire()
	w.wantServed(Transport(http.DefaultTransport, options), "")
	wantNoSecret(t, dir)
	if len(w.visits) != 1 {
		t.Errorf("%d logins", len(w.visits))
	}
	if _, err := Logout(t.Context(), http.DefaultTransport, options); err != nil {
		t.Fatal(err)
	}
	if left, err := system.Get(keyring.Service, account(w.url(), w.issuer())); !errors.Is(err, system.ErrNotFound) {
		t.Errorf("the keyring still has %d bytes, %v", len(left), err)
	}
}

// What a person removed from the keyring is as if it had never been.
func TestKeyringThatWasEmptied(t *testing.T) {
	withKeyring(t)
	w := newWorld(t)
	options := w.options()
	options.Store = NewStore(t.TempDir(), true)
	w.wantServed(Transport(http.DefaultTransport, options), "")
	system.MockInit()
	w.wantServed(Transport(http.DefaultTransport, options), "")
	if len(w.visits) != 2 {
		t.Errorf("%d logins", len(w.visits))
	}
}

// A keyring that takes nothing (a token too long, no desktop) leaves the file.
func TestKeyringThatRefuses(t *testing.T) {
	withKeyring(t)
	system.MockInitWithError(system.ErrSetDataTooBig)
	w := newWorld(t)
	options := w.options()
	options.Store = NewStore(t.TempDir(), true)
	status, err := Login(t.Context(), http.DefaultTransport, options)
	if err != nil || status.Keyring {
		t.Fatalf("status %+v, %v", status, err)
	}
	w.wantServed(Transport(http.DefaultTransport, options), "")
	if len(w.visits) != 1 {
		t.Errorf("%d logins", len(w.visits))
	}
}

// A server without a login costs no look into the keyring.
func TestNoFileNoKeyring(t *testing.T) {
	withKeyring(t)
	system.MockInitWithError(errors.New("asked"))
	grant, err := NewStore(t.TempDir(), true).load(t.Context(), "https://example.com/mcp", "")
	if grant != nil || err != nil {
		t.Errorf("grant %+v, %v", grant, err)
	}
}

func wantNoSecret(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("files %q, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || strings.Contains(string(text), sentinel) {
			t.Errorf("%s: a secret, or %v", file, err)
		}
	}
}

func TestTrusted(t *testing.T) {
	for _, test := range []struct {
		server, address string
		want            bool
	}{
		{"https://example.com/mcp", "https://login.example.com/x", true},
		{"https://example.com/mcp", "http://login.example.com/x", false},
		{"https://example.com/mcp", "http://127.0.0.1:80/x", false},
		{"https://example.com/mcp", "https://localhost/x", false},
		{"https://example.com/mcp", "https://169.254.169.254/x", false},
		{"https://example.com/mcp", "https://[::ffff:10.0.0.1]/x", false},
		{"https://10.0.0.1/mcp", "https://10.0.0.1:8443/x", true},
		{"http://localhost:3000/mcp", "http://127.0.0.1:9000/x", true},
		{"http://[::1]:3000/mcp", "http://localhost:9000/x", true},
		{"http://localhost:3000/mcp", "http://example.com/x", false},
		{"https://example.com/mcp", "file:///etc/passwd", false},
		{"https://example.com/mcp", "javascript:alert(1)", false},
		{"https://example.com/mcp", "%", false},
	} {
		c := &discovery{&settings{address: parsed(t, test.server)}}
		if err := c.trusted(test.address); (err == nil) != test.want {
			t.Errorf("%s sends to %s: %v", test.server, test.address, err)
		}
	}
}

func TestCovers(t *testing.T) {
	for _, test := range []struct {
		server, resource string
		want             bool
	}{
		{"https://example.com/a/mcp", "https://example.com/a/mcp", true},
		{"https://example.com/a/mcp", "https://example.com/a/mcp/", true},
		{"https://example.com/a/mcp", "https://EXAMPLE.com:443/a", true},
		{"https://example.com/a/mcp", "https://example.com", true},
		{"https://example.com/a/mcp", "https://example.com/a/mcp2", false},
		{"https://example.com/a/mcp", "https://example.com/a/mc", false},
		{"https://example.com/a/mcp", "https://example.com/b", false},
		{"https://example.com/a/mcp", "http://example.com/a/mcp", false},
		{"https://example.com/a/mcp", "https://example.com:8443/a/mcp", false},
		{"https://example.com/a/mcp", "https://other.example.com/a/mcp", false},
	} {
		c := &discovery{&settings{address: parsed(t, test.server)}}
		if got := c.covers(test.resource); got != test.want {
			t.Errorf("%s covers %s: %v", test.resource, test.server, got)
		}
	}
}

func parsed(t *testing.T, address string) *url.URL {
	t.Helper()
	got, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Only web addresses reach a program of the system, and none as a flag.
func TestOpenBrowserRefuses(t *testing.T) {
	for _, address := range []string{"", "--version", "file:///etc/passwd", "javascript:alert(1)", "vscode://x"} {
		if OpenBrowser(context.Background(), address) == nil {
			t.Errorf("%q was opened", address)
		}
	}
	for system, want := range map[string]string{
		"linux":   "xdg-open",
		"freebsd": "xdg-open",
		"darwin":  "open",
		"windows": "rundll32",
	} {
		if got := opener(system); got[0] != want {
			t.Errorf("%s opens with %s", system, got)
		}
	}
	for given, want := range map[string]string{
		"firefox":                    "firefox URL",
		"firefox --new-window %s -x": "firefox --new-window URL -x",
	} {
		if got := strings.Join(withAddress(strings.Fields(given), "URL"), " "); got != want {
			t.Errorf("%q becomes %q", given, got)
		}
	}
	t.Setenv("BROWSER", filepath.Join(t.TempDir(), "none"))
	if OpenBrowser(context.Background(), "https://example.com") == nil {
		t.Error("a program that is not there was started")
	}
	t.Setenv("BROWSER", os.Args[0]+" -no-such-flag")
	if err := OpenBrowser(context.Background(), "https://example.com"); err == nil ||
		!strings.Contains(err.Error(), "failed: exit status 2") {
		t.Errorf("a program that failed: %v", err)
	}
}

// TestStoreThatIsNoFolder tells of a file in the place of the Store's folder.
func TestStoreThatIsNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "auth")
	if NewStore(file, false).Check() != nil {
		t.Error("a folder that is not there is wrong")
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	addresses, damaged := NewStore(file, false).Servers()
	if len(addresses) != 0 || len(damaged) != 1 || damaged[0].Error() != file+" is damaged: it is not a folder" {
		t.Errorf("%v, %v", addresses, damaged)
	}
}
