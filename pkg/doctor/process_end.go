package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
)

func exitBeforeHandshake() Check {
	return Check{
		ID: "exit-before-handshake", Severity: Error, Group: GroupProcess, Need: NeedProcess,
		After: []string{
			"env-missing", "command-not-found", "command-not-executable", "interpreter-missing",
			"shebang-crlf", "exec-format", "cwd-missing", "node-engine", "stdout-usage-text",
		},
		Title: "server exits before the handshake",
		Ask:   askExitBeforeHandshake,
		Page: Page{
			Why: "The process ended before it answered initialize, so no client can use it. Most clients say no more than " +
				"\"Connection closed\": the reason stands on stderr, which they do not show.",
			Bad:  "$ node server.js\nError: Cannot find module 'express'\n$ echo $?\n1",
			Good: "The process lives until its stdin is closed, and a start that cannot succeed says in one line of stderr what is missing.",
			Fix: []string{
				"read the server's last lines on stderr, shown with this finding",
				"run the same command in a terminal, in the same folder and with the same environment, until it waits for input",
			},
			Breaks: []string{"every client; Claude Desktop and Cursor show \"Connection closed\" (-32000) without the reason"},
			Source: "MCP 2025-11-25, basic/transports, stdio; basic/lifecycle, initialization",
		},
	}
}

func askExitBeforeHandshake(e *Evidence) []Finding {
	died := e.Clean.died()
	if died == nil || died.Ending != servers.EndingExited || e.initialized().answered() {
		return nil
	}
	f := Finding{
		Where:    &Where{Run: e.Clean.Name, Phase: string(servers.PhaseStart), MS: exec.Milliseconds(died.Lived)},
		Evidence: fmt.Sprintf("%s, %s after its start", died.How, milliseconds(died.Lived)),
		Notes:    lastWords(died),
	}
	if cause, ok := causeOfExit(died); ok {
		f.Title = "server exits before the handshake: " + cause.what
		f.Fix = cause.fix
	}
	return sole(f)
}

// lastWords are what a server that ended has said last, a note for each line.
func lastWords(died *servers.Failure) []string {
	var notes []string
	for _, line := range died.Stdout {
		notes = append(notes, "stdout: "+line)
	}
	for _, line := range died.Stderr {
		notes = append(notes, "stderr: "+line)
	}
	if len(notes) == 0 {
		notes = []string{"it wrote nothing on stdout and nothing on stderr"}
	}
	return notes
}

func crashSignal() Check {
	return Check{
		ID: "crash-signal", Severity: Error, Group: GroupProcess, Need: NeedProcess,
		Title: "a signal killed the server",
		Ask:   askCrashSignal,
		Page: Page{
			Why: "The process did not end by itself: the system or another program killed it. A fault in native code " +
				"(segmentation fault, abort) and too little memory (killed) are the usual reasons. The client's requests are lost.",
			Bad:  "signal: segmentation fault (core dumped), with tools/call unanswered",
			Good: "The server ends when its stdin is closed, with exit code 0.",
			Fix: []string{
				"in the server: look for faults in native modules; run it under a debugger, or with core dumps on",
				"from outside: a server that was killed by SIGKILL most often went over a memory limit; raise the limit (docker run --memory)",
			},
			Breaks: []string{"every client: pending calls fail, and most clients do not start the server again"},
			Source: "MCP 2026-07-28, basic/transports/stdio, unexpected termination",
		},
	}
}

func askCrashSignal(e *Evidence) []Finding {
	var found []Finding
	for _, run := range e.Runs() {
		died := run.died()
		if died == nil || died.Ending != servers.EndingKilled || run.fellBeforeHandshake() {
			continue
		}
		found = append(found, Finding{
			Title:    fmt.Sprintf("%s killed the server", strings.TrimPrefix(died.How, "signal: ")),
			Where:    placeOfDeath(run, died),
			Evidence: fmt.Sprintf("%s after %s%s", died.How, milliseconds(died.Lived), inFlight(run)),
			Notes:    lastWords(died),
		})
	}
	return alike(found)
}

// fellBeforeHandshake says whether the server ended over what the probing run asks
// before the handshake: that is for the checks of the handshake to tell.
func (r *Run) fellBeforeHandshake() bool {
	_, ready := r.Marks["ready"]
	return r.Name == "probing" && !ready && r.Exchange("server/discover", 0) != nil
}

// lastRequest is the request that was under way when the server ended, nil where
// none was.
func (r *Run) lastRequest() *Exchange {
	var last *Exchange
	for _, x := range r.Exchanges {
		switch {
		case x.Frame != nil:
			last = nil
		case last == nil:
			last = x
		}
	}
	return last
}

// inFlight names the request that was under way when the server ended.
func inFlight(r *Run) string {
	if x := r.lastRequest(); x != nil {
		return fmt.Sprintf(", with %s (id %s) unanswered", x.Method, x.ID)
	}
	return ", with no request under way"
}

func placeOfDeath(r *Run, died *servers.Failure) *Where {
	where := &Where{Run: r.Name, Phase: string(servers.PhaseIdle), MS: exec.Milliseconds(died.Lived)}
	if x := r.lastRequest(); x != nil {
		where.Method, where.Phase = x.Method, string(servers.PhaseRequest)
		if isUsersCall(x) {
			where.Tool = excerpt(nameIn(x.Sent), maxLabel)
		}
	}
	if r.Name == "clean" && !r.Exchange("initialize", 0).answered() {
		where.Phase = string(servers.PhaseStart)
	}
	return where
}

func exitDuringRequest() Check {
	return Check{
		ID: "exit-during-request", Severity: Error, Group: GroupProcess, Need: NeedProcess,
		Title: "server exits in mid-session",
		Ask:   askExitDuringRequest,
		Page: Page{
			Why: "The process ended although nobody had asked it to: its stdin was open. The request that was under way is " +
				"never answered, and all later ones fail. An exception that no handler catches is the usual reason.",
			Bad:  "→ {\"id\":4,\"method\":\"tools/call\",\"params\":{\"name\":\"no_such_tool\"}}\nstderr: fatal: unknown tool\nexit status 1",
			Good: "→ {\"id\":4,\"method\":\"tools/call\",\"params\":{\"name\":\"no_such_tool\"}}\n← {\"id\":4,\"error\":{\"code\":-32602,\"message\":\"Unknown tool: no_such_tool\"}}",
			Fix: []string{
				"in the server: catch errors in every handler and answer with an error; log them on stderr",
				"in Node: process.on('uncaughtException') and process.on('unhandledRejection') that log and go on",
			},
			Breaks: []string{"every client: most do not start the server again by themselves"},
			Source: "MCP 2026-07-28, basic/transports/stdio, unexpected termination",
		},
	}
}

func askExitDuringRequest(e *Evidence) []Finding {
	var found []Finding
	for _, run := range e.Runs() {
		died := run.died()
		if died == nil || died.Ending != servers.EndingExited || run.fellBeforeHandshake() || fellOverGarbage(run) {
			continue
		}
		if !run.Exchange("initialize", 0).answered() && run.Exchange("server/discover", 0) == nil {
			continue // exit-before-handshake tells
		}
		found = append(found, Finding{
			Where:    placeOfDeath(run, died),
			Evidence: fmt.Sprintf("%s after %s%s", died.How, milliseconds(died.Lived), inFlight(run)),
			Notes:    lastWords(died),
		})
	}
	return alike(found)
}

// fellOverGarbage says whether the server ended after the line that is not JSON:
// rpc-parse-error-survival tells.
func fellOverGarbage(r *Run) bool { return r.died() != nil && r.livedUntilGarbage() }

// livedUntilGarbage says whether the server answered all that was asked at once
// shortly before the line that is not JSON.
func (r *Run) livedUntilGarbage() bool {
	began, ended, garbage := r.Marks["burst"], r.Marks["burst-end"], r.Marks["garbage"]
	answered := 0
	for _, x := range r.Exchanges {
		if !x.At.Before(began) && !x.At.After(ended) && x.answered() {
			answered++
		}
	}
	return !garbage.IsZero() && answered == burstSize
}

func truncatedMessage() Check {
	return Check{
		ID: "truncated-message", Severity: Error, Group: GroupProcess, Need: NeedProcess,
		Title: "stdout ends in the middle of a message",
		Ask:   askTruncatedMessage,
		Page: Page{
			Why: "The last bytes on stdout are the beginning of a message whose end never came: the process ended before it " +
				"had written all. The client waits for that answer, or fails on half of a JSON value.",
			Bad:  "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"content\":[{\"ty\nexit status 3",
			Good: "The process writes the whole message and its newline, flushes, and ends after that.",
			Fix: []string{
				"in the server: flush stdout before exiting",
				"in Node: do not call process.exit() after a write to a pipe; set process.exitCode and let the program end, or exit in the write's callback",
			},
			Breaks: []string{"every client: the answer is lost"},
			Source: "MCP 2025-11-25, basic/transports, stdio: messages are delimited by newlines",
		},
	}
}

func askTruncatedMessage(e *Evidence) []Finding {
	var found []Finding
	for _, run := range e.Runs() {
		line := run.lastForeign()
		if line == nil || !line.Unended || line.Class != servers.ClassBroken || !unfinishedJSON(line) {
			continue
		}
		found = append(found, Finding{
			Where: &Where{
				Run: run.Name, Line: line.Line, Byte: new(int64), Phase: string(line.Phase),
				MS: exec.Milliseconds(line.Since),
			},
			Evidence: cut(string(line.Text)),
			Notes:    []string{fmt.Sprintf("%s of a message without its end, then stdout ended%s", exec.Bytes(line.Size), howEnded(run))},
		})
	}
	return found
}

// lastForeign is the run's last line that is no message, where no message follows;
// nil where there is none.
func (r *Run) lastForeign() *servers.PollutedLine {
	var last *servers.PollutedLine
	for _, event := range r.Events {
		switch e := event.(type) {
		case servers.PollutedLine:
			last = &e
		case servers.FrameReceived:
			last = nil
		}
	}
	return last
}

// unfinishedJSON says whether a line would be JSON if more came. One that was too
// long to keep whole is taken to be so.
func unfinishedJSON(line *servers.PollutedLine) bool {
	if line.Size > int64(len(line.Text)) {
		return true
	}
	var syntax *json.SyntaxError
	text := bytes.TrimRight(line.Text, "\r")
	err := json.Unmarshal(text, new(json.RawMessage))
	return errors.As(err, &syntax) && syntax.Offset >= int64(len(text))
}

// howEnded adds the exit of a process that ended by itself.
func howEnded(r *Run) string {
	if died := r.died(); died != nil {
		return fmt.Sprintf(" (%s)", died.How)
	}
	return ""
}
