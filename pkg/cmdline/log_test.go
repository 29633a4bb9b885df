package cmdline

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestLinesSince has a log to which several starts have written.
func TestLinesSince(t *testing.T) {
	since := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct{ lines, want []string }{
		{nil, nil},
		{[]string{"no time"}, []string{"no time"}},
		{
			[]string{"2026-03-01T11:59:00.123Z old", "    at its stack", "2026-03-01T12:00:00.5Z new", "    at the stack"},
			[]string{"2026-03-01T12:00:00.5Z new", "    at the stack"},
		},
		{
			[]string{"[2026-03-01 12:59:00+02:00] old", "[2026-03-01 14:00:01+0200] new"},
			[]string{"[2026-03-01 14:00:01+0200] new"},
		},
		{
			[]string{`{"time":1772366340000,"msg":"old"}`, `{"time":1772366400000,"msg":"new"}`},
			[]string{`{"time":1772366400000,"msg":"new"}`},
		},
		{[]string{"2026-02-27 12:00:00 old", "2026-03-03 12:00:00 new"}, []string{"2026-03-03 12:00:00 new"}},
	} {
		if got := linesSince(test.lines, since); !slices.Equal(got, test.want) {
			t.Errorf("of %q: %q, want %q", test.lines, got, test.want)
		}
	}
}

// TestOwnLog looks for the log of a package beside its code, and in the folder of its name in the user's home.
func TestOwnLog(t *testing.T) {
	for _, place := range []string{"package/logs/a.log", "home/.shop-mcp/shop.log", "home/.shop-mcp/logs/b.log"} {
		top := t.TempDir()
		want := filepath.Join(top, filepath.FromSlash(place))
		if err := os.MkdirAll(filepath.Dir(want), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(want, []byte("no config\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		found := NodePackage{Folder: filepath.Join(top, "package"), Name: "@acme/shop-mcp"}
		log, lines := found.OwnLog([]string{"HOME=" + filepath.Join(top, "home")}, time.Time{})
		if log != want || !slices.Equal(lines, []string{"no config"}) {
			t.Errorf("%s: log %q, lines %q", place, log, lines)
		}
		if log, _ := found.OwnLog(nil, time.Now().Add(time.Hour)); log != "" {
			t.Errorf("%s: an old log: %q", place, log)
		}
	}
}
