package framing

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/culprit"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
	"toolx/pkg/words"
)

// Pile is strays that are one finding: the same writer's, under the same check.
type Pile struct {
	First, last stray
	Lines       int
	// salvaged counts the messages that were found on the lines all the same.
	salvaged int
	runs     []string
	// paths are the error paths that the lines belong to, each once; ordinary says
	// that some belong to none.
	paths    []string
	ordinary bool
	Who      culprit.Recognition
}

// Piles puts the strays of one check together, over all runs: the same writer's
// are one pile, however many lines and runs they stand in.
func Piles(e *evidence.Evidence, id string) []*Pile {
	var list []*Pile
	by := make(map[string]*Pile)
	for _, run := range e.Runs() {
		for _, one := range straysOf(e, run) {
			if one.check != id {
				continue
			}
			key := one.who.InServer + "\x00" + one.who.Outside
			if by[key] == nil {
				by[key] = &Pile{First: one, Who: one.who}
				list = append(list, by[key])
			}
			by[key].add(one)
		}
	}
	return list
}

// onePile is piles for a check that asks about the stream and not about writers:
// nil where there is nothing.
func onePile(e *evidence.Evidence, id string) *Pile {
	var all *Pile
	for _, p := range Piles(e, id) {
		if all == nil {
			all = p
			continue
		}
		all.Lines += p.Lines
		all.salvaged += p.salvaged
	}
	return all
}

// begin is add for a pile that is made before it is known what is in it.
func (p *Pile) begin(one stray) {
	if p.Lines == 0 {
		p.First = one
	}
	p.add(one)
}

func (p *Pile) add(one stray) {
	p.last = one
	p.Lines += one.lines
	p.salvaged += one.Salvaged
	if !slices.Contains(p.runs, one.run.Name) {
		p.runs = append(p.runs, one.run.Name)
	}
	switch {
	case one.errorPath == "":
		p.ordinary = true
	case !slices.Contains(p.paths, one.errorPath):
		p.paths = append(p.paths, one.errorPath)
	}
	if sureness(one.who) > sureness(p.Who) {
		p.Who = one.who
	}
}

// sureness orders recognitions, the surest highest.
func sureness(who culprit.Recognition) int {
	return slices.Index([]string{culprit.Generic, culprit.Likely, culprit.Certain}, who.Culprit.Confidence)
}

// where is the place of the pile's first line.
func (p *Pile) where() *evidence.Where {
	column := int64(p.First.Column)
	return &evidence.Where{
		Run: p.First.run.Name, Line: p.First.Line, Byte: &column,
		Phase: string(p.First.phase), MS: p.First.since(), Method: p.First.method,
	}
}

// notes are what else is known: how many lines more, what was salvaged, on which
// path the server was.
func (p *Pile) notes() []string {
	var notes []string
	if more := p.Lines - p.First.lines; more > 0 {
		notes = append(notes, "and "+words.Count(more, "more line"))
	}
	if kept := len(foreignLines(p.First.run)); p.First.run.Foreign > kept {
		notes = append(notes, fmt.Sprintf("of %d such lines in this run toolx looked at the first %d", p.First.run.Foreign, kept))
	}
	switch {
	case p.salvaged == 1:
		notes = append(notes, "toolx found the message on the line all the same; most clients do not")
	case p.salvaged > 1:
		notes = append(notes, fmt.Sprintf("toolx found %d messages on the lines all the same; most clients do not", p.salvaged))
	}
	if len(p.paths) > 0 && !p.ordinary {
		notes = append(notes, "only on the error path, after "+strings.Join(p.paths, ", "))
	}
	if len(p.runs) == 1 && p.runs[0] == "probing" {
		notes = append(notes, "only when it was probed, not under a well-behaved client")
	}
	return notes
}

// foreignLines are the lines of a run that hold no message, as far as they were kept.
func foreignLines(run *evidence.Run) []servers.PollutedLine {
	return slices.DeleteFunc(evidence.EventsOf[servers.PollutedLine](run), func(line servers.PollutedLine) bool {
		return line.Class.Harmless() || line.Salvaged > 0
	})
}

// finding makes a finding of a pile that foreign text is the matter with.
func (p *Pile) finding(e *evidence.Evidence) check.Finding {
	culprit := p.Who.Culprit
	return check.Finding{
		Where: p.where(), Evidence: evidence.Excerpt(string(p.First.Text), evidence.MaxExcerpt), Notes: p.notes(),
		Culprit: &culprit, Breaks: breaks(p.First.Class), Fix: fixes(e, p.Who),
	}
}

// breaks are the verdicts about a class, those who fail first.
func breaks(class servers.Class) []string {
	fails, tolerates := Verdicts(class)
	return append(fails, tolerates...)
}

// fixes are what mends a writer, in the server and from outside, and the
// work-around at the end.
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

// workAround is the entry that puts toolx between a client and the server; none
// for a server that has no command.
func workAround(e *evidence.Evidence) []string {
	if e.Server == nil || e.Server.Command == "" {
		return nil
	}
	args, err := rawjson.Marshal(append([]string{"proxy", "--", e.Server.Command}, e.Server.Args...))
	if err != nil {
		return nil
	}
	spaced := strings.ReplaceAll(string(args), `","`, `", "`)
	return []string{check.WorkAround + `"command": "toolx", "args": ` + spaced}
}

// streamFinding makes a finding of a pile that is about how messages are written.
// The check's own fixes stand, with the work-around where toolx can read such a
// stream.
func (p *Pile) streamFinding(e *evidence.Evidence, id, evidence string) check.Finding {
	page := check.PageOf(id)
	finding := check.Finding{Where: p.where(), Evidence: evidence, Notes: p.notes()}
	if page.Breaks == nil {
		finding.Breaks = breaks(p.First.Class)
	}
	if p.salvaged > 0 {
		finding.Fix = append(page.Fix, workAround(e)...)
	}
	return finding
}

// frameOn returns the message that was read from a line, nil where none was.
func frameOn(run *evidence.Run, line int) json.RawMessage {
	for _, event := range run.Events {
		if frame, ok := event.(servers.FrameReceived); ok && frame.Line == line {
			return frame.Bytes
		}
	}
	return nil
}

// answeredBy names what a message is: the reply to a request, or its own method.
func answeredBy(run *evidence.Run, frame json.RawMessage) string {
	head := evidence.ReadHead(frame)
	if head.Method != "" {
		return head.Method
	}
	for _, exchange := range run.Exchanges {
		if exchange.Frame != nil && exchange.ID == strings.Trim(head.ID, `"`) {
			return "the answer to " + exchange.Method
		}
	}
	return "a message"
}
