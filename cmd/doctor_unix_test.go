//go:build unix

package cmd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/servers/fake"
)

// visited is one run of toolx doctor --json.
type visited struct {
	code   int
	report doctor.Report
	err    error // of reading stdout as one document
	stderr string
	memory int64 // bytes, at its largest
	left   []int // processes of the server that are still there
}

// visit lets a toolx program examine a fake server in the given modes.
func visit(t *testing.T, toolx string, args ...string) visited {
	t.Helper()
	pids := filepath.Join(t.TempDir(), "pids")
	limit := "2s"
	switch args[len(args)-1] {
	case "cursor-grows", "pages-huge", "pages-wide", "tools-10k": // much to read, and all of it comes
		limit = "60s"
	}
	// The doctor ends by itself long before its own time is up, however busy the machine is; what does not end fails
	// with the test's time limit.
	command := append([]string{
		"doctor", "--json", "--start-timeout", limit, "--max-time", "30m", "--", "fakeserver", "--pids", pids,
	}, args...)
	peak := filepath.Join(t.TempDir(), "peak")
	cmd := exec.CommandContext(t.Context(), measured(t), append([]string{peak, toolx}, command...)...)
	cmd.Dir = emptyFolder(t)
	cmd.Env = append(os.Environ(), homeVariables(t.TempDir())...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the exit code says how it ended
	v := visited{code: cmd.ProcessState.ExitCode(), stderr: stderr.String(), memory: peakOf(t, peak)}
	decoder := json.NewDecoder(&stdout)
	if v.err = decoder.Decode(&v.report); v.err == nil && decoder.More() {
		v.err = errors.New("there is more than one document")
	}
	v.left = leftBehind(t, pids, v.report.Status == doctor.StatusUnreachable)
	return v
}

// leftBehind are the processes named in a file that do not end. One that was killed ends when the machine has time for
// it. Only a server that was given up may have been ended before it wrote the file.
func leftBehind(t *testing.T, file string, givenUp bool) []int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !(givenUp && errors.Is(err, fs.ErrNotExist)) {
		t.Errorf("the fake server left no process ids: %v", err)
	}
	var left []int
	for _, field := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		if !within(func() bool { return !alive(pid) }) {
			left = append(left, pid)
		}
	}
	return left
}

// maxDoctorMemory bounds each visit here.
const maxDoctorMemory = 256 << 20

// TestDoctorSurvivesEveryServer visits a fake server in each of its heavy modes: the doctor ends by itself with one
// valid document, no check crashes, its memory is bounded and no process is left. With -matrix, it visits all modes.
// Otherwise TestEveryMode of package doctor examines the others, and the line without an end, which takes 25 s here.
func TestDoctorSurvivesEveryServer(t *testing.T) {
	t.Parallel()
	long(t)
	toolx := buildToolx(t)
	modes := make(chan []string)
	go func() {
		defer close(modes)
		for _, mode := range fake.Modes() {
			if !*matrix && (!mode.Heavy() && mode.Name != "good" || mode.Name == "endless-line") {
				continue
			}
			if mode.Name == "elicit-huge" { // each form takes most of a second to judge
				modes <- []string{"--count", "5", mode.Name}
				continue
			}
			modes <- []string{mode.Name}
		}
		modes <- []string{"--count", "100000", "tools-10k"}
		modes <- []string{"--bytes", "60000000", "huge-line"}
		modes <- []string{"--bytes", "60000000", "huge-text-line"}
	}()
	var wait sync.WaitGroup
	for range 12 { // mostly they wait
		wait.Go(func() {
			for mode := range modes {
				v := visit(t, toolx, mode...)
				v.check(t, strings.Join(mode, " "))
			}
		})
	}
	wait.Wait()
}

// check holds what is promised of every visit.
func (v visited) check(t *testing.T, mode string) {
	t.Helper()
	if v.err != nil || v.report.Schema != 1 || len(v.report.Checks) == 0 {
		t.Errorf("%s: stdout is no report: %v", mode, v.err)
	}
	if v.stderr != "" {
		t.Errorf("%s: stderr has %q", mode, v.stderr)
	}
	failed := slices.ContainsFunc(v.report.Findings, func(f check.Finding) bool { return f.Severity == check.Error })
	want := map[string]int{doctor.StatusUnreachable: 4, doctor.StatusAuth: 3}[v.report.Status]
	if want == 0 && failed {
		want = 6
	}
	if v.code != want {
		t.Errorf("%s: exit code %d, want %d for a report that is %s", mode, v.code, want, v.report.Status)
	}
	if v.report.Status == doctor.StatusUnreachable && !failed {
		t.Errorf("%s: the server could not be examined, and no error says why", mode)
	}
	for _, one := range v.report.Checks {
		if one.Outcome == check.Broke {
			t.Errorf("%s: %s: %s", mode, one.ID, one.Because)
		}
	}
	if v.memory > maxDoctorMemory {
		t.Errorf("%s: %d MiB of memory", mode, v.memory>>20)
	}
	if len(v.left) > 0 {
		t.Errorf("%s: processes %v are left behind", mode, v.left)
	}
}

// TestDoctorInterrupted sends Ctrl-C while a server is silent: the report comes all
// the same, says that it is not whole, and judges nothing that it has not seen.
func TestDoctorInterrupted(t *testing.T) {
	t.Parallel()
	r := start(t, "doctor", "--json", "--trace", "--", "fakeserver", "--pids", "PIDS", "silent")
	r.await("→ initialize")
	r.signal(syscall.SIGINT)
	r.end(130)
	var report doctor.Report
	if err := json.Unmarshal(r.stdout.Bytes(), &report); err != nil {
		t.Fatalf("%v: %s", err, &r.stdout)
	}
	if report.Status != doctor.StatusInterrupted || report.Servers[0].Status != "unfinished" {
		t.Errorf("the report is %s, its server %s", report.Status, report.Servers[0].Status)
	}
	for _, finding := range report.Findings {
		if finding.ID == "handshake-timeout" || finding.ID == "exit-before-handshake" {
			t.Errorf("%s was found in a server that was given no time", finding.ID)
		}
	}
}

// TestDoctorOnATerminal watches the line that says what is being done, and the report below it: no sequence of a
// server's text, no line beyond the width but what is for pasting.
func TestDoctorOnATerminal(t *testing.T) {
	t.Parallel()
	term := onTerminal(t, nil, "doctor", "--", "fakeserver", "banner-ansi")
	term.await(`doctor  [\d.]+m?s  starting it`)
	out := term.end(6)
	if !strings.Contains(out, "\x1b[K") {
		t.Error("the live line is not taken away")
	}
	for _, want := range []string{"stdout-pollution", "before initialize:", `\x1b[2m2026`, "toolx proxy"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "\x1b[2m2026") {
		t.Error("a server's escape sequence reaches the terminal")
	}
}
