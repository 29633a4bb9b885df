package cause

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestOf reads testdata/causes.txtar: output that runtimes and libraries write, after a line with the kind and the
// sentence that it has to get; that line is empty for output that says nothing. \e stands for an escape.
func TestOf(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/causes.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range archive.Files {
		t.Run(file.Name, func(t *testing.T) {
			want, output, _ := strings.Cut(string(file.Data), "\n")
			output = strings.ReplaceAll(output, `\e`, "\x1b")
			got := ""
			c := Of(Output{Stderr: strings.Split(output, "\n")})
			if c != nil {
				got = string(c.Kind) + ": " + c.What
			}
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if c != nil && c.Kind != Said && len(c.Fixes) == 0 {
				t.Error("nothing is said about what to do")
			}
		})
	}
}
