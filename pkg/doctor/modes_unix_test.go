//go:build unix

package doctor_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/servers/fake"
)

// TestEveryMode examines a fake server in each of its modes: no check crashes, an error says why a server cannot be
// examined, the report is JSON, and no process is left. The program's own test has what is heavy, with its memory.
func TestEveryMode(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short leaves out what TestCases does as well, with most modes")
	}
	options := doctortest.ShortTimeouts()
	options.Waits.Answer = 100 * time.Millisecond // what is not answered by then may be judged in another way, as well
	for _, mode := range fake.Modes() {
		if mode.Heavy() && mode.Name != "endless-line" {
			continue
		}
		t.Run(mode.Name, func(t *testing.T) {
			t.Parallel()
			pids := filepath.Join(t.TempDir(), "pids")
			server := doctortest.Server(t, "--pids", pids, mode.Name)
			fleet := doctor.Examine(context.Background(), nil, []*config.Server{server}, options)
			report := doctor.Judge(fleet, doctor.Selection{})
			broken(t, report)
			unreachable := report.Status == doctor.StatusUnreachable
			failed := slices.ContainsFunc(report.Findings, func(f check.Finding) bool {
				return f.Severity == check.Error
			})
			if len(report.Checks) == 0 || unreachable && !failed {
				t.Errorf("%d checks, and no error says why the server is %s", len(report.Checks), report.Status)
			}
			if _, err := json.Marshal(report.Gathered()); err != nil {
				t.Error(err)
			}
			wantEnded(t, pids, unreachable)
		})
	}
}

// wantEnded wants the processes named in a file to have ended. Only a server that was given up may have been ended
// before it wrote the file. A process that was killed ends when the machine has time for it.
func wantEnded(t *testing.T, file string, givenUp bool) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !(givenUp && errors.Is(err, fs.ErrNotExist)) {
		t.Errorf("the fake server left no process ids: %v", err)
	}
	for _, field := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(20 * time.Second); !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH); {
			if time.Now().After(end) {
				t.Fatalf("process %d is left", pid)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}
