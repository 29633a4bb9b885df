package style_test

import (
	"go/build"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestEachSystemsFilesAreTested asks of each file that is built for some systems only: its package has tests where make
// test or make test-windows runs them, or docs/platforms.md names it among what was never run.
func TestEachSystemsFilesAreTested(t *testing.T) {
	page, err := os.ReadFile("../../docs/platforms.md")
	if err != nil {
		t.Fatal(err)
	}
	systems := []string{"linux", "windows", "darwin", "freebsd"} // the first two are run
	tested, some := map[string]bool{}, map[string][]string{}
	for file := range goFiles(t) {
		for _, system := range systems {
			context := build.Default
			context.GOOS, context.GOARCH, context.CgoEnabled = system, "amd64", false
			built, err := context.MatchFile("../../"+path.Dir(file), path.Base(file))
			switch {
			case err != nil:
				t.Fatal(err)
			case built && strings.HasSuffix(file, "_test.go"):
				tested[path.Dir(file)+" "+system] = true
			case built:
				some[file] = append(some[file], system)
			}
		}
	}
	named := 0
	for file, its := range some {
		run := slices.Contains(systems[:2], its[0]) && tested[path.Dir(file)+" "+its[0]]
		if len(its) == len(systems) || run {
			continue
		}
		if named++; !strings.Contains(string(page), "`"+file+"`") {
			t.Errorf("%s has no test that is run, on any of %q; docs/platforms.md does not say so", file, its)
		}
	}
	if named == 0 {
		t.Error("no file is never run; pkg/console/drop_darwin.go is one")
	}
}
