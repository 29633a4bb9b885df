package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// permitted are the licences under which toolx may be distributed as one binary under its own.
var permitted = []string{"MIT", "ISC", "0BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "Unlicense", "CC0-1.0"}

// TestEveryLinkedModuleMayBeDistributed fails for a module that is linked on any system and has no licence in
// licences.csv, for one that has another licence than these, and for a row of a module that is not linked any more.
func TestEveryLinkedModuleMayBeDistributed(t *testing.T) {
	modules, err := linkedModules("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range modules {
		for _, licence := range one.Licences {
			if !slices.Contains(permitted, licence) {
				t.Errorf("%s is under %s", one.Path, licence)
			}
		}
	}
}

// TestNoticesHaveTheTextsOfAllModules asks for each module's own words, since most licences want them passed on.
func TestNoticesHaveTheTextsOfAllModules(t *testing.T) {
	t.Chdir("..")
	var notices bytes.Buffer
	if err := writeNotices(nil, &notices); err != nil {
		t.Fatal(err)
	}
	modules, err := linkedModules(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range modules {
		_, after, found := strings.Cut(notices.String(), "=\n"+one.Path+" "+one.Version+"\n\n")
		text, _, _ := strings.Cut(after, strings.Repeat("=", 80))
		low := strings.ToLower(text)
		if !found || !strings.Contains(low, "copyright") && !strings.Contains(low, "licen") {
			t.Errorf("no licence of %s: %.80q", one.Path, text)
		}
	}
	if !strings.Contains(notices.String(), "The Go Authors") {
		t.Error("Go's own licence is missing")
	}
}
