package conformance_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/rogpeppe/go-internal/testscript"

	"toolx/cmd"
	"toolx/pkg/console"
)

var update = flag.Bool("update", false, "rewrite docs/conformance.md")

// page is where the results are told.
var page = filepath.Join("..", "..", "docs", "conformance.md")

// TestMain makes the test binary serve as toolx, when it is called by that name, and as
// the browser, which toolx starts by the name of the system's opener.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"toolx":    func() { os.Exit(cmd.Main(console.System(), os.Args[1:])) },
		"xdg-open": browse,
		"open":     browse,
	})
}

// browse goes where a login page leads. The suite's pages ask nothing.
func browse() {
	response, err := http.Get(os.Args[len(os.Args)-1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_ = response.Body.Close()
}

// reason says why some checks do not pass.
type reason struct {
	scenario string // a pattern, as of path.Match
	check    string // a pattern too; empty: all of the scenario is about what is not there
	because  string
}

// leg is one side of toolx in one revision.
type leg struct {
	Title, Revision string
	missing         string // the result where a reason is for the whole scenario
	Rows            []row
	Required        int // scenarios that the revision wants and that apply
	Passed          int // those of them that pass
	Inapplicable    int // scenarios that the revision wants and that do not apply
}

// row is a line of a leg's table.
type row struct{ Scenario, Result, Note string }

// group is a row of the page: scenarios with one result for one reason.
type group struct{ Result, Note, Scenarios string }

// Groups joins the rows that differ only in their scenario, in the order of the first of each.
func (l leg) Groups() (groups []group) {
	for _, r := range l.Rows {
		at := slices.IndexFunc(groups, func(g group) bool { return g.Result == r.Result && g.Note == r.Note })
		if at < 0 {
			groups = append(groups, group{r.Result, r.Note, r.Scenario})
		} else {
			groups[at].Scenarios += ", " + r.Scenario
		}
	}
	return groups
}

// TestConformance runs the suite. What does not pass has its reason in a table, and
// every reason there is needed.
func TestConformance(t *testing.T) {
	var legs []leg
	revisions := []string{"2026-07-28", "2025-11-25"}
	for _, revision := range revisions {
		t.Run("client "+revision, func(t *testing.T) {
			ran := append(runClient(t, revision), runSkills(t, revision)...)
			legs = append(legs, judge(t, leg{Title: "toolx as a client", Revision: revision, missing: "not supported"},
				ran, clientReasons()))
		})
	}
	for _, revision := range revisions {
		t.Run("server "+revision, func(t *testing.T) {
			ran, _ := runSuite(t, "server", revision, "--url", serve(t)) // what does not apply fails as well
			legs = append(legs, judge(t,
				leg{Title: "toolx serve --http", Revision: revision, missing: "does not apply"}, ran, serverReasons()))
		})
	}
	unneeded(t, clientReasons(), legs[:len(revisions)])
	unneeded(t, serverReasons(), legs[len(revisions):])
	checkPage(t, legs)
}

// client is the command that the suite runs.
const client = "toolx conformance-client"

// runSkills runs the scenarios of the skills extension. No revision requires them, and without --force the suite skips
// them and exits with 0.
func runSkills(t *testing.T, revision string) (ran []scenario) {
	t.Helper()
	for _, name := range []string{"no-prefetch", "verify-digest", "verify-size", "verify-frontmatter"} {
		one := scenario{name: "sep-2640-client-" + name, unasked: "extension"}
		var err error
		if one.checks, err = runAlone(t, "client", revision, one.name, "--command", client, "--force"); err != nil {
			t.Errorf("%s fails: %v", one.name, err)
		}
		ran = append(ran, one)
	}
	return ran
}

// runClient runs a revision's scenarios for clients. The suite has to be content with
// them as a whole, or with each that it was not content with.
func runClient(t *testing.T, revision string) []scenario {
	t.Helper()
	ran, err := runSuite(t, "client", revision, "--command", client)
	if err == nil {
		return ran
	}
	alone := 0
	for i := range ran {
		if _, open, _ := explain(ran[i], ran[i].failed(), clientReasons()); len(open) == 0 {
			continue
		}
		alone++
		t.Logf("%s runs once more, alone", ran[i].name)
		if ran[i].checks, err = runAlone(t, "client", revision, ran[i].name, "--command", client); err != nil {
			t.Errorf("the suite is not content with %s: %v", ran[i].name, err)
		}
	}
	if alone == 0 {
		t.Errorf("the suite is not content, though every check passes: %v", err)
	}
	return ran
}

// serve starts toolx serve --http with the tools that the suite calls.
func serve(t *testing.T) (url string) {
	t.Helper()
	command := exec.Command("toolx", "serve", "server.yaml", "--http", "0", "--no-token")
	command.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	command.Env = slices.DeleteFunc(command.Env,
		func(variable string) bool { return strings.HasPrefix(variable, "TOOLX_SERVE_TOKEN=") })
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	line, err := bufio.NewReader(stderr).ReadString('\n')
	found := regexp.MustCompile(`http://\S+`).FindString(line)
	if found == "" {
		t.Fatalf("%v: %q", err, line)
	}
	return found
}

// judge makes the table of a leg.
func judge(t *testing.T, l leg, ran []scenario, reasons []reason) leg {
	t.Helper()
	for _, one := range ran {
		r := row{Scenario: one.name, Result: "passes", Note: one.unasked}
		failed := one.failed()
		passed := slices.ContainsFunc(one.checks, func(c check) bool { return c.Status == "SUCCESS" })
		because, open, whole := explain(one, failed, reasons)
		switch {
		case whole:
			r.Result, r.Note = l.missing, joinNotes(r.Note, because...)
		case len(open) > 0:
			r.Result = "fails"
			for _, c := range open {
				t.Errorf("%s: %s %s: %s (%s)", one.name, c.Status, c.ID, c.ErrorMessage, c.Description)
			}
		case len(failed) > 0:
			r.Result = fmt.Sprintf("passes but for %d of %d checks", len(failed), len(one.checks))
			r.Note = joinNotes(r.Note, because...)
		case !passed:
			r.Result = "is not checked"
		}
		switch {
		case one.unasked != "":
		case whole:
			l.Inapplicable++
		default:
			l.Required++
			if r.Result != "fails" {
				l.Passed++
			}
		}
		l.Rows = append(l.Rows, r)
	}
	return l
}

// explain finds the reasons of the checks that did not pass: one for the whole
// scenario, or one for each of them; open are those that have none.
func explain(ran scenario, failed []check, reasons []reason) (because []string, open []check, whole bool) {
	for _, r := range reasons {
		if matches(r.scenario, ran.name) && r.check == "" {
			return []string{r.because}, nil, true
		}
	}
	for _, c := range failed {
		at := slices.IndexFunc(reasons,
			func(r reason) bool { return matches(r.scenario, ran.name) && r.check != "" && matches(r.check, c.ID) })
		if at < 0 {
			open = append(open, c)
		} else {
			because = append(because, reasons[at].because)
		}
	}
	return because, open, false
}

func matches(pattern, name string) bool {
	matched, err := path.Match(pattern, name)
	return err == nil && matched
}

func joinNotes(first string, more ...string) string {
	notes := slices.DeleteFunc(append([]string{first}, more...), func(note string) bool { return note == "" })
	return strings.Join(slices.Compact(notes), "; ")
}

// unneeded finds reasons for what has passed meanwhile, or is no more.
func unneeded(t *testing.T, reasons []reason, legs []leg) {
	t.Helper()
	for _, r := range reasons {
		if !slices.ContainsFunc(legs, func(l leg) bool {
			return slices.ContainsFunc(l.Rows, func(row row) bool {
				return matches(r.scenario, row.Scenario) && strings.Contains(row.Note, r.because)
			})
		}) {
			t.Errorf("no need to say of %s %s: %s", r.scenario, r.check, r.because)
		}
	}
}

// checkPage holds docs/conformance.md against what has come out, or writes it.
func checkPage(t *testing.T, legs []leg) {
	t.Helper()
	text, err := os.ReadFile("page.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	var made bytes.Buffer
	if err := template.Must(template.New("page").Parse(string(text))).Execute(&made, legs); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(page, made.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	written, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(written, made.Bytes()) {
		t.Errorf(
			"docs/conformance.md is not what has come out: make conformance CONFORMANCEFLAGS=-update writes it anew",
		)
	}
}
