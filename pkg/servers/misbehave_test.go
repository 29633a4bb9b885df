package servers

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/fake"
	"toolx/pkg/servers/serverstest"
	"toolx/pkg/servers/stdio"
	"toolx/pkg/servers/wire"
)

// behaviour is what toolx makes of a server in one mode. The zero value is a
// session that opens, answers echo with "hi", and has nothing irregular.
type behaviour struct {
	// open is how opening fails, call the kind of failure of the call.
	open diagnose.Ending
	call fault.Kind
	// text is part of the failure's words, or the whole answer where it succeeds.
	text string
	// seen are the irregularities that are reported, harmless ones too.
	seen string
	// limit is for modes in which the time must run out: in the handshake where opening
	// fails, in the call where that does. What comes before must fit into it.
	limit time.Duration
	// endless servers do not end when their stdin is closed.
	endless bool
	// flags of the fake server.
	flags []string
}

// misbehaviours has an entry for every mode that is not a matter of content or
// schemas: those are proved elsewhere, and behave here like a good server.
func misbehaviours() map[string]behaviour {
	return map[string]behaviour{
		// Foreign bytes on stdout (MCP-1): no message is lost.
		"banner":           {seen: "text"},
		"log-between":      {seen: "text"},
		"log-inside":       {seen: "split"},
		"log-after":        {seen: "text"},
		"banner-ansi":      {seen: "text"},
		"log-between-ansi": {seen: "text"},
		"log-inside-ansi":  {seen: "split"},
		"log-after-ansi":   {seen: "text"},
		"banner-json":      {seen: "not-rpc"},
		"log-between-json": {seen: "not-rpc"},
		"log-inside-json":  {seen: "split"},
		"log-after-json":   {seen: "not-rpc"},
		"log-late":         {seen: "text"},
		"json-logs":        {seen: "not-rpc"},
		"json-scalars":     {seen: "not-object text"},
		"inline-prefix":    {seen: "glued"},
		"inline-suffix":    {seen: "glued"},
		"two-on-line":      {seen: "glued"},
		"no-newline":       {seen: "no-newline"},
		"no-newline-call":  {seen: "no-newline"},
		"no-newline-exit":  {seen: "no-newline"},
		"crlf":             {seen: "crlf"},
		"cr-only":          {seen: "crlf no-newline"},
		"blank-lines":      {seen: "blank crlf"},
		"pretty":           {seen: "pretty"},
		"content-length":   {seen: "blank crlf no-newline text"},
		"sse-framing":      {seen: "blank glued text"},
		"batch":            {seen: "batch"},
		"bom":              {seen: "bom"},
		"bom-each":         {seen: "bom"},
		"invalid-utf8":     {seen: "invalid-utf8", text: "\ufffd\ufffdhi"},
		"raw-control":      {seen: "control", text: "\x1b[31mhi"},
		"nul-bytes":        {seen: "glued"},
		"pages-stop":       {open: diagnose.EndingUnfinished, text: "did not end its list", limit: serverstest.Brief},
		"utf16":            {open: diagnose.EndingSilent, seen: "text", limit: serverstest.Brief},
		"tty-prompt":       {open: diagnose.EndingSilent, seen: "text", limit: serverstest.Brief},
		"full-screen":      {open: diagnose.EndingSilent, seen: "text", limit: serverstest.Brief},
		"http-mode":        {open: diagnose.EndingSilent, seen: "text", limit: serverstest.Brief},
		"echo-back":        {open: diagnose.EndingSilent, limit: serverstest.Brief},

		// Size: the limit of this test is 1 MiB.
		"huge-line":          {call: fault.KindProtocol, text: "over the limit of 1.0 MiB", seen: "too-long"},
		"huge-text-line":     {seen: "too-long"},
		"endless-line":       {call: fault.KindTimeout, seen: "too-long", limit: serverstest.Brief, endless: true},
		"echo-half":          {seen: "broken"},
		"text-flood":         {seen: "text"},
		"text-flood-call":    {seen: "text"},
		"stderr-flood":       {},
		"stderr-huge-line":   {},
		"notification-flood": {},
		"instructions-huge":  {open: diagnose.EndingMalformed, text: "over the limit of 1.0 MiB", seen: "too-long"},
		"blocks-flood":       {call: fault.KindProtocol, text: "over the limit of 1.0 MiB", seen: "too-long"},
		"elicit-huge":        {flags: []string{"--count", "8"}, call: fault.KindProtocol, text: "over the limit of 1.0 MiB", seen: "id-late too-long"},
		"list-changed-storm": {},
		"tools-renamed":      {},
		"tools-10k":          {open: diagnose.EndingMalformed, text: "over the limit", seen: "too-long"},

		// Endings.
		"exit0-early":        {open: diagnose.EndingExited, text: "exit status 0"},
		"exit1-stderr":       {open: diagnose.EndingExited, text: "MQTT_URL is not set"},
		"usage-stdout":       {open: diagnose.EndingExited, text: "exit status 1", seen: "blank text"},
		"exit-in-handshake":  {open: diagnose.EndingExited, text: "exit status 3"},
		"exit-after-init":    {open: diagnose.EndingExited, text: "exit status 3"},
		"exit-after-list":    {call: fault.KindProtocol, text: "exit status 3"},
		"exit-mid-call":      {call: fault.KindProtocol, text: "during tools/call: fatal: cannot go on with tools/call"},
		"exit-half-line":     {call: fault.KindProtocol, text: "exit status 3", seen: "broken"},
		"sigsegv-early":      {open: crashedEnding, text: crashedText},
		"sigsegv":            {call: fault.KindProtocol, text: crashedText},
		"sigkill":            {call: fault.KindProtocol, text: killedText},
		"ignore-eof":         {endless: true},
		"flaky-start":        {open: diagnose.EndingExited, text: "needs --state"},
		"silent":             {open: diagnose.EndingSilent, text: "no response after", limit: serverstest.Brief},
		"silent-after-init":  {open: diagnose.EndingSilent, text: "did not respond to tools/list within", limit: 10 * serverstest.Brief},
		"silent-call":        {call: fault.KindTimeout, limit: serverstest.Brief},
		"stdin-unread":       {open: diagnose.EndingSilent, limit: serverstest.Brief},
		"stdin-stalled":      {call: fault.KindTimeout, limit: serverstest.Brief, endless: true},
		"stdin-closed":       {open: diagnose.EndingSilent, limit: serverstest.Brief},
		"stdout-closed":      {open: diagnose.EndingClosedStdout, text: "failed to start: it closed its stdout"},
		"stdout-closed-call": {call: fault.KindProtocol, text: "closed its stdout during tools/call"},

		// JSON-RPC.
		"rpc-version":         {seen: "no-version"},
		"rpc-missing":         {seen: "no-version"},
		"both":                {call: fault.KindTool, text: "both", seen: "bad-shape"},
		"error-null":          {seen: "bad-shape"},
		"neither":             {call: fault.KindProtocol, text: "neither result nor error", seen: "bad-shape"},
		"error-string":        {call: fault.KindTool, text: "it broke"},
		"error-code-str":      {call: fault.KindTool, text: "it broke"},
		"error-no-message":    {call: fault.KindTool, text: "-32000"},
		"result-array":        {call: fault.KindProtocol, text: "result is an array"},
		"result-null":         {call: fault.KindProtocol, text: "result is null"},
		"result-string":       {call: fault.KindProtocol, text: "result is a string"},
		"dup-keys":            {text: "second"},
		"deep-json":           {call: fault.KindProtocol, text: "exceeded max depth", seen: "broken"},
		"big-numbers":         {text: `{"id":9007199254740993,"long":123456789012345678901234567890,"precise":0.1000000000000000055511151231257827,"huge":1e400}`},
		"lone-surrogate":      {text: "half \ufffd pair"},
		"id-string":           {seen: "id-type"},
		"id-float":            {seen: "id-type"},
		"id-null":             {seen: "id-null"},
		"id-missing":          {seen: "id-null"},
		"ready-result":        {seen: "id-null"},
		"notification-result": {seen: "notification-reply"},
		"notification-error":  {seen: "notification-reply"},
		"id-unknown":          {call: fault.KindTimeout, text: "never sent, id 987654321", seen: "id-unknown", limit: serverstest.Brief},
		"id-stray":            {seen: "id-unknown"},
		"id-dup":              {seen: "id-duplicate"},
		"late-reply":          {call: fault.KindTimeout, seen: "id-late", limit: serverstest.Brief},

		// The handshake and tools/list.
		"version-missing": {open: diagnose.EndingMalformed, text: "the answer to initialize names no revision"},
		"version-type":    {open: diagnose.EndingMalformed, text: "protocolVersion is a number"},
		"version-future":  {open: diagnose.EndingMalformed, text: "2099-01-01"},
		"init-error":      {open: diagnose.EndingRefused, text: "not authenticated: set FAKE_API_KEY"},
		"list-error":      {open: diagnose.EndingRefused, text: "tools/list: database is locked"},
		"tools-object":    {open: diagnose.EndingMalformed, text: "tools is not an array: {"},
		"declared-absent": {call: fault.KindNotFound},
		"tools-empty":     {call: fault.KindNotFound},
		// Without a pool, nobody waits for what comes later.
		"tools-after-list":  {call: fault.KindNotFound},
		"tools-after-roots": {call: fault.KindNotFound},
		"tools-null":        {call: fault.KindNotFound},
		"cursor-endless":    {call: fault.KindNotFound},
		"cursor-grows":      {call: fault.KindNotFound},
		"pages-huge":        {call: fault.KindNotFound},
		"pages-wide":        {call: fault.KindNotFound},

		// What the server wants to know was never offered to it.
		"elicit-first":   {call: fault.KindAuth, text: "Sign in first"},
		"input-required": {call: fault.KindProtocol, text: "asks for elicitation/create, which was not offered"},
	}
}

// special modes have answers of their own in other tests.
func isSpecial(mode string) bool {
	return mode == "hold" || mode == "stdin-closed-later" || strings.HasPrefix(mode, "term-") || mode == "prompt-inject"
}

// TestMisbehaviour starts the fake server in each of its modes and proves what toolx does (MCP-1, MCP-2, EXEC-5): it
// never hangs, loses no message that can be had, names what is wrong, and leaves no process behind.
func TestMisbehaviour(t *testing.T) {
	table := misbehaviours()
	for _, mode := range fake.Modes() {
		if isSpecial(mode.Name) {
			continue
		}
		want := table[mode.Name]
		delete(table, mode.Name)
		t.Run(mode.Name, func(t *testing.T) {
			t.Parallel()
			behave(t, mode.Name, want)
		})
	}
	for name := range table {
		t.Errorf("the fake server has no mode %q", name)
	}
}

func behave(t *testing.T, mode string, want behaviour) {
	s, err := stageFor(t, mode, want)
	if err != nil {
		var failure *diagnose.Failure
		if !errors.As(err, &failure) || failure.Ending != want.open || !strings.Contains(err.Error(), want.text) {
			t.Fatalf("open: %v\nwant %q with %q", err, want.open, want.text)
		}
	} else {
		if want.open != "" {
			t.Fatalf("the session opened, want %q", want.open)
		}
		checkCall(t, s.call("fake__echo", `{"message":"hi"}`), want)
	}
	// What comes behind the answer counts too, however slow the machine is: a server may
	// write to its end, and one that has no end until what is wanted was seen.
	switch {
	case s.session == nil:
	case want.endless:
		s.events.Await(func() bool { return s.classes() == want.seen })
		s.close()
	default:
		s.session.Transport().(*stdio.Transport).StdinGrace = serverstest.Ample
		s.closeWithin(serverstest.Ample)
	}
	if got := s.classes(); got != want.seen {
		t.Errorf("irregular: %q, want %q (seen, in the row of the mode)", got, want.seen)
	}
}

// stageFor opens a stage. On a busy machine, a server for which the time runs out may need more of it to do before what
// is wanted of it, so the limit grows until it has.
func stageFor(t *testing.T, mode string, want behaviour) (*stage, error) {
	for limit := want.limit; ; limit *= 2 {
		s := newStage(t, serverstest.Ample, append(want.flags, mode)...)
		switch {
		case limit > 0 && want.open != "":
			s.dial.StartTimeout = limit
		case limit > 0:
			s.executor.Defaults.Timeout = limit
		}
		err := s.open()
		var failure *diagnose.Failure
		timed := want.open == diagnose.EndingSilent || want.open == diagnose.EndingUnfinished
		done := errors.As(err, &failure) && failure.Ending == want.open && s.classes() == want.seen
		if !timed || done || limit >= serverstest.Ample {
			return s, err
		}
	}
}

func checkCall(t *testing.T, result *exec.Result, want behaviour) {
	t.Helper()
	if want.call != "" {
		if result.Success || fault.KindOf(result.Err) != want.call || !strings.Contains(result.Err.Error(), want.text) {
			t.Errorf("call: %v (%s), want %s with %q", result.Err, fault.KindOf(result.Err), want.call, want.text)
		}
		return
	}
	if want.text == "" {
		want.text = "hi"
	}
	if !result.Success || result.String() != want.text {
		t.Errorf("call: %q, %v; want %q", result.String(), result.Err, want.text)
	}
}

// classes are the irregularities that were reported, sorted, each once.
func (s *stage) classes() string {
	var classes []string
	for _, event := range s.events.List() {
		switch e := event.(type) {
		case wire.PollutedLine:
			classes = append(classes, string(e.Class))
		case wire.OddFrame:
			classes = append(classes, string(e.Class))
		}
	}
	slices.Sort(classes)
	return strings.Join(slices.Compact(classes), " ")
}

// TestPollutedLineIsNamed proves MCP-1's report: content, number, place, phase.
func TestPollutedLineIsNamed(t *testing.T) {
	s := newStage(t, serverstest.Ample, "banner")
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	lines := serverstest.Of[wire.PollutedLine](s.events)
	if len(lines) == 0 {
		t.Fatal("no polluted line was reported")
	}
	first := lines[0]
	if first.Line != 1 || first.Offset != 0 || first.Column != 0 || first.Phase != wire.PhaseStart ||
		len(first.Text) == 0 || first.Server != "fake" || first.Since <= 0 {
		t.Errorf("the report is %+v", first)
	}
}

// TestStderrIsWhole proves MCP-2 under load: every line arrives, in order, in the
// events and in the log file, and none is taken for stdout.
func TestStderrIsWhole(t *testing.T) {
	s := newStage(t, serverstest.Ample, "stderr-flood")
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	s.session.Close(context.Background())
	const count = 50000
	if got := len(serverstest.Of[wire.StderrLine](s.events)); got != count {
		t.Errorf("%d lines in events, want %d", got, count)
	}
	tail, total, path := s.session.Stderr(3)
	if total != count || len(tail) != 3 {
		t.Errorf("%d lines counted, tail %q", total, tail)
	}
	saved, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(saved), "\n"); got != count {
		t.Errorf("%d lines in the file, want %d", got, count)
	}
}

// TestServerRequestsAreAnswered proves that a server which asks the client things
// before it answers is told at once what toolx cannot do.
func TestServerRequestsAreAnswered(t *testing.T) {
	for _, mode := range []string{"server-requests", "server-requests-early"} {
		s := newStage(t, serverstest.Ample, mode)
		if err := s.open(); err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		if result := s.call("fake__echo", `{"message":"hi"}`); result.String() != "hi" {
			t.Errorf("%s: %v", mode, result)
		}
		answered := make(map[string]bool)
		for _, request := range serverstest.Of[wire.ServerRequest](s.events) {
			answered[request.Method] = request.Answered
		}
		if !answered["ping"] || answered["roots/list"] || answered["sampling/createMessage"] || len(answered) < 5 {
			t.Errorf("%s: asked and answered: %v", mode, answered)
		}
	}
}

// TestCancelReachesTheServer proves EXEC-10: at the end of the time the server is
// told, with the id of the request that was on the wire, and lives on.
func TestCancelReachesTheServer(t *testing.T) {
	s := newStage(t, serverstest.Ample, "good")
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	s.executor.Defaults.Timeout = serverstest.Brief
	result := s.call("fake__slow", `{"ms":60000,"steps":1}`)
	var timeout *exec.TimeoutError
	if !errors.As(result.Err, &timeout) || timeout.After != serverstest.Brief {
		t.Fatalf("the call ended with %v", result.Err)
	}
	if again := s.call("fake__echo", `{"message":"still here"}`); again.String() != "still here" {
		t.Errorf("after the cancelled call: %v", again)
	}
	s.session.Close(context.Background())
	var cancelled bool
	for _, line := range serverstest.Of[wire.StderrLine](s.events) {
		cancelled = cancelled || strings.HasPrefix(line.Text, "cancelled ")
	}
	if !cancelled {
		t.Error("the server was not told that the call was cancelled")
	}
}

// TestArgumentsArriveExactly proves ROUTE-3 on the wire: digits, order, escapes.
func TestArgumentsArriveExactly(t *testing.T) {
	s := newStage(t, serverstest.Ample, "good")
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	const arguments = `{"z":123456789012345678901234567890,"a":"<&>\u2028","f":1e400,"n":null,"e":"","l":[1.0,-0]}`
	result := s.call("fake__args", arguments)
	var got string
	if err := json.Unmarshal(result.Value, &got); err != nil {
		t.Fatal(err, result.Err)
	}
	if got != arguments {
		t.Errorf("sent     %s\narrived  %s", arguments, got)
	}
}

// TestLargeArgumentsToAServerThatDoesNotRead proves that a write to a server that does not
// read ends with the call's time and says why.
func TestLargeArgumentsToAServerThatDoesNotRead(t *testing.T) {
	s := newStage(t, serverstest.Ample, "stdin-stalled")
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	// preparing the call counts, too
	s.executor.Defaults.Timeout = 4 * serverstest.Brief
	large, err := json.Marshal(map[string]string{"message": strings.Repeat("x", 1<<18)}) // no pipe holds it
	if err != nil {
		t.Fatal(err)
	}
	result := s.call("fake__echo", string(large))
	if fault.KindOf(result.Err) != fault.KindTimeout || !strings.Contains(result.Err.Error(), diagnose.NotReading) {
		t.Errorf("the call ended with %v", result.Err)
	}
}

// TestClosedStdin proves that a server which no longer reads is noticed: a message
// may still fit into the pipe before it is closed, a second one cannot be written.
func TestClosedStdin(t *testing.T) {
	s := newStage(t, serverstest.Ample, "stdin-closed-later")
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	s.executor.Defaults.Timeout = serverstest.Brief
	s.call("fake__echo", `{"message":"hi"}`)
	s.executor.Defaults.Timeout = serverstest.Ample
	result := s.call("fake__echo", `{"message":"hi"}`)
	if fault.KindOf(result.Err) != fault.KindProtocol || !strings.Contains(result.Err.Error(), "closed its stdin") {
		t.Errorf("the call ended with %v", result.Err)
	}
}

// TestClosing proves the order of closing and that nothing outlives it: stdin's
// end, SIGTERM, SIGKILL, to the whole group.
func TestClosing(t *testing.T) {
	tests := []struct {
		modes  []string
		forced string
	}{
		{[]string{"good"}, ""},
		{[]string{"log-on-close"}, ""},
		{[]string{"ignore-eof"}, "SIGTERM"},
		{[]string{"ignore-eof", "ignore-sigterm"}, "SIGKILL"},
		{[]string{"grandchild"}, ""},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.modes, "+"), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, serverstest.Ample, tt.modes...)
			if err := s.open(); err != nil {
				t.Fatal(err)
			}
			s.session.Close(context.Background())
			exits := serverstest.Of[wire.ProcessExited](s.events)
			if len(exits) != 1 || exits[0].Forced != tt.forced || !exits[0].Asked {
				t.Errorf("the exit was told as %+v, want forced %q", exits, tt.forced)
			}
			// A killed process closes its pipes a moment before it is gone.
			gone(t, s.session.PID)
		})
	}
}

// TestHostileSchemas calls a tool behind each bad schema: it is validated where it can be, and the call is made with a
// warning where it cannot (VAL-3). Nothing hangs, crashes, or fetches what a $ref names.
func TestHostileSchemas(t *testing.T) {
	// These can judge, and {"value":"x"} does not fit them.
	refused := map[string]bool{
		"schema-draft4": true, "schema-regex": true, "schema-slow-regex": true, "schema-root-oneof": true,
		"schema-required-unknown": true, "schema-type-array": true,
	}
	// These cannot, and say so in a warning.
	broken := []string{
		"schema-ref-file", "schema-ref-http", "schema-ref-dangling", "schema-ref-loop", "schema-ref-mutual",
		"schema-deep",
		"schema-combos", "schema-bad-kw", "schema-bad-regex", "schema-dialect", "schema-string", "schema-null",
	}
	for _, mode := range fake.Modes() {
		if !strings.HasPrefix(mode.Name, "schema-") {
			continue
		}
		t.Run(mode.Name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, serverstest.Ample, mode.Name)
			if err := s.open(); err != nil {
				t.Fatal(err)
			}
			result := s.call("fake__"+mode.Name, `{"value":"x"}`)
			if result.Success == refused[mode.Name] {
				t.Errorf("success %v, %v", result.Success, result.Err)
			}
			if !result.Success && fault.KindOf(result.Err) != fault.KindInvalidArguments {
				t.Errorf("failed by %v", result.Err)
			}
			warned := strings.Contains(strings.Join(result.Warnings, "\n"), "not checked")
			if warned != slices.Contains(broken, mode.Name) {
				t.Errorf("warnings %q", result.Warnings)
			}
		})
	}
}
