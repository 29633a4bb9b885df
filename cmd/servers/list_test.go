package servers

import (
	"fmt"
	"strings"
	"testing"

	"toolx/pkg/config"
)

// TestSameServersAreCounted proves that what is said of servers which start the same grows with their number, not with
// its square (CFG-7): each names three, and counts the others.
func TestSameServersAreCounted(t *testing.T) {
	for _, test := range []struct {
		name    string
		servers int
		command []string
		address string
		note    string // of the last
	}{
		{"two", 2, []string{"x"}, "", "same as s0"},
		{"four", 4, []string{"x"}, "", "same as s0, s1, s2"},
		{"five addresses", 5, nil, "http://x.example/mcp", "same as s0, s1, s2 and 1 more"},
		{"many with arguments", 4000, []string{"x", "y"}, "", "same as s0, s1, s2 and 3996 more"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var rows []*serverRow
			for i := range test.servers {
				server := config.AdHoc(test.command, test.address, nil)
				server.Name = fmt.Sprintf("s%d", i)
				rows = append(rows, &serverRow{Name: server.Name, State: "ok", server: server})
			}
			findSame(rows)
			said := 0
			for _, row := range rows {
				said += len(row.notes())
			}
			if got := rows[len(rows)-1].notes(); got != test.note || said > 40*test.servers {
				t.Errorf("%q, %d bytes in all; want %q", got, said, test.note)
			}
			if got := rows[0].notes(); strings.Contains(got, "s0") {
				t.Errorf("the first is the same as itself: %q", got)
			}
		})
	}
}
