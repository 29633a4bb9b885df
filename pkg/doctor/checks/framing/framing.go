// Package framing has the checks of non-protocol output on stdout.
package framing

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/cause"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

//go:embed *.md
var pages embed.FS

// Checks returns the checks of non-protocol output on stdout. Those that explain the whole stream come first, and no
// other check reports the lines that they explain.
func Checks() []check.Check {
	return check.WithPages(pages, []check.Check{
		// Programs that are not MCP servers on stdio.
		{ID: idHTTP, Need: check.NeedProcess, Ask: askHTTP},
		{ID: idUsage, Need: check.NeedProcess, Ask: askUsage},
		{ID: idEcho, Need: check.NeedProcess, Ask: askEcho},
		{ID: idFlood, Need: check.NeedProcess, Ask: askFlood},

		// Streams that are not plain UTF-8, or with other framing than MCP's.
		{ID: idUTF16, Need: check.NeedProcess, Ask: askStream(idUTF16, firstBytes)},
		{ID: idBOM, Need: check.NeedProcess, Ask: askStream(idBOM, says("the bytes ef bb bf stand before the message"))},
		{ID: idInvalidUTF8, Need: check.NeedProcess, Ask: askStream(idInvalidUTF8, invalidBytes)},
		{ID: idNUL, Need: check.NeedProcess, Ask: askBytes(idNUL, hasNUL)},
		{ID: idContentLength, Need: check.NeedProcess, Ask: askStream(idContentLength, firstText)},
		{ID: idSSE, Need: check.NeedProcess, Ask: askStream(idSSE, firstText)},
		{ID: idCROnly, Need: check.NeedProcess, Ask: askStream(idCROnly, says("a message ends in CR (0d) and no LF"))},
		{ID: idPartial, Need: check.NeedProcess, Ask: askPartial},

		// Text on separate lines.
		{ID: idPollution, Need: check.NeedProcess, Ask: askGroups(idPollution)},
		{ID: idBetween, Need: check.NeedProcess, Ask: askGroups(idBetween)},
		{ID: idShutdown, Need: check.NeedProcess, Ask: askGroups(idShutdown)},
		{ID: idNotRPC, Need: check.NeedProcess, Ask: askGroups(idNotRPC)},
		{ID: idANSI, Need: check.NeedProcess, Ask: askBytes(idANSI, hasEscapes)},

		// Messages that are not alone on one line.
		{ID: idPrefix, Need: check.NeedProcess, Ask: askGlued(idPrefix)},
		{ID: idSuffix, Need: check.NeedProcess, Ask: askGlued(idSuffix)},
		{ID: idPretty, Need: check.NeedProcess, Ask: askStream(idPretty, firstText)},
		{ID: idNoNewline, Need: check.NeedProcess, Ask: askStream(idNoNewline, unended)},
		{ID: idHuge, Need: check.NeedProcess, Ask: askHuge},

		// Deviations that almost every client tolerates.
		{ID: idCRLF, Need: check.NeedProcess, Ask: askStream(idCRLF, says("the line ends in CR LF (0d 0a)"))},
		{ID: idBlank, Need: check.NeedProcess, Ask: askStream(idBlank, blank)},
	})
}

// askGroups returns one finding for each source of a check's lines.
func askGroups(id string) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		var findings []check.Finding
		for _, p := range LineGroups(e, id) {
			if p.inRun == 1 && e.SaysCause(string(p.First.Text)) {
				continue // the finding about the failure quotes it
			}
			findings = append(findings, p.finding(e))
		}
		return findings
	}
}

// askStream returns one finding about a stream with other framing; seen describes the difference.
func askStream(id string, seen func(*LineGroup) string) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		p := oneGroup(e, id)
		if p == nil {
			return nil
		}
		return []check.Finding{p.streamFinding(e, id, seen(p))}
	}
}

// firstText returns the text of the first line.
func firstText(p *LineGroup) string { return evidence.Cut(string(p.First.Text)) }

// says returns a function that always returns text.
func says(text string) func(*LineGroup) string { return func(*LineGroup) string { return text } }

func blank(*LineGroup) string { return "a blank line" }

// firstBytes shows how a stream begins.
func firstBytes(p *LineGroup) string {
	return fmt.Sprintf("it begins with the bytes % x", p.First.Text[:min(len(p.First.Text), 16)])
}

// invalidBytes shows the first bytes that are not valid UTF-8.
func invalidBytes(p *LineGroup) string {
	at := p.First.Column
	if at >= len(p.First.Text) {
		return fmt.Sprintf("the first such byte is byte %d of the line", at)
	}
	return fmt.Sprintf("from byte %d of the line: % x", at, p.First.Text[at:min(len(p.First.Text), at+8)])
}

// askUsage looks for a program's help. The page's fixes are better than those of a recognized source.
func askUsage(e *evidence.Evidence) []check.Finding {
	p := oneGroup(e, idUsage)
	if p == nil {
		return nil
	}
	text := firstText(p)
	lines := unexpectedLines(e, p.First.run)
	isHead := func(one unexpectedLine) bool { return one.check == idUsage && isUsage(one.PollutedLine) }
	if at := slices.IndexFunc(lines, isHead); at >= 0 { // a version or banner may precede it
		p.First = lines[at]
		text = firstText(p)
		if heading := len(strings.Fields(text)) == 1; heading && at+1 < len(lines) {
			text = evidence.Cut(text + " " + strings.TrimSpace(string(lines[at+1].Text)))
		}
	}
	return []check.Finding{{Where: p.where(), Evidence: text, Notes: p.notes()}}
}

// unended describes the message without a newline.
func unended(p *LineGroup) string {
	frame := frameOn(p.First.run, p.First.Line)
	return fmt.Sprintf("%s, %d bytes, and nothing after it", answeredBy(p.First.run, frame), len(frame))
}

// askGlued returns one finding for each source of text that shares a line with a message.
func askGlued(id string) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		var findings []check.Finding
		for _, p := range LineGroups(e, id) {
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

// askHTTP looks for a server that listens for HTTP and does not respond on stdio. Many report that on stderr.
func askHTTP(e *evidence.Evidence) []check.Finding {
	var f check.Finding
	var text string
	p, line := oneGroup(e, idHTTP), stderrHTTP(e.Clean)
	if p != nil {
		f = check.Finding{Where: p.where(), Notes: p.notes()}
		text = firstText(p)
		lines := unexpectedLines(e, p.First.run)
		says := func(one unexpectedLine) bool { return one.check == idHTTP && speaksHTTP(one.Text) }
		if at := slices.IndexFunc(lines, says); at >= 0 {
			p.First, line = lines[at], nil
			f.Where, text = p.where(), string(p.First.Text)
		}
	}
	switch {
	case line != nil:
		text = line.Text
		where := e.Clean.At(line.At)
		where.Phase = string(wire.PhaseStart)
		f = check.Finding{Where: where, Notes: []string{"on stderr"}}
	case p == nil:
		return nil
	}
	f.Evidence = evidence.Cut(text)
	f.Fix = check.PageOf(pages, idHTTP).Fix
	if c := e.Cause(); c != nil && c.Kind == cause.HTTP { // its line has the complete URL
		text = c.Line
	}
	if url := listensAt([]byte(text)); url != "" {
		f.Fix = append(f.Fix, fmt.Sprintf(`from outside: give its address instead of a command: "url": %q`, url))
	}
	return []check.Finding{f}
}

// stderrHTTP returns the line of stderr that reports that the server listens for HTTP; nil unless the server runs and
// never responded.
func stderrHTTP(run *evidence.Run) *wire.StderrLine {
	if run == nil || run.Failure == nil || run.Failure.Ending != diagnose.EndingSilent {
		return nil
	}
	if _, answered := firstAnswer(run); answered {
		return nil
	}
	for _, line := range evidence.EventsOf[wire.StderrLine](run) {
		if speaksHTTP([]byte(line.Text)) {
			return &line
		}
	}
	return nil
}

// askEcho looks for toolx's own requests among the server's messages.
func askEcho(e *evidence.Evidence) []check.Finding {
	for _, run := range e.Runs() {
		back := echoes(run)
		if len(back) == 0 {
			continue
		}
		f := check.At(run.At(back[0].At), "%s", evidence.Cut(string(back[0].Bytes)))
		f.Where.Line, f.Where.Method = back[0].Line, back[0].Method
		if len(back) > 1 {
			f.Notes = []string{words.Count(len(back), "request") + " came back"}
		}
		return []check.Finding{f}
	}
	return nil
}

// askPartial looks for text without a newline, which is usually a prompt, and the lines before it.
func askPartial(e *evidence.Evidence) []check.Finding {
	for _, p := range LineGroups(e, idPartial) {
		if !p.last.Unended {
			continue
		}
		p.First = p.last
		f := check.At(p.where(), "%s", firstText(p))
		f.Where.MS = 0 // its time is the end of the wait, not its arrival
		switch c := e.Cause(); {
		case p.Who.Rule == "npx-prompt":
			f.Culprit, f.Fix = &p.Who.Culprit, []string{"from outside: " + p.Who.Outside}
		case c != nil && cause.QuestionIn(string(p.First.Text)) == cause.FullScreen:
			f.Title, f.Fix = "server does not respond to initialize: "+c.What, c.Fixes
		}
		return []check.Finding{f}
	}
	return nil
}

// askBytes looks for invalid bytes. On a message's line they make clients lose the message; in text, which is pollution
// anyway, they are only a note.
func askBytes(id string, has func([]byte) bool) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		var alone, beside LineGroup
		for _, run := range e.Runs() {
			for _, one := range unexpectedLines(e, run) {
				switch {
				case one.check == id:
					beside.add(one)
				case one.check != idUTF16 && has(one.Text):
					alone.add(one)
				}
			}
		}
		switch {
		case beside.Lines > 0:
			return []check.Finding{beside.bytesFinding(e, id)}
		case alone.Lines > 0:
			f := alone.bytesFinding(e, id)
			f.Severity, f.Breaks = check.Info, breaks(alone.First.Class)
			return []check.Finding{f}
		}
		return nil
	}
}

// bytesFinding shows the first invalid byte and a few bytes before it.
func (p *LineGroup) bytesFinding(e *evidence.Evidence, id string) check.Finding {
	const leadIn = 20
	text := p.First.Text
	at := max(bytes.IndexFunc(text, isControl), 0)
	f := p.streamFinding(e, id, evidence.Cut(string(text[max(0, at-leadIn):])))
	f.Fix = append(check.PageOf(pages, id).Fix, workAround(e)...)
	column := int64(p.First.Column + at)
	f.Where.Byte = &column
	return f
}

// Sizes above which clients fail.
const (
	largeMessage    = 1_000_000 // bytes; the largest tools/list seen in the wild is 1.03 MB
	tooLargeMessage = 10 << 20  // the TypeScript SDK's limit
)

// askHuge looks for the largest message, and for lines that toolx dropped.
func askHuge(e *evidence.Evidence) []check.Finding {
	if p := oneGroup(e, idHuge); p != nil {
		limit := cmp.Or(e.Server.MaxMessage, evidence.MaxMessage)
		f := check.At(p.where(), "a line of more than %s was dropped; it begins with %s", exec.Bytes(limit),
			firstText(p))
		f.Breaks, f.Notes = breaks(wire.ClassTooLong), p.notes()
		if limit >= tooLargeMessage {
			f.Severity = check.Error
		}
		return []check.Finding{f}
	}
	var largest wire.FrameReceived
	var in *evidence.Run
	for _, run := range e.Runs() {
		for _, frame := range evidence.EventsOf[wire.FrameReceived](run) {
			if len(frame.Bytes) > len(largest.Bytes) {
				largest, in = frame, run
			}
		}
	}
	size := len(largest.Bytes)
	if size <= largeMessage {
		return nil
	}
	f := check.At(in.At(largest.At), "%s is one line of %s", answeredBy(in, largest.Bytes), exec.Bytes(int64(size)))
	f.Where.Line = largest.Line
	if size > tooLargeMessage {
		f.Severity, f.Breaks = check.Error, breaks(wire.ClassTooLong)
	}
	return []check.Finding{f}
}

// Limits above which output is a flood.
const (
	floodLines = 100_000
	floodBytes = 1 << 20          // the rate is ignored below that
	floodRate  = 10 * 1000 * 1000 // bytes per second
)

// askFlood checks the longest sequence of lines without a message.
func askFlood(e *evidence.Evidence) []check.Finding {
	for _, run := range e.Runs() {
		flood := run.Flood
		fast := flood.Bytes >= floodBytes && flood.PerSecond() > floodRate
		if flood.Lines <= floodLines && !fast {
			continue
		}
		f := check.At(nil, "%d lines, %s, within %d ms without a message",
			flood.Lines, exec.Bytes(flood.Bytes), flood.Over.Milliseconds())
		f.Breaks = breaks(wire.ClassText)
		if p := flooding(e, run); p != nil {
			f.Where, f.Culprit, f.Fix = p.where(), &p.Who.Culprit, fixes(e, p.Who)
			f.Notes = []string{"it begins with " + firstText(p)}
		}
		return []check.Finding{f}
	}
	return nil
}

// flooding returns the source with the most lines in a run, or nil.
func flooding(e *evidence.Evidence, run *evidence.Run) *LineGroup {
	alone := &evidence.Evidence{Server: e.Server, Launch: e.Launch, Clean: run}
	var most *LineGroup
	for _, id := range []string{idPollution, idBetween, idShutdown, idNotRPC} {
		for _, p := range LineGroups(alone, id) {
			if most == nil || p.Lines > most.Lines {
				most = p
			}
		}
	}
	return most
}
