package render

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
	"toolx/pkg/words"
)

// DoctorFormat is a form of the doctor's report.
type DoctorFormat string

// The forms: for people, and those that other programs read.
const (
	DoctorText     DoctorFormat = "text"
	DoctorJSON     DoctorFormat = "json"     // one object, as docs/doctor.md has it
	DoctorSARIF    DoctorFormat = "sarif"    // SARIF 2.1.0, for code scanning
	DoctorJUnit    DoctorFormat = "junit"    // JUnit XML, for continuous integration
	DoctorMarkdown DoctorFormat = "markdown" // the body of an issue
)

// DoctorOptions say how a report is shown.
type DoctorOptions struct {
	Format  DoctorFormat
	Verbose bool // every check with its result, and every note
	// FailOn is the severity from which findings fail; empty means that none do.
	FailOn check.Severity
	// Version is toolx's own, System what it runs on ("linux/amd64").
	Version, System string
	Screen          Screen
}

// Doctor writes a report, findings of one kind as one (doctor.Report.Gathered). Secrets
// have been masked (doctor.Report.Mask).
func Doctor(out io.Writer, report *doctor.Report, options DoctorOptions) error {
	report = report.Gathered()
	buffered := bufio.NewWriter(out)
	var err error
	switch options.Format {
	case DoctorJSON:
		err = doctorJSON(buffered, report, options.Screen)
	case DoctorSARIF:
		err = doctorSARIF(buffered, report, options)
	case DoctorJUnit:
		err = doctorJUnit(buffered, report, options)
	case DoctorMarkdown:
		doctorMarkdown(buffered, report, options)
	default:
		(&doctorWriter{out: buffered, report: report, options: options, screen: options.Screen}).write()
	}
	if err != nil {
		return err
	}
	return buffered.Flush()
}

func doctorJSON(out *bufio.Writer, report *doctor.Report, screen Screen) error {
	encoded, err := rawjson.Marshal(report)
	if err != nil {
		return err
	}
	return jsonLine(out, encoded, screen)
}

// doctorWriter writes a report for people.
type doctorWriter struct {
	out     *bufio.Writer
	report  *doctor.Report
	options DoctorOptions
	screen  Screen
}

// The margins of a finding, and the column of what stands behind its labels.
const (
	doctorMargin   = "  "
	doctorEvidence = "    "
	doctorLabel    = len("  culprit  ")
)

func (w *doctorWriter) line(text string) { fmt.Fprintln(w.out, strings.TrimRight(text, " ")) }

func (w *doctorWriter) write() {
	servers := w.report.Servers
	for i, server := range servers {
		if len(servers) > 1 {
			if i > 0 {
				w.line("")
			}
			w.line(w.heading(server))
		}
		w.server(server)
	}
	w.config()
	w.stale()
	if w.options.Verbose {
		w.checks()
	}
	w.uncalled()
	w.summary()
	w.offerProxy()
}

// heading names one of several servers.
func (w *doctorWriter) heading(server doctor.ServerReport) string {
	remark := []string{server.Status}
	if server.Status == "ready" {
		remark = []string{"protocol " + Safe(server.Protocol), words.Count(server.Tools, "tool"), seconds(server.DurationMS)}
	}
	return w.screen.paint(roleHeading, Safe(server.Name)) + " " +
		w.screen.paint(roleMuted, "("+strings.Join(remark, ", ")+")")
}

// server shows what was found about one server; one that cannot be examined always
// has something to show.
func (w *doctorWriter) server(server doctor.ServerReport) {
	findings := w.findingsOf(server.Name)
	if server.Status != "ready" && server.Because != "" && !slices.ContainsFunc(findings, isError) {
		r, mark := roleError, markOf(check.Error)
		if server.Status != "failed" {
			r, mark = roleWarning, markOf(check.Warning)
		}
		w.wrapped(w.screen.paint(r, mark)+" ", len(doctorMargin), SafeBlock("not examined: "+server.Because))
	}
	w.findings(findings)
	if text := calledText(server); text != "" {
		w.wrapped(w.screen.paint(roleMuted, markOf(check.Info))+" ", len(doctorMargin), text)
	}
	if server.Hint != "" {
		w.labelled("hint", server.Hint)
	}
	if len(findings) == 0 && server.Status == "ready" && len(w.report.Servers) > 1 {
		w.line(w.screen.paint(roleGood, "✓") + " nothing found")
	}
}

// calledText says on one line which tools the doctor called by itself, or why it called
// none though it was asked to.
func calledText(server doctor.ServerReport) string {
	switch {
	case server.NotCalled != "" && server.NotCalled != doctor.CallsNotAsked && server.Status != "unfinished":
		return "no tool was called: " + server.NotCalled
	case len(server.Called) == 0:
		return ""
	}
	return fmt.Sprintf("called %s of %d, which say that they are read-only: %s",
		words.Count(len(server.Called), "tool"), server.Tools, Safe(strings.Join(server.Called, ", ")))
}

// uncalled says that no tool was called, where nobody asked for it and there are some.
func (w *doctorWriter) uncalled() {
	if slices.ContainsFunc(w.report.Servers, func(server doctor.ServerReport) bool {
		return server.NotCalled == doctor.CallsNotAsked && server.Status == "ready" && server.Tools > 0
	}) {
		w.wrapped(w.screen.paint(roleMuted, markOf(check.Info))+" ", len(doctorMargin),
			"no tool was called: --call safe calls those that say that they are read-only, --call 'TOOL {…}' any")
	}
}

// config shows what was found about no single server.
func (w *doctorWriter) config() {
	findings := w.findingsOf("")
	if len(findings) == 0 {
		return
	}
	if len(w.report.Servers) > 1 {
		w.line("")
		w.line(w.screen.paint(roleHeading, "all servers and the config"))
	}
	w.findings(findings)
}

func (w *doctorWriter) findingsOf(server string) []check.Finding {
	var findings []check.Finding
	for _, finding := range w.report.Findings {
		if finding.Server == server {
			findings = append(findings, finding)
		}
	}
	return findings
}

func isError(f check.Finding) bool { return f.Severity == check.Error }

// findings shows findings in full, but for notes: those fill one line in all.
func (w *doctorWriter) findings(findings []check.Finding) {
	var ids []string
	count := make(map[string]int)
	notes := 0
	for _, finding := range findings {
		if finding.Severity != check.Info || w.options.Verbose {
			w.finding(finding)
			continue
		}
		if notes++; count[finding.ID] == 0 {
			ids = append(ids, finding.ID)
		}
		count[finding.ID] += len(finding.AllPlaces())
	}
	if notes > 0 {
		for i, id := range ids {
			if count[id] > 1 {
				ids[i] = fmt.Sprintf("%s (%d)", id, count[id])
			}
		}
		text := fmt.Sprintf("%s: %s (-v shows them)", words.Count(notes, "note"), strings.Join(ids, ", "))
		w.wrapped(w.screen.paint(roleMuted, markOf(check.Info))+" ", len(doctorMargin), text)
	}
}

// finding shows one finding.
func (w *doctorWriter) finding(f check.Finding) {
	w.title(f.Severity, Safe(f.Title), f.ID)
	for _, place := range f.AllPlaces() {
		w.place(place)
	}
	if f.Culprit != nil {
		w.labelled("culprit", f.Culprit.Name+", "+f.Culprit.Confidence)
	}
	w.labelled("fix", slices.DeleteFunc(slices.Clone(f.Fix), func(fix string) bool {
		_, is := workAround(fix)
		return is // offered once, at the end
	})...)
	if len(f.Breaks) > 0 {
		w.labelled("breaks", strings.Join(f.Breaks, "; "))
	}
}

// place shows one place of a finding.
func (w *doctorWriter) place(p check.Place) {
	place := whereText(p.Where)
	if place != "" && p.Evidence != "" {
		place += ":"
	}
	if place != "" {
		w.wrapped(doctorMargin, len(doctorMargin), place)
	}
	if p.Evidence != "" {
		margin := doctorEvidence
		if place == "" {
			margin = doctorMargin
		}
		w.wrapped(margin, len(margin), Safe(p.Evidence))
	}
	for _, note := range p.Notes {
		w.wrapped(doctorMargin, len(doctorMargin), Safe(note))
	}
}

// title shows a mark and a title with an id behind it, on a terminal at the right.
func (w *doctorWriter) title(severity check.Severity, title, id string) {
	r := roleOf(severity)
	mark := w.screen.paint(r, markOf(severity)) + " "
	width := w.screen.width()
	if width == 0 {
		w.line(mark + title + "  " + id)
		return
	}
	const gap = 2
	room := max(width-len(doctorMargin)-gap-ansi.StringWidth(id), 20)
	for i, text := range wrap(title, room) {
		if i == 0 {
			w.line(mark + w.screen.paint(roleHeading, pad(text, room)) + strings.Repeat(" ", gap) + w.screen.paint(roleMuted, id))
			continue
		}
		w.line(doctorMargin + w.screen.paint(roleHeading, text))
	}
}

// labelled shows lines with a label before the first.
func (w *doctorWriter) labelled(label string, lines ...string) {
	for i, text := range lines {
		if i > 0 {
			label = ""
		}
		margin := pad(doctorMargin+label, doctorLabel)
		w.wrapped(w.screen.paint(roleMuted, margin), doctorLabel, SafeBlock(text))
	}
}

// wrapped writes safe text behind a margin of so many columns; lines after the first
// are indented by as many.
func (w *doctorWriter) wrapped(margin string, columns int, text string) {
	room := 0
	if width := w.screen.width(); width > 0 {
		room = max(width-columns, 20)
	}
	for i, line := range wrap(text, room) {
		if i > 0 {
			margin = strings.Repeat(" ", columns)
		}
		w.line(margin + line)
	}
}

// stale shows the entries of a baseline that nothing fits.
func (w *doctorWriter) stale() {
	if w.report.Baseline == nil {
		return
	}
	for _, known := range w.report.Baseline.Stale {
		w.title(check.Error, "the baseline knows a finding that is gone", Safe(known.ID))
		w.wrapped(doctorMargin, len(doctorMargin), Safe(staleText(known)))
		w.labelled("fix", "remove it from "+w.report.Baseline.File)
	}
}

// staleText describes an entry of a baseline.
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

// checks lists every check with its result.
func (w *doctorWriter) checks() {
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
			name := "all servers and the config"
			if server != "" {
				name = Safe(server)
			}
			w.line(w.screen.paint(roleHeading, name))
		}
		w.check(check, columns)
	}
	w.line("")
}

func (w *doctorWriter) check(one check.CheckResult, columns int) {
	r, mark := outcomeMark(one.Outcome)
	because := Safe(words.FirstLine(one.Because))
	switch one.Outcome {
	case check.Skipped:
		because = "skipped: " + because
	case check.Broke:
		because = "crashed: " + because
	}
	text := pad(one.ID, columns) + "  " + because
	w.line(w.screen.paint(r, mark) + " " + fit(text, max(w.screen.width()-len(doctorMargin), 0)))
}

// summary ends the report: how much was asked, how much found, how long it took.
func (w *doctorWriter) summary() {
	if remark := statusRemark(w.report); remark != "" {
		w.line(w.screen.paint(roleWarning, "!") + " " + remark)
	}
	counts := countOutcomes(w.report)
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
	mark := w.screen.paint(roleGood, "✓") + " "
	if counts.passed == 0 {
		mark = w.screen.paint(roleMuted, "-") + " "
	}
	if counts.findings == 0 {
		w.line(mark + text)
		return
	}
	explain := "toolx doctor --explain " + w.report.Findings[0].ID // the worst comes first
	if width := w.screen.width(); width > 0 && ansi.StringWidth(text+explain)+5 > width {
		w.wrapped(mark, len(doctorMargin), text)
		w.line(doctorMargin + w.screen.paint(roleMuted, explain))
		return
	}
	w.line(mark + text + "   " + w.screen.paint(roleMuted, explain))
}

// statusRemark says why a report is not the whole story.
func statusRemark(report *doctor.Report) string {
	switch report.Status {
	case doctor.StatusTimeout:
		return "the time was up: not everything was examined (--max-time gives more)"
	case doctor.StatusInterrupted:
		return "interrupted: not everything was examined"
	case doctor.StatusAuth:
		return "a server wants authentication: not everything could be examined"
	case doctor.StatusUsage:
		return "the config cannot be used: no server was examined"
	case doctor.StatusUnreachable:
		return "no server could be examined: most checks need one that answers"
	}
	return ""
}

// outcomeCounts are the figures of a summary.
type outcomeCounts struct{ passed, findings, notes, known, skipped, broke int }

func countOutcomes(report *doctor.Report) outcomeCounts {
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
			c.notes++
			continue
		}
		c.findings++
	}
	if report.Baseline != nil {
		c.known = len(report.Baseline.Known)
	}
	return c
}

// offerProxy shows, once, the entries of a client's config that put toolx proxy
// between it and a server whose stdout is dirty.
func (w *doctorWriter) offerProxy() {
	var entries []string
	for _, finding := range w.report.Findings {
		for _, fix := range finding.Fix {
			if entry, is := workAround(fix); is && !slices.Contains(entries, entry) {
				entries = append(entries, entry)
			}
		}
	}
	for i, entry := range entries {
		if i == 0 {
			w.line("")
			w.line("Until that is mended, clients can start it through toolx proxy:")
		}
		w.line(doctorMargin + Safe(entry)) // never wrapped: it is for pasting
	}
}

// workAround is the entry of a fix that names one, and whether it does.
func workAround(fix string) (entry string, is bool) {
	entry, is = strings.CutPrefix(fix, check.WorkAround)
	return entry, is && strings.HasPrefix(entry, `"command"`)
}

// whereText says where something was found, in words.
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
	if where.Method != "" && phase == string(servers.PhaseRequest) {
		phase = "during " + where.Method
	}
	add(where.Method != "" && where.Tool == "" && where.Line == 0 && phase == where.Phase, "%s", where.Method)
	add(where.Pointer != "", "at %s", where.Pointer)
	add(where.Line > 0, "line %d", where.Line)
	if where.Byte != nil {
		add(true, "byte %d", *where.Byte)
	}
	add(where.MS > 0, "%s after start", milliseconds(where.MS))
	add(phase != "", "%s", phase)
	add(where.Run == "probing", "in the probing run")
	return Safe(strings.Join(parts, ", "))
}

// markOf is the sign of a severity, which says as much as its colour.
func markOf(severity check.Severity) string {
	switch severity {
	case check.Error:
		return "✗"
	case check.Warning:
		return "!"
	}
	return "i"
}

func roleOf(severity check.Severity) role {
	switch severity {
	case check.Error:
		return roleError
	case check.Warning:
		return roleWarning
	}
	return roleMuted
}

func outcomeMark(outcome check.Outcome) (role, string) {
	switch outcome {
	case check.Passed:
		return roleGood, "✓"
	case check.Failed:
		return roleError, markOf(check.Error)
	case check.Warned:
		return roleWarning, markOf(check.Warning)
	case check.Noted:
		return roleMuted, markOf(check.Info)
	case check.Broke:
		return roleError, "?"
	}
	return roleMuted, "-"
}

// seconds shows a time of a run.
func seconds(ms float64) string { return fmt.Sprintf("%.1f s", ms/1000) }

// milliseconds shows a time inside a run, three digits or so of it.
func milliseconds(ms float64) string {
	switch {
	case ms >= float64(10*time.Second/time.Millisecond):
		return fmt.Sprintf("%.0f s", ms/1000)
	case ms >= float64(time.Second/time.Millisecond):
		return fmt.Sprintf("%.1f s", ms/1000)
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.0f ms", ms)
}
