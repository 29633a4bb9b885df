package keyring

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	system "github.com/zalando/go-keyring"
)

// withKeyring gives the test a keyring, in memory.
func withKeyring(t *testing.T) {
	t.Helper()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent") // the real one is never asked
	system.MockInit()
}

// wantStored sets, gets, lists and removes secrets of a Store.
func wantStored(t *testing.T, store Store, inKeyring bool) {
	t.Helper()
	for _, one := range [][2]string{{"b", "old"}, {"a", "secret-a"}, {"b", "secret-b"}} {
		ring, err := store.Set(t.Context(), one[0], one[1])
		if err != nil || ring != inKeyring {
			t.Fatalf("set %q: in the keyring %v, %v", one, ring, err)
		}
	}
	if names, err := store.Names(); err != nil || !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("names %q, %v", names, err)
	}
	if secret, err := store.Get(t.Context(), "b"); err != nil || secret != "secret-b" {
		t.Errorf("b is %q, %v", secret, err)
	}
	text, err := os.ReadFile(store.Path)
	if err != nil || strings.Contains(string(text), "secret-b") == inKeyring {
		t.Errorf("%v, the file has\n%s", err, text)
	}
	info, err := os.Stat(store.Path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, mode %v", err, info.Mode())
	}
	if err := store.Remove(t.Context(), "b"); err != nil {
		t.Error(err)
	}
	for _, wrong := range []error{second(store.Get(t.Context(), "b")), store.Remove(t.Context(), "b")} {
		if !errors.Is(wrong, fs.ErrNotExist) {
			t.Errorf("a secret that was removed: %v", wrong)
		}
	}
}

func second(_ string, err error) error { return err }

func TestStoreInKeyring(t *testing.T) {
	withKeyring(t)
	wantStored(t, Store{Path: filepath.Join(t.TempDir(), "s.json")}, true)
}

func TestStoreWithoutKeyring(t *testing.T) {
	withKeyring(t)
	wantStored(t, Store{Path: filepath.Join(t.TempDir(), "s.json"), Ring: Ring{Off: true}}, false)
	system.MockInitWithError(system.ErrSetDataTooBig)
	store := Store{Path: filepath.Join(t.TempDir(), "s.json")}
	if ring, err := store.Set(t.Context(), "a", "long"); ring || err != nil {
		t.Errorf("a keyring that refuses: %v, %v", ring, err)
	}
}

// What the file says is in the keyring is not taken for absent where no keyring answers.
func TestStoreWhoseKeyringIsGone(t *testing.T) {
	withKeyring(t)
	store := Store{Path: filepath.Join(t.TempDir(), "s.json")}
	if _, err := store.Set(t.Context(), "a", "secret"); err != nil {
		t.Fatal(err)
	}
	store.Ring.Off = true
	if _, err := store.Get(t.Context(), "a"); !errors.Is(err, ErrNone) {
		t.Errorf("got %v", err)
	}
	if err := store.Remove(t.Context(), "a"); !errors.Is(err, ErrNone) {
		t.Errorf("removed: %v", err)
	}
	if names, _ := store.Names(); !slices.Equal(names, []string{"a"}) {
		t.Errorf("names %q", names)
	}
}

func TestStoreThatIsDamaged(t *testing.T) {
	withKeyring(t)
	store := Store{Path: filepath.Join(t.TempDir(), "s.json")}
	if err := os.WriteFile(store.Path, []byte("[1]"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, names := store.Names()
	_, set := store.Set(t.Context(), "a", "x")
	for _, err := range []error{names, set, second(store.Get(t.Context(), "a"))} {
		if err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("got %v", err)
		}
	}
	if text, _ := os.ReadFile(store.Path); string(text) != "[1]" {
		t.Errorf("the file was replaced by %s", text)
	}
	if _, err := (Store{}).Set(t.Context(), "a", "x"); err == nil {
		t.Error("a store without a path takes a secret")
	}
}
