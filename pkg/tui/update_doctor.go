package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/report"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// diagnosis is the doctor's report on a server.
type diagnosis struct {
	since  time.Time // when it was asked; zero where it has answered
	report *doctor.Report
	err    error // why there is no report

	drawn pane.Cache[*doctor.Report]
}

// examinedMsg carries the doctor's report.
type examinedMsg struct {
	server string
	report *doctor.Report
	err    error
}

// examine runs the doctor on the selected server. The last report stays until the new one arrives.
func (m *model) examine() tea.Cmd {
	s, examine, hide := m.currentServer(), m.options.Examine, m.hide
	s.diagnosis.since = m.now()
	ask := func() tea.Msg {
		report, err := examine(m.ctx, s.name)
		if err == nil {
			report.Mask(hide)
		}
		return examinedMsg{s.name, report, err}
	}
	return tea.Batch(ask, m.tick())
}

func (m *model) updateExamined(msg examinedMsg) tea.Cmd {
	if s := m.serverOf(msg.server); s != nil {
		s.diagnosis = diagnosis{report: msg.report, err: msg.err}
	}
	return nil
}

// running reports whether the doctor is running.
func (d *diagnosis) running() bool { return !d.since.IsZero() }

// doctorLines returns the lines of a server's diagnosis, none if the doctor was not asked.
func (m *model) doctorLines(d *diagnosis, width int) []string {
	facts := factList{theme: m.theme, width: width}
	switch {
	case d.running():
		facts.add("doctor", m.theme.Paint(pane.Accent, m.spinner()+" examining "+pane.Duration(m.now().Sub(d.since))))
	case d.err != nil:
		facts.add("doctor", m.theme.Paint(pane.Bad, m.theme.Glyphs.Bad)+" "+render.SafeBlock(m.hide(d.err.Error())))
	case d.report != nil:
		lines := d.drawn.Lines(m.theme, d.report, width, func() []string { return reportLines(d.report, width, m.options.Color) })
		facts.lines = append(append([]string{"", m.theme.Paint(pane.Heading, "doctor")}, lines...), "")
	}
	return facts.lines
}

// reportLines returns a report as the command line shows it.
func reportLines(judged *doctor.Report, width int, color bool) []string {
	var out strings.Builder
	options := report.Options{Screen: render.Screen{TTY: true, Width: width, Color: color}}
	_ = report.Write(&out, judged, options) // a builder takes everything
	return strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
}
