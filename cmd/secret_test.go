package cmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adrg/xdg"
	system "github.com/zalando/go-keyring"

	"toolx/cmd/cli"
	"toolx/cmd/person"
	"toolx/pkg/fault"
)

// With a keyring, no secret is in a file, and the config gets it from there.
func TestSecretInKeyring(t *testing.T) {
	t.Cleanup(xdg.Reload)                                          // after the variables are what they were
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent") // the real one is never asked
	t.Setenv("TOOLX_KEYRING", "")
	system.MockInit()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	xdg.Reload()
	c, _, stderr := buffered("sentinel-7\n")
	if code := Main(c, []string{"secret", "set", "github"}); code != 0 ||
		!strings.Contains(stderr.String(), "stored in the keyring") {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	text, err := os.ReadFile(filepath.Join(xdg.StateHome, "toolx", "secrets.json"))
	if err != nil || strings.Contains(string(text), "sentinel") || !strings.Contains(string(text), "github") {
		t.Errorf("%v, the file has\n%s", err, text)
	}
	sources := person.NewSources(&person.Keyboard{}, &cli.Flags{})
	if secret, err := sources.Keyring("github"); secret != "sentinel-7" || err != nil {
		t.Errorf("github is %q, %v", secret, err)
	}
	if _, err := sources.Keyring("nope"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nope: %v", err)
	}
	// Where the keyring is not, its secret is not taken for absent.
	t.Setenv("TOOLX_KEYRING", "off")
	if _, err := sources.Keyring("github"); err == nil || errors.Is(err, fs.ErrNotExist) ||
		fault.HintOf(err) == "" {
		t.Errorf("without the keyring: %v", err)
	}
}
