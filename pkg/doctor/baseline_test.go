package doctor

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"toolx/pkg/contract"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/rawjson"
)

// judged is a report as Judge makes it, of two servers.
func judgedReport() *Report {
	return &Report{
		Schema: 1, Status: StatusProblems,
		Servers: []ServerReport{{Name: "a", Status: "ready"}, {Name: "b", Status: "failed"}},
		Findings: []check.Finding{
			{ID: "stdout-pollution", Severity: check.Error, Server: "a", Title: "polluted", Evidence: "Starting on port 1"},
			{ID: "tool-name-chars", Severity: check.Warning, Server: "a", Title: "bad name", Where: &evidence.Where{Tool: "one"}},
			{ID: "tool-name-chars", Severity: check.Warning, Server: "a", Title: "bad name", Where: &evidence.Where{Tool: "two"}},
			{ID: "era", Severity: check.Info, Server: "a", Title: "legacy"},
		},
		Checks: []check.CheckResult{
			{ID: "stdout-pollution", Server: "a", Outcome: check.Failed},
			{ID: "stdout-pollution", Server: "b", Outcome: check.Skipped, Because: "the server was not started"},
			{ID: "tool-name-chars", Server: "a", Outcome: check.Warned},
			{ID: "stdout-bom", Server: "a", Outcome: check.Passed},
			{ID: "stdout-bom", Server: "b", Outcome: check.Skipped},
		},
	}
}

func TestBaselineApply(t *testing.T) {
	for _, test := range []struct {
		name  string
		known []Known
		left  []string // ids of findings
		stale int
	}{
		{"nothing is known", nil, []string{"stdout-pollution", "tool-name-chars", "tool-name-chars", "era"}, 0},
		{"by id, on any server", []Known{{ID: "tool-name-chars"}}, []string{"stdout-pollution", "era"}, 0},
		{"of one tool", []Known{{ID: "tool-name-chars", Server: "a", Tool: "two"}}, []string{"stdout-pollution", "tool-name-chars", "era"}, 0},
		{"by its text", []Known{{ID: "stdout-pollution", Match: "on port"}}, []string{"tool-name-chars", "tool-name-chars", "era"}, 0},
		{
			"of a tool that is right",
			[]Known{{ID: "tool-name-chars", Tool: "three"}},
			[]string{"stdout-pollution", "tool-name-chars", "tool-name-chars", "era"},
			1,
		},
		{
			"a check that passes",
			[]Known{{ID: "stdout-bom", Server: "a"}},
			[]string{"stdout-pollution", "tool-name-chars", "tool-name-chars", "era"},
			1,
		},
		{
			"a server that did not start proves nothing",
			[]Known{{ID: "stdout-pollution", Server: "b"}, {ID: "stdout-bom"}},
			[]string{"stdout-pollution", "tool-name-chars", "tool-name-chars", "era"},
			0,
		},
		{
			"a check that was not made",
			[]Known{{ID: "era", Server: "b"}},
			[]string{"stdout-pollution", "tool-name-chars", "tool-name-chars", "era"},
			0,
		},
		{
			"no check named so",
			[]Known{{ID: "no-such-check"}},
			[]string{"stdout-pollution", "tool-name-chars", "tool-name-chars", "era"},
			1,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := judgedReport()
			(&Baseline{File: "f", Findings: test.known}).Apply(report)
			var left []string
			for _, finding := range report.Findings {
				left = append(left, finding.ID)
			}
			if !reflect.DeepEqual(left, test.left) {
				t.Errorf("left are %v, want %v", left, test.left)
			}
			if got := report.Baseline.Stale; len(got) != test.stale {
				t.Errorf("stale are %+v, want %d", got, test.stale)
			}
			if got := len(report.Baseline.Known) + len(left); got != 4 {
				t.Errorf("%d findings are left or known, of 4", got)
			}
			if test.stale > 0 != (report.Fails(check.Error) && len(left) == 4 && report.Baseline.Stale != nil &&
				len(report.Baseline.Stale) > 0) {
				t.Error("stale entries and failing do not agree")
			}
		})
	}
}

// With everything known nothing fails; then one finding is mended, and the entry for
// it does.
func TestStaleBaselineFails(t *testing.T) {
	baseline := &Baseline{Findings: []Known{{ID: "stdout-pollution"}, {ID: "tool-name-chars"}, {ID: "era"}}}
	report := judgedReport()
	baseline.Apply(report)
	if report.Status != StatusHealthy || report.Fails(check.Info) {
		t.Errorf("all is known, and the report is %s and fails", report.Status)
	}
	report = judgedReport()
	report.Findings, report.Checks[0].Outcome = report.Findings[1:], check.Passed
	report.Checks[1].Outcome = check.Passed
	baseline.Apply(report)
	if !report.Fails(check.Error) || report.Fails("") || report.Status != StatusProblems {
		t.Errorf("the report is %s, stale is %+v", report.Status, report.Baseline.Stale)
	}
	sound := &Report{
		Status: StatusHealthy, Findings: []check.Finding{},
		Checks: []check.CheckResult{{ID: "era", Outcome: check.Passed}},
	}
	(&Baseline{Findings: []Known{{ID: "era"}}}).Apply(sound)
	if sound.Status != StatusProblems {
		t.Errorf("nothing is found, the baseline is stale, and the report is %s", sound.Status)
	}
}

// hostilePin is a definition with text that YAML and JSON write in different ways.
const hostilePin = `{"name":"x: y","description":"# no\u0000 |-\n---\r\u2028 ` + "\u2028\u0085\ufeff\U0001f600" +
	` {{ ' \" \\","a":1.0,"b":1e400,"c":12345678901234567890}`

// What is written is read again, in both formats, and takes away what it was made of.
func TestBaselineRoundTrip(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"known.yaml", "known.json"} {
		file := filepath.Join(t.TempDir(), name)
		earlier := &Baseline{Findings: []Known{{ID: "tool-name-chars", Server: "a", Tool: "one", Reason: "historic"}}}
		written := NewBaseline(judgedReport(), &evidence.Fleet{}, check.Warning, earlier, "not yet said")
		snapshot := &contract.Snapshot{}
		snapshot.Add(contract.Tool, contract.Definitions{"x: y": json.RawMessage(hostilePin)})
		written.Servers = contract.Set{"a": snapshot}
		if err := written.Write(file); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("others can read %s: %v, %v", name, info.Mode(), err)
		}
		read, err := ReadBaseline(file)
		if err != nil {
			t.Fatal(err)
		}
		known := []Known{
			{ID: "stdout-pollution", Server: "a", Reason: "not yet said"},
			{ID: "tool-name-chars", Server: "a", Tool: "one", Reason: "historic"},
			{ID: "tool-name-chars", Server: "a", Tool: "two", Reason: "not yet said"},
		}
		pin, err := rawjson.Decode(read.Pins()["a"]["x: y"])
		want, wantErr := rawjson.Decode([]byte(hostilePin))
		if err != nil || wantErr != nil || !reflect.DeepEqual(pin, want) {
			t.Errorf("%s has the pin %v, %v", name, pin, err)
		}
		if !reflect.DeepEqual(read.Findings, known) {
			t.Errorf("%s came back as %+v", name, read)
		}
		report := judgedReport()
		read.Apply(report)
		if report.Fails(check.Warning) {
			t.Errorf("%s leaves %+v and is stale in %+v", name, report.Findings, report.Baseline.Stale)
		}
	}
}

func TestBaselineMistakes(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "it is empty"},
		{"schema: 1\n", "schema is 1, and this toolx knows 3"},
		{"schema: 2\ntools: {a: {b: 'v1,name:00'}}\n", "tools.a.b is not the JSON of a tool definition"},
		{`{"schema":2,"tools":{"a":{"b":"v1,name:00"}}}`, "tools.a.b is not the JSON of a tool definition"},
		{"schema: 3\nservers: {a: {tools: {b: 'v1,name:00'}}}\n", "servers.a.tools.b: not the JSON of a tool definition"},
		{"schema: 3\nservers: {a: {tools: {b: '{\"name\":\"c\"}'}}}\n", `servers.a.tools.b: its name is "c"`},
		{"schema: 3\nservers: {a: {command: {}}}\n", "servers.a.command is not part of a snapshot"},
		{`{"schema":3,"servers":{"a":{"tools":{"b":"v1,name:00"}}}}`, `tool "b": not the JSON of a tool definition`},
		{"schema: 2\nfindings: [{server: a, reason: x}]\n", "findings[0] has no id"},
		{"schema: 2\nfindings: [{id: era}]\n", "findings[0] (era) has no reason"},
		{"schema: 2\nfindings: [{id: era, resaon: x}]\n", "resaon"},
		{`{"schema":2,"findings":[{"id":"era","resaon":"x"}]}`, "resaon"},
		{"schema: 2\nfindings: {\n", ""},
	} {
		file := filepath.Join(t.TempDir(), "b.yaml")
		if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadBaseline(file)
		var mistake *BaselineError
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), test.want) || mistake.Hint() == "" {
			t.Errorf("%q gives %v, want %q", test.text, err, test.want)
		}
	}
	_, err := ReadBaseline(filepath.Join(t.TempDir(), "none.yaml"))
	if err == nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there gives %v", err)
	}
}

func FuzzReadBaseline(f *testing.F) {
	f.Add("schema: 2\nfindings: [{id: era, reason: x}]\ntools: {a: {b: '{}'}}\n")
	f.Add(`{"schema":3,"findings":[],"servers":{"a":{"tools":{"b":{"name":"b"}}}}}`)
	f.Add("a: &a [*a]")
	f.Fuzz(func(t *testing.T, text string) {
		b := &Baseline{}
		if b.decode([]byte(text)) != nil || b.check() != nil {
			return
		}
		b.Apply(judgedReport())
	})
}
