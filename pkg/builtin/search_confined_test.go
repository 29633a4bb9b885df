package builtin_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolx/pkg/builtin"
	"toolx/pkg/exec"
)

// searchAs runs a search for a caller who is confined, or not, and returns the files with matches, or the error's text.
func searchAs(t *testing.T, services builtin.Services, confined bool, path string) (files []string, failure string) {
	t.Helper()
	registry := exec.NewRegistry(nil)
	registry.Register(builtin.Tools(services)...)
	executor := &exec.Executor{Registry: registry, Defaults: exec.Defaults{Confined: confined}}
	arguments, err := json.Marshal(map[string]any{"query": "needle", "path": path, "hidden": true})
	if err != nil {
		t.Fatal(err)
	}
	result := executor.Call(t.Context(), exec.Call{Tool: "search", Arguments: arguments})
	if !result.Success {
		return nil, result.Err.Error()
	}
	var answer found
	if err := json.Unmarshal(result.Value, &answer); err != nil {
		t.Fatal(err)
	}
	for _, match := range answer.Matches {
		files = append(files, match.File)
	}
	return files, ""
}

// IMPL-3: who is no person at the keyboard searches below the roots alone, also by links; a person searches anywhere.
func TestSearchConfined(t *testing.T) {
	private := tree(t, map[string]string{"id_rsa": "needle"})
	first := repository(t, map[string]string{
		"a.txt": "needle", "sub/b.txt": "needle", ".gitignore": "/ignored\n",
		"ignored": "needle",
	})
	second := tree(t, map[string]string{"c.txt": "needle"})
	for link, to := range map[string]string{
		"out": private, "key": filepath.Join(private, "id_rsa"), "up": "../..", "self": ".", "inside": "sub",
	} {
		if err := os.Symlink(to, filepath.Join(first, link)); err != nil {
			t.Skip("there are no symbolic links here: ", err)
		}
	}
	services := builtin.Services{Roots: []string{first, second}}
	for _, test := range []struct{ path, want string }{
		{".", "a.txt sub/b.txt"},
		{"sub", "sub/b.txt"},
		{"inside", "inside/b.txt"},
		{first + "/sub/../a.txt", filepath.ToSlash(first) + "/sub/../a.txt"},
		{second, filepath.ToSlash(second) + "/c.txt"},
		{private, "may not be searched: only files below " + first + ", " + second},
		{filepath.Join(private, "id_rsa"), "may not be searched"},
		{"..", "may not be searched"},
		{"sub/../..", "may not be searched"},
		{"/etc/passwd", "may not be searched"},
		{"~/.ssh/id_rsa", "may not be searched"},
		{"out", "cannot search"},
		{"out/id_rsa", "cannot search"},
		{"key", "cannot search"},
		{"up", "cannot search"},
		{first + "-not", "may not be searched"},
	} {
		files, failure := searchAs(t, services, true, test.path)
		if got := strings.Join(files, " ") + failure; failure == "" && got != test.want ||
			!strings.Contains(got, test.want) {
			t.Errorf("%s: %s\nwant %s", test.path, got, test.want)
		}
	}
	for _, path := range []string{private, filepath.Join(first, "key"), filepath.Join(first, "out")} {
		if files, failure := searchAs(t, services, false, path); len(files) != 1 {
			t.Errorf("a person gets of %s: %q %s", path, files, failure)
		}
	}
}

// Without roots it is the working folder; with an empty list of roots, none.
func TestSearchConfinedWithoutRoots(t *testing.T) {
	outside := tree(t, map[string]string{"secret": "needle"})
	t.Chdir(tree(t, map[string]string{"a.txt": "needle"}))
	if files, failure := searchAs(t, builtin.Services{}, true, "."); strings.Join(files, " ") != "a.txt" {
		t.Errorf("%q %s", files, failure)
	}
	files, failure := searchAs(t, builtin.Services{}, true, outside)
	if !strings.Contains(failure, "may not be searched") {
		t.Errorf("%q %s", files, failure)
	}
	files, failure = searchAs(t, builtin.Services{Roots: []string{}}, true, ".")
	if failure != ". may not be searched: no folder is allowed (roots in the config)" {
		t.Errorf("%q %s", files, failure)
	}
}
