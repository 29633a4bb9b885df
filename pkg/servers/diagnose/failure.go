package diagnose

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/cause"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/procs"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/words"
)

// Ending is the way in which a server stopped being usable.
type Ending string

// The endings.
const (
	EndingNotFound     Ending = "not found"                   // there is no such program
	EndingNotStarted   Ending = "could not be started"        // there is, but it cannot run
	EndingExited       Ending = "exited"                      // it exited
	EndingKilled       Ending = "was killed"                  // a signal ended it
	EndingSilent       Ending = "did not respond"             // no answer within the limit
	EndingUnfinished   Ending = "did not end its list"        // it gave pages until the limit passed
	EndingClosedStdout Ending = "closed its stdout"           // alive, but nothing more can come
	EndingClosedStdin  Ending = "closed its stdin"            // alive, but cannot be asked any more
	EndingClosed       Ending = "was closed"                  // toolx closed the session
	EndingRefused      Ending = "refused"                     // it answered Waiting with an error
	EndingMalformed    Ending = "sent an invalid response to" // it answered Waiting, but not as MCP says
	EndingUnset        Ending = "has an unset variable"       // its config uses variables that are not set
	EndingUnusable     Ending = "not started"                 // its config has an unusable value
	EndingUnsupported  Ending = "cannot be proxied"           // it is no program

	// These are for servers that are reached by HTTP.
	EndingMisconfigured Ending = "is misconfigured"   // its config has an unusable value
	EndingNoHeaders     Ending = "has no headers"     // its headersCommand failed
	EndingUnavailable   Ending = "is unavailable"     // the network, or a proxy, has no answer of the server
	EndingUnanswered    Ending = "does not respond"   // nothing within the limit
	EndingUnauthorized  Ending = "refuses access"     // HTTP 401, 403
	EndingExpired       Ending = "forgot the session" // and has a new one only for a new handshake
	EndingDaemonGone    Ending = "lost its session"   // the process that kept it has ended
	EndingDaemonSilent  Ending = "has a session whose process does not respond"
	EndingNoDaemon      Ending = "cannot keep running"    // no process can be started that keeps it
	EndingGone          Ending = "is no longer reachable" // a session stood, and the network no longer leads to it
)

// Failure is what is known of a server that failed. Every failed start and every crash comes with it.
type Failure struct {
	Server string
	Ending Ending
	// URL is the address of a server that is reached by HTTP, without its password; Command and Cwd belong to a server
	// that toolx starts.
	URL     string
	Command []string
	Cwd     string // empty: toolx's own
	// Withheld names the variables that were not passed to the process (config.Resolved).
	Withheld []string
	// How is the exit status or the signal, empty where there is none.
	How   string
	Lived time.Duration
	// State is what the process did when it was given up without an answer; nil where that is not known.
	State *procs.State
	// Unread is how many bytes of stdin it had not read then, -1 if that is not known. Endpoint is the URL at which it
	// answered an HTTP request as MCP; empty if it did not.
	Unread   int
	Endpoint string
	// Buffered reports whether a silent server answered when its stdin was closed.
	Buffered bool
	// Waiting is the method of the oldest request without an answer, empty where none was under way.
	Waiting string
	// Stderr has the most telling of StderrLines lines: the last ones, and the one that names the error, without
	// stack frames where there are too many. StderrTail has the last lines unchanged; StderrPath is the file with all
	// of them.
	Stderr      []string
	StderrTail  []string
	StderrLines int
	StderrPath  string
	// Stdout has the first lines of stdout that were not messages.
	Stdout []string
	// Said has more of them, and messages that are no answers; Environ is the environment that the process was given.
	Said, Environ []string
	Entry         cause.Entry // how it was started
	// Question is what the server asked when it was given up, as cause.QuestionIn finds it.
	Question string
	// FromOutput returns the cause that the output shows, and FromStart that of a failed start (Explain). Both find
	// it once; they are nil for a failure that was made without a process.
	FromOutput, FromStart func() *cause.Cause `json:"-"`
	// Reason is the underlying error; it may be nil.
	Reason error
	// Final reports whether trying again would only ask the same process.
	Final bool `json:"-"`
	// Judged is the policy of the session daemon, which knows more of the server; empty if there is none.
	Judged cause.Policy
}

// Of returns why the connection of a peer ended, with method as the request that was waiting.
func Of(p *rpc.Peer, method string) *Failure {
	failure := *p.Failed().(*Failure) //nolint:forcetypeassert,errorlint // all transports fail by one
	failure.Waiting = method
	return &failure
}

// Lives reports whether the server's process is known to be running, although toolx can no longer talk to it.
func (f *Failure) Lives() bool {
	return f.Ending == EndingClosedStdout || f.Ending == EndingClosedStdin
}

// Lost reports whether the server is gone; else it answered, and its answer cannot be used.
func (f *Failure) Lost() bool {
	return f.Kind() == fault.KindProtocol && f.Ending != EndingRefused && f.Ending != EndingMalformed
}

func (f *Failure) Error() string {
	text := fmt.Sprintf("server %q %s", f.Server, f.Ending)
	if reason, circumstances := f.startReason(); reason+circumstances != "" {
		text = strings.TrimSuffix("server "+f.Server, " server") + " failed to start: " + cmp.Or(reason, circumstances)
		if reason != "" && circumstances != "" {
			text += " (" + circumstances + ")"
		}
		return text
	}
	switch f.Ending {
	case EndingUnset, EndingUnusable:
		return f.Reason.Error() // which names the server, the value and the place
	case EndingExited, EndingKilled:
		return f.exitText()
	case EndingSilent, EndingUnanswered:
		if f.Waiting != "" {
			text += " to " + f.Waiting
		}
		text += " within " + Rounded(f.Lived).String()
	case EndingUnfinished:
		return text + " in time: " + f.Reason.Error()
	}
	switch {
	case f.Waiting == "", f.Ending == EndingSilent, f.Ending == EndingUnanswered, f.Ending == EndingUnavailable,
		f.Ending == EndingUnauthorized, f.Ending == EndingExpired, f.Ending == EndingGone,
		f.Ending == EndingMisconfigured, f.Ending == EndingDaemonSilent:
	case f.Ending == EndingRefused, f.Ending == EndingMalformed:
		text += " " + f.Waiting
	default:
		text += " during " + f.Waiting
	}
	if f.Reason != nil {
		// The errors of authorization name the server too.
		text += ": " + strings.TrimPrefix(f.Reason.Error(), "server '"+f.Server+"': ")
	}
	if c := f.Cause(); c != nil && (c.Line == "" || !strings.Contains(text, c.Line)) {
		text += "; " + f.causeText(c)
	}
	return text
}

// exitText returns the error of a server that exited after its start: the cause before the exit status.
func (f *Failure) exitText() string {
	text := fmt.Sprintf("server %q exited", f.Server)
	if f.Waiting != "" {
		text += " during " + f.Waiting
	}
	switch c := f.Cause(); {
	case f.Reason != nil:
		text += ": " + f.Reason.Error()
	case c != nil && c.Quotes():
		text += ": " + c.Line
	case c != nil:
		text += ": " + c.What
	}
	return fmt.Sprintf("%s (%s after %s)", text, f.How, Rounded(f.Lived))
}

// startReason returns why a process failed to start, and how that showed; both are empty for other failures.
func (f *Failure) startReason() (reason, circumstances string) {
	c := f.Cause()
	switch {
	case f.Ending == EndingNotFound:
		if _, _, whole := cmdline.SplitLine(f.Program(), f.Cwd); whole {
			return "its command is a whole command line, not a program: " + f.Program(), ""
		}
		return "command not found: " + f.Program(), ""
	case f.Ending == EndingNotStarted && f.Reason != nil, errors.As(f.Reason, new(*Revision)):
		return f.Reason.Error(), ""
	case f.URL != "" || !f.Starting():
		return "", ""
	case f.Ending == EndingExited, f.Ending == EndingKilled:
		circumstances = fmt.Sprintf("%s after %s", f.How, Rounded(f.Lived))
	case f.Ending == EndingSilent:
		circumstances = fmt.Sprintf("no response after %s", Rounded(f.Lived))
	case f.Ending == EndingClosedStdout, f.Ending == EndingClosedStdin:
		circumstances = "it " + string(f.Ending)
	default:
		return "", ""
	}
	switch {
	case c != nil && c.Quotes():
		reason = c.Line
	case c != nil:
		reason = c.What
	case f.Reason != nil:
		reason = f.Reason.Error()
	case f.Ending == EndingExited && f.StderrLines == 0 && len(f.Stderr)+len(f.Stdout) == 0:
		reason = "no output"
	}
	return reason, circumstances
}

// Cause returns why the server failed, as far as its output shows it, or its log or code where it failed to start; nil
// if none of them does.
func (f *Failure) Cause() *cause.Cause {
	switch {
	case f.Starting() && f.FromStart != nil:
		return f.FromStart()
	case f.FromOutput != nil:
		return f.FromOutput()
	}
	return cause.Diagnose(f.Output())
}

// Starting reports whether the server failed before the handshake was done.
func (f *Failure) Starting() bool {
	return f.Waiting == string(mcp.MethodInitialize) || f.Waiting == string(mcp.MethodServerDiscover)
}

// Brief returns why the server failed in a few words, without its name: what is missing, or how it ended.
func (f *Failure) Brief() string {
	var unset *config.UnsetError
	c := f.Cause()
	switch {
	case errors.As(f.Reason, &unset):
		return unset.Brief()
	case f.Ending == EndingNotFound:
		return string(f.Ending)
	case f.known() != nil && !c.Quotes():
		return c.What
	case f.Ending == EndingRefused || f.Ending == EndingMalformed:
		return string(f.Ending) + " " + f.Waiting
	case c != nil:
		return strings.Trim(c.What, `"`)
	case f.URL != "" && f.Reason != nil:
		return words.FirstLine(f.Reason.Error())
	}
	return cmp.Or(f.How, string(f.Ending))
}

// Printed returns the last lines of stderr and the first lines of stdout that were not messages, at most n of each.
func (f *Failure) Printed(n int) (stderr, stdout []string) {
	return LastOf(f.StderrTail, n), f.Stdout[:min(n, len(f.Stdout))]
}

// Output returns what the server wrote.
func (f *Failure) Output() cause.Output {
	if f.URL != "" {
		return cause.Output{}
	}
	output := cause.Output{Stderr: f.StderrTail, Stdout: f.Said, Environ: f.Environ, Folder: f.Cwd, Entry: f.Entry}
	if len(f.Command) > 0 {
		output.Args = f.Command[1:]
	}
	output.Alive = f.Ending == EndingSilent || f.Ending == EndingUnfinished
	if f.Ending == EndingExited || f.Ending == EndingKilled {
		output.Ended = f.How
	}
	output.Done = f.Ending == EndingExited && f.How == "exit status 0"
	if f.Ending == EndingSilent {
		output.Question = f.Question
	}
	var refused *exec.ToolError
	if f.Ending == EndingRefused && errors.As(f.Reason, &refused) {
		output.Reply = refused.Message
	}
	return output
}

// known returns the cause if a rule knows it.
func (f *Failure) known() *cause.Cause {
	if c := f.Cause(); c != nil && c.Kind != cause.Said {
		return c
	}
	return nil
}

// causeText returns a cause for an error's message: the sentence that a rule knows, or the server's own line.
func (f *Failure) causeText(c *cause.Cause) string {
	switch {
	case !c.Quotes():
		return c.What
	case f.StderrLines == 0 && len(f.Stderr) == 0:
		return "stdout: " + c.Line
	}
	return "stderr: " + c.Line
}

// Details returns everything that is known, one fact a line.
func (f *Failure) Details() []string {
	if f.URL != "" {
		return f.remoteDetails()
	}
	var details []string
	if len(f.Command) > 0 {
		details = append(details, "command  "+strings.Join(f.Command, " "))
	}
	if f.Cwd != "" {
		details = append(details, "cwd      "+f.Cwd)
	}
	ending := string(f.Ending)
	if f.Ending == EndingRefused || f.Ending == EndingMalformed {
		ending += " " + f.Waiting
	}
	if f.How != "" {
		ending = f.How
	}
	if f.Lived > 0 {
		ending += fmt.Sprintf(", %s after its start", Rounded(f.Lived))
	}
	details = append(details, "status   "+ending)
	if len(f.Stdout) > 0 {
		details = append(details, Labelled("stdout", f.Stdout)...)
	}
	if f.StderrLines > 0 || f.Lived > 0 {
		details = append(details, Labelled("stderr", f.Stderr)...)
	}
	if f.StderrPath != "" {
		details = append(details, fmt.Sprintf("log      %s (%s)", f.StderrPath, words.Count(f.StderrLines, "line")))
	}
	return details
}

// remoteDetails returns the details of a server that is reached by HTTP.
func (f *Failure) remoteDetails() []string {
	details := []string{"url      " + f.URL}
	var failed interface{ Exchange() []string }
	if errors.As(f.Reason, &failed) {
		details = append(details, failed.Exchange()...)
	}
	return details
}

// Labelled returns lines with name in front of the first one, the others indented; "(nothing)" where there are none.
func Labelled(name string, lines []string) []string {
	if len(lines) == 0 {
		lines = []string{"(nothing)"}
	}
	labelled := make([]string, len(lines))
	for i, text := range lines {
		labelled[i] = fmt.Sprintf("%-9s%s", name, text)
		name = ""
	}
	return labelled
}

// LastOf returns the last n lines.
func LastOf(lines []string, n int) []string { return lines[max(0, len(lines)-n):] }

// Program returns the name of the program that was started; "(none)" for a server over HTTP.
func (f *Failure) Program() string {
	if len(f.Command) == 0 {
		return "(none)"
	}
	return f.Command[0]
}

// Unwrap returns the reason, which may be nil.
func (f *Failure) Unwrap() error { return f.Reason }

// Kind implements the interface that fault.KindOf looks for: a server that fails during a session breaks the protocol,
// unless the network or missing authorization explains it. ConnectError has other kinds for a failed start.
func (f *Failure) Kind() fault.Kind {
	switch f.Ending {
	case EndingUnusable:
		if fault.KindOf(f.Reason) == fault.KindTimeout { // a program that its entry names takes too long
			return fault.KindTimeout
		}
		return fault.KindUsage
	case EndingUnset, EndingMisconfigured:
		return fault.KindUsage
	case EndingUnauthorized:
		return fault.KindAuth
	case EndingUnavailable, EndingUnanswered:
		return fault.KindConnect
	}
	return fault.KindProtocol
}

// Hint returns what to do about a server that could not be started, or that is reached by HTTP; empty where nothing is
// known.
func (f *Failure) Hint() string {
	switch {
	case f.Ending == EndingDaemonSilent:
		return "toolx session restart " + exec.ShellLine(f.Server) + " restarts it; --no-session goes past it"
	case f.URL != "", f.Ending == EndingUnset, f.Ending == EndingUnusable:
		return fault.HintOf(f.Reason)
	}
	switch f.Ending {
	case EndingNotFound:
		return ProgramHint(f.Command, f.Cwd)
	case EndingNotStarted:
		return f.startHint()
	}
	return fault.HintOf(f.Reason)
}

// Ends reports whether nothing more can come from the server's process.
func (f *Failure) Ends() bool {
	switch f.Ending {
	case EndingExited, EndingKilled, EndingClosedStdout, EndingClosedStdin, EndingClosed:
		return true
	}
	return false
}

// Hinted is an error in toolx's own words, with what to do about it.
type Hinted struct {
	Text, Fix string
	Err       error // the underlying one; may be nil
}

func (e *Hinted) Error() string { return e.Text }

// Unwrap returns the underlying error.
func (e *Hinted) Unwrap() error { return e.Err }

// Hint says what to do about it.
func (e *Hinted) Hint() string { return e.Fix }

// TooLarge returns the reason for not reading a message of more than limit bytes.
func TooLarge(what string, limit int64) error {
	return &Hinted{
		Text: fmt.Sprintf("%s is over the limit of %s (maxMessage)", what, exec.Bytes(limit)),
		Fix:  "raise maxMessage in the config, in the server's entry or under defaults",
	}
}

// Revision says what is wrong with the revision in an answer to initialize; Err is the server's own.
type Revision struct{ Hinted }

// Abandoned says that a request was given up when its context ended, and why it may have had no answer; Why and
// Printed may be empty.
type Abandoned struct {
	Err     error
	Why     string
	Printed []string // what the server wrote since it was asked, a line each
}

// NotReading is the detail of a request that could not even be written.
const NotReading = "the server is not reading its stdin"

func (e *Abandoned) Error() string {
	if e.Why == "" {
		return e.Err.Error()
	}
	return e.Why + ": " + e.Err.Error()
}

// Unwrap returns the context's error.
func (e *Abandoned) Unwrap() error { return e.Err }

// Detail implements the interface by which exec adds to a timeout's message.
func (e *Abandoned) Detail() string { return e.Why }

// Details returns the evidence.
func (e *Abandoned) Details() []string { return e.Printed }

// JoinHints joins hints, one on a line, and leaves out empty ones.
func JoinHints(hints ...string) string {
	hints = slices.DeleteFunc(hints, func(hint string) bool { return hint == "" })
	return strings.Join(slices.Compact(hints), "\n")
}

// Rounded cuts a duration to a precision that a person can read, three digits at most.
func Rounded(d time.Duration) time.Duration {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second)
	case d >= time.Second:
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}

// endingKinds are the kinds of the endings that say more about another start than any output does. The others are
// judged by the output.
var endingKinds = map[Ending]cause.Kind{
	EndingNotFound: cause.Program, EndingNotStarted: cause.Program,
	EndingUnset: cause.Variable, EndingUnusable: cause.Config, EndingMisconfigured: cause.Config,
	EndingNoHeaders: cause.Config, EndingUnauthorized: cause.Login,
	EndingSilent: cause.Silence, EndingUnfinished: cause.Silence, EndingUnanswered: cause.Silence,
}

// Policy returns whether another start can help (MCP-6).
func (f *Failure) Policy() cause.Policy {
	var judged interface{ CauseKind() cause.Kind }
	kind, decided := endingKinds[f.Ending]
	switch {
	case f.Judged != "":
		return f.Judged
	case errors.As(f.Reason, &judged):
		return judged.CauseKind().Policy()
	case decided:
		return kind.Policy()
	}
	switch c := f.Cause(); {
	case c.Policy() != cause.Unknown:
		return c.Policy()
	case f.Ending == EndingRefused, f.Ending == EndingMalformed && f.URL == "":
		return cause.NotMCP.Policy()
	case f.Ending == EndingExited && !f.printed():
		return cause.Idle.Policy()
	}
	return cause.Unknown
}
