package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/report"
	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/tui/markdown"
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

// capabilities lists the capabilities of a server (MCP 2025-11-25, basic/lifecycle).
func capabilities(c mcp.ServerCapabilities) string {
	var names []string
	add := func(has bool, name string) {
		if has {
			names = append(names, name)
		}
	}
	add(c.Tools != nil, "tools")
	add(c.Resources != nil, "resources")
	add(c.Prompts != nil, "prompts")
	add(c.Logging != nil, "logging")
	add(c.Completions != nil, "completions")
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// environment lists the variables that the config sets for a server, in order of their names.
func environment(entry *config.Server) string {
	var lines []string
	for name, value := range entry.Env {
		lines = append(lines, render.Safe(fmt.Sprintf("%s=%s", name, value)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// printedLines is how many lines of stderr, and of stdout, the page of a failed server shows.
const printedLines = 8

// failureLines returns what is known about a server that has failed or ended: the cause, what to do, its last output.
func (p *page) failureLines(width int) []string {
	s := p.server
	cause := p.theme.Glyphs.Bad + " " + p.safe(s.summary(p.now()))
	lines := p.theme.Paragraph(pane.Bad, cause, width)
	if s.status == statusFailed && s.hint != "" {
		lines = append(lines, p.theme.Paragraph(pane.Plain, p.safeBlock(s.hint), width)...)
	}
	if !strings.Contains(s.reason, s.summary(p.now())) { // else it says the same in more words
		lines = append(lines, p.theme.Paragraph(pane.Dim, p.safeBlock(s.reason), width)...)
	}
	if s.failure == nil {
		return append(lines, "")
	}
	stderr, stdout := s.failure.Printed(printedLines)
	printed := func(name string, printed []string) {
		if len(printed) == 0 {
			return
		}
		lines = append(lines, "", p.theme.Paint(pane.Strong, name))
		for _, line := range printed {
			lines = append(lines, p.theme.Cut(p.safe(ansi.Strip(line)), width))
		}
	}
	printed("stderr", stderr)
	printed("stdout", stdout)
	return append(lines, "")
}

// memoryTime is how long a measurement of a process's memory is used. Measuring reads a file of every process on the
// machine.
const memoryTime = 15 * time.Second

// measured is the memory that a process used at a time, in bytes; zero if unknown.
type measured struct {
	pid   int
	at    time.Time
	bytes int64
}

// memoryOf returns the memory that a process uses, in bytes; zero if unknown.
func (p *page) memoryOf(pid int, now time.Time) int64 {
	if p.memory.pid != pid || now.Sub(p.memory.at) >= memoryTime {
		p.memory = measured{pid: pid, at: now, bytes: p.options.Memory(pid)}
	}
	return p.memory.bytes
}

// serverFacts returns the lines of a server's page.
func (p *page) serverFacts(width int) []string {
	s, now := p.server, p.now()
	facts := factList{theme: p.theme, width: width}
	fact := facts.add
	if s.failed() {
		facts.lines = append(p.failureLines(width), p.actionLines(width)...)
		facts.lines = append(facts.lines, "")
	} else if !p.showsRecording() {
		role, sign := p.sign(s)
		fact("state", p.theme.Paint(role, sign+" "+p.safe(s.detail(now))))
	}
	p.addDevelopment(&facts, s.development)
	p.addDiagnosis(&facts, &s.diagnosis)
	if r := s.recorded; p.showsRecording() {
		local := func(at time.Time, layout string) string { return at.In(now.Location()).Format(layout) }
		fact("recorded", local(r.from, time.DateTime)+" to "+local(r.to, time.TimeOnly))
		fact("requests", fmt.Sprint(r.requests))
	}
	fact("url", p.safe(s.config.URL))
	headers := slices.Sorted(maps.Keys(s.config.Headers)) // their values are secrets
	fact("headers", render.Safe(strings.Join(headers, ", ")))
	fact("command", p.safe(strings.Join(s.commandLine(), " ")))
	session := p.options.Pool.Session(s.name)
	if session != nil && s.status == statusReady {
		fact("protocol", render.Safe(session.Protocol))
		fact("server", render.Safe(strings.TrimSpace(session.Info.Name+" "+session.Info.Version)))
		fact("capabilities", capabilities(session.Capabilities))
		fact("lists", p.servers.tree.groupOf(s.name).counts())
		t := s.timing
		fact("start", fmt.Sprintf("process %.0f ms, initialize %.0f ms, list %.0f ms",
			t.StartMS, t.InitializeMS, t.ListMS))
		up := now.Sub(s.since)
		if s.held != nil {
			up += s.held.Age
			fact("session", "shared with other commands; it keeps running when you quit")
		}
		fact("up", pane.Duration(up))
	}
	pid := s.pid
	if session != nil && s.held != nil {
		pid = session.PID
	}
	if pid != 0 {
		fact("pid", fmt.Sprint(pid))
		if bytes := p.memoryOf(pid, now); bytes > 0 {
			fact("memory", exec.Bytes(bytes))
		}
	}
	fact("environment", p.hide(environment(s.config)))
	if s.polluted > 0 {
		fact("stdout", p.theme.Paint(pane.Warn, words.Count(s.polluted, "line")+" not JSON-RPC"))
	}
	lines := facts.lines
	if !s.failed() {
		lines = append(append(lines, ""), p.actionLines(width)...)
	}
	if session != nil && session.Instructions != "" {
		text := session.Instructions
		lines = append(lines, "", p.theme.Paint(pane.Strong, "instructions"), "")
		lay := func() []string { return markdown.Render(text, width, p.theme) }
		lines = append(lines, p.instructions.Lines(p.theme, text, width, lay)...)
	}
	return lines
}

// addDevelopment adds what is known of a server whose files are watched, nothing if they are not.
func (p *page) addDevelopment(facts *factList, d *development) {
	if d == nil {
		return
	}
	then := "restarts on save"
	if d.repeats {
		then += ", repeats the last call"
	}
	facts.add("development", then)
	if len(d.changes) > 0 {
		heading := p.theme.Paint(pane.Strong, "changes at "+d.changed.Format(time.TimeOnly))
		facts.lines = append(facts.lines, "", heading)
		roles := map[byte]pane.Role{'+': pane.Good, '-': pane.Bad, '~': pane.Accent}
		for _, line := range d.changes {
			role := roles[strings.TrimLeft(line, " ")[0]]
			facts.lines = append(facts.lines, p.theme.Paragraph(role, line, facts.width)...)
		}
		facts.lines = append(facts.lines, "")
	}
}

// addDiagnosis adds the doctor's report, nothing if the doctor was not asked.
func (p *page) addDiagnosis(facts *factList, d *diagnosis) {
	switch {
	case d.running():
		facts.add("doctor", p.theme.Paint(pane.Accent, p.spinner()+" examining "+pane.Duration(p.now().Sub(d.since))))
	case d.err != nil:
		facts.add("doctor", p.theme.Paint(pane.Bad, p.theme.Glyphs.Bad)+" "+p.safeBlock(d.err.Error()))
	case d.report != nil:
		lay := func() []string { return p.reportLines(d.report, facts.width) }
		facts.lines = append(facts.lines, "", p.theme.Paint(pane.Strong, "doctor"))
		facts.lines = append(append(facts.lines, p.report.Lines(p.theme, d.report, facts.width, lay)...), "")
	}
}

// unfold shows a report in full.
func (p *page) unfold(judged *doctor.Report) {
	p.unfolded = judged
	p.report.Forget()
}

// reportLines returns the findings of a report, one line each, or a report that is unfolded as the command line shows
// it.
func (p *page) reportLines(judged *doctor.Report, width int) []string {
	if p.unfolded == judged {
		var out strings.Builder
		options := report.Options{Screen: render.Screen{TTY: true, Width: width, Color: p.options.Color}}
		_ = report.Write(&out, judged, options) // a builder takes everything
		return strings.Split(p.theme.Signs(strings.TrimRight(out.String(), "\n")), "\n")
	}
	glyphs := p.theme.Glyphs
	var lines []string
	for _, finding := range judged.Gathered().Findings {
		role, sign := pane.Dim, glyphs.Bullet
		switch finding.Severity {
		case check.Error:
			role, sign = pane.Bad, glyphs.Bad
		case check.Warning:
			role, sign = pane.Warn, glyphs.Warn
		}
		id := " " + p.theme.Paint(pane.Dim, render.Safe(finding.ID))
		text := finding.Title
		if p.server.failed() && text == p.server.summary(p.now()) {
			text = "the cause above"
		}
		title := p.theme.Paint(role, sign) + " " + p.safe(text)
		lines = append(lines, p.theme.Fit(title, max(1, width-p.theme.Width(id)))+id)
	}
	if judged.Error != "" {
		lines = append(lines, p.theme.Paint(pane.Bad, glyphs.Bad)+" "+p.safe(judged.Error))
	}
	if len(lines) == 0 {
		lines = append(lines, p.theme.Paint(pane.Good, glyphs.Good)+" no findings")
	}
	return lines
}

// actionLines say which actions are possible for the server on the page.
func (p *page) actionLines(width int) []string {
	var lines []string
	keys := p.serverKeys()
	if !p.showsRecording() {
		keys = append([]pane.Binding{p.servers.restartKey(p.server)}, keys...)
	}
	for _, binding := range keys {
		if binding.Off != "" {
			continue
		}
		hint, last := p.theme.Hint(binding), len(lines)-1
		if last < 0 || p.theme.Width(lines[last]+hintGap+hint) > width {
			lines = append(lines, hint)
			continue
		}
		lines[last] += hintGap + hint
	}
	return lines
}

// serverKeys returns the keys of the server on the page. The page of one of its lists has none, so that people do not
// stop the server when they mean a resource.
func (p *page) serverKeys() []pane.Binding {
	s := p.server
	if s == nil || p.serverList != nil {
		return nil
	}
	doctor := pane.Binding{
		Keys: []string{"d"}, Help: "run the doctor", Do: func() tea.Cmd { return p.servers.examine(s) },
		Off: pane.Off(p.options.Examine == nil, "the doctor is not available"),
	}
	if found := s.diagnosis.report; found != nil && len(found.Findings) > 0 && p.unfolded != found {
		doctor.Help, doctor.Do = "unfold the doctor's findings", pane.Do(func() { p.unfold(found) })
	}
	if p.showsRecording() {
		return []pane.Binding{doctor}
	}
	log := pane.Binding{
		Keys: []string{"o"}, Help: "open its log in $PAGER",
		Do:  func() tea.Cmd { return openLog(s.failure.StderrPath) },
		Off: pane.Off(s.failure == nil || s.failure.StderrPath == "", "it has no log"),
	}
	stop := pane.Binding{
		Keys: []string{"X"}, Help: "stop the server", Do: func() tea.Cmd { return p.servers.askToStop(s) },
		Off: pane.Off(!s.runs(), "it is not running"),
	}
	return []pane.Binding{stop, doctor, p.developers.key(s), p.config.editKey(s), log}
}

// counts says how many items of each kind a server has, as far as that is known.
func (g *group) counts() string {
	counts := []string{words.Count(len(g.tools), "tool")}
	for _, of := range g.serverLists {
		if of.shown() && of.listed {
			counts = append(counts, words.Count(len(of.items), of.kind.String()))
		}
	}
	return strings.Join(counts, ", ")
}

// serverListFacts returns the lines of the page of one of a server's lists.
func (p *page) serverListFacts(width int) []string {
	of, facts := p.serverList, factList{theme: p.theme, width: width}
	switch {
	case of.reading != nil:
		facts.add("state", p.theme.Paint(pane.Accent, p.spinner()+" listing"))
	case of.failure != "":
		facts.add("state", p.theme.Paint(pane.Bad, p.theme.Glyphs.Bad+" cannot be listed"))
		facts.add("reason", p.safeBlock(of.failure))
	}
	if of.listed {
		facts.add("number", fmt.Sprint(len(of.items)))
	}
	facts.lines = append(facts.lines, "")
	const most, longest = 200, 1000 // the tree has all of them, and each has its page
	for _, one := range of.items[:min(len(of.items), most)] {
		line := p.theme.Paint(pane.Strong, render.Safe(one.label()))
		if told := words.FirstLine(words.Head(one.Description, longest)); told != "" {
			line += "  " + p.theme.Paint(pane.Dim, render.Safe(told))
		}
		facts.lines = append(facts.lines, p.theme.Cut(line, width))
	}
	hint := "enter opens the list, / searches it"
	if of.failure != "" {
		hint = "enter tries again"
	}
	return append(facts.lines, "", p.theme.Paint(pane.Dim, hint))
}

// factList is a list of names and values. Two short values share a line if the width allows.
type factList struct {
	theme *pane.Theme
	width int
	lines []string
	// half is the number of lines up to one whose right half is free, 0 if there is none.
	half int
}

// leastFacts is the width from which facts have two columns.
const leastFacts = 64

// add adds a value, over several lines if it is long; an empty one is left out.
func (f *factList) add(name, value string) {
	if value == "" {
		return
	}
	const label, gap = 13, 2
	lines := pane.Wrap(value, max(10, f.width-label-1))
	for i, line := range lines {
		lines[i] = f.theme.Paint(pane.Dim, fmt.Sprintf("%-*s", label, name)) + " " + line
		name = ""
	}
	column := (f.width - gap) / 2
	short := f.width >= leastFacts && len(lines) == 1 && f.theme.Width(lines[0]) <= column
	if short && f.half > 0 && f.half == len(f.lines) {
		f.lines[f.half-1] = f.theme.Fit(f.lines[f.half-1], column+gap) + lines[0]
		f.half = 0
		return
	}
	f.lines = append(f.lines, lines...)
	if f.half = 0; short {
		f.half = len(f.lines)
	}
}

// widest returns the width of the widest line.
func widest(lines []string) int {
	width := 0
	for _, line := range lines {
		width = max(width, ansi.StringWidth(line))
	}
	return width
}
