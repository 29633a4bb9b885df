// Package report writes the doctor's report as text, JSON, SARIF and JUnit, and the pages of its checks.
package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/render"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// Format is an output format of the report.
type Format string

// The formats.
const (
	Text  Format = "text"
	JSON  Format = "json"  // one object, see docs/doctor.md
	SARIF Format = "sarif" // SARIF 2.1.0, for code scanning
	JUnit Format = "junit" // JUnit XML, for continuous integration
)

// Options configures the output.
type Options struct {
	Format  Format
	Verbose bool // every check with its result, and every note
	// FailOn is the lowest severity that fails; empty means that nothing fails.
	FailOn  check.Severity
	Version string // of toolx
	Screen  render.Screen
}

// Write writes a report after joining similar findings (doctor.Report.Gathered). Secrets must already be masked
// (doctor.Report.Mask).
func Write(out io.Writer, report *doctor.Report, options Options) error {
	report = report.Gathered()
	buffered := bufio.NewWriter(out)
	var err error
	switch options.Format {
	case JSON:
		err = writeJSON(buffered, report, options.Screen)
	case SARIF:
		err = writeSARIF(buffered, report, options)
	case JUnit:
		err = writeJUnit(buffered, report, options)
	default:
		(&writer{out: buffered, report: report, options: options, screen: options.Screen}).write()
	}
	if err != nil {
		return err
	}
	return buffered.Flush()
}

// writer writes a report for people.
type writer struct {
	out     *bufio.Writer
	report  *doctor.Report
	options Options
	screen  render.Screen
	fixes   string // of the last finding
}

// The margins of a finding, and the column after labels.
const (
	findingMargin  = "  "
	evidenceMargin = "    "
	labelColumn    = len("  culprit  ")
)

func (w *writer) line(text string) { fmt.Fprintln(w.out, strings.TrimRight(text, " ")) }

func (w *writer) write() {
	servers := w.report.Servers
	for i, server := range servers {
		if len(servers) > 1 && i > 0 {
			w.line("")
		}
		if len(servers) > 1 || len(server.Facts) > 0 {
			w.line(w.heading(server))
			w.facts(server)
		}
		w.server(server)
	}
	w.config()
	w.stale()
	if w.options.Verbose {
		w.checks()
	}
	w.notCalled()
	w.summary()
	w.offerProxy()
}

// notCalled reports, once for all servers, that no tool was called, and how to call some. Many servers pollute stdout
// only during calls.
func (w *writer) notCalled() {
	notAsked := slices.DeleteFunc(slices.Clone(w.report.Servers), func(server doctor.ServerReport) bool {
		return server.NotCalled != doctor.CallsNotAsked || server.Status != "ready" || server.Tools == 0
	})
	if len(notAsked) == 0 {
		return
	}
	text := "stdout is clean so far, but no tool was called"
	if slices.ContainsFunc(notAsked, func(server doctor.ServerReport) bool { return !w.cleanStdout(server.Name) }) {
		text = "no tool was called"
	}
	w.marked(check.Info, text+"; --call safe calls read-only tools, --call 'TOOL {…}' calls any")
}

// cleanStdout reports whether a server wrote only messages to stdout.
func (w *writer) cleanStdout(server string) bool {
	asked := slices.ContainsFunc(w.report.Checks, func(one check.CheckResult) bool {
		return one.Server == server && one.ID == "stdout-pollution-between" && one.Outcome == check.Passed
	})
	return asked && !slices.ContainsFunc(w.report.Findings, func(f check.Finding) bool {
		foreign := strings.HasPrefix(f.ID, "stdout-") && f.ID != "stdout-huge-line" || f.ID == "rpc-not-mcp"
		return f.Server == server && f.Severity != check.Info && foreign
	})
}

// marked writes a paragraph with the mark of a severity.
func (w *writer) marked(severity check.Severity, text string) {
	w.wrapped(w.screen.Paint(roleOf(severity), markOf(severity))+" ", len(findingMargin), text)
}

// plain writes a paragraph with the margin of a finding.
func (w *writer) plain(text string) { w.wrapped(findingMargin, len(findingMargin), text) }

// heading returns the heading of one of several servers.
func (w *writer) heading(server doctor.ServerReport) string {
	remark := server.Status
	if server.Status == "ready" {
		remark = fmt.Sprintf("protocol %s, %s, %s",
			render.Safe(server.Protocol), words.Count(server.Tools, "tool"), seconds(server.DurationMS))
	}
	return w.screen.Paint(render.RoleHeading, render.Safe(server.Name)) + " " +
		w.screen.Paint(render.RoleMuted, "("+remark+")")
}

// facts writes a server's measurements on one line, or with -v one per line.
func (w *writer) facts(server doctor.ServerReport) {
	var parts []string
	for _, fact := range server.Facts {
		text := factText(fact)
		if w.options.Verbose {
			text = fact.ID + ": " + fact.Title + ", " + fact.Evidence
			w.plain(render.Safe(strings.Join(append([]string{text}, fact.Notes...), "; ")))
		}
		parts = append(parts, text)
	}
	if len(parts) > 0 && server.StartMS > 0 {
		text := "starts in " + evidence.Milliseconds(time.Duration(server.StartMS*float64(time.Millisecond)))
		parts = append(parts, text)
		if w.options.Verbose {
			w.plain(text)
		}
	}
	if len(parts) > 0 && !w.options.Verbose {
		w.plain(render.Safe(strings.Join(parts, " · ")))
	}
}

// factText returns a fact in a few words.
func factText(fact doctor.Fact) string {
	if fact.ID == "era" {
		return fact.Title
	}
	text, _, _ := strings.Cut(fact.Evidence, ";")
	return text
}

// server writes the findings about one server, or why it was not examined.
func (w *writer) server(server doctor.ServerReport) {
	findings := w.findingsOf(server.Name)
	isError := func(f check.Finding) bool { return f.Severity == check.Error }
	if server.Status != "ready" && server.Because != "" && !slices.ContainsFunc(findings, isError) {
		severity := check.Error
		if server.Status != "failed" {
			severity = check.Warning
		}
		w.marked(severity, render.SafeBlock("not examined: "+server.Because))
	}
	w.findings(findings)
	if text := calledText(server); text != "" {
		w.marked(check.Info, text)
	}
	if server.Hint != "" {
		w.labelled("hint", server.Hint)
	}
	if len(findings) == 0 && server.Status == "ready" && len(w.report.Servers) > 1 {
		w.line(w.screen.Paint(render.RoleGood, "✓") + " nothing found")
	}
}

// calledText lists the calls that the doctor chose, or returns why it made none although requested.
func calledText(server doctor.ServerReport) string {
	switch {
	case server.NotCalled != "" && server.NotCalled != doctor.CallsNotAsked && server.Status != "unfinished":
		return "no tool was called: " + server.NotCalled
	case len(server.Called) == 0:
		return ""
	}
	return fmt.Sprintf("called %s of %d, marked read-only: %s",
		words.Count(len(server.Called), "tool"), server.Tools, render.Safe(strings.Join(server.Called, ", ")))
}

// config writes the findings that are not about one server.
func (w *writer) config() {
	findings := w.findingsOf("")
	if len(findings) > 0 && len(w.report.Servers) > 1 {
		w.line("")
		w.line(w.screen.Paint(render.RoleHeading, everything))
	}
	w.findings(findings)
}

func (w *writer) findingsOf(server string) []check.Finding {
	var findings []check.Finding
	for _, finding := range w.report.Findings {
		if finding.Server == server {
			findings = append(findings, finding)
		}
	}
	return findings
}

// findings writes findings in full, except notes, which share one line.
func (w *writer) findings(findings []check.Finding) {
	var ids []string
	count := make(map[string]int)
	notes := 0
	for _, finding := range findings {
		switch {
		case finding.Severity != check.Info || w.options.Verbose:
			w.finding(finding)
			continue
		case quiet(finding):
			continue
		}
		if notes++; count[finding.ID] == 0 {
			ids = append(ids, finding.ID)
		}
		count[finding.ID] += len(finding.AllPlaces())
	}
	for i, id := range ids {
		if count[id] > 1 {
			ids[i] = fmt.Sprintf("%s (%d)", id, count[id])
		}
	}
	if notes > 0 {
		w.marked(check.Info, fmt.Sprintf("%s: %s (-v shows them)", words.Count(notes, "note"), strings.Join(ids, ", ")))
	}
}

// quiet reports whether a finding is a note that only -v shows.
func quiet(f check.Finding) bool { return f.Severity == check.Info && f.Manner == check.Quiet }

// finding writes one finding.
func (w *writer) finding(f check.Finding) {
	w.title(f.Severity, render.Safe(f.Title), f.ID)
	if fixes := strings.Join(f.Fix, "\n"); fixes != w.fixes { // once for consecutive findings
		w.labelled("fix", slices.DeleteFunc(slices.Clone(f.Fix), func(fix string) bool {
			_, is := workAround(fix)
			return is // shown once, at the end
		})...)
		w.fixes = fixes
	}
	for _, place := range f.AllPlaces() {
		w.place(place)
	}
	if f.Culprit != nil {
		w.labelled("culprit", f.Culprit.Name+", "+f.Culprit.Confidence)
	}
	if len(f.Breaks) > 0 {
		w.labelled("breaks", strings.Join(f.Breaks, "; "))
	}
}

// place writes one place of a finding.
func (w *writer) place(p check.Place) {
	place, margin := whereText(p.Where), evidenceMargin
	switch {
	case place == "":
		margin = findingMargin
	case p.Evidence != "":
		w.plain(place + ":")
	default:
		w.plain(place)
	}
	if p.Evidence != "" {
		w.wrapped(margin, len(margin), render.Safe(p.Evidence))
	}
	for _, note := range p.Notes {
		w.plain(render.Safe(note))
	}
}

// title writes a mark, a title and an id, which is right-aligned on a terminal.
func (w *writer) title(severity check.Severity, title, id string) {
	const gap = "  "
	mark := w.screen.Paint(roleOf(severity), markOf(severity)) + " "
	width := w.screen.Columns()
	if width == 0 {
		w.line(mark + title + gap + id)
		return
	}
	room := max(width-len(findingMargin)-len(gap)-ansi.StringWidth(id), 20)
	id = gap + w.screen.Paint(render.RoleMuted, id)
	for i, text := range render.Wrap(title, room) {
		if i == 0 {
			w.line(mark + w.screen.Paint(render.RoleHeading, render.Pad(text, room)) + id)
			continue
		}
		w.line(findingMargin + w.screen.Paint(render.RoleHeading, text))
	}
}

// labelled writes lines with a label before the first.
func (w *writer) labelled(label string, lines ...string) {
	for i, text := range lines {
		if i > 0 {
			label = ""
		}
		margin := render.Pad(findingMargin+label, labelColumn)
		w.wrapped(w.screen.Paint(render.RoleMuted, margin), labelColumn, render.SafeBlock(text))
	}
}

// wrapped writes safe text after a margin whose width is columns, and indents further lines by the same width.
func (w *writer) wrapped(margin string, columns int, text string) {
	room := 0
	if width := w.screen.Columns(); width > 0 {
		room = max(width-columns, 20)
	}
	for i, line := range render.Wrap(text, room) {
		if i > 0 {
			margin = strings.Repeat(" ", columns)
		}
		w.line(margin + line)
	}
}

// stale writes the stale entries of a baseline.
func (w *writer) stale() {
	if w.report.Baseline == nil {
		return
	}
	for _, known := range w.report.Baseline.Stale {
		w.title(check.Error, staleTitle, render.Safe(known.ID))
		w.labelled("fix", "remove it from "+w.report.Baseline.File)
		w.plain(render.Safe(staleText(known)))
	}
}

// staleTitle is the title of a stale entry of a baseline.
const staleTitle = "baseline entry matches no finding"

// staleText describes a stale entry.
func staleText(known doctor.Known) string {
	text := known.ID
	if known.Tool != "" {
		text += " of tool " + known.Tool
	}
	if known.Server != "" {
		text += " of server " + known.Server
	}
	if known.Match != "" {
		text += fmt.Sprintf(" with %q", known.Match)
	}
	return text + ": " + known.Reason
}

// checks writes every check with its result.
func (w *writer) checks() {
	if len(w.report.Findings) > 0 || len(w.report.Servers) > 1 {
		w.line("")
	}
	columns := 0
	for _, check := range w.report.Checks {
		columns = max(columns, len(check.ID))
	}
	server := ""
	for _, check := range w.report.Checks {
		if check.Server != server && len(w.report.Servers) > 1 {
			server = check.Server
			w.line(w.screen.Paint(render.RoleHeading, cmp.Or(render.Safe(server), everything)))
		}
		w.check(check, columns)
	}
	w.line("")
}

// everything is the heading of findings that are not about one server.
const everything = "all servers and the config"

func (w *writer) check(one check.CheckResult, columns int) {
	r, mark := outcomeMark(one.Outcome)
	because := render.Safe(words.FirstLine(one.Because))
	switch one.Outcome {
	case check.Skipped:
		because = "skipped: " + because
	case check.Broke:
		because = "crashed: " + because
	}
	text := render.Pad(one.ID, columns) + "  " + because
	w.line(w.screen.Paint(r, mark) + " " + render.Fit(text, max(w.screen.Columns()-len(findingMargin), 0)))
}

// summary writes the last lines: counts of checks and findings, and the duration.
func (w *writer) summary() {
	if remark := statusRemark(w.report); remark != "" {
		w.line(w.screen.Paint(render.RoleWarning, "!") + " " + remark)
	}
	counts := countOutcomes(w.report, w.options)
	parts := []string{words.Count(counts.passed, "check") + " passed", words.Count(counts.findings, "finding")}
	for _, more := range []struct {
		n    int
		text string
	}{
		{counts.notes, words.Count(counts.notes, "note")},
		{counts.known, fmt.Sprintf("%d known", counts.known)},
		{counts.skipped, fmt.Sprintf("%d skipped", counts.skipped)},
		{counts.broke, words.Count(counts.broke, "check") + " crashed"},
	} {
		if more.n > 0 {
			parts = append(parts, more.text)
		}
	}
	parts = append(parts, seconds(float64(w.report.Duration.Milliseconds())))
	text := strings.Join(parts, " · ")
	mark := w.summaryMark(counts) + " "
	if counts.findings == 0 {
		w.line(mark + text)
		return
	}
	explain := "toolx doctor --explain " + w.report.Findings[0].ID // the worst is first
	if width := w.screen.Columns(); width > 0 && ansi.StringWidth(text+explain)+5 > width {
		w.wrapped(mark, len(findingMargin), text)
		w.line(findingMargin + w.screen.Paint(render.RoleMuted, explain))
		return
	}
	w.line(mark + text + "   " + w.screen.Paint(render.RoleMuted, explain))
}

// summaryMark returns the mark of the worst finding, or a tick if there is none.
func (w *writer) summaryMark(counts outcomeCounts) string {
	stale := w.report.Baseline != nil && len(w.report.Baseline.Stale) > 0
	switch {
	case stale || counts.findings > 0 && w.report.Findings[0].Severity == check.Error: // the worst is first
		return w.screen.Paint(render.RoleError, markOf(check.Error))
	case counts.findings > 0 || statusRemark(w.report) != "":
		return w.screen.Paint(render.RoleWarning, markOf(check.Warning))
	case counts.passed == 0:
		return w.screen.Paint(render.RoleMuted, "-")
	}
	return w.screen.Paint(render.RoleGood, "✓")
}

// statusRemark returns why a report is incomplete, or nothing.
func statusRemark(report *doctor.Report) string {
	return map[string]string{
		doctor.StatusTimeout:     "time limit reached: the examination is incomplete (--max-time allows more)",
		doctor.StatusInterrupted: "interrupted: the examination is incomplete",
		doctor.StatusAuth:        "a server requires authentication: the examination is incomplete",
		doctor.StatusUsage:       "config is invalid: no server was examined",
		doctor.StatusUnreachable: "no server could be examined: most checks need a server that responds",
	}[report.Status]
}

// outcomeCounts are the counts in a summary.
type outcomeCounts struct{ passed, findings, notes, known, skipped, broke int }

func countOutcomes(report *doctor.Report, options Options) outcomeCounts {
	var c outcomeCounts
	for _, one := range report.Checks {
		switch one.Outcome {
		case check.Passed:
			c.passed++
		case check.Skipped:
			c.skipped++
		case check.Broke:
			c.broke++
		}
	}
	for _, finding := range report.Findings {
		if finding.Severity == check.Info {
			if options.Verbose || !quiet(finding) {
				c.notes++
			}
			continue
		}
		c.findings++
	}
	if report.Baseline != nil {
		c.known = len(report.Baseline.Known)
	}
	return c
}

// offerProxy writes config entries that run servers with polluted stdout behind toolx proxy.
func (w *writer) offerProxy() {
	var entries []string
	for _, finding := range w.report.Findings {
		for _, fix := range finding.Fix {
			if entry, is := workAround(fix); is && !slices.Contains(entries, entry) {
				entries = append(entries, entry)
			}
		}
	}
	if len(entries) > 0 {
		w.line("")
		w.line("Until that is fixed, clients can run it behind toolx proxy:")
	}
	for _, entry := range entries {
		w.line(findingMargin + render.Safe(entry)) // unwrapped, so that it can be pasted
	}
}

// workAround returns the config entry in a fix; is reports whether it has one.
func workAround(fix string) (entry string, is bool) {
	entry, is = strings.CutPrefix(fix, check.WorkAround)
	return entry, is && strings.HasPrefix(entry, `"command"`)
}

// whereText describes the place of a finding.
func whereText(where *evidence.Where) string {
	if where == nil {
		return ""
	}
	var parts []string
	add := func(set bool, format string, args ...any) {
		if set {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(where.File != "", "%s", where.File)
	add(where.Key != "", "%s", where.Key)
	add(where.Tool != "", "tool %s", where.Tool)
	phase := where.Phase
	if where.Method != "" && phase == string(wire.PhaseRequest) {
		phase = "during " + where.Method
	}
	add(where.Method != "" && where.Tool == "" && where.Line == 0 && phase == where.Phase, "%s", where.Method)
	add(where.Pointer != "", "at %s", where.Pointer)
	add(where.Line > 0, "line %d", where.Line)
	if where.Byte != nil {
		add(true, "byte %d", *where.Byte)
	}
	after := time.Duration(where.MS * float64(time.Millisecond))
	add(where.MS > 0, "%s after start", evidence.Milliseconds(after))
	add(phase != "", "%s", phase)
	add(where.Run == "probing", "in the probing run")
	return render.Safe(strings.Join(parts, ", "))
}

// markOf returns the mark of a severity, which does not depend on colour.
func markOf(severity check.Severity) string {
	switch severity {
	case check.Error:
		return "✗"
	case check.Warning:
		return "!"
	}
	return "i"
}

func roleOf(severity check.Severity) render.Role {
	switch severity {
	case check.Error:
		return render.RoleError
	case check.Warning:
		return render.RoleWarning
	}
	return render.RoleMuted
}

func outcomeMark(outcome check.Outcome) (render.Role, string) {
	switch outcome {
	case check.Passed:
		return render.RoleGood, "✓"
	case check.Failed:
		return render.RoleError, markOf(check.Error)
	case check.Warned:
		return render.RoleWarning, markOf(check.Warning)
	case check.Noted:
		return render.RoleMuted, markOf(check.Info)
	case check.Broke:
		return render.RoleError, "?"
	}
	return render.RoleMuted, "-"
}

// seconds formats a duration.
func seconds(ms float64) string { return fmt.Sprintf("%.1f s", ms/1000) }
