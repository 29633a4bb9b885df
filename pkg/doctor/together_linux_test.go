package doctor_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"

	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
)

// examineIdle examines a server on a machine that is not busy, and returns the ids of what is wrong with it. together
// reports whether it was started again before it was asked to end.
func examineIdle(t *testing.T, server *config.Server) (ids string, together bool) {
	t.Helper()
	var closed atomic.Bool
	options := doctortest.Options()
	options.Busy = func() bool { return false }
	options.Watch = func(event exec.Event) {
		if _, is := event.(wire.StdinClosed); is {
			closed.Store(true)
		}
	}
	options.Doing = func(_, what string) {
		together = together || what == "starting it again to probe it" && !closed.Load()
	}
	fleet := doctor.Examine(context.Background(), nil, []*config.Server{server}, options)
	return doctortest.IDs(doctor.Judge(fleet, doctor.Selection{}), check.Warning), together
}

func TestStartsTogether(t *testing.T) {
	t.Parallel()
	exclusive := doctortest.Server(t, "good")
	exclusive.Exclusive = true
	for _, one := range []struct {
		name     string
		server   *config.Server
		together bool
	}{
		{"healthy", doctortest.Server(t, "good"), true},
		{"the entry is exclusive", exclusive, false},
		{"it listens on a port", doctortest.Server(t, "good", "--stderr", "Listening on 127.0.0.1:3000"), false},
		{"it has a pid file", doctortest.Server(t, "good", "--stderr", "wrote /run/x/server.pid (PID file)"), false},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			found, together := examineIdle(t, one.server)
			if found != "" || together != one.together {
				t.Errorf("found %q, together: %t, want %t", found, together, one.together)
			}
		})
	}
}

// TestDisturbedRunsAreRepeated has a server whose second process fails, complains or ends the first, as if both needed
// the same: neither is its fault.
func TestDisturbedRunsAreRepeated(t *testing.T) {
	t.Parallel()
	fake := doctortest.Server(t, "good").Command
	for name, second := range map[string]string{
		"fails":          "exit 1",
		"complains":      "echo port 3000 is in use, using 3001",
		"ends the first": `kill "$(cat first)"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const script = `echo >>starts
case $(wc -l <starts) in
1) echo $$ >first ;;
2) `
			server := config.AdHoc([]string{doctortest.File(t, filepath.Join(t.TempDir(), "server"),
				"#!/bin/sh\n"+script+second+" ;;\nesac\nexec '"+fake+"' good\n", 0o700)}, "", nil)
			server.Cwd = filepath.Dir(server.Command)
			found, together := examineIdle(t, server)
			if !together || found != "" {
				t.Errorf("found %q, together: %t", found, together)
			}
		})
	}
}
