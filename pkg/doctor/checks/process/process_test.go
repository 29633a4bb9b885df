package process_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/procs"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

// TestADeadDatabaseIsTheCause shows that a server that dies of its database after the handshake is told of that, and of
// nothing that follows from it, and that a death in the probing run has the same fixes.
func TestADeadDatabaseIsTheCause(t *testing.T) {
	const said = "Error: connect ECONNREFUSED 127.0.0.1:6379"
	report := doctor.Judge(doctortest.Examine(t, doctortest.Options(), "exit-after-init", "--stderr", said),
		doctor.Selection{})
	ids := doctortest.IDs(report, check.Warning)
	if !strings.Contains(ids, "backend-unreachable") || strings.Contains(ids, "capability-false") ||
		strings.Contains(ids, "exit-during-request") {
		t.Errorf("found %s", ids)
	}
	e := doctortest.Evidence(&evidence.Run{})
	ended := &diagnose.Failure{Ending: diagnose.EndingExited, How: "exit status 1", StderrTail: []string{said}}
	e.Probe = &evidence.Run{
		Name: "probing", Ended: ended, Marks: make(map[string]time.Time),
		Exchanges: []*evidence.Exchange{{Method: "initialize", Frame: json.RawMessage(`{}`)}, {Method: "ping"}},
	}
	found := doctortest.Ask("exit-during-request")(e)
	if len(found) != 1 || !strings.Contains(found[0].Title, "127.0.0.1:6379 cannot be reached") ||
		!strings.Contains(strings.Join(found[0].Fix, "\n"), "start the service") {
		t.Errorf("found %+v", found)
	}
}

// TestAlikeCountsOneRun shows that what both runs have is counted in one of them.
func TestAlikeCountsOneRun(t *testing.T) {
	in := func(run string) check.Finding { return check.At(&evidence.Where{Run: run, Method: "ping"}, "odd") }
	found := check.Alike([]check.Finding{in("clean"), in("clean"), in("clean"), in("probing"), in("probing")})
	if len(found) != 1 || !slices.Equal(found[0].Notes, []string{"and 2 more like it"}) {
		t.Errorf("found %+v", found)
	}
}

// TestExamplesOnStderrAreNoSecrets shows that what documents give as an example is none, and neither is a word of help.
func TestExamplesOnStderrAreNoSecrets(t *testing.T) {
	for line, want := range map[string]bool{
		"usage: server " +
			"postgresql://root:password@localhost:5432/db": false, "DATABASE_URL=mysql://user:pass@host/db": false,
		"e.g. Authorization: Bearer YOUR_API_KEY": false, "set DB_PASSWORD:not-configured-yet": false,
		"key: AKIAIOSFODNN7EXAMPLE":         false,
		"give --token xxxxxxxxxxxxxxxxxxxx": false, "example: sk-your-api-key-0123456789": false,
		"password: password": false,
		"connecting to postgresql://root:hunter22@db:5432/x": true, "using AKIAIOSFODNN7ABCDEFG": true,
		"no such file: /srv/keys/oauth.json": false,
	} {
		e := doctortest.Evidence(&evidence.Run{Events: []exec.Event{wire.StderrLine{Text: line}}})
		e.Launch.Env = []string{
			"DB_PASSWORD=password", "API_TOKEN=YOUR_API_KEY", "OAUTH_CREDENTIALS=/srv/keys/oauth.json",
		}
		if found := doctortest.Ask("stderr-secret")(e); (len(found) > 0) != want {
			t.Errorf("%s: %+v, want %t", line, found, want)
		}
	}
}

func TestSecretsOfTheEnvironmentAreFoundOnStderr(t *testing.T) {
	t.Parallel()
	const secret = "correct-horse-battery"
	options := doctortest.Options()
	options.Environ = append(options.Environ, "BROKER_PASSWORD="+secret)
	report := doctor.Judge(doctortest.Examine(t, options, "good", "--stderr", "connecting with "+secret),
		doctor.Selection{})
	found := doctortest.Findings(t, report, "stderr-secret")
	if len(found) != 1 {
		t.Fatalf("found %d secrets, want 1", len(found))
	}
	if f := found[0]; strings.Contains(f.Evidence, secret) || !strings.Contains(f.Title, "BROKER_PASSWORD") {
		t.Errorf("the finding is %q with %q, want the name without the value", f.Title, f.Evidence)
	}
}

// TestAHealthyServerIsSilent shows that no check of these families finds anything
// on a correct server, apart from those that report a measurement.
func TestAHealthyServerIsSilent(t *testing.T) {
	t.Parallel()
	options := doctortest.Options()
	options.Waits.Idle, options.Waits.Quiet = 0, 0 // the real waits
	fleet := doctortest.Examine(t, options, "good")
	report := doctor.Judge(fleet, doctor.Selection{})
	for _, one := range doctortest.Checks(check.GroupProcess, check.GroupFraming, check.GroupRPC,
		check.GroupHandshake) {
		for _, finding := range report.Findings {
			if finding.ID == one.ID && one.ID != "era" {
				t.Errorf("%s: %s: %s", finding.ID, finding.Title, finding.Evidence)
			}
		}
	}
	for _, result := range report.Checks {
		if result.Outcome == check.Broke {
			t.Errorf("%s broke: %s", result.ID, result.Because)
		}
	}
	if run := fleet.Servers[0].Probe; run.Marks["terminated"].IsZero() {
		t.Error("SIGTERM did not end the server")
	}
}

// TestSilentServerLogsTo: the log that a silent server has open is named, also where it does not say why.
func TestSilentServerLogsTo(t *testing.T) {
	log := filepath.Join(t.TempDir(), "server.log")
	e := doctortest.Evidence(&evidence.Run{Failure: &diagnose.Failure{
		Ending: diagnose.EndingSilent, Waiting: "initialize", State: &procs.State{Log: log},
	}})
	e.Launch.Command = "made"
	if found := doctortest.Ask("handshake-timeout")(e); len(found) != 1 || !slices.Contains(found[0].Notes,
		"it logs to "+log) {
		t.Errorf("%+v, want a note of the log", found)
	}
}

func TestSlowStart(t *testing.T) {
	for _, one := range []struct {
		took, again, queued time.Duration // again is of the second start, or 0
		want                check.Severity
	}{
		{5 * time.Second, 0, 0, ""},
		{6 * time.Second, 0, 0, check.Warning},
		{31 * time.Second, 0, 0, check.Error},
		{6 * time.Second, 6 * time.Second, 0, check.Warning},
		{6 * time.Second, 2 * time.Second, 0, check.Info},
		{31 * time.Second, 2 * time.Second, 0, check.Error},
		{6 * time.Second, 6 * time.Second, time.Second, check.Info},
		{31 * time.Second, 0, 27 * time.Second, check.Info},
		{31 * time.Second, 0, 25 * time.Second, check.Error},
	} {
		began := time.Now()
		start := func(took time.Duration) *evidence.Run {
			return &evidence.Run{Began: began, Exchanges: []*evidence.Exchange{{
				Method: "initialize", At: began.Add(time.Second), Took: took - time.Second, Frame: []byte(`{}`),
			}}}
		}
		e := doctortest.Evidence(start(one.took))
		if one.again > 0 {
			e.Probe = start(one.again)
		}
		e.Clean.Queued = one.queued
		var got check.Severity
		for _, finding := range doctortest.Ask("slow-start")(e) {
			got = check.Warning
			if finding.Severity != "" {
				got = finding.Severity
			}
		}
		if got != one.want {
			t.Errorf("a start of %s is %q, want %q", one.took, got, one.want)
		}
	}
}

// TestBufferedAnswerAheadOfItsTime finds an answer behind the end of stdin also where
// that end was noted a moment later, as on a busy machine.
func TestBufferedAnswerAheadOfItsTime(t *testing.T) {
	began := time.Now()
	run := &evidence.Run{
		Began: began, Failure: &diagnose.Failure{Ending: diagnose.EndingSilent, Waiting: "initialize"},
		Exchanges: []*evidence.Exchange{{
			Method: "initialize", At: began, Took: 500 * time.Millisecond, Frame: []byte(`{}`),
		}},
	}
	run.Events = []exec.Event{wire.StdinClosed{Head: wire.Head{At: began.Add(501 * time.Millisecond)}}}
	if found := doctortest.Ask("output-buffered")(doctortest.Evidence(run)); len(found) != 1 {
		t.Errorf("found %+v", found)
	}
}

// TestLateCause: what a silent server says of its database only after it was given up is the cause, and the answer that
// follows was not in a buffer.
func TestLateCause(t *testing.T) {
	began := time.Now()
	closed := began.Add(30 * time.Second)
	run := &evidence.Run{
		Began: began, Failure: &diagnose.Failure{Ending: diagnose.EndingSilent, Waiting: "initialize"},
		Events: []exec.Event{
			wire.StdinClosed{Head: wire.Head{At: closed}},
			wire.StderrLine{
				Head: wire.Head{At: closed.Add(time.Millisecond)},
				Text: "Failed to connect to MongoDB: MongoServerSelectionError: connect ECONNREFUSED 127.0.0.1:27017",
			},
		},
	}
	e := doctortest.Evidence(run)
	e.Launch = &config.Resolved{Command: "server"}
	found := doctortest.Ask("backend-unreachable")(e)
	if len(found) != 1 || !strings.HasPrefix(found[0].Title, "127.0.0.1:27017 cannot be reached") {
		t.Errorf("found %+v", found)
	}
	check, _ := doctor.Find("output-buffered")
	if !slices.Contains(check.After, "backend-unreachable") {
		t.Errorf("output-buffered is asked after %v", check.After)
	}
}

// TestPortsOfStdioServers: a port on loopback, or one that is not said to serve MCP, is no fault.
func TestPortsOfStdioServers(t *testing.T) {
	for _, test := range []struct {
		name, socket, prints, arg string
		want                      string // severities
	}{
		{"loopback", "127.0.0.1:9229 (pid 7)", "", "", ""},
		{"loopback that serves MCP", "[::1]:3000 (pid 7)", "MCP on http://localhost:3000/mcp", "", ""},
		{"a page for a login", "0.0.0.0:8400 (pid 7)", "log in at http://localhost:8400/login", "", "info"},
		{"a bridge of a browser", "[::]:9009 (pid 7)", "", "", "info"},
		{"it prints the address of MCP", "0.0.0.0:3000 (pid 7)", "listening on http://0.0.0.0:3000/mcp", "", "error"},
		{"it was told to serve SSE", "[::]:3000 (pid 7)", "", "--sse", "error"},
		{"one address of the network", "192.0.2.1:3000 (pid 7)", "", "--http", "warning"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := doctortest.Evidence(&evidence.Run{
				Name: "clean", Tree: []procs.Process{{PID: 7}}, Listening: []string{test.socket},
			})
			e.Launch = &config.Resolved{Command: "node", Args: []string{test.arg}}
			e.Clean.Events = append(e.Clean.Events, wire.StderrLine{Text: test.prints})
			fleet := &evidence.Fleet{Servers: []*evidence.Evidence{e}}
			report := doctor.Judge(fleet, doctor.Selection{Only: []string{"listens-on-network"}})
			var got []string
			for _, f := range doctortest.Findings(t, report, "listens-on-network") {
				got = append(got, string(f.Severity))
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestListeningProcesses(t *testing.T) {
	e := doctortest.Evidence(&evidence.Run{Listening: []string{
		"0.0.0.0:3000 (pid 7)", "127.0.0.1:9229 (pid 7)", "[::]:3001 (pid 7)",
	}})
	var severities []check.Severity
	for _, finding := range doctortest.Ask("listens-on-network")(e) {
		severities = append(severities, finding.Severity)
	}
	if want := []check.Severity{check.Info, check.Info}; !slices.Equal(severities, want) {
		t.Errorf("listens-on-network: severities are %q, want %q", severities, want)
	}
}

func TestPipeHeldOpen(t *testing.T) {
	stdout := wire.PipeInherited{Pipe: "stdout"}
	worker := evidence.Orphan{
		Process: procs.Process{PID: 7, Command: []string{"worker"}}, Pipes: []string{"stderr", "stdout"},
	}
	for _, one := range []struct {
		name string
		run  *evidence.Run
		want int
	}{
		{"no pipe", &evidence.Run{Orphans: []evidence.Orphan{worker}}, 0},
		{"stderr", &evidence.Run{Orphans: []evidence.Orphan{worker}, Events: []exec.Event{wire.PipeInherited{Pipe: "stderr"}}}, 0},
		{"stdout", &evidence.Run{Orphans: []evidence.Orphan{worker}, Events: []exec.Event{stdout}}, 1},
	} {
		if found := doctortest.Ask("pipe-held-open")(doctortest.Evidence(one.run)); len(found) != one.want {
			t.Errorf("%s: %+v, want %d findings", one.name, found, one.want)
		}
	}
}

// TestTheDoctorEnds shows that an examination ends soon when its context does,
// whatever the server does.
func TestTheDoctorEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	options := doctortest.Options()
	options.Doing = func(string, string) { cancel() }
	fleet := doctor.Examine(ctx, nil, []*config.Server{doctortest.Server(t, "silent", "ignore-eof", "ignore-sigterm")},
		options)
	if !fleet.Servers[0].Cut {
		t.Error("the evidence does not say that it is cut short")
	}
}
