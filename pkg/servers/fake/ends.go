package fake

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// missingVariable is what a server says that lacks its configuration; usageText
// and httpText are what servers print that were started in the wrong way.
const (
	missingVariable = "Error: MQTT_URL environment variable is required"
	usageText       = "Usage: fake-mcp <command> [options]\n\nCommands:\n  start   start the server\n"
	httpText        = "fake MCP server listening on http://localhost:3000/mcp"
	screenText      = "\x1b[?1049h\x1b[1;1HMenu\x1b[2;1Hq: quit"
	promptText      = "Need to install the following packages:\nfake-mcp@1.0.0\nOk to proceed? (y) "
)

// exitModes end the process where a client does not expect it.
func exitModes() []mode {
	return []mode{
		{"exit0-early", "exits with 0 before it reads anything", scopeAll, start(func(s *server) { s.die(s.codeOr(0)) })},
		{"exit1-stderr", "names a missing variable on stderr and exits with 1 before the handshake", scopeAll, start(func(s *server) {
			s.say(missingVariable)
			s.die(s.codeOr(1))
		})},
		{"usage-stdout", "prints its usage on stdout and exits with 1", scopeAll, start(func(s *server) {
			s.write([]byte(usageText))
			s.die(s.codeOr(1))
		})},
		{"exit-in-handshake", "reads initialize and exits with 3", methodInitialize, intercept(exitInstead(3))},
		{"exit-after-init", "exits with 3 after the handshake", methodInitialize, after(func(s *server, _ *reply) { s.die(s.codeOr(3)) })},
		{"exit-after-list", "exits with 3 after the first tools/list", methodList, after(func(s *server, _ *reply) { s.die(s.codeOr(3)) })},
		{"exit-mid-call", "exits with 3 in a call, with a message on stderr", methodCall, intercept(exitInstead(3))},
		{
			"exit-half-line", "writes half of the answer to a call and exits with 3", methodCall,
			both(
				encode(func(_ *server, line []byte) []byte { return line[:len(line)/2] }),
				after(func(s *server, _ *reply) { s.die(s.codeOr(3)) }),
			),
		},
		{"sigsegv-early", "dies by SIGSEGV before the handshake (--signal)", scopeAll, start(func(s *server) { s.dieBy(s.signalOr("SEGV")) })},
		{"sigsegv", "dies by SIGSEGV in a call (--signal)", methodCall, intercept(func(s *server, _ *message) { s.dieBy(s.signalOr("SEGV")) })},
		{"sigkill", "dies by SIGKILL in a call", methodCall, intercept(func(s *server, _ *message) { s.dieBy("KILL") })},
		{"flaky-start", "the first --times starts exit with 1, counted in --state; then correct", scopeAll, start(flakyStart)},
	}
}

func exitInstead(code int) func(*server, *message) {
	return func(s *server, m *message) {
		s.say(cmp.Or(s.text, "fatal: cannot go on with "+m.Method))
		s.die(s.codeOr(code))
	}
}

// flakyStart counts starts by the bytes in the state file: one process at a time appends to it.
func flakyStart(s *server) {
	file, err := os.OpenFile(s.state, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.say("fake: flaky-start needs --state FILE: " + err.Error())
		s.die(exitUsage)
	}
	defer file.Close()
	_, writeErr := file.WriteString(".")
	info, err := file.Stat()
	if err != nil || writeErr != nil {
		s.say("fake: cannot count starts")
		s.die(exitUsage)
	}
	if info.Size() <= int64(s.times) {
		s.say(fmt.Sprintf("Error: broker not reachable (start %d)", info.Size()))
		s.die(s.codeOr(1))
	}
}

// deafModes stay alive, but stop to listen, to speak, or both.
func deafModes() []mode {
	return []mode{
		{"silent", "reads, and never answers anything", scopeAll, intercept(ignore)},
		{"silent-after-init", "answers the handshake and nothing after it", scopeLater, intercept(ignore)},
		{"silent-call", "answers everything but calls", methodCall, intercept(ignore)},
		{"slow-call", "answers a call after --wait", methodCall, before(func(s *server, _ *reply) { s.hold(s.wait) })},
		{"stdin-unread", "never reads stdin, so its end is not seen either", scopeAll, start(stall)},
		{"stdin-stalled", "stops reading stdin after the first tools/list", methodList, after(func(s *server, _ *reply) { stall(s) })},
		{"stdin-closed", "closes stdin at the start and stays alive", scopeAll, start(closeStdin)},
		{"stdin-closed-later", "closes stdin after the first tools/list and stays alive", methodList, after(func(s *server, _ *reply) { closeStdin(s) })},
		{"stdout-closed", "closes stdout instead of answering initialize, and lives until stdin ends", methodInitialize, intercept(closeStdout)},
		{"stdout-closed-call", "closes stdout instead of answering a call, and lives until stdin ends", methodCall, intercept(closeStdout)},
	}
}

func ignore(*server, *message) {}

// stall blocks the only reader of stdin; the watchdog ends the process.
func stall(*server) { select {} }

func closeStdin(s *server) {
	_ = os.Stdin.Close()
	stall(s)
}

func closeStdout(s *server, _ *message) {
	s.outMu.Lock()
	defer s.outMu.Unlock()
	_ = os.Stdout.Close()
}

// shutdownModes leave badly.
func shutdownModes() []mode {
	return []mode{
		{"ignore-eof", "keeps running when stdin ends", scopeAll, end(stall)},
		{"ignore-sigterm", "ignores SIGTERM (with ignore-eof only SIGKILL ends it)", scopeAll, func(*server) { signal.Ignore(syscall.SIGTERM) }},
		{"slow-exit", "exits --wait after stdin has ended", scopeAll, end(func(s *server) { s.hold(s.wait) })},
		{"exit-code-on-close", "exits with 1 when stdin ends", scopeAll, end(func(s *server) { s.die(s.codeOr(1)) })},
		{"log-on-close", "writes 1,000 lines on stderr when stdin ends (--count)", scopeAll, end(func(s *server) {
			s.flood(s.countOr(1000), func(data []byte) { _, _ = os.Stderr.Write(data) })
		})},
		{"grandchild", "starts a process that keeps stdout and stderr open and outlives it", scopeAll, start(func(s *server) { s.leaveBehind(false) })},
		{"grandchild-setsid", "the same in its own session, out of reach of a signal to the group", scopeAll, start(func(s *server) { s.leaveBehind(true) })},
		{"hold", "keeps inherited pipes open and does nothing: what grandchild starts", scopeAll, start(stall)},
	}
}

// leaveBehind starts this program again with our stdout and stderr.
func (s *server) leaveBehind(session bool) {
	path, err := os.Executable()
	if err != nil {
		s.say("fake: " + err.Error())
		s.die(1)
	}
	cmd := exec.Command(path, "--lifetime", s.lifetime.String(), "hold")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if session {
		newSession(cmd)
	}
	if err := cmd.Start(); err != nil {
		s.say("fake: " + err.Error())
		s.die(1)
	}
	s.say(fmt.Sprintf("grandchild %d", cmd.Process.Pid))
	if err := s.notePID(cmd.Process.Pid); err != nil {
		s.say("fake: " + err.Error())
	}
}

// startModes are slow to come up, or wait for something that is not MCP.
func startModes() []mode {
	return []mode{
		{"slow-start", "reads nothing for --wait, or until the file --gate exists", scopeAll, start(slowStart)},
		{"tty-prompt", "asks on stdout whether to continue, without a newline, and waits", scopeAll, both(
			start(func(s *server) { s.write([]byte(promptText)) }), intercept(ignore),
		)},
		{"full-screen", "draws a full-screen interface, and waits", scopeAll, both(
			start(func(s *server) { s.write([]byte(screenText)) }), intercept(ignore),
		)},
		{"http-mode", "says that it listens on HTTP, and never answers", scopeAll, both(
			start(func(s *server) { s.print(httpText) }), intercept(ignore),
		)},
	}
}

func slowStart(s *server) {
	if s.gate == "" {
		s.hold(s.wait)
		return
	}
	for {
		if _, err := os.Stat(s.gate); err == nil {
			return
		}
		s.hold(2 * time.Millisecond)
	}
}
