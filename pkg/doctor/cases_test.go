package doctor_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/rules"
)

// TestCases examines a fake server for each case of checks/FAMILY/cases.txt, and looks for the finding of the check.
//
//	id         the check
//	fake       the arguments of the fake server, as a shell reads them
//	as         the program that the fake server's name says it is
//	os         the only system on which the finding is certain
//	patience   how long the doctor waits, a key of patience
//	call       a tool and its arguments, to be called
//	severity, evidence, fix, phase, culprit
//	           what the first finding has, of most of them a part
//	words      a part of anything that the first finding says, quoted as in Go if need be
//	beside     the ids of the other findings where only the checks of stdout are made, or none
func TestCases(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("checks", "*", "cases.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range rules.Read(strings.ReplaceAll(string(text), "\r\n", "\n")) {
			t.Run(one.ID+"/"+one.Get("fake"), func(t *testing.T) {
				t.Parallel()
				if goos := one.Get("os"); goos != "" && goos != runtime.GOOS {
					t.Skip("only on " + goos)
				}
				if testing.Short() && one.Get("fake") == "pages-huge" {
					t.Skip("-short leaves out large input")
				}
				selection := doctor.Selection{}
				if one.Get("beside") != "" {
					selection.Only = []string{"stdout-*"}
				}
				expect(t, one, doctor.Judge(examineCase(t, one), selection))
			})
		}
	}
}

// patience has the options that wait for answers for less time, by the names that cases use.
func patience(name string) doctor.Options {
	switch name {
	case "impatient":
		return doctortest.ShortTimeouts()
	case "impatientCalls":
		return doctortest.ShortCallTimeouts()
	}
	options := doctortest.Options()
	if name == "mute" {
		options.Limit = 4 * time.Second // once it has started
	}
	return options
}

func examineCase(t *testing.T, one *rules.Rule) *evidence.Fleet {
	t.Helper()
	args := cmdline.ShellCommands(one.Get("fake"))[0].Words
	server := doctortest.Server(t, args...)
	if name := one.Get("as"); name != "" {
		server = doctortest.ServerAs(t, name, args...)
	}
	options := patience(one.Get("patience"))
	if tool, arguments, is := strings.Cut(one.Get("call"), " "); is {
		options = doctortest.ShortCallTimeouts()
		options.Limit = 5 * time.Second
		options.Calls = []evidence.Call{{Tool: tool, Arguments: json.RawMessage(arguments)}}
	}
	return doctor.Examine(context.Background(), nil, []*config.Server{server}, options)
}

// expect looks for the finding of a case in a report.
func expect(t *testing.T, one *rules.Rule, report *doctor.Report) {
	t.Helper()
	broken(t, report)
	found := doctortest.Findings(t, report, one.ID)
	if len(found) == 0 {
		t.Fatalf("found nothing; errors and warnings: %s", doctortest.IDs(report, check.Warning))
	}
	f := found[0]
	if f.Where == nil || f.Where.Run == "" {
		t.Fatalf("the finding has no place: %+v", f.Where)
	}
	culprit := ""
	if f.Culprit != nil {
		culprit = f.Culprit.Name
	}
	words := one.Get("words")
	if plain, err := strconv.Unquote(words); err == nil {
		words = plain
	}
	for what, holds := range map[string]bool{
		"severity": one.Get("severity") == "" || string(f.Severity) == one.Get("severity"),
		"evidence": strings.Contains(f.Evidence, one.Get("evidence")),
		"fix": slices.ContainsFunc(f.Fix, func(fix string) bool { // each finding says what to do
			return strings.Contains(fix, one.Get("fix"))
		}),
		"phase":   one.Get("phase") == "" || f.Where.Phase == one.Get("phase"),
		"culprit": strings.Contains(culprit, one.Get("culprit")),
		"words":   strings.Contains(doctortest.Text(f), words),
	} {
		if !holds {
			t.Errorf("%s: want %q in %+v", what, one.Get(what), f)
		}
	}
	if beside := one.Get("beside"); beside != "" { // one cause, one finding
		want := strings.TrimSuffix(one.ID+" "+beside, " none")
		if got := doctortest.IDs(report, check.Info); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}

// broken fails where a check crashed.
func broken(t *testing.T, report *doctor.Report) {
	t.Helper()
	for _, result := range report.Checks {
		if result.Outcome == check.Broke {
			t.Errorf("%s: %s", result.ID, result.Because)
		}
	}
}
