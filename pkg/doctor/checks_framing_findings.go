package doctor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
)

// pile is strays that are one finding: the same writer's, under the same check.
type pile struct {
	first, last stray
	lines       int
	// salvaged counts the messages that were found on the lines all the same.
	salvaged int
	runs     []string
	// paths are the error paths that the lines belong to, each once; ordinary says
	// that some belong to none.
	paths    []string
	ordinary bool
	who      Recognition
}

// piles puts the strays of one check together, over all runs: the same writer's
// are one pile, however many lines and runs they stand in.
func piles(e *Evidence, id string) []*pile {
	var list []*pile
	by := make(map[string]*pile)
	for _, run := range e.Runs() {
		for _, one := range straysOf(e, run) {
			if one.check != id {
				continue
			}
			key := one.who.InServer + "\x00" + one.who.Outside
			if by[key] == nil {
				by[key] = &pile{first: one, who: one.who}
				list = append(list, by[key])
			}
			by[key].add(one)
		}
	}
	return list
}

// onePile is piles for a check that asks about the stream and not about writers:
// nil where there is nothing.
func onePile(e *Evidence, id string) *pile {
	var all *pile
	for _, p := range piles(e, id) {
		if all == nil {
			all = p
			continue
		}
		all.lines += p.lines
		all.salvaged += p.salvaged
	}
	return all
}

// begin is add for a pile that is made before it is known what is in it.
func (p *pile) begin(one stray) {
	if p.lines == 0 {
		p.first = one
	}
	p.add(one)
}

func (p *pile) add(one stray) {
	p.last = one
	p.lines += one.lines
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
	if sureness(one.who) > sureness(p.who) {
		p.who = one.who
	}
}

// sureness orders recognitions, the surest highest.
func sureness(who Recognition) int {
	return slices.Index([]string{generic, likely, certain}, who.Culprit.Confidence)
}

// where is the place of the pile's first line.
func (p *pile) where() *Where {
	column := int64(p.first.Column)
	return &Where{
		Run: p.first.run.Name, Line: p.first.Line, Byte: &column,
		Phase: string(p.first.phase), MS: p.first.since(), Method: p.first.method,
	}
}

// notes are what else is known: how many lines more, what was salvaged, on which
// path the server was.
func (p *pile) notes() []string {
	var notes []string
	if more := p.lines - p.first.lines; more > 0 {
		notes = append(notes, "and "+exec.Count(more, "more line"))
	}
	if kept := len(foreignLines(p.first.run)); p.first.run.Foreign > kept {
		notes = append(notes, fmt.Sprintf("of %d such lines in this run toolx looked at the first %d", p.first.run.Foreign, kept))
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
func foreignLines(run *Run) []servers.PollutedLine {
	return slices.DeleteFunc(EventsOf[servers.PollutedLine](run), func(line servers.PollutedLine) bool {
		return line.Class.Harmless() || line.Salvaged > 0
	})
}

// finding makes a finding of a pile that foreign text is the matter with.
func (p *pile) finding(e *Evidence) Finding {
	culprit := p.who.Culprit
	return Finding{
		Where: p.where(), Evidence: excerpt(string(p.first.Text), maxExcerpt), Notes: p.notes(),
		Culprit: &culprit, Breaks: breaks(p.first.Class), Fix: fixes(e, p.who),
	}
}

// breaks are the verdicts about a class, those who fail first.
func breaks(class servers.Class) []string {
	fails, tolerates := Verdicts(class)
	return append(fails, tolerates...)
}

// fixes are what mends a writer, in the server and from outside, and the
// work-around at the end.
func fixes(e *Evidence, who Recognition) []string {
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
func workAround(e *Evidence) []string {
	if e.Server == nil || e.Server.Command == "" {
		return nil
	}
	args, err := rawjson.Marshal(append([]string{"proxy", "--", e.Server.Command}, e.Server.Args...))
	if err != nil {
		return nil
	}
	spaced := strings.ReplaceAll(string(args), `","`, `", "`)
	return []string{WorkAround + `"command": "toolx", "args": ` + spaced}
}

// streamFinding makes a finding of a pile that is about how messages are written.
// The check's own fixes stand, with the work-around where toolx can read such a
// stream.
func (p *pile) streamFinding(e *Evidence, id, evidence string) Finding {
	page := pageOf(id)
	finding := Finding{Where: p.where(), Evidence: evidence, Notes: p.notes()}
	if page.Breaks == nil {
		finding.Breaks = breaks(p.first.Class)
	}
	if p.salvaged > 0 {
		finding.Fix = append(page.Fix, workAround(e)...)
	}
	return finding
}

// frameOn returns the message that was read from a line, nil where none was.
func frameOn(run *Run, line int) json.RawMessage {
	for _, event := range run.Events {
		if frame, ok := event.(servers.FrameReceived); ok && frame.Line == line {
			return frame.Bytes
		}
	}
	return nil
}

// answeredBy names what a message is: the reply to a request, or its own method.
func answeredBy(run *Run, frame json.RawMessage) string {
	head := readHead(frame)
	if head.method != "" {
		return head.method
	}
	for _, exchange := range run.Exchanges {
		if exchange.Frame != nil && exchange.ID == strings.Trim(head.id, `"`) {
			return "the answer to " + exchange.Method
		}
	}
	return "a message"
}
