// Package repro writes a shell script that shows a finding again, without toolx.
package repro

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"toolx/pkg/cmdline"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/mask"
	"toolx/pkg/servers"
)

// ReproError says that no script can show a finding, and why.
type ReproError struct{ ID, Reason string }

func (e *ReproError) Error() string {
	if e.ID == "" {
		return "there is nothing to reproduce: " + e.Reason
	}
	return fmt.Sprintf("no script can show %s: %s", e.ID, e.Reason)
}

// Hint says what to do instead.
func (e *ReproError) Hint() string {
	return "--only ID chooses another finding; toolx doctor shows all of them"
}

// Repro writes a POSIX shell script that shows a finding without toolx: it starts the server, sends what the doctor
// sent, closes stdin, and prints what came; a server over HTTP it asks by curl. The script always ends. Secrets are not
// in it: hide masks them, and it asks for variables of the config.
//
// The error is a *ReproError if the finding is not about what a server does, or is only a note.
func Repro(fleet *evidence.Fleet, finding check.Finding, hide func(string) string) (string, error) {
	at := slices.IndexFunc(fleet.Servers, func(e *evidence.Evidence) bool { return e.Server.Name == finding.Server })
	if at < 0 ||
		fleet.Servers[at].Local() == nil && (fleet.Servers[at].Launch == nil || !fleet.Servers[at].OverHTTP()) {
		return "", &ReproError{finding.ID, "it is about the config, not about what a server does"}
	}
	if finding.Severity == check.Info && check.PageOf(finding.ID).Group != check.GroupFraming {
		return "", &ReproError{Reason: finding.ID + " is a note, and no fault"}
	}
	e := fleet.Servers[at]
	run := runOf(e, finding.Where)
	if run == nil {
		return "", &ReproError{finding.ID, "the server was not started"}
	}
	r := &repro{evidence: e, run: run, finding: finding, hide: hide, asked: make(map[string]bool)}
	if e.OverHTTP() {
		return r.httpScript()
	}
	return r.script(), nil
}

// runOf returns the run that a place is in, or the clean one.
func runOf(e *evidence.Evidence, where *evidence.Where) *evidence.Run {
	if where == nil {
		return e.Clean
	}
	var named *evidence.Run
	for _, run := range e.Runs() {
		if run.Name != where.Run {
			continue
		}
		called := func(x *evidence.Exchange) bool { return evidence.NameIn(x.Sent) == where.Tool }
		if where.Tool != "" && slices.ContainsFunc(run.Asked("tools/call"), called) {
			return run
		}
		named = cmp.Or(named, run)
	}
	return cmp.Or(named, e.Clean)
}

// repro is a script in the making.
type repro struct {
	evidence *evidence.Evidence
	run      *evidence.Run
	finding  check.Finding
	hide     func(string) string
	out      strings.Builder
	asked    map[string]bool // variables that the script has asked for
	options  string          // of curl, where a server is reached by HTTP
}

// line writes one line of the script.
func (r *repro) line(format string, args ...any) { fmt.Fprintf(&r.out, format+"\n", args...) }

// quote is a word of the shell, without secrets.
func (r *repro) quote(text string) string { return exec.ShellLine(r.hide(text)) }

func (r *repro) script() string {
	tools := "head, printf, sed, sleep, tail, wc"
	if r.aboutChildren() {
		tools = "awk, head, printf, ps, sed, sleep, tail, wc"
	}
	r.head("Starts the server, sends it what a client sends, and shows what comes back.",
		tools+", and the server itself", "server", "kill -KILL")
	r.environment()
	r.start()
	r.await()
	r.show()
	return r.out.String()
}

// head says what the script is for, and cleans up after it: background is the variable with the process that the script
// starts. Nothing in it comes from the server.
func (r *repro) head(purpose, needs, background, kill string) {
	r.line("#!/bin/sh")
	if title := check.PageOf(r.finding.ID).Title; title != "" {
		r.line("# %s: %s", r.finding.ID, title)
	}
	r.line("# %s", purpose)
	r.line("# Needs a POSIX shell, %s.", needs)
	r.line("set -u")
	r.line(`dir=$(mktemp -d "${TMPDIR:-/tmp}/repro.XXXXXX") || exit 1`)
	r.line("%s=", background)
	r.line(`trap 'if [ -n "$%s" ]; then %s "$%s" 2>/dev/null; fi; rm -rf "$dir"' EXIT`, background, kill, background)
	r.line(`trap 'exit 130' INT TERM`)
	r.line("")
}

// environment sets what the config sets: folder and variables. What may be secret is asked for and not written down.
func (r *repro) environment() {
	launch, entry := r.evidence.Launch, r.evidence.Server
	if launch.Cwd != "" {
		r.line("cd %s || exit 1", r.word(entry.Cwd, launch.Cwd))
	}
	for _, name := range slices.Sorted(maps.Keys(entry.Env)) {
		value := entry.Env[name]
		if !cmdline.ShellName(name) {
			continue
		}
		if strings.Contains(value, "${") || mask.Name(name) || r.hide(value) != value {
			r.ask(name)
			r.line("export %s", name)
			continue
		}
		r.line("export %s=%s", name, r.quote(value))
	}
}

// ask makes the script demand a variable.
func (r *repro) ask(name string) {
	if !r.asked[name] {
		r.line(`: "${%s:?set %s first}"`, name, name)
	}
	r.asked[name] = true
}

// word writes a text of the config for the shell: what comes from a variable there comes from it here.
func (r *repro) word(raw, expanded string) string {
	pieces, ok := templateOf(raw)
	if !ok || raw == expanded {
		return r.quote(expanded)
	}
	var word strings.Builder
	for _, piece := range pieces {
		switch {
		case piece.variable == "":
			word.WriteString(r.quote(piece.text))
			continue
		case piece.fallback:
			r.line(`[ -n "${%s:-}" ] || %s=%s`, piece.variable, piece.variable, r.quote(piece.text))
		default:
			r.ask(piece.variable)
		}
		fmt.Fprintf(&word, `"$%s"`, piece.variable)
	}
	return word.String()
}

// templatePiece is a part of a text of the config: text as it is, or a variable, whose
// text is then what stands for it where it is not set.
type templatePiece struct {
	variable, text string
	fallback       bool
}

// templateOf cuts a text at its variables; ok is false where it has none, or one whose default has others in it.
func templateOf(raw string) (pieces []templatePiece, ok bool) {
	literal := func(text string) {
		if text != "" {
			pieces = append(pieces, templatePiece{text: text})
		}
	}
	done := 0
	for _, m := range configVariable().FindAllStringSubmatchIndex(raw, -1) {
		if raw[m[0]:m[0]+2] == "$$" { // how the config writes the characters ${
			literal(raw[done:m[0]])
			literal(raw[m[0]+1 : m[1]])
			done = m[1]
			continue
		}
		literal(raw[done:m[0]])
		piece := templatePiece{variable: raw[m[2]:m[3]], fallback: m[4] >= 0}
		if piece.fallback {
			piece.text = raw[m[4]:m[5]]
		}
		pieces, done, ok = append(pieces, piece), m[1], true
	}
	literal(raw[done:])
	return pieces, ok && !strings.Contains(raw[done:], "${") && !nestedVariable().MatchString(raw)
}

var configVariable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$?\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}`)
})

// nestedVariable is a default with a variable in it.
var nestedVariable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{[^{}]*\$\{`)
})

// start starts the server with the messages on its stdin.
func (r *repro) start() {
	launch, entry := r.evidence.Launch, r.evidence.Server
	words := []string{r.word(entry.Command, launch.Command)}
	for i, arg := range launch.Args {
		raw := arg
		if i < len(entry.Args) {
			raw = entry.Args[i]
		}
		words = append(words, r.word(raw, arg))
	}
	r.line("{")
	for _, line := range r.input() {
		r.line("  %s", line)
	}
	r.line(`} | %s >"$dir/out" 2>"$dir/err" &`, strings.Join(words, " "))
	r.line("server=$!")
}

// input are the commands that write to the server's stdin: the messages of the run,
// in their order, as far as the finding goes, with time for the server to answer.
func (r *repro) input() []string {
	var lines []string
	frames := r.frames()
	for i, frame := range frames {
		lines = append(lines, "printf '%s\\n' "+r.quote(string(frame)))
		if i == 0 || i == len(frames)-1 {
			lines = append(lines, fmt.Sprintf("sleep %d", r.waitSeconds(i)))
		}
	}
	if len(lines) == 0 {
		lines = append(lines, fmt.Sprintf("sleep %d", r.waitSeconds(0)))
	}
	if r.aboutSignal() { // stdin must not end before the signal has had its time
		lines = append(lines, fmt.Sprintf("sleep %d", r.waitSeconds(0)+clientGrace))
	}
	return lines
}

// frames returns the messages that were sent before the finding was seen; all if it does not say when.
func (r *repro) frames() [][]byte {
	const most = 40 // further ones show nothing more
	var frames [][]byte
	for _, sent := range evidence.EventsOf[servers.FrameSent](r.run) {
		late := r.finding.Where != nil && r.finding.Where.MS > 0 && r.run.Since(sent.At) > r.finding.Where.MS
		if late && len(frames) > 0 || len(frames) == most || bytes.ContainsAny(sent.Bytes, "\x00\n") {
			break
		}
		frames = append(frames, sent.Bytes)
	}
	return frames
}

// waitSeconds returns how many seconds to wait after a message: 1, and after the first also as long as the server took
// to start, at most 30.
func (r *repro) waitSeconds(message int) int {
	if message > 0 || len(r.run.Exchanges) == 0 {
		return 1
	}
	first := r.run.Exchanges[0]
	took := first.At.Sub(r.run.Began) + first.Took
	const most = 30 * time.Second
	return 1 + int(math.Ceil(min(took, most).Seconds()))
}

// aboutSignal reports whether the finding is about what SIGTERM does.
func (r *repro) aboutSignal() bool { return r.finding.ID == "ignores-sigterm" }

// clientGrace is how many seconds a client gives a server to end, and one more.
const clientGrace = 3

// await waits until the server has ended, or for as long as a client would, and
// sends a signal where the finding is about one.
func (r *repro) await() {
	seconds := clientGrace
	if len(r.run.Exchanges) > 0 {
		seconds += r.waitSeconds(0)
	}
	if r.aboutSignal() {
		r.line("sleep %d", r.waitSeconds(0))
		r.line(`kill -TERM "$server"`)
		seconds = clientGrace
	}
	if r.aboutChildren() {
		r.census()
	}
	r.line("waited=0")
	r.line(`while kill -0 "$server" 2>/dev/null && [ "$waited" -lt %d ]; do`, seconds)
	r.line("  sleep 1")
	r.line("  waited=$((waited + 1))")
	r.line("done")
	r.line(`if kill -0 "$server" 2>/dev/null; then`)
	r.line(`  echo 'the server is still alive; now it gets SIGKILL'`)
	r.line(`  kill -KILL "$server"`)
	r.line("fi")
	r.line(`wait "$server"`)
	r.line(`echo "exit status $?"`)
	r.line("server=")
	if r.aboutChildren() {
		r.orphans()
	}
}

// aboutChildren reports whether the finding is about what the server started and left behind.
func (r *repro) aboutChildren() bool {
	return r.finding.ID == "orphan-grandchild" || r.finding.ID == "pipe-held-open"
}

// census notes all processes below the server's, while it lives.
func (r *repro) census() {
	r.line("sleep %d", r.waitSeconds(0))
	r.line(`children=$(ps -A -o pid= -o ppid= | awk -v top="$server" '`)
	r.line(`  { parent[$1] = $2 }`)
	r.line(`  END {`)
	r.line(`    below[top] = 1`)
	r.line(`    for (more = 1; more;) {`)
	r.line(`      more = 0`)
	r.line(`      for (p in parent) if (!(p in below) && (parent[p] in below)) { below[p] = 1; more = 1; print p }`)
	r.line(`    }`)
	r.line(`  }')`)
}

// orphans shows which of them are still there, and ends them: the script leaves nothing.
func (r *repro) orphans() {
	r.line("sleep 1")
	r.line("left=0")
	r.line("for child in $children; do")
	r.line(`  kill -0 "$child" 2>/dev/null || continue`)
	r.line("  left=$((left + 1))")
	r.line(`  ps -o pid= -o args= -p "$child" | sed -n l`)
	r.line(`  kill -KILL "$child"`)
	r.line("done")
	r.line(`echo "processes that the server started, and that outlived it: $left"`)
}

// How many lines the script prints of what came: of a line that is pollution or a
// flood its beginning will do, of an answer all that matters is inside.
const (
	shownOfText   = 8
	shownOfAnswer = 1000
	shownOfRest   = 20
)

// show prints what came, in a form in which no byte is lost: sed's l shows control
// characters as escapes, and folds long lines. However much came, it prints little.
func (r *repro) show() {
	r.line("")
	if line := r.shownLine(); line > 0 {
		most := shownOfAnswer
		if check.PageOf(r.finding.ID).Group == check.GroupFraming {
			most = shownOfText
		}
		r.line(`size=$(sed -n '%d{p;q;}' "$dir/out" | wc -c)`, line)
		r.line("printf '%%s\\n' \"stdout, line %d, $((size)) bytes\"' "+
			"(\\n and other control characters as escapes, $ at its end):'", line)
		r.line(`sed -n '%d{l;q;}' "$dir/out" | head -n %d`, line, most)
	}
	r.line(`count=$(sed '/^[{]/d' "$dir/out" | wc -l)`)
	r.line(`echo "lines of stdout that do not begin like a JSON object: $((count))"`)
	r.line(`sed -n '/^[{]/!{=;l;}' "$dir/out" | head -n %d`, shownOfRest)
	r.line("echo 'stderr, its last lines:'")
	r.line(`tail -n %d "$dir/err" | sed -n l | head -n %d`, shownOfRest,
		2*shownOfRest) // a stack has its message at the top
}

// shownLine is the line of stdout that a finding is about: its own, or that of the
// answer to its method; zero where there is none.
func (r *repro) shownLine() int {
	where := r.finding.Where
	if where == nil {
		return 0
	}
	line := where.Line
	if r.run.Speed != nil && line > len(evidence.EventsOf[servers.FrameReceived](r.run)) {
		return 0 // it came after many pings, which the script does not send
	}
	if exchange := r.run.Exchange(where.Method, 0); exchange != nil {
		line = cmp.Or(line, exchange.Line)
	}
	if where.Tool != "" {
		if exchange := r.run.Exchange("tools/list", 0); exchange != nil {
			line = cmp.Or(line, exchange.Line)
		}
	}
	return line
}
