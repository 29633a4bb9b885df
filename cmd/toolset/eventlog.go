package toolset

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/mask"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// eventLog turns events into log records. If a server repeats a warning thousands of times, it logs the warning once,
// and the rest with -v.
type eventLog struct {
	log  *slog.Logger
	mask *mask.Masker
	// failed is the level of failed calls: a warning if nothing else reports them to the user (EXEC-6, EXEC-8).
	failed slog.Level
	// suggestUnknown is Options.SuggestUnknown. Warnings about denied tools then wait until the end, since a call of
	// one fails with the same text.
	suggestUnknown bool
	// adHoc reports whether a server was given on the command line; launchWords repeat it, and the flags
	// that affect how servers are reached.
	adHoc       bool
	launchWords []string

	repeats *repeats

	mu       sync.Mutex
	polluted []*pollution          // by server, in the order of their first lines
	last     map[string]*askedCall // the latest call, by server
	denied   []exec.Notice         // warnings about denied tools that no call has reported yet
}

// askedCall is a call or another request that has started.
type askedCall struct {
	id, tool, method string
	arguments        []byte
}

// pollution is non-message output of a server on its stdout.
type pollution struct {
	server string
	lines  int
	last   int // the number of the line that was counted last
	first  string
	call   *askedCall // the latest call before the first line, or nil
}

func newEventLog(log *slog.Logger, masker *mask.Masker, options Options) *eventLog {
	l := &eventLog{
		log: log, mask: masker, failed: slog.LevelWarn, suggestUnknown: options.SuggestUnknown,
		repeats: newRepeats(log), last: make(map[string]*askedCall),
	}
	if options.ReportFailures {
		l.failed = slog.LevelInfo
	}
	return l
}

// take logs one event.
func (l *eventLog) take(event exec.Event) {
	switch e := event.(type) {
	case exec.Notice:
		l.notice(e)
	case exec.CallStarted:
		l.begun(e)
		if l.log.Enabled(context.Background(), slog.LevelInfo) { // masking large arguments is slow
			l.log.Info("calling "+e.Tool, "arguments", l.arguments(e.Arguments))
		}
	case exec.CallFinished:
		l.finished(e)
	case exec.ArgumentsCoerced:
		l.coerced(e)
	case servers.Retry:
		l.retry(e)
	case protocol.StartOverdue:
		l.log.Warn(e.Text())
	case servers.Connected:
		l.connected(e)
	case servers.ConnectFailed:
		l.connectFailed(e)
	case wire.PollutedLine:
		l.pollutedLine(e)
	case wire.OddFrame:
		l.odd(e)
	case wire.LogMessage:
		l.log.Info(fmt.Sprintf("server %q log [%s] %s", e.Server, e.Level, e.Data))
	case wire.StderrLine:
		l.log.Info(fmt.Sprintf("server %q stderr: %s", e.Server, e.Text))
	case wire.Notification:
		l.log.Debug(fmt.Sprintf("server %q notification %s %s", e.Server, e.Method, e.Params))
	case wire.ServerRequest:
		l.request(e)
	case wire.HTTPExchange:
		l.exchange(e)
	case wire.ProcessStarted:
		l.log.Info(fmt.Sprintf("server %q: process %d started: %s", e.Server, e.PID, strings.Join(e.Command, " ")))
	case wire.ProcessExited:
		l.exited(e)
	case protocol.SessionLost:
		l.log.Info(e.Why.Error())
	}
}

// notice logs a remark. It merges warnings that a server can cause any number of.
func (l *eventLog) notice(e exec.Notice) {
	if e.Denied && l.suggestUnknown {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.denied = append(l.denied, e)
		return
	}
	if e.Server != "" && e.Level >= slog.LevelWarn {
		l.repeats.warn(e.Level, e.Server, e.Text, e.Attrs...)
		return
	}
	l.log.LogAttrs(context.Background(), e.Level, e.Text, e.Attrs...)
}

func (l *eventLog) arguments(arguments []byte) string {
	if len(arguments) == 0 {
		return "{}"
	}
	return string(l.mask.JSON(arguments))
}

// coerced logs a model's values that were converted to another type. It masks secrets by their parameters' names.
func (l *eventLog) coerced(e exec.ArgumentsCoerced) {
	e.Changes = slices.Clone(e.Changes)
	for i, change := range e.Changes {
		if mask.Name(change.Path) && change.To != "" {
			e.Changes[i].From, e.Changes[i].To = mask.Mask, mask.Mask
		}
	}
	l.log.Info(e.String())
}

// begun records a request, which may be the reason why the server pollutes its stdout.
func (l *eventLog) begun(e exec.CallStarted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	tool := strings.TrimPrefix(e.Tool, e.Server+exec.Separator)
	l.last[e.Server] = &askedCall{id: e.ID, tool: tool, method: e.Method, arguments: e.Arguments}
}

func (l *eventLog) finished(e exec.CallFinished) {
	l.mu.Lock()
	if call := l.last[e.Result.Server]; call != nil && call.id == e.ID {
		call.arguments = e.Arguments // as they were sent, so that the call can be repeated
	}
	l.denied = slices.DeleteFunc(l.denied, func(n exec.Notice) bool {
		return !e.Result.Success && n.Text == e.Result.Err.Error()
	})
	l.mu.Unlock()
	outcome, why, level := "succeeded", "", slog.LevelInfo
	if !e.Result.Success {
		outcome, why, level = "failed", ": "+e.Result.Err.Error(), l.failed
		var missing *exec.NotFoundError
		if errors.As(e.Result.Err, &missing) && len(missing.Candidates) == 0 {
			level = slog.LevelWarn // EXEC-6: in every log, except on a stderr that already has the error
			if l.suggestUnknown && !l.log.Enabled(context.Background(), slog.LevelInfo) {
				level = slog.LevelInfo
			}
		}
	}
	if !l.log.Enabled(context.Background(), level) {
		return // before the text is made
	}
	text := fmt.Sprintf("call of %s %s after %s", e.Result.ToolName, outcome, e.Result.Duration.Round(time.Microsecond))
	if timing := e.Result.Timing; timing != nil {
		text += fmt.Sprintf(" (%s %.1f ms)", cmp.Or(e.Method, "tools/call"), timing.CallMS)
	}
	l.log.Log(context.Background(), level, text+why)
}

// retry reports each attempt (MCP-3), or only the first for a server that the user did not name.
func (l *eventLog) retry(e servers.Retry) {
	level := slog.LevelWarn
	if e.Searched && e.Attempt > 1 {
		level = slog.LevelInfo
	}
	l.log.Log(context.Background(), level, fmt.Sprintf("attempt %d of %d failed, next in %s: %s",
		e.Attempt, e.Of, e.Delay, servers.NamedText(e.Server, e.Err)))
}

func (l *eventLog) connected(e servers.Connected) {
	level, text := slog.LevelInfo, fmt.Sprintf("server %q: MCP connection succeeded on attempt %d", e.Server, e.Attempt)
	if e.Attempt > 1 {
		level = slog.LevelWarn // the failures were warnings too
	}
	l.log.Log(context.Background(), level, text, "protocol", e.Protocol,
		"start_ms", e.Timing.StartMS, "initialize_ms", e.Timing.InitializeMS, "list_ms", e.Timing.ListMS)
}

// pollutedLine reports a bad line, escaped, with its number and phase (MCP-1), and
// counts it for the one warning that a server gets.
func (l *eventLog) pollutedLine(e wire.PollutedLine) {
	level := slog.LevelInfo
	if e.Class.Harmless() {
		level = slog.LevelDebug
	} else {
		l.countPolluted(e)
	}
	text := fmt.Sprintf("server %q wrote non-JSON-RPC output to stdout (%s), line %d, %s: %s",
		e.Server, e.Class, e.Line, e.Phase, excerpt(e, 200))
	if e.Salvaged > 0 {
		text += fmt.Sprintf("; messages salvaged: %d", e.Salvaged)
	}
	l.log.Log(context.Background(), level, text)
}

func (l *eventLog) countPolluted(e wire.PollutedLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.IndexFunc(l.polluted, func(p *pollution) bool { return p.server == e.Server })
	if at < 0 {
		at = len(l.polluted)
		l.polluted = append(l.polluted, &pollution{server: e.Server, first: excerpt(e, 60), call: l.last[e.Server]})
	}
	if p := l.polluted[at]; p.last != e.Line { // a line may be foreign in two places
		p.lines, p.last = p.lines+1, e.Line
	}
}

// connectFailed drops the warning about a server's stdout if the error of its start shows the lines.
func (l *eventLog) connectFailed(e servers.ConnectFailed) {
	var failure *diagnose.Failure
	if !errors.As(e.Err, &failure) || len(failure.Stdout) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.polluted = slices.DeleteFunc(l.polluted, func(p *pollution) bool { return p.server == e.Server })
}

// end reports the counts of equal warnings, and a warning for each server that polluted its stdout.
func (l *eventLog) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.denied {
		l.repeats.warn(e.Level, e.Server, e.Text)
	}
	l.repeats.end()
	for _, p := range l.polluted {
		lines := "1 line to stdout that is not JSON-RPC:"
		if p.lines > 1 {
			lines = fmt.Sprintf("%d lines to stdout that are not JSON-RPC, the first:", p.lines)
		}
		l.log.Warn(fmt.Sprintf("server %q wrote %s %s (%s)", p.server, lines, p.first, l.showAgain(p)))
	}
	l.polluted = nil
}

// showAgain returns the command that shows the first line again, and where it comes from.
func (l *eventLog) showAgain(p *pollution) string {
	words := []string{"toolx", "doctor"}
	switch call := p.call; {
	case call == nil:
	case call.method == "":
		words = append(words, "--call", call.tool+" "+l.repeatable(call.arguments))
	case !doctorAsks(call.method):
		return "-v shows each line as it arrives"
	}
	if words = append(words, l.launchWords...); !l.adHoc {
		words = append(words, p.server)
	}
	return exec.ShellLine(words...)
}

// repeatable returns arguments for a command to paste, without secrets; an ellipsis if they are too long.
func (l *eventLog) repeatable(arguments []byte) string {
	const longest = 400 // in bytes
	text := l.arguments(arguments)
	if compact := rawjson.Compact([]byte(text)); len(compact) <= longest && json.Valid(compact) {
		return string(compact)
	}
	return "{…}"
}

// doctorAsks reports whether the doctor sends requests of a method by default.
func doctorAsks(method string) bool {
	return slices.Contains([]string{"ping", "tools/list", "resources/list", "prompts/list"}, method)
}

func (l *eventLog) odd(e wire.OddFrame) {
	where := ""
	if e.Line > 0 { // HTTP has no lines
		where = fmt.Sprintf("line %d, ", e.Line)
	}
	class := string(e.Class)
	if e.Why != "" {
		class += ": " + e.Why
	}
	text := fmt.Sprintf("server %q broke JSON-RPC (%s), %s%s: %s",
		e.Server, class, where, e.Phase, strconv.Quote(words.Clip(string(e.Bytes), 200)))
	if !e.Used {
		text += "; ignored"
	}
	if e.Class.Harmless() {
		l.log.Info(text)
		return
	}
	l.mu.Lock()
	text += " (" + l.showAgain(&pollution{server: e.Server, call: l.last[e.Server]}) + ")"
	l.mu.Unlock()
	l.repeats.warnOf(warningKind{e.Server, string(e.Class)}, slog.LevelWarn, text)
}

func (l *eventLog) request(e wire.ServerRequest) {
	answer := "answered"
	switch {
	case e.Busy:
		text := fmt.Sprintf("server %q has too many open requests; further ones are refused", e.Server)
		l.repeats.warn(slog.LevelWarn, e.Server, text)
		return
	case !e.Answered && e.Method == "roots/list":
		l.repeats.warn(slog.LevelWarn, e.Server, fmt.Sprintf("server %q asked for roots and got none: --root DIR, or "+
			"roots in the config, says where it may work", e.Server))
		return
	case !e.Answered:
		answer = "refused: not advertised"
	}
	l.log.Info(fmt.Sprintf("server %q asked %s: %s", e.Server, e.Method, answer))
}

func (l *eventLog) exchange(e wire.HTTPExchange) {
	outcome := fmt.Sprintf("HTTP %d", e.Status)
	if e.Err != nil {
		outcome = e.Err.Error()
	}
	took := exec.Milliseconds(e.Took)
	l.log.Debug(fmt.Sprintf("server %q: %s %s: %s after %.1f ms", e.Server, e.Verb, e.URL, outcome, took))
}

func (l *eventLog) exited(e wire.ProcessExited) {
	text := fmt.Sprintf("server %q ended: %s", e.Server, e.How)
	if e.Forced != "" {
		text = fmt.Sprintf("server %q did not end when its stdin closed; %s was needed", e.Server, e.Forced)
	}
	l.log.Info(text)
}

// excerpt returns the bad part of a line, quoted, with escapes for invisible bytes. From a line of more than n bytes,
// it returns those around the bad byte, or the first ones.
func excerpt(e wire.PollutedLine, n int) string {
	switch {
	case len(e.Text) == 0 && e.Unended:
		return "a message without a newline at its end"
	case e.Size <= int64(n) || e.Near == nil:
		return quoteOnce(words.Clip(string(e.Text), n))
	}
	before, after := "", ""
	if e.NearAt > 0 {
		before = "…"
	}
	if int64(e.NearAt+len(e.Near)) < e.Size {
		after = "…"
	}
	return quoteOnce(before + string(e.Near) + after)
}

// quoteOnce quotes text. It does not quote text with quotes in it, but escapes its other special characters.
func quoteOnce(text string) string {
	if strings.Contains(text, `"`) {
		return strings.ReplaceAll(strings.Trim(strconv.Quote(text), `"`), `\"`, `"`)
	}
	return strconv.Quote(text)
}
