package serve

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// Lines over the limit are skipped whole; the lines around them are not touched.
func TestReadRequests(t *testing.T) {
	const limit = 100_000
	fits := strings.Repeat("f", limit-1) + "\n"
	over := strings.Repeat("o", limit) + "\n"
	endless := strings.Repeat("o", 10*limit)
	for name, test := range map[string]struct {
		input string
		kept  []string // "" for a line that is too long
	}{
		"nothing":               {"", nil},
		"lines":                 {"a\n\nb\n", []string{"a\n", "\n", "b\n"}},
		"no newline at the end": {"a\nb", []string{"a\n", "b"}},
		"just fits":             {fits + "b\n", []string{fits, "b\n"}},
		"one byte over":         {"a\n" + over + "b\n", []string{"a\n", "", "b\n"}},
		"two of them":           {over + over + fits, []string{"", "", fits}},
		"without an end":        {"a\n" + endless, []string{"a\n", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			lines, ended := make(chan requestLine, 9), make(chan error, 1)
			ended <- readRequests(context.Background(), strings.NewReader(test.input), limit, lines)
			close(lines)
			var kept []string
			for line := range lines {
				kept = append(kept, string(line.bytes))
				if (line.tooLong > limit) != (line.bytes == nil) {
					t.Errorf("%d bytes kept of a line of %d", len(line.bytes), line.tooLong)
				}
			}
			if err := <-ended; err != nil || !slices.Equal(kept, test.kept) {
				t.Errorf("%.80q, %v; want %.80q", kept, err, test.kept)
			}
		})
	}
}

// The request on a line that is too long can be answered where its id stands before
// the large member, or behind everything.
func TestIDOfLongRequest(t *testing.T) {
	large := `{"id":99,"text":"` + strings.Repeat(`x,\"id\":98}`, 30_000) + `"}`
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":` + large + "}\n":      "5",
		`{"jsonrpc":"2.0","id":"five","method":"tools/call","params":` + large + "}\n": `"five"`,
		`{"method":"tools/call","params":` + large + `,"jsonrpc":"2.0","id":5}` + "\n": "5",
		`{"method":"tools/call","params":` + large + `, "id" : "five" } ` + "\r\n":     `"five"`,
		`{"method":"tools/call","params":` + large + `,"id":-5}`:                       "-5",
		`{"jsonrpc":"2.0","method":"notifications/x","params":` + large + "}\n":        "",
		`{"jsonrpc":"2.0","id":null,"method":"x","params":` + large + "}\n":            "",
		`{"jsonrpc":"2.0","id":[1],"method":"x","params":` + large + "}\n":             "",
		`[{"id":5,"params":` + large + "}]\n":                                          "",
		`{"params":"` + strings.Repeat("x", 300_000) + `,\"id\":5}` + "\n":             "",
		strings.Repeat("x", 300_000):                                                   "",
		`{"id":` + strings.Repeat("5", 300_000):                                        "",
	} {
		for _, limit := range []int64{1000, 65_536, 65_540, int64(len(line)) - 1} {
			got, err := readRequest(bufio.NewReaderSize(strings.NewReader(line), 64<<10), limit)
			if err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			if string(got.id) != want || got.tooLong != int64(len(line)) {
				t.Errorf("%.60q… with limit %d: id %.60q of %d bytes, want %q of %d",
					line, limit, got.id, got.tooLong, want, len(line))
			}
		}
	}
}
