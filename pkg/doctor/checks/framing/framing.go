// Package framing has the checks of what stands on stdout besides messages.
package framing

import (
	"bytes"
	"cmp"
	"fmt"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/words"
)

// Checks ask what stood on stdout besides messages. What explains the whole
// stream comes first: the lines that it explains are not asked about again.
func Checks() []check.Check {
	return []check.Check{
		// Programs that do not speak MCP on stdio at all.
		{ID: idHTTP, Need: check.NeedProcess, Ask: askHTTP},
		{ID: idUsage, Need: check.NeedProcess, Ask: askUsage},
		{ID: idEcho, Need: check.NeedProcess, Ask: askEcho},
		{ID: idFlood, Need: check.NeedProcess, Ask: askFlood},

		// Streams that are not plain UTF-8, or are written in another way than MCP says.
		{ID: idUTF16, Need: check.NeedProcess, Ask: askStream(idUTF16, firstBytes)},
		{ID: idBOM, Need: check.NeedProcess, Ask: askStream(idBOM, saying("the bytes ef bb bf stand before the message"))},
		{ID: idInvalidUTF8, Need: check.NeedProcess, Ask: askStream(idInvalidUTF8, invalidBytes)},
		{ID: idNUL, Need: check.NeedProcess, Ask: askBytes(idNUL, hasNUL)},
		{ID: idContentLength, Need: check.NeedProcess, Ask: askStream(idContentLength, itself)},
		{ID: idSSE, Need: check.NeedProcess, Ask: askStream(idSSE, itself)},
		{ID: idCROnly, Need: check.NeedProcess, Ask: askStream(idCROnly, saying("a message ends in CR (0d) and no LF"))},
		{ID: idPartial, Need: check.NeedProcess, Ask: askPartial},

		// Text that stands on lines of its own.
		{ID: idPollution, Need: check.NeedProcess, Ask: askPiles(idPollution)},
		{ID: idBetween, Need: check.NeedProcess, Ask: askPiles(idBetween)},
		{ID: idShutdown, Need: check.NeedProcess, Ask: askPiles(idShutdown)},
		{ID: idNotRPC, Need: check.NeedProcess, Ask: askPiles(idNotRPC)},
		{ID: idANSI, Need: check.NeedProcess, Ask: askBytes(idANSI, hasEscapes)},

		// Messages that are there, but not on a line of their own.
		{ID: idPrefix, Need: check.NeedProcess, Ask: askGlued(idPrefix)},
		{ID: idSuffix, Need: check.NeedProcess, Ask: askGlued(idSuffix)},
		{ID: idPretty, Need: check.NeedProcess, Ask: askStream(idPretty, itself)},
		{ID: idNoNewline, Need: check.NeedProcess, Ask: askStream(idNoNewline, unended)},
		{ID: idHuge, Need: check.NeedProcess, Ask: askHuge},

		// What every client tolerates.
		{ID: idCRLF, Need: check.NeedProcess, Ask: askStream(idCRLF, saying("the line ends in CR LF (0d 0a)"))},
		{ID: idBlank, Need: check.NeedProcess, Ask: askStream(idBlank, saying("a blank line"))},
	}
}

// askPiles has one finding for each writer whose text a check was given.
func askPiles(id string) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		var findings []check.Finding
		for _, p := range Piles(e, id) {
			findings = append(findings, p.finding(e))
		}
		return findings
	}
}

// askStream has one finding for a stream whose messages are written in another way;
// evidence says what was seen of it.
func askStream(id string, seen func(*Pile) string) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		p := onePile(e, id)
		if p == nil {
			return nil
		}
		return []check.Finding{p.streamFinding(e, id, seen(p))}
	}
}

// itself is the evidence that is the text of the first line.
func itself(p *Pile) string { return evidence.Excerpt(string(p.First.Text), evidence.MaxExcerpt) }

// saying is the evidence that is the same for every stream.
func saying(evidence string) func(*Pile) string {
	return func(*Pile) string { return evidence }
}

// firstBytes shows how a stream begins.
func firstBytes(p *Pile) string {
	return fmt.Sprintf("it begins with the bytes % x", p.First.Text[:min(len(p.First.Text), 16)])
}

// invalidBytes shows where the bytes begin that are not UTF-8.
func invalidBytes(p *Pile) string {
	at := p.First.Column
	if at >= len(p.First.Text) {
		return fmt.Sprintf("the first such byte is byte %d of the line", at)
	}
	return fmt.Sprintf("from byte %d of the line: % x", at, p.First.Text[at:min(len(p.First.Text), at+8)])
}

// unended names the message that has no newline.
func unended(p *Pile) string {
	frame := frameOn(p.First.run, p.First.Line)
	return fmt.Sprintf("%s, %d bytes, and nothing after it", answeredBy(p.First.run, frame), len(frame))
}

// askUsage looks for a program's help. The page's own fixes suit it better than those of
// who wrote it.
func askUsage(e *evidence.Evidence) []check.Finding {
	p := onePile(e, idUsage)
	if p == nil {
		return nil
	}
	return []check.Finding{{Where: p.where(), Evidence: itself(p), Notes: p.notes()}}
}

// askGlued has one finding for each writer that shares lines with messages, ahead
// of them or behind.
func askGlued(id string) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		var findings []check.Finding
		for _, p := range Piles(e, id) {
			finding := p.finding(e)
			place := fmt.Sprintf("the message begins at byte %d of the line", int64(p.First.Column)+p.First.Size)
			if p.First.Column > 0 {
				place = fmt.Sprintf("a message ends at byte %d of the line", p.First.Column)
			}
			finding.Notes = append([]string{place}, finding.Notes...)
			if len(bytes.TrimSpace(p.First.Text)) == 0 {
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
func askHTTP(e *evidence.Evidence) []check.Finding {
	var finding *check.Finding
	var line []byte
	if p := onePile(e, idHTTP); p != nil {
		line = p.First.Text
		finding = &check.Finding{Where: p.where(), Evidence: evidence.Excerpt(string(line), evidence.MaxExcerpt), Notes: p.notes()}
	} else if text, at := stderrHTTP(e.Clean); text != "" {
		line = []byte(text)
		finding = &check.Finding{
			Where:    &evidence.Where{Run: e.Clean.Name, Phase: string(servers.PhaseStart), MS: at},
			Evidence: evidence.Excerpt(string(line), evidence.MaxExcerpt), Notes: []string{"on stderr"},
		}
	}
	if finding == nil {
		return nil
	}
	finding.Fix = check.PageOf(idHTTP).Fix
	if url := httpAddress().Find(line); url != nil {
		finding.Fix = append(finding.Fix, fmt.Sprintf(`from outside: give its address instead of a command: "url": %q`, url))
	}
	return []check.Finding{*finding}
}

// stderrHTTP is the line of stderr by which a server that lives and never answered
// tells that it listens on HTTP, and its time in milliseconds.
func stderrHTTP(run *evidence.Run) (text string, at float64) {
	if run == nil || run.Failure == nil || run.Failure.Ending != servers.EndingSilent {
		return "", 0
	}
	if _, answered := firstAnswer(run); answered {
		return "", 0
	}
	for _, line := range evidence.EventsOf[servers.StderrLine](run) {
		if speaksHTTP([]byte(line.Text)) {
			return line.Text, run.Since(line.At)
		}
	}
	return "", 0
}

// askEcho looks for our own requests among what came back.
func askEcho(e *evidence.Evidence) []check.Finding {
	for _, run := range e.Runs() {
		back := echoes(run)
		if len(back) == 0 {
			continue
		}
		finding := check.Finding{
			Where:    &evidence.Where{Run: run.Name, Line: back[0].Line, MS: run.Since(back[0].At), Method: back[0].Method},
			Evidence: evidence.Excerpt(string(back[0].Bytes), evidence.MaxExcerpt),
		}
		if len(back) > 1 {
			finding.Notes = []string{words.Count(len(back), "request") + " came back"}
		}
		return []check.Finding{finding}
	}
	return nil
}

// askPartial looks for text that never got its newline: mostly a question, with
// lines that lead to it.
func askPartial(e *evidence.Evidence) []check.Finding {
	for _, p := range Piles(e, idPartial) {
		if !p.last.Unended {
			continue
		}
		p.First = p.last
		finding := check.Finding{Where: p.where(), Evidence: itself(p)}
		finding.Where.MS = 0 // it was seen when the waiting ended, not when it came
		if p.Who.Rule == "npx-prompt" {
			finding.Culprit, finding.Fix = &p.Who.Culprit, []string{"from outside: " + p.Who.Outside}
		}
		return []check.Finding{finding}
	}
	return nil
}

// askBytes looks for bytes that belong neither into text nor into a message. On a
// message's line they are why it is lost; in text, which is pollution whatever it
// holds, they are a note.
func askBytes(id string, has func([]byte) bool) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		var alone, beside Pile
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
		case beside.Lines > 0:
			return []check.Finding{beside.bytesFinding(e, id)}
		case alone.Lines > 0:
			finding := alone.bytesFinding(e, id)
			finding.Severity, finding.Breaks = check.Info, breaks(alone.First.Class)
			return []check.Finding{finding}
		}
		return nil
	}
}

// bytesFinding shows the first byte that has no place on stdout.
func (p *Pile) bytesFinding(e *evidence.Evidence, id string) check.Finding {
	text := p.First.Text
	at := max(bytes.IndexFunc(text, isControl), 0)
	finding := p.streamFinding(e, id, evidence.Excerpt(string(text[max(0, at-leadIn):]), evidence.MaxExcerpt))
	finding.Fix = append(check.PageOf(id).Fix, workAround(e)...)
	column := int64(p.First.Column + at)
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
func askHuge(e *evidence.Evidence) []check.Finding {
	if p := onePile(e, idHuge); p != nil {
		finding := check.Finding{Where: p.where(), Breaks: breaks(servers.ClassTooLong), Notes: p.notes()}
		limit := cmp.Or(e.Server.MaxMessage, evidence.MaxMessage)
		finding.Evidence = fmt.Sprintf("a line of more than %s, given up; it begins with %s", exec.Bytes(limit), evidence.Excerpt(string(p.First.Text), evidence.MaxExcerpt))
		if limit >= tooLargeMessage {
			finding.Severity = check.Error
		}
		return []check.Finding{finding}
	}
	var (
		largest servers.FrameReceived
		in      *evidence.Run
	)
	for _, run := range e.Runs() {
		for _, frame := range evidence.EventsOf[servers.FrameReceived](run) {
			if len(frame.Bytes) > len(largest.Bytes) {
				largest, in = frame, run
			}
		}
	}
	if len(largest.Bytes) <= largeMessage {
		return nil
	}
	finding := check.Finding{
		Where:    &evidence.Where{Run: in.Name, Line: largest.Line, MS: in.Since(largest.At)},
		Evidence: fmt.Sprintf("%s is one line of %s", answeredBy(in, largest.Bytes), exec.Bytes(int64(len(largest.Bytes)))),
	}
	if len(largest.Bytes) > tooLargeMessage {
		finding.Severity, finding.Breaks = check.Error, breaks(servers.ClassTooLong)
	}
	return []check.Finding{finding}
}

// The bounds of a flood.
const (
	floodLines = 100_000
	floodBytes = 1 << 20          // below that, no rate counts
	floodRate  = 10 * 1000 * 1000 // bytes per second
)

// askFlood looks at the longest stretch without a message.
func askFlood(e *evidence.Evidence) []check.Finding {
	for _, run := range e.Runs() {
		flood := run.Flood
		fast := flood.Bytes >= floodBytes && flood.PerSecond() > floodRate
		if flood.Lines <= floodLines && !fast {
			continue
		}
		finding := check.Finding{
			Evidence: fmt.Sprintf("%d lines, %s, within %d ms without a message", flood.Lines, exec.Bytes(flood.Bytes), flood.Over.Milliseconds()),
			Breaks:   breaks(servers.ClassText),
		}
		if first := flooding(e, run); first != nil {
			culprit := first.Who.Culprit
			finding.Where, finding.Culprit, finding.Fix = first.where(), &culprit, fixes(e, first.Who)
			finding.Notes = []string{"it begins with " + evidence.Excerpt(string(first.First.Text), evidence.MaxExcerpt)}
		}
		return []check.Finding{finding}
	}
	return nil
}

// flooding is the writer with the most lines in a run, nil where there is none.
func flooding(e *evidence.Evidence, run *evidence.Run) *Pile {
	alone := &evidence.Evidence{Server: e.Server, Launch: e.Launch, Clean: run}
	var most *Pile
	for _, id := range []string{idPollution, idBetween, idShutdown, idNotRPC} {
		for _, p := range Piles(alone, id) {
			if most == nil || p.Lines > most.Lines {
				most = p
			}
		}
	}
	return most
}
