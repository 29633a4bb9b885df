// Package doctortest has helpers for tests of checks: it examines scripted servers, and builds evidence without a
// server.
package doctortest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlclark/regexp2"
	"go.uber.org/goleak"

	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers/fake"
)

// AsFake is the environment variable that turns a test binary into the fake server, for tests that choose the program's
// name.
const AsFake = "TOOLX_TEST_AS_FAKE"

// Main runs the tests of a package and returns the exit code for TestMain.
func Main(m *testing.M) int {
	if os.Getenv(AsFake) != "" {
		return fake.Main(os.Args[1:])
	}
	flag.Parse()
	set := func(name, value string) {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	// Without this log, go test does not cache the results. Caching would read /proc as often as the tests do, and the
	// tests depend on more than Go code.
	set("test.testlogfile", "")
	// These tests mostly wait. With one CPU, or -test.parallel 1 for an emulator, they run one at a time, because they
	// would miss time limits.
	if flag.Lookup("test.parallel").Value.String() != "1" {
		set("test.parallel", "12")
	}
	code := m.Run()
	fake.Remove()
	regexp2.StopTimeoutClock() // otherwise it runs for a second after the last match
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

// Options returns options for fake servers with almost no waiting and one process at a time. The long limit is for busy
// machines.
func Options() doctor.Options {
	return doctor.Options{
		Limit: 5 * time.Minute, Waits: doctor.Waits{Idle: time.Millisecond, Quiet: time.Millisecond},
		Busy: func() bool { return true },
		Environ: append(os.Environ(),
			AsFake+"=1",
			"GORACE=atexit_sleep_ms=0", // otherwise a program with the race detector takes a second to exit
		),
	}
}

// ShortTimeouts returns options for servers that never respond. Two seconds are long for a fake.
func ShortTimeouts() doctor.Options {
	options := ShortCallTimeouts()
	options.Limit = 2 * time.Second
	return options
}

// ShortCallTimeouts returns options with a short timeout for requests.
func ShortCallTimeouts() doctor.Options {
	options := Options()
	options.Waits.Answer = 300 * time.Millisecond
	return options
}

// Server returns the entry of a fake server with the given arguments.
func Server(t testing.TB, args ...string) *config.Server {
	t.Helper()
	program, err := fake.Program()
	if err != nil {
		t.Fatal(err)
	}
	return config.AdHoc(append([]string{program}, args...), "", nil)
}

// ServerAs is Server with another program name, from which the doctor derives the runtime.
func ServerAs(t testing.TB, name string, args ...string) *config.Server {
	t.Helper()
	server := Server(t, args...)
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	alias := filepath.Join(t.TempDir(), name)
	if err := os.Link(server.Command, alias); err != nil { // for example on another file system
		program, err := os.ReadFile(server.Command)
		if err != nil {
			t.Fatal(err)
		}
		File(t, alias, string(program), 0o700)
	}
	server.Command = alias
	return server
}

// Examine gathers the evidence about one fake server with the given arguments.
func Examine(t testing.TB, options doctor.Options, args ...string) *evidence.Fleet {
	t.Helper()
	return doctor.Examine(context.Background(), nil, []*config.Server{Server(t, args...)}, options)
}

// Findings returns the findings of one check, which must have run.
func Findings(t testing.TB, report *doctor.Report, id string) []check.Finding {
	t.Helper()
	i := slices.IndexFunc(report.Checks, func(r check.CheckResult) bool { return r.ID == id })
	if i < 0 {
		t.Fatalf("%s is not in the table", id)
	}
	if outcome := report.Checks[i].Outcome; outcome == check.Broke || outcome == check.Skipped {
		t.Fatalf("%s: %s: %s", id, outcome, report.Checks[i].Because)
	}
	var found []check.Finding
	for _, finding := range report.Findings {
		if finding.ID == id {
			found = append(found, finding)
		}
	}
	return found
}

// IDs lists the distinct ids of findings of at least a severity.
func IDs(report *doctor.Report, severity check.Severity) string {
	var ids []string
	for _, finding := range report.Findings {
		if finding.Severity.AtLeast(severity) && !slices.Contains(ids, finding.ID) {
			ids = append(ids, finding.ID)
		}
	}
	return strings.Join(ids, " ")
}

// Text returns all text of a finding.
func Text(f check.Finding) string {
	return strings.Join(slices.Concat([]string{f.Title, f.Evidence}, f.Notes, f.Fix, f.Breaks), "\n")
}

// Summary returns a report for the message of a failing test.
func Summary(report *doctor.Report) string {
	var lines []string
	for _, f := range report.Findings {
		lines = append(lines,
			fmt.Sprintf("%s %s %q: %q fix %q where %+v", f.Severity, f.ID, f.Title, f.Evidence, f.Fix, f.Where))
	}
	return strings.Join(lines, "\n")
}

// Ask returns the function of a check.
func Ask(id string) func(*evidence.Evidence) []check.Finding {
	one, _ := doctor.Find(id)
	return one.Ask
}

// Judge runs the checks of groups.
func Judge(fleet *evidence.Fleet, groups ...check.Group) *doctor.Report {
	var selection doctor.Selection
	for _, one := range Checks(groups...) {
		selection.Only = append(selection.Only, one.ID)
	}
	return doctor.Judge(fleet, selection)
}

// JudgeOnly runs checks by id on one server.
func JudgeOnly(e *evidence.Evidence, ids ...string) *doctor.Report {
	return doctor.Judge(&evidence.Fleet{Servers: []*evidence.Evidence{e}}, doctor.Selection{Only: ids})
}

// Checks returns the checks of groups in order.
func Checks(groups ...check.Group) []check.Check {
	return slices.DeleteFunc(slices.Clone(doctor.Checks()),
		func(one check.Check) bool { return !slices.Contains(groups, one.Group) })
}
