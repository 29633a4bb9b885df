//go:build unix

package process_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/doctortest"
)

// buffered is a server that answers, and whose answers lie in a buffer until its
// stdin ends: what a Python program does that does not flush.
const buffered = `cat >/dev/null; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"b","version":"1"}}}'`

func TestOutputBuffered(t *testing.T) {
	t.Parallel()
	server := config.AdHoc([]string{"sh", "-c", buffered}, "", nil)
	options := doctortest.Options()
	options.Limit = 500 * time.Millisecond
	report := doctor.Judge(doctor.Examine(context.Background(), nil, []*config.Server{server}, options),
		doctor.Selection{})
	found := doctortest.Findings(t, report, "output-buffered")
	if len(found) == 0 || found[0].Severity != check.Error || found[0].Where == nil || found[0].Where.Run == "" ||
		!strings.Contains(found[0].Evidence, "after stdin was closed") ||
		!strings.Contains(strings.Join(found[0].Fix, "\n"), "python -u") {
		t.Errorf("found %+v", found)
	}
	for _, result := range report.Checks {
		if result.ID == "handshake-timeout" &&
			(result.Outcome != check.Skipped || result.Because != "output-buffered") {
			t.Errorf("handshake-timeout: %s because %q, want it skipped for its cause", result.Outcome, result.Because)
		}
	}
}

// TestOutputBufferedElsewhere: a server for Python that answers only because this environment has PYTHONUNBUFFERED is a
// warning; not if its entry sets that, if it answers without, or if something else runs it.
func TestOutputBufferedElsewhere(t *testing.T) {
	t.Parallel()
	fake := doctortest.Server(t, "good").Command
	folder := t.TempDir()
	for name, script := range map[string]string{
		"python3":    `test -n "$PYTHONUNBUFFERED" || { ` + buffered + `; exit; }; exec "` + fake + `" good`,
		"python3.12": `exec "` + fake + `" good`,
		"node":       `test -n "$PYTHONUNBUFFERED" || { ` + buffered + `; exit; }; exec "` + fake + `" good`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		program string
		env     map[string]string
		want    int
	}{
		{"python3", nil, 1},
		{"python3", map[string]string{"PYTHONUNBUFFERED": "1"}, 0},
		{"python3.12", nil, 0},
		{"node", nil, 0},
	} {
		server := config.AdHoc([]string{filepath.Join(folder, test.program), "server.py"}, "", nil)
		server.Env = test.env
		options := doctortest.Options()
		options.Environ = append(options.Environ, "PYTHONUNBUFFERED=1")
		report := doctor.Judge(doctor.Examine(context.Background(), nil, []*config.Server{server}, options),
			doctor.Selection{})
		found := doctortest.Findings(t, report, "output-buffered")
		if len(found) != test.want || test.want > 0 && found[0].Severity != check.Warning {
			t.Errorf("%s %v: %+v, want %d", test.program, test.env, found, test.want)
		}
	}
}
