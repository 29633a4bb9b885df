package result

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestPagerCommand(t *testing.T) {
	for variable, want := range map[string][]string{
		"less":         {"less", "-+F"},
		"less -R -F":   {"less", "-R", "-F", "-+F"},
		"/bin/less":    {"/bin/less", "-+F"},
		"most -s":      {"most", "-s"},
		"  my-pager  ": {"my-pager"},
	} {
		if got := pagerCommand(variable); !slices.Equal(got, want) {
			t.Errorf("%q gives %q, want %q", variable, got, want)
		}
	}
}

// script writes a program that a user may have as $PAGER.
func script(t *testing.T, lines string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh on Windows")
	}
	path := filepath.Join(t.TempDir(), "pager")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+lines), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// paged is what the pager of the tab on the screen shows.
func paged(t *testing.T, v *View, variable string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := runPager(pagerCommand(variable), v.tabs[v.current].write, &out, &out)
	return out.String(), err
}

// The pager gets all of a tab, and nothing that a terminal would act on.
func TestPager(t *testing.T) {
	pager := script(t, "cat")
	text := strings.Repeat("line \x1b[2J\n", 20_000)
	for _, test := range []struct{ name, reply, want string }{
		{"text", ofText(text), strings.Repeat("line \\x1b[2J\n", 20_000)},
		{"JSON", `{"content":[],"structuredContent":{"a":["\u202e"]}}`, "{\n  \"a\": [\n    \"\\u202e\"\n  ]\n}\n"},
		{"a failure", `{"isError":true,"content":[{"type":"text","text":"it \u001b burns"}]}`, "error: it \\x1b burns\n"},
	} {
		got, err := paged(t, show(t, test.reply, ""), pager)
		if err != nil || got != test.want {
			t.Errorf("%s: %v, %d bytes %.60q, want %d bytes %.60q", test.name, err, len(got), got, len(test.want),
				test.want)
		}
	}
}

// Leaving the pager before it has read everything is no failure; a pager that is not
// there is one.
func TestPagerThatEnds(t *testing.T) {
	v := show(t, ofText(strings.Repeat("line\n", 200_000)), "")
	if got, err := paged(t, v, script(t, "head -n 1")); err != nil || got != "line\n" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := paged(t, v, filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no word about a pager that is not there")
	}
}
