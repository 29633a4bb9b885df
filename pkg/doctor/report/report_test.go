package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/culprit"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/junit"
	"toolx/pkg/render"
)

// sick is a report of a server that pollutes its stdout and of one that is gone, with
// a finding about the config, and text that attacks whoever shows it.
func sick() *doctor.Report {
	start := int64(0)
	return &doctor.Report{
		Schema: 1, Status: doctor.StatusProblems, Duration: 1800 * time.Millisecond,
		Servers: []doctor.ServerReport{
			{
				Name: "zwave", Status: "ready", DurationMS: 1800, Protocol: "2025-11-25", Tools: 4, Node: "v22.1.0",
				Command: []string{"npx", "-y", "zwave \"x\""}, Where: "/etc/my files/toolx.yaml:3:3",
				Info: &doctor.ServerInfo{Name: "zwave*", Version: "1.0"},
			},
			{Name: "gone", Status: "failed", DurationMS: 3, Because: "command not found: no-such", Where: "toolx.yaml:9:3"},
		},
		Findings: []check.Finding{
			{
				ID: "stdout-pollution", Severity: check.Error, Server: "zwave",
				Title:    "server writes log text to stdout",
				Where:    &evidence.Where{Run: "clean", Line: 1, Byte: &start, MS: 214, Phase: "before initialize"},
				Evidence: "\x1b[32m[dotenv@17.2.3]\x1b[0m ```injecting``` \u202eenv",
				Culprit:  &culprit.Culprit{Name: "dotenv 17 (npm)", Confidence: "certain"},
				Fix: []string{
					"in the server: dotenv.config({ quiet: true })",
					"from outside: add DOTENV_CONFIG_QUIET=true to this server's env",
					`work-around: "command": "toolx", "args": ["proxy", "--", "npx", "-y", "zwave \"x\""]`,
				},
				Breaks: []string{"Go SDK ends the session", "Claude Desktop shows an error"},
				Source: "stdio",
			},
			{ID: "unsound-config", Severity: check.Warning, Title: "a thing in the config", Where: &evidence.Where{File: "toolx.yaml:6:21", Key: "servers.zwave.env.X"}},
			{ID: "tool-lint", Severity: check.Warning, Server: "zwave", Title: "tool <b>@x</b>\nforges a line", Where: &evidence.Where{Tool: "a", Pointer: "/inputSchema"}},
			{ID: "era", Severity: check.Info, Server: "zwave", Title: "server speaks the older protocol"},
			{ID: "schema-bool", Severity: check.Info, Server: "zwave", Title: "a note", Evidence: "here"},
		},
		Checks: []check.CheckResult{
			{ID: "stdout-pollution", Server: "zwave", Outcome: check.Failed},
			{ID: "tool-lint", Server: "zwave", Outcome: check.Warned},
			{ID: "era", Server: "zwave", Outcome: check.Noted},
			{ID: "schema-bool", Server: "zwave", Outcome: check.Noted},
			{ID: "call-failed", Server: "zwave", Outcome: check.Skipped, Because: "no calls were requested (--call)"},
			{ID: "bad-check", Server: "zwave", Outcome: check.Broke, Because: "check crashed: \x1b[2J"},
			{ID: "stdout-bom", Server: "zwave", Outcome: check.Passed},
			{ID: "stdout-bom", Server: "gone", Outcome: check.Skipped, Because: "the server was not started"},
			{ID: "unsound-config", Outcome: check.Warned},
		},
		Baseline: &doctor.BaselineReport{
			File: "known.yaml",
			Known: []doctor.KnownFinding{{
				Finding: check.Finding{ID: "slow-start", Severity: check.Warning, Server: "zwave", Title: "slow"},
				Reason:  "loads a model",
			}},
			Stale: []doctor.Known{{ID: "tool-lint", Server: "zwave", Tool: "b", Reason: "mended upstream"}},
		},
	}
}

func report(t *testing.T, options Options) string {
	t.Helper()
	return written(t, func(out io.Writer) error { return Write(out, sick(), options) })
}

func TestDoctorOnATerminal(t *testing.T) {
	got := report(t, Options{Format: Text, Screen: render.Screen{TTY: true, Width: 76}})
	want := `zwave (protocol 2025-11-25, 4 tools, 1.8 s)
✗ server writes log text to stdout                          stdout-pollution
  fix      in the server: dotenv.config({ quiet: true })
           from outside: add DOTENV_CONFIG_QUIET=true to this server's env
  line 1, byte 0, 214 ms after start, before initialize:
    \x1b[32m[dotenv@17.2.3]\x1b[0m ` + "```injecting```" + ` \u{202e}env
  culprit  dotenv 17 (npm), certain
  breaks   Go SDK ends the session; Claude Desktop shows an error
! tool <b>@x</b>\nforges a line                                    tool-lint
  tool a, at /inputSchema
i 2 notes: era, schema-bool (-v shows them)

gone (failed)
✗ not examined: command not found: no-such

all servers and the config
! a thing in the config                                       unsound-config
  toolx.yaml:6:21, servers.zwave.env.X
✗ baseline entry matches no finding                                tool-lint
  fix      remove it from known.yaml
  tool-lint of tool b of server zwave: mended upstream
✗ 1 check passed · 3 findings · 2 notes · 1 known · 2 skipped · 1 check
  crashed · 1.8 s
  toolx doctor --explain stdout-pollution

Until that is fixed, clients can run it behind toolx proxy:
  "command": "toolx", "args": ["proxy", "--", "npx", "-y", "zwave \"x\""]
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for line := range strings.Lines(got) {
		if ansi.StringWidth(strings.TrimSuffix(line, "\n")) > 76 && !strings.Contains(line, "proxy") {
			t.Errorf("too wide: %s", line)
		}
	}
}

// healthy is a report of a server with facts, a note that anyone can act on, and one that few can.
func healthy() *doctor.Report {
	fact := func(id, title, evidence string) check.Finding {
		return check.Finding{
			ID: id, Severity: check.Info, Server: "files", Title: title, Evidence: evidence, Manner: check.Fact,
		}
	}
	return &doctor.Report{
		Status: doctor.StatusHealthy,
		Servers: []doctor.ServerReport{
			{Name: "files", Status: "ready", Protocol: "2025-11-25", Tools: 4, DurationMS: 1800, StartMS: 246},
		},
		Findings: []check.Finding{
			fact("era", "uses the legacy protocol", "initialize agreed on 2025-11-25"),
			{ID: "schema-bool", Severity: check.Info, Server: "files", Title: "schema is true or false"},
			{
				ID: "invalid-params-code", Severity: check.Info, Server: "files", Manner: check.Quiet,
				Title: "server rejects invalid parameters with another code",
			},
		},
		Checks: []check.CheckResult{{ID: "stdout-bom", Server: "files", Outcome: check.Passed}},
	}
}

// TestFactsAndQuietNotes shows that facts are in the head of the report, and that notes on which few can act are only
// there for those who want everything.
func TestFactsAndQuietNotes(t *testing.T) {
	show := func(options Options) string {
		return written(t, func(out io.Writer) error { return Write(out, healthy(), options) })
	}
	want := `files (protocol 2025-11-25, 4 tools, 1.8 s)
  uses the legacy protocol · starts in 246 ms
i 1 note: schema-bool (-v shows them)
✓ 1 check passed · 0 findings · 1 note · 0.0 s
`
	if got := show(Options{Format: Text}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	got := show(Options{Format: Text, Verbose: true})
	for _, want := range []string{
		"\n  era: uses the legacy protocol, initialize agreed on 2025-11-25\n  starts in 246 ms\n",
		"  invalid-params-code\n", "· 2 notes ·",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	got = show(Options{Format: JSON})
	if !strings.Contains(got, `"facts":[{"id":"era"`) || !strings.Contains(got, `"id":"invalid-params-code"`) {
		t.Errorf("as JSON %s", got)
	}
	if got := show(Options{Format: SARIF}); strings.Contains(got, `"era"`) {
		t.Errorf("a fact is a result: %s", got)
	}
}

func TestDoctorColourSaysNothingMore(t *testing.T) {
	screen := render.Screen{TTY: true, Width: 76, Color: true}
	painted := report(t, Options{Format: Text, Verbose: true, Screen: screen})
	screen.Color = false
	plain := report(t, Options{Format: Text, Verbose: true, Screen: screen})
	if got := ansi.Strip(painted); got != plain {
		t.Errorf("without its colours it is\n%s\nand not\n%s", got, plain)
	}
}

// In a pipe nothing is cut or wrapped, and -v shows every check with its result.
func TestDoctorInAPipe(t *testing.T) {
	got := report(t, Options{Format: Text, Verbose: true})
	for _, want := range []string{
		"✗ server writes log text to stdout  stdout-pollution\n",
		"i a note  schema-bool\n  here\n",
		"- call-failed       skipped: no calls were requested (--call)\n",
		`? bad-check         crashed: check crashed: \x1b[2J` + "\n",
		"✓ stdout-bom\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	if strings.ContainsAny(got, "\x1b\u202e") {
		t.Error("text from a server reaches the screen as it is")
	}
}

func TestDoctorJSONIsOneDocument(t *testing.T) {
	text := report(t, Options{Format: JSON})
	var got doctor.Report
	if err := json.Unmarshal([]byte(text), &got); err != nil || strings.Count(text, "\n") != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	if f := got.Findings[0]; f.Evidence != sick().Findings[0].Evidence || *f.Where.Byte != 0 ||
		f.Culprit.Confidence != "certain" {
		t.Errorf("a finding came back as %+v", f)
	}
}

// The objects of SARIF 2.1.0 that toolx writes: a member that is not among theirs fails the test.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string       `json:"id"`
		Short   sarifMessage `json:"shortDescription"`
		Full    sarifMessage `json:"fullDescription"`
		Help    sarifHelp    `json:"help"`
		Default sarifDefault `json:"defaultConfiguration"`
		Props   sarifProps   `json:"properties"`
	}
	sarifHelp struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown"`
	}
	sarifDefault struct {
		Level string `json:"level"`
	}
	sarifProps struct {
		Tags []string `json:"tags"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string       `json:"level"`
		Message sarifMessage `json:"message"`
	}
	sarifResult struct {
		Rule         string             `json:"ruleId"`
		Index        int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifMessage       `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

func TestDoctorSARIF(t *testing.T) {
	var log sarifLog
	text := report(t, Options{Format: SARIF, Version: "1.2.3"})
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name == "" ||
		log.Runs[0].Tool.Driver.Version != "1.2.3" {
		t.Fatalf("%+v", log)
	}
	run := log.Runs[0]
	rules := run.Tool.Driver.Rules
	if len(run.Results) != 6 {
		t.Fatalf("%d results, want one for each finding and one that is suppressed", len(run.Results))
	}
	var seen []string
	for _, result := range run.Results {
		if result.Index >= len(rules) || rules[result.Index].ID != result.Rule {
			t.Errorf("%s: its rule is not number %d", result.Rule, result.Index)
		}
		if !slices.Contains([]string{"error", "warning", "note"}, result.Level) {
			t.Errorf("%s: SARIF knows no level %q", result.Rule, result.Level)
		}
		if result.Message.Text == "" || len(result.Locations) != 1 || len(result.Locations[0].Logical) != 1 {
			t.Errorf("%s: %+v", result.Rule, result)
		}
		mark := result.Fingerprints["toolx/v1"]
		if slices.Contains(seen, mark) {
			t.Errorf("two findings have the fingerprint %s", mark)
		}
		seen = append(seen, mark)
	}
	for i, want := range []sarifPhysical{
		0: {sarifArtifact{"file:///etc/my%20files/toolx.yaml"}, &sarifRegion{3, 3}},
		1: {sarifArtifact{"toolx.yaml"}, &sarifRegion{6, 21}},
	} {
		got := run.Results[i].Locations[0].Physical
		if got == nil || got.Artifact != want.Artifact || *got.Region != *want.Region {
			t.Errorf("%s is at %+v, want %+v", run.Results[i].Rule, got, want)
		}
	}
	if last := run.Results[5]; len(last.Suppressions) != 1 || last.Suppressions[0].Justification != "loads a model" {
		t.Errorf("what the baseline knows is %+v", last)
	}
	if strings.ContainsAny(text, "\x1b\u202e") {
		t.Error("text from a server is not made safe")
	}
}

func TestDoctorJUnit(t *testing.T) {
	text := report(t, Options{Format: JUnit, FailOn: check.Error})
	var suites junit.Report
	if err := xml.Unmarshal([]byte(text), &suites); err != nil {
		t.Fatal(err)
	}
	if suites.Tests != 10 || suites.Failures != 2 || suites.Errors != 1 || suites.Skipped != 2 {
		t.Errorf("totals %+v", suites)
	}
	zwave := suites.Suites[0]
	if zwave.Name != "zwave" || zwave.Tests != len(zwave.Cases) || zwave.Failures != 1 {
		t.Errorf("%+v", zwave)
	}
	if c := zwave.Cases[0]; c.Failure == nil || c.Failure.Type != "error" ||
		!strings.Contains(c.Failure.Text, "culprit: dotenv 17 (npm), certain") {
		t.Errorf("a finding is %+v", c)
	}
	if c := zwave.Cases[1]; c.Failure != nil || c.Out == "" {
		t.Errorf("a finding below --fail-on fails its case: %+v", c)
	}
	if c := zwave.Cases[4]; c.Skipped == nil || c.Skipped.Message == "" {
		t.Errorf("a check that was not made is %+v", c)
	}
	if last := suites.Suites[len(suites.Suites)-1]; last.Name != "config" || last.Failures != 1 {
		t.Errorf("a stale baseline does not fail: %+v", last)
	}
	if strings.ContainsAny(text, "\x1b\u202e\ufffd") {
		t.Error("text from a server is not made safe")
	}
}

// What is not the whole story says so.
func TestDoctorStatus(t *testing.T) {
	for status, want := range map[string]string{
		doctor.StatusTimeout:     "time limit reached",
		doctor.StatusInterrupted: "interrupted",
		doctor.StatusAuth:        "authentication",
		doctor.StatusUnreachable: "no server could be examined",
	} {
		report := &doctor.Report{Status: status}
		for _, format := range []Format{Text, SARIF} {
			got := written(t, func(out io.Writer) error { return Write(out, report, Options{Format: format}) })
			if !strings.Contains(got, want) {
				t.Errorf("%s as %s says nothing of %q: %s", status, format, want, got)
			}
		}
	}
}

// Two findings with one work-around offer it once, and the place of a finding in a
// request names the request.
func TestDoctorOffersTheProxyOnce(t *testing.T) {
	report := sick()
	second := report.Findings[0]
	second.ID, second.Where = "stdout-pollution-between",
		&evidence.Where{Line: 4, Phase: "during a request", Method: "tools/call"}
	report.Findings = append(report.Findings, second)
	got := written(t, func(out io.Writer) error { return Write(out, report, Options{}) })
	if strings.Count(got, `"proxy"`) != 1 || strings.Contains(got, "work-around") {
		t.Errorf("the proxy is not offered once:\n%s", got)
	}
	if !strings.Contains(got, "line 4, during tools/call:\n") {
		t.Errorf("the place is not said:\n%s", got)
	}
}

// A stdout without text says little about calls that were not made: one line says that, and how to make them.
func TestDoctorCallsNotTried(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*doctor.Report)
		want   string
	}{
		"clean":    {func(*doctor.Report) {}, "i stdout is clean so far, but no tool was called; --call safe "},
		"polluted": {func(r *doctor.Report) { r.Findings = sick().Findings }, "i no tool was called; --call safe "},
		"unasked":  {func(r *doctor.Report) { r.Checks = nil }, "i no tool was called; --call safe "},
		"log": {
			func(r *doctor.Report) {
				r.Findings = []check.Finding{{ID: "rpc-not-mcp", Severity: check.Error, Server: "zwave"}}
			}, "i no tool was called; --call safe ",
		},
		"called":   {func(r *doctor.Report) { r.Servers[0].NotCalled = "" }, ""},
		"no tools": {func(r *doctor.Report) { r.Servers[0].Tools = 0 }, ""},
	} {
		report := sick()
		report.Findings = nil
		report.Servers[0].NotCalled = doctor.CallsNotAsked
		report.Checks = []check.CheckResult{{ID: "stdout-pollution-between", Server: "zwave", Outcome: check.Passed}}
		test.change(report)
		got := written(t, func(out io.Writer) error { return Write(out, report, Options{}) })
		if said := strings.Contains(got, "no tool was called"); said != (test.want != "") ||
			!strings.Contains(got, test.want) {
			t.Errorf("%s: no %q in\n%s", name, test.want, got)
		}
	}
}

func TestDoctorPage(t *testing.T) {
	one := check.Check{
		ID: "stdout-x",
		Page: check.Page{
			Severity: check.Error, Group: check.GroupFraming, Title: "server says x", After: []string{"stdout-y"},
			Why: "Clients stop.", Bad: "x\n{…}\n", Good: "{…}", Fix: []string{"say nothing", "or use the proxy"},
			Breaks: []string{"every client"}, Source: "stdio",
		},
	}
	got := written(t, func(out io.Writer) error { return Page(out, one, render.Screen{}) })
	want := `✗ server says x  stdout-x
  error, a check of the group framing

  Clients stop.

  bad
    x
    {…}

  good
    {…}

  fix      say nothing
           or use the proxy
  breaks   every client
  source   stdio
  after    stdout-y
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	row := written(t, func(out io.Writer) error { return Checks(out, []check.Check{one}, render.Screen{}) })
	if row != "stdout-x\terror\tframing\tserver says x\n" {
		t.Errorf("its row is %q", row)
	}
	var entries []map[string]any
	text := written(t, func(out io.Writer) error { return ChecksJSON(out, []check.Check{one}, render.Screen{}) })
	if err := json.Unmarshal([]byte(text), &entries); err != nil || len(entries) != 1 ||
		entries[0]["why"] != "Clients stop." {
		t.Errorf("%v: %s", err, text)
	}
}

// written is what write wrote.
func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
