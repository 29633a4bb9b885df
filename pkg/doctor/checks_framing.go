package doctor

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
)

// The clause that all of framing rests on, in its revisions.
const (
	stdioClause  = "MCP 2025-11-25 basic/transports#stdio: the server MUST NOT write anything to its stdout that is not a valid MCP message"
	newlineRule  = "MCP 2025-11-25 basic/transports#stdio: messages are delimited by newlines, and MUST NOT contain embedded newlines"
	encodingRule = "MCP 2025-11-25 basic/transports: JSON-RPC messages MUST be UTF-8 encoded"
)

// framingChecks ask what stood on stdout besides messages. What explains the whole
// stream comes first: the lines that it explains are not asked about again.
func framingChecks() []Check {
	return slices.Concat(modeChecks(), streamChecks(), pollutionChecks(), messageChecks(), harmlessChecks())
}

// framing makes a check of this group.
func framing(id string, severity Severity, title string, page Page, ask func(*Evidence, Page) []Finding, after ...string) Check {
	return Check{
		ID: id, Severity: severity, Group: GroupFraming, Need: NeedProcess, After: after, Title: title, Page: page,
		Ask: func(e *Evidence) []Finding { return ask(e, page) },
	}
}

// askPiles has one finding for each writer whose text a check was given.
func askPiles(id string) func(*Evidence, Page) []Finding {
	return func(e *Evidence, _ Page) []Finding {
		var findings []Finding
		for _, p := range piles(e, id) {
			findings = append(findings, p.finding(e))
		}
		return findings
	}
}

// askStream has one finding for a stream whose messages are written in another way;
// evidence says what was seen of it.
func askStream(id string, evidence func(*pile) string) func(*Evidence, Page) []Finding {
	return func(e *Evidence, page Page) []Finding {
		p := onePile(e, id)
		if p == nil {
			return nil
		}
		finding := p.streamFinding(e, page, evidence(p))
		return []Finding{finding}
	}
}

// itself is the evidence that is the text of the first line.
func itself(p *pile) string { return excerpt(string(p.first.Text), maxExcerpt) }

// askGlued has one finding for each writer that shares lines with messages, ahead
// of them or behind.
func askGlued(id string) func(*Evidence, Page) []Finding {
	return func(e *Evidence, _ Page) []Finding {
		var findings []Finding
		for _, p := range piles(e, id) {
			finding := p.finding(e)
			place := fmt.Sprintf("the message begins at byte %d of the line", int64(p.first.Column)+p.first.Size)
			if p.first.Column > 0 {
				place = fmt.Sprintf("a message ends at byte %d of the line", p.first.Column)
			}
			finding.Notes = append([]string{place}, finding.Notes...)
			if len(bytes.TrimSpace(p.first.Text)) == 0 {
				finding.Evidence = "two messages on one line"
				finding.Culprit = nil
			}
			findings = append(findings, finding)
		}
		return findings
	}
}

// askHTTP looks for a server that listens on HTTP and answers nothing on stdio.
// Many say so on stderr.
func askHTTP(e *Evidence, page Page) []Finding {
	var finding *Finding
	var line []byte
	if p := onePile(e, idHTTP); p != nil {
		line = p.first.Text
		finding = &Finding{Where: p.where(), Evidence: excerpt(string(line), maxExcerpt), Notes: p.notes()}
	} else if text, at := stderrHTTP(e.Clean); text != "" {
		line = []byte(text)
		finding = &Finding{
			Where:    &Where{Run: e.Clean.Name, Phase: string(servers.PhaseStart), MS: at},
			Evidence: excerpt(string(line), maxExcerpt), Notes: []string{"on stderr"},
		}
	}
	if finding == nil {
		return nil
	}
	finding.Fix = slices.Clone(page.Fix)
	if url := httpAddress().Find(line); url != nil {
		finding.Fix = append(finding.Fix, fmt.Sprintf(`from outside: give its address instead of a command: "url": %q`, url))
	}
	return []Finding{*finding}
}

// stderrHTTP is the line of stderr by which a server that lives and never answered
// tells that it listens on HTTP, and its time in milliseconds.
func stderrHTTP(run *Run) (text string, at float64) {
	if run == nil || run.Failure == nil || run.Failure.Ending != servers.EndingSilent {
		return "", 0
	}
	if _, answered := firstAnswer(run); answered {
		return "", 0
	}
	for _, line := range EventsOf[servers.StderrLine](run) {
		if speaksHTTP([]byte(line.Text)) {
			return line.Text, run.Since(line.At)
		}
	}
	return "", 0
}

// askEcho looks for our own requests among what came back.
func askEcho(e *Evidence, _ Page) []Finding {
	for _, run := range e.Runs() {
		back := echoes(run)
		if len(back) == 0 {
			continue
		}
		finding := Finding{
			Where:    &Where{Run: run.Name, Line: back[0].Line, MS: run.Since(back[0].At), Method: readHead(back[0].Bytes).method},
			Evidence: excerpt(string(back[0].Bytes), maxExcerpt),
		}
		if len(back) > 1 {
			finding.Notes = []string{exec.Count(len(back), "request") + " came back"}
		}
		return []Finding{finding}
	}
	return nil
}

// askPartial looks for text that never got its newline: mostly a question, with
// lines that lead to it.
func askPartial(e *Evidence, page Page) []Finding {
	for _, p := range piles(e, idPartial) {
		if !p.last.Unended {
			continue
		}
		p.first = p.last
		finding := Finding{Where: p.where(), Evidence: itself(p), Fix: page.Fix, Breaks: page.Breaks}
		finding.Where.MS = 0 // it was seen when the waiting ended, not when it came
		if p.who.Rule == "npx-prompt" {
			finding.Culprit, finding.Fix = &p.who.Culprit, []string{"from outside: " + p.who.Outside}
		}
		return []Finding{finding}
	}
	return nil
}

// askBytes looks for bytes that belong neither into text nor into a message. On a
// message's line they are why it is lost; in text, which is pollution whatever it
// holds, they are a note.
func askBytes(id string, has func([]byte) bool) func(*Evidence, Page) []Finding {
	return func(e *Evidence, page Page) []Finding {
		var alone, beside pile
		for _, run := range e.Runs() {
			for _, one := range straysOf(e, run) {
				p := &beside
				if one.check != id {
					p = &alone
				}
				if one.check == id || one.check != idUTF16 && has(one.Text) {
					p.begin(one)
				}
			}
		}
		switch {
		case beside.lines > 0:
			return []Finding{beside.bytesFinding(e, page)}
		case alone.lines > 0:
			finding := alone.bytesFinding(e, page)
			finding.Severity, finding.Breaks = Info, breaks(alone.first.Class)
			return []Finding{finding}
		}
		return nil
	}
}

// bytesFinding shows the first byte that has no place on stdout.
func (p *pile) bytesFinding(e *Evidence, page Page) Finding {
	text := p.first.Text
	at := max(bytes.IndexFunc(text, isControl), 0)
	finding := p.streamFinding(e, page, excerpt(string(text[max(0, at-leadIn):]), maxExcerpt))
	finding.Fix = append(slices.Clone(page.Fix), workAround(e)...)
	column := int64(p.first.Column + at)
	finding.Where.Byte = &column
	return finding
}

// leadIn is how many bytes ahead of a control character are shown.
const leadIn = 20

// The sizes of messages that clients cannot take.
const (
	largeMessage    = 1_000_000 // bytes; the largest tools/list seen in the wild is 1.03 MB
	tooLargeMessage = 10 << 20  // the TypeScript SDK's limit
)

// askHuge looks for the largest message, and for lines that toolx gave up.
func askHuge(e *Evidence, _ Page) []Finding {
	if p := onePile(e, idHuge); p != nil {
		finding := Finding{Where: p.where(), Breaks: breaks(servers.ClassTooLong), Notes: p.notes()}
		limit := cmp.Or(e.Server.MaxMessage, maxMessage)
		finding.Evidence = fmt.Sprintf("a line of more than %s, given up; it begins with %s", exec.Bytes(limit), excerpt(string(p.first.Text), maxExcerpt))
		if limit >= tooLargeMessage {
			finding.Severity = Error
		}
		return []Finding{finding}
	}
	var (
		largest servers.FrameReceived
		in      *Run
	)
	for _, run := range e.Runs() {
		for _, frame := range EventsOf[servers.FrameReceived](run) {
			if len(frame.Bytes) > len(largest.Bytes) {
				largest, in = frame, run
			}
		}
	}
	if len(largest.Bytes) <= largeMessage {
		return nil
	}
	finding := Finding{
		Where:    &Where{Run: in.Name, Line: largest.Line, MS: in.Since(largest.At)},
		Evidence: fmt.Sprintf("%s is one line of %s", answeredBy(in, largest.Bytes), exec.Bytes(int64(len(largest.Bytes)))),
	}
	if len(largest.Bytes) > tooLargeMessage {
		finding.Severity, finding.Breaks = Error, breaks(servers.ClassTooLong)
	}
	return []Finding{finding}
}

// The bounds of a flood.
const (
	floodLines = 100_000
	floodBytes = 1 << 20          // below that, no rate counts
	floodRate  = 10 * 1000 * 1000 // bytes per second
)

// askFlood looks at the longest stretch without a message.
func askFlood(e *Evidence, _ Page) []Finding {
	for _, run := range e.Runs() {
		flood := run.Flood
		fast := flood.Bytes >= floodBytes && flood.PerSecond() > floodRate
		if flood.Lines <= floodLines && !fast {
			continue
		}
		finding := Finding{
			Evidence: fmt.Sprintf("%d lines, %s, within %d ms without a message", flood.Lines, exec.Bytes(flood.Bytes), flood.Over.Milliseconds()),
			Breaks:   breaks(servers.ClassText),
		}
		if first := flooding(e, run); first != nil {
			culprit := first.who.Culprit
			finding.Where, finding.Culprit, finding.Fix = first.where(), &culprit, fixes(e, first.who)
			finding.Notes = []string{"it begins with " + excerpt(string(first.first.Text), maxExcerpt)}
		}
		return []Finding{finding}
	}
	return nil
}

// flooding is the writer with the most lines in a run, nil where there is none.
func flooding(e *Evidence, run *Run) *pile {
	alone := &Evidence{Server: e.Server, Launch: e.Launch, Clean: run}
	var most *pile
	for _, id := range []string{idPollution, idBetween, idShutdown, idNotRPC} {
		for _, p := range piles(alone, id) {
			if most == nil || p.lines > most.lines {
				most = p
			}
		}
	}
	return most
}
