package framing_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/checks/framing"
	"toolx/pkg/doctor/culprit"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/procs"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

// judgeFake examines a fake server and judges framing.
func judgeFake(t *testing.T, options doctor.Options, args ...string) *doctor.Report {
	t.Helper()
	return doctor.Judge(doctortest.Examine(t, options, args...), doctor.Selection{Only: []string{"stdout-*"}})
}

// TestFindingIsComplete holds the finding of the report that toolx is known for:
// line, byte, time and phase, culprit, both fixes, the work-around, the verdicts.
func TestFindingIsComplete(t *testing.T) {
	t.Parallel()
	const banner = "[dotenv@17.2.3] injecting env (0) from .env -- tip: ⚙️  specify custom .env file path with { " +
		"path: '/custom/path/.env' }"
	server := doctortest.ServerAs(t, "node", "banner", "--text", banner)
	fleet := doctor.Examine(context.Background(), nil, []*config.Server{server}, doctortest.Options())
	report := doctor.Judge(fleet, doctor.Selection{Only: []string{"stdout-*"}})
	found := doctortest.Findings(t, report, "stdout-pollution")
	if len(found) != 1 {
		t.Fatalf("%d findings: %+v", len(found), found)
	}
	f := found[0]
	if f.Where.Line != 1 || *f.Where.Byte != 0 || f.Where.MS <= 0 || f.Where.Run != "clean" ||
		f.Where.Phase != "before initialize" {
		t.Errorf("where: %+v", f.Where)
	}
	if !strings.HasPrefix(banner, strings.TrimSuffix(f.Evidence, "…")) || len(f.Evidence) > evidence.MaxExcerpt ||
		f.Evidence == "" {
		t.Errorf("evidence: %q", f.Evidence)
	}
	if *f.Culprit != (culprit.Culprit{Name: "dotenv 17 (npm)", Confidence: culprit.Certain}) {
		t.Errorf("culprit: %+v", f.Culprit)
	}
	if len(f.Notes) > 0 {
		t.Errorf("the second start's line is counted: %q", f.Notes)
	}
	if len(f.Fix) != 3 || f.Fix[0] != "in the server: dotenv.config({ quiet: true })" ||
		!strings.Contains(f.Fix[1], "DOTENV_CONFIG_QUIET=true") ||
		!strings.HasPrefix(f.Fix[2], `work-around: "command": "toolx", "args": ["proxy", "--", "`) ||
		!strings.Contains(f.Fix[2], `"banner", "--text", "[dotenv`) {
		t.Errorf("fix: %q", f.Fix)
	}
	if !slices.Contains(f.Breaks, "Claude Desktop shows an error") || f.Source == "" {
		t.Errorf("breaks: %q, source %q", f.Breaks, f.Source)
	}
}

// TestBytesOfTheirOwn keeps text on a line of its own pollution, with the victims of
// pollution, whatever bytes are in it; those are a note.
func TestBytesOfTheirOwn(t *testing.T) {
	tolerates := framing.VerdictOf(wire.ClassText).Tolerates
	fails := framing.VerdictOf(wire.ClassGlued).Fails
	for text, id := range map[string]string{"bin\x00ary": "stdout-nul", "\x1b[32mready\x1b[0m": "stdout-ansi"} {
		fleet := &evidence.Fleet{Servers: []*evidence.Evidence{doctortest.Captured(doctortest.Polluted(wire.ClassText,
			1,
			text))}}
		report := doctor.Judge(fleet, doctor.Selection{Only: []string{"stdout-*"}})
		if got := doctortest.IDs(report, check.Info); got != "stdout-pollution"+" "+id {
			t.Errorf("%q: found %q", text, got)
			continue
		}
		text, note := report.Findings[0], report.Findings[1]
		if note.Severity != check.Info || !slices.Equal(note.Breaks, text.Breaks) ||
			!slices.Contains(note.Breaks, tolerates[0]) {
			t.Errorf("%s is %s, and breaks %q", note.ID, note.Severity, note.Breaks)
		}
	}
	glued := doctortest.Captured(doctortest.Polluted(wire.ClassGlued, 1, "\x00\x00"),
		doctortest.Polluted(wire.ClassText,
			2, "a\x00"))
	found := doctortest.JudgeOnly(glued, "stdout-nul").Findings
	if len(found) != 1 || found[0].Severity != check.Error || found[0].Where.Line != 1 ||
		!slices.Contains(found[0].Breaks, fails[1]) {
		t.Errorf("on a message's line: %+v", found)
	}
}

// TestErrorPath tells pollution that comes only when something is asked that cannot
// be had, with what it was.
func TestErrorPath(t *testing.T) {
	t.Parallel()
	report := judgeFake(t, doctortest.Options(), "log-between", "--on", "tools/call", "--text", "Error:_no_such_tool")
	found := doctortest.Findings(t, report, "stdout-pollution-between")
	if len(found) != 1 || found[0].Where.Method != "tools/call" {
		t.Fatalf("found %+v", found)
	}
	if !slices.Contains(found[0].Notes,
		"only on the error path, after a call of an unknown tool, a call without a tool's name") {
		t.Errorf("notes: %q", found[0].Notes)
	}
}

// TestHugeLine grades messages by the limits of the SDKs.
func TestHugeLine(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]check.Severity{
		1_000_000 - 100: "",
		1_000_000 + 1:   check.Warning,
		10<<20 + 1:      check.Error,
	} {
		frame := `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x",
			size-len(`{"jsonrpc":"2.0","id":1,"result":""}`)) + `"}`
		e := doctortest.Captured(wire.NewFrameReceived(time.Time{}, "", 1, []byte(frame)))
		findings := doctortest.Ask("stdout-huge-line")(e)
		switch {
		case want == "" && len(findings) > 0, want != "" && len(findings) != 1:
			t.Errorf("%d bytes: %+v", size, findings)
		case want == check.Error && findings[0].Severity != check.Error,
			want == check.Warning && findings[0].Severity != "":
			t.Errorf("%d bytes: severity %q", size, findings[0].Severity)
		}
	}
	e := doctortest.Captured(doctortest.Polluted(wire.ClassTooLong, 1, "xxxx"))
	if len(doctortest.Ask("stdout-huge-line")(e)) != 1 {
		t.Error("a line over toolx's own limit is not found")
	}
}

// TestFloodIsCounted counts the lines that are not kept.
func TestFloodIsCounted(t *testing.T) {
	t.Parallel()
	report := judgeFake(t, doctortest.Options(), "text-flood-call", "--count", "2500")
	found := doctortest.Findings(t, report, "stdout-pollution-between")
	if len(found) != 1 ||
		!strings.Contains(doctortest.Text(found[0]), "toolx read only the first 2000 of the run's 5000 such lines") {
		t.Errorf("found %+v", found)
	}
}

// TestArgv tells what an installed program was written in by the file itself.
func TestArgv(t *testing.T) {
	script := filepath.Join(t.TempDir(), "some-mcp")
	if err := os.WriteFile(script, []byte("#!/usr/bin/env node\nconsole.log('hello')\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		script:            "node",
		self:              "go",
		"python3":         "python",
		"no-such-program": "",
	} {
		e := &evidence.Evidence{
			Server: config.AdHoc([]string{command}, "", nil), Launch: &config.Resolved{Command: command},
		}
		if got := culprit.PrinterOf(framing.ContextOf(e).Command).Name; got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

// TestFloodRate finds what comes too fast as well as what is too much.
func TestFloodRate(t *testing.T) {
	for _, test := range []struct {
		flood evidence.Flood
		want  int
	}{
		{evidence.Flood{Lines: 100, Bytes: 1000, Over: time.Microsecond}, 0},
		{evidence.Flood{Lines: 100, Bytes: 1 << 20, Over: time.Second}, 0},
		{evidence.Flood{Lines: 100, Bytes: 20_000_001, Over: 2 * time.Second}, 1},
		{evidence.Flood{Lines: 100_000, Bytes: 1 << 20, Over: time.Hour}, 0},
		{evidence.Flood{Lines: 100_000 + 1, Bytes: 1 << 20, Over: time.Hour}, 1},
	} {
		e := doctortest.Captured()
		e.Clean.Flood = test.flood
		if got := len(doctortest.Ask("stdout-flood")(e)); got != test.want {
			t.Errorf("%+v: %d findings, want %d", test.flood, got, test.want)
		}
	}
}

// TestJSONOverLines takes a value that was printed for people as one finding.
func TestJSONOverLines(t *testing.T) {
	e := doctortest.Captured(
		doctortest.Polluted(wire.ClassText, 1, "{"), doctortest.Polluted(wire.ClassText, 2, `  "status": 200,`),
		doctortest.Polluted(wire.ClassText, 3, `  "results": []`), doctortest.Polluted(wire.ClassText, 4, "}"),
		doctortest.Polluted(wire.ClassText, 5, "ready"),
	)
	if list := framing.LineGroups(e, "stdout-json-not-rpc"); len(list) != 1 || list[0].Lines != 4 ||
		list[0].Who.Rule != "json-result" {
		t.Errorf("groups: %+v", list)
	}
	if list := framing.LineGroups(e, "stdout-pollution"); len(list) != 1 || string(list[0].First.Text) != "ready" {
		t.Errorf("the line after the value: %+v", list)
	}
}

// TestLastWords keeps what a server says when it gives up apart from what it says
// at every start. Neither is of the shutdown, and toolx proxy helps with neither.
func TestLastWords(t *testing.T) {
	at := func(since time.Duration, text string) wire.PollutedLine {
		line := doctortest.Polluted(wire.ClassText, 1, text)
		line.Since = since
		return line
	}
	e := doctortest.Captured(
		at(time.Millisecond, "[dotenv@17.2.3] injecting env (0) from .env"),
		at(2*time.Millisecond, "TWILIO_ACCOUNT_SID is missing"),
		wire.ProcessExited{How: "exit status 1", Lived: 50 * time.Millisecond},
	)
	start := doctortest.Ask("stdout-pollution")(e)
	if len(start) != 2 || start[0].Severity != "" || start[1].Severity != check.Warning ||
		doctortest.Ask("stdout-pollution-shutdown")(e) != nil {
		t.Errorf("found %+v", start)
	}
	for _, f := range start {
		if f.Where.Phase != string(wire.PhaseStart) || strings.Contains(doctortest.Text(f), "proxy") {
			t.Errorf("before any answer: %+v", f)
		}
	}
}

// TestPhaseOfSilence keeps text before the first answer at the start, though the
// doctor has given a request up by then.
func TestPhaseOfSilence(t *testing.T) {
	began := time.Unix(0, 0)
	at := func(ms int) exec.Time { return exec.Time{At: began.Add(time.Duration(ms) * time.Millisecond)} }
	line := func(ms int) wire.PollutedLine {
		late := doctortest.Polluted(wire.ClassText, ms, "Package version: 0.0.16")
		late.At, late.Phase = at(ms).At, wire.PhaseRequest
		return late
	}
	e := doctortest.Captured(
		wire.NewFrameSent(at(0).At, "", []byte(`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`)),
		wire.NewFrameSent(at(30).At, "", []byte(`{"jsonrpc":"2.0","id":2,"method":"initialize"}`)),
		line(40),
		wire.NewFrameReceived(at(50).At, "", 2, []byte(`{"jsonrpc":"2.0","id":2,"result":{}}`)),
		line(60),
	)
	start, later := framing.LineGroups(e, "stdout-pollution"), framing.LineGroups(e, "stdout-pollution-between")
	if len(start) != 1 || len(later) != 1 || later[0].First.Line != 60 {
		t.Errorf("before the first answer %+v, after it %+v", start, later)
	}
}

// TestStartOfAProbedServer knows what a server says at its start again where the
// doctor ends it before it has answered anything.
func TestStartOfAProbedServer(t *testing.T) {
	const banner = "Server starting"
	e := doctortest.Captured(doctortest.Polluted(wire.ClassText, 1, banner))
	late := doctortest.Polluted(wire.ClassText, 1, banner)
	late.Phase = wire.PhaseShutdown
	last := doctortest.Polluted(wire.ClassText, 2, "Server stopping")
	last.Phase = wire.PhaseShutdown
	e.Probe = &evidence.Run{
		Name:   "probing",
		Events: []exec.Event{late, last, wire.ProcessExited{How: "exit status 1", Lived: time.Millisecond}},
	}
	start, end := framing.LineGroups(e, "stdout-pollution"), framing.LineGroups(e, "stdout-pollution-shutdown")
	if len(start) != 1 || start[0].Lines != 2 || len(end) != 1 || end[0].First.Line != 2 {
		t.Errorf("at the start %+v, at the end %+v", start, end)
	}
}

// TestEachStartCounts counts the lines of one start, though every start writes them.
func TestEachStartCounts(t *testing.T) {
	var banner []exec.Event
	for number := range 3 {
		banner = append(banner, doctortest.Polluted(wire.ClassText, number+1, "line of a banner"))
	}
	e := doctortest.Captured(banner...)
	e.Probe = &evidence.Run{Name: "probing", Events: banner}
	found := doctortest.Ask("stdout-pollution")(e)
	if len(found) != 1 || !slices.Contains(found[0].Notes, "and 2 more lines") {
		t.Errorf("found %+v", found)
	}
}

// TestUsageLine shows the line with the usage, and not what comes before it.
func TestUsageLine(t *testing.T) {
	e := doctortest.Captured(
		doctortest.Polluted(wire.ClassText, 1, "Azure.Mcp.Server 2.0.5"), doctortest.Polluted(wire.ClassText, 2,
			"Usage:"),
		doctortest.Polluted(wire.ClassText, 3, "  azmcp [command] [options]"),
		wire.ProcessExited{How: "exit status 1", Lived: time.Millisecond},
	)
	found := doctortest.Ask("stdout-usage-text")(e)
	if len(found) != 1 || found[0].Evidence != "Usage: azmcp [command] [options]" || found[0].Where.Line != 2 ||
		!slices.Contains(found[0].Notes, "and 2 more lines") {
		t.Errorf("found %+v", found)
	}
}

// TestProxyNeedsMessages offers toolx proxy only for a server that has sent an answer.
func TestProxyNeedsMessages(t *testing.T) {
	sent := wire.NewFrameSent(time.Time{}, "", []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`))
	answer := wire.NewFrameReceived(time.Time{}, "", 2, []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	log := wire.NewFrameReceived(time.Time{}, "", 2, []byte(`{"jsonrpc":"2.0","method":"log","params":{}}`))
	for name, test := range map[string]struct {
		last wire.FrameReceived
		want bool
	}{"an answer": {answer, true}, "a log": {log, false}} {
		found := doctortest.Ask("stdout-pollution")(doctortest.Captured(sent, doctortest.Polluted(wire.ClassText, 1,
			"hello"), test.last))
		if len(found) != 1 || strings.Contains(doctortest.Text(found[0]), `"proxy"`) != test.want {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// TestSeenProcesses takes what runs for the writer where the command line only leads to it.
func TestSeenProcesses(t *testing.T) {
	shim := procs.Process{PID: 1, Command: []string{"npm exec some-mcp"}, Stdin: true, Stdout: true}
	child := func(in, out bool, command ...string) procs.Process {
		return procs.Process{PID: 2, Parent: 1, Command: command, Stdin: in, Stdout: out}
	}
	native := filepath.Join(t.TempDir(), "some-mcp.exe") // packed, so that it does not say what it is written in
	if err := os.WriteFile(native, []byte("\x7fELFUPX!"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		tree []procs.Process
		text string
		rule string
		want string // in the fix
	}{
		{nil, "[21:42:15 INF] up", culprit.RuleRuntime, "console.error"},
		{[]procs.Process{shim, child(true, true, "dotnet", "x.dll")}, "[21:42:15 INF] up", "serilog", "standardError"},
		{[]procs.Process{shim, child(true, true, "dotnet", "x.dll")}, "hello", culprit.RuleRuntime, "Console.Error"},
		{[]procs.Process{shim, child(true, true, "python3", "x.py")}, "info: up", culprit.RuleRuntime, "sys.stderr"},
		{[]procs.Process{shim, child(false, true, "python3", "x.py")}, "INFO:root:hi", "python-logging", "sys.stderr"},
		{[]procs.Process{shim, child(false, true, "python3", "x.py")}, "hello", culprit.RuleRuntime, "console.error"},
		{[]procs.Process{shim, child(false, false, "python3", "x.py")}, "INFO:root:hi", culprit.RuleRuntime, "console.error"},
		{[]procs.Process{shim, child(true, true, native)}, "hello", culprit.RuleRuntime, "not a message"},
		{[]procs.Process{shim, child(false, true, native)}, "hello", culprit.RuleRuntime, "console.error"},
	} {
		e := &evidence.Evidence{
			Server: config.AdHoc([]string{"npx", "some-mcp"}, "", nil),
			Launch: &config.Resolved{Command: "npx", Args: []string{"some-mcp"}},
			Clean:  &evidence.Run{Tree: test.tree},
		}
		got := culprit.Recognise([]byte(test.text), framing.ContextOf(e))
		if got.Rule != test.rule || !strings.Contains(got.InServer, test.want) {
			t.Errorf("%+v, %q: %+v, want %s", test.tree, test.text, got, test.rule)
		}
	}
}

// TestShippedProgramPrints takes the program that a package brings for the writer, not the script that starts it.
func TestShippedProgramPrints(t *testing.T) {
	t.Parallel()
	self, err := os.Executable() // written in Go
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(t.TempDir(), "node_modules")
	for _, name := range []string{"shop", "shop-here"} {
		if err := os.MkdirAll(filepath.Join(modules, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	script := doctortest.File(t, filepath.Join(modules, "shop", "cli.js"), "", 0o644)
	doctortest.File(t, filepath.Join(modules, "shop", "package.json"),
		`{"name": "shop", "optionalDependencies": {"shop-here": "1"}}`, 0o644)
	doctortest.File(t, filepath.Join(modules, "shop-here", "package.json"), `{"name": "shop-here"}`, 0o644)
	program, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(filepath.Join(modules, "shop-here", "shop.exe"), program, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	e := &evidence.Evidence{
		Server: config.AdHoc([]string{"node", script}, "", nil),
		Launch: &config.Resolved{Command: "node", Args: []string{script}},
	}
	got := culprit.Recognise([]byte("2026-11-27T16:36:04.270018553Z INFO it starts"), framing.ContextOf(e))
	if got.Rule != "timestamp" || !strings.Contains(got.InServer, "os.Stderr") {
		t.Errorf("%+v, want a print of Go's", got)
	}
}

// TestHTTPOnStderr finds a server that tells on stderr that it listens for HTTP,
// and passes one that also answers on stdio.
func TestHTTPOnStderr(t *testing.T) {
	line := wire.StderrLine{Text: "INFO: Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)"}
	e := doctortest.Captured(line)
	if found := doctortest.Ask("stdout-http-mode")(e); found != nil {
		t.Errorf("without a silent end: %+v", found)
	}
	e.Clean.Failure = &diagnose.Failure{Ending: diagnose.EndingSilent}
	found := doctortest.Ask("stdout-http-mode")(e)
	if len(found) != 1 || !strings.Contains(doctortest.Text(found[0]), `"url": "http://127.0.0.1:8000"`) {
		t.Errorf("found %+v", found)
	}
}

// TestWholeURLOfHTTPServers takes the address from the line that has all of it.
func TestWholeURLOfHTTPServers(t *testing.T) {
	const first, second = "MCP server listening on 127.0.0.1:3000", "Endpoint: http://127.0.0.1:3000/mcp"
	e := doctortest.Captured(wire.StderrLine{Text: first}, wire.StderrLine{Text: second})
	e.Launch = &config.Resolved{Command: "server"}
	e.Clean.Failure = &diagnose.Failure{Ending: diagnose.EndingSilent, StderrTail: []string{first, second}}
	if found := doctortest.Ask("stdout-http-mode")(e); len(found) != 1 || !strings.Contains(doctortest.Text(found[0]),
		`:3000/mcp"`) {
		t.Errorf("found %+v", found)
	}
}

// TestNobodyWaitsForAServerThatListensForHTTP would last an hour if the doctor waited for its limit.
func TestNobodyWaitsForAServerThatListensForHTTP(t *testing.T) {
	t.Parallel()
	options := doctortest.Options()
	options.Limit, options.Waits.NoAnswer = time.Hour, time.Millisecond
	report := doctor.Judge(doctortest.Examine(t, options, "http-mode"), doctor.Selection{})
	if len(report.Findings) == 0 || report.Findings[0].ID != "stdout-http-mode" {
		t.Errorf("found %s", doctortest.Summary(report))
	}
}

// TestTextOfHTTPServers takes all text of a server that serves HTTP instead for what it is: not for messages.
func TestTextOfHTTPServers(t *testing.T) {
	for name, events := range map[string][]exec.Event{
		"on stdout": {doctortest.Polluted(wire.ClassText, 3, "Initializing Figma MCP Server in HTTP mode on 127.0.0.1:3333...")},
		"on stderr": {wire.StderrLine{Text: "[INFO] endpoint available at http://127.0.0.1:3333/mcp"}},
	} {
		e := doctortest.Captured(append(events, doctortest.Polluted(wire.ClassText, 1, "Configuration:"),
			doctortest.Polluted(wire.ClassText, 2, "- PORT: 3333"))...)
		e.Clean.Failure = &diagnose.Failure{Ending: diagnose.EndingSilent}
		found := doctortest.Ask("stdout-http-mode")(e)
		if len(found) != 1 || !strings.Contains(found[0].Evidence, "127.0.0.1:3333") ||
			doctortest.Ask("stdout-pollution")(e) != nil {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// TestFramingOrder holds that what explains a check's lines is judged before it.
func TestFramingOrder(t *testing.T) {
	checks := doctortest.Checks(check.GroupFraming)
	if len(checks) != 24 {
		t.Errorf("%d checks, want 24", len(checks))
	}
	for _, one := range checks {
		for _, cause := range one.After {
			before := slices.IndexFunc(checks, func(c check.Check) bool { return c.ID == cause })
			if before < 0 && slices.ContainsFunc(doctor.Checks(), func(c check.Check) bool { return c.ID == cause }) {
				continue // of another family, which TestByCause is about
			}
			if before < 0 || before >= slices.IndexFunc(checks, func(c check.Check) bool { return c.ID == one.ID }) {
				t.Errorf("%s comes after %s, which is not judged before it", one.ID, cause)
			}
		}
	}
}

// TestVerdicts has something to say about every class of line.
func TestVerdicts(t *testing.T) {
	for _, class := range []wire.Class{
		wire.ClassText, wire.ClassNotObject, wire.ClassNotRPC, wire.ClassGlued, wire.ClassPretty,
		wire.ClassSplit, wire.ClassNoNewline, wire.ClassBroken, wire.ClassTooLong, wire.ClassBatch,
		wire.ClassBOM, wire.ClassInvalidUTF8, wire.ClassControl, wire.ClassCRLF, wire.ClassBlank,
		wire.ClassNoVersion, wire.ClassBadShape, wire.ClassIDType, wire.ClassIDNull,
		wire.ClassNotificationReply, wire.ClassIDUnknown, wire.ClassIDDuplicate, wire.ClassIDLate,
	} {
		fails, tolerates := framing.VerdictOf(class).Fails, framing.VerdictOf(class).Tolerates
		if len(fails)+len(tolerates) == 0 {
			t.Errorf("nothing is said about %s", class)
		}
		if class.Harmless() && class != wire.ClassCRLF && len(fails) > 0 {
			t.Errorf("%s is harmless, and still breaks %q", class, fails)
		}
	}
}

// TestTextOfNoServer: of a program that ends well, what it prints is worth a warning.
func TestTextOfNoServer(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("it has no cat")
	}
	dir := t.TempDir()
	doctortest.File(t, filepath.Join(dir, "guide.txt"), strings.Repeat("a line of a guide\n", 100), 0o644)
	server := config.AdHoc([]string{"cat", filepath.Join(dir, "guide.txt")}, "", nil)
	fleet := doctor.Examine(context.Background(), nil, []*config.Server{server}, doctortest.Options())
	report := doctor.Judge(fleet, doctor.Selection{Only: []string{"stdout-*"}})
	found := doctortest.Findings(t, report, "stdout-pollution")
	if len(found) != 1 || found[0].Severity != check.Warning {
		t.Errorf("found %s", doctortest.Summary(report))
	}
}
