package doctor

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
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers/fake"
)

// asFake makes the test binary the fake server, for tests that must name the program themselves.
const asFake = "TOOLX_TEST_AS_FAKE"

func TestMain(m *testing.M) {
	if os.Getenv(asFake) != "" {
		os.Exit(fake.Main(os.Args[1:]))
	}
	// To keep the result, go test would read /proc as often as these tests do. What they run is not Go alone.
	flag.Parse()
	if err := flag.Set("test.testlogfile", ""); err != nil {
		panic(err)
	}
	// Most of the time these tests wait. With one processor, or -test.parallel 1 for an emulator, they run in turn,
	// since they would miss time limits.
	if parallel := flag.Lookup("test.parallel").Value.String(); parallel != "1" {
		if err := flag.Set("test.parallel", "12"); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	fake.Remove()
	regexp2.StopTimeoutClock() // it ends by itself, a second after the last match
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// fakeServer is the entry of a fake server in the given modes.
func fakeServer(t testing.TB, args ...string) *config.Server {
	t.Helper()
	program, err := fake.Program()
	if err != nil {
		t.Fatal(err)
	}
	return config.AdHoc(append([]string{program}, args...), "", nil)
}

// fakeServerAs is fakeServer with the name of another program: the doctor takes it for one of that runtime.
func fakeServerAs(t testing.TB, name string, args ...string) *config.Server {
	t.Helper()
	server := fakeServer(t, args...)
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	alias := filepath.Join(t.TempDir(), name)
	if err := os.Link(server.Command, alias); err != nil { // as from another file system
		program, err := os.ReadFile(server.Command)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(alias, program, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	server.Command = alias
	return server
}

// shortOptions examine fake servers with next to no waiting. The limit is for servers
// that have much to do on a machine that is busy; those that never answer get less.
func shortOptions() Options {
	return Options{
		Limit: 5 * time.Minute, idle: time.Millisecond, quiet: time.Millisecond,
		Environ: append(os.Environ(),
			asFake+"=1",
			"GORACE=atexit_sleep_ms=0", // else a program under the race detector takes a second to end
		),
	}
}

// examineFake gathers the evidence about one fake server in the given modes.
func examineFake(t testing.TB, options Options, args ...string) *evidence.Fleet {
	t.Helper()
	return Examine(context.Background(), nil, []*config.Server{fakeServer(t, args...)}, options)
}

// findingsOf are the findings of one check; it must have been asked.
func findingsOf(t *testing.T, report *Report, id string) []check.Finding {
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

// idsOf lists the ids of what matters at least as much as severity, each once.
func idsOf(report *Report, severity check.Severity) string {
	var ids []string
	for _, finding := range report.Findings {
		if finding.Severity.AtLeast(severity) && !slices.Contains(ids, finding.ID) {
			ids = append(ids, finding.ID)
		}
	}
	return strings.Join(ids, " ")
}

// unique fails where two checks share an id.
func unique(checks []check.Check) error {
	seen := make(map[string]bool)
	for _, check := range checks {
		if seen[check.ID] {
			return fmt.Errorf("two checks have the id %q", check.ID)
		}
		seen[check.ID] = true
	}
	return nil
}

// ask is the question of a check about one server.
func ask(id string) func(*evidence.Evidence) []check.Finding {
	one, _ := Find(id)
	return one.Ask
}

// checksOf are the checks of these groups, in the order of judging.
func checksOf(groups ...check.Group) []check.Check {
	return slices.DeleteFunc(slices.Clone(Checks()),
		func(one check.Check) bool { return !slices.Contains(groups, one.Group) })
}
