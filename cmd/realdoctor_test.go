package cmd_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
)

// diagnosis is what the doctor must say of a published server: every finding that is more than a note, by its id.
type diagnosis struct {
	program  string // in node_modules/.bin
	args     []string
	env      []string
	findings []string
	// dirt is the beginning of what a polluter writes first, culprit who wrote it.
	dirt, culprit string
	// call is a command line behind "toolx call" that works in spite of it, answer
	// what it prints; empty where the server's tools need a service that is not here.
	call   []string
	answer string
}

// diagnoses are the published servers that tests pin: four that are well, and five
// that pollute stdout.
func diagnoses() []diagnosis {
	return []diagnosis{
		{program: "mcp-server-everything"},
		{program: "mcp-server-filesystem", args: []string{"."}},
		{program: "mcp-server-memory"},
		{program: "mcp-server-sequential-thinking"}, // the 2,781 characters of its one description are a note
		{
			program: "time-mcp", findings: []string{"stdout-pollution"},
			dirt: "Starting Time MCP server...", culprit: "a start-up message (console.log)",
			call: []string{"days_in_month", "date=2024-02-01"}, answer: "29",
		},
		{
			program: "calculator-mcp", findings: []string{"stdout-pollution"},
			dirt: "This server is running on stdio", culprit: "a start-up message (console.log)",
			call: []string{"add", "a=40", "b=2"}, answer: "42",
		},
		{
			program: "edgeone-pages-mcp", findings: []string{"stdout-pollution"},
			dirt: "Package version: 0.0.", culprit: "console.log",
		},
		{
			program: "browser-tools-mcp", findings: []string{"stdout-pollution", "tool-description-missing"},
			dirt: "Starting server discovery process", culprit: "a start-up message (console.log)",
		},
	}
}

// TestDoctorOnRealServers examines published servers: the doctor finds what is
// wrong with them, where, and who wrote it, and nothing else.
func TestDoctorOnRealServers(t *testing.T) {
	t.Parallel()
	folder := serversFolder(t)
	toolx := buildToolx(t)
	for _, want := range diagnoses() {
		if !*matrix && want.program != "mcp-server-memory" && want.program != "time-mcp" {
			continue
		}
		t.Run(want.program, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(folder, "node_modules", ".bin", want.program)
			server := append([]string{"--", program}, want.args...)
			report := want.examine(t, toolx, server)
			want.check(t, report)
			if want.call != nil {
				out := want.run(t, toolx, append(append([]string{"call"}, want.call...), server...))
				if !strings.Contains(out, want.answer) {
					t.Errorf("toolx call printed %q, want %q in it", out, want.answer)
				}
			}
		})
	}
}

func (d diagnosis) examine(t *testing.T, toolx string, server []string) *doctor.Report {
	t.Helper()
	// a busy machine is slow
	out := d.run(t, toolx, append([]string{"doctor", "--json", "--fail-on", "never", "--skip", "slow-*"}, server...))
	var report doctor.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return &report
}

// run runs toolx in an empty folder and wants it to succeed.
func (d diagnosis) run(t *testing.T, toolx string, args []string) string {
	t.Helper()
	cmd := exec.Command(toolx, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(append(os.Environ(), homeVariables(t.TempDir())...), d.env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("toolx %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return string(out)
}

func (d diagnosis) check(t *testing.T, report *doctor.Report) {
	t.Helper()
	var ids []string
	for _, finding := range report.Findings {
		if finding.Severity.AtLeast(check.Warning) {
			ids = append(ids, finding.ID)
		}
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); !slices.Equal(ids, d.findings) {
		t.Errorf("findings %q, want %q", ids, d.findings)
	}
	if d.dirt == "" {
		return
	}
	at := slices.IndexFunc(report.Findings, func(f check.Finding) bool { return strings.HasPrefix(f.Evidence, d.dirt) })
	if at < 0 {
		t.Fatalf("no finding shows %q: %+v", d.dirt, report.Findings)
	}
	finding := report.Findings[at]
	if finding.Where == nil || finding.Where.Line != 1 || finding.Where.Phase != "before initialize" {
		t.Errorf("the place is %+v", finding.Where)
	}
	if finding.Culprit == nil || finding.Culprit.Name != d.culprit || len(finding.Fix) == 0 {
		t.Errorf("the culprit is %+v, the fix %q", finding.Culprit, finding.Fix)
	}
}
