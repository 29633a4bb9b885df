//go:build unix

package trust

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStoreOfSomebodyElse believes nothing in a file that another user may have written.
func TestStoreOfSomebodyElse(t *testing.T) {
	folder := t.TempDir()
	store := Store{filepath.Join(folder, "trust.json")}
	refused := func(reason string) {
		t.Helper()
		grant, err := store.Find("/a")
		if grant != nil || err == nil || !strings.Contains(err.Error(), "is not used: "+reason) {
			t.Errorf("%v, %v; want %q", grant, err, reason)
		}
		if err := store.Add(t.Context(), Grant{Path: "/b"}); err == nil {
			t.Errorf("added to, although %s", reason)
		}
	}
	if err := store.Add(t.Context(), Grant{Path: "/a", SHA256: "1"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(store.Path, 0o666); err != nil {
		t.Fatal(err)
	}
	refused("everyone can write it (mode 0666)")
	if err := os.Chmod(store.Path, 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // else nobody else's files can be made
		if err := os.Chown(store.Path, 4711, -1); err != nil {
			t.Fatal(err)
		}
		refused("it belongs to another user (uid 4711)")
		if err := os.Chown(store.Path, 0, -1); err != nil {
			t.Fatal(err)
		}
	}
	if grant, err := store.Find("/a"); grant == nil || err != nil {
		t.Errorf("the user's own: %v, %v", grant, err)
	}
	if err := os.Rename(store.Path, filepath.Join(folder, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("elsewhere", store.Path); err != nil {
		t.Fatal(err)
	}
	refused("it is a link")
}
