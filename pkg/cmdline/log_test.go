package cmdline

import (
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
