package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestStore(t *testing.T) {
	store := Store{filepath.Join(t.TempDir(), "state", "trust.json")}
	if grants, err := store.List(); err != nil || grants != nil {
		t.Fatalf("%v, %v before anything was granted", grants, err)
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, sum := range []string{"1", "2"} {
		err := store.Add(t.Context(), Grant{Path: "/b", SHA256: sum, Time: at, Effects: []string{"runs <b>"}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Add(t.Context(), Grant{Path: "/a", SHA256: "3", Time: at}); err != nil {
		t.Fatal(err)
	}
	grants, err := store.List()
	if err != nil || len(grants) != 2 || grants[0].Path != "/a" || grants[1].SHA256 != "2" ||
		grants[1].Effects[0] != "runs <b>" {
		t.Fatalf("%+v, %v", grants, err)
	}
	if info, err := os.Stat(store.Path); err != nil || info.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
		t.Errorf("%v, %v", info, err)
	}
	for _, want := range []bool{true, false} {
		if found, err := store.Remove(t.Context(), "/b"); found != want || err != nil {
			t.Errorf("%v, %v; want %v", found, err, want)
		}
	}
	if grant, err := store.Find("/b"); grant != nil || err != nil {
		t.Errorf("%v, %v", grant, err)
	}
}

// TestStoreIsShared has many writers at once; every grant is kept.
func TestStoreIsShared(t *testing.T) {
	store := Store{filepath.Join(t.TempDir(), "trust.json")}
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			if err := store.Add(t.Context(), Grant{Path: fmt.Sprint(i)}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if grants, err := store.List(); len(grants) != 20 || err != nil {
		t.Errorf("%d grants, %v", len(grants), err)
	}
}

func TestStoreThatIsOfNoUse(t *testing.T) {
	folder := t.TempDir()
	damaged := Store{filepath.Join(folder, "damaged.json")}
	if err := os.WriteFile(damaged.Path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, store := range map[string]Store{
		"is damaged; remove it": damaged,
		"not a regular file":    {folder},
		"set HOME":              {},
	} {
		err := store.Add(t.Context(), Grant{Path: "/a"})
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
}
