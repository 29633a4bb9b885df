package framing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/cause"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/culprit"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// LineGroup is the lines of one finding: those from one source under one check.
type LineGroup struct {
	First, last unexpectedLine
	Lines       int // in all runs
	// inRun counts the lines in the run of First, and salvaged the messages that toolx found on them.
	inRun, salvaged int
	runs            []string
	// dying reports whether all lines are about the server's exit.
	dying bool
	// paths are the distinct error paths of the lines; ordinary is set if some lines have none.
	paths    []string
	ordinary bool
	Who      culprit.Recognition
}

// LineGroups returns the lines of one check in all runs, grouped by source.
func LineGroups(e *evidence.Evidence, id string) []*LineGroup {
	var list []*LineGroup
	by := make(map[string]*LineGroup)
	for _, run := range e.Runs() {
		for _, one := range unexpectedLines(e, run) {
			if one.check != id {
				continue
			}
			key := one.who.InServer + "\x00" + one.who.Outside
			if by[key] == nil {
				by[key] = &LineGroup{}
				list = append(list, by[key])
			}
			by[key].add(one)
		}
	}
	return list
}

// oneGroup returns the lines of a check of the whole stream as one group, or nil.
func oneGroup(e *evidence.Evidence, id string) *LineGroup {
	groups := LineGroups(e, id)
	if len(groups) == 0 {
		return nil
	}
	for _, p := range groups[1:] {
		groups[0].Lines += p.Lines
		if p.First.run == groups[0].First.run {
			groups[0].inRun += p.inRun
			groups[0].salvaged += p.salvaged
		}
	}
	return groups[0]
}

func (p *LineGroup) add(one unexpectedLine) {
	if p.Lines == 0 {
		p.First, p.dying = one, true
	}
	p.last = one
	p.dying = p.dying && one.last
	p.Lines += one.lines
	if one.run == p.First.run {
		p.inRun += one.lines
		p.salvaged += one.Salvaged
	}
	if !slices.Contains(p.runs, one.run.Name) {
		p.runs = append(p.runs, one.run.Name)
	}
	switch {
	case one.errorPath == "":
		p.ordinary = true
	case !slices.Contains(p.paths, one.errorPath):
		p.paths = append(p.paths, one.errorPath)
	}
	if confidence(one.who) > confidence(p.Who) {
		p.Who = one.who
	}
}

// confidence returns a number that is higher for greater confidence.
func confidence(who culprit.Recognition) int {
	return slices.Index([]string{culprit.Generic, culprit.Likely, culprit.Certain}, who.Culprit.Confidence)
}

// where returns the place of the group's first line.
func (p *LineGroup) where() *evidence.Where {
	column := int64(p.First.Column)
	where := p.First.run.OnLine(p.First.PollutedLine)
	where.Byte, where.Phase, where.Method = &column, string(p.First.phase), p.First.method
	return where
}

// notes describe how many more lines one run has, how many messages were recovered, and what preceded the lines.
func (p *LineGroup) notes() []string {
	var notes []string
	if more := p.inRun - p.First.lines; more > 0 {
		notes = append(notes, "and "+words.Count(more, "more line"))
	}
	run := p.First.run
	foreign := slices.DeleteFunc(evidence.EventsOf[wire.PollutedLine](run), func(line wire.PollutedLine) bool {
		return line.Class.Harmless() || line.Salvaged > 0
	})
	if kept := len(foreign); run.Foreign > kept {
		notes = append(notes, fmt.Sprintf("toolx read only the first %d of the run's %d such lines", kept, run.Foreign))
	}
	switch {
	case p.salvaged == 1:
		notes = append(notes, "toolx recovered the message on the line; most clients do not")
	case p.salvaged > 1:
		notes = append(notes,
			fmt.Sprintf("toolx recovered %d messages on the lines; most clients do not", p.salvaged))
	}
	if len(p.paths) > 0 && !p.ordinary {
		notes = append(notes, "only on the error path, after "+strings.Join(p.paths, ", "))
	}
	if len(p.runs) == 1 && p.runs[0] == "probing" {
		notes = append(notes, "only in the probing run, not in a normal session")
	}
	return notes
}

// finding returns the finding about text.
func (p *LineGroup) finding(e *evidence.Evidence) check.Finding {
	culprit := p.Who.Culprit
	f := check.Finding{
		Where: p.where(), Evidence: firstText(p), Notes: p.notes(),
		Culprit: &culprit, Breaks: breaks(p.First.Class), Fix: fixes(e, p.Who),
	}
	if c := e.Cause(); p.dying || c != nil && c.Kind == cause.Idle {
		f.Severity = check.Warning // another finding explains the failure
	}
	return f
}

// breaks returns what clients do with a class, failures first.
func breaks(class wire.Class) []string {
	verdict := VerdictOf(class)
	return append(verdict.Fails, verdict.Tolerates...)
}

// fixes returns the fixes for a source, in the server and from outside, then the work-around.
func fixes(e *evidence.Evidence, who culprit.Recognition) []string {
	var list []string
	if who.InServer != "" {
		list = append(list, "in the server: "+who.InServer)
	}
	if who.Outside != "" {
		list = append(list, "from outside: "+who.Outside)
	}
	return append(list, workAround(e)...)
}

// workAround returns a config entry that runs the server behind toolx proxy. It returns nothing for a server without a
// command, and for one that never responded, since there are no messages to pass on.
func workAround(e *evidence.Evidence) []string {
	answered := func(run *evidence.Run) bool {
		_, ok := firstAnswer(run)
		return ok
	}
	if e.Server == nil || e.Server.Command == "" || !slices.ContainsFunc(e.Runs(), answered) {
		return nil
	}
	args, err := rawjson.Marshal(append([]string{"proxy", "--", e.Server.Command}, e.Server.Args...))
	if err != nil {
		return nil
	}
	spaced := strings.ReplaceAll(string(args), `","`, `", "`)
	return []string{check.WorkAround + `"command": "toolx", "args": ` + spaced}
}

// streamFinding returns a finding about how messages are written. It adds the work-around to the check's fixes if toolx
// can read such a stream.
func (p *LineGroup) streamFinding(e *evidence.Evidence, id, evidence string) check.Finding {
	page := check.PageOf(pages, id)
	finding := check.Finding{Where: p.where(), Evidence: evidence, Notes: p.notes()}
	if page.Breaks == nil {
		finding.Breaks = breaks(p.First.Class)
	}
	if p.salvaged > 0 {
		finding.Fix = append(page.Fix, workAround(e)...)
	}
	return finding
}

// frameOn returns the message on a line, or nil.
func frameOn(run *evidence.Run, line int) json.RawMessage {
	for _, frame := range evidence.EventsOf[wire.FrameReceived](run) {
		if frame.Line == line {
			return frame.Bytes
		}
	}
	return nil
}

// answeredBy describes a message by the request that it responds to, or by its method.
func answeredBy(run *evidence.Run, frame json.RawMessage) string {
	head := evidence.ReadHead(frame)
	if x := run.ByID(head.ID); head.Method == "" && x != nil && x.Frame != nil {
		return "the answer to " + x.Method
	}
	return cmp.Or(head.Method, "a message")
}
