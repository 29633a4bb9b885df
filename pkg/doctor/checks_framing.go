package doctor

import (
	"bytes"
	"cmp"
	"fmt"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
)

// framingChecks ask what stood on stdout besides messages. What explains the whole
// stream comes first: the lines that it explains are not asked about again.
func framingChecks() []Check {
	return []Check{
		// Programs that do not speak MCP on stdio at all.
		{ID: idHTTP, Need: NeedProcess, Ask: askHTTP},
		{ID: idUsage, Need: NeedProcess, Ask: askUsage},
		{ID: idEcho, Need: NeedProcess, Ask: askEcho},
		{ID: idFlood, Need: NeedProcess, Ask: askFlood},

		// Streams that are not plain UTF-8, or are written in another way than MCP says.
		{ID: idUTF16, Need: NeedProcess, Ask: askStream(idUTF16, firstBytes)},
		{ID: idBOM, Need: NeedProcess, Ask: askStream(idBOM, saying("the bytes ef bb bf stand before the message"))},
		{ID: idInvalidUTF8, Need: NeedProcess, Ask: askStream(idInvalidUTF8, invalidBytes)},
		{ID: idNUL, Need: NeedProcess, Ask: askBytes(idNUL, hasNUL)},
		{ID: idContentLength, Need: NeedProcess, Ask: askStream(idContentLength, itself)},
		{ID: idSSE, Need: NeedProcess, Ask: askStream(idSSE, itself)},
		{ID: idCROnly, Need: NeedProcess, Ask: askStream(idCROnly, saying("a message ends in CR (0d) and no LF"))},
		{ID: idPartial, Need: NeedProcess, Ask: askPartial},

		// Text that stands on lines of its own.
		{ID: idPollution, Need: NeedProcess, Ask: askPiles(idPollution)},
		{ID: idBetween, Need: NeedProcess, Ask: askPiles(idBetween)},
		{ID: idShutdown, Need: NeedProcess, Ask: askPiles(idShutdown)},
		{ID: idNotRPC, Need: NeedProcess, Ask: askPiles(idNotRPC)},
		{ID: idANSI, Need: NeedProcess, Ask: askBytes(idANSI, hasEscapes)},

		// Messages that are there, but not on a line of their own.
		{ID: idPrefix, Need: NeedProcess, Ask: askGlued(idPrefix)},
		{ID: idSuffix, Need: NeedProcess, Ask: askGlued(idSuffix)},
		{ID: idPretty, Need: NeedProcess, Ask: askStream(idPretty, itself)},
		{ID: idNoNewline, Need: NeedProcess, Ask: askStream(idNoNewline, unended)},
		{ID: idHuge, Need: NeedProcess, Ask: askHuge},

		// What every client tolerates.
		{ID: idCRLF, Need: NeedProcess, Ask: askStream(idCRLF, saying("the line ends in CR LF (0d 0a)"))},
		{ID: idBlank, Need: NeedProcess, Ask: askStream(idBlank, saying("a blank line"))},
	}
}

// askPiles has one finding for each writer whose text a check was given.
func askPiles(id string) func(*Evidence) []Finding {
	return func(e *Evidence) []Finding {
		var findings []Finding
		for _, p := range piles(e, id) {
			findings = append(findings, p.finding(e))
		}
		return findings
	}
}

// askStream has one finding for a stream whose messages are written in another way;
// evidence says what was seen of it.
func askStream(id string, evidence func(*pile) string) func(*Evidence) []Finding {
	return func(e *Evidence) []Finding {
		p := onePile(e, id)
		if p == nil {
			return nil
		}
		return []Finding{p.streamFinding(e, id, evidence(p))}
	}
}

// itself is the evidence that is the text of the first line.
func itself(p *pile) string { return excerpt(string(p.first.Text), maxExcerpt) }

// saying is the evidence that is the same for every stream.
func saying(evidence string) func(*pile) string {
	return func(*pile) string { return evidence }
}

// firstBytes shows how a stream begins.
func firstBytes(p *pile) string {
	return fmt.Sprintf("it begins with the bytes % x", p.first.Text[:min(len(p.first.Text), 16)])
}

// invalidBytes shows where the bytes begin that are not UTF-8.
func invalidBytes(p *pile) string {
	at := p.first.Column
	if at >= len(p.first.Text) {
		return fmt.Sprintf("the first such byte is byte %d of the line", at)
	}
	return fmt.Sprintf("from byte %d of the line: % x", at, p.first.Text[at:min(len(p.first.Text), at+8)])
}

// unended names the message that has no newline.
func unended(p *pile) string {
	frame := frameOn(p.first.run, p.first.Line)
	return fmt.Sprintf("%s, %d bytes, and nothing after it", answeredBy(p.first.run, frame), len(frame))
}

// askUsage looks for a program's help. The page's own fixes suit it better than those of
// who wrote it.
func askUsage(e *Evidence) []Finding {
	p := onePile(e, idUsage)
	if p == nil {
		return nil
	}
	return []Finding{{Where: p.where(), Evidence: itself(p), Notes: p.notes()}}
}

// askGlued has one finding for each writer that shares lines with messages, ahead
// of them or behind.
func askGlued(id string) func(*Evidence) []Finding {
	return func(e *Evidence) []Finding {
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
func askHTTP(e *Evidence) []Finding {
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
	finding.Fix = pageOf(idHTTP).Fix
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
func askEcho(e *Evidence) []Finding {
	for _, run := range e.Runs() {
		back := echoes(run)
		if len(back) == 0 {
			continue
		}
		finding := Finding{
			Where:    &Where{Run: run.Name, Line: back[0].Line, MS: run.Since(back[0].At), Method: back[0].Method},
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
func askPartial(e *Evidence) []Finding {
	for _, p := range piles(e, idPartial) {
		if !p.last.Unended {
			continue
		}
		p.first = p.last
		finding := Finding{Where: p.where(), Evidence: itself(p)}
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
func askBytes(id string, has func([]byte) bool) func(*Evidence) []Finding {
	return func(e *Evidence) []Finding {
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
			return []Finding{beside.bytesFinding(e, id)}
		case alone.lines > 0:
			finding := alone.bytesFinding(e, id)
			finding.Severity, finding.Breaks = Info, breaks(alone.first.Class)
			return []Finding{finding}
		}
		return nil
	}
}

// bytesFinding shows the first byte that has no place on stdout.
func (p *pile) bytesFinding(e *Evidence, id string) Finding {
	text := p.first.Text
	at := max(bytes.IndexFunc(text, isControl), 0)
	finding := p.streamFinding(e, id, excerpt(string(text[max(0, at-leadIn):]), maxExcerpt))
	finding.Fix = append(pageOf(id).Fix, workAround(e)...)
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
func askHuge(e *Evidence) []Finding {
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
func askFlood(e *Evidence) []Finding {
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
